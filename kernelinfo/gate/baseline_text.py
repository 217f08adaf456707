"""The text of a baseline: one line per symbol of a library, with its numbers on all targets."""

from __future__ import annotations

import gzip
import io
import json
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain, islice
from operator import attrgetter, itemgetter
from typing import Any, BinaryIO, cast

from kernelinfo.compare.summary import Build, KernelNumbers, KernelSummary
from kernelinfo.errors import ReadError
from kernelinfo.gate.messages import say
from kernelinfo.kernel.code_object import InstructionCounts, LoopCounts, matrix_loops
from kernelinfo.kernel.names import demangle
from kernelinfo.kernel.record import INSTRUCTIONS, NUMBERS
from kernelinfo.model.limits import RESOURCES
from kernelinfo.reading.blob import BY_DEFAULT
from kernelinfo.reading.facts import SourceLine

NAME, VERSION = "kernelinfo/baseline", 3
OLDER_NAME = "kernelinfo-baseline"
"""The name in baselines of 0.2.0."""
COMPRESSED = ".gz"

_MOST_BYTES = 256 << 20
"""Limit of the text, after decompression; an entry takes some hundred bytes."""
_MOST_IN_ONE = 32 << 20
"""Most bytes of a line, and of a text without a line per entry, which is parsed as a whole."""
_MOST_LINES = 1 << 21
"""Limit of the lines; an entry takes one of some hundred bytes."""
_LONGEST_UNIT = 1 << 16
"""Most characters of a unit, which is the path of a library."""
_KEYS = ("schema", "toolchain", "kernels")
_GZIP = b"\x1f\x8b"
_CONFLICT = ("<<<<<<< ", ">>>>>>> ")
_LONGEST_START = 64
"""Bytes at the start of the text that must contain the schema's name."""
_HEAD_LINES = 4
_COMPACT = (", ", ":")
_FIELDS = {
    **{number.key or number.field.replace("_", "-"): number.field for number in NUMBERS},
    "exact": "exact",
    "limited-by": "limiters",
    **{number.key: number.field for number in INSTRUCTIONS},
    "accepted": "accepted",
    "options": "options",
    "loops": "loops",
}
"""Key -> its field of `KernelNumbers`. The last three are fields of `KernelSummary`."""
_COUNTED = {number.field for number in INSTRUCTIONS}
_DEFAULTS: dict[str, Any] = {
    **{field: None if field in _COUNTED else 0 for field in _FIELDS.values()},
    **{"exact": True, "limiters": (), "accepted": (), "options": (), "loops": None},
}
"""Field -> value if the entry does not state it."""
_FLOATS = ("waves", "occupancy")
_COUNTS = _FIELDS.keys() - {*_FLOATS, "exact", "limited-by", "accepted", "options"}
_TARGET, _ON, _NAME, _SYMBOL = "target", "on", "name", "symbol"
_values_of = attrgetter(*_FIELDS.values())
_in_order = itemgetter(*KernelNumbers._fields)
_SEVERITIES = ("note", "warning", "error")
_RULE = re.compile(r"KI(?!5)[0-9]{3}")
"""Rules whose findings a baseline accepts; KI5xx compare with the baseline itself."""
_PLACEHOLDER = re.compile(r"\{(\{|target\}|processor\})")

Built = Mapping[KernelSummary, KernelSummary]
"""Kernel with only the fields that a baseline stores -> that kernel of the build."""


BaselineEntries = Iterator[tuple[str, Any]]
"""(unit, entry) of a baseline, each as it is read."""


def write_text(pinned: Build) -> Iterator[str]:
    """The text of a baseline in pieces, sorted."""
    toolchain = json.dumps(sorted(pinned.compilers))
    yield f'{{\n "schema": "{NAME}/{VERSION}",\n "toolchain": {toolchain},\n "kernels": {{'
    for number, (unit, symbols) in enumerate(sort_units(pinned.kernels)):
        yield f"{',' if number else ''}\n  {json.dumps(unit)}: ["
        lines = (json.dumps(make_entry(kernels), separators=_COMPACT) for kernels in symbols)
        for position, line in enumerate(lines):
            yield f"{',' if position else ''}\n   {line}"
        yield "\n  ]"
    yield "\n }\n}\n"


@contextmanager
def compress(file: BinaryIO, path: str) -> Iterator[BinaryIO]:
    """The file to write a baseline's text to, compressed if the path ends in `.gz`. Equal text
    gives equal bytes: neither a name nor a time is stored."""
    if not path.endswith(COMPRESSED):
        yield file
        return
    with gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as packed:
        yield cast(BinaryIO, packed)


def _unpack(file: BinaryIO) -> tuple[BinaryIO, int]:
    """The file, decompressed if it begins like gzip, and the most bytes to read from it."""
    start = file.read(len(_GZIP))
    size = file.seek(0, io.SEEK_END)
    file.seek(0)
    if start != _GZIP:
        return file, _MOST_BYTES
    bound = min(BY_DEFAULT.streamed_bytes(size), _MOST_BYTES)
    return cast(BinaryIO, gzip.GzipFile(fileobj=file)), bound


def begins_like_baseline(file: BinaryIO) -> bool:
    """True if the text begins like a baseline's."""
    try:
        start = _unpack(file)[0].read(_LONGEST_START)
        return NAME.encode() in start or OLDER_NAME.encode() in start
    except (EOFError, zlib.error, gzip.BadGzipFile):
        return False


def parse(file: BinaryIO) -> tuple[object, Any, BaselineEntries]:
    """(schema, toolchain, entries) of the baseline in a file.

    Raises `ValueError` or `RecursionError` for damaged text, and `ReadError` for text that is too
    large or has merge conflict markers. Reading the entries may raise the same errors.
    """
    rest = read_lines(file)
    head = list(_bound(islice(rest, _HEAD_LINES)))
    if header := _read_header(head):
        entries = _read_entries(rest, "]" if head[-1].rstrip().endswith("[") else "}")
    else:
        header = json.loads("".join(_bound(chain(head, rest))), object_pairs_hook=_collect_unique)
        if not isinstance(header, dict):
            return None, None, iter(())
        entries = _list_entries(header)
    if unknown := [key for key in header if key not in _KEYS]:
        raise ValueError(say("baseline-key-unknown", key=unknown[0]))
    return header.get("schema"), header.get("toolchain"), entries


def read_lines(file: BinaryIO) -> Iterator[str]:
    """The lines of a baseline's text, which may be compressed. Raises as `parse` does."""
    size = count = 0
    try:
        text_file, bound = _unpack(file)
        while line := text_file.readline(_MOST_IN_ONE + 1):
            size += len(line)
            count += 1
            if size > bound or count > _MOST_LINES:
                passed = f"{bound} bytes" if size > bound else f"{_MOST_LINES} lines"
                raise ReadError(say("baseline-too-large", most=passed))
            if len(line) > _MOST_IN_ONE:
                raise ReadError(say("baseline-reformatted", most=_MOST_IN_ONE))
            text = line.decode()
            if text.startswith(_CONFLICT):
                raise ReadError(say("baseline-conflict"))
            yield text
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise ValueError(say("baseline-gzip-damaged", error=error)) from None


def _bound(lines: Iterable[str]) -> Iterator[str]:
    size = 0
    for line in lines:
        size += len(line)
        if size > _MOST_IN_ONE:
            raise ReadError(say("baseline-reformatted", most=_MOST_IN_ONE))
        yield line


def _read_header(head: list[str]) -> dict[str, Any] | None:
    """Schema and toolchain of a text that kernelinfo wrote; None for other JSON."""
    if len(head) < _HEAD_LINES or head[-1].strip() not in ('"kernels": {', '"kernels": ['):
        return None
    try:
        text = "".join(head[:-1]).strip().removesuffix(",") + "}"
        header = json.loads(text, object_pairs_hook=_collect_unique)
    except (json.JSONDecodeError, RecursionError):
        return None
    return header if isinstance(header, dict) else None


def _read_entries(lines: Iterator[str], bracket: str) -> Iterator[tuple[str, Any]]:
    """The entries on the lines after the header. `bracket` closes the list of kernels."""
    unit, units, ends = "", set[str](), ["}", bracket]
    for number, line in enumerate(lines, _HEAD_LINES + 1):
        bare = line.strip().removesuffix(",")
        if bare.startswith("{") and bare.endswith("}") and ends[-1:] == ["]"]:
            yield unit, _parse_line(bare, number)
        elif bare.endswith(": [") and ends == ["}", "}"]:
            if len(bare) > _LONGEST_UNIT:
                length = len(bare)
                raise ValueError(say("baseline-library-long", line=number, length=length))
            unit = _parse_line(bare.removesuffix(": ["), number)
            if not isinstance(unit, str) or unit in units:
                raise ValueError(say("baseline-library-twice", line=number, library=unit))
            units.add(unit)
            ends.append("]")
        elif ends and bare == ends[-1]:
            ends.pop()
        elif bare:
            raise ValueError(f"line {number}")
    if ends:
        raise ValueError(say("baseline-cut-off"))


def _parse_line(text: str, line: int) -> Any:
    """The value of a line's JSON. Raises a `ValueError` that names the line."""
    try:
        return json.loads(text, object_pairs_hook=_collect_unique)
    except json.JSONDecodeError as error:
        message = say("baseline-json-damaged", line=line, error=error.msg, column=error.colno)
        raise ValueError(message) from None


def _collect_unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The members of a JSON object. Raises `ValueError` for a repeated key."""
    members = dict(pairs)
    if len(members) < len(pairs):
        keys = [key for key, _ in pairs]
        repeated = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(say("baseline-key-twice", key=repeated))
    return members


def _list_entries(document: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Entries of a document that was parsed as a whole."""
    kernels = document["kernels"]
    units = kernels.items() if isinstance(kernels, dict) else [("", kernels)]
    for unit, entries in units:
        for entry in entries:
            yield unit, entry


def sort_units(
    kernels: Iterable[KernelSummary],
) -> Iterator[tuple[str, list[list[KernelSummary]]]]:
    """(unit, its kernels grouped by symbol and name), both sorted."""
    units: dict[str, dict[tuple[str, str], list[KernelSummary]]] = {}
    unit_of: dict[tuple[str, str], str] = {}
    for kernel in kernels:
        where = kernel.code_object, kernel.target
        if where not in unit_of:
            unit_of[where] = name_unit(*where)
        symbols = units.setdefault(unit_of[where], {})
        symbols.setdefault((kernel.symbol, kernel.name), []).append(kernel)
    for unit in sorted(units):
        symbols = units[unit]
        yield unit, [symbols[key] for key in sorted(symbols)]


def name_unit(code_object: str, target: str) -> str:
    """The code object with `{target}` or `{processor}` in place of the target, so that all targets
    of a library share it. `{{` stands for `{`."""
    processor = target.partition(":")[0]
    if not processor:
        return code_object.replace("{", "{{")
    names = rf"(?:({re.escape(target)})|({re.escape(processor)}))(?![\da-f])|{{"
    return re.sub(
        names,
        lambda match: "{target}" if match[1] else "{processor}" if match[2] else "{{",
        code_object,
    )


def name_code_object(unit: str, target: str) -> str:
    """The code object of a unit for a target; the reverse of `name_unit`."""
    if "{" not in unit:
        return unit
    values = {"{": "{", "target}": target, "processor}": target.partition(":")[0]}
    return _PLACEHOLDER.sub(lambda match: values[match[1]], unit)


def make_entry(kernels: Sequence[KernelSummary]) -> dict[str, Any]:
    """The entry for kernels of one symbol, name and unit.

    Its key `on` lists targets with their numbers, so that a new target adds to an entry and
    rewrites nothing. A target that two of the kernels share is listed twice.
    """
    symbol, name = kernels[0].symbol, kernels[0].name
    groups: dict[tuple[Any, ...], list[str]] = {}
    pinned = map(pin_loops, kernels)
    for target, values in sorted(((k.target, _values_of(k)) for k in pinned), key=repr):
        groups.setdefault(values, []).append(target)
    on = [
        {_TARGET: targets if targets[1:] else targets[0]} | _state(values)
        for values, targets in groups.items()
    ]
    named = {} if name in (symbol, demangle(symbol)) else {_NAME: name}
    return {_SYMBOL: symbol, **named, _ON: on}


def read_entry(unit: str, entry: Any, built: Built) -> Iterator[KernelSummary]:
    """The kernels of an entry. A kernel that equals one of the build is represented by that very
    object.

    Raises `ValueError`, `KeyError`, `TypeError` or `AttributeError` for a damaged entry.
    """
    symbol = entry[_SYMBOL]
    name = entry[_NAME] if _NAME in entry else demangle(symbol)
    if not (isinstance(symbol, str) and isinstance(name, str)):
        raise ValueError(f"{symbol}: name")
    if entry.keys() - {_SYMBOL, _NAME, _ON} or not isinstance(entry[_ON], list) or not entry[_ON]:
        raise ValueError(f"{symbol}: on")
    for group in entry[_ON]:
        values = dict(_DEFAULTS)
        for key, value in group.items():
            if key in _COUNTS and type(value) is int and 0 <= value < 1 << 64:
                values[_FIELDS[key]] = value
            elif key in _FIELDS:
                values[_FIELDS[key]] = _read_value(key, value, symbol)
            elif key != _TARGET:
                raise ValueError(f"{symbol}: {key}")
        numbers = KernelNumbers._make(_in_order(values))
        targets = group[_TARGET]
        named = targets if isinstance(targets, list) else [targets]
        if not named or not all(isinstance(target, str) and target for target in named):
            raise ValueError(f"{symbol}: target")
        for target in named:
            kernel = KernelSummary(
                target,
                name,
                symbol,
                name_code_object(unit, target),
                numbers,
                accepted=values["accepted"],
                options=values["options"],
                loops=values["loops"],
            )
            yield built.get(kernel, kernel)


def _state(values: Iterable[Any]) -> dict[str, Any]:
    """Values by key as JSON, without the defaults."""
    return {
        key: _write_value(key, value)
        for (key, field), value in zip(_FIELDS.items(), values, strict=True)
        if value != _DEFAULTS[field]
    }


def _write_value(key: str, value: Any) -> Any:
    if key == "limited-by":
        return " ".join(value)
    if key in ("accepted", "options"):
        return dict(value)
    if key == "loops":
        return [_write_loop(loop) for loop in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def pin_loops(kernel: KernelSummary) -> KernelSummary:
    """The kernel, with its loops reduced to what a baseline stores: counts of the innermost loops
    with matrix instructions."""
    if not kernel.loops:
        return kernel
    loops = [
        loop._replace(label=None, in_flight=None, wait_distance=None)
        for loop in matrix_loops(kernel.loops)
    ]
    return kernel._replace(loops=tuple(loops))


def _write_loop(loop: LoopCounts) -> list[Any]:
    """The loop as a JSON list: source file and line of its header (both None if not known), depth,
    number of copies between VGPRs and AGPRs, bytes of code, and instruction counts."""
    numbers = loop.depth, loop.agpr_copies, loop.code_bytes
    return [*(loop.source or (None, None)), *numbers, *loop.counts]


def _read_loop(loop: Any, symbol: str) -> LoopCounts:
    """The loop of a baseline's entry. Raises `ValueError` for a malformed one."""
    file, line, depth, copies, size, *counts = loop
    if len(counts) != len(InstructionCounts._fields) or not (file is None or type(file) is str):
        raise ValueError(f"{symbol}: loops")
    for number in (line, depth, copies, size, *counts):
        if number is not None and not (type(number) is int and 0 <= number < 1 << 64):
            raise ValueError(f"{symbol}: loops")
    if None in (depth, copies, size, *counts[:15]) or (file is None) is not (line is None):
        raise ValueError(f"{symbol}: loops")
    source = None if file is None else SourceLine(file, line)
    return LoopCounts(None, source, None, depth, InstructionCounts._make(counts), copies, size)


def _read_value(key: str, value: Any, symbol: str) -> Any:
    """A key's value. Raises `ValueError` for a wrong type, and for numbers that are negative or
    have more than 64 bits."""
    kind = type(value)
    if key == "limited-by":
        limiters = tuple(value.split()) if kind is str else (None,)
        is_once = len({*limiters}) == len(limiters)
        if is_once and all(limiter in tuple(RESOURCES) for limiter in limiters):
            return limiters
    elif key == "accepted":
        accepted = value.items() if kind is dict else [("", None)]
        if all(_RULE.fullmatch(rule) and severity in _SEVERITIES for rule, severity in accepted):
            return tuple(sorted(accepted))
    elif key == "options":
        if kind is dict and all(isinstance(text, str) for text in value.values()):
            return tuple(value.items())
    elif key == "loops" and kind is list:
        return tuple([_read_loop(loop, symbol) for loop in value])
    elif value is None or (key == "exact" and kind is bool):
        return value
    elif key in _FLOATS and kind in (int, float) and 0 <= value < 1 << 64:  # excludes NaN, too
        return float(value)
    elif kind is int and 0 <= value < 1 << 64:
        return value
    raise ValueError(f"{symbol}: {key}")
