"""Spells names of kernels for output, without characters that act on a terminal."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

from kernelinfo.kernel import Kernel
from kernelinfo.kernel.names import parts, stem
from kernelinfo.render.paint import Span, cells, wrap
from kernelinfo.render.paint import printable as printable

if TYPE_CHECKING:
    from kernelinfo.compare.summary import KernelSummary
    from kernelinfo.render import View
    from kernelinfo.render.name_style import NameStyle
    from kernelinfo.variants.nouns import SweptKernel

    Named = Kernel | KernelSummary | SweptKernel


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


def short(name: str) -> str:
    """A demangled name as an engineer says it: `gemm<float, 256>`.

    Omits return type, namespaces, parameters, suffixes of numbers and default arguments of standard
    containers. A function with a lambda keeps only its name."""
    return _brief(stem(name)) or name


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


_NAMESPACES = r"(?<!namespace\)::)(?:\b[A-Za-z_]\w*::|\(anonymous namespace\)::)+(?=[A-Za-z_~])"
_SUFFIX = r"\b(\d+)(?:u|l|ul|ll|ull)\b"
_DEFAULT = r", (?:allocator|char_traits|default_delete|equal_to|hash|less)<"
_LAMBDA = r"::(?='lambda|\{lambda)"


def _brief(text: str) -> str:
    text = re.sub(_NAMESPACES, "", text)
    text = re.sub(_SUFFIX, r"\1", text).replace("unsigned int", "unsigned").replace(" >", ">")
    while found := re.search(_DEFAULT, text):
        text = text[: found.start()] + text[_end(text, found.end()) :]
    text = text.replace("basic_string<char>", "string")
    position = 0
    lambda_of = re.compile(_LAMBDA).search
    while found := lambda_of(text, position):
        start = _start(text, found.start())
        function = text[start : found.start()]
        if "lambda" not in function:
            text = text[:start] + stem(function) + text[found.start() :]
            found = lambda_of(text, start)
        position = found.end() if found else len(text)
    return text


def _depths(text: Iterable[str], opens: str = "(<[{", closes: str = ")>]}") -> Iterator[int]:
    """Bracket depth behind each character; negative behind a closing bracket without its opener."""
    return accumulate((character in opens) - (character in closes) for character in text)


def _end(text: str, position: int) -> int:
    """Position behind the bracket that closes the one before `position`."""
    behind = enumerate(_depths(text[position:]), position + 1)
    return next((end for end, depth in behind if depth < 0), len(text))


def _start(text: str, end: int) -> int:
    """Start of the template argument that ends before `end`."""
    depths = _depths(reversed(text[:end]), ")>]}", "(<[{")
    for start, depth in zip(range(end, 0, -1), depths, strict=True):
        if depth < 0 or (depth == 0 and text[start - 2 : start] == ", "):
            return start
    return 0


def _equal(names: Mapping[str, str]) -> Iterator[list[str]]:
    """Groups of two or more symbols with equal names."""
    groups = defaultdict(list)
    for symbol, name in names.items():
        groups[name].append(symbol)
    return (symbols for symbols in groups.values() if len(symbols) > 1)


def _with_parameters(names: Mapping[str, str]) -> dict[str, str]:
    lists = {symbol: _parameters(name) for symbol, name in names.items()}
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


def _parameters(name: str) -> tuple[str, ...]:
    begin = parts(name).end + 1
    inner = name[begin : _end(name, begin) - 1]
    commas = [i for i, depth in enumerate(_depths(inner)) if depth == 0 and inner[i] == ","]
    between = pairwise([-1, *commas, len(inner)])
    return tuple(_brief(inner[before + 1 : after].strip()) for before, after in between)
