"""Every regular expression of the program takes a time in proportion to its text."""

from __future__ import annotations

import re
from importlib import import_module

import pytest

from .patterns import Use, patterns, slow

for extra in ("duckdb", "fsspec", "dask"):
    pytest.importorskip(extra, reason="the patterns of every module need every extra")
pytestmark = pytest.mark.nightly

VARIABLES = {
    "fleet/listing.py: fits": "a user's glob, by `glob.translate`",
    "config/__init__.py: kind.pattern": "`BOUND` and `ALLOWANCE`, which are found by name",
    "kernel/code_object.py: package": "names of files, of 255 characters at most",
    "pressure/memory.py: row": "a table, `TABLES` below",
    "pressure/rules.py: row": "a table, `TABLES` below",
    "pressure/rules.py: row.mnemonics": "a table, `TABLES` below",
    "reading/containers/kpack.py: f'(?:^|/){re.escape(host.name)}(?:#\\\\d+)?/[^/]*'": "one repeat",
    "reading/grammar.py: patterns[states[-1]]": "terminals, found in the grammars' tables",
}
"""Patterns that are given by a variable, and why they need no test of their own."""
HUNG_IN_0_2_0 = [
    (r"DEBUG_VALUE:\s*(.+?)\s*<-\s*(.*)", "search"),
    (r"\.type\s+(.+?)\s*,\s*[@%]function", "match"),
    (r"(?<![\w.$@])([vas])\[([^\]]*[A-Za-z_][^\]]*)\]", "sub"),
    (r"(?<![\w.$@])(?:v|a|s)\[[^\]]*[^\d\]:\s][^\]]*\]", "search"),
    (
        rb"(?m)^[ \t]*\.(?:byte|short|long|quad)[ \t]+([^;\n]+?)[ \t]*; (DW_AT_\w+)"
        rb"(?:\n[ \t]*\.byte[ \t]+(\d+)[ \t]*$)?",
        "finditer",
    ),
]
"""Patterns of release 0.2.0 that took half a minute of 5 kB, and how they were used."""
USES = patterns()
_RULES = import_module("kernelinfo.pressure.rules")
_WRITTEN = [re.compile(mnemonics, re.DOTALL) for _, mnemonics, _ in _RULES.WRITTEN]
_CLASSES = [re.compile(row.mnemonics) for row in _RULES.ROWS]
_PENDING = [
    re.compile(row, re.DOTALL) for row, _ in import_module("kernelinfo.pressure.memory")._PENDING
]
TABLES = [
    *(Use("pressure/rules.py", pattern, "fullmatch") for pattern in (*_WRITTEN, *_CLASSES)),
    *(Use("pressure/memory.py", pattern, "fullmatch") for pattern in _PENDING),
]
"""Patterns of mnemonics, compiled when one is met."""


def test_patterns_are_found() -> None:
    """Constants, arguments, tables and terminals, each with the method that applies it."""
    found = {(use.place.partition(":")[0], use.method) for use in USES.found}
    assert {
        ("pressure/listing.py _NEXT_FUNCTION", "match"),
        ("reading/assembly/directives.py", "finditer"),
        ("reading/containers/formats.py", "search"),
        ("mc_expression.lark", "match"),
    } <= found
    assert set(USES.unknown) == set(VARIABLES)


@pytest.mark.parametrize("part", range(8))
def test_time_is_linear(part: int) -> None:
    found = [(use.place, use.pattern.pattern, slow(use)) for use in (*USES.found, *TABLES)[part::8]]
    assert [one for one in found if one[-1]] == []


@pytest.mark.parametrize(("pattern", "method"), HUNG_IN_0_2_0)
def test_what_hung_is_found(pattern: str | bytes, method: str) -> None:
    assert slow(Use("0.2.0", re.compile(pattern), method))


@pytest.mark.parametrize("pattern", [r"(a+)+b", r"x*x*x*y", r"^(\w+_?)*$"])
def test_patterns_that_never_end_are_found(pattern: str) -> None:
    assert slow(Use("", re.compile(pattern), "match"))
