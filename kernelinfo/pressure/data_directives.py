"""Directives among the instructions of a function: data, padding, and those that make no code."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from kernelinfo.reading.data import integer


class DataInstruction(NamedTuple):
    """An instruction that is written as data."""

    text: str
    to: int | None
    """Index, in its chunk of data, of the instruction that a branch leads to; None outside."""


Decode = Callable[[Sequence[bytes]], list[list[DataInstruction] | None]]
"""The instructions in each chunk of data; None if a chunk cannot be decoded."""

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
    """The bytes of a directive; None if one of its values is not a known whole number.

    `value` evaluates an expression.
    """
    found = _NUMBERS.fullmatch(directive)
    if found is None:
        return None
    size = _NUMBER_BYTES.get(found[1], 4)
    encoded = bytearray()
    for written in map(str.strip, found[2].split(",")):
        # An expression has 64 bits, a plain number may have more.
        number = integer(written, 16) if _PLAIN.fullmatch(written) else value(written)
        if number is None:
            return None
        encoded += (number % (1 << 8 * size)).to_bytes(size, "little")
    return bytes(encoded)
