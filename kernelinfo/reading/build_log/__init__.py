"""Kernels in the output of `-Rpass-analysis=kernel-resource-usage`.

A log holds remarks; an optimization record holds the same numbers as YAML. Neither names a target.
Source: llvm/lib/Target/AMDGPU/AMDGPUAsmPrinter.cpp, `emitResourceUsageRemarks`.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import chain

from kernelinfo.errors import BoundError
from kernelinfo.reading.blob import BY_DEFAULT, UNBOUNDED, FileBudget
from kernelinfo.reading.build_log.blocks import NAME, LogLocation, LogStatement, group, read_records
from kernelinfo.reading.data import Lines, Text, decode, find_all, integer, pieces
from kernelinfo.reading.facts import Features, KernelFacts, Module, ReadWarnings
from kernelinfo.reading.messages import say
from kernelinfo.reading.target_id import parse_target_id

_RECORD = rb"(?m)^Pass: +kernel-resource-usage\s"
_PASS = b"kernel-resource-usage"
_FAILED = rb"(?m)^FAILED: |(?:^|: |m)(?:fatal )?error: |^g?make(?:\[\d+\])?: \*\*\* "
_FAILURES = (b"FAILED: ", b"error: ", b": *** ")
"""Every line that `_FAILED` matches holds one of these, which are found ten times as fast."""
_FUNCTIONS = say("log-of-functions")


def accepts(text: Text) -> bool:
    """True if a text holds a compiler's resource usage, or too many lines that look like it."""
    if _holds_record(text):
        return True
    try:
        named = text.find(b"Function Name: ") >= 0
        return named and any(statements(text, FileBudget(kernels=BY_DEFAULT.kernels)))
    except BoundError:
        return True


def read(
    text: Text, *, arch: str | None = None, budget: FileBudget = UNBOUNDED
) -> Iterator[Module]:
    """Modules of a log or record: the first kernel of each name, then the second of each, and so
    on.

    A build for several targets, or a template in several units, gives several kernels of one name.
    `arch` is the target of the build. A statement that cannot be read becomes a warning.
    """
    warnings = ReadWarnings()
    records = read_records(text, warnings, budget) if _holds_record(text) else ()
    blocks = group(chain(statements(text, budget), records), warnings, budget)
    may_have_failed = any(text.find(mark) >= 0 for mark in _FAILURES)
    if may_have_failed and (failed := next(find_all(re.compile(_FAILED), text), None)):
        line = Lines(text).number(failed[0])
        warnings.add(say("build-failed"), line)
    target_id = parse_target_id(arch or "")
    target = target_id.hardware if target_id else None
    named_once = (block for block in blocks if block.names == 1 and not block.is_function)
    modules = _by_occurrence(block.kernel(target) for block in named_once)
    names_functions_alone = bool(blocks) and all(block.is_function for block in blocks)
    for number, kernels in enumerate(modules or [[]], 1):
        yield Module(
            kind="build-log",
            target=target_id.processor if target_id else None,
            features=target_id.features(None) if target_id else Features(),
            code_object_version=None,
            stamps=(),
            kernels=tuple(kernels),
            warnings=warnings.take(),
            notes=(_FUNCTIONS,) if names_functions_alone else (),
            part=f"occurrence {number}" if number > 1 else None,
        )


def _holds_record(text: Text) -> bool:
    """True if the text holds a document of an optimization record on resource usage."""
    return text.find(_PASS) >= 0 and any(find_all(re.compile(_RECORD), text))


def _by_occurrence(kernels: Iterator[KernelFacts]) -> list[list[KernelFacts]]:
    """Lists of kernels: the first kernel of each name, the second of each, and so on."""
    seen: Counter[str] = Counter()
    occurrences = defaultdict[int, list[KernelFacts]](list)
    for kernel in kernels:
        occurrences[seen[kernel.symbol]].append(kernel)
        seen[kernel.symbol] += 1
    return list(occurrences.values())


# Statements from the remarks in a log of compilers and linkers, anywhere on a line.
#
# A remark takes one of these forms; clang's may end with the option's name in brackets:
#
# - `FILE:LINE:COLUMN: remark: TEXT`: clang from source;
# - `FILE(LINE,COLUMN): remark: TEXT`: clang as MSVC;
# - `remark: FILE:LINE:COLUMN: TEXT`: clang from IR (with --save-temps), llc and opt;
# - `remark: <unknown>:0:0: TEXT`: the same without debug information;
# - `FILE:LINE:COLUMN: TEXT`: lld.
#
# Time stamps, progress, colours and hyperlinks may surround them.

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


def statements(text: Text, budget: FileBudget) -> Iterator[LogStatement]:
    """Statements of a log's remarks, in its order.

    Takes time linear in the text. Raises `BoundError`.
    """
    lines, keys, line_end = Lines(text), re.compile(_KEYS), re.compile(_LINE_END)
    for offset, piece in pieces(text):
        position = 0
        while match := keys.search(piece, position):
            budget.spend_statements(_REMARK)
            start = match.start()
            ending = line_end.search(piece, match.end(), match.end() + _MOST_AFTER)
            position = ending.start() if ending else min(match.end() + _MOST_AFTER, len(piece))
            key = match[1].decode()
            location = _location(_before(piece, start), is_name=key == NAME)
            if location:
                value = _without_escapes(piece[match.end() : position]).rstrip()
                value = re.sub(_OPTION, "", value)
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
    place = re.search(_PLACE, before.removesuffix(indent)) if before.endswith(indent) else None
    if place is None:
        return None
    file, line, column = (group for group in place.groups() if group is not None)
    return LogLocation(file, integer(line), integer(column))
