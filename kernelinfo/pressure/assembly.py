"""Functions of an assembly text."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cached_property, partial

from kernelinfo.hardware.targets import Target
from kernelinfo.pressure.calls import CalledFunctions, FunctionBody, FunctionPlace, body_of
from kernelinfo.pressure.disassembly import decoded
from kernelinfo.pressure.function import LiveFunction
from kernelinfo.pressure.instructions import UNRESOLVED
from kernelinfo.pressure.listing import Listing, read_listing
from kernelinfo.pressure.registers import EVERY, SETTING_UP, from_directives
from kernelinfo.reading.assembly.directives import (
    DEBUG_INFO,
    Expansion,
    read_block,
    read_expansion,
    read_units,
)
from kernelinfo.reading.assembly.expressions import Definitions, Evaluator, Unresolved, number
from kernelinfo.reading.assembly.scan import (
    ASSIGNMENT,
    SourceFiles,
    described_kernel,
    is_directive,
    label_offset,
    marks,
    without_comments,
)
from kernelinfo.reading.data import Lines, decode, decoded_lines, line_end, searchable
from kernelinfo.reading.debug_entries import DebugUnit

_FILE = re.compile(rb"^[ \t]*+(?=\.file[ \t]+\d)", re.MULTILINE)
_DESCRIPTOR = re.compile(rb"\.amdhsa_kernel[ \t]++([^\n]*+)")
_CALLS = "calls"
_CALLED = re.compile(r"(?<![\w.$])([\w.$]++)@(?:rel32|gotpcrel32)@lo")
"""Symbol whose address an instruction takes: a function or a variable."""
_MOST_CALLEES = 8
_FUNCTION = re.compile(rb"^[ \t]*+\.type[ \t]+([\w.$]+),@function[^\n]*\n(?=\1:)", re.MULTILINE)
_NEAR = 1 << 12  # most bytes between a kernel's label and its amd_kernel_code_t


class AssemblyText:
    """An assembly text, from which functions are read one at a time."""

    def __init__(self, data: bytes | memoryview) -> None:
        self._text = without_comments(searchable(data))
        self._files_read = 0, SourceFiles()
        """Number of `.file` directives read, and the files that they name."""
        self._units: tuple[int, list[DebugUnit]] = -1, []
        """Offset of the debug information read last, and its units."""
        self._target: Target | None = None
        self._peaks: dict[str, str] = {}
        """Name of a called function → its peak in words."""

    def function(self, symbol: str, line: int, target: Target | None = None) -> LiveFunction:
        """The function whose label is on a 1-based line; see `listing`."""
        listing = self.listing(symbol, line, target)
        doubts: list[str] = []
        if _CALLS in listing.reasons:
            doubts += filter(None, map(self._peak, _callees(listing)))
        entry, is_resolved = self.entry(symbol, line)
        if not is_resolved:
            doubts.append(UNRESOLVED)
        return LiveFunction(listing, entry, doubts)

    def entry(self, symbol: str, line: int) -> tuple[int, bool]:
        """Registers that are set at the entry of the kernel whose label is on a 1-based line, and
        false if its descriptor cannot be evaluated."""
        stated = self._set_up(symbol, self._line_numbers.offset(line))
        if stated is None:
            return EVERY, True
        return from_directives(stated), None not in stated.values()

    def listing(self, symbol: str, line: int, target: Target | None = None) -> Listing:
        """The instructions of the function whose label is on a 1-based line.

        Data among its instructions is decoded if the target is known.
        """
        self._target = target
        start = self._line_numbers.offset(line)
        return self._listing(symbol, start, line, self._files_before(start))

    def _listing(self, symbol: str, start: int, line: int, files: SourceFiles) -> Listing:
        return read_listing(
            self._lines(symbol, start),
            line,
            files,
            self.value,
            symbol,
            partial(decoded, target=self._target),
            self._described,
            self._expansion.macros,
            self._expansion.before(start),
        )

    @cached_property
    def _expansion(self) -> Expansion:
        return read_expansion(self._text)

    @cached_property
    def callees(self) -> CalledFunctions:
        """The functions that kernels of this text call, by name."""
        return CalledFunctions(self._callee, {})

    def _callee(self, place: FunctionPlace) -> tuple[str, FunctionBody] | None:
        """The symbol and the body of a function; None if the text does not define it, or not all
        of it is known."""
        name = str(place)
        label = re.compile(rb"^[ \t]*+%b:" % re.escape(name.encode()), re.MULTILINE)
        starts = [found.start() for found in label.finditer(self._text)]
        if len(starts) != 1:  # not there, or in several modules
            return None
        (start,) = starts
        files = SourceFiles()
        found_body = body_of(self._listing(name, start, self._line_numbers.number(start), files))
        return found_body and (name, found_body)

    def _peak(self, name: str) -> str:
        """The peak of a called function in words; empty if the text does not define it."""
        start = self._functions.get(name)
        if start is not None and name not in self._peaks:
            listing = self._listing(name, start, self._line_numbers.number(start), SourceFiles())
            function = LiveFunction(listing, EVERY)
            most = max((sum(counts[:2]) for counts in function.counts), default=0)
            bound = "at least " if function.reasons else ""
            self._peaks[name] = f"{name} has {bound}{most} vector registers live at its peak"
        return self._peaks.get(name, "")

    @cached_property
    def _functions(self) -> dict[str, int]:
        """Name of a function → offset of its label."""
        return {decode(found[1]): found.end() for found in _FUNCTION.finditer(self._text)}

    @cached_property
    def _line_numbers(self) -> Lines:
        return Lines(self._text)

    def units(self, line: int) -> Iterable[DebugUnit]:
        """Units of the first debug information after a 1-based line."""
        start = self._line_numbers.offset(line)
        at = bisect_left(self._sections, start)
        if at == len(self._sections):
            return []
        section = self._sections[at]
        if section != self._units[0]:
            units = read_units(self._text, section, self._files_before(section))
            self._units = section, list(units)
        return self._units[1]

    @cached_property
    def _sections(self) -> list[int]:
        """Offsets of the debug information."""
        return [found.start() for found in DEBUG_INFO.finditer(self._text)]

    def _lines(self, symbol: str, start: int) -> Iterator[str]:
        """Lines from a label on, without the prefix that a log puts before each line."""
        prefix = ""
        label = label_offset(self._text, symbol, start, line_end(self._text, start))
        if label is not None:
            prefix = decode(self._text[start:label])
            prefix = prefix if prefix.strip() else ""
            # A quoted name may contain characters that begin a comment.
            start = self._text.find(b":", label + len(symbol.encode())) + 1
        for line in decoded_lines(self._text, start):
            yield line.removeprefix(prefix)

    @cached_property
    def _files(self) -> list[int]:
        """Offsets of the numbered `.file` directives."""
        return [match.end() for match in _FILE.finditer(self._text)]

    def _files_before(self, offset: int) -> SourceFiles:
        read, files = self._files_read
        wanted = bisect_left(self._files, offset)
        if wanted < read:
            read, files = 0, SourceFiles()
        for stated in self._files[read:wanted]:
            files.take(self._text, stated)
        self._files_read = wanted, files
        return files

    @cached_property
    def _described(self) -> dict[str, list[int]]:
        """Name of a kernel → offsets of its descriptors."""
        found: dict[str, list[int]] = defaultdict(list)
        for directive in _DESCRIPTOR.finditer(self._text):
            if is_directive(self._text, directive.start()):
                found[described_kernel(directive[1])].append(directive.start())
        return found

    def _set_up(self, symbol: str, start: int) -> dict[str, int | None] | None:
        """Values in a kernel's descriptor that say which registers are set at its entry.

        A value is None if it cannot be evaluated. None without a whole descriptor.
        """
        kind = "amdhsa_kernel"
        if offsets := self._described.get(symbol):
            offset = next((one for one in offsets if one >= start), offsets[0])
        else:
            kind = "amd_kernel_code_t"
            offset = self._text.find(b"." + kind.encode(), start, start + _NEAR)
        if offset < 0:
            return None
        block, is_whole = read_block(self._text, offset, kind)
        if not is_whole:
            return None
        line, fields = self._line_numbers.number(offset), block.by_field
        return {
            name: self.value(fields[name].value, line + fields[name].line)
            for name in SETTING_UP
            if name in fields
        }

    def value(self, expression: str, line: int) -> int | None:
        """The value of an expression on a 1-based line; None if it cannot be evaluated."""
        plain = number(expression)
        value = self._values.value(expression, line) if plain is None else plain
        return None if isinstance(value, Unresolved) else value

    @cached_property
    def _values(self) -> Evaluator:
        """Evaluator of the text's symbols. Only registers of hand-written code need it."""
        lines, definitions, read = self._line_numbers, Definitions(), 0
        for offset, kind in marks(self._text):
            if offset < read:
                continue
            if kind in ("set", "equ"):
                read = definitions.add_sets(self._text, offset, lines)
            elif kind == ASSIGNMENT:
                definitions.add_assignment(self._text, offset, lines)
        if self._expansion.any_symbol:
            definitions.clear()
        for name in self._expansion.symbols:
            definitions.pop(name, None)
        return Evaluator(definitions, None)


def _callees(listing: Listing) -> list[str]:
    """The first few symbols whose addresses a function takes."""
    found = (_CALLED.search(one.text) for one in listing.instructions if "@" in one.text)
    return list(dict.fromkeys(match[1] for match in found if match))[:_MOST_CALLEES]
