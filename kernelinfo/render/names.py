"""Kernel names for people: nothing in them may act on a terminal."""

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
    """`libapp.so › kernel.co`; printable."""
    return printable(f"{path} › {member}" if member else path)


def name_of(kernel: Named, style: NameStyle) -> str:
    """The demangled name, short or full, or the mangled one; printable."""
    return printable(chosen_name(kernel, style))


def chosen_name(kernel: Named, style: NameStyle) -> str:
    """The demangled name, short or full, or the mangled one; as the input has it."""
    if style == "mangled":
        return kernel.symbol
    is_cpp = kernel.name != kernel.symbol
    return short(kernel.name) if style == "short" and is_cpp else kernel.name


def names_of(kernels: Iterable[Named], style: NameStyle) -> Mapping[str, str]:
    """The name of each symbol; where short ones would be equal, as much more as tells them apart.
    What differs in the parameters alone is written with them, up to the one that differs."""
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
    """A demangled name as an engineer says it: `gemm<float, 256>`. Gone are return type,
    namespaces, parameters, the suffixes of numbers, the arguments that standard containers have by
    default, and of a lambda's function all but its name."""
    return _brief(stem(name)) or name


def folded(name: str, width: int, indent: int) -> list[str]:
    """A name in lines of `width` columns, all but the first indented. Broken behind a comma, else
    behind an opening bracket or a scope, wherever the last one is."""
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
_MARKS = ((", ",), ("<", "("), ("::",))  # where a line may end, the best first


def heading(name: str, about: str, view: View) -> Iterator[list[Span]]:
    """A name and its description on one line; on two where the terminal is too narrow."""
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
    """How many brackets are open behind each character, less those closed before they opened."""
    return accumulate((character in opens) - (character in closes) for character in text)


def _end(text: str, position: int) -> int:
    """Behind the bracket that closes the one before `position`."""
    behind = enumerate(_depths(text[position:]), position + 1)
    return next((end for end, depth in behind if depth < 0), len(text))


def _start(text: str, end: int) -> int:
    """Where the template argument begins that ends before `end`."""
    depths = _depths(reversed(text[:end]), ")>]}", "(<[{")
    for start, depth in zip(range(end, 0, -1), depths, strict=True):
        if depth < 0 or (depth == 0 and text[start - 2 : start] == ", "):
            return start
    return 0


def _equal(names: Mapping[str, str]) -> Iterator[list[str]]:
    """Groups of symbols that have one name."""
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
