"""Reads archives of `ar`: GNU, BSD and thin ones. Members of a thin archive are separate files.

    8 bytes   !<arch>\\n or !<thin>\\n
    and for each member, at even offsets
    16 bytes  name
    32 bytes  time, owner, group, mode
    10 bytes  size in decimal
    2 bytes   `\\n
    and its bytes

Names: `foo.o/`, or `/123` into the member `//` (GNU), or `#1/9` before the bytes (BSD).
Symbol tables: `/`, `/SYM64/`, `__.SYMDEF`. llvm/lib/Object/Archive.cpp.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from kernelinfo.reading.blob import Blob, Problem
from kernelinfo.reading.containers import bounds, files, magic
from kernelinfo.reading.containers.parts import may_hold_code, part, problem
from kernelinfo.reading.data import Data, decode
from kernelinfo.reading.messages import say

_HEADER_BYTES = 60
_SIZE = re.compile(rb"(\d{1,10}) *")
_LONG_NAMES = "//"
_TABLES = ("/", "/SYM64/", "__.SYMDEF", "__.SYMDEF SORTED", "__.SYMDEF_64", _LONG_NAMES)
_DAMAGED = say("archive-damaged")
_LEADS_NOWHERE = say("archive-member-unnamed")


def read(blob: Blob) -> Iterator[Blob | Problem]:
    """The members that may hold code."""
    thin: dict[str, None] = {}
    for short, name, offset, size in _members(blob.data):
        content = blob.data.part(offset, size)
        if short is None:
            yield problem(blob, _DAMAGED, offset=offset)
            return
        if _is_elsewhere(blob.data, short):
            if name:
                thin[name] = None
            else:
                yield problem(blob, _LEADS_NOWHERE, offset=offset, member=short)
            continue
        if len(content) < size:
            message = say("archive-member-cut-off", size=len(content), stated=size)
            yield problem(blob, message, offset=offset, member=short)
        if short not in _TABLES:
            yield from _stored(blob, short, name, content, offset)
    yield from _thin(blob, list(thin))


def thin_members(data: Data) -> list[str]:
    """Names of a thin archive's files, up to the first damage; empty for any other archive."""
    members = _members(data)
    return list({name: None for short, name, *_ in members if short and _is_elsewhere(data, short)})


def _members(data: Data) -> Iterator[tuple[str | None, str, int, int]]:
    """(name in the header, resolved GNU name, offset, bytes) of each member.

    At a damaged header the iteration ends with None as the name in the header."""
    offset, long_names = len(magic.ARCHIVE), b""
    while offset < len(data):
        header = bytes(data.read(offset, _HEADER_BYTES))
        size = _SIZE.fullmatch(header[48:58])
        if len(header) < _HEADER_BYTES or header[58:] != b"`\n" or not size:
            yield None, "", offset, 0
            return
        short = decode(header[:16].rstrip(b" "))
        offset, length = offset + _HEADER_BYTES, int(size[1])
        yield short, _gnu_name(short, long_names), offset, length
        if short == _LONG_NAMES:
            long_names = bytes(data.read(offset, length))
        if not _is_elsewhere(data, short):
            offset += length + length % 2


def _is_elsewhere(data: Data, name: str) -> bool:
    """True if the archive is thin and the member is a separate file."""
    return name not in _TABLES and data.read(0, len(magic.ARCHIVE)) == magic.THIN_ARCHIVE


def _stored(
    blob: Blob, short: str, name: str, content: Data, offset: int
) -> Iterator[Blob | Problem]:
    skipped = 0
    if short.startswith("#1/") and short[3:].isdecimal():
        skipped = int(short[3:])
        stated = bytes(content.read(0, min(skipped, bounds.LONGEST_NAME)))
        name = decode(stated.rstrip(b"\0"))
    if skipped > len(content):
        yield problem(blob, say("archive-name-long"), offset=offset)
    elif not name:
        yield problem(blob, _LEADS_NOWHERE, offset=offset, member=short)
    content = content.part(skipped)
    if may_hold_code(blob, content.read(0, magic.HEAD_BYTES), name, len(content)):
        member, offset = name or short, offset + skipped
        yield part(blob, "archive", content, offset=offset, member=member, one_of_many=True)


def _gnu_name(short: str, long_names: bytes) -> str:
    if short[:1] == "/" and short[1:].isdecimal():
        start = int(short[1:])
        short = decode(long_names[start : start + bounds.LONGEST_NAME].partition(b"\n")[0])
    return short.removesuffix("/")


def _thin(blob: Blob, names: list[str]) -> Iterator[Blob | Problem]:
    """Contents of the files that a thin archive names; only regular files in its folder or below
    are read."""
    if names and (blob.containers or not os.path.isfile(blob.path)):
        yield problem(blob, say("archive-thin-inside"))
        return
    folder = os.path.dirname(os.path.realpath(blob.path))
    absent: list[str] = []
    for name in names:
        path = os.path.realpath(os.path.join(folder, name.replace("\0", "\\0")))
        if os.path.commonpath((folder, path)) != folder:
            yield problem(blob, say("archive-member-outside"), offset=None, member=name)
            continue
        if not os.path.lexists(path):
            blob.budget.spend_member()
            absent.append(name)
            continue
        file = files.load(path, blob.bounds)
        if isinstance(file, Problem):
            message = say("archive-member-unreadable", reason=file.message)
            yield problem(blob, message, offset=None, member=name)
        elif may_hold_code(blob, file.data.read(0, magic.HEAD_BYTES), name, len(file.data)):
            host = blob._replace(budget=file.budget)
            yield part(host, "archive", file.data, offset=None, member=name, one_of_many=True)
    if absent:
        further = say("archive-nor-more", count=len(absent) - 1) if len(absent) > 1 else ""
        message = say("archive-member-missing", more=further)
        yield problem(blob, message, offset=None, member=absent[0])
