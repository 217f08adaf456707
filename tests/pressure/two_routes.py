"""Text and object of one compilation; objects with extra symbols, data or broken words."""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, NamedTuple, cast

import pytest
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from kernelinfo.analysis.options import Options
from kernelinfo.hardware.targets import find, known
from kernelinfo.kernel.instruction_counts import InstructionCounts
from kernelinfo.pressure.code_file import MachineCode, code_file
from kernelinfo.pressure.disassemblers import programs
from kernelinfo.pressure.function import LiveFunction
from kernelinfo.pressure.measure import Look, Measured, measure

from ..differential.clang import Clang
from ..differential.compilers import Compiler, Setting
from ..differential.shapes import random_shape
from ..differential.triton_wheel import Triton
from .random_kernels import source

TARGETS = (
    *("gfx803", "gfx906", "gfx908", "gfx90a", "gfx942", "gfx950"),
    *("gfx1010", "gfx1030", "gfx1100", "gfx1201", "gfx1250"),
)
COMPILERS: tuple[Compiler, ...] = (Clang(15), Clang(19), Clang(22), Triton())
OBJDUMP = "llvm-objdump-22"
_FLAGS = ("-d", "-z", "--no-show-raw-insn", "--no-leading-addr")
_LINE = re.compile(r"^\s+(\S.*?)\s*// ([0-9A-F]{8,16}): ([0-9A-F ]+)")
_BRANCH = re.compile(r"s_c?branch\S*")
_CODE = re.compile(r"^\t(?!;)[a-z]\w+[ \t].*(?<!:)$|^\ts_endpgm$")


NEEDED = ("clang-22", "lld-22", "llvm-22")
"""Tools (tests/tools.toml) of every comparison here."""
needed = pytest.mark.needs(*NEEDED)


@dataclass(frozen=True, slots=True)
class Unit:
    """Random kernels with loops and branches, as a unit of a differential run."""

    text: str

    def source(self, name: str) -> str:
        """The whole unit. It ignores the name."""
        return self.text


def compiled(
    compiler: Compiler, setting: Setting, random: Random, kernels: int, folder: Path
) -> tuple[Path, Path]:
    """Assembly and linked object of random kernels. Raises `CalledProcessError`."""
    if isinstance(compiler, Clang):
        shapes = cast(Any, {"unit": Unit(source(random, kernels))})
    else:
        size, target = setting.wave_size, setting.target
        shapes = {f"k{number}": random_shape(random, target, size) for number in range(kernels)}
    return compiler.build(setting, shapes, folder)


class Numbers(NamedTuple):
    """Numbers of a kernel that both routes must state."""

    instructions: int  # without `s_nop`: assemblers align loops with it
    used: tuple[int, ...]
    peak: tuple[int, ...]
    counts: InstructionCounts  # as `instructions`


class Read(NamedTuple):
    """One kernel of a file."""

    numbers: Numbers
    reasons: tuple[str, ...]  # reasons why the numbers may be too small
    function: LiveFunction


def read(path: Path) -> dict[str, Read]:
    """Symbol → every kernel of a file with instructions."""
    functions: list[LiveFunction] = []
    found = {}
    for item in measure(str(path), Options(), Look(at=functions.append)):
        if isinstance(item, Measured):
            story, function = item.story, functions[-1]
            code = [step.effect.mnemonic for step in function.instructions if step.is_code]
            counted = len(code) - code.count("s_nop")
            padding = code.count("s_nop")
            counts = story.code.counts
            counts = counts._replace(instructions=counted, other=counts.other - padding)
            numbers = Numbers(counted, story.used, story.peak.pressure, counts)
            found[item.result.kernel.symbol] = Read(numbers, story.reasons, function)
    return found


def compare(text: Path, linked: Path, tally: Counter[str]) -> Iterator[str]:
    """Differences between a text and the object of the same compilation.

    Comments on undefined values and spills are removed from the text: the object has none.
    """
    plain = text.with_name(f"plain-{text.name}")
    plain.write_text(re.sub("; implicit-def: .*|; .*-byte Folded .*", "", text.read_text("utf-8")))
    of_text, of_object = read(plain), read(linked)
    if of_text.keys() != of_object.keys():
        yield f"{text}: {sorted(of_text.keys() ^ of_object.keys())} in one of both"
    for symbol in of_text.keys() & of_object.keys():
        one, other = of_text[symbol], of_object[symbol]
        reasons = (*one.reasons, *other.reasons)
        tally["kernels"] += 1
        tally["inexact"] += bool(reasons)
        if not reasons and one.numbers != other.numbers:
            yield f"{text}: {symbol}: {one.numbers} in text, {other.numbers} in the object"
        tally.update({f"reason {reason}": 1 for reason in dict.fromkeys(reasons)})


class Line(NamedTuple):
    """One line of llvm-objdump."""

    address: int
    text: str
    words: tuple[str, ...]


def disassembled(path: Path) -> Iterator[tuple[str, list[Line]]]:
    """Name of each function with a size, and the lines of llvm-objdump inside it.

    pyelftools reads symbols and sizes.
    """
    command = [OBJDUMP, *_FLAGS, *_halves(path), str(path)]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    lines = [
        Line(int(found[2], 16), found[1], tuple(found[3].split()))
        for found in map(_LINE.match, printed.splitlines())
        if found
    ]
    with path.open("rb") as file:
        table = ELFFile(file).get_section_by_name(".symtab")
        assert isinstance(table, SymbolTableSection)
        for symbol in table.iter_symbols():
            start, size = symbol["st_value"], symbol["st_size"]
            if symbol["st_info"]["type"] == "STT_FUNC" and size:
                yield symbol.name, [one for one in lines if start <= one.address < start + size]


def _halves(path: Path) -> list[str]:
    """The flag by which llvm-objdump names halves of VGPRs, for targets that have them."""
    with path.open("rb") as file:
        mach = ELFFile(file)["e_flags"] & 0xFF
    (name,) = [one for one in known() if find(one).elf_mach == mach]
    return ["--mattr=+real-true16"] if name.startswith(("gfx11", "gfx12", "gfx13")) else []


def same_instructions(path: Path, tally: Counter[str]) -> Iterator[str]:
    """Kernels with other instructions than llvm-objdump between symbol and symbol + size."""
    found = read(path)
    for symbol, lines in disassembled(path):
        steps = [] if symbol not in found else found[symbol].function.instructions
        ours = [(step.address, _without_target(step.text)) for step in steps]
        theirs = [(one.address, _without_target(one.text)) for one in lines]
        tally["kernels"] += 1
        tally["instructions"] += len(theirs)
        if ours != theirs:
            yield f"{path}: {symbol}: {len(ours)} instructions, llvm-objdump has {len(theirs)}"


def _without_target(text: str) -> str:
    branch = _BRANCH.match(text)
    return branch[0] if branch else text


def with_symbols(text: str, random: Random) -> str:
    """A compiler's text with symbols of every binding before some instructions."""
    lines = text.split("\n")
    places = [number for number, line in enumerate(lines) if _CODE.match(line)]
    for count, number in enumerate(random.sample(places, min(len(places), random.randint(1, 40)))):
        name = f"inside_{count}"
        kind = random.choice(("", f"\t.globl {name}\n", f"\t.weak {name}\n", f"\t.hidden {name}\n"))
        lines[number] = f"{kind}{name}:\n{lines[number]}"
    return "\n".join(lines)


def with_data(text: str, linked: Path, random: Random) -> str:
    """A compiler's text with some instructions as data words of its object."""
    lines = text.split("\n")
    for symbol, printed in disassembled(linked):
        start = next(n for n, line in enumerate(lines) if line.startswith(f"{symbol}:"))
        places = []
        for number in range(start, len(lines)):
            if lines[number].startswith(".Lfunc_end"):
                break
            if _CODE.match(lines[number]):
                places.append(number)
        if len(places) != len(printed):
            continue  # assemblers put `s_nop` before aligned loops
        for number, one in random.sample(
            list(zip(places, printed, strict=True)), max(1, len(places) // 10)
        ):
            if not one.text.startswith(("s_cbranch", "s_branch", "s_getpc", "s_add", "s_setpc")):
                lines[number] = _as_data(one.words, random)
    return "\n".join(lines)


def _as_data(words: tuple[str, ...], random: Random) -> str:
    raw = b"".join(int(word, 16).to_bytes(4, "little") for word in words)
    name, size = random.choice(((".long", 4), (".4byte", 4), (".short", 2), (".byte", 1)))
    numbers = [int.from_bytes(raw[at : at + size], "little") for at in range(0, len(raw), size)]
    return f"\t{name} {', '.join(map(hex, numbers))}"


def assembled(text: Path, target: str) -> Path:
    """The object that llvm-mc 22 makes of a text."""
    made = text.with_suffix(".o")
    command = ["llvm-mc-22", "-triple", "amdgcn-amd-amdhsa", f"-mcpu={target}", "-filetype=obj"]
    subprocess.run([*command, str(text), "-o", str(made)], check=True, capture_output=True)
    return made


def undecodable(target: str, random: Random, count: int) -> list[int]:
    """Random words at which no installed LLVM decodes an instruction."""
    tails = [bytes(12), b"\xff" * 12, random.randbytes(12)]
    words = [random.getrandbits(32) for _ in range(20 * count)]
    good = set(words)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "words.co")
        codes = [
            MachineCode(str(number), 0, word.to_bytes(4, "little") + tail)
            for number, word in enumerate(words)
            for tail in tails
        ]
        path.write_bytes(code_file(codes, find(target).elf_mach))
        for program in programs():
            command = [program, *_FLAGS, str(path)]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            firsts = re.findall(r"^<\.f(\d+)>:\n\s+(\S+)", done.stdout, re.M)
            good -= {words[int(at) // len(tails)] for at, text in firsts if text[0] != "."}
    return [word for word in words if word in good][:count]


def broken(linked: Path, word: int, random: Random) -> dict[str, int]:
    """Symbol → address of a word put at the begin of a random instruction of each kernel."""
    raw = bytearray(linked.read_bytes())
    changed = {}
    with linked.open("rb") as file:
        segments = [one.header for one in ELFFile(file).iter_segments("PT_LOAD")]
    for symbol, lines in disassembled(linked):
        at = changed[symbol] = random.choice(lines).address
        (part,) = [one for one in segments if 0 <= at - one.p_vaddr < one.p_filesz]
        offset = at - part.p_vaddr + part.p_offset
        raw[offset : offset + 4] = word.to_bytes(4, "little")
    linked.write_bytes(raw)
    return changed
