"""C++ names: demangled, cut to namespaces, stem, template arguments or parameters, and matched."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from fnmatch import translate
from functools import cache, lru_cache
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, NamedTuple

from kernelinfo.errors import OptionError, did_you_mean, or_list
from kernelinfo.kernel.code_object import member_file
from kernelinfo.kernel.messages import say

if TYPE_CHECKING:
    import re2

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

    A back reference repeats an earlier part of the name: every three nested references triple the
    name. A pack expansion repeats the text around it.
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
    """The positions, in characters, at which the parts of a demangled name start: its namespaces,
    after a return type; the name itself with template arguments, `gemm<float, 3>`; its
    parameters."""
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

    Omits the return type, namespaces, parameters, suffixes of numbers, and default arguments of
    standard containers. A function with a lambda keeps only its name.
    """
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
    """Bracket depth after each character; negative after an unmatched closing bracket."""
    return accumulate((character in opens) - (character in closes) for character in text)


def _end(text: str, position: int) -> int:
    """Position after the bracket that closes the one before `position`."""
    behind = enumerate(_depths(text[position:]), position + 1)
    return next((end for end, depth in behind if depth < 0), len(text))


def _start(text: str, end: int) -> int:
    """Start of the template argument that ends before `end`."""
    depths = _depths(reversed(text[:end]), ")>]}", "(<[{")
    for start, depth in zip(range(end, 0, -1), depths, strict=True):
        if depth < 0 or (depth == 0 and text[start - 2 : start] == ", "):
            return start
    return 0


_MOST_NEAR = 3  # kernels in a suggestion
_SHORTEST_PART, _LONGEST_PART = 3, 200  # characters of a pattern to find inside names
_LONGEST_SYMBOL = 80  # characters of a symbol in a message
_NOT_SPELLED = (
    *("void", "bool", "char", "short", "int", "long", "float", "double", "signed", "unsigned"),
    *("auto", "const", "volatile", "std", "operator", "decltype", "anonymous", "namespace"),
    *("true", "false", "nullptr_t", "lambda", "unnamed", "_Float16", "half", "__bf16", "__int128"),
    *("wchar_t", "char8_t", "char16_t", "char32_t", "basic_string", "allocator", "char_traits"),
)
"""Words of C++ names that a mangled name has as letters, or not at all."""


def matches(pattern: str, name: str, symbol: str) -> bool:
    """True if the pattern matches the kernel; see `matching`."""
    return bool(matching((pattern,), name, symbol))


@lru_cache(_KNOWN)  # a library has a kernel for each target: -k on rocSPARSE takes 23 % less time
def matching(patterns: tuple[str, ...], name: str, symbol: str) -> tuple[str, ...]:
    """The patterns, in their order, that match one of the kernel's spellings.

    The spellings of a kernel are its mangled name, its demangled name, and short forms of that: of
    `void ns::f<4>(float*)` these are `ns::f<4>`, `ns::f`, `f<4>(float*)`, `f<4>` and `f`. A pattern
    is a literal spelling, a glob over a whole spelling (`*`, `?` and `[...]` as in a shell), or
    `re:` and a regular expression that may match a part of a spelling, in linear time (RE2: no
    look-around, no back references). Spaces in C++ names and suffixes of numbers do not count:
    `stencil3d<4,8>` is `stencil3d<4u, 8u>`. Raises `OptionError` for an invalid regular expression,
    for any regular expression if google-re2 is not installed, and, if names cannot be demangled,
    for a pattern that does not match `symbol` but may match its C++ name.
    """
    if symbol == name:
        alike = tuple([pattern for pattern in patterns if _search(pattern)(name)])
        if is_unread(symbol):
            _refuse_names_of({*patterns}.difference(alike), symbol)
        return alike
    near = [p for p in patterns if _has_words(p, name) or _has_words(p, symbol)]
    if not near:
        return ()
    exact = name, symbol, qualified(name), stem(name)
    fitting = [p for p in near if any(map(_search(p), exact))]
    if any(p not in fitting and _has_words(p, name) for p in near):
        loose = _loose_spellings(name)
        fitting = [p for p in near if p in fitting or any(map(_search(_loose(p)), loose))]
    return tuple(fitting)


def _refuse_names_of(patterns: Iterable[str], symbol: str) -> None:
    """Raise `OptionError` for a pattern that may match the C++ name of a symbol."""
    for pattern in patterns:
        if _may_name(pattern, symbol):
            shown = f"{symbol[:_LONGEST_SYMBOL]}…" if symbol[_LONGEST_SYMBOL:] else symbol
            raise OptionError(say("pattern-mangled", pattern=pattern, symbol=shown))


def _may_name(pattern: str, symbol: str) -> bool:
    """True if the mangled symbol contains the words of the pattern: a whole word after its length,
    a word next to a wildcard anywhere.

    Template arguments and parameters are not checked: a symbol may encode them as letters.
    """
    if pattern.startswith("re:") or "[" in pattern:
        spelled = (filter(_is_spelled, words) for words in _words(pattern))
        return any(all(word in symbol for word in words) for words in spelled)
    head = re.split(r"[<(]", pattern, maxsplit=1)[0]
    words = list(re.finditer(r"\w+", head))
    parts = (word[0] for word in words if _is_part(word) and _is_spelled(word[0]))
    whole = (word[0] for word in words if not _is_part(word) and word[0] not in _NOT_SPELLED)
    return all(part in symbol for part in parts) and all(
        f"{len(word)}{word}" in symbol for word in whole
    )


def _is_spelled(part: str) -> bool:
    """True if the word, or the part of a word, appears unchanged in a mangled name. Numbers do not,
    because of suffixes."""
    return not (part[0].isdigit() or any(part in word for word in _NOT_SPELLED))


def _is_part(word: re.Match[str]) -> bool:
    """True if a wildcard next to the word may match more of the same word."""
    beside = word.string[: word.start()][-1:] + word.string[word.end() :][:1]
    return "*" in beside or "?" in beside


def _loose_spellings(name: str) -> frozenset[str]:
    """Spellings of a C++ name that users type, without spaces that mean nothing."""
    cut = (
        name,
        qualified(name),
        qualified(name).partition("<")[0],
        without_namespace(name),
        stem(name),
        base_name(name),
        short(name),
        f"{short(name)}({', '.join(parameters(name))})",
    )
    return frozenset(map(_tight, cut))


def _has_words(pattern: str, name: str) -> bool:
    """False if the name cannot match: each alternative of the pattern needs a word that the name
    lacks. Spares nine tenths of the time that `-k` takes per name."""
    _search(pattern)  # raises `OptionError` for an invalid regular expression
    return any(all(word in name for word in words) for words in _words(pattern))


def _words(pattern: str) -> list[list[str]]:
    """For each alternative of the pattern, the words that a matching spelling must contain. An
    alternative without known words has an empty list."""
    if not pattern.startswith("re:"):
        return [[] if "[" in pattern else re.findall(r"\w+", pattern)]
    text = re.sub(r"\((?!\?)[^()[\\]*\)", " ", pattern[3:])  # a group may have alternatives
    text = re.sub(r"\\[bBdDsSwW]|\w[*?]", " ", text)
    if re.search(r"[\\()\[{]", text):
        return [[]]
    return [re.findall(r"\w+", alternative) for alternative in text.split("|")]


def _loose(pattern: str) -> str:
    """The pattern for loose spellings. `…` stands for the parameters that a report omits."""
    return pattern if pattern.startswith("re:") else _tight(pattern).replace("…", "*")


def _tight(text: str) -> str:
    """The text without spaces next to punctuation and without suffixes of numbers."""
    text = re.sub(r" ?([<>,():&]) ?| (?=\*)", r"\1", " ".join(text.split()))
    return re.sub(r"\b(\d+)(?:u|l|ul|ll|ull)\b", r"\1", text)


def is_pattern(text: str) -> bool:
    """True for a glob or a regular expression."""
    return text.startswith("re:") or any(mark in text for mark in "*?[")


def nearest_kernels(pattern: str, names: Iterable[str]) -> str:
    """A suggestion of up to three kernels for a pattern that matches none; empty if none is near.

    Names that contain the pattern come first.
    """
    stems = set(map(stem, names))
    word = _tight(pattern).removeprefix("re:").strip("*^$")
    candidates = set(map(short if "<" in word else base_name, stems))
    if len(word) < _SHORTEST_PART or len(word) > _LONGEST_PART:
        return did_you_mean(word, candidates, _MOST_NEAR)
    part = word.casefold()
    holding = sorted((len(name), name) for name in candidates if part in name.casefold())
    if holding:
        return or_list([name for _, name in holding[:_MOST_NEAR]])
    if any(part in name.casefold() for name in stems):  # in template arguments
        return or_list([f"*{word}*"])
    return did_you_mean(word, candidates, _MOST_NEAR)


def in_member(pattern: str, member: str) -> bool:
    """True if a glob matches a member, with or without its target id, or one component of its
    path."""
    names = (member, member_file(member), *re.split("/| › ", member))
    return any(map(_search(pattern), names))


@cache
def _search(pattern: str) -> Callable[[str], object]:
    """A function that returns True for spellings that match the pattern."""
    if pattern.startswith("re:"):
        search: Callable[[str], object] = _compiled(pattern[3:]).search
        return search
    return re.compile(rf"{re.escape(pattern)}\Z|{translate(pattern)}").match


def _compiled(pattern: str) -> re2.Pattern:
    try:
        import re2
    except ImportError:
        raise OptionError(say("re2-missing", pattern=pattern)) from None
    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(pattern, options)
    except re2.error as error:
        what = error.args[0].decode("utf-8", "replace")
    except UnicodeEncodeError:
        what = say("pattern-no-utf8")
    raise OptionError(say("pattern-malformed", pattern=pattern, error=what))
