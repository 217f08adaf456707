"""The text of one instruction -> registers written and read, class, and change of exec; directives
that stand among instructions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from sys import intern
from typing import Literal, NamedTuple

from kernelinfo.pressure import rules
from kernelinfo.pressure.registers import named
from kernelinfo.pressure.rules import CALLS, DIRECT_CALLS, InstructionClass, class_of
from kernelinfo.reading.data import integer

_BY_OFFSET = re.compile(r"^((?:s_c?branch|s_subvector_loop)\w*+ (?:.*[ ,])?)-?(?:0x[0-9a-f]+|\d+)$")
"""A branch as llvm-objdump prints it: to an offset."""


class Disassembled(NamedTuple):
    """One instruction as llvm-objdump prints it."""

    address: int
    text: str
    words: tuple[int, ...]  # 32-bit words of its encoding

    @property
    def target(self) -> int:
        """The address that a branch leads to; −1 for any other instruction.

        The low 16 bits count words from the next instruction (RDNA and CDNA ISA documents, SOPP and
        SOPK).
        """
        if not _BY_OFFSET.match(self.text):
            return -1
        offset = self.words[0] & 0xFFFF
        offset -= (offset & 0x8000) << 1
        return self.address + 4 * len(self.words) + 4 * offset

    def with_label(self, label: str) -> str:
        """The text of a branch to a label."""
        without_offset = _BY_OFFSET.sub(r"\1", self.text).rstrip()
        return f"{without_offset} {label}"


Decode = Callable[[Sequence[bytes]], list[list[Disassembled] | None]]
"""Chunks of data → the instructions of each, from address 0 on; None for a chunk that cannot be
decoded."""

DATA = re.compile(
    r"\.(?:[248]?byte|short|value|long|int|quad|octa|d?word|hword|single|float|double|ascii|asciz|"
    r"string\d*|fill|zero|space|skip|org|nops|inst|dcb?|ds|[us]leb128|incbin)\b"
)
"""Data directives, and `.org`."""
WITHOUT_CODE = re.compile(
    r"\.(?:set|equ|equiv|loc|type|size|globa?l|weak|weakref|hidden|protected|internal|local|comm"
    r"|common|lcomm|symver|version|ident|addrsig(?:_sym)?|line|ln|cfi_\w+|cv_\w+|stab[sn]|purgem"
    r"|(?:no)?altmacro|print|warning|endif|endr|endm(?:acro)?|no_dead_strip|lto_discard|pseudoprobe"
    r"|section|pushsection|popsection|previous|text|data|rodata|bss"
    r"|amdgcn_target|amdhsa_\w+|end_am\w+|hsa_code_object_\w+|amd_amdgpu_\w+|amd_kernel_code_t"
    r"|amdgpu_\w+|AMDGPU\.\w+)"
)
"""Directives that make no code, or only padding."""
ALIGNED = re.compile(r"\.(?:p2|b)?align[wl]?\b(?:[^,]*,\s*([^,\s][^,]*))?")
"""A directive that makes padding, and the value to fill it with."""
FILLS = (0, 0xBF800000, 0xBF9F0000)
"""Padding that does nothing: the assembler's own, `s_nop 0`, `s_code_end`."""
_NUMBERS = re.compile(r"\.(byte|2byte|short|value|4byte|long|int|8byte|quad|octa)\b(.*)")
_NUMBER_BYTES = {"byte": 1, "2byte": 2, "short": 2, "value": 2, "8byte": 8, "quad": 8, "octa": 16}
"""Directive → bytes of each number; 4 for others (LLVM AsmParser::parseStatement)."""
_PLAIN = re.compile(r"0x[0-9a-fA-F]{1,32}")


def data_bytes(directive: str, value: Callable[[str], int | None]) -> bytes | None:
    """The bytes that a directive with a list of numbers emits; None for another directive, or if
    one of its values is not a known whole number.

    `value` evaluates an expression.
    """
    match = _NUMBERS.fullmatch(directive)
    if match is None:
        return None
    size = _NUMBER_BYTES.get(match[1], 4)
    encoded = bytearray()
    for written in map(str.strip, match[2].split(",")):
        # An expression has 64 bits, a plain number may have more.
        number = integer(written, 16) if _PLAIN.fullmatch(written) else value(written)
        if number is None:
            return None
        encoded += (number % (1 << 8 * size)).to_bytes(size, "little")
    return bytes(encoded)


ExecChange = Literal["narrows", "widens", "both"]

_ENCODING = re.compile(r"_e64_dpp8?$|_e(?:32|64)$|_sdwa$|_dpp8?$")
_WITHOUT_INNER_COMMAS = re.compile(r"(?:[^\[\]()]++|\[[^\[\](),\s]*+\])*+")
"""Operands without a comma or blank inside brackets, as nearly all are."""
_BEYOND_255 = re.compile(r"v(?:\d+|\[\d+:\d+\])\s*/\*(v[^*]*)\*/")
_UNRESOLVED = re.compile(r"(?<![\w.$@])[vas]\[[\d:\s]*+(?:\[|[^\d:\s\[\]][^\[\]]*+[\[\]])")

UNDECODED = "undecoded words"
"""Reason for inexact results: no disassembler decoded some machine code or data words."""
UNRESOLVED = "registers named by unknown symbols"
_INEXACT = ("indexed registers", UNDECODED, "calls")
_INEXACT_MNEMONIC = re.compile(
    r"([vs]_movrel.*|v_swaprel.*|s_set_gpr_idx_on)|(v_illegal)"
    rf"|({'|'.join((*CALLS, *DIRECT_CALLS))})"
)
"""A group for each reason why the text does not name all registers."""
_HWREG = re.compile(r"hwreg\((\w+)(?:,(\d{1,2}),(\d{1,2}))?\)")
_MODE_NAMES = ("HW_REG_MODE", "1")
_INDEX_BIT = 27
"""Bit of MODE that turns VGPR indexing on (Vega ISA, "VGPR Indexing"; GFX8 and GFX9)."""

_EXEC_CHANGES: tuple[tuple[ExecChange, bool, re.Pattern[str]], ...] = (
    ("narrows", False, re.compile(r"s_and_saveexec_b(?:32|64)|v_cmpx_.*")),
    ("both", False, re.compile(r"s_(?:andn2|and_not1)_saveexec_b(?:32|64)")),
    ("widens", False, re.compile(r"s_or_saveexec_b(?:32|64)")),
    ("narrows", True, re.compile(r"s_(?:and|andn2|and_not1|xor)_b(?:32|64)")),
    ("widens", True, re.compile(r"s_(?:or|mov)_b(?:32|64)")),
)
"""Change of the active lanes; True if it needs exec as the result; mnemonics."""
_EXEC = ("exec", "exec_lo")
_TO_LABEL = re.compile(r"(s_(?:branch|cbranch_(?:scc[01]|vccn?z|execn?z)))\s+[\w.$@]+")
"""A branch. Its label is no register, whatever its name."""


class InstructionEffect(NamedTuple):
    """Registers and control flow of one instruction."""

    mnemonic: str  # without the encoding
    operands: tuple[str, ...]
    """Only scalar instructions, which control the flow, keep theirs. Branches whose only operand is
    a label share an effect without it."""
    writes: int  # register set, as `reads`
    reads: int
    instruction_class: InstructionClass
    exec_change: ExecChange | None
    inexact: str | None  # reason if the text does not name all its registers


_BRANCHES = {
    mnemonic: InstructionEffect(mnemonic, (), 0, 0, "branch", None, None)
    for mnemonic in (
        "s_branch",
        *("s_cbranch_scc0", "s_cbranch_scc1", "s_cbranch_vccz", "s_cbranch_vccnz"),
        *("s_cbranch_execz", "s_cbranch_execnz"),
    )
}


def branch_effect(text: str) -> InstructionEffect | None:
    """The effect of a branch whose only operand is a label; None for other instructions."""
    branch = _TO_LABEL.fullmatch(text) if text.startswith("s_") else None
    return _BRANCHES[branch[1]] if branch else None


@lru_cache(maxsize=1 << 14)
def effect(text: str) -> InstructionEffect:
    """The effect of an instruction.

    `text` has no comments except those that name registers above v255. Both halves of a dual
    instruction (`::`) read before either of them writes.
    """
    if branch := branch_effect(text):
        return branch
    if "::" not in text:
        return _single(text)
    first, *halves = map(_single, text.split("::"))
    for other in halves:
        whole = first.mnemonic and other.mnemonic
        first = first._replace(
            writes=first.writes | other.writes,
            reads=first.reads | other.reads,
            instruction_class=first.instruction_class
            if first.instruction_class == other.instruction_class
            else "vector",
            inexact=first.inexact or other.inexact if whole else "half an instruction",
        )
    return first


def _single(text: str) -> InstructionEffect:
    taken, encoding = operation(text)
    written, kept = rules.access(taken, encoding)
    writes = reads = ""
    for position, operand in enumerate(taken.operands):
        if operand[:1].isdigit():
            continue  # a number
        if position in written:
            writes += f"{operand}, "
        if position not in written or position in kept:
            reads += f"{operand}, "
    inexact = _INEXACT_MNEMONIC.fullmatch(taken.mnemonic)
    return InstructionEffect(
        intern(taken.mnemonic),
        taken.operands if taken.mnemonic.startswith("s_") else (),
        named(writes),
        named(reads),
        class_of(taken, encoding),
        _exec_change(taken.mnemonic, taken.operands[0] in _EXEC),
        _INEXACT[(inexact.lastindex or 1) - 1]
        if inexact
        else _INEXACT[0]
        if taken.mnemonic.startswith("s_setreg") and _may_index(taken)
        else _unresolved(text, taken.operands),
    )


def _may_index(setreg: rules.Operation) -> bool:
    """True if an `s_setreg` may turn VGPR indexing on."""
    register = _HWREG.fullmatch(setreg.operands[0])
    if register is None:
        return bool(setreg.operands[0])
    first = integer(register[2] or "0")
    is_covered = first <= _INDEX_BIT < first + integer(register[3] or "32")
    if register[1] not in _MODE_NAMES or not is_covered:
        return False
    try:
        value = integer(setreg.operands[-1], 0)
    except ValueError:
        return True
    return bool(value >> _INDEX_BIT - first & 1)


def operation(text: str) -> tuple[rules.Operation, str]:
    """The instruction split into its parts, and the encoding suffix of its mnemonic."""
    mnemonic, *rest = text.split(None, 1) or [""]
    mnemonic = mnemonic.replace("v_dual_", "v_")
    encoding = _ENCODING.search(mnemonic)
    name = mnemonic[: encoding.start()] if encoding else mnemonic
    written = rest[0] if rest else ""
    if "/*" in written:
        written = _BEYOND_255.sub(r"\1", written)
    if name in ("exp", "export"):
        written = written.replace(" ", ", ", 1)
    operands = _split(written)
    last, *modifiers = operands.pop().split() or [""]
    taken = rules.Operation(name, (*operands, last), tuple(modifiers))
    return taken, encoding[0] if encoding else ""


def _split(written: str) -> list[str]:
    """The operands, split at commas outside brackets.

    Blanks inside brackets are removed. The modifiers stay at the end of the last operand.
    """
    if _WITHOUT_INNER_COMMAS.fullmatch(written):
        return [part.strip() for part in written.split(",")]
    parts: list[list[str]] = [[]]
    depth = 0
    for character in written:
        depth += (character in "[(") - (character in "])")
        if character == "," and depth == 0:
            parts.append([])
        elif depth <= 0 or not character.isspace():
            parts[-1].append(character)
    return ["".join(part).strip() for part in parts]


def _exec_change(mnemonic: str, writes_exec: bool) -> ExecChange | None:
    """Change of the active lanes; None if the instruction does not change exec."""
    if not mnemonic.startswith(("s_", "v_cmpx_")):
        return None
    for change, needs_exec, pattern in _EXEC_CHANGES:
        if (writes_exec or not needs_exec) and pattern.fullmatch(mnemonic):
            return change
    return None


def _unresolved(text: str, operands: tuple[str, ...]) -> str | None:
    unresolved = "[" in text and any(map(_UNRESOLVED.search, operands))
    return UNRESOLVED if unresolved else None
