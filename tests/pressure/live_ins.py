"""Registers live at the begin of labelled blocks of random kernels, by LLVM and by kernelinfo."""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random

from kernelinfo.pressure.function import LiveFunction
from kernelinfo.pressure.listing import read_listing
from kernelinfo.pressure.registers import (
    AGPRS,
    EVERY,
    SGPRS,
    VGPRS,
    count,
    from_directives,
    named_by_compiler,
)

from ..reading.inside import SourceFiles, by_field, number, read_block, without_comments
from .random_kernels import source

TARGETS = ("gfx906", "gfx908", "gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1201")
_CLANG = (
    *("clang-22", "-x", "hip", "--cuda-device-only", "-nogpuinc", "-nogpulib", "-fuse-cuid=none"),
    *("-std=c++17", "-O3", "-w", "-emit-llvm", "-S"),
)
_DESCRIBED = re.compile(r"^\s*\.amdhsa_kernel (\S+)\n(.*?)\.end_amdhsa_kernel", re.M | re.S)
_FUNCTION = re.compile(r"^# Machine code for function (\S+?):", re.M)
_BLOCK = re.compile(r"^bb\.(\d+)[ :.(].*?:\n(.*?)(?=^bb\.|\Z)", re.M | re.S)
_LIVE_INS = re.compile(r"^\s*liveins: (.*)$", re.M)
_LIVE_IN = re.compile(r"(\$\w+)(?::0x([0-9A-Fa-f]+))?")


def compiled(random: Random, target: str, kernels: int, folder: Path) -> tuple[str, str]:
    """Assembly of random kernels, and LLVM's dump of them after branch relaxation."""
    debug = ["-g"] if random.random() < 0.3 else []
    ir, assembly = folder / "unit.ll", folder / "unit.s"
    written = source(random, kernels)
    command = [*_CLANG, *debug, f"--offload-arch={target}", "-", "-o", str(ir)]
    subprocess.run(command, input=written, text=True, check=True, capture_output=True)
    llc = ["llc-22", "-O3", "-print-after=branch-relaxation", str(ir), "-o", str(assembly)]
    done = subprocess.run(llc, text=True, check=True, capture_output=True)
    return assembly.read_text(), done.stderr


def compare(text: str, dump: str) -> Counter[str]:
    """Number of registers of labelled blocks that both list, only LLVM lists, only we list.

    Keys are `both`, `llvm` and `ours`, each with ` V` for vector and ` S` for scalar registers.
    `blocks` and `kernels` count these; `loops agree` counts kernels with the loop headers and
    depths of LLVM's comments.
    """
    tally: Counter[str] = Counter()
    theirs = dict(_dumped(dump))
    for name, function in kernels_of(text):
        tally["kernels"] += 1
        numbers = {}
        for block, labels in enumerate(function.labels):
            if labels and (match := re.fullmatch(r"\.LBB\d+_(\d+)", labels[0])):
                numbers[int(match[1])] = block
        for label, block in numbers.items():
            if label not in theirs[name] or not function.flow.is_reached(block):
                continue
            tally["blocks"] += 1
            own, other = function.live_in(block), theirs[name][label]
            for letter, part in (("V", VGPRS | AGPRS), ("S", SGPRS)):
                for key, both in (
                    ("both", own & other),
                    ("llvm", other & ~own),
                    ("ours", own & ~other),
                ):
                    tally[f"{key} {letter}"] += sum(count(both & part))
        tally["loops agree"] += loops_agree(text, name, function)
    return tally


def loops_agree(text: str, name: str, function: LiveFunction) -> bool:
    """True if the graph has the loop headers and depths that LLVM's comments name."""
    start = text.index(f"\n{name}:")
    body = text[start : text.find(".Lfunc_end", start)]
    stated = set(_headers(body))
    found = {(*function.labels[loop.header][:1], loop.depth) for loop in function.loops}
    return stated == found


def _headers(body: str) -> Iterator[tuple[str, int]]:
    """Label and depth of each loop in LLVM's comments."""
    label = ""
    for line in body.split("\n"):
        if match := re.match(r"(\.LBB\d+_\d+):", line):
            label = match[1]
        elif re.match(r"; %bb\.\d+:", line):
            label = re.sub(r"; %bb\.(\d+):.*", r"%bb.\1", line)
        if header := re.search(r"=>\s*This (?:Inner )?Loop Header: Depth=(\d+)", line):
            yield label, int(header[1])


def _dumped(dump: str) -> Iterator[tuple[str, dict[int, int]]]:
    parts = _FUNCTION.split(dump)
    for name, body in zip(parts[1::2], parts[2::2], strict=True):
        yield name, {int(m[1]): _live_ins(m[2]) for m in _BLOCK.finditer(body)}


def _live_ins(block: str) -> int:
    found = 0
    stated = _LIVE_INS.search(block)
    for name, lanes in _LIVE_IN.findall(stated[1]) if stated else ():
        (registers,) = named_by_compiler(name) or [0]
        found |= _of_lanes(registers, name, int(lanes, 16)) if lanes else registers
    return found


def _of_lanes(registers: int, name: str, lanes: int) -> int:
    """Registers of a tuple whose lanes are in the mask, two bits per register."""
    found = 0
    for position, part in enumerate(re.findall(r"[vas]gpr\d+", name)):
        if lanes >> 2 * position & 3:
            (one,) = named_by_compiler(f"${part}")
            found |= one & registers
    return found


def function_of(text: str, name: str = "", entry: int | None = None) -> LiveFunction:
    """The function whose label is on the first line of `text`."""
    names_registers = "/*v" in text
    plain = text if names_registers else without_comments(text.encode()).decode()
    lines = plain.split("\n")
    set_up = EVERY if entry is None else entry
    return LiveFunction(read_listing(lines, 1, SourceFiles(), lambda *_: None, name), set_up)


def kernels_of(text: str) -> Iterator[tuple[str, LiveFunction]]:
    """Symbol and function of every kernel in a compiler's text."""
    lines = text.split("\n")
    labels = {line.partition(":")[0]: number for number, line in enumerate(lines) if ":" in line}
    for described in _DESCRIBED.finditer(text):
        first = labels[described[1]]
        listing = read_listing(
            lines[first:], first + 1, SourceFiles(), lambda *_: None, described[1]
        )
        yield described[1], LiveFunction(listing, set_up_by(described[0]))


def set_up_by(block: str) -> int:
    """Registers set at kernel entry by the text of an `.amdhsa_kernel` or `.amd_kernel_code_t`."""
    kind = "amdhsa_kernel" if ".amdhsa_kernel" in block else "amd_kernel_code_t"
    fields = by_field(read_block(block.encode(), block.index("."), kind)[0])
    return from_directives({name: number(one.value) for name, one in fields.items()})
