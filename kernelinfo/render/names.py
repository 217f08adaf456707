"""Spells names of kernels for output, without characters that act on a terminal."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from kernelinfo.kernel import Kernel
from kernelinfo.kernel.names import parameters, short
from kernelinfo.render.paint import Span, cells, wrap
from kernelinfo.render.paint import printable as printable

if TYPE_CHECKING:
    from kernelinfo.compare.summary import KernelSummary
    from kernelinfo.kernel.names import KernelName
    from kernelinfo.render import View
    from kernelinfo.render.name_style import NameStyle
    from kernelinfo.variants.nouns import SweptKernel

    Named = Kernel | KernelName | KernelSummary | SweptKernel


def member_path(path: str, member: str | None) -> str:
    """Printable path of a file or a member in it: `libapp.so › kernel.co`."""
    return printable(f"{path} › {member}" if member else path)


def name_of(kernel: Named, style: NameStyle) -> str:
    """Printable name of a kernel in this style: short, full or mangled."""
    return printable(chosen_name(kernel, style))


def chosen_name(kernel: Named, style: NameStyle) -> str:
    """Name of a kernel in this style; not escaped, see `name_of`."""
    if style == "mangled":
        return kernel.symbol
    is_cpp = kernel.name != kernel.symbol
    return short(kernel.name) if style == "short" and is_cpp else kernel.name


def names_of(kernels: Iterable[Named], style: NameStyle) -> Mapping[str, str]:
    """Symbol → printable name. Equal short names get more text until they differ.

    They get parameters up to the first that differs, else the full name, else the mangled one."""
    known = {kernel.symbol: kernel for kernel in kernels}
    names = {symbol: name_of(kernel, style) for symbol, kernel in known.items()}
    if style != "short":
        return names
    for equal in _equal(names):
        cpp = {symbol: known[symbol].name for symbol in equal if known[symbol].name != symbol}
        names |= _with_parameters(cpp)
    for fuller in ("full", "mangled"):
        for equal in _equal(names):
            names |= {symbol: name_of(known[symbol], fuller) for symbol in equal}
    return names


def folded(name: str, width: int, indent: int) -> list[str]:
    """Lines of a name, at most `width` columns if possible; all but the first are indented.

    A line ends behind its last comma, else its last opening bracket, else its last `::`."""
    lines, line = [], ""
    for part in re.findall(_PARTS, name):
        if line.strip() and cells(line + part.rstrip()) > width:
            ends = (max(line.rfind(mark) + len(mark) for mark in marks) for marks in _MARKS)
            end = next((end for end in ends if cells(line[:end]) > width // 2), len(line))
            lines.append(line[:end].rstrip())
            line = " " * indent + line[end:]
        line += part
    return [*lines, line]


_PARTS = r"(?s).+?(?:, |::|[<(]|\Z)"
_MARKS = ((", ",), ("<", "("), ("::",))  # ends of a line, the best first


def heading(name: str, about: str, view: View) -> Iterator[list[Span]]:
    """Lines with a name and its description: one line, or more on a narrow terminal."""
    if view.fold and cells(name) + 3 + cells(about) > view.width:
        yield from ([(line, "bold")] for line in folded(name, view.width, 2))
        yield from wrap([(f"   {about}", "")], view.width, 3)
    else:
        yield [(name, "bold"), (f"   {about}", "")]


def _equal(names: Mapping[str, str]) -> Iterator[list[str]]:
    """Groups of two or more symbols with equal names."""
    groups = defaultdict(list)
    for symbol, name in names.items():
        groups[name].append(symbol)
    return (symbols for symbols in groups.values() if len(symbols) > 1)


def _with_parameters(names: Mapping[str, str]) -> dict[str, str]:
    lists = {symbol: parameters(name) for symbol, name in names.items()}
    most = max(map(len, lists.values()), default=0)
    count = next(
        (n for n in range(1, most) if len({each[:n] for each in lists.values()}) == len(lists)),
        most,
    )
    shown = {
        symbol: ", ".join([*all[:count], *["…"] * (len(all) > count)])
        for symbol, all in lists.items()
    }
    return {symbol: printable(f"{short(name)}({shown[symbol]})") for symbol, name in names.items()}
