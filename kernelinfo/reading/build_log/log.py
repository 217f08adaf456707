"""Remarks in the output of compilers and linkers, wherever on a line they stand.

The location and the word "remark" come in six orders: `FILE:LINE:COLUMN: remark: TEXT` (clang from
source), `remark: FILE:LINE:COLUMN: TEXT` (clang from IR, as with --save-temps; llc and opt),
`remark: <unknown>:0:0: TEXT` (the same without debug information), `FILE:LINE:COLUMN: TEXT` (lld),
`FILE(LINE,COLUMN): remark: TEXT` (clang as MSVC) and either of clang's without the option's name at
the end. Time stamps, progress, colours and hyperlinks may stand around them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from kernelinfo.reading.assembly.scan import Lines, Text, decode
from kernelinfo.reading.budget import KernelBudget
from kernelinfo.reading.build_log.blocks import NAME, Location, Statement

_KEYS = re.compile(
    rb"(Function Name|(?:Total)?SGPRs|[SV]GPRs Spill|[AV]GPRs|ScratchSize \[bytes/lane\]"
    rb"|Dynamic Stack|Occupancy \[waves/SIMD\]|LDS Size \[bytes/block\]): "
)
_LINE_END = re.compile(rb"[\r\n]")
_ESCAPE = re.compile(r"\x1b(?:\[[0-9;?]*[A-Za-z]|\][^\x07\x1b]*(?:\x07|\x1b\\))")
_PLACE = re.compile(
    r"(\S{1,512}):(\d{1,9}):(\d{1,9}): (?:remark: )?$"
    r"|(\S{1,512})\((\d{1,9}),(\d{1,9})\) ?: remark: $"
)
_OPTION = re.compile(r" \[-Rpass[\w=-]*\]\s*$")
_INDENT = "    "
_MOST_BEFORE = 1024
_MOST_AFTER = 1 << 16
_REMARK = 2  # definitions of assembly that take as long to read


def statements(text: Text, budget: KernelBudget) -> Iterator[Statement]:
    """What the remarks of a log state, in its order; time linear in the text. Raises
    `TooManyKernelsError`."""
    lines, at = Lines(text), 0
    while found := _KEYS.search(text, at):
        budget.spend_statements(_REMARK)
        start = found.start()
        ending = _LINE_END.search(text, found.end(), found.end() + _MOST_AFTER)
        at = ending.start() if ending else min(found.end() + _MOST_AFTER, len(text))
        key = found[1].decode()
        location = _location(_before(text, start), is_name=key == NAME)
        if location:
            value = _OPTION.sub("", _without_escapes(text[found.end() : at]).rstrip())
            yield Statement(location, key.removeprefix("Total"), value, lines.number(start))


def _before(text: Text, start: int) -> str:
    """What stands on the line before a key."""
    near = text[max(start - _MOST_BEFORE, 0) : start]
    return _without_escapes(near[max(near.rfind(b"\n"), near.rfind(b"\r")) + 1 :])


def _without_escapes(line: bytes) -> str:
    return _ESCAPE.sub("", decode(line))


def _location(before: str, *, is_name: bool) -> Location | None:
    """None where no remark stands there: prose, or a source line."""
    indent = "" if is_name else _INDENT
    found = _PLACE.search(before.removesuffix(indent)) if before.endswith(indent) else None
    if found is None:
        return None
    file, line, column = (group for group in found.groups() if group is not None)
    return Location(file, int(line), int(column))
