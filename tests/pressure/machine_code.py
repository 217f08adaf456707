"""Registers that each instruction writes and reads, by LLVM's MC layer and by kernelinfo."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from kernelinfo.pressure.instructions import effect
from kernelinfo.pressure.kernel_code import AssemblyText
from kernelinfo.pressure.listing import evaluated
from kernelinfo.pressure.registers import ranges, span

from ..reading.inside import code_of, without_comments

_KEEPING_NAMES = b"\ns_set_vgpr_msb 0"
"""Only a text with this instruction has comments that name registers."""
SOURCE = Path(__file__).with_name("mc.cpp")
LIBRARY = Path("/usr/lib/x86_64-linux-gnu/libLLVM.so.22.1")
_HALF = re.compile(r"(VGPR|SGPR|AGPR)(\d+)_(LO|HI)16")
_SECONDS = 600


class Difference(NamedTuple):
    """An instruction whose registers differ between LLVM and kernelinfo."""

    text: str
    ours: tuple[int, int]
    """Registers written and read."""
    theirs: tuple[int, int]

    def __str__(self) -> str:
        (writes, reads), (defined, used) = self.ours, self.theirs
        return (
            f"{self.text}: only we write {ranges(writes & ~defined)} read {ranges(reads & ~used)},"
            f" only LLVM writes {ranges(defined & ~writes)} reads {ranges(used & ~reads)}"
        )


def headers() -> Path:
    """Folder of LLVM's headers, `llvm-22` and `llvm-c-22`."""
    return Path(os.environ.get("LLVM_22_HEADERS", "/usr/include"))


@cache
def program() -> str:
    """Path of the oracle, built anew in each run. Raises `CalledProcessError`."""
    built = Path(tempfile.mkdtemp(prefix="kernelinfo-mc-")) / "mc"
    includes = [f"-I{headers() / name}" for name in ("llvm-22", "llvm-c-22")]
    command = ["g++", "-std=c++17", "-fno-rtti", "-O1", *includes, str(SOURCE), str(LIBRARY)]
    subprocess.run([*command, "-o", str(built)], check=True, timeout=_SECONDS)
    return str(built)


def fuzzed(processor: str, seed: int, each: int, tries: int) -> list[str]:
    """Disassembled random encodings for a processor, up to `each` of every mnemonic."""
    command = [program(), "fuzz", processor, str(seed), str(each), str(tries)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=_SECONDS)
    return done.stdout.splitlines()


def compared(processor: str, path: Path) -> Iterator[tuple[str, Difference | None]]:
    """Each instruction of an assembly text that LLVM accepts; None if both agree."""
    plain = without_comments(path.read_bytes() + _KEEPING_NAMES)
    lines = plain.decode("utf-8", "replace").split("\n")
    symbols = AssemblyText(path.read_bytes())
    command = [program(), "access", processor, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=_SECONDS)
    for answer in done.stdout.splitlines():
        number, defined, used = answer.split("\t")
        text = _instruction(lines[int(number) - 1])
        text = evaluated(text, int(number), symbols.value)
        found = effect(text)
        ours, theirs = (found.writes, found.reads), (_registers(defined), _registers(used))
        yield text, None if ours == theirs else Difference(text, ours, theirs)


def _instruction(line: str) -> str:
    return re.sub(r"^\s*[\w.$]+:\s", "", code_of(line)).strip()


def _registers(halves: str) -> int:
    found = 0
    for kind, number, half in _HALF.findall(halves):
        if kind == "VGPR":
            found |= span("v", int(number), int(number), {"LO": "l", "HI": "h"}[half])
        else:
            found |= span(kind[0].lower(), int(number), int(number))
    return found


def reason(difference: Difference) -> str | None:
    """Reason why LLVM's description is the imprecise one; None if there is no explanation."""
    text, (writes, reads), (defined, used) = difference
    for pattern, side, why in _IMPRECISE:
        if re.match(pattern, text):
            kept = writes == defined and not used & ~reads and not reads & ~used & ~writes
            tied = writes == defined and not reads & ~used and not used & ~reads & ~writes
            nothing = writes == 0 and reads == used
            if {"kept": kept, "tied": tied, "nothing": nothing, "any": True}[side]:
                return why
    return None


_IMPRECISE = (
    (r"s_bitset|s_cmovk?_", "kept", "no tied operand for scalar read-modify-write"),
    (r"v_(dual_)?pk_fmac_f16", "kept", "no tied operand for v_pk_fmac_f16"),
    (r"\w*_d16", "kept", "no tied operand for loads of 16 bits"),
    (r"v_interp_p2_f32", "kept", "no tied operand for v_interp_p2"),
    (r"\w+ .*dst_unused:UNUSED_PRESERVE", "kept", "no tied operand for SDWA that preserves"),
    (r"\w+ .*\btfe\b", "kept", "no tied operand for loads with a status word"),
    (r".*(row_|quad_perm|wave_)", "tied", "DPP's old value is tied though every lane is written"),
    (r"image_atomic", "nothing", "image atomics without return define their data"),
    (r"exp .*\bcompr\b", "any", "compressed exports print a register twice"),
    (r"s_subvector_loop", "any", "the saved exec mask is described as read"),
    (r".*/\*v", "any", "the assembler reads the low byte of a register above v255"),
    (r"[vs]_movrel|v_swaprel", "any", "indexed: the register depends on m0"),
)
"""Mnemonics, kind of difference, reason."""
