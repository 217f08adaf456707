"""The flags of a source in `compile_commands.json`, which CMake and others write.

Only flags that lead to headers and macros, and the language, are taken, each of them one plain
word: a file of a build must not choose what is executed. Format: clang's documentation, "JSON
Compilation Database Format".
"""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Any, NamedTuple

from kernelinfo.compile.messages import say
from kernelinfo.errors import ReadError
from kernelinfo.hardware import targets as known_targets
from kernelinfo.reading.messages import in_file
from kernelinfo.reading.paths import SourceLanguage, read_document

_MOST_BYTES = 1 << 28
_PATHS = ("-isystem", "-iquote", "-include", "-I")
_TAKEN = (*_PATHS, "-std=", "-D", "-U", "-x", "--offload-arch=")
_WITH_VALUE = (
    *("-Xclang", "-Xlinker", "-Xassembler", "-Xpreprocessor", "-Xarch_host", "-Xarch_device"),
    *("-mllvm", "-target", "-arch", "-include-pch", "-isystem-after"),
)
"""Options whose next word is a value of theirs, even if it looks like a taken flag."""
_OUTPUTS = ("-o", "-MF", "-MT", "-MQ")
"""The same for options that say what the build writes."""
_MOVES_NOTHING = re.compile(
    r"-[cSw]|-O3|-g(?:\d|gdb\d?|dwarf-?\d|line-tables-only)?|-M[DMGPV]*|-W(?![alp],).*"
)
"""Options of a build that never move a number of a kernel, or that each command here has."""
_LANGUAGES: dict[str, SourceLanguage] = {"hip": "hip", "cl": "cl"}
_FEATURES = re.compile(r"(?::(?:sramecc|xnack)[+-])*")
_PLAIN = re.compile(r"(?!-)[-\w./+=,:]+")
"""A word that every shell, wrapper and compiler takes as it is: no blank, quote, `@` or `$`."""
_MOST_NAMED, _LONGEST_NAMED = 50, 200  # words, and characters of one


class CommandEntry(NamedTuple):
    """The flags of one source that are taken from its compile command."""

    flags: tuple[str, ...]
    language: SourceLanguage | None  # of -x, if it is for a device
    targets: tuple[str, ...]  # of --offload-arch
    left_out: str  # a line that names what may move numbers and is not taken; empty without any


def is_plain(word: str) -> bool:
    """True for a word that no shell or wrapper splits, expands or takes for an option."""
    return _PLAIN.fullmatch(word) is not None


def entries_of(paths: Iterable[str], commands: str) -> dict[str, CommandEntry]:
    """Source of `paths` → its first entry in the file `commands`.

    Raises `ReadError` if the file cannot be read, is no such list, or lacks one of the sources.
    """
    sought: dict[str, list[str]] = {}
    for path in paths:
        sought.setdefault(os.path.realpath(path), []).append(path)
    entries: dict[str, CommandEntry] = {}
    for entry in _entries(commands) if sought else ():
        folder = os.path.join(os.path.dirname(os.path.abspath(commands)), entry["directory"])
        for path in sought.pop(_real(os.path.join(folder, entry["file"])), ()):
            entries[path] = _taken(_words(entry, commands), folder, commands, path)
    for path in (path for missing in sought.values() for path in missing):
        raise ReadError(say("commands-without-entry", commands=commands, path=path))
    return entries


def _real(path: str) -> str:
    """The path with links resolved; empty if no file can have it."""
    try:
        return os.path.realpath(path)
    except ValueError:  # a NUL, or half a surrogate pair
        return ""


def _entries(commands: str) -> list[dict[str, Any]]:
    try:
        found = json.loads(read_document(commands, _MOST_BYTES))
    except ReadError as error:
        raise ReadError(in_file(commands, error.message)) from None
    except (OSError, ValueError, RecursionError) as error:
        reason = getattr(error, "strerror", None) or say("commands-no-json")
        raise ReadError(say("commands-unreadable", commands=commands, error=reason)) from None
    if not isinstance(found, list) or not all(map(_is_entry, found)):
        raise ReadError(say("commands-no-list", commands=commands))
    return found


def _is_entry(entry: object) -> bool:
    if not isinstance(entry, dict):
        return False
    words = entry.get("arguments", [])
    texts = [entry.get("directory"), entry.get("file"), entry.get("command", "")]
    return isinstance(words, list) and all(isinstance(one, str) for one in (*texts, *words))


def _words(entry: dict[str, Any], commands: str) -> list[str]:
    """The arguments of an entry, without the compiler."""
    try:
        words: list[str] = entry.get("arguments") or shlex.split(entry.get("command", ""))
    except ValueError as error:
        raise ReadError(
            say("commands-words", commands=commands, entry=entry["file"], error=error)
        ) from None
    return words[1:]


def _taken(words: Sequence[str], folder: str, commands: str, path: str) -> CommandEntry:
    flags: list[str] = []
    languages: list[SourceLanguage] = []
    targets: list[str] = []
    left_out: list[str] = []
    for option, value, written in _parts(words):
        full = os.path.join(folder, value) if option in _PATHS else value
        if option == "--offload-arch=":
            targets += (_target(target, commands) for target in value.split(","))
        elif option == "-x" and value in _LANGUAGES:
            languages.append(_LANGUAGES[value])
        elif not option and os.path.basename(written) == os.path.basename(path):
            pass  # the source itself
        elif option in ("", "-x") or not (is_plain(value) and is_plain(full)):
            left_out.append(written)
        else:
            flags += [option, full] if option in _PATHS else [option + full]
    language = languages[-1] if languages else None
    line = _named(left_out, commands, path)
    return CommandEntry(tuple(flags), language, tuple(dict.fromkeys(targets)), line)


def _named(left_out: Iterable[str], commands: str, path: str) -> str:
    """The line that names words that are not taken."""
    names = list(dict.fromkeys(left_out))
    if not names:
        return ""
    named = (
        name if len(name) <= _LONGEST_NAMED else f"{name[:_LONGEST_NAMED]}…"
        for name in names[:_MOST_NAMED]
    )
    more = (
        say("commands-and-more", count=len(names) - _MOST_NAMED) if len(names) > _MOST_NAMED else ""
    )
    words = f"{' '.join(map(shlex.quote, named))}{more}"
    return say("commands-left-out", commands=commands, path=path, words=words)


def _target(text: str, commands: str) -> str:
    """The target id `text`, `gfx90a:xnack-`. Raises `ReadError` if it is none or not known."""
    processor, _, features = text.partition(":")
    if processor in known_targets.known() and _FEATURES.fullmatch(f":{features}" * bool(features)):
        return text
    raise ReadError(say("commands-target", commands=commands, target=text))


def _parts(words: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    """(option, value, both as written) of each taken flag; the option of others is empty."""
    following = iter(words)
    for word in following:
        if word in _OUTPUTS:
            next(following, "")
        elif word in _WITH_VALUE:
            yield "", "", " ".join((word, *islice(following, 1)))
        elif word in _TAKEN and not word.endswith("="):
            value = next(following, "")
            yield word, value, f"{word} {value}"
        elif option := next(filter(partial(word.startswith), _TAKEN), ""):
            yield option, word.removeprefix(option), word
        elif not _MOVES_NOTHING.fullmatch(word):
            yield "", "", word
