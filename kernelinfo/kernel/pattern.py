"""Matches patterns against the names of kernels."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from fnmatch import translate
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from kernelinfo.errors import OptionError, did_you_mean, or_list
from kernelinfo.kernel.code_object import member_file
from kernelinfo.kernel.messages import say
from kernelinfo.kernel.names import (
    base_name,
    is_unread,
    parameters,
    qualified,
    short,
    stem,
    without_namespace,
)

if TYPE_CHECKING:
    import re2


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


@lru_cache(maxsize=1 << 16)
def matching(patterns: tuple[str, ...], name: str, symbol: str) -> tuple[str, ...]:
    """The patterns that match a kernel by one of its spellings, in their order.

    The spellings of a kernel are the mangled name, the demangled name, and the demangled name
    without parameters, template arguments or namespaces, or as reports shorten it. A pattern is a
    literal spelling, a glob over a whole spelling (`*`, `?` and `[...]` as in a shell), or `re:`
    and a regular expression found anywhere in one, in linear time (RE2: no look-around, no back
    references). Spaces in C++ names and suffixes of numbers do not count: `stencil3d<4,8>` is
    `stencil3d<4u, 8u>`. Raises `OptionError` for an invalid regular expression, for any where
    google-re2 is not installed, and for a pattern that only the C++ name could match where it
    cannot be read.
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
    """True if the symbol contains the words of the pattern, whole ones behind their length.

    Template arguments and parameters are not looked at: a symbol may have them as letters.
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
    """True if a mangled name has the word, or the part of one, as it is. Numbers have suffixes."""
    return not (part[0].isdigit() or any(part in word for word in _NOT_SPELLED))


def _is_part(word: re.Match[str]) -> bool:
    """True if a wildcard next to the word may stand for more of it."""
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
    """False if each alternative of the pattern has a word that the name lacks: no spelling adds
    words.

    Saves nine tenths of the time that `-k` takes for a name.
    """
    _search(pattern)  # raises `OptionError` for an invalid regular expression
    return any(all(word in name for word in words) for words in _words(pattern))


def _words(pattern: str) -> list[list[str]]:
    """The words that a spelling must have, for each alternative; none if they are not known."""
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
    """A suggestion of three kernels for a pattern that matches none; empty if none is near.

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
    """True if a glob matches a member, with or without the target id, or one part of its path."""
    names = (member, member_file(member), *re.split("/| › ", member))
    return any(map(_search(pattern), names))


@cache
def _search(pattern: str) -> Callable[[str], object]:
    """The function that is true for spellings that match the pattern."""
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
