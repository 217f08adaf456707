"""The baseline file: JSON, sorted, one line per symbol of a library, identical on every machine."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial

from kernelinfo.atomic_write import atomic_write
from kernelinfo.compare.summary import Build, KernelSummary, build, path_under
from kernelinfo.errors import BaselineError, ReadError, bug
from kernelinfo.gate import baseline_text
from kernelinfo.gate.messages import say
from kernelinfo.kernel import Result
from kernelinfo.kernel.code_object import CodeObject
from kernelinfo.opening import FilePath, open_regular
from kernelinfo.reading.messages import in_file

if sys.platform != "win32":
    import fcntl

_MOST_KERNELS = 1 << 22
"""Limit of the kernels in a baseline: a few bytes of text can state many."""


def is_baseline(path: str) -> bool:
    """True if the file begins like a file that `write_baseline` wrote."""
    if not os.path.isfile(path):
        return False
    with open_regular(path) as file:
        return baseline_text.begins_like_baseline(file)


def holds_instructions(path: FilePath) -> bool:
    """True if a baseline has instruction counts; also False if it cannot be read."""
    if not os.path.isfile(path):
        return False
    try:
        with open_regular(path) as file:
            return any('"instructions":' in line for line in baseline_text.read_lines(file))
    except (OSError, ValueError, ReadError):
        return False


def read_baseline(path: FilePath, build: Iterable[KernelSummary] = ()) -> Build:
    """The pinned build of a baseline file.

    A pinned kernel that equals one of `build` is represented by that very object. Raises
    `BaselineError` for a file that is missing, damaged, not a baseline, or of another version.
    """
    built = {_as_pinned(kernel): kernel for kernel in build}
    try:
        with open_regular(path) as file:
            schema, toolchain, entries = baseline_text.parse(file)
            _check_version(path, schema)
            kernels = tuple(_read_kernels(entries, built))
            is_list = isinstance(toolchain, list)
            if not is_list or not all(isinstance(stamp, str) for stamp in toolchain):
                raise ValueError("toolchain")
    except UnicodeDecodeError:
        raise BaselineError(in_file(path, say("baseline-binary"))) from None
    except OSError as error:
        is_missing = isinstance(error, FileNotFoundError)
        message = say(
            "baseline-missing" if is_missing else "baseline-unreadable", error=error.strerror
        )
        raise BaselineError(in_file(path, message)) from None
    except ReadError as error:
        raise BaselineError(in_file(path, error.message)) from None
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise BaselineError(in_file(path, say("baseline-damaged", place=error))) from None
    except Exception as error:
        raise BaselineError(in_file(path, bug(error))) from error
    return Build(kernels, tuple(toolchain))


def write_baseline(path: FilePath, pinned: Build) -> None:
    """Write a baseline atomically, compressed if the path ends in `.gz`: the file is either the old
    or the new one.

    Raises `BaselineError` if the file cannot be written.
    """
    try:
        with atomic_write(os.path.realpath(path)) as file:
            with baseline_text.compress(file, str(path)) as packed:
                packed.writelines(piece.encode() for piece in baseline_text.write_text(pinned))
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        message = say("baseline-unwritable", error=error.strerror)
        raise BaselineError(in_file(path, message)) from None


@contextmanager
def updating(path: FilePath) -> Iterator[None]:
    """Lock a baseline while it is read and written; other updates wait. The folder is locked, so
    that no lock file remains. There is no lock on Windows and on file systems without locks."""
    try:
        folder = os.open(os.path.dirname(os.path.realpath(path)), os.O_RDONLY)
    except OSError:  # `write_baseline` reports a missing folder; Windows opens none
        yield
        return
    try:
        with suppress(OSError):
            if sys.platform != "win32":
                fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


def pinnable(results: Iterable[Result], folder: FilePath) -> Build:
    """The build with paths that are the same on every machine: relative to `folder`, the baseline's
    own. Files outside that folder keep only their base name."""
    return build(results, partial(_location, folder))


def _read_kernels(
    entries: baseline_text.BaselineEntries, built: baseline_text.Built
) -> Iterator[KernelSummary]:
    """All kernels of a baseline. Raises as `parse` and `read_entry` do."""
    count, seen = 0, set[tuple[str, str, str]]()
    for unit, entry in entries:
        key = unit, entry["symbol"], entry.get("name", "")
        if key in seen:
            raise ValueError(say("baseline-symbol-twice", symbol=entry["symbol"]))
        seen.add(key)
        for kernel in baseline_text.read_entry(unit, entry, built):
            count += 1
            if count > _MOST_KERNELS:
                raise ReadError(say("baseline-kernels-many", most=_MOST_KERNELS))
            yield kernel


def _as_pinned(kernel: KernelSummary) -> KernelSummary:
    """The kernel, reduced to the fields that a baseline stores."""
    kernel = baseline_text.pin_loops(kernel)
    return kernel._replace(source=None) if kernel.source else kernel


def _check_version(path: FilePath, schema: object) -> None:
    """Raises `BaselineError` for any other document or version."""
    name, _, version = schema.rpartition("/") if isinstance(schema, str) else ("", "", "")
    names = (baseline_text.NAME, baseline_text.OLDER_NAME)
    if name not in names or not re.fullmatch("[1-9][0-9]{0,8}", version):
        raise BaselineError(in_file(path, say("baseline-other-document")))
    if int(version) != baseline_text.VERSION:
        is_newer = int(version) > baseline_text.VERSION
        message = say("baseline-newer" if is_newer else "baseline-older", schema=schema)
        raise BaselineError(in_file(path, message))


def _location(folder: FilePath, code_object: CodeObject) -> str:
    try:
        relative = os.path.relpath(code_object.path, folder)
    except OSError:  # the current folder was deleted
        relative = os.pardir
    if relative.startswith(os.pardir):
        relative = os.path.basename(code_object.path)
    return path_under("", relative.replace(os.sep, "/"), code_object.member)
