"""The first bytes of everything that is opened. They decide; a file's name never does."""

from __future__ import annotations

import re

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
KPACK = b"KPAK"
AKS2 = b"AKS2"
SQLITE = b"SQLite format 3\0"
RPM = b"\xed\xab\xee\xdb"
CPIO = (b"070701", b"070702")

BITCODE = (b"BC\xc0\xde", b"\xde\xc0\x17\x0b")
SPIRV = b"\x03\x02\x23\x07"

COMPRESSED = (GZIP, ZSTD, XZ, BZIP2)

HEAD_BYTES = 512
"""As many as the last of them, a tar's, needs."""

_BUNDLES = (BUNDLE, COMPRESSED_BUNDLE)
_ARCHIVES = (ARCHIVE, THIN_ARCHIVE)
_CODE_OR_CONTAINERS = (
    *(
        ELF,
        *_BUNDLES,
        OFFLOAD_BINARY,
        *_ARCHIVES,
        PE,
        COFF_X86_64,
        *COMPRESSED,
        ZIP,
        KPACK,
        AKS2,
        SQLITE,
        RPM,
        *CPIO,
    ),
)
_NAME_OF_TEXT = r"(?i)\.(s|asm|amdgcn|isa|txt|log|opt\.ya?ml)(\.(gz|zst|xz|bz2))?$"


def is_bundle(head: bytes) -> bool:
    """By either magic: plain and compressed ones occur in one run."""
    return head.startswith(_BUNDLES)


def is_elf(head: bytes) -> bool:
    """Any ELF file; those for the device itself are known before."""
    return head.startswith(ELF)


def is_offload_binary(head: bytes) -> bool:
    return head.startswith(OFFLOAD_BINARY)


def is_archive(head: bytes) -> bool:
    return head.startswith(_ARCHIVES)


def is_coff(head: bytes) -> bool:
    """By MZ, or by an object's machine and the optional header that no object has."""
    return head.startswith(PE) or (head.startswith(COFF_X86_64) and head[16:18] in (b"\0\0", b""))


def is_compressed(head: bytes) -> bool:
    return head.startswith(COMPRESSED)


def is_tar(head: bytes) -> bool:
    """POSIX's and GNU's; older ones have no magic."""
    return head[257:262] == b"ustar"


def is_zip(head: bytes) -> bool:
    """By the header of the first member."""
    return head.startswith(ZIP)


def is_kpack(head: bytes) -> bool:
    return head.startswith(KPACK)


def is_aks2(head: bytes) -> bool:
    return head.startswith(AKS2)


def is_database(head: bytes) -> bool:
    return head.startswith(SQLITE)


def is_rpm(head: bytes) -> bool:
    return head.startswith(RPM)


def is_cpio(head: bytes) -> bool:
    """By the first member of the form "newc"."""
    return head.startswith(CPIO)


def is_unread(head: bytes) -> bool:
    """Code that no compiler has given registers yet."""
    return head.startswith((*BITCODE, SPIRV))


def may_hold_code(head: bytes, name: str) -> bool:
    """Whether one of many files is worth opening: a code object, a container, or so named that it
    may be assembly."""
    return head.startswith(_CODE_OR_CONTAINERS) or is_tar(head) or is_named_as_text(name)


def is_named_as_text(path: str) -> bool:
    """Whether a file in a directory is worth searching; texts of other kinds are many and long."""
    return re.search(_NAME_OF_TEXT, path) is not None
