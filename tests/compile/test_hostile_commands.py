"""Nothing that compile commands say runs, with any compiler; what is not taken is named."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from ..conftest import FIXTURES
from ..messages import code_of, codes, tells
from ..sweep.compilers import script
from ..test_golden import run
from .hostile_words import SOME, VARIANTS, Trap

pytestmark = pytest.mark.skipif(os.name != "posix", reason="compilers of these tests are scripts")

ASSEMBLY = FIXTURES / "assembly" / "tiny-v6-clang22-gfx90a.s"
KERNEL = "claim(int*)"
CLOSED = ("-nogpuinc", "-nogpulib")
HARMLESS = ("-DWIDTH=8", "-Iinclude", "-isystem", "far", "-std=c++17", "-xhip")


@pytest.fixture
def trap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Trap:
    monkeypatch.chdir(tmp_path)
    return Trap(tmp_path)


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The words of each program that is started."""
    words: list[list[str]] = []

    class Recorded(subprocess.Popen[bytes]):
        def __init__(self, command: list[str], **settings: Any) -> None:
            words.append(list(command))
            super().__init__(command, **settings)

    monkeypatch.setattr(subprocess, "Popen", Recorded)
    return words


def compiled(trap: Trap, *flags: list[str]) -> tuple[list[str], list[str]]:
    """Words of one compilation, of the sources for each list of flags, and what is told."""
    sources, commands = trap.sources(len(flags)), trap.commands(*flags)
    words = ("--compiler", trap.clang(ASSEMBLY), "--compile-commands", commands, "--jobs", "1")
    _, err, code = run(*sources, *words, folder=trap.folder)
    assert code == 0, err
    return trap.seen("clang++"), err.splitlines()


def test_words_are_left_out_and_named(trap: Trap) -> None:
    printable = [variant for variant in VARIANTS if all(map(str.isprintable, variant))]
    some = [trap.words(variant) for variant in printable[::40]]
    plain, _ = compiled(trap, [])
    seen, err = compiled(trap, *some)
    others = [word for word in {*seen} - {*plain} if "kernelinfo-" not in word]
    assert {*others} <= {f"{trap.folder}/k{number}.hip" for number in range(len(some))}
    assert len(others) < 2
    told = [line for line in err if code_of(line) == "commands-left-out"]
    for words, line in zip(some, told, strict=True):
        together = shlex.quote(" ".join(words)) in line
        assert together or all(shlex.quote(word) in line for word in words), words


def test_headers_macros_and_language_are_taken(trap: Trap) -> None:
    others = ["-Xclang", "-Ievil", "-Xarch_device", "-DNO", "-o", "-DNO", "-include-pch", "p.pch"]
    others += ["-fplugin=x.so", "-B.", "@flags", "-mllvm", "-Devil", "-Wl,@x", "-specs=x"]
    values = ("X=1", "a/b.h", "WIDE=1,2", "C:/a", "größe", "_a")
    taken = [*HARMLESS, "-include", "a.h", "-iquote", "q", "-U", "OLD", *map("-D{}".format, values)]
    seen, _ = compiled(trap, [*taken, *others])
    here = trap.folder
    begin = seen.index("-DWIDTH=8")
    assert seen[begin : seen.index("-Xclang")] == [
        *("-DWIDTH=8", "-I", f"{here}/include", "-isystem", f"{here}/far", "-std=c++17"),
        *("-include", f"{here}/a.h", "-iquote", f"{here}/q", "-UOLD"),
        *map("-D{}".format, values),
    ]
    ours = ["-O3", "-g", "-Wall", "-o", "a.o", "-MD", "-MF", "a.d"]
    assert not [line for line in compiled(trap, ours)[1] if code_of(line) == "commands-left-out"]


@pytest.mark.parametrize("driver", ["tells", "joins", "clang"])
def test_no_word_reaches_a_compiler_or_a_shell(
    trap: Trap, driver: str, started: list[list[str]]
) -> None:
    (source,) = trap.sources(1)
    clang = trap.clang(ASSEMBLY)
    compiler = clang if driver == "clang" else trap.joining(clang, tells=driver == "tells")
    seen = []
    for variants in ((), VARIANTS):
        words = (word for variant in variants for word in trap.words(variant) if "\0" not in word)
        commands = trap.commands([*HARMLESS[:2], *words, *HARMLESS[2:]])
        flags = ("--compiler", compiler, "--compile-commands", commands, "--", "-DUSER=1")
        out, err, code = run(source, *flags, folder=trap.folder)
        assert (code, KERNEL in out) == (0, True), err
        assert ("commands-left-out" in codes(err)) == bool(variants)
        seen.append([word for word in trap.seen("clang++") if "kernelinfo-" not in word])
    assert seen[0] == seen[1]
    assert {"-DWIDTH=8", "-std=c++17", "-DUSER=1"} <= {*seen[0]}
    if driver != "clang":
        asked = trap.seen("hipcc")
        assert "-DUSER=1" in asked
        assert not {"-DWIDTH=8", "-std=c++17", f"{trap.folder}/far", source} & {*asked}
    assert {words[7] for words in started} == {clang, compiler}
    assert {tuple(words[:2]) for words in started} == {("/bin/sh", "-c")}
    assert all(words[2].endswith('shift 3; exec "$@"') for words in started)
    assert not trap.mark.exists()


def test_a_source_without_kernels_is_told(trap: Trap) -> None:
    compiler = trap.clang(FIXTURES / "broken" / "x86.s")
    words = ("--arch", "gfx90a", "--compiler", compiler)
    out, err, code = run(*trap.sources(1), *words, folder=trap.folder)
    assert (out, code) == ("", 2)
    assert tells(err, "source-without-kernels k0.hip")


def test_the_words_are_no_blanks_by_hand(trap: Trap) -> None:
    hipcc = trap.joining(trap.clang(ASSEMBLY))
    subprocess.run([hipcc, *trap.words(["-DX=;touch MARK;"])], capture_output=True)
    assert trap.mark.exists()


def test_the_name_of_a_source_reaches_no_wrapper(trap: Trap) -> None:
    name = ";touch evil-mark;.hip"
    (trap.folder / name).write_text("")
    hipcc = trap.joining(trap.clang(ASSEMBLY))
    out, err, code = run("*.hip", "--arch", "gfx90a", "--compiler", hipcc, folder=trap.folder)
    assert (code, KERNEL in out) == (0, True), err
    assert not [word for word in trap.seen("hipcc") if "touch" in word]
    assert [word for word in trap.seen("clang++") if "touch" in word] == [f"{trap.folder}/{name}"]


def test_a_wrapper_that_hides_its_clang_is_not_used(trap: Trap) -> None:
    sources, commands = trap.sources(1), trap.commands(HARMLESS)
    hipcc = script(trap.folder / "hipcc", 'echo hipcc-cmd: "\'"')
    words = ("--compiler", hipcc, "--compile-commands", commands)
    _, err, code = run(*sources, *words, folder=trap.folder)
    assert code == 2
    assert "compiler-silent" in codes(err)


TRAPPED = ("touch", "ar", "as", "file", "readelf", "rm", "ld", "ld.lld", "lld", "cc1", "a", "tools")
"""Programs that a shell or a compiler would find on PATH."""


@pytest.mark.nightly
@pytest.mark.needs("clang-22")
@pytest.mark.parametrize(
    "driver",
    [
        "joins",
        "clang++-22",
        pytest.param("hipcc", marks=pytest.mark.needs("hipcc")),
        pytest.param("clang++-15", marks=pytest.mark.needs("clang-15")),
        pytest.param("clang++-19", marks=pytest.mark.needs("clang-19")),
    ],
)
def test_nothing_runs_with_real_compilers(
    trap: Trap, driver: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = "clang++-22" if driver == "joins" else driver
    _make_plugin(trap)
    folder = trap.folder / "tools"
    folder.mkdir()
    for name in TRAPPED:
        script(folder / name, f"touch {trap.mark}")
    compiler = trap.joining(str(shutil.which(real))) if driver == "joins" else real
    by_hand = ["-x", "hip", "--cuda-device-only", *CLOSED, "--offload-arch=gfx90a", "-S", "-o-"]
    evil = (
        f"-fplugin={trap.plugin}" if driver != "hipcc" else f"-DX=1 -fplugin={trap.plugin} -DY=b.a"
    )
    words = [compiler, *by_hand, evil, *trap.sources(1)]
    subprocess.run(words, cwd=trap.folder, env=os.environ | {"HIP_PLATFORM": "amd"}, check=False)
    assert trap.mark.exists(), "the trap works"
    trap.mark.unlink()
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    sources = trap.sources(len(SOME))
    commands = trap.commands(*map(trap.words, SOME))
    words = ["--compiler", compiler, "--compile-commands", commands, "--format", "jsonl"]
    out, err, code = run(*sources, *words, "--", *CLOSED, folder=trap.folder)
    assert (code, out.count("\n")) == (0, len(SOME)), err
    assert codes(err).count("commands-left-out") == len(SOME)
    assert not trap.mark.exists()


def _make_plugin(trap: Trap) -> None:
    source = trap.folder / "plugin.c"
    source.write_text(
        f"#include <stdio.h>\n__attribute__((constructor)) static void m(void) "
        f'{{ fclose(fopen("{trap.mark}", "w")); }}\n'
    )
    words = ["clang-22", "-shared", "-fPIC", str(source), "-o", str(trap.plugin)]
    subprocess.run(words, check=True)


@pytest.mark.needs("hipcc")
def test_compile_commands_give_the_numbers_of_hipcc(trap: Trap) -> None:
    source = trap.folder / "k.hip"
    source.write_text(
        "#include <hip/hip_runtime.h>\n"
        "__global__ void k(float *a) { a[threadIdx.x] = sinf(a[0]) * WIDTH; }\n"
    )
    commands = trap.folder / "compile_commands.json"
    entry = f'[{{"directory": "{trap.folder}", "file": "k.hip", "command": "hipcc -DWIDTH=8"}}]'
    commands.write_text(entry)
    target = ("k.hip", "--arch", "gfx90a", "--format", "jsonl", "--compiler", "hipcc")
    ours, err, code = run(*target, "--compile-commands", str(commands), folder=trap.folder)
    assert code == 0, err
    assert "/clang" in err
    assert "hipcc -x" not in err
    theirs, _, _ = run(*target, "--", "-DWIDTH=8", folder=trap.folder)
    assert ours == theirs
