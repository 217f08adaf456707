"""Statements on one kernel in an assembly text, and their evaluation to numbers."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, Literal, get_args

from kernelinfo.errors import Message
from kernelinfo.hardware.targets import Target
from kernelinfo.reading.assembly import blocks, directives
from kernelinfo.reading.assembly.directives import PlacedNumbers, TextBlock, by_field
from kernelinfo.reading.assembly.expressions import Definitions, number
from kernelinfo.reading.assembly.scan import END_OF_FUNCTION, described_kernel, labels
from kernelinfo.reading.data import Text, integer
from kernelinfo.reading.facts import (
    BEGIN,
    NOTHING,
    Code,
    KernelFacts,
    Numbers,
    Place,
    ReadWarnings,
    Source,
    SourceLine,
    StatedValue,
)
from kernelinfo.reading.messages import in_kernel, say
from kernelinfo.reading.metadata import (
    SYMBOLS,
    UINT32,
    LinkedFunction,
    symbol_numbers,
    with_callees,
)
from kernelinfo.reading.target_id import is_of_clang

BlockKind = Literal["kernel-info", "amdhsa_kernel", "amd_kernel_code_t", "AMDGPU.config"]
"""Kinds of blocks with a kernel's numbers: the comment, and directives by their names."""
_BLOCK_KINDS: tuple[BlockKind, ...] = get_args(BlockKind)

_ReadBlock = Callable[..., PlacedNumbers]
_Placed = tuple[Numbers, Place]

_LAST = "exception_int_div_zero"


class KernelText:
    """The statements on one kernel, and their evaluation once the module has been read."""

    def __init__(self, symbol: str, definitions: Definitions, warnings: ReadWarnings) -> None:
        """All kernels of a module share its definitions and warnings."""
        self.symbol = symbol
        self._definitions = definitions
        self._warnings = warnings
        self.label: int | None = None
        """Byte offset of the kernel's label."""
        self.end = 0
        """Byte offset before which its instructions end."""
        self.line: int | None = None
        """1-based line of the kernel's label."""
        self.blocks: dict[BlockKind, TextBlock] = {}
        self.lines: dict[BlockKind, int] = {}
        """1-based line on which each block begins. Symbols in it are evaluated as of this line."""
        self.code_bytes: int | None = None
        self.metadata: tuple[Numbers, int] = NOTHING, 0
        """Numbers in the metadata, and the 1-based line of the kernel's element; 0 without one."""
        self.read_code: Callable[[], Code | None] | None = None
        self.source: SourceLine | None = None

    def add(self, kind: BlockKind, block: TextBlock, line: int) -> None:
        """Add a block that begins on a line."""
        self.blocks[kind], self.lines[kind] = block, line

    def warn(self, message: Message, line: int | None) -> None:
        """Add a warning on this kernel."""
        self._warnings.add(in_kernel(self.symbol, message), line)

    def facts(self, *, xnack: bool) -> KernelFacts:
        """The kernel's numbers from every source, with their places; no source is preferred.

        The module's symbols, target and kernels must be known. `xnack` is True if code for its
        target id may run with XNACK on. A value that cannot be evaluated becomes a warning.
        """
        target = self._definitions.target
        for kind in _BLOCK_KINDS:
            if kind in self.blocks:
                self._remark_repeated(kind)
        described = [
            *self._placed("amdhsa_kernel", directives.directive_numbers, target, xnack),
            *self._placed("amd_kernel_code_t", directives.code_t_numbers, target),
            *self._placed("AMDGPU.config", blocks.config_numbers, target),
        ]
        metadata, line = self.metadata
        described.append((metadata, Place("metadata", line, BEGIN)))
        wave_size = next((numbers.wave_size for numbers, _ in described if numbers.wave_size), None)
        info = self._placed("kernel-info", blocks.info_numbers, target, wave_size)
        code_bytes = self.code_bytes
        if info and (stated_within := info[0][0].code_bytes) is not None:
            code_bytes = stated_within
            info = [(info[0][0]._replace(code_bytes=None), info[0][1])]
        placed = [*info, *described, self._symbols()]
        return KernelFacts(
            self.symbol,
            tuple([(place.source, numbers) for numbers, place in placed if numbers != NOTHING]),
            tuple([place for _, place in placed]),
            code_bytes,
            line=self.line,
            read_code=self.read_code,
            source=self.source,
        )

    def _placed(
        self, kind: BlockKind, reading: _ReadBlock, *circumstances: object
    ) -> list[_Placed]:
        """[the numbers of a block, with their place]; empty without the block. `reading` is called
        with the block's fields, a function for their values, and `circumstances`."""
        if kind not in self.blocks:
            return []
        block, line = self.blocks[kind], self.lines[kind]

        def value(statement: StatedValue) -> int | None:
            warning_line = line + statement.line
            return self._value(statement.name, statement.value, line, warning_line)

        plain = _plain_numbers(block, reading, *circumstances)
        numbers, within = plain or _separate_lines(reading(by_field(block), value, *circumstances))
        source: Source = "kernel-info" if kind == "kernel-info" else "directive"
        return [(numbers, Place(source, line, within))]

    def _symbols(self) -> _Placed:
        values, lines = {}, {}
        for suffix, name in SYMBOLS.items():
            if stated := self._definitions.of_function(self.symbol, suffix):
                _, expression, line = stated
                if (count := self._value(suffix, expression, line, line)) is not None:
                    values[suffix], lines[name] = count, line
        numbers = symbol_numbers(values)
        if numbers.recursion:
            lines["dynamic_stack"] = lines["recursion"]
        if numbers.indirect_call and (callees := self._definitions.callees(self.symbol)):
            numbers = numbers._replace(callees=callees)
        return numbers, Place("symbol", 0, lines)

    def _value(self, field: str, written: str, line: int, warning_line: int) -> int | None:
        """The value of the expression `written` at `line`; if it has none, None and a warning at
        `warning_line`."""
        value = self._definitions.value(written, line)
        if isinstance(value, Message):
            wrong = say("value-unresolved", field=field, why=value)
        elif not 0 <= value <= UINT32:
            wrong = say("value-impossible", field=field, value=value)
        else:
            return value
        self.warn(wrong, warning_line)
        return None

    def _remark_repeated(self, kind: BlockKind) -> None:
        block, seen = self.blocks[kind], set[str]()
        for statement in block if len(by_field(block)) < len(block) else ():
            if statement.name in seen:
                again = say("field-repeated", field=statement.name)
                self.warn(again, self.lines[kind] + statement.line)
            seen.add(statement.name)


def far_labels(
    kernels: Mapping[str, KernelText], text: Text, start: int, end: int
) -> Iterator[tuple[KernelText, int]]:
    """Kernels with a label far from their descriptor, each with the label's byte offset.

    The text from `start` to `end` is searched for labels that are still unknown.
    """
    described = (kernel for kernel in kernels.values() if "amdhsa_kernel" in kernel.blocks)
    lost = {kernel.symbol for kernel in described if not kernel.line}
    for name, offset in labels(text, start, end) if lost else ():
        if name in lost:
            lost.remove(name)
            yield kernels[name], offset


def check_metadata(
    kernels: Iterable[KernelText], is_there: bool, last_line: int, warnings: ReadWarnings
) -> None:
    """Warn of an HSA module without metadata, and of kernels that the metadata does not list.

    Compilers write the metadata last, so a module without it is truncated. `is_there` is True if
    metadata was found.
    """
    described = [kernel for kernel in kernels if "amdhsa_kernel" in kernel.blocks]
    if described and not is_there:
        warnings.add(say("module-cut-off"), last_line)
        return
    for kernel in described:
        if not kernel.metadata[1]:
            message = say("kernel-not-in-metadata", kernel=kernel.symbol)
            warnings.add(message, kernel.lines["amdhsa_kernel"])


CUT = say("module-may-be-cut-off")
"""Reason to doubt a module of clang's: clang writes the metadata last."""


def is_of_compiler(
    kernels: Iterable[KernelText], stamps: Iterable[str], text: Text, start: int, end: int
) -> bool:
    """True if a compiler wrote a module without comments: the module has clang's stamp, function
    ends, or a complete descriptor.

    A complete descriptor holds the directive that LLVM writes last (LLVM
    AMDGPUTargetAsmStreamer::EmitAmdhsaKernelDescriptor).
    """
    described = (kernel.blocks.get("amdhsa_kernel") for kernel in kernels)
    return (
        any(map(is_of_clang, stamps))
        or any(_LAST in by_field(block) for block in described if block)
        or text.find(END_OF_FUNCTION, start, end) >= 0
    )


def without_shaders(
    functions: Collection[KernelText], warnings: ReadWarnings
) -> Collection[KernelText]:
    """The kernels among the functions with kernel info; each omitted shader adds to `warnings`.

    LLVM prints kernel info for graphics shaders, too. On mesa3d only kernels have an
    .amd_kernel_code_t. On amdpal nothing distinguishes them, so all functions are returned.
    """
    kernels = [function for function in functions if "amd_kernel_code_t" in function.blocks]
    for function in functions if kernels else ():
        if "kernel-info" in function.blocks and "amd_kernel_code_t" not in function.blocks:
            message = say("kernel-shader", kernel=function.symbol)
            warnings.add(message, function.lines["kernel-info"])
    return kernels or functions


@lru_cache(maxsize=1 << 12)
def _plain_numbers(
    block: TextBlock, reading: _ReadBlock, *circumstances: Any
) -> tuple[Numbers, Mapping[str, int]] | None:
    """Numbers of a block that needs no symbols, and their lines; the block's first line is 0.

    None for a block with a repeated field, or with a value that is not a number.
    """
    fields = by_field(block)
    values = [number(statement.value) for statement in block]
    if len(fields) < len(block) or any(v is None or not 0 <= v <= UINT32 for v in values):
        return None

    def value(statement: StatedValue) -> int | None:
        return number(statement.value)

    return _separate_lines(reading(fields, value, *circumstances))


def _separate_lines(placed: PlacedNumbers) -> tuple[Numbers, Mapping[str, int]]:
    """(numbers of a block, line of each number; the block's first line is line 0).

    The size of the code is on the second line, line 1, unless the block states another line.
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


def read_lds_variable(operand: bytes) -> dict[str, int]:
    """Name → size in bytes of the variable in the operand of `.amdgpu_lds`; empty for an operand of
    any other form."""
    variable = re.match(_VARIABLE, operand)
    return {described_kernel(variable[1]): integer(variable[2])} if variable else {}


def read_function(text: Text, offset: int) -> tuple[LinkedFunction, bool]:
    """The function of the `.amdgpu_info` at `offset`, and True if the block has an end. The bytes
    of its LDS variables are not known yet."""
    block, ended = directives.read_block(text, offset, "amdgpu_info")
    function = LinkedFunction(is_open=not ended)
    for field, value, _ in block:
        count = number(value)
        if field in _NUMBERS and count is not None and 0 <= count <= UINT32:
            setattr(function, _NUMBERS[field], count)
        elif field == "call":
            function.calls.append(described_kernel(value.encode()))
        elif field == "use":
            function.uses[described_kernel(value.encode())] = 0
        elif field in _NUMBERS or field == "indirect_call":
            function.is_open = True
    return function, ended


def with_linking_info(
    kernels: Iterable[KernelFacts],
    functions: Mapping[str, LinkedFunction],
    variables: Mapping[str, int],
    target: Target | None,
    *,
    xnack: bool,
) -> list[KernelFacts]:
    """The kernels, with numbers that include their callees; see `metadata.with_callees`.

    `variables` holds the bytes of the module's LDS variables. A function that uses any
    other variable is marked open (`LinkedFunction.is_open`).
    """
    for function in functions.values():
        function.is_open |= not function.uses.keys() <= variables.keys()
        function.uses = {name: variables.get(name, 0) for name in function.uses}
    return with_callees(kernels, functions, target, xnack=xnack)
