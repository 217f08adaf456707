"""C++ names: demangled, and cut to namespaces, stem, template arguments or parameters."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache, lru_cache
from itertools import accumulate, pairwise
from typing import NamedTuple

_LONGEST = 16_384  # characters of a mangled name; longer ones are shown mangled
_KNOWN = 1 << 16  # cached names
_MARK = r"\boperator(?:\(\)|\[\]|<=>|<<=?|>>=?|->\*?|[<>]=?)|\bdecltype\(|[ :()<>\[\]{}]"

_LONGEST_DEMANGLED = 1 << 17
_HARMLESS = 1 << 22  # characters; names that may grow longer are demangled in a child process


@lru_cache(_KNOWN)
def demangle(symbol: str) -> str:
    """C++ name of a symbol, by LLVM's demangler; the symbol itself if it cannot be demangled."""
    if not symbol.startswith(("_Z", "__Z")) or len(symbol) > _LONGEST:
        return symbol
    if not has_demangler():
        return symbol
    if _most(symbol) > _HARMLESS:
        from kernelinfo.kernel.demangler import demangle_apart  # with subprocess

        name = demangle_apart(symbol)
    else:
        name = _demangled(symbol)
    return name if name and len(name) <= _LONGEST_DEMANGLED else symbol


def _demangled(symbol: str) -> str | None:
    demangler = _demangler()
    try:
        return demangler(symbol) if demangler else None
    except ValueError:  # not a C++ name, or bytes that are not text
        return None


@cache
def _demangler() -> Callable[[str], str | None] | None:
    """LLVM's demangler; None for systems for which pycxxfilt has no wheels."""
    try:
        import pycxxfilt  # 35 million instructions, and few files but libraries have C++ names
    except ImportError:
        return None
    return pycxxfilt.demangle


def has_demangler() -> bool:
    """True if C++ names can be demangled here."""
    return _demangler() is not None


def is_unread(symbol: str) -> bool:
    """True for a symbol that may have a C++ name where no demangler is installed."""
    return symbol.startswith(("_Z", "__Z")) and not has_demangler()


def _most(symbol: str) -> float:
    """Upper estimate of the demangled name's length, in characters.

    A reference repeats an earlier part of the name. Nested references triple the name with every
    three; a pack expansion repeats the text around it.
    """
    # A reference begins with S or T and ends with an underscore.
    repeats = min(symbol.count("_"), symbol.count("S") + symbol.count("T"))
    expansions = symbol.count("Dp")
    return float(len(symbol)) ** (1 + min(expansions, 8)) * 3 ** (min(repeats, 100) / 3)


class KernelName(NamedTuple):
    """A kernel of which only the name is read."""

    name: str
    """Demangled."""
    symbol: str
    """Mangled."""


@lru_cache(_KNOWN)
def _starts(name: str) -> tuple[int, int, int]:
    """Starts of the parts of a demangled name, in characters: of its namespaces, behind a return
    type; of the name itself with template arguments, `gemm<float, 3>`; of its parameters."""
    depth = qualified = stem = 0
    for mark in re.finditer(_MARK, name):
        text, position = mark[0], mark.start()
        if text == "(" and depth == 0 and position > stem:
            return qualified, stem, position
        if text[-1] in "(<[{" and not text.startswith("operator"):
            depth += 1
        elif text in ")>]}":
            depth -= 1
        elif depth == 0 and text == " ":
            qualified = stem = position + 1
        elif depth == 0 and text == ":":
            stem = position + 1
    return qualified, stem, len(name)


def stem(name: str) -> str:
    """A demangled name without return type, namespaces and parameters: `gemm<float, 3>`."""
    _, start, end = _starts(name)
    return name[start:end] or name


def qualified(name: str) -> str:
    """The stem with its namespaces: `depot::gemm<float, 3>`."""
    start, _, end = _starts(name)
    return name[start:end] or name


def without_namespace(name: str) -> str:
    """The stem with its parameters: `gemm<float, 3>(float*)`."""
    return name[_starts(name)[1] :] or name


def base_name(name: str) -> str:
    """The stem without template arguments: `gemm`."""
    whole = stem(name)
    return whole.partition("<")[0] or whole


def without_unit(name: str) -> str:
    """The name without the translation unit's mark, which clang adds to static kernels."""
    return re.sub(r" \(\.(?:intern|static)\.[0-9a-f]+\)$", "", name) if name.endswith(")") else name


def short(name: str) -> str:
    """A demangled name as an engineer says it: `gemm<float, 256>`.

    Omits return type, namespaces, parameters, suffixes of numbers and default arguments of standard
    containers. A function with a lambda keeps only its name."""
    return _brief(stem(name)) or name


def parameters(name: str) -> tuple[str, ...]:
    """The types of a function's parameters, each as in a short name."""
    begin = _starts(name)[2] + 1
    inner = name[begin : _end(name, begin) - 1]
    commas = [i for i, depth in enumerate(_depths(inner)) if depth == 0 and inner[i] == ","]
    between = pairwise([-1, *commas, len(inner)])
    return tuple(_brief(inner[before + 1 : after].strip()) for before, after in between)


_NAMESPACES = r"(?<!namespace\)::)(?:\b[A-Za-z_]\w*::|\(anonymous namespace\)::)+(?=[A-Za-z_~])"
_SUFFIX = r"\b(\d+)(?:u|l|ul|ll|ull)\b"
_DEFAULT = r", (?:allocator|char_traits|default_delete|equal_to|hash|less)<"
_LAMBDA = r"::(?='lambda|\{lambda)"


def _brief(text: str) -> str:
    text = re.sub(_NAMESPACES, "", text)
    text = re.sub(_SUFFIX, r"\1", text).replace("unsigned int", "unsigned").replace(" >", ">")
    while match := re.search(_DEFAULT, text):
        text = text[: match.start()] + text[_end(text, match.end()) :]
    text = text.replace("basic_string<char>", "string")
    position = 0
    lambda_of = re.compile(_LAMBDA).search
    while match := lambda_of(text, position):
        start = _start(text, match.start())
        function = text[start : match.start()]
        if "lambda" not in function:
            text = text[:start] + stem(function) + text[match.start() :]
            match = lambda_of(text, start)
        position = match.end() if match else len(text)
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
