"""What containers hold: code objects to write, and the owner of each byte of a device part."""

from __future__ import annotations

import os
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from itertools import pairwise
from typing import NamedTuple

from kernelinfo.analysis import Analysis
from kernelinfo.analysis.inputs import Events, add, conclusions, modules, run
from kernelinfo.analysis.options import Options
from kernelinfo.errors import ReadError
from kernelinfo.kernel import Result
from kernelinfo.kernel.code_object import SPIRV, library_in, member_file
from kernelinfo.reading import code_object
from kernelinfo.reading.blob import Blob, Note, Problem, SpirV
from kernelinfo.reading.code_object.descriptor import code_object_version, features, processor
from kernelinfo.reading.code_object.extents import Owner, extents
from kernelinfo.reading.containers import device_code, formats, kpack
from kernelinfo.reading.data import Data
from kernelinfo.reading.elf import Elf, read_elf
from kernelinfo.reading.facts import Module, ReadWarning
from kernelinfo.reading.target_id import target_id

_CODE = ("kernel code", "other functions")
_DIGEST_BYTES = 16
_KPACK_HEADER = 16


class OwnedBytes(NamedTuple):
    """Some bytes of a library's device part, and their owner."""

    path: str
    library: str
    member: str
    target: str
    """Target id; empty for bytes of containers."""
    owner: Owner
    symbol: str
    """Mangled name of a kernel or function; empty for other bytes."""
    size: int
    """Bytes; below 0 for those that compression saves."""
    is_copy: bool = False
    """True for code that is equal to code of the same file and target that was yielded before."""


def own_bytes(paths: Iterable[str], options: Options) -> Iterator[OwnedBytes | Problem | Note]:
    """The bytes of all device parts of the paths, with problems and notes of reading.

    A device part is a section such as `.hip_fatbin`, a bundle or an archive with code for devices
    alone, or a code object. `options` choose targets and members. With such a choice the bytes of
    containers are left out, because they belong to all targets and members.
    """
    events, ledger = [(path, Events()) for path in paths], _Ledger(options)
    for item in run(events, ledger.read, options._replace(spirv=True)):
        if not isinstance(item, SpirV):
            yield item
        elif item.blob:
            yield from ledger.entered(item.blob)
            if not options.choices and ledger.claims(item.blob):
                yield _owned(item.blob, SPIRV, "SPIR-V", len(item.blob.data))
    yield from ledger.closed()
    yield from conclusions(events, options, "code object")


def _owned(
    blob: Blob, target: str, owner: Owner, size: int, symbol: str = "", *, is_copy: bool = False
) -> OwnedBytes:
    file, library = member_file(blob.member), library_in(blob.path, blob.member)
    return OwnedBytes(blob.path, library, file, target, owner, symbol, size, is_copy)


class _Ledger:
    """Tracks what was read of the open device part, and the code of the open file."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._open: Blob | None = None
        """The first code of the device part."""
        self._parts: dict[Data, list[tuple[int, int]]] = {}
        """Data of each container in the device part -> (begin, end) of parts that have owners
        of their own, ascending."""
        self._contents: dict[Data, list[Data]] = {}
        """Data of each container -> what its compressed parts decompress to."""
        self._file, self._digests = ("", ""), set[tuple[str, bytes]]()
        """The open file or member, and (target, digest) of each function's code in it."""

    def entered(self, blob: Blob) -> Iterator[OwnedBytes]:
        """If `blob` begins a new device part: yields the rest of the previous part and opens the
        new one."""
        if self._open is None or self._open.within[:1] != blob.within[:1]:
            yield from self.closed()
            self._open = blob
            self._parts.clear()
            self._contents.clear()

    def claims(self, blob: Blob) -> bool:
        """Claim the bytes of `blob`; False if an earlier blob has claimed some of them, since
        entries of a bundle may share bytes."""
        is_new = True
        for whole, part in pairwise((*blob.within, blob.data)):
            parts, contents = (
                self._parts.setdefault(whole, []),
                self._contents.setdefault(whole, []),
            )
            begin = part.offset_in(whole)
            if begin is None:
                is_new = part not in contents
                contents.extend([part] * is_new)
                continue
            end = begin + len(part)
            place = bisect_left(parts, (begin, end))
            around = parts[max(place - 1, 0) : place + 1]
            is_new = not any(begin < stop and start < end for start, stop in around)
            parts[place:place] = [(begin, end)] * is_new
        return is_new

    def closed(self) -> Iterator[OwnedBytes]:
        """The container bytes of the open device part that belong to no code object; none if the
        options choose targets or members."""
        if self._open is None or self._options.choices:
            return
        blob, self._open = self._open, None
        if "kpack" in blob.containers:  # of all libraries in it
            blob = blob._replace(member=None)
        for data, parts in self._parts.items():
            sizes = Counter[Owner]()
            for owner, size in _rest(blob, data, parts, self._contents[data]):
                sizes[owner] += size
            yield from (_owned(blob, "", owner, size) for owner, size in sizes.items())

    def read(self, blob: Blob, events: Events) -> Iterator[OwnedBytes | Problem]:
        """The bytes of one code object, and those of containers that end before it."""
        if blob.kind != "code-object":
            return
        yield from self.entered(blob)
        is_new, options = self.claims(blob), self._options
        warnings: list[ReadWarning] = []
        try:
            elf = read_elf(blob.data, warnings)
            target = _target(elf, blob, options)
            if not options.asks_for_target(target):
                add(events, "other-target", target)
                return
            if not options.asks_for_member(blob.member):
                add(events, "other-member")
                return
            add(events, "chosen")
            for pair in options.met("", "", target, blob.member):
                add(events, "met", pair)
            for begin, end, owner, symbol in extents(elf, warnings) if is_new else ():
                is_copy = (
                    bool(symbol) and owner in _CODE and self._repeats(blob, target, begin, end)
                )
                yield _owned(blob, target, owner, end - begin, symbol, is_copy=is_copy)
        except ReadError as error:
            yield formats.problem(blob, error.message)
            yield _owned(blob, "", "other", len(blob.data) * is_new)
        for warning in dict.fromkeys(warnings):
            yield formats.problem(blob, warning.message, offset=warning.offset)

    def _repeats(self, blob: Blob, target: str, begin: int, end: int) -> bool:
        """True if the file has already had equal code for the target."""
        file = blob.path, member_file(blob.member)
        if file != self._file:
            self._file = file
            self._digests.clear()
        code = blob.data.read(begin, end - begin)
        key = target, blake2b(code, digest_size=_DIGEST_BYTES).digest()
        is_copy = key in self._digests
        self._digests.add(key)
        return is_copy


def _target(elf: Elf, blob: Blob, options: Options) -> str:
    """The target id of a code object, from its header; if that names no target, from a note."""
    name, _ = processor(elf, None, None, None, [])
    settings = features(elf, code_object_version(elf), None)
    if name is None:
        module = code_object.read(blob.data, arch=options.arch)
        name, settings = module.target, module.features
    return target_id(name, settings)


def _rest(
    blob: Blob, data: Data, parts: Sequence[tuple[int, int]], contents: Sequence[Data]
) -> Iterator[tuple[Owner, int]]:
    """(owner, size) of the container's bytes outside its parts. Bytes saved by compression are
    negative."""
    streams = _streams(blob, data) if contents else []
    position = 0
    for begin, end in sorted((*parts, *streams, (len(data),) * 2)):
        if position < begin:
            gap = bytes(data.read(position, begin - position))
            inside = len(gap.strip(b"\0"))
            yield "containers", inside
            yield "padding", len(gap) - inside
        position = max(position, end)
    compressed = sum(end - begin for begin, end in streams)
    if contents:
        yield "compression", compressed - sum(map(len, contents))


def _streams(blob: Blob, data: Data) -> list[tuple[int, int]]:
    """(begin, end) of the compressed parts of a container; all of it for an unknown layout."""
    if formats.is_kpack(bytes(data.read(0, 4))):
        return [(_KPACK_HEADER, kpack.table_offset(data))]
    streams: list[tuple[int, int]] = []
    begin: int | None = 0
    while begin is not None:
        inside = data.part(begin)
        if not formats.is_bundle(bytes(inside.read(0, formats.HEAD_BYTES))):
            return streams or [(0, len(data))]
        try:
            end = begin + min(device_code.length_of_bundle(blob._replace(data=inside)), len(inside))
        except ReadError:
            return [*streams, (begin, len(data))]
        if inside.read(0, 4) == formats.COMPRESSED_BUNDLE:
            streams.append((begin, end))
        begin = formats.after_zeros(data, end)
    return streams


Extracted = tuple[Blob, Module]
"""The bytes of a code object to write, and what they state."""


def extract(paths: Iterable[str], options: Options) -> Iterator[Extracted | Problem | Note]:
    """Code objects of all paths that `options` choose, in the order of reading: by target, by
    member, or because they have a chosen kernel.

    Assembly is skipped. A path without code objects is a problem. A path without chosen ones is a
    problem only if no other path has them. If only some of the targets are found, each missing one
    is a note.
    """
    events = [(path, Events()) for path in paths]
    analysis = Analysis(options)
    chooses_kernels = bool(options.kernels or options.exclude or options.where is not None)

    def read(blob: Blob, events: Events) -> Iterator[Extracted | Problem | Note]:
        for module in modules(blob, Options()):
            if isinstance(module, Problem):
                yield module
            elif module.kind != "code-object":
                continue
            elif not options.asks_for_target(named := target_id(module.target, module.features)):
                add(events, "other-target", named)
            elif not options.asks_for_member(blob.member):
                add(events, "other-member")
            else:
                of_kernels = Events()
                items = list(analysis.results(blob, of_kernels)) if chooses_kernels else []
                for kind, what in of_kernels:
                    if kind in ("unchosen", "met"):
                        add(events, kind, what, 0)  # code objects are counted, not kernels
                if chooses_kernels and not any(isinstance(item, Result) for item in items):
                    add(events, "unchosen")
                    continue
                add(events, "chosen", os.path.dirname(blob.path))
                for pair in options.met("", "", named, blob.member):
                    add(events, "met", pair)
                yield blob, module

    yield from run(events, read, options)
    yield from conclusions(events, options, "code object")
