"""The kernels' metadata in a code object's notes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial

import msgpack

from kernelinfo.errors import ReadError
from kernelinfo.light_typing import NamedTuple
from kernelinfo.reading.code_object import plain_note
from kernelinfo.reading.code_object.elf import Elf
from kernelinfo.reading.code_object.notes import Note, read_notes
from kernelinfo.reading.facts import Facts, Remark
from kernelinfo.reading.metadata import kernel_facts, kernel_facts_v2


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
        self.kernels: list[NoteKernel] = []
        """In the order of the notes."""


def read_metadata(elf: Elf, remarks: list[Remark]) -> NoteMetadata:
    """The metadata of all notes; what is damaged in them is added to `remarks`.

    Owners and types: LLVM's AMDGPUUsage, "Note Records".
    """
    metadata = NoteMetadata()
    for note in read_notes(elf, remarks):
        metadata.present = True
        try:
            match note.owner, note.type:
                case b"AMDGPU", 32:
                    _add(metadata, note, remarks)
                case b"AMD", 10:
                    _add_v2(metadata, note, remarks)
                case b"AMD", 12:
                    _pass_over_pal(metadata, note, remarks)
        except ReadError as error:
            remarks.append(Remark(f"damaged metadata: {error}", offset=note.offset))
    return metadata


def _add(metadata: NoteMetadata, note: Note, remarks: list[Remark]) -> None:
    plain = plain_note.read_root(note.content)
    if plain is not None and "amdpal.pipelines" not in plain.others:
        metadata.found = True
        metadata.target_id = plain.others.get("amdhsa.target", metadata.target_id)
        metadata.kernels += [NoteKernel(*kernel, note.offset) for kernel in plain.kernels]
        return
    root = _unpack(note, remarks)
    if not isinstance(root, Mapping):
        raise ReadError("its root is no map")
    if "amdpal.pipelines" in root:
        _pass_over_pal(metadata, note, remarks)
        return
    metadata.found = True
    metadata.target_id = root.get("amdhsa.target", metadata.target_id)
    kernels = root.get("amdhsa.kernels")
    if not isinstance(kernels, list):
        raise ReadError("amdhsa.kernels is missing or no list")
    maps = [kernel for kernel in kernels if isinstance(kernel, Mapping)]
    if len(maps) < len(kernels):
        message = f"damaged metadata: {len(kernels) - len(maps)} of amdhsa.kernels are no maps"
        remarks.append(Remark(message, offset=note.offset))
    for kernel in maps:
        symbol, facts, complaints = kernel_facts(kernel, offset=0)
        metadata.kernels.append(NoteKernel(symbol, Facts(facts), note.offset))
        remarks.extend(_complain(symbol, complaints, note))


def _add_v2(metadata: NoteMetadata, note: Note, remarks: list[Remark]) -> None:
    # Only these old objects need YAML.
    from kernelinfo.reading.assembly import metadata_yaml

    text = bytes(note.content).rstrip(b"\0").decode("utf-8", "backslashreplace")
    try:
        parsed = metadata_yaml.parse(text, partial(kernel_facts_v2, offset=0))
    except ValueError as error:
        raise ReadError(str(error)) from error
    metadata.found = True
    for kernel in parsed.kernels:
        metadata.kernels.append(NoteKernel(kernel.symbol, kernel.facts, note.offset))
        remarks.extend(_complain(kernel.symbol, kernel.complaints, note))


def _pass_over_pal(metadata: NoteMetadata, note: Note, remarks: list[Remark]) -> None:
    metadata.found = True
    remarks.append(Remark("PAL pipelines are not read, only HSA kernels", offset=note.offset))


def _complain(symbol: str, complaints: Sequence[str], note: Note) -> list[Remark]:
    kernel = shown(symbol)
    return [Remark(f"kernel {kernel}: {wrong}", offset=note.offset) for wrong in complaints]


def _unpack(note: Note, remarks: list[Remark]) -> object:
    """The msgpack value; raises `ReadError` where it is cut off, or no msgpack."""
    repeated: list[object] = []

    def unique(pairs: list[tuple[object, object]]) -> dict[object, object]:
        found = dict(pairs)
        if len(found) < len(pairs):
            repeated.extend(key for key, count in Counter(k for k, _ in pairs).items() if count > 1)
        return found

    how = {"strict_map_key": False, "unicode_errors": "backslashreplace"}
    try:
        return msgpack.unpackb(note.content, object_pairs_hook=unique, **how)
    except msgpack.ExtraData as error:
        if any(error.extra):
            remarks.append(Remark("bytes after the metadata, not read", offset=note.offset))
        return error.unpacked
    # TypeError: a list or a map for a key.
    except (msgpack.UnpackException, ValueError, TypeError) as error:
        raise ReadError(str(error) or type(error).__name__) from error
    finally:
        if repeated:
            twice = f"{shown(str(repeated[0]))} stands more than once in one map; the last counts"
            remarks.append(Remark(f"damaged metadata: {twice}", offset=note.offset))


def shown(symbol: str) -> str:
    """A kernel's name as the one line of a message bears it."""
    return repr(symbol if len(symbol) <= 200 else f"{symbol[:200]}…")
