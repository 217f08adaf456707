"""Instructions counted by grep: in assembly text and in what llvm-objdump prints.

Kernels: random ones of our own with matrix instructions, LDS, atomics and barriers, Triton's, and
those of a library.
"""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from random import Random

from ..test_golden import run
from .texts import kernels

PATTERNS = {
    "matrix": r"^\s+v_(mfma|smfmac|wmma|swmmac)_",
    "lds": r"^\s+ds_",
    "16": r"^\s+(global|flat|buffer)_load_(dwordx4|b128)",
    "12": r"^\s+(global|flat|buffer)_load_(dwordx3|b96)",
    "8": r"^\s+(global|flat|buffer)_load_(dwordx2|b64)",
    "4": r"^\s+(global|flat|buffer)_load_(dword|b32)\b",
    "2": r"^\s+(global|flat|buffer)_load_([us]?short|[ui]16|d16_(hi_)?b16)",
    "1": r"^\s+(global|flat|buffer)_load_([us]byte|[ui]8|d16_(hi_)?[ui]8)",
    "stores": r"^\s+(global|flat|buffer)_store_",
    "atomics": r"^\s+(global|flat|buffer)_atomic_",
    "waits": r"^\s+s_wait",
    "barriers": r"^\s+s_barrier",
}
"""Counted thing → extended regular expression. Numbers are widths of loads in bytes."""
_WIDTHS = ("16", "12", "8", "4", "2", "1")
OBJDUMP = "llvm-objdump-22"
_FUNCTION = re.compile(r"^(\w[\w.$]*):.*?^\.Lfunc_end", re.MULTILINE | re.DOTALL)
_PRINTED = re.compile(r"^(?:[0-9a-f]+ )?<(\w[\w.$]*)>:\n((?:[ \t].*\n|<L\d+>:\n)*)", re.MULTILINE)
_MATRIX = {
    "gfx90a": ("f16x4 a, b; f32x16 c", "__builtin_amdgcn_mfma_f32_32x32x8f16(a, b, c, 0, 0, 0)"),
    "gfx942": ("f16x4 a, b; f32x4 c", "__builtin_amdgcn_mfma_f32_16x16x16f16(a, b, c, 0, 0, 0)"),
    "gfx950": ("f16x8 a, b; f32x4 c", "__builtin_amdgcn_mfma_f32_16x16x32_f16(a, b, c, 0, 0, 0)"),
    "gfx1100": ("f16x16 a, b; f32x8 c", "__builtin_amdgcn_wmma_f32_16x16x16_f16_w32(a, b, c)"),
    "gfx1201": ("f16x8 a, b; f32x8 c", "__builtin_amdgcn_wmma_f32_16x16x16_f16_w32_gfx12(a, b, c)"),
}
"""Target → variables and call of a matrix instruction."""
TARGETS = tuple(_MATRIX)
_TYPES = """\
#define KERNEL(name) extern "C" __attribute__((global)) void name
#define SHARED __attribute__((shared))
typedef float f32x2 __attribute__((ext_vector_type(2)));
typedef float f32x4 __attribute__((ext_vector_type(4)));
typedef float f32x8 __attribute__((ext_vector_type(8)));
typedef float f32x16 __attribute__((ext_vector_type(16)));
typedef _Float16 f16x4 __attribute__((ext_vector_type(4)));
typedef _Float16 f16x8 __attribute__((ext_vector_type(8)));
typedef _Float16 f16x16 __attribute__((ext_vector_type(16)));
"""
_LOADED = ("unsigned char", "short", "float", "f32x2", "f32x4", "f16x4", "f16x8")


def source(random: Random, target: str, kernels: int) -> str:
    """HIP source of random kernels for a target."""
    variables, call = _MATRIX[target]
    matrix, accumulator = (part.split()[0] for part in variables.split(";"))
    lines = [_TYPES]
    for number in range(kernels):
        loaded = random.choice(_LOADED)
        lines.append(
            f"KERNEL(own{number})(const {matrix} *m, {accumulator} *out, const {loaded} *in,"
            f" {loaded} *copy, int *sum, int n) {{\n"
            f"  SHARED static float tile[{random.choice((64, 256, 1024))}];\n"
            f"  int id = __builtin_amdgcn_workitem_id_x(); {variables} = {{}}; a = m[id];\n"
            "  for (int i = 0; i < n; ++i) {"
        )
        for step in range(random.randrange(1, 5)):
            lines.append(
                random.choice(
                    (
                        f"b = m[id + {64 * step} * i]; c = {call};",
                        f"copy[id + i * {step}] = in[id + {step}];",
                        "tile[id & 63] = i; __builtin_amdgcn_s_barrier(); n -= tile[id + 1 & 63];",
                        "__hip_atomic_fetch_add(sum + id, i, __ATOMIC_RELAXED,"
                        " __HIP_MEMORY_SCOPE_AGENT);",
                    )
                )
            )
        lines.append("  }\n  out[id] = c; }")
    return "\n".join(lines)


def compiled(
    random: Random, target: str, kernels: int, folder: Path, *flags: str
) -> tuple[Path, Path]:
    """Assembly and linked object of random kernels, by clang 22."""
    path = folder / "own.hip"
    path.write_text(source(random, target, kernels))
    device = ("-x", "hip", "--cuda-device-only", "-nogpuinc", "-nogpulib", "-O3", "-w")
    common = ["clang-22", *device, *flags, f"--offload-arch={target}", "-S", str(path), "-o"]
    text, relocatable, linked = (path.with_suffix(end) for end in (".s", ".o", ".co"))
    subprocess.run([*common, str(text)], check=True)
    subprocess.run([*common, str(relocatable), "-Xclang", "-emit-obj"], check=True)
    subprocess.run(["ld.lld-22", "-shared", str(relocatable), "-o", str(linked)], check=True)
    return text, linked


def of_text(path: Path) -> dict[str, str]:
    """Symbol → assembly of each function, without spills, which are accesses of scratch."""
    text = re.sub(r"^.*-byte Folded (Spill|Reload).*\n", "", path.read_text("utf-8"), flags=re.M)
    return {found[1]: found[0] for found in _FUNCTION.finditer(text)}


def of_object(path: Path) -> dict[str, str]:
    """Symbol → what llvm-objdump prints of each function."""
    command = [OBJDUMP, "-d", "--no-show-raw-insn", "--no-leading-addr", str(path)]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return {found[1]: found[2] for found in _PRINTED.finditer(printed)}


def grepped(code: str, folder: Path) -> dict[str, int]:
    """Number of lines that grep finds for each pattern."""
    path = folder / "function.txt"
    path.write_text(code)
    command = ["grep", "-cE"]
    return {
        name: int(subprocess.run([*command, pattern, path], capture_output=True).stdout)
        for name, pattern in PATTERNS.items()
    }


def code_objects(paths: Iterable[Path], folder: Path) -> Iterator[Path]:
    """The code objects of libraries, as files."""
    for path in paths:
        run("extract", str(path), "-o", str(folder / path.name))
        yield from sorted((folder / path.name).iterdir())


def differences(
    path: Path, functions: Mapping[str, str], folder: Path, tally: Counter[str]
) -> Iterator[str]:
    """Kernels of a file whose counts differ from grep's."""
    for kernel in kernels(path):
        symbol, counts = kernel["symbol"], kernel["code"]
        found = grepped(functions[symbol], folder)
        tally["kernels"] += 1
        for name in ("matrix", "lds", "barriers", "atomics"):
            tally[name] += found[name]
        loads = {"loads": sum(found[width] for width in _WIDTHS)}
        loads["load_bytes"] = sum(int(width) * found[width] for width in _WIDTHS)
        names = ("matrix", "lds", "stores", "atomics", "waits", "barriers")
        for name, number in (loads | {name: found[name] for name in names}).items():
            if counts[name] != number:
                yield f"{path}: {symbol}: {number} {name} by grep, {counts[name]}"
