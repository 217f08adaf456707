"""The flags of a source in `compile_commands.json`, which CMake and others write.

Only flags that lead to headers and macros, and the language, are taken: a file of a build must not
choose what is executed. Format: clang's documentation, "JSON Compilation Database Format".
"""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

from kernelinfo.compile.flags import absolute_flags
from kernelinfo.errors import ReadError
from kernelinfo.hardware import targets as known_targets
from kernelinfo.reading.paths import SourceLanguage, read_document

_MOST_BYTES = 1 << 28
_TAKEN = ("-isystem", "-iquote", "-include", "-I", "-D", "-U")
_PATHS = ("-isystem", "-iquote", "-include", "-I")
_OF_OTHERS = (
    *("-Xclang", "-Xlinker", "-Xassembler", "-Xpreprocessor", "-Xarch_host", "-Xarch_device"),
    *("-mllvm", "-o", "-MF", "-MT", "-MQ", "-target", "-arch"),
)
"""Options whose next word is a value of theirs, even if it looks like a taken flag."""
_NOT_TAKEN = ("-include-pch", "-isystem-after")
"""Other options that begin like taken ones."""
_LANGUAGES: dict[str, SourceLanguage] = {"hip": "hip", "cl": "cl"}
_TARGET = "--offload-arch="
_FEATURES = re.compile(r"(?::(?:sramecc|xnack)[+-])*")
# hipcc's Perl script hands words that end like a library to a shell, unquoted.
_LIKE_LIBRARY = re.compile(r"\.(?:a|lo)\s*$")
_HARMLESS = re.compile(r"[-\w=+,./: ]*", re.A)


class CommandEntry(NamedTuple):
    """The flags of one source that are taken from its compile command."""

    flags: tuple[str, ...]
    language: SourceLanguage | None  # of -x, if it is for a device
    targets: tuple[str, ...]  # of --offload-arch


def entry_of(path: str, commands: str) -> CommandEntry:
    """The first entry for the source `path` in the file `commands`.

    Raises `ReadError` if the file cannot be read, is no such list, or has no entry for the source.
    """
    wanted = os.path.realpath(path)
    for entry in _entries(commands):
        folder = os.path.join(os.path.dirname(os.path.abspath(commands)), entry["directory"])
        if _real(os.path.join(folder, entry["file"])) == wanted:
            return _taken(_words(entry, commands), folder, commands)
    raise ReadError(f"{commands}: has no entry for {path}; give its flags behind -- and --arch")


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
        raise ReadError(f"{commands}: {error}") from None
    except (OSError, ValueError, RecursionError) as error:
        reason = getattr(error, "strerror", None) or "is no JSON"
        raise ReadError(f"{commands}: {reason}; give a compile_commands.json") from None
    if not isinstance(found, list) or not all(map(_is_entry, found)):
        raise ReadError(f"{commands}: is no list of compile commands; give a compile_commands.json")
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
            f"{commands}: {entry['file']}: {error}; configure the build again"
        ) from None
    return words[1:]


def _taken(words: Sequence[str], folder: str, commands: str) -> CommandEntry:
    flags: list[str] = []
    languages: list[SourceLanguage] = []
    targets: list[str] = []
    for option, value in _pairs(words):
        if option == "-x":
            languages += [_LANGUAGES[value]] if value in _LANGUAGES else []
        elif option == _TARGET:
            targets += (_target(one, commands) for one in value.split(","))
        elif option in _PATHS:
            flags += absolute_flags([option, value], folder)
        else:
            flags.append(option + value)
    for flag in flags:
        if _LIKE_LIBRARY.search(flag) and not _HARMLESS.fullmatch(flag):
            message = "hipcc would give it to a shell; leave it out"
            raise ReadError(f"{commands}: {flag!r} is not passed on: {message}")
    language = languages[-1] if languages else None
    return CommandEntry(tuple(flags), language, tuple(dict.fromkeys(targets)))


def _target(text: str, commands: str) -> str:
    """The target id `text`, `gfx90a:xnack-`. Raises `ReadError` if it is none or not known."""
    processor, _, features = text.partition(":")
    if processor in known_targets.known() and _FEATURES.fullmatch(f":{features}" * bool(features)):
        return text
    raise ReadError(f"{commands}: {_TARGET}{text} is no known target; give --arch")


def _pairs(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """(option, value) of each taken flag; `-std=` and `--offload-arch=` keep their `=`."""
    following = iter(words)
    for word in following:
        if word in _OF_OTHERS or word in _NOT_TAKEN:
            next(following, "")
        elif word in (*_TAKEN, "-x"):
            yield word, next(following, "")
        elif word.startswith("-std="):
            yield "-std=", word.removeprefix("-std=")
        elif word.startswith(_TARGET):
            yield _TARGET, word.removeprefix(_TARGET)
        elif option := next(filter(partial(word.startswith), (*_TAKEN, "-x")), ""):
            yield option, word.removeprefix(option)
