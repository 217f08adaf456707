"""Build logs and optimization records against the assembly of the same compilation."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from kernelinfo import Kernel, Problem, Result, analyse
from kernelinfo.analysis.options import Options
from kernelinfo.reading.blob import Note

from ...conftest import FIXTURES
from ...test_golden import run

LOGS = sorted((FIXTURES / "log").iterdir())
PLAIN = FIXTURES / "log" / "variety-clang22-gfx90a.log"


def target_of(path: Path) -> str:
    found = re.search(r"gfx\w+", path.name)
    assert found
    return found[0]


def kernels(path: Path, arch: str | None = None) -> dict[str, Kernel]:
    items = list(analyse([str(path)], Options(arch=arch)))
    assert [item for item in items if isinstance(item, Problem)] == []
    return {i.kernel.symbol: i.kernel for i in items if isinstance(i, Result)}


WAVES = "waves/SIMD by the compiler"


def stated(kernel: Kernel) -> Mapping[str, object]:
    """Numbers that a remark states."""
    every = {
        **kernel.used._asdict(),
        **{f"{name} spilled": count for name, count in kernel.spills._asdict().items()},
        "dynamic stack": kernel.flags.dynamic_stack,
        WAVES: kernel.traits.numbers.compiler_waves_per_simd,
    }
    return {name: value for name, value in every.items() if value is not None}


def compare(log: dict[str, Kernel], text: dict[str, Kernel]) -> int:
    """Hold each number of the log to the assembly's; the count of those that are unknown."""
    unknown = 0
    assert log.keys() == text.keys()
    for symbol, kernel in log.items():
        expected = stated(text[symbol])
        missing = expected.keys() - stated(kernel).keys()
        if missing - {"dynamic stack"}:  # up to LLVM 18 no remark says
            assert kernel.flags.indirect_call
            unknown += 1
        for name, value in stated(kernel).items():
            # Assembly says nothing of a stack that does not grow; that of lld 15 has no comments.
            unstated = value if name == WAVES else False
            assert expected.get(name, unstated) == value, f"{symbol}: {name}"
    return unknown


@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.name)
def test_the_numbers_of_the_assembly(path: Path) -> None:
    text = kernels(FIXTURES / "assembly" / f"{path.name.partition('.')[0]}.s")
    unknown = compare(kernels(path, target_of(path)), text)
    assert unknown <= (0 if "clang22" not in path.name else 3)


def test_a_value_that_is_a_symbol_is_unknown_and_says_why() -> None:
    found = kernels(FIXTURES / "log" / "odd-clang22-gfx90a.log", "gfx90a")
    unknown = [kernel for kernel in found.values() if kernel.used.vgprs is None]
    assert len(unknown) == 1
    assert not unknown[0].occupancy().exact
    assert any("not known here" in why for why in unknown[0].occupancy().at_most_because)


PREFIX = re.compile(r"^(\S+):(\d+):(\d+): remark: (.*?)( \[-Rpass-analysis=.*\])?$", re.MULTILINE)
ORDERS: dict[str, str | Callable[[re.Match[str]], str]] = {
    "clang from source": r"\1:\2:\3: remark: \4\5",
    "clang from IR": r"remark: \1:\2:\3: \4\5",
    "llc": r"remark: \1:\2:\3: \4",
    "llc without debug information": r"remark: <unknown>:0:0: \4",
    "lld": r"\1:\2:\3: \4",
    "MSVC": r"\1(\2,\3): remark: \4\5",
    "colours": "\x1b[1m\\1:\\2:\\3: \x1b[0m\x1b[0;1;34mremark: \x1b[0m\x1b[1m\\4\\5\x1b[0m",
    "hyperlink": "\x1b]8;;file:///x\x07\\1:\\2:\\3:\x1b]8;;\x07 remark: \\4\\5",
    "GitHub": r"2026-01-31T09:12:45.1234567Z \1:\2:\3: remark: \4\5",
    "docker": r"#12 3.456 \1:\2:\3: remark: \4\5",
    "progress": "[1/40] Building\r\x1b[2K\\1:\\2:\\3: remark: \\4\\5",
    "quoted": r"> \1:\2:\3: remark: \4\5",
}


@pytest.mark.parametrize("version", [15, 19, 22])
@pytest.mark.parametrize("order", ORDERS)
def test_every_order_of_a_line(order: str, version: int, tmp_path: Path) -> None:
    [path, *_] = [path for path in LOGS if f"variety-clang{version}-gfx90" in path.name]
    log = tmp_path / "build.log"
    log.write_text(PREFIX.sub(ORDERS[order], path.read_text("utf-8")), "utf-8")
    found = kernels(log, target_of(path))
    assert len(found) == 26
    assert compare(found, kernels(FIXTURES / "assembly" / f"{path.stem}.s")) <= 3


@pytest.mark.parametrize(
    "encode",
    [
        lambda text: text.encode("utf-16"),
        lambda text: text.replace("\n", "\r\n").encode(),
        lambda text: text.replace("variety.hip", "vari\udcffety.hip").encode(
            "utf-8", "surrogateescape"
        ),
    ],
    ids=["UTF-16", "CR LF", "not UTF-8"],
)
def test_encodings(encode: Callable[[str], bytes], tmp_path: Path) -> None:
    log = tmp_path / "build.log"
    log.write_bytes(encode(PLAIN.read_text("utf-8")))
    assert len(kernels(log, "gfx90a")) == 26


def block(name: str, vgprs: object = 3, place: str = "x.hip:6:1", lds: str = "0") -> list[str]:
    rows = ["Function Name: " + name, "    TotalSGPRs: 10", f"    VGPRs: {vgprs}", "    AGPRs: 0"]
    rows += ["    ScratchSize [bytes/lane]: 0", "    Occupancy [waves/SIMD]: 8"]
    rows += ["    SGPRs Spill: 0", "    VGPRs Spill: 0"]
    rows += [f"    LDS Size [bytes/block]: {lds}"] if lds else []
    return [f"{place}: remark: {row} [-Rpass-analysis=kernel-resource-usage]" for row in rows]


def read(
    lines: list[str], tmp_path: Path, arch: str | None = "gfx90a"
) -> tuple[list[Kernel], list[str]]:
    path = tmp_path / "build.log"
    path.write_text("\n".join(lines) + "\n", "utf-8")
    items = list(analyse([str(path)], Options(arch=arch)))
    messages = [item.message for item in items if isinstance(item, (Problem, Note))]
    return [item.kernel for item in items if isinstance(item, Result)], messages


def test_two_compilers_are_told_apart_by_place(tmp_path: Path) -> None:
    pairs = zip(block("first", 3), block("second", 7, "y.hip:9:1"), strict=True)
    found, messages = read([line for pair in pairs for line in pair], tmp_path)
    assert [(kernel.name, kernel.used.vgprs) for kernel in found] == [("first", 3), ("second", 7)]
    assert messages == []


def test_two_targets_of_one_place_at_once_are_neither(tmp_path: Path) -> None:
    pairs = zip(block("first", 3), block("first", 7), strict=True)
    lines = [line for pair in pairs for line in pair]
    found, [message] = read([*lines, *block("second", 9)], tmp_path)
    assert [(kernel.name, kernel.used.vgprs) for kernel in found] == [("second", 9)]
    assert message == (
        "'first': two compilers report one source line at once; build with --save-temps and give "
        "the .s files, or write a log for each target"
    )


def test_two_targets_one_after_the_other_are_both(tmp_path: Path) -> None:
    found, messages = read([*block("first", 3), *block("first", 7)], tmp_path)
    assert [kernel.used.vgprs for kernel in found] == [3, 7]
    assert [kernel.code_object.member for kernel in found] == [None, "occurrence 2"]
    assert messages == []


def test_functions_of_llvm_15_and_16_are_no_kernels(tmp_path: Path) -> None:
    found, messages = read([*block("callee", lds=""), *block("kernel")], tmp_path)
    assert ([kernel.name for kernel in found], messages) == (["kernel"], [])


def test_a_log_of_functions_alone_has_a_note(tmp_path: Path) -> None:
    path = tmp_path / "build.log"
    path.write_text("\n".join(block("callee", lds="")))
    note, problem = analyse([str(path)], Options())
    assert isinstance(note, Note)
    assert note.message.startswith("reports functions but no kernel")
    assert isinstance(problem, Problem)


def test_a_log_that_is_cut(tmp_path: Path) -> None:
    [kernel], [message] = read(block("first")[:4], tmp_path)
    assert (kernel.used.vgprs, kernel.used.lds_bytes, kernel.spills.vgprs) == (3, None, None)
    assert message == "'first': the log ends before its last number"
    [kernel], [message] = read([*block("first")[3:], *block("second")], tmp_path)
    assert kernel.name == "second"
    assert message == "numbers without a function's name: the log begins inside a kernel"


@pytest.mark.parametrize("vgprs", ["-5", "9" * 5000, "4096", "1e3"])
def test_what_is_no_number_is_unknown(vgprs: str, tmp_path: Path) -> None:
    [kernel], [message] = read(block("first", vgprs), tmp_path)
    assert kernel.used.vgprs is None
    assert "is not a whole number from 0 to 1024" in message


@pytest.mark.parametrize(
    "line",
    [
        "x.hip:3:7: error: use of undeclared identifier 'y'",
        "FAILED: CMakeFiles/x.o",
        "make[2]: *** [Makefile:9: x.o] Error 1",
        "\x1b[1mx.hip:3:7: \x1b[0m\x1b[0;1;31merror: \x1b[0mno",
    ],
)
def test_the_log_of_a_failed_build_is_a_problem(line: str, tmp_path: Path) -> None:
    found, [message] = read([*block("first"), line], tmp_path)
    assert len(found) == 1
    assert message == "the build failed here: kernels may be missing; mend it, and build again"


@pytest.mark.parametrize("line", ["x.hip:3:7: error: no", "FAILED: x.o"])
def test_the_log_of_a_failed_build_is_exit_2(line: str, tmp_path: Path) -> None:
    log = "\n".join([*block("first"), line])
    for arguments in (["-"], ["check", "-", "--arch", "gfx90a"]):
        command = [sys.executable, "-m", "kernelinfo", *arguments]
        done = subprocess.run(command, input=log, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 2
        assert "<stdin>:10: the build failed here" in done.stderr


def test_without_a_target_numbers_are_known_and_occupancy_is_not(tmp_path: Path) -> None:
    [kernel], [note] = read(block("first", 7), tmp_path, arch=None)
    assert kernel.used.vgprs == 7
    assert kernel.target is None
    assert note == "a build log names no target; occupancy needs --arch"


@pytest.mark.parametrize("text", ["[1/2] Building x.o", "x.hip:1:1: warning: unused"])
def test_a_log_without_remarks_names_the_flag(text: str, tmp_path: Path) -> None:
    found, messages = read([text], tmp_path)
    assert found == []
    assert messages == [
        "no resource usage in this log; compile with -Rpass-analysis=kernel-resource-usage"
    ]


@pytest.mark.parametrize(
    "text",
    [
        "As I said, `remark: Function Name: foo` means nothing.",
        "remark:\nFunction Name:",
        '   12 | puts("x.c:1:1: VGPRs: 3");',
    ],
)
def test_prose_is_no_kernel(text: str, tmp_path: Path) -> None:
    assert read([text], tmp_path)[0] == []


def test_a_record_of_other_passes_names_the_flag(tmp_path: Path) -> None:
    lines = ["--- !Missed", "Pass:            inline", "Name: x", "Function: k", "..."]
    _, [message] = read(lines, tmp_path)
    assert message == (
        "no resource usage in this optimization record; compile with "
        "-Rpass-analysis=kernel-resource-usage, too"
    )


TOOLS = ("clang", "llvm", "lld")
VERSIONS = [
    pytest.param(version, marks=pytest.mark.needs(*(f"{tool}-{version}" for tool in TOOLS)))
    for version in (15, 19, 22)
]
DEVICE = [
    *("-x", "hip", "--cuda-device-only", "-nogpuinc", "-nogpulib"),
    *("-fuse-cuid=none", "-std=c++17", "-O3", "-w"),
]
USAGE = "-Rpass-analysis=kernel-resource-usage"
AS = [*DEVICE, "--offload-arch=gfx90a"]
SOURCE = FIXTURES / "src" / "variety.hip"


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("writer", ["source", "IR", "MSVC", "llc", "unknown", "lld"])
def test_what_compilers_write(writer: str, version: int, tmp_path: Path) -> None:
    clang = [f"clang-{version}", *AS]

    def run(*command: str) -> str:
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
        return done.stdout + done.stderr

    if writer == "lld":
        lld = f"ld.lld-{version}"
        run(
            *clang, "-gline-tables-only", "-fgpu-rdc", "-emit-llvm", "-c", str(SOURCE), "-o", "k.bc"
        )
        link = [lld, "-shared", "-plugin-opt=mcpu=gfx90a", "-plugin-opt=O3", "k.bc"]
        log = run(*link, "-mllvm", "-pass-remarks-analysis=kernel-resource-usage", "-o", "k.co")
        run(*link, "--lto-emit-asm", "-o", "k.s")
        [text] = tmp_path.glob("k.s*")  # newer ones add to the name
        text.rename(tmp_path / "k.s")
    elif writer in ("llc", "unknown"):
        debug = ["-gline-tables-only"] if writer == "llc" else []
        run(*clang, *debug, "-emit-llvm", "-S", str(SOURCE), "-o", "k.ll")
        log = run(
            f"llc-{version}",
            "-mcpu=gfx90a",
            "-pass-remarks-analysis=kernel-resource-usage",
            "k.ll",
            "-o",
            "k.s",
        )
    else:
        more = {"source": [], "IR": ["--save-temps"], "MSVC": ["-fdiagnostics-format=msvc"]}[writer]
        log = run(*clang, *more, USAGE, "-S", str(SOURCE), "-o", "k.s")
    path = tmp_path / "build.log"
    path.write_text(log, "utf-8")
    assert compare(kernels(path, "gfx90a"), kernels(tmp_path / "k.s")) <= 3


def gate(budget: str, tmp_path: Path, *options: str) -> tuple[int, str]:
    (tmp_path / "kernelinfo.toml").write_text(f'[[budget]]\nkernel = "*"\n{budget}\n', "utf-8")
    command = [sys.executable, "-m", "kernelinfo", "check", "-", *options]
    log = "\n".join([*block("first", 7), *block("second", 70, lds="4096")])
    done = subprocess.run(command, input=log, cwd=tmp_path, capture_output=True, text=True)
    return done.returncode, done.stderr


@pytest.mark.parametrize(
    ("budget", "options", "code"),
    [
        ("vgpr = 100", [], 0),
        ("vgpr = 64", [], 1),
        ("lds = 4096", [], 0),
        ("lds = 1024", [], 1),
        ("vgpr-spill = 0", [], 0),
        ("waves = 1", [], 2),
        ("waves = 4", ["--arch", "gfx90a"], 0),
        ("waves = 8", ["--arch", "gfx90a"], 1),
    ],
)
def test_the_gate_judges_what_a_log_states(
    budget: str, options: list[str], code: int, tmp_path: Path
) -> None:
    found, err = gate(budget, tmp_path, *options)
    assert found == code, err
    unchecked = "not checked: the occupancy of 2 kernels of build logs; give --arch"
    assert (unchecked in err) == (not options)
    if code == 2:
        assert "asks for waves, which the input does not state" in err


def test_a_report_without_a_target_lists_its_findings_and_is_exit_2() -> None:
    out, err, code = run("log/variety-clang22-gfx90a.log")
    assert code == 2
    assert err == (
        "log/variety-clang22-gfx90a.log: a build log names no target; occupancy needs --arch\n"
    )
    assert "2 warnings, 3 notes" in out
    assert (out.count("KI104 warning"), out.count(" note ")) == (2, 3)
    assert "registers = what the code uses\n" in out
    both, _err, _code = run("log/variety-clang22-gfx90a.log", "assembly/tiny-v6-clang22-gfx90a.s")
    legend = "registers = what the hardware allocates, or what the code uses (waves/SIMD ?);"
    assert legend in both
