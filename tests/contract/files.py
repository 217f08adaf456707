"""Files of contract rows: a text, or bytes made step by step.

The first step names a fixture (`code_object/tiny-v6-clang22-gfx90a.co`) or gives the bytes
(`bytes 7f454c46`, `text …`), or a code object with kernels of any names (`kernels 'a b' c`); each
other one changes what is there:

    ["code_object/tiny-v6-clang22-gfx90a.co", "zip k.co", "cut 1000"]

A name of the table's [files] stands for that file's bytes, first or in `append NAME`; `add MEMBER
NAME` puts it into a zip archive. What follows `text ` is taken as it stands; words of other steps
are split as a shell splits them.
Numbers may be hexadecimal. A place is a number (from the end if negative), or bytes that are
searched for, with a number: `PK\\1\\2+42`.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import re
import shlex
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from ..fuzz.specimens import Specimen, code_object

FIXTURES = Path(__file__).parents[2] / "fixtures"
_METHODS = {
    "stored": zipfile.ZIP_STORED,
    "deflate": zipfile.ZIP_DEFLATED,
    "bzip2": zipfile.ZIP_BZIP2,
    "lzma": zipfile.ZIP_LZMA,
}


def make(steps: str | list[str], files: Mapping[str, Any] = MappingProxyType({})) -> bytes:
    """The bytes of a file; `files` are those of its table."""
    if isinstance(steps, str):
        return steps.encode()
    first, *others = steps
    data = _begun(first, files)
    for step in others:
        name, _, rest = step.partition(" ")
        if name == "append":
            data += _begun(rest, files)
        elif name == "add":
            member, _, added = rest.partition(" ")
            data = _added(data, member, _begun(added, files))
        elif name == "prepend":
            data = _begun(rest, files) + data
        else:
            data = STEPS[name](data, *shlex.split(rest))
    return data


def _begun(step: str, files: Mapping[str, Any]) -> bytes:
    if step in files:
        return make(files[step], files)
    name, _, rest = step.partition(" ")
    if name == "bytes":
        return bytes.fromhex(rest)
    if name == "text":
        return rest.encode()
    if name == "kernels":
        return code_object([Specimen(name, 64, 8, 40, 1024, 64, 256) for name in shlex.split(rest)])
    return (FIXTURES / step).read_bytes()


def _plain(text: str) -> bytes:
    r"""Bytes of a text with Python's escapes: `PK\1\2`."""
    return text.encode().decode("unicode_escape").encode("latin-1")


def _place(data: bytes, place: str) -> int:
    try:
        number = int(place, 0)
    except ValueError:
        text, _, after = place.partition("+")
        return data.index(_plain(text)) + int(after or "0", 0)
    return number if number >= 0 else len(data) + number


def _put(data: bytes, place: str, new: str) -> bytes:
    """Bytes given in hexadecimal, over those at a place."""
    start, bytes_ = _place(data, place), bytes.fromhex(new)
    return data[:start] + bytes_ + data[start + len(bytes_) :]


def _zip(data: bytes, name: str, method: str = "deflate") -> bytes:
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w", _METHODS[method]) as archive:
        archive.writestr(zipfile.ZipInfo(name), data, _METHODS[method])
    return whole.getvalue()


def _added(archive: bytes, name: str, data: bytes) -> bytes:
    """A zip archive with one more member."""
    whole = io.BytesIO(archive)
    with zipfile.ZipFile(whole, "a") as opened:
        opened.writestr(zipfile.ZipInfo(name), data)
    return whole.getvalue()


def _tar(data: bytes, name: str) -> bytes:
    whole = io.BytesIO()
    with tarfile.open(fileobj=whole, mode="w") as archive:
        info = tarfile.TarInfo(name)
        info.size = len(data)
        archive.addfile(info, io.BytesIO(data))
    return whole.getvalue()


def _replace(data: bytes, old: str, new: str, most: str = "-1") -> bytes:
    """Each place where a text stands, or the first so many."""
    assert _plain(old) in data, f"nothing to replace: {old}"
    return data.replace(_plain(old), _plain(new), int(most))


STEPS: dict[str, Callable[..., bytes]] = {
    "cut": lambda data, place: data[: _place(data, place)],
    "from": lambda data, place: data[_place(data, place) :],
    "put": _put,
    "replace": _replace,
    "sub": lambda data, pattern, new: re.sub(pattern, _plain(new).decode(), data.decode()).encode(),
    "encode": lambda data, codec: data.decode().encode(codec),
    "repeat": lambda data, count: data * int(count, 0),
    "zeros": lambda data, count: data + bytes(int(count, 0)),
    "zip": _zip,
    "tar": _tar,
    "gz": lambda data: gzip.compress(data, mtime=0),
    "zlib": zlib.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
}
