"""Statements from the remarks in a log of compilers and linkers, anywhere on a line.

A remark takes one of these forms; clang's may end with the option's name in brackets:

- `FILE:LINE:COLUMN: remark: TEXT`: clang from source;
- `FILE(LINE,COLUMN): remark: TEXT`: clang as MSVC;
- `remark: FILE:LINE:COLUMN: TEXT`: clang from IR (with --save-temps), llc and opt;
- `remark: <unknown>:0:0: TEXT`: the same without debug information;
- `FILE:LINE:COLUMN: TEXT`: lld.

Time stamps, progress, colours and hyperlinks may stand around them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from kernelinfo.reading.budget import KernelBudget
from kernelinfo.reading.build_log.blocks import NAME, LogLocation, LogStatement
from kernelinfo.reading.data import Lines, Text, decode, integer, pieces

_KEYS = (
    rb"(Function Name|(?:Total)?SGPRs|[SV]GPRs Spill|[AV]GPRs|ScratchSize \[bytes/lane\]"
    rb"|Dynamic Stack|Occupancy \[waves/SIMD\]|LDS Size \[bytes/block\]): "
)
_LINE_END = rb"[\r\n]"
_ESCAPE = r"\x1b(?:\[[0-9;?]*[A-Za-z]|\][^\x07\x1b]*(?:\x07|\x1b\\))"
_PLACE = (
    r"(?<!\S)(?:(\S{1,512}):(\d{1,9}):(\d{1,9}): (?:remark: )?$"
    r"|(\S{1,512})\((\d{1,9}),(\d{1,9})\) ?: remark: $)"
)
_OPTION = r" \[-Rpass[\w=-]*\]\s*$"
_INDENT = "    "
_MOST_BEFORE = 1024
_MOST_AFTER = 1 << 16
_REMARK = 2  # statements counted for one remark, by the time that it takes to read


def statements(text: Text, budget: KernelBudget) -> Iterator[LogStatement]:
    """Statements of a log's remarks, in its order.

    Takes time linear in the text. Raises `TooManyKernelsError`.
    """
    lines, keys, line_end = Lines(text), re.compile(_KEYS), re.compile(_LINE_END)
    for offset, piece in pieces(text):
        at = 0
        while found := keys.search(piece, at):
            budget.spend_statements(_REMARK)
            start = found.start()
            ending = line_end.search(piece, found.end(), found.end() + _MOST_AFTER)
            at = ending.start() if ending else min(found.end() + _MOST_AFTER, len(piece))
            key = found[1].decode()
            location = _location(_before(piece, start), is_name=key == NAME)
            if location:
                value = re.sub(_OPTION, "", _without_escapes(piece[found.end() : at]).rstrip())
                line = lines.number(offset + start)
                yield LogStatement(location, key.removeprefix("Total"), value, line)


def _before(text: bytes, start: int) -> str:
    """Text of the line before the key at `start`, without escape sequences."""
    near = text[max(start - _MOST_BEFORE, 0) : start]
    return _without_escapes(near[max(near.rfind(b"\n"), near.rfind(b"\r")) + 1 :])


def _without_escapes(line: bytes) -> str:
    return re.sub(_ESCAPE, "", decode(line))


def _location(before: str, *, is_name: bool) -> LogLocation | None:
    """Location at the end of the text before a key; None if that is prose or a source line."""
    indent = "" if is_name else _INDENT
    found = re.search(_PLACE, before.removesuffix(indent)) if before.endswith(indent) else None
    if found is None:
        return None
    file, line, column = (group for group in found.groups() if group is not None)
    return LogLocation(file, integer(line), integer(column))
