"""A process is charged only with its own cost."""

from __future__ import annotations

import sys
from pathlib import Path

from .measure import cost


def test_memory_of_the_parent_is_not_the_childs(tmp_path: Path) -> None:
    held = bytearray(b"x") * (200 << 20)
    took = cost([sys.executable, "-I", "-S", "-c", "import sys; print(1); sys.exit(3)"], tmp_path)
    assert len(held) == 200 << 20
    assert (took.exit, took.output) == (3, "1\n")
    assert took.megabytes < 50


def test_memory_and_time_of_the_child_are(tmp_path: Path) -> None:
    script = "x = bytearray(b'x') * (100 << 20)\nfor _ in range(3_000_000): pass"
    took = cost([sys.executable, "-I", "-S", "-c", script], tmp_path)
    assert took.megabytes > 100
    assert took.cpu_seconds > 0
