"""Kernel names for people: nothing in them may act on a terminal."""

from __future__ import annotations

from kernelinfo.model import Kernel
from kernelinfo.render import NameStyle


def printable(text: str) -> str:
    """`text` with control, bidirectional and undecodable characters written as escapes."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def name_of(kernel: Kernel, style: NameStyle) -> str:
    if style == "mangled":
        return printable(kernel.symbol)
    return printable(short(kernel.name) if style == "short" else kernel.name)


def short(name: str) -> str:
    """A demangled name without return type, parameters and namespaces: `gemm<float, 3>`."""
    depth = 0
    end = len(name)
    start = 0
    for position, character in enumerate(name):
        if character in "<({[":
            if character == "(" and depth == 0 and position > start and name[start:position] != "":
                if name.startswith("(anonymous namespace)", position):
                    depth += 1
                    continue
                end = position
                break
            depth += 1
        elif character in ">)}]":
            depth -= 1
        elif depth == 0 and (character == " " or name.startswith("::", position - 1)):
            start = position + 1
    return name[start:end] or name
