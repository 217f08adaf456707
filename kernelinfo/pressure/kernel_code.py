"""Kernels of one blob -> the function of each, and what it reads that nothing has written."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from kernelinfo.errors import bug
from kernelinfo.hardware.targets import Target
from kernelinfo.kernel import Kernel, Result
from kernelinfo.pressure.calls import CalledFunctions, FunctionBody, FunctionPlace, callee
from kernelinfo.pressure.flow import needed_from
from kernelinfo.pressure.function import LiveFunction
from kernelinfo.pressure.in_flight import WaitFlow
from kernelinfo.pressure.instructions import UNRESOLVED, Disassembled, operation
from kernelinfo.pressure.listing import KILL, Instruction, Listing, read_listing
from kernelinfo.pressure.prescan import ScannedText
from kernelinfo.pressure.registers import EVERY, named, union, whole
from kernelinfo.pressure.rules import access, is_merging
from kernelinfo.reading.assembly.directives import DEBUG_INFO, read_units
from kernelinfo.reading.assembly.scan import SourceFiles, label_offset
from kernelinfo.reading.blob import Blob, Problem
from kernelinfo.reading.containers.formats import problem
from kernelinfo.reading.data import decode, decoded_lines, line_end
from kernelinfo.reading.facts import DebugUnit
from kernelinfo.reading.messages import in_kernel

if TYPE_CHECKING:
    from kernelinfo.pressure.object_code import ObjectCode

_FILE = re.compile(rb"^[ \t]*+(?=\.file[ \t]+\d)", re.MULTILINE)
_FUNCTION = re.compile(rb"^[ \t]*+\.type[ \t]+([\w.$]+),@function[^\n]*\n(?=\1:)", re.MULTILINE)


class AssemblyText(ScannedText):
    """An assembly text, from which functions are read one at a time."""

    def __init__(self, data: bytes | memoryview) -> None:
        super().__init__(data)
        self._files_read = 0, SourceFiles()
        """Number of `.file` directives read, and the files that they name."""
        self._units: tuple[int, list[DebugUnit]] = -1, []
        """Offset of the debug information read last, and its units."""
        self._target: Target | None = None

    def function(self, symbol: str, line: int, target: Target | None = None) -> LiveFunction:
        """The function whose label is on a 1-based line; see `listing`."""
        listing = self.listing(symbol, line, target)
        entry, is_resolved = self.entry(symbol, line)
        return LiveFunction(listing, entry, () if is_resolved else (UNRESOLVED,))

    def listing(self, symbol: str, line: int, target: Target | None = None) -> Listing:
        """The instructions of the function whose label is on a 1-based line.

        Data among its instructions is decoded if the target is known.
        """
        self._target = target
        start = self.line_numbers.offset(line)
        return self._listing(symbol, start, line, self._files_before(start))

    def listings(self, kernels: Iterable[Kernel]) -> Iterator[tuple[Kernel, Listing, int]]:
        """Each kernel that has a label, with its listing and the registers set at its entry."""
        for kernel in kernels:
            if kernel.line is not None:
                listing = self.listing(kernel.symbol, kernel.line, kernel.target)
                yield kernel, listing, self.entry(kernel.symbol, kernel.line)[0]

    def _listing(self, symbol: str, start: int, line: int, files: SourceFiles) -> Listing:
        return read_listing(
            self._lines(symbol, start),
            line,
            files,
            self.value,
            symbol,
            self._decoded,
            self.described,
            self.expansion.macros,
            self.expansion.before(start),
        )

    def _decoded(self, chunks: Sequence[bytes]) -> list[list[Disassembled] | None]:
        """The instructions in each chunk of data; see `ObjectCode.decoded`."""
        return _object_code().decoded(chunks, self._target)

    @cached_property
    def callees(self) -> CalledFunctions:
        """The functions that kernels of this text call, by name."""
        return CalledFunctions(self._callee)

    def _callee(self, place: FunctionPlace) -> FunctionBody | None:
        """The function called `place`; None if the text does not define it, or defines it several
        times."""
        name = str(place)
        label = re.compile(rb"^[ \t]*+%b:" % re.escape(name.encode()), re.MULTILINE)
        starts = [match.start() for match in label.finditer(self.text)]
        if len(starts) != 1:  # not there, or in several modules
            return None
        line = self.line_numbers.number(starts[0])
        return callee(name, self._listing(name, starts[0], line, SourceFiles()))

    @property
    def functions(self) -> dict[str, int]:
        """Name of each function → 1-based line of its label."""
        number = self.line_numbers.number
        return {decode(match[1]): number(match.end()) for match in _FUNCTION.finditer(self.text)}

    def units(self, line: int) -> Iterable[DebugUnit]:
        """Units of the first debug information after a 1-based line."""
        start = self.line_numbers.offset(line)
        position = bisect_left(self._sections, start)
        if position == len(self._sections):
            return []
        section = self._sections[position]
        if section != self._units[0]:
            units = read_units(self.text, section, self._files_before(section))
            self._units = section, list(units)
        return self._units[1]

    @cached_property
    def _sections(self) -> list[int]:
        """Offsets of the debug information."""
        return [match.start() for match in DEBUG_INFO.finditer(self.text)]

    def _lines(self, symbol: str, start: int) -> Iterator[str]:
        """Lines from a label on, without the prefix that a log puts before each line."""
        prefix = ""
        label = label_offset(self.text, symbol, start, line_end(self.text, start))
        if label is not None:
            prefix = decode(self.text[start:label])
            prefix = prefix if prefix.strip() else ""
            # A quoted name may contain characters that begin a comment.
            start = self.text.find(b":", label + len(symbol.encode())) + 1
        for line in decoded_lines(self.text, start):
            yield line.removeprefix(prefix)

    @cached_property
    def _files(self) -> list[int]:
        """Offsets of the numbered `.file` directives."""
        return [match.end() for match in _FILE.finditer(self.text)]

    def _files_before(self, offset: int) -> SourceFiles:
        read, files = self._files_read
        count = bisect_left(self._files, offset)
        if count < read:
            read, files = 0, SourceFiles()
        for stated in self._files[read:count]:
            files.take(self.text, stated)
        self._files_read = count, files
        return files


def code_in(blob: Blob, kernel: Kernel) -> AssemblyText | ObjectCode:
    """The code of the blob that contains this kernel: assembly text or a code object."""
    if kernel.code_object.kind == "assembly":
        return AssemblyText(blob.data.read())
    return _object_code()(blob, kernel.target)


def _object_code() -> type[ObjectCode]:
    # pyelftools and what runs llvm-objdump: a third of the time of a short text.
    from kernelinfo.pressure.object_code import ObjectCode

    return ObjectCode


def functions_of(
    code: AssemblyText | ObjectCode, blob: Blob, results: Sequence[Result]
) -> Iterator[tuple[Result, LiveFunction | Problem | None]]:
    """(kernel, its function or a problem) for each kernel of a blob; None without code. `code`
    comes from `code_in`."""
    if not isinstance(code, AssemblyText):
        yield from code.read(results)
        return
    for result in results:
        kernel = result.kernel
        line, target = kernel.line, kernel.target
        try:
            yield result, None if line is None else code.function(kernel.symbol, line, target)
        except Exception as error:
            yield result, problem(blob, in_kernel(kernel.symbol, bug(error)))


def unwritten(function: LiveFunction) -> int:
    """Registers that some path from the entry reads before anything writes them and that no path
    writes first, unless the kernel's descriptor sets them up.

    LLVM's `implicit-def` comments count as writes. An instruction that changes a part of a register
    does not read the rest. Empty if the code or the entry state is uncertain.
    """
    if function.reasons or function.entry == EVERY or not function.code:
        return 0
    suspects = whole(function.needed[0] & ~whole(function.entry))
    if not suspects:
        return 0
    reads_first, writes_first, touches = list[int](), list[int](), list[int]()
    for block in range(function.size):
        read = written = 0
        for index in function.flow.instructions(block):
            instruction = function.instructions[index]
            if (instruction.effect.reads | instruction.effect.writes) & suspects:
                read |= whole(_reads(instruction)) & suspects & ~(read | written)
                written |= whole(instruction.effect.writes) & suspects & ~(read | written)
        reads_first.append(read)
        writes_first.append(written)
        touches.append(read | written)
    first_read, are_all = needed_from(function.flow, reads_first, touches)
    first_written, are_all_too = needed_from(function.flow, writes_first, touches)
    return first_read[0] & ~first_written[0] if are_all and are_all_too else 0


def _reads(instruction: Instruction) -> int:
    """Registers whose old value an instruction uses, rather than merely leaving a part of it
    unchanged."""
    effect = instruction.effect
    if effect.mnemonic == KILL:
        return 0
    if not effect.reads & effect.writes or not instruction.text:
        return effect.reads
    return union(map(_reads_of_half, instruction.text.split("::")))


def _reads_of_half(text: str) -> int:
    taken, encoding = operation(text)
    written, kept = access(taken, encoding)
    merged = kept if is_merging(taken) else ()
    return union(
        named(operand)
        for position, operand in enumerate(taken.operands)
        if not operand[:1].isdigit()
        and (position not in written or (position in kept and position not in merged))
    )


def wait_flow(kernel: Kernel, function: LiveFunction) -> WaitFlow:
    """The loads in flight at each instruction of a kernel, or of a device function in a file with
    kernels."""
    counters = kernel.target.counters if kernel.target else ()
    if is_compiled := bool(kernel.code_object.stamps):
        counters = tuple(counter.of_llvm for counter in counters)
    return WaitFlow(function, counters, trusts_calls=is_compiled)
