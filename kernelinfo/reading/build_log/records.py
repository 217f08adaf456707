"""Statements from the YAML of `-fsave-optimization-record` and of llc's `-pass-remarks-output`.

A record has one document for each line of the log: `--- !Analysis`, `Pass: kernel-resource-usage`,
`Name:` (of the number), `Function:`, `DebugLoc:`, and the value in `Args:`.
Source: llvm/lib/Remarks/YAMLRemarkSerializer.cpp.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from kernelinfo.errors import ReadError
from kernelinfo.reading.budget import KernelBudget
from kernelinfo.reading.build_log.blocks import NAME, NOWHERE, LogLocation, LogStatement
from kernelinfo.reading.data import Lines, Text, decode, find_all, integer
from kernelinfo.reading.facts import ReadWarnings
from kernelinfo.reading.messages import say

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


def statements(text: Text, warnings: ReadWarnings, budget: KernelBudget) -> Iterator[LogStatement]:
    """Statements of the pass's documents, in their order; an unreadable one adds to `warnings`.

    Raises `TooManyKernelsError`.
    """
    lines = Lines(text)
    for offset, found in find_all(re.compile(_START), text):
        start = offset + len(found[0])
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
    found = re.fullmatch(_LOCATION, written.strip())
    return (
        LogLocation(_scalar(found[1]), integer(found[2]), integer(found[3])) if found else NOWHERE
    )
