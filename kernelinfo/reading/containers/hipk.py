"""Finds the code of host libraries in their kpack archives.

rocm-kpack removes the code from a fat binary. Its wrappers in `.hipFatBinSegment` (PE image:
`.hipFatB`), 24 bytes each, then begin with HIPK instead of HIPF and end with the unit's number, 8
bytes. The section `.rocm_kpack_ref` (`.kpackrf`) holds a MessagePack map: `kpack_search_paths`,
relative to the library's folder, and `kernel_name`. A binary's name in the archives is
`kernel_name#unit`. `@GFXARCH@` in a path stands for a target.

rocm-kpack, python/rocm_kpack/elf/kpack_transform.py, runtime/src/loader.cpp.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from struct import Struct

from kernelinfo.errors import ReadError
from kernelinfo.reading.blob import Blob, Elsewhere, Found, Missing, Note, Problem
from kernelinfo.reading.containers import bounds, files, kpack, magic
from kernelinfo.reading.containers.parts import part, problem
from kernelinfo.reading.data import Data
from kernelinfo.reading.elf import Elf
from kernelinfo.reading.messages import say

WRAPPERS = (".hipFatBinSegment", ".hipFatB")
_WRAPPER = Struct("<4s12xI4x")
_WITHOUT_CODE = b"HIPK"
_WITH_CODE = b"FPIH"
_MARKER_START = b"\x82\xb2kpack_search_paths"
_PLACEHOLDER = "@GFXARCH@"
_TARGET = r"gfx[0-9a-f]+(?:-[0-9a-z]+)*(?::[a-z]+[+-])*"
_SUFFIX = ".kpack"


def wrappers(data: memoryview) -> tuple[tuple[int, ...], bool]:
    """(units of the library with code in archives, True if a wrapper has code in the file)."""
    found = list(_WRAPPER.iter_unpack(data[: len(data) - len(data) % _WRAPPER.size]))
    units = dict.fromkeys(unit for start, unit in found if start == _WITHOUT_CODE)
    return tuple(units), any(start == _WITH_CODE for start, _ in found)


def reference(blob: Blob, marker: Data, units: tuple[int, ...] | None) -> Elsewhere:
    """The reference to kpack archives in a host file's marker. Raises `ReadError` if it is damaged
    or names none."""
    if len(marker) > bounds.KPACK_MARKER_BYTES:
        raise ReadError(say("hipk-reference-large", size=len(marker)))
    try:
        stated = kpack.unpack_first(marker.read())
    except ReadError as error:
        raise ReadError(say("hipk-reference-damaged", error=error)) from error
    stated = stated if isinstance(stated, dict) else {}
    paths, name = stated.get("kpack_search_paths"), stated.get("kernel_name")
    if not isinstance(paths, list) or not isinstance(name, str):
        raise ReadError(say("hipk-reference-incomplete"))
    searched = tuple(path for path in paths if isinstance(path, str))
    if not searched:
        raise ReadError(say("hipk-reference-empty"))
    return Elsewhere(blob, searched[: bounds.SEARCH_PATHS], name, units)


def without_sections(blob: Blob, elf: Elf) -> Elsewhere | None:
    """The reference to kpack archives in an ELF file without section headers; None without one.

    The marker then is a segment."""
    for segment in elf.segments:
        if bytes(elf.data.read(segment.offset, len(_MARKER_START))) == _MARKER_START:
            return reference(blob, elf.data.part(segment.offset, segment.size), None)
    return None


def code_objects(host: Elsewhere, among: Sequence[str]) -> Iterator[Found]:
    """Code of a host file in its kpack archives, or `host` itself if the run reads them anyway.

    `among` are all paths of the run. Only regular files that end in `.kpack` are opened, and only
    those that begin with KPAK are read.
    """
    folder = os.path.dirname(os.path.realpath(host.blob.path))
    found = list(islice(_archives(host, folder), bounds.SEARCH_PATHS))
    if not found:
        yield missing(host, "here")
        return
    if all(files.is_read(path, among) for _, path in found):
        yield host
        return
    seen: dict[str, set[str]] = {}
    for name, path in found:
        yield from _of_archive(host, name, path, seen)
    if seen:
        yield from _lost_units(host, seen)


def is_among(host: Elsewhere, members: Iterable[str]) -> bool:
    """True if one of these kpack entries, by their members' names, belongs to the host."""
    own = re.compile(rf"(?:^|/){re.escape(host.name)}(?:#\d+)?/[^/]*")
    return any(own.search(member) for member in members)


def missing(host: Elsewhere, place: str) -> Missing:
    """The missing archives of a host file, expected at `place`."""
    first, *others = host.search_paths
    more = say("hipk-or-more", count=len(others)) if others else ""
    escaped = repr(first)[1:-1]  # a path may contain a newline
    return Missing(host.blob.path, host.blob.member, f"{escaped:.200}{more}", place)


def _lost_units(host: Elsewhere, seen: Mapping[str, set[str]]) -> Iterator[Problem | Note]:
    """A problem for units in no archive, and notes for units that one processor lacks: these may be
    compiled for other processors only.

    `seen` maps a processor to the host's binaries in its archives."""
    units = {unit: {host.name, host.binary(unit)} for unit in host.units or ()}
    found = set().union(*seen.values())
    if lost := [unit for unit, names in units.items() if not found & names]:
        yield problem(host.blob, say("hipk-unit-missing", unit=host.binary(lost[0])))
    for processor, binaries in seen.items():
        own = [unit for unit in units if unit not in lost and not binaries & units[unit]]
        if own:
            more = say("hipk-and-more-units", count=len(own) - 1) if len(own) > 1 else ""
            message = say(
                "hipk-unit-not-for-target", unit=host.binary(own[0]), more=more, processor=processor
            )
            yield Note(host.blob.path, message, host.blob.member)


def _archives(host: Elsewhere, folder: str) -> Iterator[tuple[str, str]]:
    """(name in the host's reference, path) of each existing archive."""
    for searched in host.search_paths:
        directory, name = os.path.split(searched)
        if not name.endswith(_SUFFIX) or "\0" in searched:
            continue
        for found in _expanded(os.path.join(folder, directory), name):
            path = os.path.join(folder, directory, found)
            if os.path.isfile(path):
                yield os.path.join(directory, found), path


def _expanded(directory: str, name: str) -> list[str]:
    """Names of the files in a directory that `name` matches, `@GFXARCH@` being any target."""
    before, placeholder, after = name.partition(_PLACEHOLDER)
    if not placeholder:
        return [name]
    fits = re.compile(re.escape(before) + _TARGET + re.escape(after))
    try:
        return sorted(name for name in os.listdir(directory) if fits.fullmatch(name))
    except OSError:
        return []


def _of_archive(
    host: Elsewhere, name: str, path: str, seen: dict[str, set[str]]
) -> Iterator[Found]:
    """Code of the host in one archive; its binaries are added to `seen`, by processor."""
    file = files.load(path, host.blob.bounds)
    if isinstance(file, Problem):
        yield problem(host.blob, say("hipk-archive", reason=file.message), at=None, member=name)
        return
    blob = part(host.blob, "hipk", file.data, at=None, member=name)
    blob = blob._replace(budget=file.budget)
    try:
        if not magic.is_kpack(bytes(file.data.read(0, 4))):
            raise ReadError(say("hipk-no-archive"))
        archive = kpack.Archive(blob)
    except ReadError as error:
        yield problem(blob, error.message)
        return
    yield from archive.problems
    wanted = {host.name, *(host.binary(unit) for unit in host.units or ())}
    entries = tuple(
        entry
        for entry in archive.entries
        if entry.binary in wanted
        or (host.units is None and entry.binary.rpartition("#")[0] == host.name)
    )
    for entry in archive.entries:
        processor = entry.target.partition(":")[0]
        seen.setdefault(processor, set()).update({entry.binary} & wanted)
    yield from archive.code_objects(entries)
