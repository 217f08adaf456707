"""`--instructions`: columns of rows, counted in text and objects as grep counts them."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from kernelinfo import analyse
from kernelinfo.analysis.options import Options
from kernelinfo.kernel import Result
from kernelinfo.kernel.instruction_counts import InstructionCounts
from kernelinfo.kernel.rows import COLUMNS, INSTRUCTIONS
from kernelinfo.pressure.kernel_counts import count_instructions
from tests.conftest import CORPUS, FIXTURES, needs_corpus
from tests.test_golden import run

from . import disassembler, grep, proofs, two_routes
from .test_objects import only

TEXT = "assembly/variety-clang22-gfx942.s"
OBJECT = "code_object/variety-clang22-gfx942.co"
LIBRARY = Path("/usr/lib/x86_64-linux-gnu/librocrand.so.1")


def rows(*paths: str, format: str = "jsonl") -> list[dict[str, object]]:
    out, err, code = run("report", *paths, "--instructions", "--format", format)
    assert (err, code) == ("", 0)
    if format == "csv":
        return [dict(one) for one in csv.DictReader(io.StringIO(out))]
    return [json.loads(line) for line in out.splitlines()]


def test_columns_stand_behind_all_others() -> None:
    for format in ("jsonl", "csv"):
        found = rows(TEXT, format=format)
        assert len(found) == 26
        assert all(tuple(one) == (*COLUMNS, *INSTRUCTIONS) for one in found)
    out, _, _ = run("report", TEXT, "--format", "jsonl")
    assert all(tuple(json.loads(line)) == COLUMNS for line in out.splitlines())


def test_several_processes_count_the_same() -> None:
    out = run("report", "assembly", "--instructions", "--format", "csv", "--jobs", "2")
    assert out == run("report", "assembly", "--instructions", "--format", "csv", "--jobs", "1")


@disassembler.needed
def test_text_and_object_have_the_same_counts() -> None:
    texts, objects = ({one["Symbol"]: one for one in rows(path)} for path in (TEXT, OBJECT))
    assert len(texts) == 26
    for symbol, one in texts.items():
        assert {name: one[name] for name in INSTRUCTIONS} == {
            name: objects[symbol][name] for name in INSTRUCTIONS
        }


def test_other_formats_refuse() -> None:
    out, err, code = run("report", TEXT, "--instructions")
    assert (out, code) == ("", 2)
    assert "--instructions adds columns to --format csv and jsonl" in err


def test_without_llvm_objdump_one_line_a_run(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    only(monkeypatch, tmp_path)
    out, err, code = run("report", "code_object", "--instructions", "--format", "jsonl")
    assert code == 2
    assert err.startswith("--instructions: reading the code of an object needs llvm-objdump")
    assert err.count("\n") == 1
    found = [json.loads(line) for line in out.splitlines()]
    assert len(found) > 100
    assert {one[name] for one in found for name in INSTRUCTIONS} == {None}


def test_an_unknown_instruction_leaves_the_counts_unknown(tmp_path: Path) -> None:
    text = (FIXTURES / TEXT).read_text("utf-8")
    path = tmp_path / "k.s"
    path.write_text(text.replace("\ts_endpgm\n", "\tx_new v0\n\ts_endpgm\n", 1))
    out, err, code = run("report", str(path), "--instructions", "--format", "jsonl")
    first, *others = (json.loads(line) for line in out.splitlines())
    assert code == 0
    assert "instructions are not counted: 1 line that only an assembler reads (x_new)" in err
    assert {first[name] for name in INSTRUCTIONS} == {None}
    assert all(one["Instructions"] for one in others)


def added_up(paths: list[str]) -> int:
    """Number of kernels whose classes add up to their instructions."""
    options = Options(count_instructions=count_instructions, all_copies=True)
    found: list[InstructionCounts] = []
    for item in analyse(paths, options):
        if isinstance(item, Result) and item.kernel.instructions:
            found.append(item.kernel.instructions)
    assert all(sum(one[1:15]) == one.instructions for one in found)
    return len(found)


@disassembler.needed
def test_classes_add_up_in_all_fixtures() -> None:
    assert added_up([str(FIXTURES)]) > 300


@needs_corpus
@pytest.mark.nightly
def test_classes_add_up_in_the_corpus() -> None:
    assert added_up([str(CORPUS)]) > 3000


@pytest.mark.needs("librocrand", "llvm-22")
@pytest.mark.nightly
def test_classes_add_up_in_a_library() -> None:
    assert added_up([str(LIBRARY)]) > 500


@two_routes.needed
@pytest.mark.nightly
def test_counts_equal_grep() -> None:
    (_, _, found), faults = proofs.grepped(full=False)
    assert faults == []
    kernels = int(found.split(" kernels")[0].replace(",", ""))
    assert kernels >= 2 * 8 * len(grep.TARGETS)
    for name in ("matrix", "lds", "atomics", "barriers"):
        assert f" 0 {name}" not in found
