"""Build logs and optimization records against the assembly of the same compilation."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from kernelinfo import Kernel, Options, Problem, Result, analyse
from kernelinfo.kernel import USED

from ...conftest import FIXTURES

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
        **{name: getattr(kernel.numbers, name) for name in USED},
        "vgprs spilled": kernel.numbers.vgpr_spills,
        "sgprs spilled": kernel.numbers.sgpr_spills,
        "dynamic stack": kernel.numbers.dynamic_stack,
        WAVES: kernel.numbers.compiler_waves_per_simd,
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
            assert kernel.numbers.indirect_call
            unknown += 1
        for name, value in stated(kernel).items():
            # Assembly says nothing of a stack that does not grow; that of lld 15 has no comments.
            unstated = value if name == WAVES else False
            assert expected.get(name, unstated) == value, f"{symbol}: {name}"
    return unknown


def test_the_numbers_of_the_assembly() -> None:
    for path in LOGS:
        text = kernels(FIXTURES / "assembly" / f"{path.name.partition('.')[0]}.s")
        unknown = compare(kernels(path, target_of(path)), text)
        assert unknown <= (0 if "clang22" not in path.name else 3), path.name


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


ENCODINGS: dict[str, Callable[[str], bytes]] = {
    "UTF-16": lambda text: text.encode("utf-16"),
    "CR LF": lambda text: text.replace("\n", "\r\n").encode(),
    "not UTF-8": lambda text: text.replace("variety", "vari\udcffety").encode(
        "utf-8", "surrogateescape"
    ),
}


def test_every_order_of_a_line_and_every_encoding(tmp_path: Path) -> None:
    text, log = PLAIN.read_text("utf-8"), tmp_path / "build.log"
    expected = kernels(FIXTURES / "assembly" / "variety-clang22-gfx90a.s")
    made = {order: PREFIX.sub(new, text).encode() for order, new in ORDERS.items()}
    for name, data in (made | {name: encode(text) for name, encode in ENCODINGS.items()}).items():
        log.write_bytes(data)
        found = kernels(log, "gfx90a")
        assert len(found) == 26, name
        assert compare(found, expected) <= 3, name


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
