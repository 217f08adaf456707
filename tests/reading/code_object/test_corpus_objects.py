"""Code objects of all compilers, against an independent count and against LLVM's own reader."""

from __future__ import annotations

import csv
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest
import yaml

from kernelinfo.errors import ReadError
from kernelinfo.reading.blob import Blob, Problem
from kernelinfo.reading.code_object import read
from kernelinfo.reading.containers import open_paths
from kernelinfo.reading.data import Data
from kernelinfo.reading.metadata import KEYS

from ...conftest import needs_corpus

SHARED = Path(__file__).parents[4] / "shared"
CORPUS, HOSTILE = SHARED / "corpus", SHARED / "hostile"
READELF = shutil.which("llvm-readelf-22")

pytestmark = needs_corpus

# Kernels that the index does not count: known by descriptors alone, or compiled for Mesa.
UNCOUNTED = {"debug/shape-note": 6, "textforms/handwritten-symbols": 2, "nonhsa/mesa": 1}


def rows(index: Path) -> list[dict[str, str]]:
    lines = index.read_text("utf-8").splitlines() if index.exists() else []
    return list(csv.DictReader(lines))


OBJECTS = [row for row in rows(CORPUS / "INDEX.csv") if row["kind"].startswith("code object")]
DANGERS = [
    row["file"]
    for row in rows(HOSTILE / "INDEX.csv")
    if row["file"].startswith(("elf/", "msgpack/", "bundle/"))
]


@pytest.mark.parametrize("row", OBJECTS, ids=lambda row: row["file"])
def test_kernels_of_each_target(row: dict[str, str]) -> None:
    found = read(Data.of((CORPUS / row["file"]).read_bytes()))
    expected = Counter[str | None]()
    for pair in row["targets=kernels"].split():
        target, count = pair.rsplit("=", 1)
        uncounted = [n for start, n in UNCOUNTED.items() if row["file"].startswith(start)]
        expected[target] = sum(uncounted) or int(count)
    assert Counter({found.target: len(found.kernels)}) == expected


@pytest.mark.needs("llvm-22")
@pytest.mark.parametrize("row", OBJECTS, ids=lambda row: row["file"])
def test_numbers_are_those_of_readelf(row: dict[str, str]) -> None:
    path = CORPUS / row["file"]
    command = [str(READELF), "--notes", str(path)]
    notes = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    if "amdhsa.kernels:" not in notes:
        pytest.skip("has no metadata in msgpack")
    document = notes[notes.index("---\n") : notes.index("\n...")]
    theirs = yaml.load(document, yaml.CSafeLoader)["amdhsa.kernels"]
    ours = read(Data.of(path.read_bytes())).kernels
    assert [kernel.symbol for kernel in ours] == [k[".symbol"].removesuffix(".kd") for k in theirs]
    for kernel, their in zip(ours, theirs, strict=True):
        [numbers] = [numbers for by, numbers in kernel.stated if by == "metadata"]
        stated = {name: value for name, value in numbers._asdict().items() if value is not None}
        assert {key: stated[name] for key, (name, _) in KEYS.items() if name in stated} == {
            key: tuple(value) if isinstance(value, list) else value
            for key, value in their.items()
            if key in KEYS
        }


@pytest.mark.parametrize("name", DANGERS)
def test_hostile_bytes_end_with_words(name: str) -> None:
    words = []
    for item in open_paths([str(HOSTILE / name)]):
        if isinstance(item, Problem):
            words.append(item.message)
        elif isinstance(item, Blob) and bytes(item.data.read(0, 4)) == b"\x7fELF":
            try:
                words += [warning.message for warning in read(item.data).warnings]
            except ReadError as error:
                words.append(str(error))
    assert not any("\n" in message or not message for message in words)
