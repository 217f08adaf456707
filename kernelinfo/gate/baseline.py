"""The baseline file: JSON, sorted, one kernel per line, identical on every machine."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache, partial
from json.encoder import encode_basestring_ascii
from typing import Any, get_type_hints

from kernelinfo.atomic_write import atomic_write
from kernelinfo.compare.summary import COMPARED, Build, KernelSummary, build, path_under
from kernelinfo.config.file import FilePath
from kernelinfo.errors import BaselineError, ReadError
from kernelinfo.kernel import Result
from kernelinfo.kernel.code_object import CodeObject
from kernelinfo.occupancy.limits import RESOURCES, Resource
from kernelinfo.reading.paths import read_document

_NAME, _VERSION = "kernelinfo-baseline", 1
_SCHEMA = f"{_NAME}/{_VERSION}"
_DELETE = "delete it and pin anew with --update-baseline"
_CONFLICT = ("<<<<<<< ", ">>>>>>> ")

_MOST_BYTES = 256 << 20
"""Limit of a file's size; a kernel takes some hundred bytes."""
_TYPES: dict[object, tuple[type, ...]] = {
    str: (str,),
    int | None: (int, type(None)),
    float | None: (float, int, type(None)),
    bool | None: (bool, type(None)),
    tuple[Resource, ...]: (list,),
}
_FIELDS = get_type_hints(KernelSummary)
_KEYS = {key: _TYPES[_FIELDS[key]] for key in COMPARED}
"""Field -> types of its value in JSON, for all compared fields."""
_REQUIRED = _KEYS.keys() - KernelSummary._field_defaults
_IDENTITY = 4
"""Number of leading keys that identify a kernel; its numbers follow."""


def is_baseline(path: str) -> bool:
    """True if the file begins like one of `write_baseline`."""
    if not os.path.isfile(path):
        return False
    with open(path, "rb") as file:
        return _NAME.encode() in file.read(64)


def read_baseline(path: FilePath, build: Iterable[KernelSummary] = ()) -> Build:
    """The pinned build of a baseline file.

    Lines that equal the line of a kernel of `build` are not parsed: nearly all do. Raises
    `BaselineError` for a file that is missing, damaged, not a baseline, or of a newer version.
    """
    try:
        text = read_document(path, _MOST_BYTES).decode()
    except OSError as error:
        message = f"{path}: {error.strerror}; make it by `kernelinfo check --update-baseline`"
        raise BaselineError(message) from None
    except ReadError as error:
        raise BaselineError(f"{path}: {error}") from None
    except UnicodeDecodeError:
        raise BaselineError(f"{path}: is not a baseline; {_DELETE}") from None
    if any(line.startswith(_CONFLICT) for line in text.splitlines()):
        message = f"{path}: has conflict markers of a merge; settle them, or take either side and "
        raise BaselineError(f"{message}run `kernelinfo check --update-baseline`")
    try:
        same, others = _without_known(text, build)
        document = json.loads(others)
    except (ValueError, RecursionError) as error:
        raise BaselineError(f"{path}: is damaged, {error}; restore it, or {_DELETE}") from None
    _check_schema(path, document)
    try:
        kernels, toolchain = document["kernels"], document["toolchain"]
        if not all(isinstance(stamp, str) for stamp in toolchain):
            raise ValueError("toolchain")
        changed = [_summary(kernel) for kernel in kernels if kernel is not None]
        if len(same) + len(changed) != len(kernels):
            raise ValueError("null")
        return Build((*same, *changed), tuple(toolchain))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        message = f"{path}: is damaged at {error}; restore it, or {_DELETE}"
        raise BaselineError(message) from None


def write_baseline(path: FilePath, pinned: Build) -> None:
    """Write a baseline atomically: the file is either the old or the new one.

    Raises `BaselineError` if the file cannot be written.
    """
    try:
        with atomic_write(os.path.realpath(path)) as file:
            file.writelines(line.encode() for line in _lines(pinned))
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise BaselineError(f"{path}: {error.strerror}; give another file") from None


@contextmanager
def updating(path: FilePath) -> Iterator[None]:
    """Lock a baseline while it is read and written; other updates wait.

    The lock is on the folder, so that no lock file remains. Windows and file systems without locks
    are not protected.
    """
    try:
        import fcntl

        folder = os.open(os.path.dirname(os.path.realpath(path)), os.O_RDONLY)
    except (ImportError, OSError):  # `write_baseline` reports a missing folder
        yield
        return
    try:
        with suppress(OSError):
            fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


def pinnable(results: Iterable[Result], folder: FilePath) -> Build:
    """The build with paths that are the same on every machine.

    Paths are relative to `folder`, the baseline's own. Files outside it keep their base name only.
    """
    return build(results, partial(_location, folder))


def _lines(pinned: Build) -> Iterator[str]:
    yield f'{{\n "schema": "{_SCHEMA}",\n "toolchain": {json.dumps(sorted(pinned.compilers))},\n'
    yield ' "kernels": ['
    yield ",".join(f"\n  {line}" for line in sorted(map(_line, pinned.kernels)))
    yield "\n ]\n}\n"


def _line(kernel: KernelSummary) -> str:
    """The line of a kernel. Target and name come first, so that sorted lines sort the kernels."""
    identity = kernel.target, kernel.name, kernel.symbol, kernel.code_object
    target, name, symbol, code_object = map(encode_basestring_ascii, identity)
    begin = f'{{"target": {target}, "name": {name}, "symbol": {symbol}, '
    return f'{begin}"code_object": {code_object}, {_numbers(kernel.content[_IDENTITY:])}'


@lru_cache(maxsize=1 << 12)
def _numbers(values: tuple[object, ...]) -> str:
    """The numbers of a line as JSON; cached, since many kernels share them."""
    return json.dumps(dict(zip(COMPARED[_IDENTITY:], values, strict=True)))[1:]


def _without_known(text: str, build: Iterable[KernelSummary]) -> tuple[list[KernelSummary], str]:
    """(kernels of `build` whose line is in the text, the text with `null` for these lines)."""
    known = {_line(kernel): kernel for kernel in build}
    found, lines = [], text.split("\n")
    for number, line in enumerate(lines):
        kernel = known.get(line.strip(" ,\r"))
        if kernel is not None:
            found.append(kernel)
            lines[number] = "null" + line.rpartition("}")[2]
    return found, "\n".join(lines)


def _summary(kernel: Any) -> KernelSummary:
    if wrong := (kernel.keys() - _KEYS.keys()) | (_REQUIRED - kernel.keys()):
        raise ValueError(f"{kernel.get('name', '?')}: {', '.join(sorted(wrong))}")
    for key, value in kernel.items():
        if type(value) not in _KEYS[key]:
            raise ValueError(f"{kernel['name']}: {key}")
        if isinstance(value, int | float) and not 0 <= value < 1 << 64:  # excludes NaN, too
            raise ValueError(f"{kernel['name']}: {key} is not a number of 64 bits")
    limiters = kernel["limiters"]
    if not all(limiter in tuple(RESOURCES) for limiter in limiters):
        raise ValueError(f"{kernel['name']}: limiters")
    return KernelSummary(**{**kernel, "limiters": tuple(limiters)})


def _check_schema(path: FilePath, document: Any) -> None:
    schema = document.get("schema") if isinstance(document, dict) else None
    if schema == _SCHEMA:
        return
    name, _, version = schema.partition("/") if isinstance(schema, str) else ("", "", "")
    if name == _NAME and version.isdecimal() and int(version) > _VERSION:
        message = f"{path}: was written by a newer kernelinfo ({schema}); update kernelinfo, or "
        raise BaselineError(message + _DELETE)
    raise BaselineError(f"{path}: is not a baseline; give another file, or {_DELETE}")


def _location(folder: FilePath, code_object: CodeObject) -> str:
    try:
        relative = os.path.relpath(code_object.path, folder)
    except OSError:  # the current folder was deleted
        relative = os.pardir
    if relative.startswith(os.pardir):
        relative = os.path.basename(code_object.path)
    return path_under("", relative.replace(os.sep, "/"), code_object.member)
