"""The commands that compile sources: their compilers, and flags of users and of compile commands.

Of `compile_commands.json`, which CMake and others write, only flags that lead to headers and
macros, and the language, are taken, each of them one plain word: a file of a build must not choose
what is executed. Format: clang's documentation, "JSON Compilation Database Format".
"""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from kernelinfo.compile.compilers import INLINE_ALL, NEWEST, ROCM
from kernelinfo.compile.messages import say
from kernelinfo.compile.processes import Processes, find_program
from kernelinfo.errors import CompilerError, ReadError
from kernelinfo.hardware import targets as known_targets
from kernelinfo.reading.messages import in_file
from kernelinfo.reading.paths import BEFORE_FLAGS, SourceLanguage, read_document

if TYPE_CHECKING:
    from subprocess import CompletedProcess

_OLDEST = 13
ASSEMBLY = ("-S",)
BITCODE = ("-c", "-emit-llvm", "-Xclang", "-disable-llvm-passes")
"""Options for the IR before optimisation, as `--save-temps` leaves it."""
_CLANG = re.compile(r"(?:[\w.]+-)*(?:amd)?clang(?:\+\+)?(?:-[\d.]+)?(?:\.exe)?")
_STATED = re.compile(r"^hipcc-cmd: (.*)$", re.M)
_SHOWN = re.compile(r'^ "([^"\n]+)" "-cc1"', re.M)


def find_driver(language: SourceLanguage, given: str | None) -> str:
    """Absolute path of the compiler of a language: `given`, or the first one that is found.

    HIP: $HIPCC, hipcc, amdclang++, the newest clang++. OpenCL: ROCm's clang, the newest clang.
    Raises `CompilerError` if there is none.
    """
    if given is None and language == "hip":
        given = os.environ.get("HIPCC") or None
    for name in [given] if given else candidates(language):
        if path := find_program(name):
            return path
    if given:
        raise CompilerError(say("compiler-no-program", given=given))
    looked = say("compilers-of-hip") if language == "hip" else "clang"
    raise CompilerError(say("compiler-missing", looked=looked))


def candidates(language: SourceLanguage) -> Iterator[str]:
    """Names and paths of compilers of a language, in search order."""
    clang = "clang++" if language == "hip" else "clang"
    if language == "hip":
        yield "hipcc"
    rocm = os.environ.get("ROCM_PATH") or ROCM
    if os.path.isabs(rocm):
        yield os.path.join(rocm, "bin/hipcc" if language == "hip" else "llvm/bin/clang")
    yield f"amd{clang}"
    yield from (f"{clang}-{version}" for version in range(NEWEST, _OLDEST - 1, -1))
    yield clang


def make_device_command(
    compiler: str,
    language: SourceLanguage,
    target: str,
    flags: Sequence[str],
    form: Sequence[str] = ASSEMBLY,
) -> tuple[str, ...]:
    """The command, without input and output, that compiles a source for one target.

    `form` is `ASSEMBLY` or `BITCODE`.
    """
    if language == "hip":
        device = ("-x", "hip", "--cuda-device-only", f"--offload-arch={target}")
    else:
        device = ("-x", "cl", "--target=amdgcn-amd-amdhsa", f"-mcpu={target}")
    level = () if any(flag.startswith("-O") for flag in flags) else ("-O3",)
    return (compiler, *device, *form, *level, "-gline-tables-only", BEFORE_FLAGS, *flags)


def is_clang(compiler: str) -> bool:
    """True if the name is that of a clang. Other compilers, such as hipcc, may pass their arguments
    to a shell."""
    return _CLANG.fullmatch(os.path.basename(compiler)) is not None


def find_wrapped_command(
    command: Sequence[str], values: Sequence[str], processes: Processes, folder: str
) -> tuple[str, ...]:
    """The command of the clang that a wrapper runs for `command`, which `make_device_command` made.

    `values` are inserted before the user's flags; the wrapper never sees `values`. With `-###`, the
    wrapper says what it would do with an empty file. hipcc prints its command, with everything
    it adds, as a shell line (HIPCC_VERBOSE); for other wrappers, clang's own line tells which clang
    it is. Raises `CompilerError` if there is neither.
    """
    empty = empty_source("hip", folder)
    end = processes.run_on_source([*command, "-###", empty], folder)
    words = [word for word in _stated(end, command) if word not in ("-###", empty)]
    if BEFORE_FLAGS not in words:
        raise CompilerError(say("compiler-silent", program=command[0]))
    place = words.index(BEFORE_FLAGS) + 1
    return (*words[:place], *values, *words[place:])


def driver_of(compiler: str, end: CompletedProcess[bytes]) -> str:
    """`clang` or `hipcc`: the driver whose LLVM options a compiler of sources adds; empty for a
    wrapper that does not print its command."""
    if is_clang(compiler):
        return "clang"
    words = _stated(end, ())
    return ("hipcc" if INLINE_ALL in words else "clang") if words else ""


def empty_source(language: SourceLanguage, folder: str) -> str:
    """Path of an empty source file, written to `folder`."""
    path = os.path.join(folder, f"empty.{language}")
    with open(path, "wb"):
        pass
    return path


def _stated(end: CompletedProcess[bytes], command: Sequence[str]) -> list[str]:
    """The words of the clang command that a wrapper printed; empty if it printed none."""
    if stated := _STATED.search(end.stdout.decode("utf-8", "surrogateescape")):
        with suppress(ValueError):  # quotes without an end
            return shlex.split(stated[1])
    shown = _SHOWN.search(end.stderr.decode("utf-8", "surrogateescape"))
    return [shown[1], *command[1:]] if shown else []


_MOST_BYTES = 1 << 28
_PATHS = ("-isystem", "-iquote", "-include", "-I")
_TAKEN = (*_PATHS, "-std=", "-D", "-U", "-x", "--offload-arch=")
_WITH_VALUE = (
    *("-Xclang", "-Xlinker", "-Xassembler", "-Xpreprocessor", "-Xarch_host", "-Xarch_device"),
    *("-mllvm", "-target", "-arch", "-include-pch", "-isystem-after"),
)
"""Options whose next word is a value of theirs, even if it looks like a taken flag."""
_OUTPUTS = ("-o", "-MF", "-MT", "-MQ")
"""Options whose next word says what the build writes."""
_MOVES_NOTHING = re.compile(
    r"-[cSw]|-O3|-g(?:\d|gdb\d?|dwarf-?\d|line-tables-only)?|-M[DMGPV]*|-W(?![alp],).*"
)
"""Options of a build that never move a number of a kernel, or that our own commands have anyway."""
_STANDS_IN_IR = re.compile(
    r"-O[0-3sz]|-mllvm .*|-nogpu(?:inc|lib)|--(?:rocm|hip)-(?:device-lib-)?path=.*"
)
"""Options that reach code generation through the IR, or that the compiler of the IR gets, too."""
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
    """True for a word that no shell or wrapper would split, expand or take for an option."""
    return _PLAIN.fullmatch(word) is not None


def read_entries(paths: Iterable[str], commands: str) -> dict[str, CommandEntry]:
    """Source of `paths` → its first entry in the file `commands`.

    Raises `ReadError` if the file cannot be read, is not a list of compile commands, or lacks one
    of the sources.
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
    """The path with links resolved; empty if no file can have that path."""
    try:
        return os.path.realpath(path)
    except ValueError:  # a NUL, or half a surrogate pair
        return ""


def _entries(commands: str) -> list[dict[str, Any]]:
    try:
        entries = json.loads(read_document(commands, _MOST_BYTES))
    except ReadError as error:
        raise ReadError(in_file(commands, error.message)) from None
    except (OSError, ValueError, RecursionError) as error:
        reason = getattr(error, "strerror", None) or say("commands-no-json")
        raise ReadError(say("commands-unreadable", commands=commands, error=reason)) from None
    if not isinstance(entries, list) or not all(map(_is_entry, entries)):
        raise ReadError(say("commands-no-list", commands=commands))
    return entries


def _is_entry(entry: object) -> bool:
    if not isinstance(entry, dict):
        return False
    words = entry.get("arguments", [])
    texts = [entry.get("directory"), entry.get("file"), entry.get("command", "")]
    return isinstance(words, list) and all(isinstance(text, str) for text in (*texts, *words))


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
    """The message that names the words that are left out."""
    names = list(dict.fromkeys(left_out))
    if not names:
        return ""
    named = (
        name if len(name) <= _LONGEST_NAMED else f"{name[:_LONGEST_NAMED]}…"
        for name in names[:_MOST_NAMED]
    )
    rest = len(names) - _MOST_NAMED
    words = " ".join(map(shlex.quote, named)) + (say("commands-and-more", count=rest) * (rest > 0))
    return say("commands-left-out", commands=commands, path=path, words=words)


def _target(text: str, commands: str) -> str:
    """The target id `text`, `gfx90a:xnack-`. Raises `ReadError` if it is malformed or unknown."""
    processor, _, features = text.partition(":")
    if processor in known_targets.known() and _FEATURES.fullmatch(f":{features}" * bool(features)):
        return text
    raise ReadError(say("commands-target", commands=commands, target=text))


def _parts(words: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    """(option, value, both as written) of each flag; the option is empty for flags that are left
    out."""
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


def stands_in_ir(flags: Sequence[str]) -> bool:
    """True if the IR of a source records all that its flags ask of code generation."""
    rest = (written for option, _, written in _parts(flags) if not option)
    return all(_STANDS_IN_IR.fullmatch(written) for written in rest)
