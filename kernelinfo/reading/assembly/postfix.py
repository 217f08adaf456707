"""Expressions in postfix order, read without a parser where they are as compilers write them.

To import a parser takes longer than to read a file. What has comments, quotes, comparisons, minus
signs or numbers other than decimal is left to the grammar, and a test holds both to the same answer
on every expression there is.
"""

from __future__ import annotations

import re

from kernelinfo.light_typing import NamedTuple
from kernelinfo.reading.assembly.arithmetic import Value


class Call(NamedTuple):
    """Of a function or an operator, on the values before it."""

    function: str
    arguments: int


Step = Value | str | Call
"""A constant, a symbol's name, or a call."""

# 18 digits always fit 64 bits.
_TOKEN = (
    r"(?as)[ \t]*(?:(0|[1-9][0-9]{0,17})(?![\w.$@])|([A-Za-z_.$][\w.$@]*)"
    r"|(<<|>>|[-+*/%&|^~(),])|(.))"
)
_TIGHTNESS = {"+": 1, "-": 1, "|": 2, "^": 2, "&": 2}
_TIGHTNESS |= {"*": 3, "/": 3, "%": 3, "<<": 3, ">>": 3, "~": 4}
"""mc_expression.lark: as LLVM has it, not C."""


def postfix(expression: str) -> tuple[Step, ...] | None:
    """The steps of an expression; None where the grammar must decide."""
    done: list[Step] = []
    pending: list[Call] = []  # operators, functions and, without a name, parentheses
    function = ""  # the symbol just met, which a parenthesis makes one
    wanted = True  # an operand
    for number, symbol, sign, other in re.findall(_TOKEN, expression.strip(" \t")):
        if other:
            return None
        if sign == "(" and (wanted or function):
            pending.append(Call(function, 1))
            if function:
                done.pop()
            wanted = True
        elif sign == "~" and wanted:
            pending.append(Call(sign, 1))
        elif sign in ("(", "~") or wanted == bool(sign):
            return None
        elif not sign:
            done.append(symbol or int(number))
            wanted = False
        else:
            tightness = _TIGHTNESS.get(sign, 0)
            while pending and _TIGHTNESS.get(pending[-1].function, -1) >= tightness:
                done.append(pending.pop())
            if tightness:
                pending.append(Call(sign, 2))
            elif not pending or (sign == "," and not pending[-1].function):
                return None
            elif sign == ",":
                pending[-1] = pending[-1]._replace(arguments=pending[-1].arguments + 1)
            elif (closed := pending.pop()).function:
                done.append(closed)
            wanted = sign != ")"
        function = symbol
    while pending and pending[-1].function in _TIGHTNESS:
        done.append(pending.pop())
    return None if wanted or pending else tuple(done)
