"""Reads the metadata of kernels in a code object's notes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from struct import Struct
from typing import Any, NamedTuple

import msgpack

from kernelinfo.errors import Message, ReadError
from kernelinfo.reading.blob import FileBudget
from kernelinfo.reading.elf import PT_NOTE, SHT_NOTE, STRUCTS, Elf, lay_out
from kernelinfo.reading.facts import NOTHING, Numbers, ReadWarning
from kernelinfo.reading.messages import say
from kernelinfo.reading.metadata import (
    kernel_numbers,
    kernel_symbol,
    takes_dynamic_lds,
    unknown_version,
)
from kernelinfo.reading.target_id import TargetId, isa_version

# Reads ELF notes.

_MOST = 4096
"""The most notes of one code object; real ones have two or three."""

_HEADER = lay_out(STRUCTS.Elf_Nhdr, "n_namesz", "n_descsz", "n_type")
"""n_namesz, n_descsz and n_type (gABI, "Note Section")."""


class ElfNote(NamedTuple):
    """One ELF note; its owner defines the numbers of types."""

    owner: bytes
    type: int
    content: memoryview
    offset: int
    """Start of the content, in bytes from the start of the file."""


def read_notes(elf: Elf, warnings: list[ReadWarning]) -> Iterator[ElfNote]:
    """All notes, each once, even if several segments and sections contain it.

    Adds a warning for a region outside the file and for a note that is cut off.
    """
    regions = [(s.offset, s.size) for s in elf.segments if s.type == PT_NOTE]
    regions += [(s.offset, s.size) for s in elf.sections if s.type == SHT_NOTE]
    seen: set[int] = set()
    count = 0
    for start, size in dict.fromkeys(regions):
        region = elf.bytes_at(start, size)
        if region is None:
            warnings.append(ReadWarning(say("notes-outside"), offset=start))
            continue
        position, end = start, start + size
        # A note seen before ends the region: the notes after it were seen, too.
        while position + 12 <= end and position not in seen:
            seen.add(position)
            name_size, content_size, kind = _HEADER.unpack_from(region, position - start)
            # AMDGPU pads to 4 bytes, even if the segment states another alignment.
            offset = position + 12 + _padded(name_size)
            if offset + content_size > end:
                warnings.append(ReadWarning(say("note-damaged"), offset=position))
                break
            owner = bytes(region[position - start + 12 :][:name_size]).rstrip(b"\0")
            # Zeros left by removed notes read as empty notes and do not count.
            count += bool(owner or content_size)
            if count > _MOST:
                warnings.append(ReadWarning(say("notes-too-many", most=_MOST), offset=position))
                return
            if content_size and not owner:
                warnings.append(ReadWarning(say("note-without-name"), offset=position))
            elif owner:
                yield ElfNote(owner, kind, region[offset - start :][:content_size], offset)
            position = offset + _padded(content_size)


def _padded(size: int) -> int:
    return (size + 3) & ~3


# Unpacks MessagePack within bounds: one byte may become an object of a hundred bytes.

_HOW = {"strict_map_key": False, "unicode_errors": "backslashreplace"}
_MOST_BYTES = 4 << 20
"""The most bytes of one value to unpack."""
MAPS = {bytes((first,)) for first in (*range(0x80, 0x90), 0xDE, 0xDF)}
LISTS = {bytes((first,)) for first in (*range(0x90, 0xA0), 0xDC, 0xDD)}
"""First bytes of maps and lists (MessagePack specification, "Formats")."""


def walk(whole: bytes) -> msgpack.Unpacker:
    """An unpacker at the beginning of `whole`. Its `unpack` refuses non-empty lists and maps, which
    keys never are."""
    unpacker = msgpack.Unpacker(max_buffer_size=len(whole), max_array_len=0, max_map_len=0, **_HOW)
    unpacker.feed(whole)
    return unpacker


def skip_value(unpacker: msgpack.Unpacker, whole: bytes) -> bytes:
    """The packed bytes of the next value; the unpacker moves past it."""
    begin = unpacker.tell()
    unpacker.skip()
    return whole[begin : unpacker.tell()]


def text_at(whole: bytes, offset: int) -> tuple[bytes, int]:
    """(bytes, end offset) of the text that begins at `offset`.

    Raises `ValueError` if no text begins there, or if it has 64 KiB or more, and `IndexError` if
    the bytes end before its length."""
    kind = whole[offset]
    if 0xA0 <= kind < 0xC0:
        begin, size = offset + 1, kind & 31
    elif kind == 0xD9:
        begin, size = offset + 2, whole[offset + 1]
    elif kind == 0xDA:
        begin, size = offset + 3, whole[offset + 1] << 8 | whole[offset + 2]
    else:
        raise ValueError(say("msgpack-text"))
    return whole[begin : begin + size], begin + size


def unpack_value(packed: bytes | memoryview, **how: object) -> object:
    """The unpacked value. Raises `ValueError` if it is too large, and msgpack's own errors."""
    if len(packed) > _MOST_BYTES:
        raise ValueError(say("msgpack-value-large", size=len(packed), most=_MOST_BYTES))
    value: object = msgpack.unpackb(packed, **how, **_HOW)
    return value


_ISA_VERSION = Struct("<HHIII")
_KERNELS = "amdhsa.kernels"
_USED = ("amdhsa.target", "amdhsa.version", "amdpal.pipelines")
_ARGUMENTS, _LDS, _NAME, _SYMBOL = (
    bytes((0xA0 | len(key), *key))
    for key in (b".args", b".group_segment_fixed_size", b".name", b".symbol")
)
"""Keys that delimit the per-kernel values cut out before decoding."""
_EMPTY = b"\xa0"
_MOST_KEYS = 1000
"""The most keys of a note's map; compilers write some twenty."""

_Choice = Callable[[str], bool] | None
"""True for symbols of kernels to decode; None decodes all."""
_Complaints = tuple[Message, ...]
"""Sentences on the malformed values of a kernel."""
_Decoded = tuple[str, Numbers, _Complaints]
"""Symbol, numbers and complaints of a kernel."""


class NoteMetadata:
    """The metadata in the notes of a code object.

    Damage is added to `warnings`. Raises `BoundError`."""

    def __init__(
        self, elf: Elf, warnings: list[ReadWarning], budget: FileBudget, is_chosen: _Choice = None
    ) -> None:
        self._warnings = warnings
        self._budget = budget
        self._is_chosen = is_chosen
        self.present = False
        """True if there are notes."""
        self.found = False
        """True if a note holds metadata."""
        self.target_id: object = None
        """Raw value of `amdhsa.target`; None without one."""
        self.isa: TargetId | None = None
        """The processor from the ISA version note of code object v2."""
        self.kernels: dict[str, tuple[Numbers, int]] = {}
        """Symbol → (numbers, offset of the note's content), in the order of the notes. An unwanted
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
        except ReadError as error:
            self._warn(say("metadata-damaged", error=error), note)

    def _take_map(self, note: ElfNote) -> None:
        try:
            root = self._root(note)
        except msgpack.OutOfData as error:
            raise ReadError(say("metadata-cut-off")) from error
        # TypeError: a key is a list or a map.
        except (msgpack.UnpackException, ValueError, TypeError) as error:
            raise ReadError(say("metadata-key", error=error)) from error
        if "amdpal.pipelines" in root:
            self._pass_over_pal(note)
            return
        self.found = True
        self.target_id = root.get("amdhsa.target", self.target_id)
        if warning := unknown_version(root.get("amdhsa.version")):
            self._warn(warning, note)
        kernels = root.get(_KERNELS)
        if kernels is None:
            raise ReadError(say("metadata-no-list"))
        maps = [kernel for kernel in kernels if kernel]
        if len(maps) < len(kernels):
            self._warn(say("metadata-kernels-odd", count=len(kernels) - len(maps)), note)
        self._add(maps, note)

    def _root(self, note: ElfNote) -> dict[object, Any]:
        """The note's map. Keys outside `_USED` have the value None.

        `amdhsa.kernels` is a list of what `_kernel` returns, with None for each element that is not
        a map. If the note holds no list there, the value is None. Raises `ReadError`, and the
        errors of `unpack_value`.
        """
        whole = bytes(note.content)
        unpacker = walk(whole)
        if whole and whole[:1] not in MAPS:
            raise ReadError(say("metadata-no-map"))
        if (keys := unpacker.read_map_header()) > _MOST_KEYS:
            raise ReadError(say("metadata-keys", keys=keys))
        root: dict[object, Any] = {}
        for _ in range(keys):
            key = unpacker.unpack()
            if key in root:
                self._warn(say("metadata-key-twice", key=str(key)[:200]), note)
            root[key] = None
            offset = unpacker.tell()
            if key == _KERNELS and whole[offset : offset + 1] in LISTS:
                if (count := unpacker.read_array_header()) > len(whole):
                    raise ReadError(say("metadata-cut-off"))
                self._budget.check_kernels(count)
                raw = (skip_value(unpacker, whole) for _ in range(count))
                is_sized = b"dynamic" in whole
                root[key] = [_kernel(kernel, self._is_chosen, is_sized) for kernel in raw]
            elif key in _USED:
                root[key] = unpack_value(skip_value(unpacker, whole))
            else:
                unpacker.skip()
        if any(whole[unpacker.tell() :]):
            self._warn(say("metadata-followed"), note)
        return root

    def _take_v2(self, note: ElfNote) -> None:
        # Imported here: only code object v2 needs YAML.
        from kernelinfo.reading.assembly import metadata_yaml

        text = bytes(note.content).rstrip(b"\0").decode("utf-8", "backslashreplace")
        try:
            kernels, _, _ = metadata_yaml.parse(text, is_v2=True)
        except ValueError as error:
            raise ReadError(say("metadata-of-v2", error=error)) from error
        self.found = True
        self._add([kernel[:3] for kernel in kernels], note)

    def _pass_over_pal(self, note: ElfNote) -> None:
        self.found = True
        self._warn(say("metadata-of-pal"), note)

    def _add(
        self, kernels: Iterable[tuple[str, Numbers, Sequence[Message]]], note: ElfNote
    ) -> None:
        """Add the kernels of one note. A repeated name is a warning, and its last entry is used."""
        again, complained = [], dict[Message, list[str]]()
        by_symbol, place = self.kernels, note.offset
        for symbol, numbers, complaints in kernels:
            for complaint in complaints:
                complained.setdefault(complaint, []).append(symbol)
            if symbol in by_symbol:
                again.append(symbol)
            by_symbol[symbol] = numbers, place
        for complaint, named in complained.items():
            self._warn(say("of-kernels", kernels=shown_kernels(named), reason=complaint), note)
        if self.kernels.pop("", None):
            self._warn(say("metadata-without-name"), note)
        elif again:
            names = shown_kernels([*dict.fromkeys(again)])
            self._warn(say("of-kernels", kernels=names, reason=say("metadata-repeated")), note)

    def _warn(self, message: Message, note: ElfNote) -> None:
        self._warnings.append(ReadWarning(message, offset=note.offset))


def _isa(content: memoryview) -> TargetId | None:
    """The processor of an ISA version note; None if the note is truncated or names none."""
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
                raise ReadError(say("metadata-damaged", error=error)) from error


def _kernel_maps(whole: bytes) -> Iterator[Mapping[object, object]]:
    unpacker = walk(whole)
    for _ in range(unpacker.read_map_header()):
        if unpacker.unpack() != _KERNELS:
            unpacker.skip()
            continue
        for _ in range(unpacker.read_array_header()):
            kernel = unpack_value(skip_value(unpacker, whole))
            if isinstance(kernel, Mapping):
                yield kernel


def _kernel(raw: bytes, is_chosen: _Choice, is_sized: bool) -> _Decoded | None:
    """(symbol, numbers, complaints) of a packed kernel, or None if it is not a map.

    `is_sized` is True if the LDS of one of the note's kernels may be sized at launch.

    Arguments take four fifths of a kernel's map. The rest, without its names, repeats, so equal
    bytes are decoded only once; otherwise a library's report would take 70 % longer.
    """
    if raw[:1] not in MAPS:
        return None
    try:
        pieces, arguments, symbol = _cut(raw)
        if is_chosen and not is_chosen(symbol):
            return symbol, NOTHING, ()
        sized = is_sized and b"dynamic" in arguments and takes_dynamic_lds(unpack_value(arguments))
        return symbol, *_numbers(pieces, sized)
    except (msgpack.UnpackException, ValueError, IndexError):
        return _decoded(raw)  # hand-written: keys in another order than LLVM's


def _cut(raw: bytes) -> tuple[tuple[bytes, ...], bytes, str]:
    """The bytes of a kernel's map, cut at its arguments, name and symbol: (remaining pieces, packed
    arguments, symbol).

    Raises `ValueError` or `IndexError` if the keys are not sorted, as LLVM sorts them.
    """
    begin = end = 0
    if (key_at := raw.find(_ARGUMENTS)) >= 0:
        begin = key_at + len(_ARGUMENTS)
        end = raw.index(_LDS, begin)
    name_at = raw.index(_NAME, end) + len(_NAME)
    symbol_at = raw.index(_SYMBOL, name_at) + len(_SYMBOL)
    name, name_end = text_at(raw, name_at)
    symbol, symbol_end = text_at(raw, symbol_at)
    pieces = raw[:begin], raw[end:name_at], raw[name_end:symbol_at], raw[symbol_end:]
    return pieces, raw[begin:end], kernel_symbol(symbol, name)


@lru_cache(maxsize=1 << 15)
def _numbers(pieces: tuple[bytes, ...], dynamic_lds: bool) -> tuple[Numbers, _Complaints]:
    """(numbers, complaints) of a map that was cut into these pieces. Raises what `_decoded` raises.
    Raises `ValueError` if a piece has a name: then the map was not cut at its names."""
    pieces = pieces if pieces[0] else pieces[1:]
    complaints: _Complaints = ()
    if (numbers := _joined(pieces)) is None:
        symbol, numbers, complaints = _decoded(_EMPTY.join(pieces))
        if symbol:
            raise ValueError(say("metadata-name"))
    return numbers._replace(dynamic_lds=True) if dynamic_lds else numbers, complaints


def _joined(pieces: tuple[bytes, ...]) -> Numbers | None:
    """The numbers of a map, collected from its pieces, which many maps share. None if a key is
    repeated or a value is malformed."""
    keys: list[object] = []
    numbers: dict[str, Any] = {}
    announced = 0
    last = len(pieces) - 1
    for position, piece in enumerate(pieces):
        whole = piece if position == last else piece + _EMPTY
        if (part := _part(whole, position == 0)) is None:
            return None
        announced += part[0]
        keys += part[1]
        numbers |= part[2]
    return Numbers(**numbers) if announced == len(keys) == len({*keys}) else None


@lru_cache(maxsize=1 << 12)  # the 32,000 statements of a library have 1,500 pieces
def _part(piece: bytes, is_first: bool) -> tuple[int, list[object], dict[str, Any]] | None:
    """(number of keys that the map announces in its first piece, keys, numbers) of a piece, or None
    if it is malformed in any way."""
    unpacker = msgpack.Unpacker(max_buffer_size=_MOST_BYTES, **_HOW)
    try:
        unpacker.feed(piece)
        announced = unpacker.read_map_header() if is_first else 0
        keys_and_values = [*unpacker]
        keys = keys_and_values[::2]
        pairs = dict(zip(keys, keys_and_values[1::2], strict=True))
        symbol, numbers, complaints = kernel_numbers(pairs)
    except (msgpack.UnpackException, ValueError, TypeError):
        return None
    if symbol or complaints or unpacker.tell() < len(piece):
        return None
    fields = zip(numbers._fields, numbers, strict=True)
    return announced, keys, {name: value for name, value in fields if value is not None}


def _decoded(raw: bytes) -> _Decoded:
    """(symbol, numbers, complaints) of a packed map. Raises the errors of `unpack_value`."""
    again: list[object] = []

    def unique(pairs: list[tuple[object, object]]) -> dict[object, object]:
        mapping = dict(pairs)
        if len(mapping) < len(pairs):
            again.extend(key for key, count in Counter(k for k, _ in pairs).items() if count > 1)
        return mapping

    kernel: Any = unpack_value(raw, object_pairs_hook=unique)
    symbol, numbers, complaints = kernel_numbers(kernel)
    if again:
        complaints.append(say("metadata-key-repeated", key=str(again[0])[:200]))
    return symbol, numbers, tuple(complaints)


def shown_kernels(symbols: Sequence[str]) -> str:
    """For a message: the first kernel's name, quoted and truncated, and the number of the
    others."""
    first = symbols[0] if len(symbols[0]) <= 200 else f"{symbols[0][:200]}…"
    if len(symbols) > 1:
        return say("kernels-named", first=first, count=len(symbols) - 1)
    return say("kernel-named", name=first)
