"""Functions of an assembly text."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

from kernelinfo.hardware.targets import Target
from kernelinfo.kernel import Kernel
from kernelinfo.pressure.calls import CalledFunctions, Callee, FunctionPlace
from kernelinfo.pressure.function import LiveFunction
from kernelinfo.pressure.instructions import UNRESOLVED, DataInstruction
from kernelinfo.pressure.listing import Listing, read_listing
from kernelinfo.pressure.prescan import ScannedText
from kernelinfo.reading.assembly.directives import DEBUG_INFO, read_units
from kernelinfo.reading.assembly.scan import (
    SourceFiles,
    label_offset,
)
from kernelinfo.reading.data import decode, decoded_lines, line_end
from kernelinfo.reading.facts import DebugUnit

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

    def _decoded(self, chunks: Sequence[bytes]) -> list[list[DataInstruction] | None]:
        """The instructions in each chunk of data; see `disassembly.decoded`."""
        # Runs llvm-objdump, for the few texts with data among the instructions.
        from kernelinfo.pressure.disassembly import decoded

        return decoded(chunks, self._target)

    @cached_property
    def callees(self) -> CalledFunctions:
        """The functions that kernels of this text call, by name."""
        return CalledFunctions(self._callee, {})

    def _callee(self, place: FunctionPlace) -> Callee | None:
        """A function; None if the text does not define it, or several times."""
        name = str(place)
        label = re.compile(rb"^[ \t]*+%b:" % re.escape(name.encode()), re.MULTILINE)
        starts = [match.start() for match in label.finditer(self.text)]
        if len(starts) != 1:  # not there, or in several modules
            return None
        line = self.line_numbers.number(starts[0])
        return Callee(name, self._listing(name, starts[0], line, SourceFiles()))

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
