"""Reads ROCm's kpack archives: code objects of many libraries for one or a few targets.

    4 bytes   KPAK
    u32       version: 1
    u64       offset of the table of contents, which ends with the file
    and at any offset
    blobs     scheme `none`: the code objects, at the offsets in the table
    block     scheme `zstd-per-kernel`: u32 number of frames, and for each frame its u32 size and
              one zstd frame
    table     one MessagePack map: `compression_scheme`, `blobs` or `zstd_offset` and `zstd_size`,
              and `toc`: for each binary and target the `ordinal` of a blob or a frame, and its
              `original_size`

A binary is a library's name in its package and `#` with the number of its unit (`lib/libx.so#0`),
or any other name. rocm-kpack, python/rocm_kpack/kpack.py, runtime/src/toc_parser.cpp.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from struct import Struct
from typing import Any, NamedTuple

import msgpack

from kernelinfo.errors import ReadError
from kernelinfo.reading.blob import Blob, Elsewhere, Found, Note, Problem
from kernelinfo.reading.containers import files, formats
from kernelinfo.reading.containers.formats import contents_budget, fields, part, problem
from kernelinfo.reading.containers.streams import held
from kernelinfo.reading.data import Data
from kernelinfo.reading.elf import Elf
from kernelinfo.reading.messages import say

_HEADER = Struct("<4sIQ")
_COUNT = Struct("<I")
_VERSION = 1
_Extent = tuple[int | None, int | None]
"""(offset, bytes) in the archive, compressed or not; None if not stated."""
_NOT_COMPRESSED, _ZSTD = "none", "zstd-per-kernel"


class KpackEntry(NamedTuple):
    """One code object of an archive."""

    binary: str
    target: str
    ordinal: int
    size: int  # bytes once decompressed

    @property
    def member(self) -> str:
        return f"{self.binary}/{self.target}"


def read(blob: Blob) -> Iterator[Blob | Problem]:
    """Code objects and problems; a code object shared by several binaries comes once, under the
    first."""
    archive = Archive(blob)
    yield from archive.problems
    yield from archive.code_objects(archive.entries)


class Archive:
    """The table of contents of an archive. Raises `ReadError` if it cannot be read."""

    def __init__(self, blob: Blob) -> None:
        self._blob = blob
        table = _table(blob.data)
        self.problems: list[Problem] = []
        self.entries = tuple(self._entries(table.get("toc")))
        scheme = table.get("compression_scheme", _NOT_COMPRESSED)
        if scheme not in (_NOT_COMPRESSED, _ZSTD):
            raise ReadError(say("kpack-scheme", scheme=scheme))
        self._is_compressed = scheme == _ZSTD
        self._extents = list(self._frames(table) if self._is_compressed else _blobs(table))

    def code_objects(self, entries: tuple[KpackEntry, ...]) -> Iterator[Blob | Problem]:
        """The code objects of these entries, and problems; entries with the same ordinal are
        yielded once."""
        room = contents_budget(len(self._blob.data))
        first: dict[int, KpackEntry] = {}
        for entry in entries:
            first.setdefault(entry.ordinal, entry)
        for entry in first.values():
            try:
                offset, data = self._stored(entry)
                if not room.take_bytes(len(data)):
                    message = say("kpack-bytes-repeated")
                    yield problem(self._blob, message, offset=None, member=entry.member)
                    return
                if self._is_compressed:
                    content = held("zstd", self._blob, data, entry.size).read_all()
                    offset, data = None, Data.of(content)
            except ReadError as error:
                yield problem(self._blob, error.message, offset=None, member=entry.member)
                continue
            if len(data) != entry.size:
                wrong = say("kpack-entry-size", size=len(data), stated=entry.size)
                yield problem(self._blob, wrong, offset=None, member=entry.member)
            yield part(self._blob, "kpack", data, offset=offset, member=entry.member)

    def _stored(self, entry: KpackEntry) -> tuple[int | None, Data]:
        """(offset, bytes) of an entry as stored in the archive, compressed or not. Raises
        `ReadError` if the entry lies outside."""
        count = len(self._extents)
        if not 0 <= entry.ordinal < count:
            raise ReadError(say("kpack-entry-ordinal", ordinal=entry.ordinal, count=count))
        offset, size = self._extents[entry.ordinal]
        if offset is None or size is None or offset + size > len(self._blob.data):
            raise ReadError(say("kpack-entry-outside"))
        return offset, self._blob.data.part(offset, size)

    def _entries(self, binaries: object) -> Iterator[KpackEntry]:
        """The sound entries of the table `toc`; all others become one problem."""
        if not isinstance(binaries, Mapping):
            raise ReadError(say("kpack-without-names"))
        odd = 0
        for binary, targets in binaries.items():
            for target, stated in targets.items() if isinstance(targets, Mapping) else [("", 0)]:
                entry = _entry(binary, target, stated)
                if entry is None:
                    odd += 1
                else:
                    yield entry
        if odd:
            self.problems.append(problem(self._blob, say("kpack-entries-odd", odd=odd)))

    def _frames(self, table: Mapping[str, object]) -> Iterator[_Extent]:
        """Extents of the frames in the block; a problem at the first frame outside it."""
        start, size = _whole(table.get("zstd_offset")), _whole(table.get("zstd_size"))
        data = self._blob.data
        if start is None or size is None or start + size > len(data) or size < _COUNT.size:
            raise ReadError(say("kpack-frames-outside"))
        (count,) = _COUNT.unpack(data.read(start, _COUNT.size))
        if count > formats.KPACK_FRAMES or count * _COUNT.size > size:
            raise ReadError(say("kpack-frames-many", count=count, size=size))
        offset = start + _COUNT.size
        for number in range(1, count + 1):
            stated = data.read(offset, _COUNT.size)
            length = _COUNT.unpack(stated)[0] if offset + _COUNT.size <= start + size else size
            offset += _COUNT.size + length
            if offset > start + size:
                message = say("kpack-frame-missing", number=number, count=count)
                self.problems.append(problem(self._blob, message))
                return
            yield offset - length, length


def _table(data: Data) -> Mapping[str, object]:
    _, version, offset = fields(_HEADER, data, say("kpack-cut-off"))
    if version != _VERSION:
        raise ReadError(say("kpack-version", version=version, known=_VERSION))
    if not _HEADER.size <= offset < len(data):
        raise ReadError(say("kpack-table-outside", at=offset, size=len(data)))
    if len(data) - offset > formats.KPACK_TABLE_BYTES:
        raise ReadError(say("kpack-table-large", size=len(data) - offset))
    try:
        table = unpack_first(data.read(offset))
    except ReadError as error:
        raise ReadError(say("kpack-table-damaged", error=error)) from error
    if not isinstance(table, Mapping):
        raise ReadError(say("kpack-table-no-map"))
    return table


def table_offset(data: Data) -> int:
    """Offset of the table of contents, which follows all code. Raises `ReadError` if the header is
    truncated."""
    return min(int(fields(_HEADER, data, say("kpack-cut-off"))[2]), len(data))


def unpack_first(data: memoryview) -> Any:
    """The MessagePack value at the start of the bytes. Raises `ReadError` if there is none."""
    size = max(len(data), 1)
    unpacker = msgpack.Unpacker(
        max_buffer_size=size, strict_map_key=False, unicode_errors="backslashreplace"
    )
    unpacker.feed(data)
    try:
        return unpacker.unpack()
    # TypeError: a key is a list or a map.
    except (msgpack.UnpackException, ValueError, TypeError) as error:
        reason = str(error) or type(error).__name__
        raise ReadError(say("msgpack-damaged", error=reason)) from error


def _entry(binary: object, target: object, stated: object) -> KpackEntry | None:
    if not (isinstance(binary, str) and isinstance(target, str) and isinstance(stated, Mapping)):
        return None
    ordinal, size = _whole(stated.get("ordinal")), _whole(stated.get("original_size"))
    return None if ordinal is None or size is None else KpackEntry(binary, target, ordinal, size)


def _blobs(table: Mapping[str, object]) -> Iterator[_Extent]:
    blobs = table.get("blobs")
    if not isinstance(blobs, list):
        raise ReadError(say("kpack-without-blobs"))
    for blob in blobs:
        stated = blob if isinstance(blob, Mapping) else {}
        yield _whole(stated.get("offset")), _whole(stated.get("size"))


def _whole(value: object) -> int | None:
    """`value` if it is an integer ≥ 0, else None."""
    return value if type(value) is int and value >= 0 else None


# Finds the code of host libraries in their kpack archives.
#
# rocm-kpack removes the code from a fat binary. Its wrappers in `.hipFatBinSegment` (PE image:
# `.hipFatB`), 24 bytes each, then begin with HIPK instead of HIPF and end with the unit's number, 8
# bytes. The section `.rocm_kpack_ref` (`.kpackrf`) holds a MessagePack map: `kpack_search_paths`,
# relative to the library's folder, and `kernel_name`. A binary's name in the archives is
# `kernel_name#unit`. `@GFXARCH@` in a path stands for a target.
#
# rocm-kpack, python/rocm_kpack/elf/kpack_transform.py, runtime/src/loader.cpp.

WRAPPERS = (".hipFatBinSegment", ".hipFatB")
_WRAPPER = Struct("<4s12xI4x")
_WITHOUT_CODE = b"HIPK"
_WITH_CODE = b"FPIH"
_MARKER_START = b"\x82\xb2kpack_search_paths"
_PLACEHOLDER = "@GFXARCH@"
_TARGET = r"gfx[0-9a-f]+(?:-[0-9a-z]+)*(?::[a-z]+[+-])*"
_SUFFIX = ".kpack"


def wrappers(data: memoryview) -> tuple[tuple[int, ...], bool]:
    """(numbers of the units with code in archives, True if the file holds the code of a unit), from
    the section of fat binary wrappers."""
    rows = list(_WRAPPER.iter_unpack(data[: len(data) - len(data) % _WRAPPER.size]))
    units = dict.fromkeys(unit for start, unit in rows if start == _WITHOUT_CODE)
    return tuple(units), any(start == _WITH_CODE for start, _ in rows)


def reference(blob: Blob, marker: Data, units: tuple[int, ...] | None) -> Elsewhere:
    """The reference to kpack archives in a host file's marker. Raises `ReadError` if it is damaged
    or names none."""
    if len(marker) > formats.KPACK_MARKER_BYTES:
        raise ReadError(say("hipk-reference-large", size=len(marker)))
    try:
        stated = unpack_first(marker.read())
    except ReadError as error:
        raise ReadError(say("hipk-reference-damaged", error=error)) from error
    stated = stated if isinstance(stated, dict) else {}
    paths, name = stated.get("kpack_search_paths"), stated.get("kernel_name")
    if not isinstance(paths, list) or not isinstance(name, str):
        raise ReadError(say("hipk-reference-incomplete"))
    searched = tuple(path for path in paths if isinstance(path, str))
    if not searched:
        raise ReadError(say("hipk-reference-empty"))
    return Elsewhere(blob, searched[: formats.SEARCH_PATHS], name, units)


def without_sections(blob: Blob, elf: Elf) -> Elsewhere | None:
    """The reference to kpack archives in an ELF file without section headers; None without one.

    The marker then is a segment."""
    for segment in elf.segments:
        if bytes(elf.data.read(segment.offset, len(_MARKER_START))) == _MARKER_START:
            return reference(blob, elf.data.part(segment.offset, segment.size), None)
    return None


def code_objects(host: Elsewhere, among: Sequence[str]) -> Iterator[Found]:
    """The code of a host file in its kpack archives; `host` itself if the run reads the archives
    anyway.

    `among` are all paths of the run. Only regular files that end in `.kpack` are opened, and only
    those that begin with KPAK are read.
    """
    folder = os.path.dirname(os.path.realpath(host.blob.path))
    archives = list(islice(_archives(host, folder), formats.SEARCH_PATHS))
    if not archives:
        yield missing(host, "here")
        return
    if all(files.is_read(path, among) for _, path in archives):
        yield host
        return
    seen: dict[str, set[str]] = {}
    for name, path in archives:
        yield from _read_archive(host, name, path, seen)
    if seen:
        yield from _lost_units(host, seen)


def is_among(host: Elsewhere, members: Iterable[str]) -> bool:
    """True if the host owns one of these kpack entries, which are given by their members' names."""
    pattern = re.compile(rf"(?:^|/){re.escape(host.name)}(?:#\d+)?/[^/]*")
    return any(pattern.search(member) for member in members)


def missing(host: Elsewhere, place: str) -> Problem:
    """The problem of a host file if none of its archives is at `place`, in words: `here`."""
    first, *alternatives = host.search_paths
    further = say("hipk-or-more", count=len(alternatives)) if alternatives else ""
    archives = f"{repr(first)[1:-1]:.200}{further}"  # a path may contain a newline
    message = say("kpack-missing", archives=archives, place=place)
    return Problem(host.blob.path, message, host.blob.member)


def _lost_units(host: Elsewhere, seen: Mapping[str, set[str]]) -> Iterator[Problem | Note]:
    """A problem for units that no archive has, and a note for units that the archive of one
    processor lacks: they may be compiled only for other processors.

    `seen` maps a processor to the host's binaries in its archives.
    """
    units = {unit: {host.name, host.binary(unit)} for unit in host.units or ()}
    present = set().union(*seen.values())
    if lost := [unit for unit, names in units.items() if not present & names]:
        yield problem(host.blob, say("hipk-unit-missing", unit=host.binary(lost[0])))
    for processor, binaries in seen.items():
        absent = [unit for unit in units if unit not in lost and not binaries & units[unit]]
        if absent:
            further = say("hipk-and-more-units", count=len(absent) - 1) if len(absent) > 1 else ""
            unit = host.binary(absent[0])
            message = say("hipk-unit-not-for-target", unit=unit, more=further, processor=processor)
            yield Note(host.blob.path, message, host.blob.member)


def _archives(host: Elsewhere, folder: str) -> Iterator[tuple[str, str]]:
    """(name in the host's reference, path) of each existing archive."""
    for searched in host.search_paths:
        directory, name = os.path.split(searched)
        if not name.endswith(_SUFFIX) or "\0" in searched:
            continue
        for file in _expanded(os.path.join(folder, directory), name):
            path = os.path.join(folder, directory, file)
            if os.path.isfile(path):
                yield os.path.join(directory, file), path


def _expanded(directory: str, name: str) -> list[str]:
    """Names of the files in a directory that match `name`, in which `@GFXARCH@` means any
    target."""
    before, placeholder, after = name.partition(_PLACEHOLDER)
    if not placeholder:
        return [name]
    fits = re.compile(re.escape(before) + _TARGET + re.escape(after))
    try:
        return sorted(name for name in os.listdir(directory) if fits.fullmatch(name))
    except OSError:
        return []


def _read_archive(
    host: Elsewhere, name: str, path: str, seen: dict[str, set[str]]
) -> Iterator[Found]:
    """Code of the host in one archive; its binaries are added to `seen`, by processor."""
    file = files.load(path, host.blob.bounds)
    if isinstance(file, Problem):
        yield problem(host.blob, say("hipk-archive", reason=file.message), offset=None, member=name)
        return
    blob = part(host.blob, "hipk", file.data, offset=None, member=name)
    blob = blob._replace(budget=file.budget)
    try:
        if not formats.is_kpack(bytes(file.data.read(0, 4))):
            raise ReadError(say("hipk-no-archive"))
        archive = Archive(blob)
    except ReadError as error:
        yield problem(blob, error.message)
        return
    yield from archive.problems
    binaries = {host.name, *(host.binary(unit) for unit in host.units or ())}
    entries = tuple(
        entry
        for entry in archive.entries
        if entry.binary in binaries
        or (host.units is None and entry.binary.rpartition("#")[0] == host.name)
    )
    for entry in archive.entries:
        processor = entry.target.partition(":")[0]
        seen.setdefault(processor, set()).update({entry.binary} & binaries)
    yield from archive.code_objects(entries)
