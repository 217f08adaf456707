"""Text and object of one compilation; objects with extra symbols, data or broken words."""

from __future__ import annotations

import re
import shutil
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

import kernelinfo

from ..differential.clang import Clang
from ..differential.compilers import Compiler, Setting
from ..differential.shapes import random_shape
from ..differential.triton_wheel import Triton
from .random_kernels import source
from .texts import kernels

TARGETS = (
    *("gfx803", "gfx906", "gfx908", "gfx90a", "gfx942", "gfx950"),
    *("gfx1010", "gfx1030", "gfx1100", "gfx1201", "gfx1250"),
)
COMPILERS: tuple[Compiler, ...] = (Clang(15), Clang(19), Clang(22), Triton())
OBJDUMPS = ("llvm-objdump-15", "llvm-objdump-19", "llvm-objdump-22")
OBJDUMP = OBJDUMPS[-1]
_FLAGS = ("-d", "-z", "--no-show-raw-insn", "--no-leading-addr")
_LINE = re.compile(r"^\s+(\S.*?)\s*// ([0-9A-F]{8,16}): ([0-9A-F ]+)")
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

    used: dict[str, int]
    peak: list[int]
    counts: dict[str, int]
    """Instructions by class, without others: assemblers align loops with `s_nop`."""


class Read(NamedTuple):
    """One kernel of a file."""

    numbers: Numbers
    reasons: list[str]  # why the numbers may be too small
    instructions: int


def read(path: Path) -> dict[str, Read]:
    """Symbol → every kernel of a file with instructions."""
    found = {}
    for kernel in kernels(path):
        code, peak = kernel["code"], kernel["peak"]
        counts = {key: code[key] for key in code if isinstance(code[key], int)}
        counts["instructions"] -= counts.pop("other")
        counts.pop("code_bytes", None)  # a lower bound in a text
        pressure = [peak[name] for name in ("vector", "vgprs", "agprs", "sgprs")]
        numbers = Numbers(kernel["used"], pressure, counts)
        found[kernel["symbol"]] = Read(numbers, kernel["reasons"], kernel["instructions"])
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
    target = kernelinfo.load(path).kernels[0].code_object.target or ""
    return ["--mattr=+real-true16"] if target.startswith(("gfx11", "gfx12", "gfx13")) else []


def same_instructions(path: Path, tally: Counter[str]) -> Iterator[str]:
    """Kernels with other instructions than llvm-objdump between symbol and symbol + size."""
    found = read(path)
    for symbol, lines in disassembled(path):
        count = found[symbol].instructions if symbol in found else 0
        tally["kernels"] += 1
        tally["instructions"] += len(lines)
        if count != len(lines):
            yield f"{path}: {symbol}: {count} instructions, llvm-objdump has {len(lines)}"


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


def assembled(text: Path, target: str, *options: str) -> Path:
    """The object that llvm-mc 22 makes of a text."""
    made = text.with_suffix(".o")
    flags = ("-triple", "amdgcn-amd-amdhsa", f"-mcpu={target}", "-filetype=obj")
    command = ["llvm-mc-22", *flags, *options]
    subprocess.run([*command, str(text), "-o", str(made)], check=True, capture_output=True)
    return made


def undecodable(target: str, random: Random, count: int) -> list[int]:
    """Random words at which no installed LLVM decodes an instruction."""
    tails = (bytes(12), b"\xff" * 12, random.randbytes(12))
    words = [random.getrandbits(32) for _ in range(20 * count)]
    codes = [word.to_bytes(4, "little") + tail for word in words for tail in tails]
    good = set(words)
    with tempfile.TemporaryDirectory() as folder:
        text = Path(folder, "words.s")
        functions = (f"f{n}:\n.byte {','.join(map(str, code))}\n" for n, code in enumerate(codes))
        text.write_text("".join(functions))
        linked = assembled(text, target)
        for program in filter(None, map(shutil.which, OBJDUMPS)):
            command = [program, *_FLAGS, str(linked)]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            firsts = re.findall(r"^<f(\d+)>:\n\s+(\S+)", done.stdout, re.M)
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
