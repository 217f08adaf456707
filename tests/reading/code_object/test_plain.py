"""Notes are read as msgpack unpacks them; short readers of text agree with the whole ones."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

import msgpack
import pytest

from kernelinfo.errors import ReadError
from tests.conftest import every_file, fixtures_and_shared, with_code
from tests.fuzz.specimens import Specimen
from tests.fuzz.specimens import code_object as specimen

from ..inside import (
    NOT_LINKED,
    NOTHING,
    Blob,
    Data,
    assembly,
    code_object,
    kernel_numbers,
    kernel_text,
    metadata_yaml,
    open_paths,
    read_elf,
    read_notes,
)


@fixtures_and_shared
def test_numbers_of_notes_are_what_msgpack_unpacks(roots: Sequence[str]) -> None:
    compared = 0
    for blob in (item for item in open_paths(every_file(roots)) if isinstance(item, Blob)):
        if blob.kind != "code-object":
            continue
        with suppress(ReadError):
            read = code_object.read(blob.data)
            if NOT_LINKED in read.notes or read.warnings:
                continue  # the metadata's numbers do not include callees, or are damaged
            notes = {k.symbol: dict(k.stated).get("metadata", NOTHING) for k in read.kernels}
            for note in read_notes(read_elf(blob.data, []), []):
                if (note.owner, note.type) == (b"AMDGPU", 32):
                    unpacker = msgpack.Unpacker(strict_map_key=False)
                    unpacker.feed(note.content)
                    for kernel in unpacker.unpack().get("amdhsa.kernels", ()):
                        symbol, numbers, _ = kernel_numbers(kernel)
                        assert notes.get(symbol, numbers) == numbers, blob.path
                        compared += 1
    assert compared > 100


@pytest.mark.parametrize("order", [1, -1])
def test_arguments_are_read_whatever_the_order_of_keys(order: int) -> None:
    arguments = [{".size": 4, ".value_kind": "dynamic_shared_pointer"}]
    keys = {".args": arguments, ".group_segment_fixed_size": 0, ".name": "k", ".symbol": "k.kd"}
    content = msgpack.packb({"amdhsa.kernels": [dict([*keys.items()][::order])]})
    (kernel,) = code_object.read(
        Data.of(specimen([Specimen("k", 8, 0, 8, 0, 0, 64)], content))
    ).kernels
    assert [numbers.dynamic_lds for _, numbers in kernel.stated] == [None, True]


def test_blocks_of_text(texts: list[bytes], monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(text: str, most: int | None) -> metadata_yaml.Metadata:
        raise ValueError

    short = [with_code(assembly.read(text)) for text in texts]
    assert sum(len(kernels) for modules in short for _, kernels, _ in modules) > 100
    # No block is plain, and no metadata the compiler's.
    monkeypatch.setattr(kernel_text, "_plain_numbers", lambda *block: None)
    monkeypatch.setattr(metadata_yaml, "_compilers", refuse)
    metadata_yaml._read_common.cache_clear()
    try:
        for text, modules in zip(texts, short, strict=True):
            assert with_code(assembly.read(text)) == modules
    finally:
        metadata_yaml._read_common.cache_clear()
