"""SPIR-V beside code for the hardware, and alone: in every command that reads code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import kernelinfo

from ..containers import GFX90A, OBJECT, bundle
from ..fleet.scans import kernelinfo as kernelinfo_process
from ..fleet.scans import rows
from ..test_golden import run

SPIRV = "hip-spirv64-amd-amdhsa--amdgcnspirv", b"\x03\x02\x23\x07code"
LATER = "compiled when loaded, no registers to report"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "mix.hipfb").write_bytes(bundle(SPIRV, (GFX90A, OBJECT)) * 2)
    (tmp_path / "alone.hipfb").write_bytes(bundle(SPIRV))
    (tmp_path / "k.spv").write_bytes(SPIRV[1])
    return tmp_path


COMMANDS = ("report", "check", "extract -o codes", "explain", "report --format jsonl --jobs 2")


@pytest.mark.parametrize("command", COMMANDS)
def test_beside_code_for_the_hardware_it_is_a_note(command: str, folder: Path) -> None:
    name, *options = command.split()
    out, err, code = run(name, "mix.hipfb", *options, folder=folder)
    assert (bool(out), err, code) == (True, f"mix.hipfb: 2 SPIR-V entries: {LATER}\n", 0)


@pytest.mark.parametrize("file", ["alone.hipfb", "k.spv"])
@pytest.mark.parametrize("command", COMMANDS)
def test_alone_it_is_no_answer(command: str, file: str, folder: Path) -> None:
    name, *options = command.split()
    _, err, code = run(name, file, *options, folder=folder)
    assert (err, code) == (f"{file}: 1 SPIR-V entry: {LATER}\n", 2)


def test_a_folder_counts_it_once_and_json_has_no_problem(folder: Path) -> None:
    out, err, code = run("report", ".", "--format", "json", folder=folder)
    assert (err, code) == (f".: 3 SPIR-V entries: {LATER}\n", 0)
    assert json.loads(out)["problems"] == []


def test_python_reads_what_there_is(folder: Path) -> None:
    assert len(kernelinfo.load(folder / "mix.hipfb")) == 4
    assert kernelinfo.diff(folder / "mix.hipfb", folder / "mix.hipfb").gone == ()
    with pytest.raises(kernelinfo.KernelinfoError, match=f"1 SPIR-V entry: {LATER}"):
        kernelinfo.load(folder / "alone.hipfb")


@pytest.mark.needs("duckdb")
def test_a_scan_notes_it(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    fleet = tmp_path_factory.mktemp("fleet")
    words = ("scan", folder, "--to", fleet, "--build", "b", "--workers", "1")
    out, err, code = kernelinfo_process(*words)
    assert (code, "4 kernels" in out) == (0, True), err
    assert f": 1 SPIR-V entry: {LATER}" in err
    assert f": 2 SPIR-V entries: {LATER}" in err
    assert rows(fleet, table="problems") == []
