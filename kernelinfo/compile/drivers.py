"""Compilers of sources, and the commands that they compile a source for a device with."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator, Sequence
from contextlib import suppress

from kernelinfo.compile.compilers import NEWEST, ROCM
from kernelinfo.compile.complaints import reason
from kernelinfo.compile.messages import say
from kernelinfo.compile.processes import EndOfProcess, Processes, find_program
from kernelinfo.errors import CompilerError, Message
from kernelinfo.reading.paths import SourceLanguage

_OLDEST = 13
ASSEMBLY = ("-S",)
BITCODE = ("-c", "-emit-llvm", "-Xclang", "-disable-llvm-passes")
"""Options for the IR before optimisation, as `--save-temps` leaves it."""
_SILENT = "-Wno-unused-command-line-argument"  # hipcc adds libraries for the linker
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
    for name in [given] if given else _candidates(language):
        if found := find_program(name):
            return found
    if given:
        raise CompilerError(say("compiler-no-program", given=given))
    looked = say("compilers-of-hip") if language == "hip" else "clang"
    raise CompilerError(say("compiler-missing", looked=looked))


def _candidates(language: SourceLanguage) -> Iterator[str]:
    clang = "clang++" if language == "hip" else "clang"
    if language == "hip":
        yield "hipcc"
    rocm = os.environ.get("ROCM_PATH") or ROCM
    if os.path.isabs(rocm):
        yield os.path.join(rocm, "bin/hipcc" if language == "hip" else "llvm/bin/clang")
    yield f"amd{clang}"
    yield from (f"{clang}-{version}" for version in range(NEWEST, _OLDEST - 1, -1))
    yield clang


def device_command(
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
    return (compiler, *device, *form, *level, "-gline-tables-only", _SILENT, *flags)


def others_that_know(
    target: str, language: SourceLanguage, compiler: str, processes: Processes, folder: str
) -> Message | None:
    """The installed compilers that know a target, and what the first of them lacks, in words.

    None if no other does, or if `compiler` knows it and a flag of the user names another one.
    """
    error = _error_without_code(compiler, language, target, processes, folder)
    if error is None or error.code != "compiler-target":
        return None
    knowing: list[tuple[str, Message]] = []
    tried = {os.path.realpath(compiler)}
    for name in _candidates(language):
        path = find_program(name)
        if path is None or os.path.realpath(path) in tried:
            continue
        tried.add(os.path.realpath(path))
        error = _error_without_code(path, language, target, processes, folder)
        if error is None or error.code != "compiler-target":
            knowing.append((name, _lack(error, language)))
    if not knowing:
        return None
    names = [name for name, _ in knowing]
    first, lack = knowing[0]
    verb = "knows" if len(names) == 1 else "know"
    return say("compilers-know", names=" and ".join(names), verb=verb, first=first, lack=lack)


def _error_without_code(
    compiler: str, language: SourceLanguage, target: str, processes: Processes, folder: str
) -> Message | None:
    """Why a compiler does not compile an empty source for a target; None if it does."""
    empty = os.path.join(folder, "empty" + (".hip" if language == "hip" else ".cl"))
    with open(empty, "wb"):
        pass
    command = device_command(compiler, language, target, ())
    end = processes.run_on_source([*command, empty, "-o", os.devnull], folder)
    return reason(end.complaints.decode("utf-8", "replace"), target) if end.code else None


def _lack(error: Message | None, language: SourceLanguage) -> Message:
    """What a compiler lacks that knows a target but does not compile an empty source for it."""
    if error is None:
        return say("compiler-complete")
    if error.code in ("device-library-missing", "device-library-old"):
        return say(
            "compiler-without-library" if language == "hip" else "compiler-without-cl-library"
        )
    if error.code == "hip-headers-missing":
        return say("compiler-without-headers")
    return say("compiler-complete")


def is_clang(compiler: str) -> bool:
    """True for a clang by its name. Others, as hipcc, may hand their words to a shell."""
    return _CLANG.fullmatch(os.path.basename(compiler)) is not None


def command_behind(
    command: Sequence[str], values: Sequence[str], processes: Processes, folder: str
) -> tuple[str, ...]:
    """The command of the clang that a wrapper runs for `command` of `device_command`.

    `values` go before the user's flags. The wrapper never sees them: it is asked by `-###` what it
    would do with an empty file. hipcc prints its command as a line for the shell, with what it adds
    (HIPCC_VERBOSE); of another wrapper, clang's own line tells which clang it is. Raises
    `CompilerError` if there is neither.
    """
    empty = os.path.join(folder, "empty.hip")
    with open(empty, "wb"):
        pass
    end = processes.run_on_source([*command, "-###", empty], folder)
    words = [word for word in _stated(end, command) if word not in ("-###", empty)]
    if _SILENT not in words:
        raise CompilerError(say("compiler-silent", program=command[0]))
    place = words.index(_SILENT) + 1
    return (*words[:place], *values, *words[place:])


def _stated(end: EndOfProcess, command: Sequence[str]) -> list[str]:
    """The words of clang's command that a wrapper states; empty if it states none."""
    if found := _STATED.search(end.output.decode("utf-8", "surrogateescape")):
        with suppress(ValueError):  # quotes without an end
            return shlex.split(found[1])
    found = _SHOWN.search(end.complaints.decode("utf-8", "surrogateescape"))
    return [found[1], *command[1:]] if found else []
