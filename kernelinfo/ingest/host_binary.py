"""Host ELF files: their sections with code for the device."""

from __future__ import annotations

from collections.abc import Iterator

from kernelinfo.errors import ReadError
from kernelinfo.model import Blob, Problem, Remark

MAGIC = b"\x7fELF"
_SECTIONS = (".hip_fatbin", ".llvm.offloading")
# Before linking, with -fgpu-rdc or old OpenMP: one section for each target, of bitcode.
_PREFIX = "__CLANG_OFFLOAD_BUNDLE__"


def accepts(head: bytes) -> bool:
    """Any ELF file; those for the device itself are known before."""
    return head.startswith(MAGIC)


def read(blob: Blob) -> Iterator[Blob | Problem]:
    """The bytes of each section with device code, whatever they are."""
    # pyelftools takes longer to import than an assembly text to read.
    from kernelinfo.elf import read_elf

    remarks: list[Remark] = []
    try:
        elf = read_elf(blob.data, remarks)
    except ReadError:  # cut off, or of a kind that drives no AMD GPU
        return
    for remark in remarks:
        yield Problem(blob.path, remark.message, blob.member, _offset(blob, remark.offset or 0))
    if not elf.sections and not remarks:
        message = "no section headers, which say where GPU code lies; give it before it is stripped"
        yield Problem(blob.path, message, blob.member, blob.offset)
    for section in elf.sections:
        host = section.name.startswith(f"{_PREFIX}host")
        if host or not section.name.startswith((*_SECTIONS, _PREFIX)) or not section.size:
            continue
        offset = _offset(blob, section.offset)
        data = elf.bytes_of(section)
        if data is None:
            message = f"the bytes of {section.name} are not in this file"
            yield Problem(blob.path, message, blob.member, offset)
        else:
            containers = (*blob.containers, "fatbin")
            yield Blob(blob.path, data, containers, blob.member, offset)


def _offset(blob: Blob, offset: int) -> int | None:
    return None if blob.offset is None else blob.offset + offset
