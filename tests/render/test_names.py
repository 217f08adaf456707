"""Kernel names as a terminal may see them."""

from __future__ import annotations

import pytest

from kernelinfo.render.names import printable


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("größe(float*)", "größe(float*)"),
        ("\x1b[31mred", "\\x1b[31mred"),
        ("two\nlines", "two\\nlines"),
        ("left\u202eright", "left\\u202eright"),
        ("not\udc80text", "not\\udc80text"),
    ],
    ids=["letters stay", "colours", "new lines", "bidirectional marks", "undecodable bytes"],
)
def test_names_cannot_act_on_a_terminal(name: str, expected: str) -> None:
    assert printable(name) == expected
