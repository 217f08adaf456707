"""The registers that plain assembly touches, without its liveness: for the many texts in which no
register can be read before it is written."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property

from kernelinfo.kernel.code_object import FEW_COPIES, TouchedRegisters
from kernelinfo.pressure import registers, rules
from kernelinfo.pressure.instructions import effect, operation
from kernelinfo.reading.assembly.directives import Expansion, by_field, read_block, read_expansion
from kernelinfo.reading.assembly.expressions import Definitions, number
from kernelinfo.reading.assembly.scan import (
    ASSIGNMENT,
    described_kernel,
    is_directive,
    label_offset,
    marks,
    without_comments,
)
from kernelinfo.reading.data import Lines, decode, line_end, searchable

_DESCRIPTOR = re.compile(rb"\.amdhsa_kernel[ \t]++([^\n]*+)")
_NEAR = 1 << 12  # most bytes between a kernel's label and its amd_kernel_code_t
_MOST_BLOCKS = 1 << 12
_UNSURE = (
    rb"[vs]_movrel|v_swaprel|v_illegal|s_set_?(?:gpr|vgpr|pc)|s_swap_?pc|s_call|s_add_pc|s_rfe"
    rb"|s_subvector"
)
"""Begins of mnemonics that lead elsewhere or touch registers that they do not name."""
_PLAIN = re.compile(
    rb"(?:[ \t]*+(?:[\w.$]++:[ \t]*+)?+(?:"
    rb"(?!" + _UNSURE + rb")"
    rb"(?:s_branch|s_cbranch_\w++)[ \t]++(?![vas]\d)[\w.$]++[ \t]*+"
    rb"|(?!" + _UNSURE + rb"|s_c?branch)"
    rb"(?:s|v|ds|lds|flat|global|t?buffer|scratch|image|cluster|tensor)_\w++[^\n]*+"
    rb"|exp[ \t][^\n]*+|\.(?:loc|file|cfi_\w++)\b[^\n]*+|\.(?:p2|b)?align[ \t]++\d++[ \t]*+)?+"
    rb"\r?(?:\n|\Z))*+"
)
"""Instructions and labels, one a line, and directives that make no code."""
_COMMENT = re.compile(rb"(?:;|//)[^\n]*+")
_END = re.compile(
    rb"(?m)^[ \t]*+(?:\.Lfunc_end\w*+:|\.(?:size|amdhsa_kernel|amdgpu_metadata|section|type"
    rb"|amd_amdgpu_hsa_metadata)\b)"
)
_LABELS = re.compile(rb"(?m)^[ \t]*+([\w.$]++):")
_LABEL_ALONE = re.compile(rb"[ \t]*+[\w.$]++:[ \t]*+")
_BRANCHES = re.compile(rb"(?<![\w.$@])s_(?:(branch|cbranch_\w++)[ \t]++([\w.$]++)|endpgm)")
_REGISTER = re.compile(
    rb"(?<![\w.$@])(?:v|acc|a|s)(?:\d{1,4}(?:\.[lh])?|\[\d{1,4}(?::\d{1,4})?\])(?![\w.$@])"
)
_UNNAMED = re.compile(rb"\[(?<=[vas]\[)(?!\d{1,4}(?::\d{1,4})?\])")
"""Registers named by symbols."""
_HALF = re.compile(rb"::[ \t]*+(?:\r?\n|\Z|::)")
_MATRIX = re.compile(rb"(?m)^[ \t]*+v_s?mf(?:ma|mac)_")
_CYCLES = re.compile(
    rb"(?m)^[ \t]*+(?:([\w.$]++):|s_c?branch(?:_\w++)?[ \t]++([\w.$]++)"
    rb"|v_accvgpr_(?:read|write)\w*+[ \t]++[^,\n]++,[ \t]*+(?:acc|[av])[\d\[])"
)
"""A label, a branch, or a copy between VGPRs and AGPRs."""
_LONG_BRANCH = b"post_getpc"
_PADDING = (b"s_nop", b"s_code_end")
_SETREG = re.compile(rb"s_setreg[^\n]*+")


class ScannedText:
    """An assembly text, and what can be told of its kernels without a full analysis of their
    code."""

    def __init__(self, data: bytes | memoryview) -> None:
        self.text = without_comments(searchable(data))

    def touched(self, symbol: str, line: int) -> TouchedRegisters | None:
        """The registers that the kernel with its label on a 1-based line touches; None where
        `prescan` returns None, and for a text with macros, a label after other text, or a
        descriptor that cannot be evaluated."""
        start = self.line_numbers.offset(line)
        label = label_offset(self.text, symbol, start, line_end(self.text, start))
        is_plain = label is not None and not self.text[start:label].strip()
        if not is_plain or self.expansion.macros or self.expansion.before(start):
            return None
        begin = self.text.find(b":", start + len(symbol.encode())) + 1
        entry, is_resolved = self.entry(symbol, line)
        return prescan(self.text, begin, entry, self.described) if is_resolved else None

    def may_copy_in_matrix_loop(self, symbol: str, line: int) -> bool:
        """False if the function whose label is on a 1-based line has no matrix instruction, or too
        few copies between VGPRs and AGPRs in loops for a finding."""
        if not self._has_copies:
            return False
        start = self.line_numbers.offset(line)
        label = label_offset(self.text, symbol, start, line_end(self.text, start))
        if label is None or self.text[start:label].strip() or self.expansion.macros:
            return True
        end = _END.search(self.text, label)
        return _copies_in_cycles(self.text[label : end and end.start()]) >= FEW_COPIES

    @cached_property
    def _has_copies(self) -> bool:
        return self.text.count(b"v_accvgpr_") >= FEW_COPIES

    def entry(self, symbol: str, line: int) -> tuple[int, bool]:
        """The registers that are set at the entry of the kernel whose label is on the given 1-based
        line, and False if its descriptor cannot be evaluated."""
        stated = self._set_up(symbol, self.line_numbers.offset(line))
        if stated is None:
            return registers.EVERY, True
        return registers.from_directives(stated), None not in stated.values()

    @cached_property
    def described(self) -> dict[str, list[int]]:
        """The offsets of each kernel's descriptors, by the kernel's name."""
        offsets: dict[str, list[int]] = defaultdict(list)
        for directive in _DESCRIPTOR.finditer(self.text):
            if is_directive(self.text, directive.start()):
                offsets[described_kernel(directive[1])].append(directive.start())
        return offsets

    def _set_up(self, symbol: str, start: int) -> dict[str, int | None] | None:
        """Values in a kernel's descriptor that say which registers are set at its entry.

        A value is None if it cannot be evaluated. None without a whole descriptor.
        """
        kind = "amdhsa_kernel"
        if offsets := self.described.get(symbol):
            offset = next((begin for begin in offsets if begin >= start), offsets[0])
        else:
            kind = "amd_kernel_code_t"
            offset = self.text.find(b"." + kind.encode(), start, start + _NEAR)
        if offset < 0:
            return None
        block, is_whole = read_block(self.text, offset, kind)
        if not is_whole:
            return None
        line, fields = self.line_numbers.number(offset), by_field(block)
        return {
            name: self.value(fields[name].value, line + fields[name].line)
            for name in registers.SETTING_UP
            if name in fields
        }

    def value(self, expression: str, line: int) -> int | None:
        """The value of an expression on a 1-based line; None if it cannot be evaluated."""
        plain = number(expression)
        value = self._definitions.value(expression, line) if plain is None else plain
        return value if isinstance(value, int) else None

    @cached_property
    def _definitions(self) -> Definitions:
        """Definitions of the text's symbols, read on first use: plain numbers, as compilers write,
        do not need them."""
        lines, definitions, read = self.line_numbers, Definitions(), 0
        for offset, kind in marks(self.text):
            if offset < read:
                continue
            if kind in ("set", "equ"):
                read = definitions.add_sets(self.text, offset, lines)
            elif kind == ASSIGNMENT:
                definitions.add_assignment(self.text, offset, lines)
        if self.expansion.any_symbol:
            definitions.clear()
        for name in self.expansion.symbols:
            definitions.pop(name, None)
        return definitions

    @cached_property
    def expansion(self) -> Expansion:
        return read_expansion(self.text)

    @cached_property
    def line_numbers(self) -> Lines:
        return Lines(self.text)


def prescan(
    text: bytes, start: int, entry: int, kernels: Collection[str]
) -> TouchedRegisters | None:
    """The registers that a kernel's code touches; the code begins at `start` of the text.

    None if that needs a full analysis: for calls, for registers that may be read before they are
    written, and for anything but plain instructions. `entry` holds the registers that are set at
    the kernel's entry, or `EVERY` if they are unknown; `kernels` are names at which other code
    begins.
    """
    end = _END.search(text, start)
    lines = _COMMENT.sub(b"", text[start : end.start() if end else len(text)]).splitlines()
    while lines and (not lines[-1].strip() or _LABEL_ALONE.fullmatch(lines[-1])):
        lines.pop()
    code = b"\n".join([*lines, b""])
    if not _PLAIN.fullmatch(code) or _UNNAMED.search(code):
        return None
    if b"::" in code and _HALF.search(code):
        return None
    if any(effect(decode(line[0]).strip()).inexact for line in _SETREG.finditer(code)):
        return None
    flow = _flow(code, kernels)
    if flow is None:
        return None
    begins, ways = flow
    masks: dict[bytes, int] = {}
    named_in, block = [0] * len(begins), 0
    """Registers that each block names."""
    for mention in _REGISTER.finditer(code):
        while block + 1 < len(begins) and begins[block + 1] <= mention.start():
            block += 1
        token = mention[0]
        if token not in masks:
            masks[token] = registers.whole(registers.named(decode(token)))
        named_in[block] |= masks[token]
    fresh_in = _fresh(ways, named_in, ~registers.whole(entry))
    reached = [block for block in range(len(begins)) if fresh_in[block] is not None]
    every = registers.union(named_in[block] for block in reached)
    if every & ~registers.whole(entry) & ~_written_first(code, begins, fresh_in, named_in, masks):
        return None
    return TouchedRegisters(*registers.used(every), *registers.entry_registers(entry))


def _copies_in_cycles(code: bytes) -> int:
    """Copies between VGPRs and AGPRs that lie between a label and a branch back to the label, where
    all blocks of a loop lie; 0 without matrix instructions."""
    if not _MATRIX.search(code):
        return 0
    labels: dict[bytes, int] = {}
    copies, cycles = [], []
    for event in _CYCLES.finditer(code):
        label, target = event.groups()
        if label:
            labels.setdefault(label, event.start())
        elif not target:
            copies.append(event.start())
        elif target in labels:
            cycles.append((labels[target], event.start()))
    if _LONG_BRANCH in code:
        return len(copies)
    cycles.sort()
    inside = position = end = 0
    for copy in copies:
        while position < len(cycles) and cycles[position][0] < copy:
            end = max(end, cycles[position][1])
            position += 1
        inside += copy < end
    return inside


def _flow(code: bytes, kernels: Collection[str]) -> tuple[list[int], list[list[int]]] | None:
    """The offset of each block, and the blocks that may follow it. None if the code branches
    elsewhere, runs off its end, or has too many blocks."""
    begins, ways = [0], [list[int]()]
    labels: dict[bytes, int] = {}
    branches: list[tuple[int, bytes]] = []
    events = sorted([*_LABELS.finditer(code), *_BRANCHES.finditer(code)], key=re.Match.start)
    for event in events:
        block, goes_on = len(begins) - 1, True
        if event.re is _LABELS:
            if decode(event[1]) in kernels:
                return None
            labels.setdefault(event[1], block + 1)
        else:
            if event[1]:
                branches.append((block, event[2]))
            goes_on = event[1] is not None and event[1] != b"branch"
        begins.append(event.end())
        ways.append([])
        if goes_on:
            ways[block].append(block + 1)
    lines = (line.strip() for line in reversed(code.splitlines()))
    last = next((line for line in lines if line and not line.startswith(_PADDING)), b"")
    if not last.startswith((b"s_endpgm", b"s_branch")) or len(begins) > _MOST_BLOCKS:
        return None
    for block, target in branches:
        if target not in labels:
            return None
        ways[block].append(labels[target])
    return begins, ways


def _fresh(ways: Sequence[Sequence[int]], named_in: Sequence[int], fresh: int) -> list[int | None]:
    """For each block, the registers that no instruction names on some path to the block; None for
    unreachable blocks. `fresh` holds the registers to start from at the entry."""
    fresh_in: list[int | None] = [None] * len(ways)
    fresh_in[0] = fresh
    pending = [0]
    while pending:
        block = pending.pop()
        after = (fresh_in[block] or 0) & ~named_in[block]
        for way in ways[block]:
            before = fresh_in[way]
            if before is None or after & ~before:
                fresh_in[way] = after | (before or 0)
                pending.append(way)
    return fresh_in


def _written_first(
    code: bytes,
    begins: Sequence[int],
    fresh_in: Sequence[int | None],
    named_in: Sequence[int],
    masks: Mapping[bytes, int],
) -> int:
    """Registers that are written before they are read on some path from the entry."""
    written = 0
    for block, begin in enumerate(begins):
        pending = (fresh_in[block] or 0) & named_in[block] & ~written
        if not pending:
            continue
        end = begins[block + 1] if block + 1 < len(begins) else len(code)
        for mention in _REGISTER.finditer(code, begin, end):
            first = masks[mention[0]] & pending
            if first:
                line = code[code.rfind(b"\n", 0, mention.start()) + 1 : mention.end()]
                line += code[mention.end() : code.find(b"\n", mention.end())]
                written |= first & _written(decode(_LABELS.sub(b"", line)).strip())
                pending &= ~first
                if not pending:
                    break
    return written


def _written(instruction: str) -> int:
    """Registers that an instruction writes and does not read."""
    writes, reads = "", ""
    for text in instruction.split("::"):
        taken, encoding = operation(text)
        written, kept = rules.access(taken, encoding)
        for position, operand in enumerate(taken.operands):
            if position in written and position not in kept:
                writes += f"{operand}, "
            else:
                reads += f"{operand}, "
    return registers.whole(registers.named(writes)) & ~registers.whole(registers.named(reads))
