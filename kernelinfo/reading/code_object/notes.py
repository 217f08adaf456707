"""Reads ELF notes, with pyelftools' layouts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from kernelinfo.reading.elf import PT_NOTE, SHT_NOTE, STRUCTS, Elf, RowLayout
from kernelinfo.reading.facts import ReadWarning
from kernelinfo.reading.messages import say

_MOST = 4096
"""The most notes of one code object; real ones have two or three."""


_HEADER = RowLayout(STRUCTS.Elf_Nhdr, "n_namesz", "n_descsz", "n_type")


class ElfNote(NamedTuple):
    """One ELF note; its owner defines the numbers of types."""

    owner: bytes
    type: int
    content: memoryview
    offset: int
    """Start of the content, in bytes from the start of the file."""


def read_notes(elf: Elf, warnings: list[ReadWarning]) -> Iterator[ElfNote]:
    """All notes, each once, even if several segments and sections contain it.

    Adds a warning for a region outside the file and for a note that is cut off.
    """
    regions = [(s.offset, s.size) for s in elf.segments if s.type == PT_NOTE]
    regions += [(s.offset, s.size) for s in elf.sections if s.type == SHT_NOTE]
    seen: set[int] = set()
    count = 0
    for start, size in dict.fromkeys(regions):
        region = elf.bytes_at(start, size)
        if region is None:
            warnings.append(ReadWarning(say("notes-outside"), offset=start))
            continue
        at, end = start, start + size
        # A note seen before ends the region: the notes behind it were seen, too.
        while at + 12 <= end and at not in seen:
            seen.add(at)
            name_size, content_size, kind = _HEADER.rows(region[at - start :][: _HEADER.size])[0]
            # AMDGPU pads to 4 bytes, even if the segment states another alignment.
            offset = at + 12 + _padded(name_size)
            if offset + content_size > end:
                warnings.append(ReadWarning(say("note-damaged"), offset=at))
                break
            owner = bytes(region[at - start + 12 :][:name_size]).rstrip(b"\0")
            # Zeros left by removed notes read as empty notes and do not count.
            count += bool(owner or content_size)
            if count > _MOST:
                message = say("notes-too-many", most=_MOST)
                warnings.append(ReadWarning(message, offset=at))
                return
            if content_size and not owner:
                message = say("note-without-name")
                warnings.append(ReadWarning(message, offset=at))
            elif owner:
                yield ElfNote(owner, kind, region[offset - start :][:content_size], offset)
            at = offset + _padded(content_size)


def _padded(size: int) -> int:
    return (size + 3) & ~3
