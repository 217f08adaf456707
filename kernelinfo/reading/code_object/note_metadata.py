"""The kernels' metadata in a code object's notes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache, partial

import msgpack

from kernelinfo.errors import ReadError, TooManyKernelsError
from kernelinfo.light_typing import NamedTuple
from kernelinfo.reading.budget import UNBOUNDED, KernelBudget
from kernelinfo.reading.code_object import packed
from kernelinfo.reading.code_object.notes import Note, read_notes
from kernelinfo.reading.elf import Elf
from kernelinfo.reading.facts import Fact, Facts, ReadWarning
from kernelinfo.reading.metadata import (
    kernel_facts,
    kernel_facts_v2,
    kernel_symbol,
    takes_dynamic_lds,
    unknown_version,
)

_USED = ("amdhsa.target", "amdhsa.version", "amdpal.pipelines")
_ARGUMENTS, _LDS, _NAME, _SYMBOL = (
    bytes((0xA0 | len(key), *key))
    for key in (b".args", b".group_segment_fixed_size", b".name", b".symbol")
)
"""Keys before, between and behind what kernels do not share with those that state the same."""
_EMPTY = b"\xa0"


class NoteKernel(NamedTuple):
    """One kernel of a note."""

    symbol: str
    facts: Facts
    """Counted from the beginning of the note's content."""
    note: int
    """Where that begins, in bytes from the start of the code object."""


class NoteMetadata:
    """What the notes say, gathered from all of them."""

    def __init__(self) -> None:
        self.present = False
        """Whether there are notes at all."""
        self.found = False
        """Whether one of them holds metadata."""
        self.target_id: object = None
        """`amdhsa.target`, as it stands there; None where it does not."""
        self.kernels: dict[str, NoteKernel] = {}
        """By symbol, in the order of the notes."""


def read_metadata(
    elf: Elf, warnings: list[ReadWarning], budget: KernelBudget = UNBOUNDED
) -> NoteMetadata:
    """The metadata of all notes; what is damaged in them is added to `warnings`.

    Owners and types: LLVM's AMDGPUUsage, "Note Records".
    """
    metadata = NoteMetadata()
    for note in read_notes(elf, warnings):
        metadata.present = True
        try:
            match note.owner, note.type:
                case b"AMDGPU", 32:
                    _add(metadata, note, warnings, budget)
                case b"AMD", 10:
                    _add_v2(metadata, note, warnings)
                case b"AMD", 12:
                    _pass_over_pal(metadata, note, warnings)
        except TooManyKernelsError:
            raise
        except ReadError as error:
            warnings.append(ReadWarning(f"damaged metadata: {error}", offset=note.offset))
    return metadata


def read_kernel_maps(elf: Elf) -> Iterator[Mapping[object, object]]:
    """The whole maps of kernels in the notes of version 3 on. Raises `ReadError`."""
    for note in read_notes(elf, []):
        if (note.owner, note.type) == (b"AMDGPU", 32):
            try:
                yield from _kernel_maps(bytes(note.content))
            except (msgpack.UnpackException, ValueError, TypeError) as error:
                raise ReadError(f"damaged metadata: {error}") from error


def _kernel_maps(whole: bytes) -> Iterator[Mapping[object, object]]:
    unpacker = packed.walk(whole)
    for _ in range(unpacker.read_map_header()):
        if unpacker.unpack() != "amdhsa.kernels":
            unpacker.skip()
            continue
        for _ in range(unpacker.read_array_header()):
            kernel = packed.value(packed.skipped(unpacker, whole))
            if isinstance(kernel, Mapping):
                yield kernel


def _add(
    metadata: NoteMetadata, note: Note, warnings: list[ReadWarning], budget: KernelBudget
) -> None:
    root = _read_root(note.content, budget) or _unpack_root(note, warnings)
    if "amdpal.pipelines" in root.others:
        _pass_over_pal(metadata, note, warnings)
        return
    metadata.found = True
    metadata.target_id = root.others.get("amdhsa.target", metadata.target_id)
    if warning := unknown_version(root.others.get("amdhsa.version")):
        warnings.append(ReadWarning(warning, offset=note.offset))
    if root.kernels is None:
        raise ReadError("amdhsa.kernels is missing or no list")
    _add_kernels(metadata, root.kernels, note, warnings)


def _add_kernels(
    metadata: NoteMetadata,
    kernels: Sequence[tuple[str, Facts]],
    note: Note,
    warnings: list[ReadWarning],
) -> None:
    """Add the kernels of one note, each name once."""
    before = len(metadata.kernels)
    for symbol, facts in kernels:
        metadata.kernels[symbol] = NoteKernel(symbol, facts, note.offset)
    if metadata.kernels.pop("", None):
        warnings.append(ReadWarning("metadata of a kernel without a name", offset=note.offset))
    elif len(metadata.kernels) < before + len(kernels):
        names = [*list(metadata.kernels)[:before], *(symbol for symbol, _ in kernels)]
        again = [name for name, count in Counter(names).items() if count > 1]
        message = f"{shown_kernels(again)}: stands again in the metadata; the last counts"
        warnings.append(ReadWarning(message, offset=note.offset))


def _add_v2(metadata: NoteMetadata, note: Note, warnings: list[ReadWarning]) -> None:
    # Only these old objects need YAML.
    from kernelinfo.reading.assembly import metadata_yaml

    text = bytes(note.content).rstrip(b"\0").decode("utf-8", "backslashreplace")
    try:
        parsed = metadata_yaml.parse(text, partial(kernel_facts_v2, offset=0))
    except ValueError as error:
        raise ReadError(str(error)) from error
    metadata.found = True
    for kernel in parsed.kernels:
        warnings.extend(_complain(kernel.symbol, kernel.complaints, note))
    _add_kernels(metadata, [(k.symbol, k.facts) for k in parsed.kernels], note, warnings)


def _pass_over_pal(metadata: NoteMetadata, note: Note, warnings: list[ReadWarning]) -> None:
    metadata.found = True
    warnings.append(ReadWarning("PAL pipelines are not read, only HSA kernels", offset=note.offset))


def _complain(symbol: str, complaints: Sequence[str], note: Note) -> list[ReadWarning]:
    kernel = shown(symbol)
    return [ReadWarning(f"kernel {kernel}: {wrong}", offset=note.offset) for wrong in complaints]


class _Root(NamedTuple):
    """The map that a note holds."""

    others: Mapping[object, object]
    """Keys but `amdhsa.kernels`; without their values where nothing reads them."""
    kernels: list[tuple[str, Facts]] | None
    """Symbol and facts of each; None where there is no list of them."""


def _unpack_root(note: Note, warnings: list[ReadWarning]) -> _Root:
    """The map of a note, unpacked whole. Raises `ReadError`."""
    root = packed.whole(note, warnings)
    if not isinstance(root, Mapping):
        raise ReadError("its root is no map")
    listed = root.get("amdhsa.kernels")
    if not isinstance(listed, list):
        return _Root(root, None)
    maps = [kernel for kernel in listed if isinstance(kernel, Mapping)]
    if len(maps) < len(listed):
        message = f"damaged metadata: {len(listed) - len(maps)} of amdhsa.kernels are no maps"
        warnings.append(ReadWarning(message, offset=note.offset))
    kernels = []
    for kernel in maps:
        symbol, facts, complaints = kernel_facts(kernel, offset=0)
        kernels.append((symbol, Facts(facts)))
        warnings.extend(_complain(symbol, complaints, note))
    return _Root(root, kernels)


def _read_root(content: memoryview, budget: KernelBudget = UNBOUNDED) -> _Root | None:
    """The map of a note, kernel by kernel; None where it must be unpacked whole."""
    whole = bytes(content)
    unpacker = packed.walk(whole)
    others: dict[object, object] = {}
    kernels: list[tuple[str, Facts]] | None = None
    try:
        for _ in range(packed.map_header(unpacker)):
            key = unpacker.unpack()
            if key in others or (key == "amdhsa.kernels" and kernels is not None):
                return None
            if key == "amdhsa.kernels":
                count = unpacker.read_array_header()
                if count > len(whole):
                    return None
                budget.check(count)
                kernels = [_kernel(packed.skipped(unpacker, whole)) for _ in range(count)]
            else:
                bytes_of = packed.skipped(unpacker, whole)
                others[key] = packed.value(bytes_of) if key in _USED else None
    except (msgpack.UnpackException, ValueError, TypeError):
        return None
    if kernels is None or unpacker.tell() != len(whole):
        return None
    return _Root(others, kernels)


def _kernel(raw: bytes) -> tuple[str, Facts]:
    """Symbol and facts of one kernel's map; raises `ValueError` where a value cannot be read.

    Four fifths of it are arguments, of which there are few different ones. The rest, without names,
    repeats as well: each different one is unpacked once. Whatever stands between, cut pieces that
    are each one value, from what is then one map, are what stood in the map.
    """
    try:
        common, arguments, symbol = _cut(raw)
        return symbol, _facts(common, _takes_dynamic_lds(arguments))
    except (msgpack.UnpackException, ValueError, IndexError):
        symbol, facts = _unpacked(raw)
        return symbol, Facts(facts)


def _cut(raw: bytes) -> tuple[bytes, bytes, str]:
    """A kernel's map with empty text for what is its own, its arguments, and its symbol.

    Raises `ValueError` or `IndexError` where the keys are not in LLVM's order, by the alphabet.
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


@lru_cache(maxsize=1 << 12)
def _facts(common: bytes, dynamic_lds: bool) -> Facts:
    """The facts of a map with empty text for what is each kernel's own."""
    symbol, facts = _unpacked(common)
    if symbol:
        raise ValueError("a name cut elsewhere")
    if dynamic_lds:
        facts.append(Fact("dynamic_lds", True, "metadata", None, 0))
    return _shared(tuple(facts))


def _unpacked(raw: bytes) -> tuple[str, list[Fact]]:
    """Symbol and facts of a kernel's map; raises `ValueError` where a value cannot be read."""
    pairs = packed.value(raw, object_pairs_hook=tuple)
    if not isinstance(pairs, tuple):
        raise ValueError("no map")
    kernel = dict(pairs)
    symbol, facts, complaints = kernel_facts(kernel, offset=0)
    if complaints or len(kernel) < len(pairs):
        raise ValueError("a value that cannot be read, or a key again")
    return symbol, facts


# Maps also differ in what no fact says: the size of arguments.
_shared = lru_cache(maxsize=1 << 12)(Facts)


@lru_cache(maxsize=1 << 10)
def _takes_dynamic_lds(arguments: bytes) -> bool:
    return takes_dynamic_lds(packed.value(arguments))


def shown(symbol: str) -> str:
    """A kernel's name as the one line of a message bears it."""
    return repr(symbol if len(symbol) <= 200 else f"{symbol[:200]}…")


def shown_kernels(symbols: Sequence[str]) -> str:
    """The first of them, and how many more there are."""
    more = f" and {len(symbols) - 1} more" if len(symbols) > 1 else ""
    return f"kernel {shown(symbols[0])}{more}"
