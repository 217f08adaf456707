"""Finds code for devices: in host files by their sections, in data of unknown format by headers."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterable, Iterator
from itertools import chain
from struct import Struct
from typing import NamedTuple

from kernelinfo.errors import ReadError
from kernelinfo.reading.blob import Blob, Elsewhere, Found, Note, Problem
from kernelinfo.reading.containers import device_code, formats, kpack
from kernelinfo.reading.containers.streams import held
from kernelinfo.reading.data import Data, decode
from kernelinfo.reading.elf import PT_NOTE, SHT_DYNSYM, SHT_NOBITS, SHT_NOTE, SHT_SYMTAB, read_elf
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


def device_sections(blob: Blob, sections: Iterable[HostSection]) -> Iterator[Found]:
    """The sections with device code, and the reference to kpack archives if there is one; the data
    sections, to be searched, if there is neither. Raises `ReadError` if sections overlap."""
    listed = list(sections)
    reference = next((s.data for s in listed if s.name in _KPACK_REFERENCES), None)
    if reference is not None:
        listed = yield from _elsewhere(blob, listed, reference)
    empty = reference is None
    room = formats.contents_budget(len(blob.data))
    for name, offset, data, end in listed:
        id = name.removeprefix(_PREFIX) if name.startswith(_PREFIX) else None
        if name not in _NAMES if id is None else not device_code.is_for_amd(id):
            continue
        empty = False
        if data is None:
            yield formats.problem(
                blob, say("host-section-outside", name=name), offset=offset, member=id
            )
        elif not room.take_bytes(len(data)):
            raise ReadError(say("host-bytes-repeated"))
        elif end > len(blob.data):
            message = say("host-section-cut-off", name=name, missing=end - len(blob.data))
            yield formats.problem(blob, message, offset=offset, member=id)
        if data is not None and formats.after_zeros(data) is not None:
            yield formats.part(blob, "fatbin", data, offset=offset, member=id)
    if empty:
        yield from _data(blob, listed)


def _data(blob: Blob, sections: list[HostSection]) -> Iterator[Blob]:
    """Sections of constants and variables, in which programs may embed code objects."""
    room = formats.contents_budget(len(blob.data))
    for name, offset, data, _ in sections:
        if data is not None and _DATA.fullmatch(name) and room.take_bytes(len(data)):
            yield formats.part(blob, formats.DATA_SECTION, data, offset=offset)


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
        yield formats.problem(blob, error.message)
    if has_own_code:
        return sections
    # The rest of the fat binary is a few stray bytes or nothing.
    return [section for section in sections if section.name not in _OF_WRAPPERS]


# Alignment of each translation unit's fat binary, by clang.
_PAGE = 4096
_MAGIC = re.compile(re.escape(formats.BUNDLE))
_MAGIC_BYTES = len(formats.BUNDLE)


def read_elf_host(blob: Blob) -> Iterator[Found]:
    """The sections with device code, not yet unpacked; bundles if there are no sections."""
    warnings: list[ReadWarning] = []
    try:
        elf = read_elf(blob.data, warnings)
    except ReadError:  # cut off, or for a host that cannot drive AMD GPUs
        return
    for warning in warnings:
        yield formats.problem(blob, warning.message, offset=warning.offset or 0)
    if elf.sections:
        sections = (HostSection(s.name, s.offset, elf.data_of(s)) for s in elf.sections if s.size)
        yield from device_sections(blob, sections)
        return
    if reference := kpack.without_sections(blob, elf):
        yield reference
    else:
        yield from _bundles(blob)


def _bundles(blob: Blob) -> Iterator[Blob | Problem]:
    """The bundles in a file without section headers, or the file itself if there are none.

    A compressed bundle counts only at the start of a page and with a known version and method,
    because its four-letter magic also occurs by chance. If no page begins with a bundle, the magic
    of plain bundles is searched for everywhere, and damaged ones are skipped. A file without
    bundles is passed on, to be searched for code objects.
    """
    data, end = blob.data, 0
    # A generator: it skips the pages of a bundle found before.
    pages = (
        offset
        for offset in range(0, len(data), _PAGE)
        if offset >= end and device_code.BUNDLE_START.match(data.read(offset, _MAGIC_BYTES))
    )
    first = next(pages, None)
    anywhere = _magics(data)
    for offset in anywhere if first is None else chain([first], pages):
        if offset < end:
            continue
        try:
            length = device_code.length_of_bundle(formats.rest(blob, offset))
        except ReadError as error:
            if first is not None:
                yield formats.problem(blob, error.message, offset=offset)
            continue
        end = offset + length
        yield formats.part(blob, "fatbin", data.part(offset, length), offset=offset)
    if first is None and not end:
        yield formats.part(blob, formats.DATA_SECTION, data, offset=0)


def _magics(data: Data) -> Iterator[int]:
    """Offsets of the magic of plain bundles, ascending."""
    offset = data.search(_MAGIC)
    while offset is not None:
        yield offset
        offset = data.search(_MAGIC, offset + _MAGIC_BYTES)


# Reads PE images and COFF objects of x86-64 Windows: their sections with code for the device.
#
# An image begins with MZ. At 60 it has the offset of "PE\0\0", and after that an object's header:
#
#     u16       machine
#     u16       number of sections
#     u32 u32   time, offset of the symbol table
#     u32       number of symbols, 18 bytes each; the table of long names follows them
#     u16 u16   size of the optional header after this one, flags
#     then the optional header, and for each section, 40 bytes
#     8 bytes   name, or / and the decimal offset of a longer one
#     u32 u32   size in memory, address
#     u32 u32   size and offset of its bytes in the file
#
# Microsoft, PE Format.

_PE_SIGNATURE = b"PE\0\0"
_PE_OFFSET, _PE_MAGIC = Struct("<I"), Struct("4s")
_COFF_HEADER = Struct("<2xH4xIIH")
_COFF_SECTION = Struct("<8sI4xII")
_COFF_CUT_OFF = say("coff-cut-off")


def read_coff_host(blob: Blob) -> Iterator[Found]:
    """The sections with device code, not yet unpacked. Raises `ReadError` if headers are cut
    off."""
    header = 0
    if blob.data.read(0, 2) == formats.PE:
        (start,) = formats.fields(_PE_OFFSET, blob.data, _COFF_CUT_OFF, 60)
        (signature,) = formats.fields(_PE_MAGIC, blob.data, _COFF_CUT_OFF, start)
        if signature != _PE_SIGNATURE:  # a program for DOS
            return
        header = start + len(signature)
    yield from device_sections(blob, _coff_sections(blob.data, header))


def _coff_sections(data: Data, header: int) -> Iterator[HostSection]:
    count, symbols, symbol_count, optional = formats.fields(
        _COFF_HEADER, data, _COFF_CUT_OFF, header
    )
    names = symbols + 18 * symbol_count
    table = header + 20 + optional
    for row in range(table, table + 40 * count, 40):
        short, in_memory, padded, offset = formats.fields(_COFF_SECTION, data, _COFF_CUT_OFF, row)
        # An image pads each section to its file alignment.
        size = min(padded, in_memory) if in_memory else padded
        if not size:
            continue
        there = offset + size <= len(data)
        name = _coff_name(data, names, short.rstrip(b"\0"))
        bytes_of = data.part(offset, size) if there else None
        yield HostSection(name, offset, bytes_of, offset + padded)


def _coff_name(data: Data, names: int, short: bytes) -> str:
    if short[:1] == b"/" and short[1:].isdigit():
        start = names + int(short[1:])
        short = bytes(data.read(start, formats.LONGEST_NAME)).partition(b"\0")[0]
    return decode(short)


# Finds code by its headers in data of unknown format: the last resort.
#
# Only sound finds are taken: an ELF file for AMDGPU with notes or symbols and all its tables within
# the data, or an offload bundle that ends within the data.

# Decodes code objects in MLIR text, written as escaped strings: `bin = "\7FELF\02\01…"`.
#
# MLIR prints `gpu.binary` this way (llvm/lib/Support/StringExtras.cpp, `printEscapedString`).
# Compilers of domain-specific languages keep the text in files or in pickles; pickles are searched
# and never unpickled. FlyDSL compresses it (flydsl/compiler/jit_executor.py, `ir_zlib`).

_MLIR_STRING = rb'"\\7FELF\\02\\01\\01'
"""Pattern for the beginning of a string with an ELF file."""
_MLIR_COMPRESSED = rb"ir_zlib(?:\x94|q.|r.{4})?(?:C.|B.{4}|\x8e.{8})(?=\x78)"
"""Pattern for the key of a pickled map and the opcodes before its value (Python, pickletools:
MEMOIZE, BINPUT and LONG_BINPUT; SHORT_BINBYTES, BINBYTES and BINBYTES8)."""

_UNITS = rb'(?:[^"\\\n]++|\\\\|\\[0-9A-Fa-f]{2})++'
_MLIR_WINDOW = 1 << 16
"""Bytes of text that are decoded at a time."""
_LONGEST_KEY = 32


def unescape_mlir(data: Data) -> tuple[bytes, int] | None:
    """(decoded bytes, length of the text with both quotes) of the string at the start of the data.

    None if it is unterminated, or has an escape that MLIR does not write."""
    pattern = re.compile(_UNITS)
    plain, position = bytearray(), 1
    while units := pattern.match(data.read(position, _MLIR_WINDOW)):
        first, *escapes = units[0].replace(rb"\\", rb"\5C").split(b"\\")
        plain += first
        plain += b"".join([_BYTES[piece[:2].upper()] + piece[2:] for piece in escapes])
        position += units.end()
    return (bytes(plain), position + 1) if bytes(data.read(position, 1)) == b'"' else None


_BYTES = {b"%02X" % number: bytes([number]) for number in range(256)}


def decompress_mlir(blob: Blob) -> tuple[memoryview, int]:
    """(decompressed text, end of its stream in the blob) after the key at the blob's start.

    Raises `ReadError` for a stream that is damaged or too large."""
    key = re.compile(_MLIR_COMPRESSED, re.DOTALL).match(blob.data.read(0, _LONGEST_KEY))
    start = key.end() if key else 0
    stream = held("zlib", blob, blob.data.part(start))
    plain = stream.read_all()
    return plain, start + stream.consumed


_CODE_HEADERS = (
    re.compile(formats.ELF + rb"\x02\x01\x01(?=[\0\x40-\x42].{10}\xe0\0)", re.DOTALL),
    *map(re.compile, device_code.BUNDLE_MAGICS),
    re.compile(_MLIR_STRING),
    re.compile(_MLIR_COMPRESSED, re.DOTALL),
)
"""Patterns of code objects for AMDGPU (e_machine 224, 0xe0), bundles and code objects in MLIR text.
One search per pattern is three times as fast as one for all."""
_QUOTE, _KEY = ord('"'), ord("i")
_MACHINE, _AMDGPU = 18, b"\xe0\0"
_OVERLAP = 24  # bytes of the longest pattern's shortest match
_WINDOW = 1 << 20
_ELF_HEADER = Struct("<32xQQIHHHHHH")
_ELF_SEGMENT = Struct("<8xQ16xQ16x")


def search(blob: Blob) -> Iterator[Found]:
    """The code objects and bundles in the data, a note on them, and a problem for damaged ones."""
    end = count = 0
    unsound: list[int] = []
    room = formats.contents_budget(len(blob.data))
    for start in _starts(blob):
        if start < end:
            continue
        blob.budget.spend_member()
        following = formats.rest(blob, start)
        place = f"at 0x{start + (blob.offset or 0):x}"
        first = following.data.read(0, 1)[0]
        if first == _KEY:
            items, size = _read_pickle(following, place)
            end = start + size
            yield from items
            continue
        if first == _QUOTE:
            written, size = _read_string(following, place)
            end = start + size
            if written:
                yield written
            elif not size:
                unsound.append(start)
            continue
        extent = _elf_extent(following.data)
        if extent:
            size, tables = extent
            fits = room.take_bytes(tables) and size <= len(following.data)
            size = size if fits and _is_sound(following.data.part(0, size)) else 0
        else:
            size = _bundle_size(following)
        if size:
            end = start + size
            count += 1
            yield formats.part(
                blob, formats.UNKNOWN_DATA, blob.data.part(start, size), offset=start, member=place
            )
        elif extent:
            unsound.append(start)
    if count:
        yield Note(blob.path, say("code-found-by-header"), blob.member)
    if unsound:
        further = say("code-and-more", count=len(unsound) - 1) if len(unsound) > 1 else ""
        yield formats.problem(blob, say("code-damaged-by-header", more=further), offset=unsound[0])


def _read_string(blob: Blob, place: str) -> tuple[Blob | None, int]:
    """(code object for AMDGPU or None, bytes of its text) of the MLIR string at the blob's start.

    The length is 0 if the string does not hold a complete ELF file."""
    string = unescape_mlir(blob.data)
    if string is None:
        return None, 0
    content, size = string
    data = Data.of(content)
    machine = data.read(_MACHINE, 2)
    if len(machine) == 2 and machine != _AMDGPU:
        return None, size
    extent = _elf_extent(data)
    if not extent or extent[0] > len(data) or extent[1] > len(data) or not _is_sound(data):
        return None, 0
    return formats.part(blob, "mlir", data, offset=None, member=place), size


def _read_pickle(blob: Blob, place: str) -> tuple[Iterable[Found], int]:
    """(code objects, bytes of key and value) of compressed MLIR text in a pickled map."""
    if "zlib" in blob.containers:
        return (), 0  # compressed text has no compressed text inside
    try:
        text, size = decompress_mlir(blob)
    except ReadError as error:
        return (formats.problem(blob, error.message),), 0
    return search(formats.part(blob, "zlib", Data.of(text), offset=None, member=place)), size


def _starts(blob: Blob) -> Iterator[int]:
    """Offsets at which one of `_CODE_HEADERS` matches, ascending."""
    for start in range(0, len(blob.data), _WINDOW):
        window = blob.data.read(start, _WINDOW + _OVERLAP)
        begins = (match.start() for header in _CODE_HEADERS for match in header.finditer(window))
        yield from (start + begin for begin in sorted(begins) if begin < _WINDOW)


def _elf_extent(data: Data) -> tuple[int, int] | None:
    """(size of the ELF file, size of its tables) in bytes; None if the data do not begin with an
    ELF header."""
    if len(data) < _ELF_HEADER.size or data.read(0, len(formats.ELF)) != formats.ELF:
        return None
    segments_at, sections_at, _, size, *counts = _ELF_HEADER.unpack(data.read(0, _ELF_HEADER.size))
    segment_bytes, segments, section_bytes, sections, _ = counts
    tables = segment_bytes * segments + section_bytes * sections
    ends = [size, segments_at + segment_bytes * segments, sections_at + section_bytes * sections]
    if segment_bytes == _ELF_SEGMENT.size and ends[1] <= len(data):
        table = data.read(segments_at, segment_bytes * segments)
        ends += [offset + length for offset, length in _ELF_SEGMENT.iter_unpack(table)]
    return max(ends), tables


def _is_sound(data: Data) -> bool:
    """True if an ELF file contains all its tables, segments and sections, and has notes or
    symbols."""
    warnings: list[ReadWarning] = []
    try:
        elf = read_elf(data, warnings)
    except ReadError:
        return False
    sections = [section for section in elf.sections if section.type != SHT_NOBITS]
    extents = [(s.offset, s.size) for s in elf.segments] + [(s.offset, s.size) for s in sections]
    if warnings or any(elf.bytes_at(*extent) is None for extent in extents):
        return False
    return any(segment.type == PT_NOTE and segment.size for segment in elf.segments) or any(
        section.type in (SHT_NOTE, SHT_SYMTAB, SHT_DYNSYM) and section.size for section in sections
    )


def _bundle_size(blob: Blob) -> int:
    """The size in bytes of the bundle at the blob's start; 0 if there is no complete bundle."""
    try:
        size = device_code.length_of_bundle(blob)
    except ReadError:
        return 0
    return size if len(formats.BUNDLE) + 8 < size <= len(blob.data) else 0
