"""The metadata of the kernels of one note, without unpacking the same arguments again and again.

Four fifths of a library's notes are lists of arguments, of which there are few different ones, and
all that is asked of them is one word. What is unusual is left to unpacking the whole, and a test
holds both to the same answer on every note there is.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

import msgpack

from kernelinfo.facts.metadata import kernel_facts, takes_dynamic_lds
from kernelinfo.model import Fact

Kernels = list[tuple[str, list[Fact]]]
"""Symbol and facts of each."""

_HOW = {"strict_map_key": False, "unicode_errors": "backslashreplace"}
_NO_ARGUMENTS = b"\x90"


class Root(NamedTuple):
    """The map that a note holds."""

    others: Mapping[object, object]
    """All keys but `amdhsa.kernels`."""
    kernels: Kernels


def read_root(content: memoryview, offset: int) -> Root | None:
    """What the note's content says; None where it must be unpacked as a whole.

    `offset` is that of the content in the code object.
    """
    whole = bytes(content)
    unpacker = msgpack.Unpacker(max_buffer_size=len(whole), **_HOW)
    unpacker.feed(whole)
    others: dict[object, object] = {}
    kernels: Kernels | None = None
    try:
        for _ in range(unpacker.read_map_header()):
            key = unpacker.unpack()
            if key in others or (key == "amdhsa.kernels" and kernels is not None):
                return None
            if key == "amdhsa.kernels":
                count = unpacker.read_array_header()
                kernels = [_kernel(unpacker, whole, offset) for _ in range(count)]
            else:
                others[key] = unpacker.unpack()
    except (msgpack.UnpackException, ValueError, TypeError):
        return None
    if kernels is None or unpacker.tell() != len(whole):
        return None
    return Root(others, kernels)


def _kernel(unpacker: msgpack.Unpacker, whole: bytes, offset: int) -> tuple[str, list[Fact]]:
    """Symbol and facts; raises `ValueError` where there is something to complain of."""
    kernel: dict[object, object] = {}
    arguments = _NO_ARGUMENTS
    for _ in range(unpacker.read_map_header()):
        key = unpacker.unpack()
        if key in kernel or (key == ".args" and arguments is not _NO_ARGUMENTS):
            raise ValueError
        if key == ".args":
            start = unpacker.tell()
            unpacker.skip()
            arguments = whole[start : unpacker.tell()]
        else:
            kernel[key] = unpacker.unpack()
    symbol, facts, complaints = kernel_facts(kernel, offset=offset)
    if complaints:
        raise ValueError
    if _takes_dynamic_lds(arguments):
        facts.append(Fact("dynamic_lds", True, "metadata", None, offset))
    return symbol, facts


@lru_cache(maxsize=1 << 10)
def _takes_dynamic_lds(arguments: bytes) -> bool:
    return takes_dynamic_lds(msgpack.unpackb(arguments, **_HOW))
