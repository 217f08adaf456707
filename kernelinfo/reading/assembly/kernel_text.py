"""Statements on one kernel in an assembly text, and their evaluation to numbers."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cached_property, lru_cache, partial
from typing import Any

from kernelinfo.errors import Message
from kernelinfo.hardware.targets import Target
from kernelinfo.reading.assembly import blocks, directives
from kernelinfo.reading.assembly.blocks import config_numbers
from kernelinfo.reading.assembly.directives import DirectiveBlock, PlacedBlock, PlacedNumbers
from kernelinfo.reading.assembly.expressions import (
    Definitions,
    Directive,
    leading_numbers,
    number,
)
from kernelinfo.reading.assembly.scan import END_OF_FUNCTION, described_kernel, labels
from kernelinfo.reading.blob import FileBudget
from kernelinfo.reading.data import Text, integer
from kernelinfo.reading.facts import (
    BEGIN,
    NOTHING,
    Callees,
    Code,
    KernelFacts,
    Numbers,
    Place,
    ReadWarnings,
    Source,
    SourceLine,
)
from kernelinfo.reading.messages import in_kernel, say
from kernelinfo.reading.metadata import (
    NOT_LINKED,
    SYMBOLS,
    UINT32,
    LinkedFunction,
    symbol_numbers,
    with_callees,
)
from kernelinfo.reading.target_id import is_of_clang

_ReadBlock = Callable[..., PlacedNumbers]
_Placed = tuple[Numbers, Place]

_LAST = "exception_int_div_zero"


class KernelText:
    """The statements on one kernel, not yet evaluated."""

    def __init__(self, symbol: str) -> None:
        self.symbol = symbol
        self.label: int | None = None
        """Byte offset of the kernel's label."""
        self.end = 0
        """Byte offset before which its instructions end."""
        self.line: int | None = None
        """1-based line of the kernel's label."""
        self.info: PlacedBlock | None = None
        self.code_bytes: int | None = None
        self.directives: PlacedBlock | None = None
        self.code_t: PlacedBlock | None = None
        self.config: PlacedBlock | None = None
        self.metadata: tuple[Numbers, int] = NOTHING, 0
        """Numbers in the metadata, and the 1-based line of the kernel's element; 0 without one."""
        self.read_code: Callable[[], Code | None] | None = None
        self.source: SourceLine | None = None


def far_labels(
    kernels: Mapping[str, KernelText], text: Text, start: int, end: int
) -> Iterator[tuple[KernelText, int]]:
    """Kernels with a label far from their descriptor, each with the label's byte offset.

    Searches the text from `start` to `end` for labels that are still unknown.
    """
    lost = {kernel.symbol for kernel in kernels.values() if kernel.directives and not kernel.line}
    for name, offset in labels(text, start, end) if lost else ():
        if name in lost:
            lost.remove(name)
            yield kernels[name], offset


def check_metadata(
    kernels: Iterable[KernelText], is_there: bool, last_line: int, warnings: ReadWarnings
) -> None:
    """Warn of a module for HSA without metadata, which is cut off, and of unlisted kernels.

    The compiler ends such a module with metadata. `is_there` is True if it was found.
    """
    described = [kernel for kernel in kernels if kernel.directives]
    if described and not is_there:
        warnings.add(say("module-cut-off"), last_line)
        return
    for kernel in described:
        if kernel.directives and not kernel.metadata[1]:
            message = say("kernel-not-in-metadata", kernel=kernel.symbol)
            warnings.add(message, kernel.directives.line)


CUT = say("module-may-be-cut-off")
"""Reason to doubt a module of clang's: clang writes the metadata last."""


def is_of_compiler(
    kernels: Iterable[KernelText], stamps: Iterable[str], text: Text, start: int, end: int
) -> bool:
    """True if a module without comments is a compiler's: it has clang's stamp, ends of functions,
    or descriptors that state all, which end with one of these directives (LLVM
    AMDGPUTargetAsmStreamer::EmitAmdhsaKernelDescriptor)."""
    described = (kernel.directives.block.by_field for kernel in kernels if kernel.directives)
    return (
        any(map(is_of_clang, stamps))
        or any(_LAST in fields for fields in described)
        or text.find(END_OF_FUNCTION, start, end) >= 0
    )


def without_shaders(
    functions: Collection[KernelText], warnings: ReadWarnings
) -> Collection[KernelText]:
    """Kernels among the functions with kernel info; each shader left out adds to `warnings`.

    LLVM prints kernel info for graphics shaders, too. On mesa3d only kernels have an
    .amd_kernel_code_t. On amdpal nothing tells them apart: all functions are returned.
    """
    kernels = [function for function in functions if function.code_t]
    for function in functions if kernels else ():
        if function.info and not function.code_t:
            warnings.add(say("kernel-shader", kernel=function.symbol), function.info.line)
    return kernels or functions


class Evaluation:
    """Evaluator of a module's kernels, made when all its symbols and its target are known."""

    def __init__(
        self,
        definitions: Definitions,
        target: Target | None,
        kernels: Collection[str],
        warnings: ReadWarnings,
        *,
        xnack: bool,
    ) -> None:
        self._kernels = kernels
        """Symbols of all kernels of the module."""
        self._warnings = warnings
        """Gets a warning for each value that cannot be evaluated."""
        self._definitions = definitions
        definitions.target = target
        self._target = target
        self._xnack = xnack
        """True if code for the module's target id may run with XNACK on."""

    def kernel(self, kernel: KernelText) -> KernelFacts:
        """Numbers of one kernel from every source, with their places; none is preferred."""
        symbol, target = kernel.symbol, self._target
        for stated in (kernel.info, kernel.directives, kernel.code_t, kernel.config):
            if stated and not stated.block.is_plain:
                self._remark_repeated(symbol, stated)
        read = partial(self._placed, symbol, "directive")
        described = [
            *read(kernel.directives, directives.directive_numbers, target, self._xnack),
            *read(kernel.code_t, directives.code_t_numbers, target),
            *read(kernel.config, config_numbers, target),
        ]
        metadata, line = kernel.metadata
        described.append((metadata, Place("metadata", line, BEGIN)))
        wave_size = next((numbers.wave_size for numbers, _ in described if numbers.wave_size), None)
        info = self._placed(
            symbol, "kernel-info", kernel.info, blocks.info_numbers, target, wave_size
        )
        code_bytes = kernel.code_bytes
        if info and (stated_within := info[0][0].code_bytes) is not None:
            code_bytes = stated_within
            info = [(info[0][0]._replace(code_bytes=None), info[0][1])]
        placed = [*info, *described, self._symbols(symbol)]
        return KernelFacts(
            symbol,
            tuple([(place.source, numbers) for numbers, place in placed if numbers != NOTHING]),
            tuple([place for _, place in placed]),
            code_bytes,
            line=kernel.line,
            read_code=kernel.read_code,
            source=kernel.source,
        )

    def _placed(
        self,
        symbol: str,
        source: Source,
        stated: PlacedBlock | None,
        reading: _ReadBlock,
        *circumstances: object,
    ) -> list[_Placed]:
        """Numbers of a block and their place, as a list of one; empty without a block.

        `reading` gets the block's fields, a function for their values, and `circumstances`.
        """
        if stated is None:
            return []
        block, line = stated

        def value(statement: Directive) -> int | None:
            warning_line = line + statement.line
            return self._value(symbol, statement.name, statement.value, line, warning_line)

        if block.is_plain:
            numbers, within = _plain_numbers(block, reading, *circumstances)
        else:
            numbers, within = _separate_lines(reading(block.by_field, value, *circumstances))
        return [(numbers, Place(source, line, within))]

    def _symbols(self, symbol: str) -> _Placed:
        values, lines = {}, {}
        for suffix, name in SYMBOLS.items():
            if stated := self._definitions.of_function(symbol, suffix):
                _, expression, line = stated
                if (count := self._value(symbol, suffix, expression, line, line)) is not None:
                    values[suffix], lines[name] = count, line
        numbers = symbol_numbers(values)
        if numbers.recursion:
            lines["dynamic_stack"] = lines["recursion"]
        if numbers.indirect_call and (callees := self._callees(symbol)):
            numbers = numbers._replace(callees=callees)
        return numbers, Place("symbol", 0, lines)

    def _callees(self, symbol: str) -> Callees | None:
        """What the kernel's indirect call counts; None unless the text says it.

        .set kernel.num_vgpr, max(41, amdgpu.max_num_vgpr)
        """
        stated = self._definitions.of_function(symbol, "num_vgpr")
        alone = leading_numbers(stated.value, "max", 1) if stated else None
        return Callees(alone[0], *self._largest) if alone and self._largest else None

    @cached_property
    def _largest(self) -> tuple[int, str] | None:
        """Most VGPRs of a function that is not a kernel, and its symbol; None if unknown.

        Source: LLVM AMDGPUMCResourceInfo, `amdgpu.max_num_vgpr`.
        """
        stated = self._definitions.get("amdgpu.max_num_vgpr")
        vgprs = number(stated[-1].value) if stated else None
        for name, settings in self._definitions.items():
            function = name.removesuffix(".num_vgpr")
            if function == name or function.removeprefix(".L") in self._kernels:
                continue
            _, expression, line = settings[-1]
            if self._definitions.value(expression, line) == vgprs is not None:
                return vgprs, function.removeprefix(".L")
        return None

    def _value(
        self, symbol: str, field: str, written: str, line: int, warning_line: int
    ) -> int | None:
        """Value of `written` as of `line`; else None, with a warning at `warning_line`."""
        value = self._definitions.value(written, line)
        if isinstance(value, Message):
            wrong = say("value-unresolved", field=field, why=value)
        elif not 0 <= value <= UINT32:
            wrong = say("value-impossible", field=field, value=value)
        else:
            return value
        self._remark(symbol, wrong, warning_line)
        return None

    def _remark_repeated(self, symbol: str, stated: PlacedBlock) -> None:
        seen: set[str] = set()
        for statement in stated.block.statements:
            if statement.name in seen:
                again = say("field-repeated", field=statement.name)
                self._remark(symbol, again, stated.line + statement.line)
            seen.add(statement.name)

    def _remark(self, symbol: str, message: Message, line: int) -> None:
        self._warnings.add(in_kernel(symbol, message), line)


@lru_cache(maxsize=1 << 12)
def _plain_numbers(
    block: DirectiveBlock, reading: _ReadBlock, *circumstances: Any
) -> tuple[Numbers, Mapping[str, int]]:
    """Numbers of a block that needs no symbols, and their lines from the block's first."""

    def value(statement: Directive) -> int | None:
        return number(statement.value)

    return _separate_lines(reading(block.by_field, value, *circumstances))


def _separate_lines(placed: PlacedNumbers) -> tuple[Numbers, Mapping[str, int]]:
    """The numbers of a block, and the line of each, counted from 0 at the block's first line.

    The size of the code is on line 1 unless the block states another.
    """
    lines = {name: line for name, (_, line) in placed.items()}
    values: dict[str, Any] = {name: value for name, (value, _) in placed.items()}
    return Numbers(**values), {"code_bytes": 1, **lines}


# Linking info in assembly that is not linked yet: `.amdgpu_info` and `.amdgpu_lds`.
#
#     .amdgpu_info NAME              up to .end_amdgpu_info, for this function without its callees:
#     .amdgpu_flags N                1 VCC, 2 flat scratch, 4 dynamic stack
#     .amdgpu_num_sgpr N             and .amdgpu_num_vgpr, .amdgpu_num_agpr
#     .amdgpu_private_segment_size   bytes of scratch
#     .amdgpu_use VARIABLE           a variable in LDS
#     .amdgpu_call FUNCTION
#     .amdgpu_indirect_call "TYPE"   a call through a pointer to a function of that type
#     .amdgpu_lds NAME, SIZE, ALIGN  a variable in LDS, anywhere in the module
#
# Source: output of LLVM 24git.

_NUMBERS = {
    "flags": "flags",
    "num_sgpr": "sgprs",
    "num_vgpr": "vgprs",
    "num_agpr": "agprs",
    "private_segment_size": "scratch",
}
_VARIABLE = rb"(.*),[ \t]*(\d{1,10})[ \t]*,[ \t]*\d+\s*$"


class LinkingText:
    """Functions and LDS variables of one module, collected while its text is read."""

    def __init__(self, budget: FileBudget) -> None:
        self._budget = budget
        self._functions: dict[str, LinkedFunction] = {}
        self._variables: dict[str, int] = {}
        """Bytes by name of an LDS variable."""

    def take(self, text: Text, offset: int, kind: str, operand: bytes) -> Message | None:
        """Read one directive; return a warning about it, or None."""
        if kind == "amdgpu_lds":
            if variable := re.match(_VARIABLE, operand):
                self._variables[described_kernel(variable[1])] = integer(variable[2])
            return None
        self._budget.spend_kernels()
        block, ended = directives.read_block(text, offset, kind)
        name = described_kernel(operand)
        function = self._functions[name] = LinkedFunction(is_open=not ended)
        for field, value, _ in block.statements:
            count = number(value)
            if field in _NUMBERS and count is not None and 0 <= count <= UINT32:
                setattr(function, _NUMBERS[field], count)
            elif field == "call":
                function.calls.append(described_kernel(value.encode()))
            elif field == "use":
                function.uses[described_kernel(value.encode())] = 0
            elif field in _NUMBERS or field == "indirect_call":
                function.is_open = True
        return None if ended else say("linking-info-endless", kernel=name)

    def with_callees(
        self, kernels: list[KernelFacts], target: Target | None, *, xnack: bool
    ) -> tuple[list[KernelFacts], tuple[Message, ...]]:
        """The kernels with numbers that include their callees, and a note that says so.

        Unchanged and without a note if the module has no linking info.
        """
        if not self._functions:
            return kernels, ()
        for function in self._functions.values():
            function.is_open |= not function.uses.keys() <= self._variables.keys()
            function.uses = {name: self._variables.get(name, 0) for name in function.uses}
        return with_callees(kernels, self._functions, target, xnack=xnack), (NOT_LINKED,)
