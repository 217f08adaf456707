"""Short readers agree with the reference readers on every file."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import msgpack
import pytest

from kernelinfo.errors import ReadError
from kernelinfo.reading import assembly, code_object
from kernelinfo.reading.assembly import directives, info_block, metadata_yaml
from kernelinfo.reading.blob import Blob
from kernelinfo.reading.budget import UNBOUNDED
from kernelinfo.reading.code_object import note_metadata
from kernelinfo.reading.code_object.notes import read_notes
from kernelinfo.reading.containers import open_paths
from kernelinfo.reading.data import Data
from kernelinfo.reading.elf import read_elf
from tests.conftest import every_file, with_code
from tests.fuzz.specimens import Specimen
from tests.fuzz.specimens import code_object as specimen

_ELF = b"\x7fELF"


@pytest.fixture(scope="module")
def code_objects() -> list[Data]:
    found = (item for item in open_paths(every_file()) if isinstance(item, Blob))
    return [blob.data for blob in found if bytes(blob.data.read(0, 4)) == _ELF]


def test_code_objects(code_objects: list[Data], monkeypatch: pytest.MonkeyPatch) -> None:
    def read(data: Data) -> object:
        try:
            return code_object.read(data)
        except ReadError as error:
            return str(error)

    skipping = [read(data) for data in code_objects]
    monkeypatch.setattr(note_metadata, "_read_root", lambda *_: None)
    assert len(skipping) > 40
    for data, answer in zip(code_objects, skipping, strict=True):
        assert read(data) == answer


def test_most_notes_need_no_unpacking_of_arguments(code_objects: list[Data]) -> None:
    notes = []
    for data in code_objects:
        with suppress(ReadError):
            elf = read_elf(data, [])
            notes += [note for note in read_notes(elf, []) if note.type == 32]
    skipping = [note_metadata._read_root(note.content, UNBOUNDED, None) for note in notes]
    assert sum(root is not None for root in skipping) > 0.8 * len(notes) > 30


@pytest.mark.parametrize("order", [1, -1])
def test_arguments_are_read_whatever_the_order_of_keys(order: int) -> None:
    arguments = [{".size": 4, ".value_kind": "dynamic_shared_pointer"}]
    keys = {".args": arguments, ".group_segment_fixed_size": 0, ".name": "k", ".symbol": "k.kd"}
    content = msgpack.packb({"amdhsa.kernels": [dict([*keys.items()][::order])]})
    (kernel,) = code_object.read(
        Data.of(specimen([Specimen("k", 8, 0, 8, 0, 0, 64)], content))
    ).kernels
    assert [numbers.dynamic_lds for _, numbers in kernel.stated] == [None, True]


@pytest.fixture(scope="module")
def texts() -> list[bytes]:
    return [Path(path).read_bytes() for path in every_file() if path.endswith((".s", ".amdgcn"))]


def test_blocks_of_text(texts: list[bytes], monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(text: str, most: int | None) -> metadata_yaml.Metadata:
        raise ValueError

    def forget() -> None:
        for known in (directives._block, info_block._read, metadata_yaml._read_common):
            known.cache_clear()

    short = [with_code(assembly.read(text)) for text in texts]
    assert sum(len(kernels) for modules in short for _, kernels, _ in modules) > 100
    # No block is plain, and no metadata the compiler's.
    monkeypatch.setattr(directives, "number", lambda expression: None)
    monkeypatch.setattr(metadata_yaml, "_compilers", refuse)
    forget()
    try:
        for text, modules in zip(texts, short, strict=True):
            assert with_code(assembly.read(text)) == modules
    finally:
        forget()
