"""gfx1250: registers of random instructions in a mode of `s_set_vgpr_msb`."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

from kernelinfo.pressure.function import LiveFunction
from kernelinfo.pressure.instructions import effect
from kernelinfo.pressure.registers import ranges

from .live_ins import function_of
from .two_routes import OBJDUMP, assembled

_MODES = (0x39, 0x5E)
"""Upper bits of sources and destination: 1, 2, 3, 0 and 2, 3, 1, 1."""
_BEGIN = '.amdgcn_target "amdgcn-amd-amdhsa--gfx1250"\n.text\nf:\n'
_COMMENT = re.compile(r"\s*/\*v[^*]*\*/")
_PAST_THE_END = re.compile(r"v\[(\d+):(\d+)\]")


def compared(lines: Sequence[str], folder: Path) -> tuple[int, list[str]]:
    """Number of instructions compared with llvm-objdump's comments, and those that differ.

    Only instructions with registers above v255 are compared.
    """
    count, faults = 0, []
    vector = [line.strip() for line in lines if not line.strip().startswith("s_")]
    accepted = _accepted(vector, folder)
    for mode in _MODES:
        text = folder / "modes.s"
        modes = "".join(f"s_set_vgpr_msb {mode}\n{line}\n" for line in accepted)
        text.write_text(f"{_BEGIN}{modes}s_endpgm\n")
        command = [OBJDUMP, "-d", "--no-show-raw-insn", str(assembled(text, "gfx1250"))]
        printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        theirs = [found[1] for found in re.finditer(r"^\t(\S.*?)\s*// [0-9A-F]", printed, re.M)]
        function: LiveFunction = function_of("\n".join(["f:", *map(_plain, theirs)]))
        for their, step in zip(theirs, function.instructions, strict=True):
            if "/*v" not in their or _crosses(their):
                continue
            count += 1
            named, ours = effect(their), step.effect
            if (ours.writes, ours.reads) != (named.writes, named.reads):
                faults.append(f"{their}: we have {ranges(ours.writes)} and {ranges(ours.reads)}")
    return count, faults


def _accepted(lines: list[str], folder: Path) -> list[str]:
    """Lines that the assembler accepts. It refuses some lines that the disassembler prints."""
    text = folder / "lines.s"
    while True:
        text.write_text(_BEGIN + "\n".join(lines) + "\n")
        command = ["llvm-mc-22", "-triple", "amdgcn-amd-amdhsa", "-mcpu=gfx1250", str(text)]
        refused = subprocess.run(command, capture_output=True, text=True, check=False).stderr
        found = re.findall(r"lines\.s:(\d+):\d+: error", refused)
        wrong = {int(number) - 1 - _BEGIN.count("\n") for number in found}
        if not wrong:
            return lines
        lines = [line for number, line in enumerate(lines) if number not in wrong]


def _plain(line: str) -> str:
    return _COMMENT.sub("", line)


def _crosses(line: str) -> bool:
    """True if a tuple begins below v256 and ends above: llvm-objdump prints it unchanged."""
    return any(int(found[2]) > 255 for found in _PAST_THE_END.finditer(_plain(line)))
