"""The metadata of the kernels of one note, each different statement unpacked once.

Four fifths of a library's notes are lists of arguments, of which there are few different ones, and
all that is asked of them is one word; of the rest, a third differs in more than names. What is
unusual is left to unpacking the whole, and a test holds both to the same answer on every note there
is.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import msgpack

from kernelinfo.light_typing import NamedTuple
from kernelinfo.reading.facts import Fact, Facts
from kernelinfo.reading.metadata import kernel_facts, kernel_symbol, takes_dynamic_lds

Kernels = list[tuple[str, Facts]]
"""Symbol and facts of each."""

_HOW = {"strict_map_key": False, "unicode_errors": "backslashreplace"}
_NO_ARGUMENTS = b"\x90"
_NO_NAME = b"\xa0"


class Root(NamedTuple):
    """The map that a note holds."""

    others: Mapping[object, object]
    """All keys but `amdhsa.kernels`."""
    kernels: Kernels


def read_root(content: memoryview) -> Root | None:
    """What the note's content says; None where it must be unpacked as a whole."""
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
                kernels = [_kernel(unpacker, whole) for _ in range(count)]
            else:
                others[key] = unpacker.unpack()
    except (msgpack.UnpackException, ValueError, TypeError):
        return None
    if kernels is None or unpacker.tell() != len(whole):
        return None
    return Root(others, kernels)


def _kernel(unpacker: msgpack.Unpacker, whole: bytes) -> tuple[str, Facts]:
    """Symbol and facts; raises `ValueError` where there is something to complain of."""
    symbol = name = None
    arguments = _NO_ARGUMENTS
    # The same map, in which what kernels have of their own is nothing.
    common = b""
    begin = unpacker.tell()
    for _ in range(unpacker.read_map_header()):
        key = unpacker.unpack()
        if key == ".name":
            common += whole[begin : unpacker.tell()] + _NO_NAME
            name = unpacker.unpack()
        elif key == ".symbol":
            common += whole[begin : unpacker.tell()] + _NO_NAME
            symbol = unpacker.unpack()
        elif key == ".args":
            at = unpacker.tell()
            common += whole[begin:at] + _NO_ARGUMENTS
            unpacker.skip()
            arguments = whole[at : unpacker.tell()]
        else:
            unpacker.skip()
            continue
        begin = unpacker.tell()
    common += whole[begin : unpacker.tell()]
    return kernel_symbol(symbol, name), _facts(common, _takes_dynamic_lds(arguments))


@lru_cache(maxsize=1 << 12)
def _facts(common: bytes, dynamic_lds: bool) -> Facts:
    pairs = msgpack.unpackb(common, object_pairs_hook=list, **_HOW)
    kernel = dict(pairs)
    _, facts, complaints = kernel_facts(kernel, offset=0)
    if complaints or len(kernel) < len(pairs):
        raise ValueError
    if dynamic_lds:
        facts.append(Fact("dynamic_lds", True, "metadata", None, 0))
    return Facts.shared(tuple(facts))


@lru_cache(maxsize=1 << 10)
def _takes_dynamic_lds(arguments: bytes) -> bool:
    return takes_dynamic_lds(msgpack.unpackb(arguments, **_HOW))
