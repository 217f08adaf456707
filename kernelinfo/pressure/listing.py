"""The text of one function -> its instructions, labels, source lines and variables, in order."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

from kernelinfo.kernel import counted
from kernelinfo.pressure.instructions import (
    ALIGNED,
    DATA,
    FILLS,
    UNDECODED,
    WITHOUT_CODE,
    Decode,
    InstructionEffect,
    branch_effect,
    data_bytes,
    effect,
)
from kernelinfo.pressure.registers import named_by_compiler, union
from kernelinfo.reading.assembly.scan import SourceFiles, code_of
from kernelinfo.reading.data import integer
from kernelinfo.reading.facts import SourceLine

Resolve = Callable[[str, int], int | None]
"""Value of an expression on a 1-based line; None if it cannot be evaluated."""


IMPLICIT_DEF, KILL = "implicit-def", "kill"
"""Mnemonics of LLVM's comments that define or end values and emit no code."""

UNKNOWN = "unknown instruction"
RUNS_ON = "its code runs on into "
ONLY_ASSEMBLED = "that only an assembler reads"
_WAY_OUT = "give the object assembled from this text"
_NOT_WHOLE = (ONLY_ASSEMBLED, UNDECODED, UNKNOWN, RUNS_ON, "half an instruction")
"""Parts of the reasons for code that was not read whole."""
_MOST_NAMED = 5  # words of lines that were not read
_LABEL = re.compile(r'\s*+(?:"((?:\\.|[^"\\])*+)"|<(\w++)>|([\w.$@]++)):(?=\s|$)')
_FACT = re.compile(r"(DEBUG_VALUE|implicit-def|kill): |-byte Folded (Spill|Reload)")
# LLVM AsmPrinter.cpp emitKill: each register of a `kill:` is defined or killed.
_DEFINED, _KILLED = re.compile(r"def \$\w+"), re.compile(r"killed \$\w+")
_LOCATION = re.compile(r"\.loc\s+([0-9]{1,9})\s+([0-9]{1,9})\b")
_END = re.compile(r"\.(?:size|amdhsa_kernel|amdgpu_metadata|amd_amdgpu_hsa_metadata)\b")
_OWN_LABEL = re.compile(r"\.L(?:(func_end\d*)|(?:tmp|func_begin)\d+)$")
"""A label that LLVM sets at the end of a function, or for debug information."""
_NEXT_FUNCTION = re.compile(r"\.type\s++(.+),\s*+[@%]function")
_NUMBER = re.compile(r"-?(?:0x[0-9a-f]{1,8}|0|[1-9][0-9]{0,8})", re.IGNORECASE | re.ASCII)
_EXPANDED = re.compile(r"\.(?:if\w*|else\w*|rept?|irpc?|include)\b")
_ASSIGNMENT = re.compile(r"[\w.$]+\s*=(?!=)")
_MNEMONIC = re.compile(
    r"(?:s|v|ds|lds|flat|global|t?buffer|scratch|image|cluster|tensor)_\w+|exp(?:ort)?\b"
)
_CODE_SECTION = re.compile(r"\.(?:push)?section\s+\"?\.text|\.(?:text|previous|popsection)\b")
_OTHER_SECTION = re.compile(r"\.(?:(?:push)?section|data|rodata|bss)\b")
_MOST_SHARED = 1 << 16  # texts of instructions
_SYMBOLIC = re.compile(r"(?<![\w.$@])([vas])\[([^\[\]A-Za-z_]*+[A-Za-z_][^\[\]]*+)\]")
_PADDING = {"s_nop", "s_code_end"}
ENDS = ("s_endpgm", "s_branch", "s_setpc", "s_set_pc", "s_rfe", "s_add_pc")
"""Begins of mnemonics that never continue with the next instruction."""


class Instruction(NamedTuple):
    """An instruction, or a compiler comment that starts or ends values."""

    text: str  # as written, without comments; empty for a comment
    effect: InstructionEffect
    line: int | None  # 1-based, in the assembly text; None in a code object
    address: int | None  # as symbols of the code object count; None in assembly
    source: SourceLine | None
    spill: Literal["Spill", "Reload"] | None

    @property
    def is_code(self) -> bool:
        """False for a comment."""
        return bool(self.text)


class SourceVariable(NamedTuple):
    """A source variable and its registers, from one instruction on."""

    first: int  # index of an instruction
    name: str  # `swell:x` for x of the inlined function swell
    registers: int  # register set; empty if no register holds it


class Listing(NamedTuple):
    """The instructions of one function, with labels and variables."""

    instructions: tuple[Instruction, ...]
    labels: Mapping[str, int]  # label → index of the next instruction
    variables: tuple[SourceVariable, ...]  # in the order of the text
    reasons: tuple[str, ...]  # reasons why results may be inexact

    @property
    def unread(self) -> list[str]:
        """The reasons that say that a part of the code was not read."""
        return [reason for reason in self.reasons if not is_whole([reason])]


def is_whole(reasons: Iterable[str]) -> bool:
    """False if some of the code was not read, so that counts are too low."""
    return not any(part in reason for reason in reasons for part in _NOT_WHOLE)


def read_listing(
    lines: Iterable[str],
    first: int,
    files: SourceFiles,
    value: Resolve,
    name: str = "",
    decode: Decode = lambda chunks: [None] * len(chunks),
    kernels: Collection[str] = (),
    macros: Collection[str] = (),
    unread: Mapping[str, int] | None = None,
) -> Listing:
    """The listing of a function, from its label to its end.

    The label is on the first of `lines`, which has the 1-based number `first`. `files` are the
    source files named before it. `value` evaluates symbols in registers of hand-written code;
    `decode` disassembles data among the instructions. The label of another of the `kernels` also
    ends the function. `macros` are names of macros, which are not expanded; `unread` holds
    directives before the function that change its code, each with its number. `/* … */` comments
    must have been removed.
    """
    reader = _ListingReader(first, files, value, name, kernels, macros)
    for word, count in (unread or {}).items():
        reader.leave_out(word, count)
    for line in lines:
        if not reader.take(line):
            break
    return reader.listing(decode)


def listing_of(
    instructions: list[Instruction],
    labels: Mapping[str, int],
    variables: Sequence[SourceVariable] = (),
    reasons: Iterable[str] = (),
) -> Listing:
    """The listing of these instructions. Padding at the end is left out if nothing comes before it,
    or a branch or an end of the code."""
    last = len(instructions)
    while last and instructions[last - 1].effect.mnemonic in _PADDING:
        last -= 1
    if not last or instructions[last - 1].effect.mnemonic.startswith((*ENDS, "s_cbranch")):
        instructions = instructions[:last]
    every_reason = dict.fromkeys(reasons)
    every_reason.update(
        (instruction.effect.inexact, None)
        for instruction in instructions
        if instruction.effect.inexact
    )
    labels = {name: index for name, index in labels.items() if index < len(instructions)}
    return Listing(tuple(instructions), labels, tuple(variables), tuple(every_reason))


class _ListingReader:
    """Reader of one function, line by line."""

    def __init__(
        self,
        first: int,
        files: SourceFiles,
        value: Resolve,
        name: str,
        kernels: Collection[str],
        macros: Collection[str],
    ) -> None:
        self._number = first - 1
        self._files = files
        self._value = value
        self._name = name
        self._kernels = kernels
        self._macros = macros
        self._found: list[Instruction] = []
        self._known: dict[str, tuple[str, InstructionEffect]] = {}
        """Instruction → its text, one object for equal ones, and its effect."""
        self._labels: dict[str, int] = {}
        self._variables: list[SourceVariable] = []
        self._reasons: dict[str, None] = {}
        self._source: SourceLine | None = None
        self._clause: tuple[Literal["Spill", "Reload"] | None, int] = None, 0
        """What LLVM's comment on an `s_clause` says of the whole clause, and how many of its
        instructions are left."""
        self._skipped_until = ""
        """The directive that ends a part without code: a macro, an amd_kernel_code_t."""
        self._macros_open = 0
        self._unread_words: dict[str, int] = {}
        """First word of the lines that were not read → their number."""
        self._in_code = True
        """False in another section."""
        self._data: dict[int, bytearray] = {}
        """Index of an instruction that stands for data → its bytes."""
        self._labelled = -1
        """Index of the instruction after the last label or alignment."""
        self._unread: int | None = None
        """Index of the instruction after the last data that was not read."""

    def take(self, line: str) -> bool:
        """Read one line; False if the function has ended."""
        self._number += 1
        code = code_of(line) if ";" in line or "/" in line else line
        if self._skipped_until:
            self._skip(code.strip())
            return True
        spill = self._fact(line, code) if ";" in line else None
        start = 0
        while ":" in code and (label := _LABEL.match(code, start)):
            name = label[1] or label[2] or label[3]
            internal = _OWN_LABEL.match(name)
            if internal and internal[1]:
                return False
            if name in self._kernels and name != self._name:
                if self._found and not self._found[-1].effect.mnemonic.startswith(ENDS):
                    self._reasons[RUNS_ON + name] = None
                return False
            if not internal:
                self._labelled = len(self._found)
                self._labels.setdefault(name, self._labelled)
            start = label.end()
        code = code[start:].strip()
        if not code:
            return True
        if self._macros and (word := code.split(None, 1)[0]) in self._macros:
            self.leave_out(word)
        elif "=" in code and _ASSIGNMENT.match(code):
            if code[0] == "." and code[1:2] in " \t=":  # the place of the next instruction
                self._unread = len(self._found)
        elif code[0] == ".":
            return self._directive(code)
        else:
            self._take_instruction(code, spill)
        return True

    def _skip(self, code: str) -> None:
        """Track where nested parts begin and end inside a part without code."""
        if code.startswith(".macro"):
            self._macros_open += 1
        elif code.startswith(self._skipped_until):
            self._macros_open -= 1
            if self._macros_open <= 0:
                self._skipped_until = ""

    def leave_out(self, word: str, lines: int = 1) -> None:
        """Record lines that were not read, by the first word of each."""
        word = word[:40]
        if word not in self._unread_words and len(self._unread_words) >= _MOST_NAMED:
            word = "…"
        self._unread_words[word] = self._unread_words.get(word, 0) + lines

    def _fact(self, line: str, code: str) -> Literal["Spill", "Reload"] | None:
        """Record the values in LLVM's comment. Returns `Spill` or `Reload` if the instruction is
        one."""
        fact = _FACT.search(line, len(code))
        if fact is None:
            return None
        if fact[2]:
            return "Spill" if fact[2] == "Spill" else "Reload"
        stated = line[fact.start() :]
        if fact[1] == "DEBUG_VALUE":
            # LLVM AsmPrinter.cpp emitDebugValueComment.
            name, arrow, held = stated.removeprefix("DEBUG_VALUE:").partition(" <- ")
            if arrow:
                registers = union(named_by_compiler(held))
                self._variables.append(SourceVariable(len(self._found), name.strip(), registers))
        else:
            defined = stated if fact[1] == IMPLICIT_DEF else " ".join(_DEFINED.findall(stated))
            written = union(named_by_compiler(defined))
            read = union(named_by_compiler(" ".join(_KILLED.findall(stated))))
            pseudo = InstructionEffect(fact[1], (), written, read, "other", None, None)
            self._found.append(Instruction("", pseudo, self._number, None, None, None))
        return None

    def _directive(self, code: str) -> bool:
        if location := _LOCATION.match(code):
            file, line = integer(location[1]), integer(location[2])
            self._source = self._files.source_line(file, line) if line else None
        elif code.startswith(".file"):
            self._files.take(code.encode())
        elif code.startswith(".macro"):
            self._skipped_until, self._macros_open = ".endm", 1
        elif code.startswith(".amd_kernel_code_t"):
            self._skipped_until, self._macros_open = ".end_amd_kernel_code_t", 0
        elif _EXPANDED.match(code):
            self.leave_out(code.split(None, 1)[0])
        elif _CODE_SECTION.match(code):
            self._in_code = True
        elif _OTHER_SECTION.match(code):
            self._in_code = False
        elif self._in_code and DATA.match(code):
            self._take_data(code)
        elif (other := _NEXT_FUNCTION.match(code)) and other[1].strip('" \t') != self._name:
            return False
        elif aligned := ALIGNED.match(code):
            self._labelled = len(self._found)
            if aligned[1] and self._value(aligned[1], self._number) not in FILLS:
                self._unread = self._labelled
        elif not (_END.match(code) or DATA.match(code)):
            word = code.split(None, 1)[0]
            if not WITHOUT_CODE.fullmatch(word) and word != "...":
                self.leave_out(word)
        return not (_END.match(code) and self._found)

    def _take_data(self, code: str) -> None:
        """Record a data directive. Consecutive directives make one instruction."""
        data = data_bytes(code, lambda written: self._value(written, self._number))
        if data is None:
            self._unread = len(self._found)
            return
        last = len(self._found) - 1
        if last in self._data and self._labelled <= last:
            self._data[last] += data
            return
        self._data[last + 1] = bytearray(data)
        undecoded = InstructionEffect(".long", (), 0, 0, "other", None, UNDECODED)
        self._found.append(Instruction(code, undecoded, self._number, None, self._source, None))

    def _take_instruction(self, code: str, spill: Literal["Spill", "Reload"] | None) -> None:
        text_and_effect = self._known.get(code)
        if text_and_effect is None:
            text_and_effect = self._text_and_effect(code)
            if text_and_effect is None:
                return
        if spill and text_and_effect[1].mnemonic == "s_clause":
            following = number("".join(code.split()[1:2]))
            self._clause, spill = (spill, 0 if following is None else following + 1), None
        elif self._clause[1]:
            spill, left = self._clause
            self._clause = spill, left - 1
        self._found.append(Instruction(*text_and_effect, self._number, None, self._source, spill))

    def _text_and_effect(self, code: str) -> tuple[str, InstructionEffect] | None:
        """(text without symbols, effect) of an instruction; None if `code` is not an
        instruction."""
        if branch := branch_effect(code):
            return code, branch
        if not _MNEMONIC.match(code):
            self.leave_out(code.split(None, 1)[0])
            return None
        if "[" in code and _SYMBOLIC.search(code):  # whose value may change from line to line
            code = evaluated(code, self._number, self._value)
            return code, effect(code)
        text_and_effect = code, effect(code)
        if len(self._known) < _MOST_SHARED:
            self._known[code] = text_and_effect
        return text_and_effect

    def listing(self, decode: Decode) -> Listing:
        """The listing, with data disassembled."""
        instructions, index_of, labels = self._with_data(decode)
        labels |= {name: index_of[index] for name, index in self._labels.items()}
        if self._name and any(each.text.endswith(self._name) for each in instructions):
            labels.setdefault(self._name, 0)  # a branch to the function's own label
        variables = [each._replace(first=index_of[each.first]) for each in self._variables]
        ends = bool(instructions) and instructions[-1].effect.mnemonic.startswith(ENDS)
        if self._unread is not None and not (ends and self._unread == len(self._found)):
            self._reasons[UNDECODED] = None
        if self._unread_words:
            lines = counted(sum(self._unread_words.values()), "line")
            words = ", ".join(self._unread_words)
            why = f"{lines} {ONLY_ASSEMBLED} ({words}): {_WAY_OUT}"
            self._reasons = {why: None, **self._reasons}
        return listing_of(instructions, labels, variables, self._reasons)

    def _with_data(self, decode: Decode) -> tuple[list[Instruction], Sequence[int], dict[str, int]]:
        """Instructions with data disassembled, the new index of each old instruction, and labels
        of the instructions that branches in the data lead to."""
        if not self._data:
            return self._found, range(len(self._found) + 1), {}
        chunks = [bytes(data) for data in self._data.values()]
        printed_at = dict(zip(self._data, decode(chunks), strict=True))
        decoded, index_of, labels = list[Instruction](), list[int](), dict[str, int]()
        for index, instruction in enumerate(self._found):
            start = len(decoded)
            index_of.append(start)
            printed = printed_at.get(index)
            if printed is None:
                decoded.append(instruction)
                continue
            index_at = {each.address: number for number, each in enumerate(printed, start)}
            index_at[len(self._data[index])] = start + len(printed)
            for each in printed:
                text, to = each.text, index_at.get(each.target)
                if to is None and text.startswith(("s_branch", "s_cbranch")):
                    self._reasons[f"a branch out of data words: {_WAY_OUT}"] = None
                elif to is not None:
                    label = f".Lword{to}"
                    while label in self._labels:
                        label += "_"
                    labels[label] = to
                    text = f"{text.split(None, 1)[0]} {label}"
                decoded.append(instruction._replace(text=text, effect=known_effect(text)))
        return decoded, [*index_of, len(decoded)], labels


def known_effect(text: str) -> InstructionEffect:
    """The effect of an instruction that a disassembler printed; inexact if it is unknown."""
    mnemonic = text.split(None, 1)[0]
    if _MNEMONIC.match(mnemonic):
        return effect(text)
    reason = f"{UNKNOWN} {mnemonic[:40]}"
    return InstructionEffect(mnemonic, (), 0, 0, "other", None, reason)


def number(written: str) -> int | None:
    """The value of a decimal or hexadecimal operand; None for other text."""
    return integer(written, 0) if _NUMBER.fullmatch(written) else None


def evaluated(code: str, line: int, value: Resolve) -> str:
    """The instruction with numbers in registers such as `s[SCALARS - 1]`; a register with an
    unknown symbol stays as written."""

    def register(written: re.Match[str]) -> str:
        bounds = [value(part, line) for part in written[2].split(":")]
        return written[0] if None in bounds else f"{written[1]}[{':'.join(map(str, bounds))}]"

    return _SYMBOLIC.sub(register, code)
