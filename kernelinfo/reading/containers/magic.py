"""Tells formats by their first bytes, never by a file's name."""

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
    """True for a PE image (MZ), or an x86-64 COFF object: it has no optional header."""
    return head.startswith(PE) or (head.startswith(_COFF_X86_64) and head[16:18] in (b"\0\0", b""))


def is_tar(head: bytes) -> bool:
    """True for a tar of POSIX or GNU; older tars have no magic."""
    return head[257:262] == b"ustar"


is_bundle = begins(BUNDLE, COMPRESSED_BUNDLE)  # one run may have plain and compressed ones
is_offload_binary = begins(b"\x10\xff\x10\xad")
is_kpack = begins(b"KPAK")
is_cpio = begins(b"070701", b"070702")  # the form "newc"

FORMATS: dict[str, Accepts] = {
    "bundle": is_bundle,
    "host_binary": begins(ELF),  # code objects are sorted out before
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
"""Module of a container format → test of the first bytes; the first test that is true decides."""

_WITHOUT_NUMBERS = "unread"  # bitcode among many files is no problem


def format_of(head: bytes) -> str | None:
    """Name of the module that reads data with these first bytes; None if no format fits."""
    return next((name for name, accepts in FORMATS.items() if accepts(head)), None)


def may_hold_code(head: bytes, name: str) -> bool:
    """True if one of many files is worth opening: a code object, a container, or a text by its
    name."""
    return format_of(head) not in (None, _WITHOUT_NUMBERS) or is_named_as_text(name)


def is_named_as_code(path: str) -> bool:
    """True if the name is that of the compiler's output for the device: it must have code."""
    return path.endswith((".co", ".hsaco", ".s"))


def may_be_code(path: str) -> bool:
    """True if the name is that of a file that compilers, linkers or packagers write."""
    made = r"\.(s|o|a|so[.\d]*|co|out|hsaco|hipfb|amdgcn|obj|exe|dll|kpack|aks2|kdb|vmfb|whl)$"
    return re.search(made, path) is not None


def is_named_as_text(path: str) -> bool:
    """True if the name is that of assembly or a build log; other texts of a folder are skipped."""
    text = r"(?i)\.(s|asm|amdgcn|isa|txt|log|opt\.ya?ml)(\.(gz|zst|xz|bz2))?$"
    return re.search(text, path) is not None
