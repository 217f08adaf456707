"""Code objects -> the code of their kernels, by an installed llvm-objdump, with source lines."""

from __future__ import annotations

import re
import subprocess
import tempfile
import threading
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from itertools import count, product
from operator import itemgetter
from subprocess import DEVNULL, PIPE
from typing import IO

from kernelinfo.analysis.kernels import freed
from kernelinfo.errors import ReadError, bug
from kernelinfo.hardware.targets import Target
from kernelinfo.kernel import Kernel, Result
from kernelinfo.pressure.calls import CalledFunctions, FunctionBody, FunctionPlace, callee
from kernelinfo.pressure.function import LiveFunction
from kernelinfo.pressure.instructions import UNDECODED, Disassembled, InstructionEffect
from kernelinfo.pressure.listing import Instruction, Listing, known_effect, listing_of
from kernelinfo.pressure.machine_code import (
    MachineCode,
    code_file,
    function_code,
    programs,
    version,
)
from kernelinfo.pressure.messages import say
from kernelinfo.pressure.registers import EVERY, from_descriptor
from kernelinfo.reading.blob import Blob, Problem
from kernelinfo.reading.code_object import kernel_symbols
from kernelinfo.reading.code_object.descriptor import SIZE
from kernelinfo.reading.code_object.dwarf import read_line_table, read_units
from kernelinfo.reading.containers.formats import problem
from kernelinfo.reading.data import Data
from kernelinfo.reading.elf import ET_REL, SHT_RELA, read_elf
from kernelinfo.reading.facts import DebugUnit, SourceLine
from kernelinfo.reading.messages import in_kernel
from kernelinfo.reading.paths import in_repository

_FLAGS = ("-d", "-z", "--no-show-raw-insn", "--no-leading-addr")
_TRUE16 = ("gfx11", "gfx12", "gfx13")
"""Begins of names of processors whose instructions name halves of VGPRs (LLVM AMDGPU.td,
FeatureTrue16BitInsts)."""
_INVALID = "/*Invalid register"
"""Begin of llvm-objdump's comment on a register that no instruction can have there."""
_SECTION = re.compile(rb"Disassembly of section \.f(\d+):")
_WORDS = re.compile(rb"([0-9A-F]{8,16}): ([0-9A-F ]+)")
_SECONDS = 60
_MOST_FUNCTIONS, _MOST_BYTES = 512, 1 << 22  # per run, unless one function is larger


def listings(
    code_object: Data, names: Iterable[str], target: Target | None
) -> Iterator[tuple[str, Listing]]:
    """(name, listing) of each named function whose code is in the file.

    If a program cannot decode some words of a function, the next program tries. If none can decode
    all, the listing has the fewest undecoded words and is inexact. Raises `ReadError` if no program
    prints a function completely; the error's code is in `NO_PROGRAM` if no program is installed or
    none knows the target.
    """
    mach = target.elf_mach if target else read_elf(code_object, []).flags & 0xFF
    for batch in _batches(function_code(code_object, names)):
        for code, instructions in _instructions(batch, target, mach):
            yield code.name, _listing(instructions, dict(code.labels))


def _batches(codes: Iterable[MachineCode]) -> Iterator[list[MachineCode]]:
    """Groups of functions, one per run of a disassembler."""
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


_Disassembly = tuple[MachineCode, list[Disassembled]]


def _instructions(
    codes: Sequence[MachineCode], target: Target | None, mach: int
) -> Iterator[_Disassembly]:
    """(function, its instructions) from the first program that decodes all of the function, else
    from the one that decodes most of it. `mach` is the processor (EF_AMDGPU_MACH)."""
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
    """The flags of each way to decode a target's code, better ones first.

    Without the feature real-true16, llvm-objdump takes the high half of a VGPR for another
    register; with it, an old version knows fewer instructions.
    """
    is_true16 = target is not None and target.name.startswith(_TRUE16)
    return (("--mattr=+real-true16",), ()) if is_true16 else ((),)


def _refusal(tried: Sequence[str], target: Target | None, code: MachineCode) -> ReadError:
    """Why no program printed a function, and what to do."""
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
    """The functions that a program prints completely, one at a time; none if the program fails."""
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
    """The next section of the output. The program is killed if it takes longer than `_SECONDS`."""
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

    Bytes after the last complete word become one undecoded instruction.
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
        printed.address: to for printed in instructions if (to := printed.target) in index_at
    }
    taken = set(symbols.values())
    unused = (name for number in count() if (name := f"L{number}") not in taken)
    names = dict(zip(sorted(set(targets.values())), unused, strict=False))
    names.update((address, name) for address, name in symbols.items() if address in index_at)
    listed = []
    for printed in instructions:
        text = printed.text
        if printed.address in targets:
            text = printed.with_label(names[targets[printed.address]])
        effects = _NOT_DECODED if _is_undecoded(printed) else known_effect(text)
        listed.append(Instruction(text, effects, None, printed.address, None, None))
    return listing_of(listed, {name: index_at[to] for to, name in names.items()})


_NOT_DECODED = InstructionEffect(".long", (), 0, 0, "other", None, UNDECODED)


HALVES = "low halves: the object does not tell whether writing them keeps the high halves"
"""Reason for inexact results."""
_LineTable = Sequence[tuple[int, SourceLine | None]]
"""Address from which on code is of a source line → the line; in ascending order."""
_LOW, _HIGH = re.compile(r"\b(v\d+)\.l\b"), re.compile(r"\bv\d+\.h\b")


class ObjectCode:
    """The code of one code object."""

    def __init__(self, blob: Blob, target: Target | None) -> None:
        self._blob = blob
        self._target = target

    @staticmethod
    def decoded(chunks: Sequence[bytes], target: Target | None) -> list[list[Disassembled] | None]:
        """The instructions in each chunk of data; None if no disassembler decodes the chunk, or the
        target is not known."""
        codes = [MachineCode(str(number), 0, data) for number, data in enumerate(chunks)]
        decoded_chunks: list[list[Disassembled] | None] = [None] * len(codes)
        if target is None:
            return decoded_chunks
        try:
            for code, instructions in _instructions(codes, target, target.elf_mach):
                if not any(map(_is_undecoded, instructions)):
                    decoded_chunks[int(code.name)] = instructions
        except ReadError:
            pass  # no disassembler
        return decoded_chunks

    def listings(self, kernels: Sequence[Kernel]) -> Iterator[tuple[Kernel, Listing, int]]:
        """(kernel, its listing, registers set at its entry) of each kernel whose code is in the
        file; without source lines if the line table is damaged. Raises the errors of the function
        `listings`."""
        by_symbol = {kernel.symbol: kernel for kernel in kernels}
        table: _LineTable = []
        with suppress(ReadError):
            table = self._line_table
        for symbol, listing in listings(self._blob.data, by_symbol, self._target):
            kernel = by_symbol[symbol]
            yield kernel, _located(listing, table), _entry_of(kernel, self._blob.data)

    @cached_property
    def _line_table(self) -> _LineTable:
        with freed():
            return read_line_table(self._blob.data)

    def read(
        self, results: Sequence[Result]
    ) -> Iterator[tuple[Result, LiveFunction | Problem | None]]:
        """(kernel, its function) of each kernel; in place of the function, None if the file lacks
        its code, or a problem. A problem of the whole file ends the results and stands at the first
        kernel."""
        blob, by_symbol = self._blob, {result.kernel.symbol: result for result in results}
        try:
            table = self._line_table
            for symbol, listing in listings(blob.data, [*by_symbol], self._target):
                if result := by_symbol.pop(symbol, None):
                    try:
                        entry = _entry_of(result.kernel, blob.data)
                        yield result, _followed(_located(listing, table), entry)
                    except Exception as error:
                        yield result, problem(blob, in_kernel(result.kernel.symbol, bug(error)))
        except ReadError as error:
            yield results[0], problem(blob, error.message)
        except Exception as error:
            yield results[0], problem(blob, bug(error))
        else:
            yield from ((result, None) for result in by_symbol.values())

    @cached_property
    def callees(self) -> CalledFunctions:
        """The functions that kernels call, by address."""
        elf = read_elf(self._blob.data, [])
        is_relocated = any(
            section.type == SHT_RELA and section.name.startswith(".rela.text")
            for section in elf.sections
        )
        names: dict[int, str | None] = {}
        for name, symbol in kernel_symbols(elf, []).code.items():
            is_ambiguous = symbol.value in names and elf.type == ET_REL  # in another section
            names[symbol.value] = None if is_ambiguous else name

        def read(place: FunctionPlace) -> FunctionBody | None:
            name = names.get(int(place))
            for symbol, listing in listings(self._blob.data, [name] if name else [], self._target):
                return callee(symbol, listing)
            return None

        return CalledFunctions(read, not is_relocated)

    @property
    def functions(self) -> Mapping[str, int | None]:
        """Name of each function → None, because a code object has no line for its label."""
        return dict.fromkeys(kernel_symbols(read_elf(self._blob.data, []), []).code)

    def units(self, line: int) -> Iterator[DebugUnit]:
        """The units of debug information, up to the first that cannot be read.

        `line` has no effect here: it tells the units of an assembly text apart, where several may
        share a file.
        """
        try:
            yield from read_units(self._blob.data)
        except ReadError:  # the line table had the same error
            return


def _entry_of(kernel: Kernel, data: Data) -> int:
    """Registers that the kernel's descriptor sets up; all if it has no readable descriptor."""
    begins = (place.begin for place in kernel.places if place.source == "descriptor")
    start, version = next(begins, None), kernel.code_object.code_object_version
    if start is None or version is None or version < 3:
        return EVERY
    return from_descriptor(bytes(data.read(start, SIZE)))


def _followed(listing: Listing, entry: int) -> LiveFunction:
    """The function of disassembled code.

    An object does not say whether its compiler used halves of VGPRs (LLVM's feature real-true16),
    unless a high half proves it. Without that feature, the compiler took a write of `v1.l` for a
    write of all of v1. Where the two readings differ, the function is not exact.
    """
    function = LiveFunction(listing, entry)
    low = [bool(_LOW.search(instruction.text)) for instruction in listing.instructions]
    if not any(low) or any(_HIGH.search(instruction.text) for instruction in listing.instructions):
        return function
    code = [
        instruction._replace(effect=known_effect(_LOW.sub(r"\1", instruction.text)))
        if is_low
        else instruction
        for instruction, is_low in zip(listing.instructions, low, strict=True)
    ]
    of_wholes = LiveFunction(listing._replace(instructions=tuple(code)), entry)
    if _peak(of_wholes) == _peak(function):
        return function
    return LiveFunction(listing, entry, (HALVES,))


def _peak(function: LiveFunction) -> list[int]:
    """Most live registers of each class."""
    return [max(column) for column in zip(*function.counts, strict=True)]


def _located(listing: Listing, table: _LineTable) -> Listing:
    """The listing with source lines from the line table."""
    if not table:
        return listing
    located = []
    for instruction in listing.instructions:
        row = bisect_right(table, instruction.address or 0, key=itemgetter(0))
        line = table[row - 1][1] if row else None
        located.append(instruction._replace(source=in_repository(line) if line else None))
    return listing._replace(instructions=tuple(located))
