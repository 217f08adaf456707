"""Sources compiled for the device: HIP, OpenCL and LLVM IR become assembly in memory.

For variants of its kernels, a source also becomes bitcode.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import NamedTuple, TypeVar

from kernelinfo.compile.commands import entry_of
from kernelinfo.compile.complaints import concerned_files, reason
from kernelinfo.compile.drivers import BITCODE, device_command, find_driver
from kernelinfo.compile.intermediate import compile_ir
from kernelinfo.compile.ir import Input
from kernelinfo.compile.nouns import Compiled, Settings
from kernelinfo.compile.processes import Processes
from kernelinfo.errors import CompilerError, OptionError, ReadError
from kernelinfo.reading.paths import SOURCE_LANGUAGES, SourceLanguage, read_document

_ASSEMBLY, _BITCODE, _DEPENDENCIES = "kernels.s", "kernels.bc", "kernels.d"
_MOST_OUTPUT = 1 << 30
_KERNEL = b".amdhsa_kernel "
_Made = TypeVar("_Made")
_CompiledTwice = tuple[Compiled, Input | None]
"""A source as assembly, and its bitcode before optimisation; None if one compilation failed."""


class Job(NamedTuple):
    """One run of a compiler."""

    path: str
    language: SourceLanguage
    target: str
    compiler: str  # absolute path; for IR as the user gave it, or empty
    flags: tuple[str, ...]


def compile_sources(
    paths: Iterable[str], settings: Settings, processes: Processes
) -> tuple[Compiled, ...]:
    """Each source compiled for each target, in order, by one compiler for each core.

    Raises `CompilerError` if no compiler is found or `processes` was ended, and `OptionError` if
    no target is given.
    """
    jobs = [job for path in paths for job in _jobs(path, settings)]
    return _made(jobs, _compiled, processes)


def compile_twice(
    paths: Iterable[str], settings: Settings, processes: Processes
) -> tuple[_CompiledTwice, ...]:
    """Each source as assembly and as IR. Raises as `compile_sources`.

    A source with several targets is an `OptionError`, too.
    """
    return _made([_only_job(path, settings) for path in paths], _compiled_twice, processes)


def _made(
    jobs: Iterable[Job], make: Callable[[Processes, Job], _Made], processes: Processes
) -> tuple[_Made, ...]:
    """The results of all jobs, in order."""
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        try:
            return tuple(pool.map(partial(make, processes), jobs))
        except BaseException:  # Ctrl-C, too: the pool would wait for the compilers
            processes.end()
            raise


def _jobs(path: str, settings: Settings) -> Iterator[Job]:
    flags, targets = settings.flags, settings.targets
    language = SOURCE_LANGUAGES[os.path.splitext(path)[1]]
    if settings.compile_commands is not None and language != "ir":
        entry = entry_of(path, settings.compile_commands)
        language, flags = entry.language or language, (*entry.flags, *flags)
        targets = targets or entry.targets
    if not targets:
        raise OptionError(f"{path}: no target to compile for; add --arch gfx942")
    given = settings.compiler
    compiler = given or "" if language == "ir" else find_driver(language, given)
    for target in targets:
        yield Job(path, language, target, compiler, flags)


def _only_job(path: str, settings: Settings) -> Job:
    job, *others = _jobs(path, settings)
    if others:
        targets = ", ".join(one.target for one in (job, *others))
        raise OptionError(f"{path}: several targets ({targets}); give one by --arch")
    return job


def _compiled(processes: Processes, job: Job) -> Compiled:
    try:
        if job.language == "ir":
            return _of_ir(processes, job)
        with processes.folder() as folder:
            return _of_source(processes, job, folder)
    except ReadError as error:
        failed = str(error)
    except CompilerError as error:
        if processes.has_ended:
            raise
        failed = f"{job.path}: {error}"
    path = os.path.abspath(job.path)
    return Compiled(job.path, job.target, (), "", dependencies=(path,), error=failed)


def _compiled_twice(processes: Processes, job: Job) -> _CompiledTwice:
    compiled = _compiled(processes, job)
    if compiled.error:
        return compiled, None
    try:
        with processes.folder() as folder:
            return _with_bitcode(processes, job, folder, compiled)
    except CompilerError as error:
        if processes.has_ended:
            raise
        return compiled._replace(error=f"{job.path}: {error}"), None


def _with_bitcode(
    processes: Processes, job: Job, folder: str, compiled: Compiled
) -> _CompiledTwice:
    path, output = os.path.abspath(job.path), os.path.join(folder, _BITCODE)
    command = device_command(job.compiler, job.language, job.target, job.flags, BITCODE)
    end = processes.run_on_source([*command, path, "-o", output], folder)
    bitcode = b"" if end.code else _read(output)
    if bitcode:
        return compiled, Input(job.path, bitcode, compiled, (*command, path))
    messages = end.complaints.decode("utf-8", "replace")
    error = f"{job.path}: {reason(messages, job.target)}"
    return compiled._replace(messages=messages, error=error), None


def _of_ir(processes: Processes, job: Job) -> Compiled:
    compiler = job.compiler or None
    command, assembly = compile_ir(job.path, job.target, job.flags, compiler, processes)
    return Compiled(job.path, job.target, command, "", assembly, (os.path.abspath(job.path),))


def _of_source(processes: Processes, job: Job, folder: str) -> Compiled:
    path = os.path.abspath(job.path)
    output, listed = os.path.join(folder, _ASSEMBLY), os.path.join(folder, _DEPENDENCIES)
    command = device_command(job.compiler, job.language, job.target, job.flags)
    end = processes.run_on_source([*command, *_listing(listed), path, "-o", output], folder)
    messages = end.complaints.decode("utf-8", "replace")
    # Clang lists the headers of a source with errors, too, unless one is missing.
    missing = concerned_files(messages, job.flags, folder) if end.code else ()
    found = tuple(dict.fromkeys((path, *_dependencies(listed, folder), *missing)))
    made = Compiled(job.path, job.target, (*command, path), messages, dependencies=found)
    assembly = b"" if end.code else _read(output)
    if assembly and _KERNEL in assembly:
        return made._replace(assembly=assembly)
    if assembly:
        what = "no kernel for the device in it"
        mend = "give a source with a __global__ function, and instantiate its templates"
        return made._replace(error=f"{job.path}: {what}; {mend}")
    return made._replace(error=f"{job.path}: {reason(messages, job.target)}")


def _listing(path: str) -> tuple[str, ...]:
    """Options of clang's compiler proper that list the headers in a file.

    The driver's -MD does nothing for assembly of one device in clang 22.
    """
    words = ("-dependency-file", path, "-sys-header-deps", "-MT", _ASSEMBLY)
    return tuple(word for option in words for word in ("-Xclang", option))


def _read(path: str) -> bytes:
    try:
        return read_document(path, _MOST_OUTPUT)
    except OSError:
        return b""
    except ReadError as error:
        raise CompilerError(f"the compiler's output {error}") from None


def _dependencies(listed: str, folder: str) -> Iterator[str]:
    """Absolute paths in a rule as compilers write it for make: `kernels.s: k.hip \\`."""
    text = _read(listed).decode("utf-8", "surrogateescape").replace("\\\n", " ")
    for word in _words(text.partition(":")[2]):
        yield os.path.join(folder, word)


def _words(text: str) -> Sequence[str]:
    r"""Words of a make rule; `\ ` is a blank, `$$` a dollar, `\#` a hash."""
    blank = text.replace("\\ ", "\0").replace("$$", "$").replace("\\#", "#")
    return [word.replace("\0", " ") for word in blank.split()]
