"""Finds code by its headers in data of unknown format: the last resort.

Only sound finds are taken: an ELF file for AMDGPU with notes or symbols and all its tables within
the data, or an offload bundle that ends within the data.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from struct import Struct

from kernelinfo.errors import ReadError
from kernelinfo.reading.blob import Blob, Found, Note
from kernelinfo.reading.containers import bundle, magic
from kernelinfo.reading.containers.parts import UNKNOWN_DATA, Room, part, problem, rest
from kernelinfo.reading.containers.streams import held
from kernelinfo.reading.data import Data
from kernelinfo.reading.elf import PT_NOTE, SHT_DYNSYM, SHT_NOBITS, SHT_NOTE, SHT_SYMTAB, read_elf
from kernelinfo.reading.facts import ReadWarning
from kernelinfo.reading.messages import say

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


_HEADERS = (
    re.compile(magic.ELF + rb"\x02\x01\x01(?=[\0\x40-\x42].{10}\xe0\0)", re.DOTALL),
    *map(re.compile, bundle.MAGICS),
    re.compile(_MLIR_STRING),
    re.compile(_MLIR_COMPRESSED, re.DOTALL),
)
"""Patterns of code objects for AMDGPU (e_machine 224, 0xe0), bundles and code objects in MLIR text.
One search per pattern is three times as fast as one for all."""
_QUOTE, _KEY = ord('"'), ord("i")
_MACHINE, _AMDGPU = 18, b"\xe0\0"
_OVERLAP = 24  # bytes of the longest pattern's shortest match
_WINDOW = 1 << 20
_HEADER = Struct("<32xQQIHHHHHH")
_SEGMENT = Struct("<8xQ16xQ16x")


def read(blob: Blob) -> Iterator[Found]:
    """The code objects and bundles in the data, a note on them, and a problem for damaged ones."""
    end = count = 0
    unsound: list[int] = []
    room = Room(len(blob.data))
    for start in _starts(blob):
        if start < end:
            continue
        blob.budget.spend_member()
        following = rest(blob, start)
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
            fits = room.take(tables) and size <= len(following.data)
            size = size if fits and _is_sound(following.data.part(0, size)) else 0
        else:
            size = _bundle_size(following)
        if size:
            end = start + size
            count += 1
            yield part(blob, UNKNOWN_DATA, blob.data.part(start, size), offset=start, member=place)
        elif extent:
            unsound.append(start)
    if count:
        yield Note(blob.path, say("code-found-by-header"), blob.member)
    if unsound:
        further = say("code-and-more", count=len(unsound) - 1) if len(unsound) > 1 else ""
        yield problem(blob, say("code-damaged-by-header", more=further), offset=unsound[0])


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
    return part(blob, "mlir", data, offset=None, member=place), size


def _read_pickle(blob: Blob, place: str) -> tuple[Iterable[Found], int]:
    """(code objects, bytes of key and value) of compressed MLIR text in a pickled map."""
    if "zlib" in blob.containers:
        return (), 0  # compressed text has no compressed text inside
    try:
        text, size = decompress_mlir(blob)
    except ReadError as error:
        return (problem(blob, error.message),), 0
    return read(part(blob, "zlib", Data.of(text), offset=None, member=place)), size


def _starts(blob: Blob) -> Iterator[int]:
    """Offsets at which one of `_HEADERS` matches, ascending."""
    for start in range(0, len(blob.data), _WINDOW):
        window = blob.data.read(start, _WINDOW + _OVERLAP)
        begins = (match.start() for header in _HEADERS for match in header.finditer(window))
        yield from (start + begin for begin in sorted(begins) if begin < _WINDOW)


def _elf_extent(data: Data) -> tuple[int, int] | None:
    """(bytes of the ELF file, bytes of its tables); None if the data begin with no ELF header."""
    if len(data) < _HEADER.size or data.read(0, len(magic.ELF)) != magic.ELF:
        return None
    segments_at, sections_at, _, size, *counts = _HEADER.unpack(data.read(0, _HEADER.size))
    segment_bytes, segments, section_bytes, sections, _ = counts
    tables = segment_bytes * segments + section_bytes * sections
    ends = [size, segments_at + segment_bytes * segments, sections_at + section_bytes * sections]
    if segment_bytes == _SEGMENT.size and ends[1] <= len(data):
        table = data.read(segments_at, segment_bytes * segments)
        ends += [offset + length for offset, length in _SEGMENT.iter_unpack(table)]
    return max(ends), tables


def _is_sound(data: Data) -> bool:
    """True if all tables, segments and sections of an ELF file lie within it, and it has notes or
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
    """Bytes of the bundle at the blob's start; 0 if there is no complete one."""
    try:
        size = bundle.length_of(blob)
    except ReadError:
        return 0
    return size if len(magic.BUNDLE) + 8 < size <= len(blob.data) else 0
