"""Data directives among the instructions of an assembly text."""

from __future__ import annotations

import re
from collections.abc import Callable

DATA = re.compile(
    r"\.(?:[248]?byte|short|value|long|int|quad|octa|d?word|hword|single|float|double|ascii|asciz|"
    r"string\d*|fill|zero|space|skip|org|nops|inst|dcb?|ds|[us]leb128|incbin)\b"
)
"""Data directives, and `.org`."""
CODE_SECTION = re.compile(r"\.(?:push)?section\s+\"?\.text|\.(?:text|previous|popsection)\b")
OTHER_SECTION = re.compile(r"\.(?:(?:push)?section|data|rodata|bss)\b")

_NUMBERS = re.compile(r"\.(byte|2byte|short|value|4byte|long|int|8byte|quad|octa)\b(.*)")
_BYTES = {"byte": 1, "2byte": 2, "short": 2, "value": 2, "8byte": 8, "quad": 8, "octa": 16}
"""Directive → bytes of each number; 4 for others (LLVM AsmParser::parseStatement)."""
_PLAIN = re.compile(r"0x[0-9a-fA-F]{1,32}")


def data(directive: str, value: Callable[[str], int | None]) -> bytes | None:
    """The bytes of a directive; None if one of its values is not a known whole number.

    `value` evaluates an expression.
    """
    found = _NUMBERS.fullmatch(directive)
    if found is None:
        return None
    size = _BYTES.get(found[1], 4)
    encoded = bytearray()
    for written in map(str.strip, found[2].split(",")):
        # An expression has 64 bits, a plain number may have more.
        number = int(written, 16) if _PLAIN.fullmatch(written) else value(written)
        if number is None:
            return None
        encoded += (number % (1 << 8 * size)).to_bytes(size, "little")
    return bytes(encoded)
