"""Optimization records: `-fsave-optimization-record` and llc's `-pass-remarks-output`, as YAML.

One document for each line that the log would have: `--- !Analysis`, `Pass: kernel-resource-usage`,
`Name:` of the number, `Function:`, `DebugLoc:`, and the value in `Args:`.
llvm/lib/Remarks/YAMLRemarkSerializer.cpp.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import yaml

from kernelinfo.errors import ReadError
from kernelinfo.light_typing import Any
from kernelinfo.reading.assembly.scan import Lines, Text, decode
from kernelinfo.reading.build_log.blocks import NAME, NOWHERE, Location, Statement
from kernelinfo.reading.facts import ReadWarnings

_START = re.compile(rb"^--- ![^\n]*\n", re.MULTILINE)
_PASS = re.compile(rb"[^\n]{0,80}\n?Pass: +kernel-resource-usage\s")
_MOST_BYTES = 1 << 16
"""Of one document; real ones have about 300."""
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


_Loader: type[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def statements(text: Text, warnings: ReadWarnings) -> Iterator[Statement]:
    """What the documents of the pass state; those that cannot be read are added to `warnings`."""
    lines = Lines(text)
    for found in _START.finditer(text):
        if _PASS.match(text, found.end()):
            line = lines.number(found.start())
            document = text[found.end() : found.end() + _MOST_BYTES].partition(b"\n...")
            try:
                if not document[1]:
                    raise ReadError("the record is cut off")
                if statement := _statement(decode(document[0]) + "\n", line):
                    yield statement
            except ReadError as error:
                warnings.add(str(error), line)


def _statement(document: str, line: int) -> Statement | None:
    """None for a number that is not known. Raises `ReadError` for what is no such record."""
    record = _record(document)
    key = _KEYS.get(str(record.get("Name")))
    if key is None:
        return None
    name, arguments = str(record["Name"]), record.get("Args")
    maps = [a for a in arguments if isinstance(a, dict)] if isinstance(arguments, list) else []
    stated = [argument[name] for argument in maps if name in argument]
    if not stated:
        raise ReadError(f"the record states no {name}")
    function = str(record.get("Function"))
    if key == NAME and str(stated[-1]) != function:
        raise ReadError(f"the record is of {function!r:.100} and names {stated[-1]!r:.100}")
    return Statement(_location(record.get("DebugLoc")), key, str(stated[-1]), line)


def _record(document: str) -> Mapping[str, Any]:
    """Scalars as they are written; raises `ReadError` for what is none."""
    try:
        events = yaml.parse(document, _Loader) if "*" in document else ()
        if any(isinstance(event, yaml.AliasEvent) for event in events):
            raise ReadError("the record has aliases, which no compiler writes")
        root = yaml.compose(document, _Loader)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise ReadError("the record is no YAML") from error
    found = _written(root) if root is not None else None
    if not isinstance(found, dict):
        raise ReadError("the record is no map")
    return found


def _written(node: Any) -> Any:
    """A node's lists and maps, with scalars as text."""
    if node.id == "sequence":
        return [_written(item) for item in node.value]
    if node.id == "mapping":
        return {key.value: _written(value) for key, value in node.value if key.id == "scalar"}
    return str(node.value)


def _location(location: object) -> Location:
    if not isinstance(location, dict):
        return NOWHERE
    line, column = (str(location.get(key, "")) for key in ("Line", "Column"))
    if not (line.isdecimal() and column.isdecimal() and len(line) < 10 and len(column) < 10):
        return NOWHERE
    return Location(str(location.get("File")), int(line), int(column))
