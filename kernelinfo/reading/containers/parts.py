"""Makes the parts of a container: blobs, problems and notes with member name and file offset."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from kernelinfo.errors import Message, ReadError
from kernelinfo.reading.blob import Blob, Found, Note, Problem
from kernelinfo.reading.containers import bounds, magic
from kernelinfo.reading.data import Data
from kernelinfo.reading.messages import say

if TYPE_CHECKING:
    from struct import Struct  # reading a text does not need it

DATA_SECTION = "section"
"""Container name of a host file's data sections; they are searched for code objects."""
UNKNOWN_DATA = "data"
"""Container name of code found by its headers in data of unknown format."""

_PIECE_BYTES = 1 << 20


class Room:
    """The bytes that a container may still hand out: at first, twice its own size.

    Without this bound, parts that share bytes could multiply them."""

    def __init__(self, size: int) -> None:
        self._left = bounds.REPETITION * size

    def take(self, size: int) -> bool:
        """Take `size` bytes; False if fewer were left."""
        self._left -= size
        return self._left >= 0


def part(
    blob: Blob,
    container: str,
    data: Data,
    *,
    offset: int | None,
    member: str | None = None,
    one_of_many: bool = False,
) -> Blob:
    """The part of a container as a blob.

    `offset` is its offset in the container; None if it was compressed or is in another file. A part
    without code is a problem, unless it is `one_of_many`, as a file in a directory is.
    """
    return blob._replace(
        data=data,
        containers=(*blob.containers, container),
        member=_joined(blob, member),
        offset=_offset(blob, offset),
        is_one_of_many=one_of_many,
    )


def problem(
    blob: Blob, message: Message, *, offset: int | None = 0, member: str | None = None
) -> Problem:
    """The problem with this message, at an `offset` in a container; None if it has no offset."""
    return Problem(blob.path, message, _joined(blob, member), _offset(blob, offset))


def fields(layout: Struct, data: Data, cut_off: Message, offset: int = 0) -> tuple[Any, ...]:
    """The fields of a header. Raises `ReadError` with the message `cut_off` if it is cut off."""
    if offset + layout.size > len(data):
        raise ReadError(cut_off)
    return layout.unpack(data.read(offset, layout.size))


def stored_file(blob: Blob, container: str, name: str, offset: int, size: int) -> Iterator[Found]:
    """An archive's file of `size` bytes at an `offset`, with a problem if it is cut off; a note if
    it is not worth opening."""
    data = blob.data.part(offset, size)
    file = part(blob, container, data, offset=offset, member=name, one_of_many=True)
    if not may_hold_code(blob, data.read(0, magic.HEAD_BYTES), name, size):
        yield left_out(file)
        return
    if len(data) < size:
        claimed = str(size) if size < 1 << 64 else say("number-beyond-64-bits")
        message = say("member-cut-off", claimed=claimed, size=len(data))
        yield problem(blob, message, member=name, offset=offset)
    yield file


def streamed_file(
    blob: Blob, container: str, name: str, read: Callable[[int], bytes], size: int
) -> Blob | Problem | Note:
    """An archive's file of `size` bytes from `read`; a note if it is not worth opening, a problem
    if it is too large."""
    whole = bytearray(read(min(size, magic.HEAD_BYTES)))
    limit = blob.bounds.held_bytes(len(blob.data))
    if not may_hold_code(blob, whole, name, size):
        return left_out(part(blob, container, blob.data, offset=None, member=name))
    if size > limit:
        return problem(blob, say("member-too-large", most=limit), member=name, offset=None)
    while piece := read(min(size - len(whole), _PIECE_BYTES)):
        whole += piece
    content = Data.of(memoryview(whole).toreadonly())
    return part(blob, container, content, offset=None, member=name, one_of_many=True)


def may_hold_code(blob: Blob, data: memoryview | bytes | bytearray, name: str, size: int) -> bool:
    """True if a member of a container is worth opening: by its first bytes `data`, by its name, or
    if its `size` is small enough to search it for code objects."""
    head = bytes(data[: magic.HEAD_BYTES])
    return magic.may_hold_code(head, name) or size <= blob.bounds.carved


def left_out(blob: Blob) -> Note:
    """The note that a blob of unknown format is too large to be searched for code objects."""
    size = blob.bounds.carved
    return Note(blob.path, say("data-not-searched", size=size), blob.member)


def rest(blob: Blob, offset: int) -> Blob:
    """The rest of a container from an `offset` on."""
    return blob._replace(data=blob.data.part(offset), offset=_offset(blob, offset))


def after_zeros(data: Data, offset: int = 0) -> int | None:
    """Offset of the first nonzero byte from `offset` on; None if all are zero."""
    return data.search(re.compile(rb"[^\0]"), offset)


def _joined(blob: Blob, member: str | None) -> str | None:
    return "/".join(name for name in (blob.member, member) if name) or None


def _offset(blob: Blob, offset: int | None) -> int | None:
    return None if blob.offset is None or offset is None else blob.offset + offset
