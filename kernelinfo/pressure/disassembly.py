"""Machine code -> the instructions of each function, by an installed llvm-objdump."""

from __future__ import annotations

import re
import subprocess
import tempfile
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count, product
from subprocess import DEVNULL, PIPE
from typing import IO, NamedTuple

from kernelinfo.errors import ReadError
from kernelinfo.hardware.targets import Target
from kernelinfo.pressure.instructions import UNDECODED, DataInstruction, InstructionEffect
from kernelinfo.pressure.listing import (
    Instruction,
    Listing,
    known_effect,
    listing_of,
)
from kernelinfo.pressure.machine_code import (
    MachineCode,
    code_file,
    function_code,
    programs,
    version,
)
from kernelinfo.pressure.messages import say
from kernelinfo.reading.data import Data
from kernelinfo.reading.elf import read_elf

_FLAGS = ("-d", "-z", "--no-show-raw-insn", "--no-leading-addr")
_TRUE16 = ("gfx11", "gfx12", "gfx13")
"""Begins of names of processors whose instructions name halves of VGPRs (LLVM AMDGPU.td,
FeatureTrue16BitInsts)."""
_INVALID = "/*Invalid register"
"""Begin of llvm-objdump's comment on a register that no instruction can have there."""
_SECTION = re.compile(rb"Disassembly of section \.f(\d+):")
_WORDS = re.compile(rb"([0-9A-F]{8,16}): ([0-9A-F ]+)")
_BRANCH = re.compile(r"^((?:s_c?branch|s_subvector_loop)\w*+ (?:.*[ ,])?)-?(?:0x[0-9a-f]+|\d+)$")
_SECONDS = 60
_MOST_FUNCTIONS, _MOST_BYTES = 512, 1 << 22  # per run, unless one function is larger


class Disassembled(NamedTuple):
    """One instruction as llvm-objdump prints it."""

    address: int
    text: str
    words: tuple[int, ...]  # 32-bit words of its encoding


def listings(
    code_object: Data, names: Iterable[str], target: Target | None
) -> Iterator[tuple[str, Listing]]:
    """The name and the listing of each named function whose code is in the file.

    A function with words that one program cannot decode goes to the next program. If none can
    decode it, its listing has the fewest such words and is inexact. Raises `ReadError` if no
    program prints a function whole; its code is in `NO_PROGRAM` if none could.
    """
    mach = target.elf_mach if target else read_elf(code_object, []).flags & 0xFF
    for batch in _batches(function_code(code_object, names)):
        for code, instructions in _instructions(batch, target, mach):
            yield code.name, _listing(instructions, dict(code.labels))


def _batches(codes: Iterable[MachineCode]) -> Iterator[list[MachineCode]]:
    """Groups of functions, one for each run of a disassembler."""
    batch: list[MachineCode] = []
    size = 0
    for code in codes:
        size += len(code.data)
        if batch and (len(batch) == _MOST_FUNCTIONS or size > _MOST_BYTES):
            yield batch
            batch, size = [], len(code.data)
        batch.append(code)
    if batch:
        yield batch


def decoded(chunks: Sequence[bytes], target: Target | None) -> list[list[DataInstruction] | None]:
    """The instructions in each chunk of data; None if no disassembler decodes the chunk, or the
    target is not known."""
    codes = [MachineCode(str(number), 0, data) for number, data in enumerate(chunks)]
    decoded_chunks: list[list[DataInstruction] | None] = [None] * len(codes)
    if target is None:
        return decoded_chunks
    try:
        for code, instructions in _instructions(codes, target, target.elf_mach):
            if not any(map(_is_undecoded, instructions)):
                index_at = {
                    instruction.address: index for index, instruction in enumerate(instructions)
                }
                index_at[len(code.data)] = len(instructions)
                decoded_chunks[int(code.name)] = [
                    DataInstruction(instruction.text, index_at.get(_target(instruction)))
                    for instruction in instructions
                ]
    except ReadError:
        pass  # no disassembler
    return decoded_chunks


_Disassembly = tuple[MachineCode, list[Disassembled]]


def _instructions(
    codes: Sequence[MachineCode], target: Target | None, mach: int
) -> Iterator[_Disassembly]:
    """Each function with its instructions, by the first program that decodes all of it.

    Otherwise by the program that decodes most of it. `mach` is the processor (EF_AMDGPU_MACH).
    """
    yield from ((code, []) for code in codes if not code.data)
    pending = [code for code in codes if code.data]
    if not pending:
        return
    best: dict[MachineCode, list[Disassembled]] = {}
    tried = []
    for program, flags in product(programs(), _ways(target)):
        tried.append(program)
        for code, instructions in _disassembled([program, *flags], pending, mach):
            if not any(map(_is_undecoded, instructions)):
                best.pop(code, None)
                yield code, instructions
                pending = [other for other in pending if other is not code]
            elif code not in best or _undecoded(instructions) < _undecoded(best[code]):
                best[code] = instructions
        if not pending:
            return
    yield from best.items()
    if lost := [code for code in pending if code not in best]:
        raise _refusal(tried, target, lost[0])


def _ways(target: Target | None) -> tuple[tuple[str, ...], ...]:
    """Flags of each way to decode a target's code, the better first.

    Without the feature llvm-objdump takes the high half of a VGPR for another register. An old
    version knows fewer instructions with it.
    """
    is_true16 = target is not None and target.name.startswith(_TRUE16)
    return (("--mattr=+real-true16",), ()) if is_true16 else ((),)


def _refusal(tried: Sequence[str], target: Target | None, code: MachineCode) -> ReadError:
    """The reason why no program printed a function, and what to do."""
    if not tried:
        return ReadError(say("objdump-needed"))
    if target and target.llvm and 0 < (newest := max(map(version, tried))) < target.llvm:
        return ReadError(say("objdump-older", newest=newest, name=target.name, llvm=target.llvm))
    needed, function = say("objdump-needed"), code.name
    return ReadError(say("objdump-silent", needed=needed, program=tried[0], function=function))


def _is_undecoded(instruction: Disassembled) -> bool:
    text = instruction.text
    return not text or text[0] == "." or text == "v_illegal" or _INVALID in text


def _undecoded(instructions: Sequence[Disassembled]) -> int:
    return sum(map(_is_undecoded, instructions))


def _disassembled(
    command: Sequence[str], codes: Sequence[MachineCode], mach: int
) -> Iterator[_Disassembly]:
    """Functions that a program prints whole, one at a time; none if it fails."""
    with tempfile.NamedTemporaryFile(prefix="kernelinfo-", suffix=".co") as file:
        file.write(code_file(codes, mach))
        file.flush()
        whole = [*command, *_FLAGS, file.name]
        try:
            process = subprocess.Popen(whole, stdin=DEVNULL, stdout=PIPE, stderr=DEVNULL)
        except OSError:  # not a program for this machine
            return
        with process:
            try:
                assert process.stdout is not None
                sections = _sections(process.stdout)
                while section := _next(sections, process):
                    number, instructions = section
                    if number < len(codes) and (read := _whole(instructions, codes[number])):
                        yield codes[number], read
            except BaseException:
                process.kill()
                raise


_CodeSection = tuple[int, list[Disassembled]]


def _next(
    sections: Iterator[_CodeSection], process: subprocess.Popen[bytes]
) -> _CodeSection | None:
    """The next section. A program that takes longer than `_SECONDS` for it is killed."""
    limit = threading.Timer(_SECONDS, process.kill)
    limit.start()
    try:
        return next(sections, None)
    finally:
        limit.cancel()


def _sections(output: IO[bytes]) -> Iterator[_CodeSection]:
    """The number and the instructions of each section that a program prints."""
    number, instructions = -1, list[Disassembled]()
    for line in output:
        if header := _SECTION.match(line):
            if number >= 0:
                yield number, instructions
            number, instructions = int(header[1]), []
            continue
        text, _, encoding = line.rpartition(b"//")
        if number >= 0 and (match := _WORDS.search(encoding)):
            words = tuple(int(word, 16) for word in match[2].split())
            written = text.decode("utf-8", "replace").strip()
            instructions.append(Disassembled(int(match[1], 16), written, words))
    if number >= 0:
        yield number, instructions


def _whole(instructions: list[Disassembled], code: MachineCode) -> list[Disassembled]:
    """The instructions if their words are the whole code without a gap; otherwise none.

    Bytes after the last whole word become one undecoded instruction.
    """
    encoded = b"".join(
        word.to_bytes(4, "little") for instruction in instructions for word in instruction.words
    )
    end = len(code.data) // 4 * 4
    if encoded[:end] != code.data[:end]:
        return []
    tail = [Disassembled(code.address + end, ".byte", ())] if end < len(code.data) else []
    return instructions + tail


def _listing(instructions: Sequence[Disassembled], symbols: Mapping[int, str]) -> Listing:
    """The listing of one function.

    Labels are its symbols. Other branch targets are named `L0`, `L1` … by address, as llvm-objdump
    does.
    """
    index_at = {printed.address: index for index, printed in enumerate(instructions)}
    targets = {
        printed.address: to for printed in instructions if (to := _target(printed)) in index_at
    }
    taken = set(symbols.values())
    unused = (name for number in count() if (name := f"L{number}") not in taken)
    names = dict(zip(sorted(set(targets.values())), unused, strict=False))
    names.update((address, name) for address, name in symbols.items() if address in index_at)
    listed = []
    for printed in instructions:
        text = printed.text
        if printed.address in targets:
            text = " ".join((_BRANCH.sub(r"\1", text).rstrip(), names[targets[printed.address]]))
        effects = _NOT_DECODED if _is_undecoded(printed) else known_effect(text)
        listed.append(Instruction(text, effects, None, printed.address, None, None))
    return listing_of(listed, {name: index_at[to] for to, name in names.items()})


_NOT_DECODED = InstructionEffect(".long", (), 0, 0, "other", None, UNDECODED)


def _target(instruction: Disassembled) -> int:
    """The address that a branch leads to; −1 for other instructions.

    The low 16 bits count words from the next instruction (RDNA and CDNA ISA documents, SOPP and
    SOPK).
    """
    if not _BRANCH.match(instruction.text):
        return -1
    offset = instruction.words[0] & 0xFFFF
    offset -= (offset & 0x8000) << 1
    return instruction.address + 4 * len(instruction.words) + 4 * offset
