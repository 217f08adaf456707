"""`kernelinfo sweep` of sources, against the bitcode that the same compiler writes by hand."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import jsonschema
import pytest

from kernelinfo import Options, analyse, arch, sweep
from kernelinfo.variants import by_symbol, measures

from ..compile.test_equal import HEADER, OF_COMMANDS, SOURCES, needs
from ..compile.test_equal import written as assembly_of
from ..compiling import needs_clang
from ..conftest import FIXTURES, require
from ..messages import code_of, says, tells
from ..test_golden import run
from . import alone
from .kernels import random_kernel
from .proof import compile_source
from .test_sweep import numbers, schema

KERNEL = "__attribute__((global)) void k(int *a) { a[1] = SIZE; }\n"
CLOSED = ("-nogpuinc", "-nogpulib")
BITCODE = ("-c", "-emit-llvm", "-Xclang", "-disable-llvm-passes")
OCCUPANCY = FIXTURES / "src" / "occupancy.hip"
MANY = SOURCES / "many_registers.hip"


def swept(*words: str, folder: Path | None = None) -> tuple[dict[str, Any], list[str]]:
    """The one input of the JSON document, valid by its schema, and the lines on standard error."""
    dashes = words.index("--") if "--" in words else len(words)
    line = ("sweep", *words[:dashes], "--format", "json", *words[dashes:])
    out, err, code = run(*line, folder=folder or FIXTURES)
    assert code == 0, err
    document = json.loads(out)
    jsonschema.validate(document, schema("sweep/sweep-schema.json"))
    (one,) = document["inputs"]
    return one, err.splitlines()


def rows(one: dict[str, Any]) -> list[tuple[object, ...]]:
    """Symbol, request and numbers of each variant."""
    return [
        (kernel["symbol"], *variant["asked"].values(), numbers(variant["kernel"]))
        for kernel in one["kernels"]
        for variant in kernel["variants"]
    ]


def written(compiler: str, target: str, flags: Sequence[str], source: Path, folder: Path) -> str:
    """Path of the bitcode that the compiler writes of the source before optimisation."""
    path = folder / "by-hand.bc"
    device = ("-x", "hip", "--cuda-device-only", "-O3", f"--offload-arch={target}")
    environment = {"HIP_PLATFORM": "amd", "PATH": "/usr/bin:/bin"}
    command = [compiler, *device, *BITCODE, "-w", *flags, str(source), "-o", str(path)]
    subprocess.run(command, check=True, env=environment, cwd=folder)
    return str(path)


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("compiler", "target", "source", "flags"),
    [
        pytest.param(*("hipcc", "gfx90a", OCCUPANCY, ()), id="hipcc", marks=needs("hipcc", HEADER)),
        *(
            pytest.param(
                *(f"clang++-{version}", target, MANY, (*CLOSED, "-DFREESTANDING")),
                id=str(version),
                marks=needs(f"clang++-{version}"),
            )
            for version, target in ((15, "gfx906"), (19, "gfx1100"), (22, "gfx942"))
        ),
    ],
)
def test_a_source_equals_the_bitcode_of_its_compiler(
    compiler: str, target: str, source: Path, flags: tuple[str, ...], tmp_path: Path
) -> None:
    waves = ("--waves", "4,8", "--arch", target)
    one, told = swept(str(source), *waves, "--compiler", compiler, "--", "-w", *flags)
    by_hand, _ = swept(written(compiler, target, flags, source, tmp_path), *waves)
    assert rows(one) == rows(by_hand)
    assert [kernel["lines"] for kernel in one["kernels"]] == [
        kernel["lines"] for kernel in by_hand["kernels"]
    ]
    assert (one["target"], one["made_by"]) == (target, by_hand["made_by"])
    assert (one["level"], one["level_from"]) == ("-O3", "reproduced")
    notes = [note for kernel in one["kernels"] for note in kernel["notes"]]
    assert all(says(note, "sweep-forbidden") for note in notes)
    told = [line for line in told if code_of(line) != "sweep-progress"]
    assert [code_of(line) for line in told] == ["compiled-by", "compiled-by"]
    assert told[0].endswith(f": {' '.join(one['command'])}")
    assert " ".join(BITCODE) in told[1]


@pytest.mark.nightly
@pytest.mark.parametrize(("compiler", "target", "paths", "flags"), OF_COMMANDS)
def test_the_first_row_of_each_source_is_its_assembly(
    compiler: str, target: str, paths: list[str], flags: tuple[str, ...], tmp_path: Path
) -> None:
    words = ("--arch", target, "--compiler", compiler, "--waves", "8", "--format", "json")
    out, err, code = run("sweep", *paths, *words, "--", "-w", *flags)
    assert code == 0, err
    device = ("-x", "hip", "--cuda-device-only", "-S", "-O3", "-w", f"--offload-arch={target}")
    by_hand = assembly_of((compiler, *device, *flags), paths, tmp_path)
    swept = json.loads(out)["inputs"]
    assert len(swept) == len(paths)
    for one, path in zip(swept, by_hand, strict=True):
        shown = json.loads(run("report", path, "--format", "json")[0])["kernels"]
        truth = {kernel["symbol"]: numbers(kernel) for kernel in shown}
        first = {each["symbol"]: numbers(each["variants"][0]["kernel"]) for each in one["kernels"]}
        assert first == truth, path
        if len(truth) > 1:
            symbol, kernel = truth.popitem()
            out, err, _ = run("sweep", one["input"], symbol, *words, "--", "-w", *flags)
            assert err.count("compiled by: ") == 1, "the IR, without assembly"
            (only,) = json.loads(out)["inputs"][0]["kernels"]
            assert numbers(only["variants"][0]["kernel"]) == kernel, path
            assert not any(says(note, "sweep-differs") for note in only["notes"]), path


@pytest.mark.nightly
@needs_clang
def test_the_first_row_is_the_report_of_the_source() -> None:
    end = ("--arch", "gfx90a", "--compiler", "clang++-22", "--", *CLOSED, "-DFREESTANDING")
    for level in ("-O0", "-O1", "-O2", "-Os"):
        one, _ = swept(str(MANY), "--waves", "8", *end, level)
        out, _, _ = run("report", str(MANY), "--format", "json", *end, level)
        (kernel,) = json.loads(out)["kernels"]
        assert rows(one)[0][-1] == numbers(kernel), level
        assert (one["level"], one["level_from"]) == (level, "reproduced")


@pytest.mark.nightly
@needs_clang
def test_a_level_and_llvm_options_reach_the_source_too() -> None:
    option = "-amdgpu-sched-strategy=max-ilp"
    words = (str(MANY), "--arch", "gfx90a", "--compiler", "clang++-22", "--waves", "8")
    end = ("--", *CLOSED, "-DFREESTANDING")
    before, told = swept(*words, "-O", "1", "--mllvm", option, *end)
    behind, _ = swept(*words, *end, "-O1", "-mllvm", option)
    assert rows(before) == rows(behind)
    assert before["level_from"] == behind["level_from"] == "reproduced"
    assert all(line.endswith(f"-O1 -mllvm {option} {MANY}") for line in told)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    entry = {"directory": ".", "file": "k.hip", "command": "hipcc -DSIZE=7 -c k.hip"}
    for name, text in (
        ("k.hip", KERNEL),
        ("host.hip", "int main() { return 0; }\n"),
        ("headers.hip", "#include <hip/hip_runtime.h>\n" + KERNEL),
        ("wrong.hip", "void wrong() { oops(); }\n"),
        ("commands.json", json.dumps([entry])),
    ):
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.mark.nightly
@needs_clang
def test_compile_commands_and_a_file_next_to_the_source(folder: Path) -> None:
    """`k.s` is of another build: only the source's own assembly is compared."""
    (folder / "k.s").write_text("no assembly")
    before = sorted(folder.iterdir())
    words = ("--arch", "gfx90a", "--compiler", "clang++-22")
    commands = ("--compile-commands", "commands.json")
    one, told = swept("k.hip", "k", *words, *commands, "--", *CLOSED, folder=folder)
    assert (one["input"], one["notes"], one["level_from"]) == ("k.hip", [], "option")
    assert all(" -DSIZE=7 " in line for line in told)
    out, _, _ = run("sweep", "k.hip", *words, *commands, "--", *CLOSED, folder=folder)
    assert "-O3 (reproduces the code of k.hip)" in out
    assert sorted(folder.iterdir()) == before


@pytest.mark.nightly
@needs_clang
@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("host.hip", "source-without-kernels"),
        ("headers.hip", "hip-headers-left-out"),
        ("wrong.hip", "source-not-compiled"),
    ],
)
def test_a_source_that_fails_does_not_stop_the_others(
    folder: Path, source: str, message: str
) -> None:
    words = ("--arch", "gfx90a", "--waves", "8", "--compiler", "clang++-22")
    flags = ("--", *CLOSED, "-nostdinc", "-DSIZE=1")
    out, err, code = run("sweep", source, "k.hip", *words, *flags, folder=folder)
    assert code == 2
    assert "k(int*)" in out
    assert tells(err, f"{message} {source}"), err


@pytest.mark.nightly
@needs_clang
def test_a_source_without_the_named_kernel(folder: Path) -> None:
    words = ("-k", "k", "--arch", "gfx90a", "--compiler", "clang++-22", "--", *CLOSED)
    _, err, code = run("sweep", "host.hip", *words, folder=folder)
    assert code == 2
    assert tells(err, "source-without-kernels host.hip"), err


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("version", "target"), [(15, "gfx90a"), (19, "gfx942"), (19, "gfx1100"), (22, "gfx90a")]
)
def test_the_first_row_of_each_kernel_of_many_is_that_of_the_whole(
    version: int, target: str, tmp_path: Path
) -> None:
    """Kernels that spill, call functions, and whose registers depend on those before them."""
    require(f"clang-{version}")
    random = Random(f"{version} {target} 3")
    kernels = [random_kernel(random, f"k{i}", arch(target).target) for i in range(4)]
    path = compile_source(version, target, "3", kernels, tmp_path / "build")
    whole = by_symbol(analyse([str(path.with_suffix(".s"))], Options()))
    (unit := tmp_path / "unit.bc").write_bytes(path.read_bytes())
    for kernel in kernels:
        (swept,) = sweep(unit, kernel.name, compiler=f"clang-{version}", waves=[4]).kernels
        (first, *_) = swept.variants
        assert first.result
        assert measures(first.result) == measures(whole[kernel.name]), kernel.name


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("version", "target"),
    [(version, target) for version, targets in alone.TARGETS.items() for target in targets],
)
def test_kernels_without_a_note_are_those_of_the_whole_module(
    version: int, target: str, tmp_path: Path
) -> None:
    """Two modules; `python -m tests.sweep --alone 300` tries more."""
    require(f"clang-{version}")
    tally = alone.run(version, target, 2, Random(f"{version} {target}"), tmp_path)
    assert tally.differences == []
    assert tally.kernels > tally.said
