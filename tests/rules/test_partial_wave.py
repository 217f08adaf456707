"""KI205: lanes that no workitem fills."""

from __future__ import annotations

from .reading import TUTORIAL, messages_of


def test_a_declared_maximum_says_nothing_of_what_is_launched() -> None:
    assert messages_of("variety-clang22-gfx90a.s", "KI205", "odd_block") == []


def test_whole_waves_and_a_single_workitem_are_meant() -> None:
    assert messages_of(TUTORIAL, "KI205", "empty", workgroup_size=704) == []
    assert messages_of(TUTORIAL, "KI205", "empty", workgroup_size=1) == []
    assert messages_of("shaped-clang22-gfx942.s", "KI205", "shaped") == []


def test_a_size_that_is_no_multiple_of_the_wave() -> None:
    assert messages_of(TUTORIAL, "KI205", "vgprbound", workgroup_size=200) == [
        "workgroups of 200 leave 56 of 64 lanes of their last wave idle"
    ]
