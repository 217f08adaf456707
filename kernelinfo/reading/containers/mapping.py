"""Memory maps of files that others may shorten meanwhile.

Reading a map beyond its file's end raises no exception, it ends the process by SIGBUS; and Python
runs its own signal handlers too late. So the system calls one that puts zeros where bytes are gone
(mmap(2), sigaction(2)), and `files.shrunk` tells. Whoever maps a file that is elsewhere puts
its bytes there instead.
"""

from __future__ import annotations

import ctypes
import mmap
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

# The same for the C libraries of all 64-bit Linux systems.
_SA_SIGINFO = 4
MAP_FIXED = 0x10
_BUS_ADRERR = 2
_CODE_AT, _ADDRESS_AT = 8, 16  # bytes, in siginfo_t


IS_WATCHED = sys.platform == "linux" and sys.maxsize > 1 << 32
"""Whether what is gone is replaced on this system."""

Fill = Callable[[int], None]  # puts something where a byte at an address is gone; must not raise


class Mapping(mmap.mmap):
    """A whole file, to be read."""

    addresses: range

    def __new__(cls, file: int) -> Mapping:
        """Raises `OSError`, and `ValueError` for an empty file."""
        if IS_WATCHED:
            _replace_what_is_gone()
        mapping = super().__new__(cls, file, 0, access=mmap.ACCESS_READ)
        mapping.addresses = _extent(mapping)
        _mapped.append((mapping.addresses, _put_zeros))
        return mapping


_mapped: list[tuple[range, Fill]] = []  # the latest last: addresses are used again


@contextmanager
def filled_by(addresses: range, fill: Fill) -> Iterator[None]:
    """Meanwhile `fill` puts what is gone at these addresses, which are mapped."""
    _mapped.append((addresses, fill))
    try:
        yield
    finally:
        _mapped.remove((addresses, fill))


class _Buffer(ctypes.Structure):
    """Py_buffer of CPython's stable ABI."""

    _fields_ = (
        ("address", ctypes.c_void_p),
        ("owner", ctypes.py_object),
        ("size", ctypes.c_ssize_t),
        ("rest", ctypes.c_byte * 56),
    )


class _Action(ctypes.Structure):
    """struct sigaction."""

    _fields_ = (
        ("handler", ctypes.c_void_p),
        ("blocked", ctypes.c_byte * 128),
        ("flags", ctypes.c_int),
        ("restorer", ctypes.c_void_p),
    )


def _extent(mapping: Mapping) -> range:
    buffer = _Buffer()
    ctypes.pythonapi.PyObject_GetBuffer(ctypes.py_object(mapping), ctypes.byref(buffer), 0)
    address = buffer.address
    ctypes.pythonapi.PyBuffer_Release(ctypes.byref(buffer))
    return range(address, address + len(mapping))


@cache
def libc() -> Any:
    """The C library."""
    library = ctypes.CDLL(None)
    library.mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long)
    library.mmap.restype = ctypes.c_void_p
    return library


def _put_zeros(address: int) -> None:
    page = address - address % mmap.PAGESIZE
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | MAP_FIXED
    libc().mmap(page, mmap.PAGESIZE, mmap.PROT_READ, flags, -1, 0)


@cache
def _replace_what_is_gone() -> Any:
    """Set up what SIGBUS does, once; the answer keeps it alive."""

    def replace(number: int, info: int, context: int) -> None:
        code = ctypes.c_int.from_address(info + _CODE_AT).value
        address = ctypes.c_size_t.from_address(info + _ADDRESS_AT).value
        fills = (fill for addresses, fill in reversed(_mapped) if address in addresses)
        if code == _BUS_ADRERR and (fill := next(fills, None)):
            fill(address)
        else:  # none of ours: the same again, and the process ends as it would
            libc().signal(number, int(signal.SIG_DFL))

    handler = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)(replace)
    action = _Action(handler=ctypes.cast(handler, ctypes.c_void_p), flags=_SA_SIGINFO)
    libc().sigaction(int(signal.SIGBUS), ctypes.byref(action), None)
    return handler
