"""Kernel names for people: nothing in them may act on a terminal."""

from __future__ import annotations

from kernelinfo.facts.names import short
from kernelinfo.kernel import Kernel
from kernelinfo.render import NameStyle


def printable(text: str) -> str:
    """`text` with control, bidirectional and undecodable characters written as escapes."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def name_of(kernel: Kernel, style: NameStyle) -> str:
    return styled(kernel.name, kernel.symbol, style)


def styled(name: str, symbol: str, style: NameStyle) -> str:
    """The demangled name, short or full, or the mangled one; printable."""
    if style == "mangled":
        return printable(symbol)
    if style == "short" and name != symbol:
        return printable(short(name))
    return printable(name)
