"""KI301: AGPRs without matrix instructions."""

from __future__ import annotations

from ..conftest import needs_corpus
from .reading import messages_of, of_corpus

VARIETY = "variety-clang22-gfx90a.s"


def test_matrix_code_uses_them_as_they_are_meant() -> None:
    assert messages_of(VARIETY, "KI301", "matrix") == []


def test_a_kernel_without_agprs_or_with_calls_is_left_alone() -> None:
    assert messages_of(VARIETY, "KI301", "vgpr_heavy") == []
    assert messages_of(VARIETY, "KI301", "calls") == []


@needs_corpus
def test_code_objects_do_not_tell() -> None:
    assert list(of_corpus("core/*.co", "KI301")) == []


def test_agprs_that_nothing_multiplies() -> None:
    assert messages_of(VARIETY, "KI301", "agpr_heavy") == ["72 AGPRs without a matrix instruction"]


@needs_corpus
def test_moves_of_spilled_registers_are_named() -> None:
    found = [finding.message for _, finding in of_corpus("**/*.s", "KI301")]
    assert any("they hold spilled VGPRs" in message for message in found)
