"""Sources compiled for the device: HIP, OpenCL and LLVM IR become assembly in memory.

For variants of its kernels, a source also becomes bitcode.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import pairwise
from typing import NamedTuple, TypeVar

from kernelinfo.compile import Settings, commands
from kernelinfo.compile.compilers import compile_ir
from kernelinfo.compile.ir import Compiled, Input
from kernelinfo.compile.messages import say
from kernelinfo.compile.processes import Processes, find_program
from kernelinfo.errors import CompilerError, Message, OptionError, ReadError
from kernelinfo.reading.messages import in_file
from kernelinfo.reading.paths import SOURCE_LANGUAGES, SourceLanguage, read_document
from kernelinfo.waiting import results

_OUTPUT, _DEPENDENCIES = "kernels", "kernels.d"

_MOST_OUTPUT = 1 << 30
_KERNEL = b".amdhsa_kernel "
_Made = TypeVar("_Made")
_CompiledTwice = tuple[Compiled, Input | None]
"""A source as assembly, and its bitcode before optimisation; None if one compilation failed.

For one kernel of many there may be no assembly."""


class Job(NamedTuple):
    """One run of a compiler."""

    path: str
    language: SourceLanguage
    target: str
    compiler: str  # absolute path; for IR as the user gave it, or empty
    flags: tuple[str, ...]  # of the user
    values: tuple[str, ...]  # of the compile commands


def compile_sources(
    paths: Iterable[str], settings: Settings, processes: Processes
) -> tuple[Compiled, ...]:
    """Each source compiled for each target, in order, by one compiler for each core.

    Raises `CompilerError` if no compiler is found or `processes` was ended, and `OptionError` if
    no target is given.
    """
    return _made([*_jobs(paths, settings)], _compiled, processes)


def compile_twice(
    paths: Iterable[str], settings: Settings, processes: Processes, *, is_of_one: bool
) -> tuple[_CompiledTwice, ...]:
    """Each source as assembly and as IR. Raises what `compile_sources` raises.

    With `is_of_one` only one kernel of many is needed: then no assembly is made if the IR records
    all that the flags ask of code generation.

    A source with several targets is an `OptionError`, too.
    """
    jobs = [*_jobs(paths, settings)]
    for first, second in pairwise(jobs):
        if first.path == second.path:
            targets = ", ".join(job.target for job in jobs if job.path == first.path)
            raise OptionError(say("source-targets", path=first.path, targets=targets))
    return _made(jobs, partial(_compiled_twice, is_of_one), processes)


def list_left_out(paths: Iterable[str], settings: Settings) -> Iterator[str]:
    """One line per source, naming the words of its compile command that are not passed to the
    compiler. Raises `ReadError` as `compile_sources` does."""
    yield from (entry.left_out for entry in _entries(paths, settings).values() if entry.left_out)


def _made(
    jobs: Iterable[Job], make: Callable[[Processes, Job], _Made], processes: Processes
) -> tuple[_Made, ...]:
    """The results of all jobs, in order."""
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        try:
            return tuple(results(pool, partial(make, processes), jobs))
        except BaseException:  # Ctrl-C, too: the pool would wait for the compilers
            processes.end()
            raise


def _jobs(paths: Iterable[str], settings: Settings) -> Iterator[Job]:
    entries = _entries(paths := tuple(paths), settings)
    for path in paths:
        entry, language = entries.get(path), _language(path)
        targets = settings.targets or (entry.targets if entry else ())
        if not targets:
            raise OptionError(say("source-without-target", path=path))
        language = (entry.language if entry else None) or language
        given = settings.compiler
        compiler = given or "" if language == "ir" else commands.find_driver(language, given)
        values = entry.flags if entry else ()
        for target in targets:
            yield Job(path, language, target, compiler, settings.flags, values)


def _entries(paths: Iterable[str], settings: Settings) -> dict[str, commands.CommandEntry]:
    """Source → its compile command, if there are any; none for IR."""
    if settings.compile_commands is None:
        return {}
    sources = (path for path in paths if _language(path) != "ir")
    return commands.read_entries(sources, settings.compile_commands)


def _language(path: str) -> SourceLanguage:
    return SOURCE_LANGUAGES[os.path.splitext(path)[1]]


def _compiled(processes: Processes, job: Job) -> Compiled:
    compiled, assembly = _output(processes, job, commands.ASSEMBLY)
    return compiled._replace(assembly=assembly)


def _compiled_twice(is_of_one: bool, processes: Processes, job: Job) -> _CompiledTwice:
    if is_of_one and _stands_in_ir(job):
        made, bitcode = _output(processes, job, commands.BITCODE)
        if made.error or made.driver:
            return made, None if made.error else Input(job.path, bitcode, made, made.command)
    compiled, assembly = _output(processes, job, commands.ASSEMBLY)
    if compiled.error:
        return compiled, None
    second, bitcode = _output(processes, job, commands.BITCODE)
    if second.error:
        return compiled._replace(messages=second.messages, error=second.error), None
    compiled = compiled._replace(assembly=assembly)
    return compiled, Input(job.path, bitcode, compiled, second.command)


def _stands_in_ir(job: Job) -> bool:
    """True if the IR of a job's source records all that its flags ask of code generation."""
    if job.language == "ir":
        return False
    if not commands.is_clang(job.compiler) and os.environ.get("HIPCC_COMPILE_FLAGS_APPEND"):
        return False
    return commands.stands_in_ir((*job.values, *job.flags))


def _output(processes: Processes, job: Job, form: Sequence[str]) -> tuple[Compiled, bytes]:
    """The compiler's messages and, unless it failed, its output in the given form."""
    try:
        if job.language == "ir":
            return _of_ir(processes, job)
        with processes.folder() as folder:
            return _of_source(processes, job, form, folder)
    except ReadError as error:
        failed = error.message
    except CompilerError as error:
        if processes.has_ended:
            raise
        failed = in_file(job.path, error.message)
    path = os.path.abspath(job.path)
    return Compiled(job.path, job.target, (), "", dependencies=(path,), error=failed), b""


def _of_ir(processes: Processes, job: Job) -> tuple[Compiled, bytes]:
    compiler = job.compiler or None
    command, assembly = compile_ir(job.path, job.target, job.flags, compiler, processes)
    files = (os.path.abspath(job.path),)
    return Compiled(job.path, job.target, command, "", dependencies=files), assembly


def _of_source(
    processes: Processes, job: Job, form: Sequence[str], folder: str
) -> tuple[Compiled, bytes]:
    path = os.path.abspath(job.path)
    written, listed = os.path.join(folder, _OUTPUT), os.path.join(folder, _DEPENDENCIES)
    command = _command(job, form, processes, folder)
    end = processes.run_on_source([*command, *_listing(listed), path, "-o", written], folder)
    messages = end.stderr.decode("utf-8", "replace")
    # Clang lists the headers of a source with errors, too, unless one is missing.
    flags = (*job.values, *job.flags)
    missing = find_concerned_files(messages, flags, folder) if end.returncode else ()
    files = tuple(dict.fromkeys((path, *_dependencies(listed, folder), *missing)))
    made = Compiled(job.path, job.target, (*command, path), messages, dependencies=files)
    made = made._replace(driver=commands.driver_of(command[0], end))
    output = b"" if end.returncode else _read(written)
    if output and (form != commands.ASSEMBLY or _KERNEL in output):
        return made, output
    error = say("source-without-kernels") if output else _reason(job, messages, processes, folder)
    return made._replace(error=in_file(job.path, error)), b""


def _reason(job: Job, messages: str, processes: Processes, folder: str) -> Message:
    """Why a source was not compiled, and which other compiler can compile it."""
    error = reason(messages, job.target)
    if error.code == "compiler-target":
        target, language = job.target, job.language
        elsewhere = find_knowing_compilers(
            target, language, job.compiler, processes, folder, job.flags
        )
        if elsewhere:
            return say("compiler-target-elsewhere", target=target, others=elsewhere)
    if error.code == "hip-headers-missing" and "-nogpuinc" in job.flags:
        return say("hip-headers-left-out")
    return error


def _command(job: Job, form: Sequence[str], processes: Processes, folder: str) -> tuple[str, ...]:
    """The command without input and output. Only words that the user typed go through a wrapper.
    The name of a source does not: a glob may match a file that somebody else named."""
    build = (job.compiler, job.language, job.target)
    if commands.is_clang(job.compiler):
        return commands.make_device_command(*build, (*job.values, *job.flags), form)
    command = commands.make_device_command(*build, job.flags, form)
    if not job.values and commands.is_plain(os.path.abspath(job.path)):
        return command
    return commands.find_wrapped_command(command, job.values, processes, folder)


def _listing(path: str) -> tuple[str, ...]:
    """Options of clang -cc1 that write the list of headers to a file. In clang 22 the driver's -MD
    does nothing when it compiles one device to assembly."""
    words = ("-dependency-file", path, "-sys-header-deps", "-MT", _OUTPUT)
    return tuple(word for option in words for word in ("-Xclang", option))


def _read(path: str) -> bytes:
    try:
        return read_document(path, _MOST_OUTPUT)
    except FileNotFoundError:
        return b""
    except (OSError, ReadError) as error:
        cause = error.strerror if isinstance(error, OSError) else error
        raise CompilerError(say("compiler-output-unread", error=cause)) from None


def _dependencies(listed: str, folder: str) -> Iterator[str]:
    """Absolute paths in a rule as compilers write it for make: `kernels: k.hip \\`."""
    text = _read(listed).decode("utf-8", "surrogateescape").replace("\\\n", " ")
    for word in _words(text.partition(":")[2]):
        yield os.path.join(folder, word)


def _words(text: str) -> Sequence[str]:
    r"""Words of a make rule; `\ ` is a blank, `$$` a dollar, `\#` a hash."""
    blank = text.replace("\\ ", "\0").replace("$$", "$").replace("\\#", "#")
    return [word.replace("\0", " ") for word in blank.split()]


def find_knowing_compilers(
    target: str,
    language: SourceLanguage,
    compiler: str,
    processes: Processes,
    folder: str,
    flags: Sequence[str] = (),
) -> Message | None:
    """A message that names the installed compilers that know a target, and what the first of them
    lacks.

    None if no other compiler knows the target, or if `compiler` does and the user's `flags` name
    another target. What a compiler lacks is omitted if `flags` include -nogpulib.
    """
    error = _error_without_code(compiler, language, target, processes, folder)
    if error is None or error.code != "compiler-target":
        return None
    lacks: dict[str, str] = {}  # name of a compiler → what it lacks
    tried = {os.path.realpath(compiler)}
    for name in commands.candidates(language):
        path = find_program(name)
        if path is None or os.path.realpath(path) in tried:
            continue
        tried.add(os.path.realpath(path))
        error = _error_without_code(path, language, target, processes, folder)
        if error is None or error.code != "compiler-target":
            lacks[name] = "" if "-nogpulib" in flags else _lack(error, language)
    if not lacks:
        return None
    names, verb = " and ".join(lacks), "knows" if len(lacks) == 1 else "know"
    first, lack = next(iter(lacks.items()))
    return say("compilers-know", names=names, verb=verb, first=first, lack=lack)


def _error_without_code(
    compiler: str, language: SourceLanguage, target: str, processes: Processes, folder: str
) -> Message | None:
    """Why a compiler does not compile an empty source for a target; None if it does."""
    command = commands.make_device_command(compiler, language, target, ())
    source = commands.empty_source(language, folder)
    end = processes.run_on_source([*command, source, "-o", os.devnull], folder)
    return reason(end.stderr.decode("utf-8", "replace"), target) if end.returncode else None


def _lack(error: Message | None, language: SourceLanguage) -> str:
    """What a compiler lacks if it knows a target but fails on an empty source."""
    code = error.code if error else ""
    if code == "hip-headers-missing":
        return say("compiler-without-headers")
    if not code.startswith("device-library"):
        return ""
    if language == "cl":
        return say("compiler-without-cl-library")
    return say("compiler-without-library")


_CUDA = r"'(?:cuda|cublas|cudnn|cooperative_groups|device_launch_parameters)[\w./]*' file not found"
_HIP = r"cannot find HIP runtime|'hip/[\w./]+' file not found"
_LIBRARY = r"cannot find (?:ROCm|HIP) device library"
_OLD_LIBRARY = r"cannot find ROCm device library for ABI version"
_TARGET = (
    r"(?:invalid|unsupported|unknown) (?:target ID|HIP gpu|CUDA gpu|HIP offload|offload)"
    r"|unsupported (?:HIP|CUDA) gpu architecture|unknown target CPU"
)

_PLACE = re.compile(r"^(?:In file included from )?([^\s:][^:\n]*):\d+:", re.M)
_MISSING = re.compile(r"^([^\s:][^:\n]*):\d+:\d+: fatal error: '([^'\n]+)' file not found", re.M)
_HEADER_FOLDERS = ("-I", "-isystem", "-iquote", "-idirafter")


def reason(messages: str, target: str) -> Message:
    """Why a source was not compiled for a target, and what to do, judging by the compiler's
    messages."""
    if re.search(_TARGET, messages, re.I):  # other messages may follow from it
        return say("compiler-target", target=target)
    if re.search(_OLD_LIBRARY, messages):
        return say("device-library-old")
    if re.search(_LIBRARY, messages):
        return say("device-library-missing", target=target)
    if re.search(_CUDA, messages):
        return say("source-cuda")
    if re.search(_HIP, messages):
        return say("hip-headers-missing")
    return say("source-not-compiled", target=target)


def find_concerned_files(messages: str, flags: Sequence[str], folder: str) -> Iterator[str]:
    """Absolute paths of the files that the messages are about, and of all places where the missing
    header could be.

    `folder` is the one in which the compiler ran.
    """
    for path in _PLACE.findall(messages):
        yield os.path.join(folder, path)
    for path, header in _MISSING.findall(messages):
        for place in (os.path.dirname(path), *_header_folders(flags)):
            yield os.path.join(folder, place, header)


def _header_folders(flags: Sequence[str]) -> Iterator[str]:
    for flag, following in zip(flags, (*flags[1:], ""), strict=True):
        option = next(filter(flag.startswith, _HEADER_FOLDERS), None)
        if option:
            yield flag.removeprefix(option) or following
