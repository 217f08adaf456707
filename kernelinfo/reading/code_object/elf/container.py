"""One ELF file: header, sections and segments, and where their bytes lie."""

from __future__ import annotations

from kernelinfo.light_typing import NamedTuple

# Bytes; the longest mangled names of template libraries have some tens of thousands.
_LONGEST_NAME = 1 << 16


class Section(NamedTuple):
    """One section header; offset and size in bytes."""

    name: str
    """Empty where the names cannot be read."""
    type: str | int
    """pyelftools' word for it, such as `SHT_NOTE`, or the number where it has none."""
    address: int
    offset: int
    size: int
    link: int
    """Index of the section with the strings, for a symbol table."""
    entry_size: int
    """Bytes of each row of a table; 0 for what has no rows."""


class Segment(NamedTuple):
    """One program header; offset and size in bytes."""

    type: str | int
    """As for sections: `PT_LOAD`."""
    address: int
    offset: int
    size: int
    """In the file; more in memory is zeros."""


class Header(NamedTuple):
    """What the file's own header says of the code."""

    type: str | int
    """`ET_DYN`, `ET_REL`, `ET_EXEC`, or a number."""
    machine: str | int
    """`EM_AMDGPU` for code objects, else the host's."""
    flags: int


class Tables(NamedTuple):
    """All that is read of an ELF file at first; a table that cannot be read is empty."""

    header: Header
    sections: tuple[Section, ...]
    segments: tuple[Segment, ...]


class Elf(NamedTuple):
    """One ELF file; a table that cannot be read is empty."""

    data: memoryview
    type: str | int
    """`ET_DYN`, `ET_REL`, `ET_EXEC`, or a number."""
    machine: str | int
    """`EM_AMDGPU` for code objects, else the host's."""
    os_abi: int
    abi_version: int
    flags: int
    sections: tuple[Section, ...]
    segments: tuple[Segment, ...]
    loaded: tuple[Segment | Section, ...]
    """Those that have addresses, and bytes in the file."""

    def bytes_at(self, offset: int, size: int) -> memoryview | None:
        """`size` bytes, or None where the file has not so many there."""
        if offset < 0 or size < 0 or offset + size > len(self.data):
            return None
        return self.data[offset : offset + size]

    def bytes_of(self, section: Section) -> memoryview | None:
        """A section's bytes; None where it has none in this file."""
        if section.type == "SHT_NOBITS":
            return None
        return self.bytes_at(section.offset, section.size)

    def offset_of(self, address: int) -> int | None:
        """Where a loaded address lies in the file; None where nothing of the file is loaded there.

        By the segments, and by the sections where there are none.
        """
        for part in self.loaded:
            if part.address <= address < part.address + part.size:
                offset = part.offset + address - part.address
                return offset if offset < len(self.data) else None
        return None


def string_at(strings: bytes, start: int) -> str | None:
    """The NUL-terminated string that starts there; None where none of sane length does."""
    end = strings.find(b"\0", start, start + _LONGEST_NAME)
    return None if end < 0 else strings[start:end].decode("utf-8", "backslashreplace")
