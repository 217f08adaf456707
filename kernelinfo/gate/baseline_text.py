"""The text of a baseline: one entry a line, so that large files take little memory."""

from __future__ import annotations

import gzip
import io
import json
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import chain, islice
from typing import Any, BinaryIO, NamedTuple, cast

from kernelinfo.compare.summary import Build
from kernelinfo.errors import ReadError
from kernelinfo.gate.baseline_entry import entry, sorted_units
from kernelinfo.gate.messages import say
from kernelinfo.reading.blob import BY_DEFAULT

NAME, VERSION = "kernelinfo/baseline", 3
OLDER_NAME = "kernelinfo-baseline"
"""The name in baselines of 0.2.0."""
COMPRESSED = ".gz"

_MOST_BYTES = 256 << 20
"""Limit of the text, after decompression; an entry takes some hundred bytes."""
_MOST_IN_ONE = 32 << 20
"""Limit of a line, and of a text that is not in lines of entries and is parsed as a whole."""
_MOST_LINES = 1 << 21
"""Limit of the lines; an entry takes one of some hundred bytes."""
_LONGEST_UNIT = 1 << 16
"""Characters of the path of a library."""
_KEYS = ("schema", "toolchain", "kernels")
_GZIP = b"\x1f\x8b"
_CONFLICT = ("<<<<<<< ", ">>>>>>> ")
_LONGEST_START = 64
"""Bytes in which the schema's name stands."""
_HEAD_LINES = 4
_COMPACT = (", ", ":")


class Document(NamedTuple):
    """A baseline's text: its head, and the entries as they are read."""

    schema: object
    toolchain: Any
    entries: Iterator[tuple[str, Any]]
    """(unit, entry)."""


class ConflictError(Exception):
    """The text has the conflict markers of a merge."""


def text(pinned: Build) -> Iterator[str]:
    """The lines of a baseline, sorted."""
    toolchain = json.dumps(sorted(pinned.compilers))
    yield f'{{\n "schema": "{NAME}/{VERSION}",\n "toolchain": {toolchain},\n "kernels": {{'
    for number, (unit, symbols) in enumerate(sorted_units(pinned.kernels)):
        yield f"{',' if number else ''}\n  {json.dumps(unit)}: ["
        lines = (json.dumps(entry(kernels), separators=_COMPACT) for kernels in symbols)
        for position, line in enumerate(lines):
            yield f"{',' if position else ''}\n   {line}"
        yield "\n  ]"
    yield "\n }\n}\n"


@contextmanager
def compressed(file: BinaryIO, path: str) -> Iterator[BinaryIO]:
    """The file to write a baseline's text to: compressed if the path ends in `.gz`.

    Equal text gives equal bytes: no name and no time is stored.
    """
    if not path.endswith(COMPRESSED):
        yield file
        return
    with gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as packed:
        yield cast(BinaryIO, packed)


def _unpacked(file: BinaryIO) -> tuple[BinaryIO, int]:
    """(the file, decompressed if it begins like gzip, most bytes to read of it)."""
    start = file.read(len(_GZIP))
    size = file.seek(0, io.SEEK_END)
    file.seek(0)
    if start != _GZIP:
        return file, _MOST_BYTES
    most = min(BY_DEFAULT.streamed_bytes(size), _MOST_BYTES)
    return cast(BinaryIO, gzip.GzipFile(fileobj=file)), most


def begins_like_one(file: BinaryIO) -> bool:
    """True if the text begins like a baseline's."""
    try:
        start = _unpacked(file)[0].read(_LONGEST_START)
        return NAME.encode() in start or OLDER_NAME.encode() in start
    except (EOFError, zlib.error, gzip.BadGzipFile):
        return False


def parse(file: BinaryIO) -> Document:
    """The document in a file.

    Raises `ValueError` or `RecursionError` for damaged text, `ConflictError` for one with conflict
    markers, and `ReadError` for one that is too large; so do its entries when they are read.
    """
    rest = lines(file)
    head = list(_bounded(islice(rest, _HEAD_LINES)))
    if header := _header(head):
        entries = _entries(rest, "]" if head[-1].rstrip().endswith("[") else "}")
    else:
        header = json.loads("".join(_bounded(chain(head, rest))), object_pairs_hook=_unique)
        if not isinstance(header, dict):
            return Document(None, None, iter(()))
        entries = _whole(header)
    if unknown := [key for key in header if key not in _KEYS]:
        raise ValueError(say("baseline-key-unknown", key=unknown[0]))
    return Document(header.get("schema"), header.get("toolchain"), entries)


def lines(file: BinaryIO) -> Iterator[str]:
    """The lines of a baseline's text, which may be compressed. Raises as `parse` does."""
    size = count = 0
    try:
        text_file, most = _unpacked(file)
        while line := text_file.readline(_MOST_IN_ONE + 1):
            size += len(line)
            count += 1
            if size > most or count > _MOST_LINES:
                passed = f"{most} bytes" if size > most else f"{_MOST_LINES} lines"
                raise ReadError(say("baseline-too-large", most=passed))
            if len(line) > _MOST_IN_ONE:
                raise ReadError(say("baseline-reformatted", most=_MOST_IN_ONE))
            text = line.decode()
            if text.startswith(_CONFLICT):
                raise ConflictError
            yield text
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise ValueError(say("baseline-gzip-damaged", error=error)) from None


def _bounded(lines: Iterable[str]) -> Iterator[str]:
    size = 0
    for line in lines:
        size += len(line)
        if size > _MOST_IN_ONE:
            raise ReadError(say("baseline-reformatted", most=_MOST_IN_ONE))
        yield line


def _header(head: list[str]) -> dict[str, Any] | None:
    """Schema and toolchain of a text that kernelinfo wrote; None for other JSON."""
    if len(head) < _HEAD_LINES or head[-1].strip() not in ('"kernels": {', '"kernels": ['):
        return None
    try:
        text = "".join(head[:-1]).strip().removesuffix(",") + "}"
        found = json.loads(text, object_pairs_hook=_unique)
    except (json.JSONDecodeError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _entries(lines: Iterator[str], bracket: str) -> Iterator[tuple[str, Any]]:
    """Entries of lines that follow the head. `bracket` closes the kernels."""
    unit, units, ends = "", set[str](), ["}", bracket]
    for number, line in enumerate(lines, _HEAD_LINES + 1):
        bare = line.strip().removesuffix(",")
        if bare.startswith("{") and bare.endswith("}") and ends[-1:] == ["]"]:
            yield unit, _parsed(bare, number)
        elif bare.endswith(": [") and ends == ["}", "}"]:
            if len(bare) > _LONGEST_UNIT:
                length = len(bare)
                raise ValueError(say("baseline-library-long", line=number, length=length))
            unit = _parsed(bare.removesuffix(": ["), number)
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


def _parsed(text: str, line: int) -> Any:
    """The value of a line's JSON. Raises `ValueError` that names the line."""
    try:
        return json.loads(text, object_pairs_hook=_unique)
    except json.JSONDecodeError as error:
        message = say("baseline-json-damaged", line=line, error=error.msg, column=error.colno)
        raise ValueError(message) from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The members of a JSON object. Raises `ValueError` for a key that stands twice."""
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(say("baseline-key-twice", key=twice))
    return found


def _whole(document: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Entries of a document that was parsed as a whole."""
    kernels = document["kernels"]
    units = kernels.items() if isinstance(kernels, dict) else [("", kernels)]
    for unit, entries in units:
        for one in entries:
            yield unit, one
