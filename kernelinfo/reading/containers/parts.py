"""What lies inside a blob, named and placed from the outermost file on."""

from __future__ import annotations

import re

from kernelinfo.reading.blob import Blob, Problem

_NOT_ZERO = re.compile(rb"[^\0]")


def part(
    blob: Blob, container: str, data: memoryview, *, at: int | None, member: str | None = None
) -> Blob:
    """The bytes `at` that offset in a container; None where they were packed or are elsewhere."""
    return blob._replace(
        data=data,
        containers=(*blob.containers, container),
        member=_joined(blob, member),
        offset=_offset(blob, at),
    )


def problem(blob: Blob, message: str, *, at: int | None = 0, member: str | None = None) -> Problem:
    """What is wrong `at` that offset in a container."""
    return Problem(blob.path, message, _joined(blob, member), _offset(blob, at))


def rest(blob: Blob, at: int) -> Blob:
    """A container from that offset on."""
    return blob._replace(data=blob.data[at:], offset=_offset(blob, at))


def after_zeros(data: memoryview, at: int = 0) -> int | None:
    """Where the first byte from there on stands that is not zero; None where all are."""
    found = _NOT_ZERO.search(data, min(at, len(data)))
    return found and found.start()


def _joined(blob: Blob, member: str | None) -> str | None:
    return "/".join(name for name in (blob.member, member) if name) or None


def _offset(blob: Blob, at: int | None) -> int | None:
    return None if blob.offset is None or at is None else blob.offset + at
