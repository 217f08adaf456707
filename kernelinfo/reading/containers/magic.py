"""The first bytes of everything that is opened. They decide; a file's name never does."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Literal

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
"""By method; of each, several streams may follow each other."""
ZIP = b"PK\x03\x04"
SPIRV = b"\x03\x02\x23\x07"
_BITCODE = (b"BC\xc0\xde", b"\xde\xc0\x17\x0b")
_COFF_X86_64 = b"\x64\x86"

HEAD_BYTES = 512  # as many as the last of them, a tar's, needs

Accepts = Callable[[bytes], bool]  # whether data that begin so are of a format


def begins(*magics: bytes) -> Accepts:
    return lambda head: head.startswith(magics)


def is_coff(head: bytes) -> bool:
    """By MZ, or by an object's machine and the optional header that no object has."""
    return head.startswith(PE) or (head.startswith(_COFF_X86_64) and head[16:18] in (b"\0\0", b""))


def is_tar(head: bytes) -> bool:
    """POSIX's and GNU's; older ones have no magic."""
    return head[257:262] == b"ustar"


is_bundle = begins(BUNDLE, COMPRESSED_BUNDLE)  # plain and compressed ones occur in one run
is_offload_binary = begins(b"\x10\xff\x10\xad")
is_kpack = begins(b"KPAK")
is_cpio = begins(b"070701", b"070702")  # of the form "newc"

FORMATS: dict[str, Accepts] = {
    "bundle": is_bundle,
    "host_binary": begins(ELF),  # those for the device itself are known before
    "offload_binary": is_offload_binary,
    "archive": begins(ARCHIVE, THIN_ARCHIVE),
    "coff": is_coff,
    "compressed": begins(*COMPRESSED.values()),
    "tar": is_tar,
    "zip_archive": begins(ZIP),  # the header of the first member
    "kpack": is_kpack,
    "aks2": begins(b"AKS2"),
    "database": begins(b"SQLite format 3\0"),
    "rpm": begins(b"\xed\xab\xee\xdb"),
    "cpio": is_cpio,
    "unread": begins(*_BITCODE, SPIRV),
}
"""What holds code but is none itself: the module that reads it, and its first bytes, in the order
in which they are asked."""

WITHOUT_CODE = {
    "database": "a database without kernels; give one of MIOpen's, rocFFT's or tinygrad's"
}
"""By module: what to say of a file of its format in which there is nothing for AMD GPUs."""

_WITHOUT_NUMBERS = "unread"  # bitcode is no problem where it is one of many files


def format_of(head: bytes) -> str | None:
    """The module that reads data that begin so; None where there is none."""
    return next((name for name, accepts in FORMATS.items() if accepts(head)), None)


def may_hold_code(head: bytes, name: str) -> bool:
    """Whether one of many files is worth opening: a code object, a container, or so named that it
    may be assembly."""
    return format_of(head) not in (None, _WITHOUT_NUMBERS) or is_named_as_text(name)


def is_named_as_code(path: str) -> bool:
    """Whether a file has the name of compiler output for the device, so that it must hold some."""
    return path.endswith((".co", ".hsaco", ".s"))


def may_be_code(path: str) -> bool:
    """True if a file has the name of what compilers, linkers and packagers make."""
    made = r"\.(s|o|a|so[.\d]*|co|out|hsaco|hipfb|amdgcn|obj|exe|dll|kpack|aks2|kdb|vmfb|whl)$"
    return re.search(made, path) is not None


def is_named_as_text(path: str) -> bool:
    """Whether a file in a directory is worth searching; texts of other kinds are many and long."""
    text = r"(?i)\.(s|asm|amdgcn|isa|txt|log|opt\.ya?ml)(\.(gz|zst|xz|bz2))?$"
    return re.search(text, path) is not None
