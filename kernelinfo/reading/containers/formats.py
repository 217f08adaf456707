"""What the readers of all containers share: formats by their first bytes, fixed bounds, and parts.

The first bytes decide on a format, never a file's name. Users can set the bounds of
`reading.blob.Bounds`; those here are fixed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Literal

from kernelinfo.errors import Message, ReadError
from kernelinfo.reading.blob import Blob, FileBudget, Found, Note, Problem
from kernelinfo.reading.data import Data
from kernelinfo.reading.messages import say

if TYPE_CHECKING:
    from struct import Struct  # reading a text does not need it

Method = Literal["zlib", "deflate", "gzip", "zstd", "xz", "bzip2"]

ELF = b"\x7fELF"
BUNDLE = b"__CLANG_OFFLOAD_BUNDLE__"
COMPRESSED_BUNDLE = b"CCOB"
PE = b"MZ"
ARCHIVE = b"!<arch>\n"
THIN_ARCHIVE = b"!<thin>\n"
COMPRESSED: dict[Method, bytes] = {
    "gzip": b"\x1f\x8b",
    "zstd": b"\x28\xb5\x2f\xfd",
    "xz": b"\xfd7zXZ\0",
    "bzip2": b"BZh",
}
"""Method → magic. A file may have several streams of one method in a row."""
ZIP = b"PK\x03\x04"
SPIRV = b"\x03\x02\x23\x07"
_BITCODE = (b"BC\xc0\xde", b"\xde\xc0\x17\x0b")
_COFF_X86_64 = b"\x64\x86"

HEAD_BYTES = 512  # covers the magic that is farthest in, a tar's

Accepts = Callable[[bytes], bool]  # True if data with these first bytes are of a format


def begins(*magics: bytes) -> Accepts:
    return lambda head: head.startswith(magics)


def is_coff(head: bytes) -> bool:
    """True for a PE image (MZ), or for an x86-64 COFF object, recognised by its lack of an optional
    header."""
    return head.startswith(PE) or (head.startswith(_COFF_X86_64) and head[16:18] in (b"\0\0", b""))


def is_tar(head: bytes) -> bool:
    """True for a tar of POSIX or GNU; older tars have no magic."""
    return head[257:262] == b"ustar"


is_bundle = begins(BUNDLE, COMPRESSED_BUNDLE)  # one run may have plain and compressed ones
is_offload_binary = begins(b"\x10\xff\x10\xad")
is_kpack = begins(b"KPAK")
is_cpio = begins(b"070701", b"070702")  # the form "newc"

BITCODE = "device_code.read_bitcode"
COMPRESSED_FILE = "archives.read_compressed"
DATABASE = "database.read"

FORMATS: dict[str, Accepts] = {
    "device_code.read_bundle": is_bundle,
    "host_binary.read_elf_host": begins(ELF),  # code objects are sorted out before
    "device_code.read_offload_binary": is_offload_binary,
    "archives.read_ar": begins(ARCHIVE, THIN_ARCHIVE),
    "host_binary.read_coff_host": is_coff,
    COMPRESSED_FILE: begins(*COMPRESSED.values()),
    "archives.read_tar": is_tar,
    "packages.read_zip": begins(ZIP),  # the header of the first member
    "kpack.read": is_kpack,
    "device_code.read_aks2": begins(b"AKS2"),
    DATABASE: begins(b"SQLite format 3\0"),
    "packages.read_rpm": begins(b"\xed\xab\xee\xdb"),
    "packages.read_cpio": is_cpio,
    BITCODE: begins(*_BITCODE, SPIRV),
}
"""Reader of a container format, module and function → test of the first bytes; the first test that
is true decides."""


def format_of(head: bytes) -> str | None:
    """Module and function that read data with these first bytes; None if no format fits."""
    return next((name for name, accepts in FORMATS.items() if accepts(head)), None)


def is_worth_opening(head: bytes, name: str) -> bool:
    """True if one of many files is worth opening, judged by its first bytes and name: a code
    object, a container, or a text. Bitcode is not, so it is no problem among many files."""
    return format_of(head) not in (None, BITCODE) or is_named_as_text(name)


def is_named_as_code(path: str) -> bool:
    """True if the name is one that the compiler gives to its output for the device, which must have
    code."""
    return path.endswith((".co", ".hsaco", ".s"))


def may_be_code(path: str) -> bool:
    """True if the name is one that compilers, linkers or packagers give to the files that they
    write."""
    made = r"\.(s|o|a|so[.\d]*|co|out|hsaco|hipfb|amdgcn|obj|exe|dll|kpack|aks2|kdb|vmfb|whl)$"
    return re.search(made, path) is not None


def is_named_as_text(path: str) -> bool:
    """True if the name is one of assembly or a build log; other texts of a folder are skipped."""
    text = r"(?i)\.(s|asm|amdgcn|isa|txt|log|opt\.ya?ml)(\.(gz|zst|xz|bz2))?$"
    return re.search(text, path) is not None


MOST_STRINGS = 4096  # strings of one image of an OffloadBinary; real ones have two
MOST_DAMAGED = 16  # damaged bundles of one run, then the reader stops
LONGEST_NAME = 4096  # bytes of an entry's id or a member's name; real ids have less than 100
REPETITION = 2  # contents of a container, as a multiple of its own size
ZSTD_WINDOW_LOG = 27
"""Log2 of the largest window, 128 MiB. clang compresses with long-distance matching: the window is
as large as the content."""
STREAMS = 4096  # adjacent compressed streams of any size
STREAM_BYTES = 16 << 10  # mean content that more streams need; a stream of bgzip has 64 KiB
XZ_MEMORY_BYTES = 256 << 20  # four times the memory of `xz -9`
COPIED_BYTES = 64 << 20  # files up to this size are read at once, larger ones in parts
ZIP_DIRECTORY_BYTES = 16 << 20  # directory of a zip, or 1/8 of the zip; an entry has about 130
PAX_BYTES = 1 << 20  # one pax header of a tar; real ones have a few hundred
STANDARD_INPUT_BYTES = 256 << 20  # its size is unknown, and it may never end
SIDECAR_BYTES = 1 << 20  # JSON file next to a code object; real ones have less than 2 KB
KPACK_TABLE_BYTES = 64 << 20
"""Most bytes of a kpack archive's table of contents, which is unpacked at once; an entry takes
about 100."""
KPACK_FRAMES = 1 << 20  # compressed kernels of one kpack archive; bound of ROCm's runtime, too
KPACK_MARKER_BYTES = 64 << 10
"""Most bytes of a host library's reference to its kpack archives, as in ROCm's runtime."""
SEARCH_PATHS = 256  # search paths of one host library, and archives that match them
AKS2_DIRECTORY_BYTES = 16 << 20  # directory of one AKS2 pack; an entry takes about 100
DATABASE_BLOB_BYTES = 256 << 20  # one value in a database
DATABASE_COPY_BYTES = 1 << 30  # a database with a write-ahead log: it is read as a copy
DATABASE_ROWS = 1_000_000  # rows of one table; MIOpen's largest databases have some ten thousand
DATABASE_STEPS = 100_000_000
"""Steps of SQLite's virtual machine per database: a damaged one could run forever. A row takes
about thirty steps."""
DATABASE_OPERATIONS = 1 << 16
"""Most operations of one program of SQLite's virtual machine. They take memory, and each generated
column may double them. A query here has about thirty."""
RPM_HEADER_BYTES = 256 << 20  # one header; rpm has this bound, too

DATA_SECTION = "section"
"""Container name of a host file's data sections; they are searched for code objects."""
UNKNOWN_DATA = "data"
"""Container name of code found by its headers in data of unknown format."""

_PIECE_BYTES = 1 << 20


def contents_budget(size: int) -> FileBudget:
    """The budget of the bytes that a container of `size` bytes may hand out: twice its own size.

    Without this bound, parts that share bytes could multiply them."""
    return FileBudget(REPETITION * size)


def part(
    blob: Blob,
    container: str,
    data: Data,
    *,
    offset: int | None,
    member: str | None = None,
    one_of_many: bool = False,
) -> Blob:
    """The part of a container as a blob.

    `offset` is the part's offset in the container; None if it was compressed or is in another file.
    A part without code is a problem, unless it is `one_of_many`, like a file in a directory.
    """
    return blob._replace(
        data=data,
        containers=(*blob.containers, container),
        member=_joined(blob, member),
        offset=_offset(blob, offset),
        is_one_of_many=one_of_many,
    )


def problem(
    blob: Blob, message: Message, *, offset: int | None = 0, member: str | None = None
) -> Problem:
    """The problem with this message. `offset` is in bytes from the start of the container; None if
    the problem has no offset."""
    return Problem(blob.path, message, _joined(blob, member), _offset(blob, offset))


def fields(layout: Struct, data: Data, cut_off: Message, offset: int = 0) -> tuple[Any, ...]:
    """The fields of a header. Raises `ReadError` with the message `cut_off` if the header is
    truncated."""
    if offset + layout.size > len(data):
        raise ReadError(cut_off)
    return layout.unpack(data.read(offset, layout.size))


def stored_file(blob: Blob, container: str, name: str, offset: int, size: int) -> Iterator[Found]:
    """Yields the file of an archive that starts at `offset` and has `size` bytes, after a problem
    if it is truncated. A file that cannot hold code is only noted."""
    data = blob.data.part(offset, size)
    file = part(blob, container, data, offset=offset, member=name, one_of_many=True)
    if not may_hold_code(blob, data.read(0, HEAD_BYTES), name, size):
        yield left_out(file)
        return
    if len(data) < size:
        claimed = str(size) if size < 1 << 64 else say("number-beyond-64-bits")
        message = say("member-cut-off", claimed=claimed, size=len(data))
        yield problem(blob, message, member=name, offset=offset)
    yield file


def streamed_file(
    blob: Blob, container: str, name: str, read: Callable[[int], bytes], size: int
) -> Blob | Problem | Note:
    """An archive's file of `size` bytes, read by `read`. If it is too large, a problem; if it is
    not worth opening, a note."""
    whole = bytearray(read(min(size, HEAD_BYTES)))
    limit = blob.bounds.held_bytes(len(blob.data))
    if not may_hold_code(blob, whole, name, size):
        return left_out(part(blob, container, blob.data, offset=None, member=name))
    if size > limit:
        return problem(blob, say("member-too-large", most=limit), member=name, offset=None)
    while piece := read(min(size - len(whole), _PIECE_BYTES)):
        whole += piece
    content = Data.of(memoryview(whole).toreadonly())
    return part(blob, container, content, offset=None, member=name, one_of_many=True)


def may_hold_code(blob: Blob, data: memoryview | bytes | bytearray, name: str, size: int) -> bool:
    """True if a member of a container is worth opening, judged by its first bytes `data`, by its
    name, or by a `size` small enough to search for code objects."""
    head = bytes(data[:HEAD_BYTES])
    return is_worth_opening(head, name) or size <= blob.bounds.carved


def left_out(blob: Blob) -> Note:
    """The note that a blob of unknown format is too large to be searched for code objects."""
    size = blob.bounds.carved
    return Note(blob.path, say("data-not-searched", size=size), blob.member)


def rest(blob: Blob, offset: int) -> Blob:
    """The rest of a container from an `offset` on."""
    return blob._replace(data=blob.data.part(offset), offset=_offset(blob, offset))


def after_zeros(data: Data, offset: int = 0) -> int | None:
    """Offset of the first nonzero byte from `offset` on; None if all are zero."""
    return data.search(re.compile(rb"[^\0]"), offset)


def _joined(blob: Blob, member: str | None) -> str | None:
    return "/".join(name for name in (blob.member, member) if name) or None


def _offset(blob: Blob, offset: int | None) -> int | None:
    return None if blob.offset is None or offset is None else blob.offset + offset
