"""Reads the metadata of kernels in a code object's notes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from struct import Struct
from typing import Any

import msgpack

from kernelinfo.errors import ReadError, TooManyKernelsError
from kernelinfo.reading.budget import KernelBudget
from kernelinfo.reading.code_object import packed
from kernelinfo.reading.code_object.notes import ElfNote, read_notes
from kernelinfo.reading.elf import Elf
from kernelinfo.reading.facts import BEGIN, NOTHING, Numbers, Place, ReadWarning
from kernelinfo.reading.metadata import (
    kernel_numbers,
    kernel_symbol,
    takes_dynamic_lds,
    unknown_version,
)
from kernelinfo.reading.target_id import TargetId, isa_version

_ISA_VERSION = Struct("<HHIII")
_KERNELS = "amdhsa.kernels"
_USED = ("amdhsa.target", "amdhsa.version", "amdpal.pipelines")
_ARGUMENTS, _LDS, _NAME, _SYMBOL = (
    bytes((0xA0 | len(key), *key))
    for key in (b".args", b".group_segment_fixed_size", b".name", b".symbol")
)
"""Keys that delimit the per-kernel fields cut out before caching."""
_EMPTY = b"\xa0"
_MOST_KEYS = 1000
"""The most keys of a note's map; compilers write some twenty."""

_Root = dict[object, Any]
"""A note's map. `amdhsa.kernels` holds (symbol, numbers) of each kernel, or None if it is no list;
keys outside of `_USED` may have the value None."""
_Wanted = Callable[[str], bool] | None
"""True for symbols of kernels to decode; None decodes all."""


class NoteMetadata:
    """The metadata in the notes of a code object.

    Damage is added to `warnings`. Raises `TooManyKernelsError`."""

    def __init__(
        self,
        elf: Elf,
        warnings: list[ReadWarning],
        budget: KernelBudget,
        wanted: _Wanted = None,
    ) -> None:
        self._warnings = warnings
        self._budget = budget
        self._wanted = wanted
        self.present = False
        """True if there are notes."""
        self.found = False
        """True if a note holds metadata."""
        self.target_id: object = None
        """Raw value of `amdhsa.target`; None without one."""
        self.isa: TargetId | None = None
        """The processor from the ISA version note of code object v2."""
        self.kernels: dict[str, tuple[Numbers, Place]] = {}
        """Symbol → (numbers, place of the note's content), in the order of the notes. An unwanted
        kernel has no numbers."""
        for note in read_notes(elf, warnings):
            self.present = True
            self._take(note)

    def _take(self, note: ElfNote) -> None:
        """Read one note. Owners and types are from LLVM's AMDGPUUsage, "Note Records"."""
        try:
            match note.owner, note.type:
                case b"AMDGPU", 32:
                    self._take_map(note)
                case b"AMD", 3:
                    self.isa = _isa(note.content)
                case b"AMD", 10:
                    self._take_v2(note)
                case b"AMD", 12:
                    self._pass_over_pal(note)
        except TooManyKernelsError:
            raise
        except ReadError as error:
            self._warn(f"damaged metadata: {error}", note)

    def _take_map(self, note: ElfNote) -> None:
        root = _read_root(note.content, self._budget, self._wanted) or self._unpack_root(note)
        if "amdpal.pipelines" in root:
            self._pass_over_pal(note)
            return
        self.found = True
        self.target_id = root.get("amdhsa.target", self.target_id)
        if warning := unknown_version(root.get("amdhsa.version")):
            self._warn(warning, note)
        if root.get(_KERNELS) is None:
            raise ReadError("amdhsa.kernels is missing or no list")
        self._add(root[_KERNELS], note)

    def _unpack_root(self, note: ElfNote) -> _Root:
        """The note's map, unpacked at once, with complaints on single values as warnings.

        Raises `ReadError` for damage beyond that."""
        root = packed.whole(note, self._warnings)
        if not isinstance(root, dict):
            raise ReadError("its root is no map")
        listed = root.get(_KERNELS)
        if not isinstance(listed, list):
            return {**root, _KERNELS: None}
        maps = [kernel for kernel in listed if isinstance(kernel, Mapping)]
        if len(maps) < len(listed):
            wrong = f"{len(listed) - len(maps)} of amdhsa.kernels are no maps"
            self._warn(f"damaged metadata: {wrong}", note)
        read = [kernel_numbers(kernel) for kernel in maps]
        self._complain(((symbol, complaints) for symbol, _, complaints in read), note)
        return {**root, _KERNELS: [(symbol, numbers) for symbol, numbers, _ in read]}

    def _take_v2(self, note: ElfNote) -> None:
        # Imported here: only code object v2 needs YAML.
        from kernelinfo.reading.assembly import metadata_yaml

        text = bytes(note.content).rstrip(b"\0").decode("utf-8", "backslashreplace")
        try:
            kernels = metadata_yaml.parse(text, is_v2=True).kernels
        except ValueError as error:
            raise ReadError(str(error)) from error
        self.found = True
        self._complain(((kernel.symbol, kernel.complaints) for kernel in kernels), note)
        self._add([(kernel.symbol, kernel.numbers) for kernel in kernels], note)

    def _pass_over_pal(self, note: ElfNote) -> None:
        self.found = True
        self._warn("PAL pipelines are not read, only HSA kernels", note)

    def _add(self, kernels: Iterable[tuple[str, Numbers]], note: ElfNote) -> None:
        """Add the kernels of one note; a repeated name is a warning, and its last entry counts."""
        again, place = [], Place("metadata", note.offset, BEGIN)
        for symbol, numbers in kernels:
            if symbol in self.kernels:
                again.append(symbol)
            self.kernels[symbol] = numbers, place
        if self.kernels.pop("", None):
            self._warn("metadata of a kernel without a name", note)
        elif again:
            names = shown_kernels([*dict.fromkeys(again)])
            self._warn(f"{names}: stands again in the metadata; the last counts", note)

    def _complain(self, kernels: Iterable[tuple[str, Iterable[str]]], note: ElfNote) -> None:
        for symbol, complaints in kernels:
            for complaint in complaints:
                self._warn(f"kernel {shown(symbol)}: {complaint}", note)

    def _warn(self, message: str, note: ElfNote) -> None:
        self._warnings.append(ReadWarning(message, offset=note.offset))


def _isa(content: memoryview) -> TargetId | None:
    """The processor of an ISA version note; None if the note is cut off or names none."""
    if len(content) < _ISA_VERSION.size:
        return None
    return isa_version(*_ISA_VERSION.unpack_from(content)[2:])


def read_kernel_maps(elf: Elf) -> Iterator[Mapping[object, object]]:
    """The complete map of each kernel, from notes of code object v3 or later. Raises `ReadError`
    for damaged metadata."""
    for note in read_notes(elf, []):
        if (note.owner, note.type) == (b"AMDGPU", 32):
            try:
                yield from _kernel_maps(bytes(note.content))
            except (msgpack.UnpackException, ValueError, TypeError) as error:
                raise ReadError(f"damaged metadata: {error}") from error


def _kernel_maps(whole: bytes) -> Iterator[Mapping[object, object]]:
    unpacker = packed.walk(whole)
    for _ in range(unpacker.read_map_header()):
        if unpacker.unpack() != _KERNELS:
            unpacker.skip()
            continue
        for _ in range(unpacker.read_array_header()):
            kernel = packed.value(packed.skipped(unpacker, whole))
            if isinstance(kernel, Mapping):
                yield kernel


def _read_root(content: memoryview, budget: KernelBudget, wanted: _Wanted) -> _Root | None:
    """The note's map, unpacked kernel by kernel; None if it must be unpacked at once."""
    whole = bytes(content)
    unpacker = packed.walk(whole)
    root: _Root = {}
    try:
        if (keys := unpacker.read_map_header()) > _MOST_KEYS:
            return None
        for _ in range(keys):
            key = unpacker.unpack()
            if key in root:
                return None
            if key == _KERNELS:
                count = unpacker.read_array_header()
                if count > len(whole):
                    return None
                budget.check(count)
                root[key] = [_kernel(packed.skipped(unpacker, whole), wanted) for _ in range(count)]
            else:
                bytes_of = packed.skipped(unpacker, whole)
                root[key] = packed.value(bytes_of) if key in _USED else None
    except (msgpack.UnpackException, ValueError, TypeError):
        return None
    return root if _KERNELS in root and unpacker.tell() == len(whole) else None


def _kernel(raw: bytes, wanted: _Wanted) -> tuple[str, Numbers]:
    """(symbol, numbers) of one kernel's map. Raises `ValueError` if a value cannot be read.

    Arguments take four fifths of the map and are passed over. The rest without its names repeats:
    equal bytes are unpacked once. Without the cut a library's report takes 70 % longer. Each cut
    piece is exactly one value, so that the rest is a map with the same other values.
    """
    try:
        common, arguments, symbol = _cut(raw)
        if wanted and not wanted(symbol):
            return symbol, NOTHING
        is_sized = b"dynamic" in arguments and takes_dynamic_lds(packed.value(arguments))
        return symbol, _numbers(common, is_sized)
    except (msgpack.UnpackException, ValueError, IndexError):
        return _unpacked(raw)


def _cut(raw: bytes) -> tuple[bytes, bytes, str]:
    """(map with arguments and names replaced by empty text, packed arguments, symbol).

    Raises `ValueError` or `IndexError` if the keys are not in LLVM's order, the alphabetical one.
    """
    pieces, arguments, end = [], _EMPTY, 0
    if (key_at := raw.find(_ARGUMENTS)) >= 0:
        begin = key_at + len(_ARGUMENTS)
        end = raw.index(_LDS, begin)
        pieces, arguments = [raw[:begin]], raw[begin:end]
    name_at = raw.index(_NAME, end) + len(_NAME)
    symbol_at = raw.index(_SYMBOL, name_at) + len(_SYMBOL)
    name, name_end = packed.text(raw, name_at)
    symbol, symbol_end = packed.text(raw, symbol_at)
    pieces += raw[end:name_at], raw[name_end:symbol_at], raw[symbol_end:]
    return _EMPTY.join(pieces), arguments, kernel_symbol(symbol, name)


@lru_cache(maxsize=1 << 15)
def _numbers(common: bytes, dynamic_lds: bool) -> Numbers:
    """The numbers of a map whose names and arguments are replaced by empty text."""
    symbol, numbers = _unpacked(common)
    if symbol:
        raise ValueError("a name cut elsewhere")
    return numbers._replace(dynamic_lds=True) if dynamic_lds else numbers


def _unpacked(raw: bytes) -> tuple[str, Numbers]:
    """(symbol, numbers) of a kernel's map. Raises `ValueError` if a value cannot be read."""
    kernel = packed.value(raw, object_pairs_hook=_unique)
    if not isinstance(kernel, dict):
        raise ValueError("no map")
    symbol, numbers, complaints = kernel_numbers(kernel)
    if complaints:
        raise ValueError("a value that cannot be read")
    return symbol, numbers


def _unique(pairs: Sequence[tuple[object, object]]) -> dict[object, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key again")
    return found


def shown(symbol: str) -> str:
    """A kernel's name, quoted and cut for a message of one line."""
    return repr(symbol if len(symbol) <= 200 else f"{symbol[:200]}…")


def shown_kernels(symbols: Sequence[str]) -> str:
    """The first kernel's name and the number of the others, for a message."""
    more = f" and {len(symbols) - 1} more" if len(symbols) > 1 else ""
    return f"kernel {shown(symbols[0])}{more}"
