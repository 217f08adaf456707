"""The first bytes of everything that is opened. They decide; a file's name never does."""

from __future__ import annotations

from kernelinfo.ingest import text

ELF = b"\x7fELF"
BUNDLE = b"__CLANG_OFFLOAD_BUNDLE__"
COMPRESSED_BUNDLE = b"CCOB"
OFFLOAD_BINARY = b"\x10\xff\x10\xad"
ARCHIVE = b"!<arch>\n"
THIN_ARCHIVE = b"!<thin>\n"
PE = b"MZ"
COFF_X86_64 = b"\x64\x86"
GZIP = b"\x1f\x8b"
ZSTD = b"\x28\xb5\x2f\xfd"
XZ = b"\xfd7zXZ\0"
BZIP2 = b"BZh"
ZIP = b"PK\x03\x04"

BITCODE = (b"BC\xc0\xde", b"\xde\xc0\x17\x0b")
SPIRV = b"\x03\x02\x23\x07"

HEAD_BYTES = 512
"""As many as the last of them, a tar's, needs."""

_CONTAINERS = (
    *(BUNDLE, COMPRESSED_BUNDLE, OFFLOAD_BINARY, ARCHIVE, THIN_ARCHIVE, PE, COFF_X86_64),
    *(GZIP, ZSTD, XZ, BZIP2, ZIP),
)


def is_tar(head: bytes) -> bool:
    """POSIX's and GNU's; older ones have no magic."""
    return head[257:262] == b"ustar"


def may_hold_code(head: bytes, name: str) -> bool:
    """Whether one of many files is worth opening: a code object, a container, or so named that it
    may be assembly."""
    return head.startswith((ELF, *_CONTAINERS)) or is_tar(head) or text.is_named_so(name)
