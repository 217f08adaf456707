"""Kernels assembled from the single statements of a log or record."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from kernelinfo.errors import BoundError, Message, ReadError
from kernelinfo.hardware.targets import Target, total_vgprs
from kernelinfo.reading.blob import FileBudget
from kernelinfo.reading.data import Lines, Text, decode, find_all, integer
from kernelinfo.reading.facts import NOTHING, KernelFacts, Numbers, Place, ReadWarnings, SourceLine
from kernelinfo.reading.messages import say
from kernelinfo.reading.metadata import MOST_REGISTERS, UINT32

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


class LogLocation(NamedTuple):
    """Source location of a function, as the compiler prints it."""

    file: str
    line: int
    column: int


class LogStatement(NamedTuple):
    """One line of a log: a key and a value for one function."""

    location: LogLocation
    key: str
    value: str  # as written
    line: int  # of the log, 1-based


class LogBlock:
    """Statements on one function, or on several at one location that cannot be told apart."""

    def __init__(self, name: LogStatement, warnings: ReadWarnings) -> None:
        self._warnings = warnings
        self.name = name
        self.names = 1
        self.values: dict[str, LogStatement] = {}
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
        """True if it is not a kernel: LLVM 15 and 16 report other functions, too, without LDS."""
        return self.is_complete and not self.is_kernel

    def warn(self, message: Message, line: int) -> None:
        """Add a warning on this function."""
        self._warnings.add(say("in-function", function=self.name.value, reason=message), line)

    def name_again(self) -> None:
        """Count another function at the same location."""
        if self.names == 1:
            self.warn(say("log-of-two-compilers"), self.name.line)
        self.names += 1

    def add(self, statement: LogStatement) -> None:
        """Add a number; contradicting ones become a warning and no number."""
        if self.names == 1:
            before = self.values.get(statement.key)
            if before is not None and before.value != statement.value:
                key, first, second = statement.key, before.value, statement.value
                wrong = say("log-contradiction", key=key, first=first, second=second)
                self.warn(wrong, statement.line)
                statement = statement._replace(value="")
            self.values[statement.key] = statement
        self.ends += statement.key == _LAST

    def kernel(self, target: Target | None) -> KernelFacts:
        """Numbers and places of the kernel."""
        if not self.is_kernel:
            self.warn(say("log-cut-off"), self.name.line)
        fields: dict[str, Any] = {}
        lines: dict[str, int] = {}
        for statement in self.values.values():
            if statement.key == _DYNAMIC_STACK and statement.value in _FLAGS:
                fields["dynamic_stack"] = _FLAGS[statement.value]
                lines["dynamic_stack"] = statement.line
            elif statement.key in _COUNTS:
                name, largest = _COUNTS[statement.key]
                key, value = statement.key, statement.value
                if re.fullmatch(r"\d{1,10}", value) and integer(value) <= largest:
                    fields[name], lines[name] = integer(value), statement.line
                elif re.match(_SYMBOLS, value):
                    fields["indirect_call"], lines["indirect_call"] = True, self.name.line
                elif value:
                    self.warn(say("log-number", key=key, value=value, most=largest), statement.line)
        if _AGPRS not in self.values and not self.is_kernel:
            fields.pop("vgprs", None)  # cut off before it says how many AGPRs there are
        _add_accumulators(fields, target)
        numbers = Numbers(**fields)
        location = self.name.location
        source = SourceLine(location.file, location.line) if location.line else None
        return KernelFacts(
            self.name.value,
            (("remark", numbers),) if numbers != NOTHING else (),
            (Place("remark", 0, lines),),
            source=source,
        )


def group(
    statements: Iterable[LogStatement], warnings: ReadWarnings, budget: FileBudget
) -> list[LogBlock]:
    """Functions of a log, in its order. A statement belongs to the function that was last named at
    the same location.

    More functions or statements than the budget allows end the reading with a warning.
    """
    blocks: list[LogBlock] = []
    open_blocks: dict[LogLocation, LogBlock] = {}
    has_orphans = False
    try:
        for statement in statements:
            block = open_blocks.get(statement.location)
            if statement.key == NAME:
                budget.spend_kernels()
                if block and (block.names > 1 or not block.is_complete):
                    block.name_again()
                else:
                    block = open_blocks[statement.location] = LogBlock(statement, warnings)
                    blocks.append(block)
            elif block:
                block.add(statement)
                if block.ends == block.names:
                    del open_blocks[statement.location]
            elif not has_orphans:
                warnings.add(say("log-without-name"), statement.line)
                has_orphans = True
    except BoundError as error:
        warnings.add(error.message)
    return blocks


def _add_accumulators(fields: dict[str, Any], target: Target | None) -> None:
    """Turn `vgprs` into the total of the metadata's `.vgpr_count`.

    Removes it if there are AGPRs and the target is unknown: the total depends on the target.
    """
    if "vgprs" in fields and fields.get("agprs"):
        if target is None:
            del fields["vgprs"]
        else:
            fields["vgprs"] = total_vgprs(target, fields["vgprs"], fields["agprs"])


# Statements from the YAML of `-fsave-optimization-record` and of llc's `-pass-remarks-output`.
#
# A record has one document for each line of the log: `--- !Analysis`, `Pass:
# kernel-resource-usage`, `Name:` (of the number), `Function:`, `DebugLoc:`, and the value in
# `Args:`. Source: llvm/lib/Remarks/YAMLRemarkSerializer.cpp.

_START = rb"(?m)^--- ![^\n]*\n"
_PASS = rb"[^\n]{0,80}\n?Pass: +kernel-resource-usage\s"
_END = rb"\n(?:(\.\.\.)|---)"
_FIELD = r"(?m)^(\w+):[ \t]*(.*(?:\n[ \t].*)*)"
_ARGUMENT = r"(?m)^ *- (\w+):[ \t]*(.*)"
_LOCATION = r"\{\s*File: *+(.*),\s+Line: (\d{1,9}),\s+Column: (\d{1,9})\s*\}"
_ESCAPED = r'\\(?:(["\\/ ])|x(..)|u(.{4})|U(.{8})|.)'
_MOST_BYTES = 1 << 16  # per document; real ones have about 300
_MOST_HEAD = 1 << 10  # two lines, the second one the name of the pass
_RECORD = 3  # statements counted for one document, by the time that it takes to read
_KEYS: Mapping[str, str] = {
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


def read_records(text: Text, warnings: ReadWarnings, budget: FileBudget) -> Iterator[LogStatement]:
    """Statements of the pass's documents, in their order; an unreadable one adds to `warnings`.

    Raises `BoundError`.
    """
    lines = Lines(text)
    for offset, mark in find_all(re.compile(_START), text):
        start = offset + len(mark[0])
        if re.match(_PASS, text[start : start + _MOST_HEAD]):
            budget.spend_statements(_RECORD)
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


def _statement(document: str, line: int) -> LogStatement | None:
    """Statement of a document; None for an unknown number.

    Raises `ReadError` for a document that no compiler writes.
    """
    fields: dict[str, str] = dict(re.findall(_FIELD, document))
    name = _scalar(fields.get("Name", ""))
    if not name.isalnum():
        raise ReadError(say("record-without-name"))
    key = _KEYS.get(name)
    if key is None:
        return None
    arguments = re.findall(_ARGUMENT, fields.get("Args", ""))
    stated = [_scalar(value) for argument, value in arguments if argument == name]
    if not stated:
        raise ReadError(say("record-without-value", name=name))
    function = _scalar(fields.get("Function", ""))
    if key == NAME and stated[-1] != function:
        raise ReadError(say("record-contradiction", function=function, named=stated[-1]))
    return LogStatement(_location(fields.get("DebugLoc", "")), key, stated[-1], line)


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


def _location(written: str) -> LogLocation:
    place = re.fullmatch(_LOCATION, written.strip())
    if place is None:
        return LogLocation("<unknown>", 0, 0)
    return LogLocation(_scalar(place[1]), integer(place[2]), integer(place[3]))
