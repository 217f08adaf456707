"""What lies inside a blob, named and placed from the outermost file on."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from kernelinfo.errors import ReadError
from kernelinfo.reading.blob import Blob, Found, Note, Problem
from kernelinfo.reading.containers import bounds, magic
from kernelinfo.reading.data import Data

if TYPE_CHECKING:
    from struct import Struct  # which reading a text does not import

DATA_SECTION = "section"
"""The container of a host file's data that are to be searched for code objects."""
UNKNOWN_DATA = "data"
"""The container of code that was found by its headers, in data that no reader knows."""

_PIECE_BYTES = 1 << 20


class Room:
    """What a container may hand out: twice its own bytes. Parts that share their bytes could
    multiply them without end."""

    def __init__(self, own: int) -> None:
        self._left = bounds.REPETITION * own

    def take(self, given: int) -> bool:
        """Take so many bytes of the room; False if there were fewer left."""
        self._left -= given
        return self._left >= 0


def part(
    blob: Blob,
    container: str,
    data: Data,
    *,
    at: int | None,
    member: str | None = None,
    one_of_many: bool = False,
) -> Blob:
    """The bytes `at` that offset in a container; None where they were packed or are elsewhere.

    `one_of_many` members may hold nothing for AMD GPUs, like files of a directory; any other that
    holds nothing is a problem.
    """
    return blob._replace(
        data=data,
        containers=(*blob.containers, container),
        member=_joined(blob, member),
        offset=_offset(blob, at),
        is_one_of_many=one_of_many,
    )


def problem(blob: Blob, message: str, *, at: int | None = 0, member: str | None = None) -> Problem:
    """What is wrong `at` that offset in a container."""
    return Problem(blob.path, message, _joined(blob, member), _offset(blob, at))


def fields(layout: Struct, data: Data, cut_off: str, at: int = 0) -> tuple[Any, ...]:
    """The fields of a header. Raises `ReadError`, with `cut_off`, where the data end within it."""
    if at + layout.size > len(data):
        raise ReadError(f"{cut_off}; build it again")
    return layout.unpack(data.read(at, layout.size))


def stored_file(blob: Blob, container: str, name: str, at: int, size: int) -> Iterator[Found]:
    """A file of an archive, `size` bytes at that offset, if it is worth opening."""
    data = blob.data.part(at, size)
    found = part(blob, container, data, at=at, member=name, one_of_many=True)
    if not may_hold_code(blob, data.read(0, magic.HEAD_BYTES), name, size):
        yield left_out(found)
        return
    if len(data) < size:
        claimed = str(size) if size < 1 << 64 else "more than 2^64"
        message = f"{claimed} bytes claimed of which {len(data)} are there"
        yield problem(blob, message, member=name, at=at)
    yield found


def streamed_file(
    blob: Blob, container: str, name: str, read: Callable[[int], bytes], size: int
) -> Blob | Problem | Note:
    """A file of an archive, `size` bytes that `read` gives, if it is worth opening."""
    whole = bytearray(read(min(size, magic.HEAD_BYTES)))
    limit = blob.bounds.held_bytes(len(blob.data))
    if not may_hold_code(blob, whole, name, size):
        return left_out(part(blob, container, blob.data, at=None, member=name))
    if size > limit:
        message = f"a member of more than {limit} bytes; unpack it, or see --bound"
        return problem(blob, message, member=name, at=None)
    while piece := read(min(size - len(whole), _PIECE_BYTES)):
        whole += piece
    content = Data.of(memoryview(whole).toreadonly())
    return part(blob, container, content, at=None, member=name, one_of_many=True)


def may_hold_code(blob: Blob, data: memoryview | bytes | bytearray, name: str, size: int) -> bool:
    """Whether one of a container's members, of so many bytes that begin with `data`, is worth
    opening: by these, by its name, or as it is small enough to be searched for code objects."""
    head = bytes(data[: magic.HEAD_BYTES])
    return magic.may_hold_code(head, name) or size <= blob.bounds.carved


def left_out(blob: Blob) -> Note:
    """That a file or member of no known kind is too large to be searched for code objects."""
    size = blob.bounds.carved
    message = f"more than {size} bytes of no known kind, not searched; --deep does"
    return Note(blob.path, message, blob.member)


def rest(blob: Blob, at: int) -> Blob:
    """A container from that offset on."""
    return blob._replace(data=blob.data.part(at), offset=_offset(blob, at))


def after_zeros(data: Data, at: int = 0) -> int | None:
    """Where the first byte from there on stands that is not zero; None where all are."""
    return data.search(re.compile(rb"[^\0]"), at)


def _joined(blob: Blob, member: str | None) -> str | None:
    return "/".join(name for name in (blob.member, member) if name) or None


def _offset(blob: Blob, at: int | None) -> int | None:
    return None if blob.offset is None or at is None else blob.offset + at
