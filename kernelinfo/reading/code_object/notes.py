"""ELF notes, as pyelftools lays them out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from kernelinfo.reading.elf import PT_NOTE, SHT_NOTE, STRUCTS, Elf, Layout
from kernelinfo.reading.facts import ReadWarning

_MOST = 4096
"""Of one code object; real ones have two or three."""


_HEADER = Layout(STRUCTS.Elf_Nhdr, "n_namesz", "n_descsz", "n_type")


class Note(NamedTuple):
    """One note, from its owner's list of types."""

    owner: bytes
    type: int
    content: memoryview
    offset: int
    """Of the content, in bytes from the start of the file."""


def read_notes(elf: Elf, warnings: list[ReadWarning]) -> Iterator[Note]:
    """Every note once, however many segments and sections lead to it.

    A region that lies outside the file, or that ends within a note, is named in `warnings`.
    """
    regions = [(s.offset, s.size) for s in elf.segments if s.type == PT_NOTE]
    regions += [(s.offset, s.size) for s in elf.sections if s.type == SHT_NOTE]
    seen: set[int] = set()
    count = 0
    for start, size in dict.fromkeys(regions):
        region = elf.bytes_at(start, size)
        if region is None:
            warnings.append(ReadWarning("notes outside the file, not read", offset=start))
            continue
        at, end = start, start + size
        # From a note that was seen on, the rest was seen as well.
        while at + 12 <= end and at not in seen:
            seen.add(at)
            name_size, content_size, kind = _HEADER.rows(region[at - start :][: _HEADER.size])[0]
            # AMDGPU pads to 4 bytes, whatever the alignment of the segment says.
            offset = at + 12 + _padded(name_size)
            if offset + content_size > end:
                warnings.append(ReadWarning("damaged note: longer than its section", offset=at))
                break
            owner = bytes(region[at - start + 12 :][:name_size]).rstrip(b"\0")
            # Removed notes leave zeros behind, which read as empty notes.
            count += bool(owner or content_size)
            if count > _MOST:
                message = f"more than {_MOST} notes, not read from here on; build it again"
                warnings.append(ReadWarning(message, offset=at))
                return
            if content_size and not owner:
                message = "a note without a name, not read: it may be the metadata; build it again"
                warnings.append(ReadWarning(message, offset=at))
            elif owner:
                yield Note(owner, kind, region[offset - start :][:content_size], offset)
            at = offset + _padded(content_size)


def _padded(size: int) -> int:
    return (size + 3) & ~3
