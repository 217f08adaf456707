"""Kernels in the output of `-Rpass-analysis=kernel-resource-usage`.

A log holds remarks; an optimization record holds the same numbers as YAML. Neither names a target.
Source: llvm/lib/Target/AMDGPU/AMDGPUAsmPrinter.cpp, `emitResourceUsageRemarks`.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

from kernelinfo.errors import BoundError, Message, ReadError
from kernelinfo.hardware.targets import Target, total_vgprs
from kernelinfo.reading.blob import BY_DEFAULT, UNBOUNDED, FileBudget
from kernelinfo.reading.data import Lines, Text, decode, find_all, integer, pieces
from kernelinfo.reading.facts import (
    NOTHING,
    Features,
    KernelFacts,
    Module,
    Numbers,
    Place,
    ReadWarnings,
    SourceLine,
    StatedValue,
)
from kernelinfo.reading.messages import say
from kernelinfo.reading.metadata import MOST_REGISTERS, UINT32
from kernelinfo.reading.target_id import parse_target_id

_RECORD = rb"(?m)^Pass: +kernel-resource-usage\s"
_PASS = b"kernel-resource-usage"
_FAILED = rb"(?m)^FAILED: |(?:^|: |m)(?:fatal )?error: |^g?make(?:\[\d+\])?: \*\*\* "
_FAILURES = (b"FAILED: ", b"error: ", b": *** ")
"""Every line that `_FAILED` matches holds one of these, which are found ten times as fast."""
_FUNCTIONS = say("log-of-functions")


def accepts(text: Text) -> bool:
    """True if a text holds a compiler's resource usage, or so many similar lines that they are not
    all checked."""
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


# Kernels, assembled from the single statements of a log or record.

NAME = "Function Name"
_LAST = "LDS Size [bytes/block]"
_LAST_OF_FUNCTIONS = "VGPRs Spill"
_AGPRS = "AGPRs"

_COUNTS: Mapping[str, tuple[str, int]] = {
    "SGPRs": ("sgprs", MOST_REGISTERS),
    "VGPRs": ("vgprs", MOST_REGISTERS),
    _AGPRS: ("agprs", MOST_REGISTERS),
    "ScratchSize [bytes/lane]": ("scratch_bytes_per_lane", UINT32),
    "Occupancy [waves/SIMD]": ("compiler_waves_per_simd", UINT32),
    "SGPRs Spill": ("sgpr_spills", UINT32),
    "VGPRs Spill": ("vgpr_spills", UINT32),
    _LAST: ("lds_bytes", UINT32),
}
"""Field of `Numbers` and largest value, by the key in a log."""
_DYNAMIC_STACK = "Dynamic Stack"
_FLAGS = {"True": True, "False": False}
_SYMBOLS = r"[A-Za-z_$.(]"


_Location = tuple[SourceLine, int]
"""Source line and column of a function, as the compiler prints them."""
_LogLine = tuple[_Location, StatedValue]
"""One line of a log: the function, and a key with its value."""


class LogBlock:
    """Statements on one function; or on several functions of one location, which a log does not
    tell apart."""

    def __init__(self, source: SourceLine, name: StatedValue, warnings: ReadWarnings) -> None:
        self._warnings = warnings
        self._source = source
        self.name = name
        self.names = 1
        self.values: dict[str, StatedValue] = {}
        self.ends = 0
        """Number of its functions whose last statement was read."""

    @property
    def is_kernel(self) -> bool:
        return _LAST in self.values

    @property
    def is_complete(self) -> bool:
        return self.ends == self.names or _LAST_OF_FUNCTIONS in self.values

    @property
    def is_function(self) -> bool:
        """True if the function is not a kernel. LLVM 15 and 16 also report other functions, without
        LDS."""
        return self.is_complete and not self.is_kernel

    def warn(self, message: Message, line: int) -> None:
        """Add a warning on this function."""
        self._warnings.add(say("in-function", function=self.name.value, reason=message), line)

    def name_again(self) -> None:
        """Count one more function at the same location."""
        if self.names == 1:
            self.warn(say("log-of-two-compilers"), self.name.line)
        self.names += 1

    def add(self, statement: StatedValue) -> None:
        """Add a statement. Contradicting values become a warning, and neither is kept. Once
        several functions share the location, nothing more is kept."""
        if self.names == 1:
            before = self.values.get(statement.name)
            if before is not None and before.value != statement.value:
                key, first, second = statement.name, before.value, statement.value
                wrong = say("log-contradiction", key=key, first=first, second=second)
                self.warn(wrong, statement.line)
                statement = statement._replace(value="")
            self.values[statement.name] = statement
        self.ends += statement.name == _LAST

    def kernel(self, target: Target | None) -> KernelFacts:
        """Numbers and places of the kernel; a cut-off log or a malformed number gives a warning."""
        if not self.is_kernel:
            self.warn(say("log-cut-off"), self.name.line)
        fields: dict[str, Any] = {}
        lines: dict[str, int] = {}
        for key, value, line in self.values.values():
            if key == _DYNAMIC_STACK and value in _FLAGS:
                fields["dynamic_stack"] = _FLAGS[value]
                lines["dynamic_stack"] = line
            elif key in _COUNTS:
                name, largest = _COUNTS[key]
                if re.fullmatch(r"\d{1,10}", value) and integer(value) <= largest:
                    fields[name], lines[name] = integer(value), line
                elif re.match(_SYMBOLS, value):
                    fields["indirect_call"], lines["indirect_call"] = True, self.name.line
                elif value:
                    self.warn(say("log-number", key=key, value=value, most=largest), line)
        if _AGPRS not in self.values and not self.is_kernel:
            fields.pop("vgprs", None)  # cut off before it says how many AGPRs there are
        _add_accumulators(fields, target)
        numbers = Numbers(**fields)
        return KernelFacts(
            self.name.value,
            (("remark", numbers),) if numbers != NOTHING else (),
            (Place("remark", 0, lines),),
            source=self._source if self._source.line else None,
        )


def group(
    statements: Iterable[_LogLine], warnings: ReadWarnings, budget: FileBudget
) -> list[LogBlock]:
    """Functions of a log, in its order. A statement belongs to the function that was last named at
    the same location.

    Reading stops with a warning if there are more functions or statements than the budget allows.
    """
    blocks: list[LogBlock] = []
    open_blocks: dict[_Location, LogBlock] = {}
    has_orphans = False
    try:
        for location, statement in statements:
            block = open_blocks.get(location)
            if statement.name == NAME:
                budget.spend_kernels()
                if block and (block.names > 1 or not block.is_complete):
                    block.name_again()
                else:
                    block = open_blocks[location] = LogBlock(location[0], statement, warnings)
                    blocks.append(block)
            elif block:
                block.add(statement)
                if block.ends == block.names:
                    del open_blocks[location]
            elif not has_orphans:
                warnings.add(say("log-without-name"), statement.line)
                has_orphans = True
    except BoundError as error:
        warnings.add(error.message)
    return blocks


def _add_accumulators(fields: dict[str, Any], target: Target | None) -> None:
    """Turn `vgprs` into the total with AGPRs, as the metadata's `.vgpr_count` states it.

    Removes `vgprs` if there are AGPRs and the target is unknown: the total depends on the target.
    """
    if "vgprs" in fields and fields.get("agprs"):
        if target is None:
            del fields["vgprs"]
        else:
            fields["vgprs"] = total_vgprs(target, fields["vgprs"], fields["agprs"])


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

_KEY = (
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


def statements(text: Text, budget: FileBudget) -> Iterator[_LogLine]:
    """Statements of a log's remarks, in its order.

    Takes time linear in the text. Raises `BoundError`.
    """
    lines, keys, line_end = Lines(text), re.compile(_KEY), re.compile(_LINE_END)
    for offset, piece in pieces(text):
        position = 0
        while match := keys.search(piece, position):
            budget.spend_statements(_REMARK)
            start = match.start()
            ending = line_end.search(piece, match.end(), match.end() + _MOST_AFTER)
            position = ending.start() if ending else min(match.end() + _MOST_AFTER, len(piece))
            key = match[1].decode()
            location = _remark_location(_before(piece, start), is_name=key == NAME)
            if location:
                value = _without_escapes(piece[match.end() : position]).rstrip()
                value = re.sub(_OPTION, "", value)
                line = lines.number(offset + start)
                yield location, StatedValue(key.removeprefix("Total"), value, line)


def _before(text: bytes, start: int) -> str:
    """Text of the line before the key at `start`, without escape sequences."""
    near = text[max(start - _MOST_BEFORE, 0) : start]
    return _without_escapes(near[max(near.rfind(b"\n"), near.rfind(b"\r")) + 1 :])


def _without_escapes(line: bytes) -> str:
    return re.sub(_ESCAPE, "", decode(line))


def _remark_location(before: str, *, is_name: bool) -> _Location | None:
    """The location at the end of the text before a key; None if that text is prose or a source
    line."""
    indent = "" if is_name else _INDENT
    place = re.search(_PLACE, before.removesuffix(indent)) if before.endswith(indent) else None
    if place is None:
        return None
    file, line, column = (group for group in place.groups() if group is not None)
    return SourceLine(file, integer(line)), integer(column)


# Statements from the YAML of `-fsave-optimization-record` and of llc's `-pass-remarks-output`.
#
# A record has one document for each line of the log: `--- !Analysis`, `Pass:
# kernel-resource-usage`, `Name:` (of the number), `Function:`, `DebugLoc:`, and the value in
# `Args:`. Source: llvm/lib/Remarks/YAMLRemarkSerializer.cpp.

_START = rb"(?m)^--- ![^\n]*\n"
_HEAD = rb"[^\n]{0,80}\n?Pass: +kernel-resource-usage\s"
_END = rb"\n(?:(\.\.\.)|---)"
_FIELD = r"(?m)^(\w+):[ \t]*(.*(?:\n[ \t].*)*)"
_ARGUMENT = r"(?m)^ *- (\w+):[ \t]*(.*)"
_LOCATION = r"\{\s*File: *+(.*),\s+Line: (\d{1,9}),\s+Column: (\d{1,9})\s*\}"
_ESCAPED = r'\\(?:(["\\/ ])|x(..)|u(.{4})|U(.{8})|.)'
_MOST_BYTES = 1 << 16  # per document; real ones have about 300
_MOST_HEAD = 1 << 10  # two lines, the second one the name of the pass
_DOCUMENT = 3  # statements counted for one document, by the time that it takes to read
_RECORD_KEYS: Mapping[str, str] = {
    "FunctionName": NAME,
    "NumSGPR": "SGPRs",
    "NumVGPR": "VGPRs",
    "NumAGPR": "AGPRs",
    "ScratchSize": "ScratchSize [bytes/lane]",
    "DynamicStack": "Dynamic Stack",
    "Occupancy": "Occupancy [waves/SIMD]",
    "SGPRSpill": "SGPRs Spill",
    "VGPRSpill": "VGPRs Spill",
    "BytesLDS": "LDS Size [bytes/block]",
}


def read_records(text: Text, warnings: ReadWarnings, budget: FileBudget) -> Iterator[_LogLine]:
    """Statements of the documents on resource usage; an unreadable document adds to `warnings`.

    Raises `BoundError`.
    """
    lines = Lines(text)
    for offset, mark in find_all(re.compile(_START), text):
        start = offset + len(mark[0])
        if re.match(_HEAD, text[start : start + _MOST_HEAD]):
            budget.spend_statements(_DOCUMENT)
            line = lines.number(offset)
            try:
                if statement := _statement(_document(text, start), line):
                    yield statement
            except ReadError as error:
                warnings.add(error.message, line)


def _document(text: Text, start: int) -> str:
    """Text of a document from `start` to its end. Raises `ReadError` without an end."""
    document = text[start : start + _MOST_BYTES]
    end = re.search(_END, document)
    if not (end and end[1]):
        raise ReadError(say("record-cut-off"))
    return decode(document[: end.start()].replace(b"\r\n", b"\n"))


def _statement(document: str, line: int) -> _LogLine | None:
    """Statement of a document; None for an unknown number.

    Raises `ReadError` for a document that no compiler writes.
    """
    fields: dict[str, str] = dict(re.findall(_FIELD, document))
    name = _scalar(fields.get("Name", ""))
    if not name.isalnum():
        raise ReadError(say("record-without-name"))
    key = _RECORD_KEYS.get(name)
    if key is None:
        return None
    arguments = re.findall(_ARGUMENT, fields.get("Args", ""))
    stated = [_scalar(value) for argument, value in arguments if argument == name]
    if not stated:
        raise ReadError(say("record-without-value", name=name))
    function = _scalar(fields.get("Function", ""))
    if key == NAME and stated[-1] != function:
        raise ReadError(say("record-contradiction", function=function, named=stated[-1]))
    return _record_location(fields.get("DebugLoc", "")), StatedValue(key, stated[-1], line)


def _scalar(written: str) -> str:
    """Text of a YAML scalar, without quotes and escapes."""
    written = written.strip()
    if written[:1] == "'":
        return written[1:-1].replace("''", "'")
    return re.sub(_ESCAPED, _unescaped, written[1:-1]) if written[:1] == '"' else written


def _unescaped(escaped: re.Match[str]) -> str:
    mark, *digits = escaped.groups("")
    try:
        return mark or chr(integer("".join(digits), 16))
    except (ValueError, OverflowError):
        raise ReadError(say("record-escape", escaped=escaped[0])) from None


def _record_location(written: str) -> _Location:
    place = re.fullmatch(_LOCATION, written.strip())
    if place is None:
        return SourceLine("<unknown>", 0), 0
    return SourceLine(_scalar(place[1]), integer(place[2])), integer(place[3])
