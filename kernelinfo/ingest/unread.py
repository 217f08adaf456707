"""What is known by its first bytes and not read."""

from __future__ import annotations

from collections.abc import Iterator

from kernelinfo.model import Blob, Problem

OFFLOAD_BINARY = b"\x10\xff\x10\xad"
_NO_USAGE = "carries no resource usage; give the linked code object or the assembly"
_NOT_YET = "not read yet"

_KINDS = {
    OFFLOAD_BINARY: f"OffloadBinary: {_NOT_YET}",
    b"!<arch>\n": f"archive: {_NOT_YET}",
    b"!<thin>\n": f"thin archive: {_NOT_YET}",
    b"MZ": f"PE file: {_NOT_YET}",
    b"\x64\x86": f"COFF object: {_NOT_YET}",
    b"BC\xc0\xde": f"LLVM bitcode {_NO_USAGE}",
    b"\xde\xc0\x17\x0b": f"LLVM bitcode {_NO_USAGE}",
    b"\x03\x02\x23\x07": f"SPIR-V {_NO_USAGE}",
    b"\x1f\x8b": f"gzip: {_NOT_YET}",
    b"\x28\xb5\x2f\xfd": f"zstd: {_NOT_YET}",
    b"\xfd7zXZ\0": f"xz: {_NOT_YET}",
    b"BZh": f"bzip2: {_NOT_YET}",
    b"PK\x03\x04": f"zip: {_NOT_YET}",
}
_TAR, _TAR_AT = b"ustar", 257


def accepts(head: bytes) -> bool:
    """By the magic number."""
    return _kind(head) is not None


def read(blob: Blob) -> Iterator[Problem]:
    """What it is."""
    message = _kind(bytes(blob.data[: _TAR_AT + len(_TAR)]))
    yield Problem(blob.path, str(message), blob.member, blob.offset)


def _kind(head: bytes) -> str | None:
    if head[_TAR_AT:].startswith(_TAR):
        return f"tar: {_NOT_YET}"
    return next((kind for magic, kind in _KINDS.items() if head.startswith(magic)), None)
