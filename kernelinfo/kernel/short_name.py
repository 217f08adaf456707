"""Short names: C++ names as an engineer says them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import accumulate, pairwise

from kernelinfo.kernel.names import parts, stem


def short(name: str) -> str:
    """A demangled name as an engineer says it: `gemm<float, 256>`.

    Omits return type, namespaces, parameters, suffixes of numbers and default arguments of standard
    containers. A function with a lambda keeps only its name."""
    return _brief(stem(name)) or name


def parameters(name: str) -> tuple[str, ...]:
    """The types of a function's parameters, each as in a short name."""
    begin = parts(name).end + 1
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
