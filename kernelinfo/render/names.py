"""Kernel names for people: nothing in them may act on a terminal."""

from __future__ import annotations

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


def short(name: str) -> str:
    """A demangled name without return type, namespaces and parameters: `gemm<float, 3>`."""
    depth = start = 0
    for position, character in enumerate(name):
        before = name[start:position]
        if depth == 0 and character == "(" and before and not before.endswith(_TAKES_BRACKETS):
            return before
        if character in "(<[{":
            depth += 1
        elif character in ")>]}":
            depth -= 1
        elif depth == 0 and (character == " " or before.endswith(":")):
            start = position + (character == " ")
    return name[start:] or name


_TAKES_BRACKETS = ("operator", "decltype")
