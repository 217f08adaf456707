"""Dependencies: locked by hash, tried at their lowest versions, their licences listed."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent
PINNED = re.compile(r"^([\w.-]+)==([\w.]+)", re.MULTILINE)
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def pinned(name: str) -> dict[str, str]:
    return dict(PINNED.findall((ROOT / ".ci" / name).read_text("utf-8")))


def required(*extras: str) -> dict[str, str]:
    """Each requirement with the rest of its line, by its name as package indices spell it."""
    lines = PROJECT["dependencies"] + [
        line for extra in extras for line in PROJECT["optional-dependencies"][extra]
    ]
    split = (re.match(r"([\w.-]+)(.*)", line) for line in lines)
    return {re.sub(r"[._-]+", "-", m[1]).lower(): m[2] for m in split if m}


def test_every_dependency_is_locked_by_hash() -> None:
    text = (ROOT / ".ci" / "requirements.txt").read_text("utf-8")
    assert required("test", "lint").keys() <= pinned("requirements.txt").keys()
    assert all("--hash=sha256:" in entry for entry in re.split(r"\n(?=\w)", text))
    assert "://" not in text


def test_the_lowest_versions_are_the_ones_allowed() -> None:
    lowest = pinned("lowest.txt")
    for name, rest in required().items():
        bound = re.match(r">=([\d.]+),<|>=([\d.]+);", rest)
        assert bound, name
        allowed = tuple(map(int, (bound[1] or bound[2]).split(".")))
        tried = tuple(map(int, lowest[name].split(".")))
        # A lowest version may have been withdrawn; then it is the next.
        assert allowed <= tried
        assert allowed[0] == tried[0]


def test_licences_are_listed() -> None:
    rows = re.findall(r"^\| ([\w-]+) \|", (ROOT / ".ci" / "licences.md").read_text("utf-8"), re.M)
    assert rows[2:] == sorted(pinned("lowest.txt"))
