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
    if style == "mangled":
        return printable(kernel.symbol)
    if style == "short" and kernel.name != kernel.symbol:
        return printable(short(kernel.name))
    return printable(kernel.name)
