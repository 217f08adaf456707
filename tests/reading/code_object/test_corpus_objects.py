"""Code objects of all compilers, against an independent count and against LLVM's own reader."""

from __future__ import annotations

import csv
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest
import yaml

from kernelinfo import Kernel, Options, Result, analyse
from tests.conftest import CORPUS, HOSTILE, needs_corpus
from tests.test_golden import run

KEYS = {
    ".vgpr_count": "vgprs",
    ".agpr_count": "agprs",
    ".sgpr_count": "sgprs",
    ".group_segment_fixed_size": "lds_bytes",
    ".private_segment_fixed_size": "scratch_bytes_per_lane",
    ".vgpr_spill_count": "vgpr_spills",
    ".sgpr_spill_count": "sgpr_spills",
    ".max_flat_workgroup_size": "max_workgroup_size",
    ".reqd_workgroup_size": "required_workgroup",
    ".wavefront_size": "wave_size",
    ".uses_dynamic_stack": "dynamic_stack",
}
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


def kernels(path: Path) -> list[Kernel]:
    return [i.kernel for i in analyse([str(path)], Options()) if isinstance(i, Result)]


def test_kernels_of_each_target() -> None:
    for row in OBJECTS:
        expected = Counter[str | None]()
        for pair in row["targets=kernels"].split():
            target, count = pair.rsplit("=", 1)
            uncounted = [n for start, n in UNCOUNTED.items() if row["file"].startswith(start)]
            expected[target] = sum(uncounted) or int(count)
        found = kernels(CORPUS / row["file"])
        assert Counter(kernel.code_object.target for kernel in found) == expected, row["file"]


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
    ours = kernels(path)
    assert [kernel.symbol for kernel in ours] == [k[".symbol"].removesuffix(".kd") for k in theirs]
    for kernel, their in zip(ours, theirs, strict=True):
        stated = {f.name: f.value for f in kernel.traits.facts if f.source == "metadata"}
        assert {key: stated[name] for key, name in KEYS.items() if name in stated} == {
            key: tuple(value) if isinstance(value, list) else value
            for key, value in their.items()
            if key in KEYS
        }


def test_hostile_bytes_end_with_words() -> None:
    for name in DANGERS:
        _, err, code = run(str(HOSTILE / name))
        assert (code == 2) is bool(err), name
        assert all(line for line in err.splitlines()), name
