"""What lies inside a blob, named and placed from the outermost file on."""

from __future__ import annotations

import re

from kernelinfo.reading.blob import Blob, Note, Problem
from kernelinfo.reading.containers import bounds, magic

DATA_SECTION = "section"
"""The container of a host file's data that are to be searched for code objects."""
UNKNOWN_DATA = "data"
"""The container of code that was found by its headers, in data that no reader knows."""

_NOT_ZERO = rb"[^\0]"


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
    data: memoryview,
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


def may_hold_code(blob: Blob, head: bytes, name: str, size: int) -> bool:
    """Whether one of a container's members is worth opening: by its first bytes, by its name, or as
    it is small enough to be searched for code objects."""
    return magic.may_hold_code(head, name) or size <= blob.bounds.carved


def left_out(blob: Blob) -> Note:
    """That a file or member of no known kind is too large to be searched for code objects."""
    size = blob.bounds.carved
    message = f"more than {size} bytes of no known kind, not searched; --deep does"
    return Note(blob.path, message, blob.member)


def rest(blob: Blob, at: int) -> Blob:
    """A container from that offset on."""
    return blob._replace(data=blob.data[at:], offset=_offset(blob, at))


def after_zeros(data: memoryview, at: int = 0) -> int | None:
    """Where the first byte from there on stands that is not zero; None where all are."""
    found = re.compile(_NOT_ZERO).search(data, min(at, len(data)))
    return found and found.start()


def _joined(blob: Blob, member: str | None) -> str | None:
    return "/".join(name for name in (blob.member, member) if name) or None


def _offset(blob: Blob, at: int | None) -> int | None:
    return None if blob.offset is None or at is None else blob.offset + at
