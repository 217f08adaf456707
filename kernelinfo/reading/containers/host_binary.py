"""Reads host files: their sections with code for the device, or bundles if sections are missing."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterable, Iterator
from itertools import chain
from typing import NamedTuple

from kernelinfo.errors import ReadError
from kernelinfo.reading.blob import Blob, Elsewhere, Found, Problem
from kernelinfo.reading.containers import bundle, kpack, magic
from kernelinfo.reading.containers.parts import DATA_SECTION, Room, after_zeros, part, problem, rest
from kernelinfo.reading.data import Data
from kernelinfo.reading.elf import read_elf
from kernelinfo.reading.facts import ReadWarning
from kernelinfo.reading.messages import say

# PE images cut names to eight bytes.
_DATA = re.compile(r"\.l?(ro|r)?data(\..*)?")

_OF_WRAPPERS = (".hip_fatbin", ".hip_fat")
_NAMES = (*_OF_WRAPPERS, ".llvm.offloading", ".llvm.of")
_KPACK_REFERENCES = (".rocm_kpack_ref", ".kpackrf")
# Objects before linking (-fgpu-rdc, OpenMP of LLVM 14): one section of bitcode per target.
_PREFIX = "__CLANG_OFFLOAD_BUNDLE__"


class HostSection(NamedTuple):
    """A section of a host file."""

    name: str
    offset: int  # bytes from the start of the host file
    data: Data | None  # None if its bytes are not in the file
    end: int = 0  # end of its padding by the header; past the end of a truncated file


def parts(blob: Blob, sections: Iterable[HostSection]) -> Iterator[Found]:
    """Device-code sections, or the reference to kpack archives."""
    listed = list(sections)
    reference = next((s.data for s in listed if s.name in _KPACK_REFERENCES), None)
    if reference is not None:
        listed = yield from _elsewhere(blob, listed, reference)
    empty = reference is None
    room = Room(len(blob.data))
    for name, offset, data, end in listed:
        id = name.removeprefix(_PREFIX) if name.startswith(_PREFIX) else None
        if name not in _NAMES if id is None else not bundle.is_for_amd(id):
            continue
        empty = False
        if data is None:
            yield problem(blob, say("host-section-outside", name=name), offset=offset, member=id)
        elif not room.take(len(data)):
            raise ReadError(say("host-bytes-repeated"))
        elif end > len(blob.data):
            message = say("host-section-cut-off", name=name, missing=end - len(blob.data))
            yield problem(blob, message, offset=offset, member=id)
        if data is not None and after_zeros(data) is not None:
            yield part(blob, "fatbin", data, offset=offset, member=id)
    if empty:
        yield from _data(blob, listed)


def _data(blob: Blob, sections: list[HostSection]) -> Iterator[Blob]:
    """Sections of constants and variables: programs may embed code objects in them."""
    room = Room(len(blob.data))
    for name, offset, data, _ in sections:
        if data is not None and _DATA.fullmatch(name) and room.take(len(data)):
            yield part(blob, DATA_SECTION, data, offset=offset)


def _elsewhere(
    blob: Blob, sections: list[HostSection], reference: Data
) -> Generator[Problem | Elsewhere, None, list[HostSection]]:
    """Yields the reference to kpack archives or a problem; returns the sections that may still hold
    code."""
    wrappers = [s.data for s in sections if s.name in kpack.WRAPPERS and s.data is not None]
    units, has_own_code = kpack.wrappers(wrappers[0].read() if wrappers else memoryview(b""))
    try:
        yield kpack.reference(blob, reference, units or None)
    except ReadError as error:
        yield problem(blob, error.message)
    if has_own_code:
        return sections
    # The rest of the fat binary is a few stray bytes or nothing.
    return [section for section in sections if section.name not in _OF_WRAPPERS]


# Alignment of each translation unit's fat binary, by clang.
_PAGE = 4096
_MAGIC = re.compile(re.escape(magic.BUNDLE))
_MAGIC_BYTES = len(magic.BUNDLE)


def read(blob: Blob) -> Iterator[Found]:
    """The sections with device code, not yet unpacked; bundles if there are no sections."""
    warnings: list[ReadWarning] = []
    try:
        elf = read_elf(blob.data, warnings)
    except ReadError:  # cut off, or for a host that cannot drive AMD GPUs
        return
    for warning in warnings:
        yield problem(blob, warning.message, offset=warning.offset or 0)
    if elf.sections:
        sections = (HostSection(s.name, s.offset, elf.data_of(s)) for s in elf.sections if s.size)
        yield from parts(blob, sections)
        return
    if reference := kpack.without_sections(blob, elf):
        yield reference
    else:
        yield from _bundles(blob)


def _bundles(blob: Blob) -> Iterator[Blob | Problem]:
    """The bundles in a file without section headers, or the file itself if there are none.

    A compressed bundle counts only at the start of a page, with an existing version and method: its
    magic of four letters occurs by chance. If no page begins with a bundle, the magic of plain
    bundles is searched for everywhere, and damaged ones are skipped. A file without bundles is
    passed on, to be searched for code objects.
    """
    data, end = blob.data, 0
    # A generator: it skips the pages of a bundle found before.
    pages = (
        offset
        for offset in range(0, len(data), _PAGE)
        if offset >= end and bundle.START.match(data.read(offset, _MAGIC_BYTES))
    )
    first = next(pages, None)
    anywhere = _magics(data)
    for offset in anywhere if first is None else chain([first], pages):
        if offset < end:
            continue
        try:
            length = bundle.length_of(rest(blob, offset))
        except ReadError as error:
            if first is not None:
                yield problem(blob, error.message, offset=offset)
            continue
        end = offset + length
        yield part(blob, "fatbin", data.part(offset, length), offset=offset)
    if first is None and not end:
        yield part(blob, DATA_SECTION, data, offset=0)


def _magics(data: Data) -> Iterator[int]:
    """Offsets of the magic of plain bundles, ascending."""
    offset = data.search(_MAGIC)
    while offset is not None:
        yield offset
        offset = data.search(_MAGIC, offset + _MAGIC_BYTES)
