"""`kernelinfo sweep FILE... [KERNEL] [-- FLAGS]`."""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import Annotated

import typer

from kernelinfo.analysis.inputs import place, unmatched
from kernelinfo.analysis.options import Options
from kernelinfo.cli import compiling, console, naming, options, project
from kernelinfo.cli.messages import CANNOT_ANSWER, complain, say
from kernelinfo.compile import IR_SUFFIXES, Settings
from kernelinfo.compile.ir import Input, definitions, read_input
from kernelinfo.compile.processes import Processes
from kernelinfo.errors import CompilerError, OptionError, ReadError
from kernelinfo.hardware.targets import find
from kernelinfo.kernel.names import demangle
from kernelinfo.reading.paths import SOURCE_SUFFIXES
from kernelinfo.render import Renderer
from kernelinfo.render.sweep import render_markdown, render_text
from kernelinfo.variants import clang_of, merge_options, names_kernels
from kernelinfo.variants.nouns import Sweep
from kernelinfo.variants.requests import STRATEGIES, Request, make_request
from kernelinfo.variants.sweeping import NO_KERNEL, sweep_input
from kernelinfo.waiting import wait_in_turns

_VARIANTS, _SECONDS = 10, 5  # between two lines on progress


def _numbers(option: str, text: str | None) -> tuple[int, ...]:
    """The numbers in `4,5,8`."""
    if text is None:
        return ()
    if re.fullmatch(r"[1-9]\d{0,3}(,[1-9]\d{0,3})*", text) is None:
        raise OptionError(say("sweep-list", option=option, text=text))
    return tuple(map(int, text.split(",")))


def _offered(ctx: typer.Context, incomplete: str) -> naming.Offers:
    """Completions: kernels of textual IR on the command line, and of the assembly next to
    bitcode."""
    entries: list[naming.NameAndMember] = []
    for path in naming.paths(ctx):
        with suppress(ReadError):
            ir = read_input(path)
            symbols = [kernel.symbol for kernel in definitions(ir.data.decode("latin-1"))]
            entries += [(demangle(symbol), symbol, None) for symbol in symbols]
            if not symbols and os.path.exists(ir.assembly):
                entries += naming.names_in([ir.assembly], ())
    return naming.named(entries, incomplete)


OUTPUTS: Mapping[str, Renderer] = {
    "text": render_text,
    "json": console.late("sweep", "render_json"),
    "csv": console.late("sweep", "render_csv"),
    "markdown": render_markdown,
}


def command(
    *,
    files: list[str] = typer.Argument(
        metavar="FILE... [KERNEL]",
        help="LLVM IR (.bc, .ll, Triton's .llir), or sources. Then a kernel's name, with or "
        "without parameters, or a glob; by default all kernels.",
    ),
    waves: str | None = typer.Option(
        None,
        metavar="N,…",
        help="Ask for these waves/SIMD; by default those of VGPR steps, fewer only for spills.",
    ),
    launch_bounds: str | None = typer.Option(
        None,
        metavar="N,…",
        help="Set the workitems of the largest workgroup; by default 64 to 512 for spills.",
    ),
    strategy: str | None = typer.Option(
        None, metavar="NAME,…", help=f"Set scheduling strategies: default, {', '.join(STRATEGIES)}."
    ),
    level: str | None = typer.Option(
        None,
        "-O",
        metavar="0|1|2|3|s|z",
        help="Set the optimisation level; by default that of the assembly next to FILE, or 3.",
    ),
    mllvm: list[str] | None = typer.Option(
        None, metavar="OPTION", help="Pass an LLVM option to every variant. Repeatable."
    ),
    compiler: str | None = typer.Option(
        None,
        metavar="PATH",
        help="Set a clang, or llvmlite; by default ROCm's or one on PATH. For sources, as report.",
    ),
    compile_commands: options.CompileCommands = None,
    flags: options.Flags = None,
    timeout: float = typer.Option(
        60, metavar="SECONDS", min=0.1, help="Limit the time of each variant."
    ),
    jobs: int | None = typer.Option(
        None, metavar="N", min=1, help="Run N compilers at once; by default one for each core."
    ),
    archs: Annotated[
        list[str] | None,
        options.target_option(
            "--arch", "Compile sources for this target; or the target of inputs that name none."
        ),
    ] = None,
    kernels: Annotated[list[str] | None, options.kernels_option(_offered)] = None,
    exclude: Annotated[list[str] | None, options.exclude_option(_offered)] = None,
    where: options.Where = None,
    workgroup_size: options.WorkgroupSize = None,
    dynamic_lds: options.DynamicLds = None,
    no_trap_handler: options.NoTrapHandler = False,
    format: Annotated[str, options.format_option(OUTPUTS)] = "text",
    output: options.Output = None,
    names: options.Names = "full",
    color: options.Color = "auto",
    width: options.Width = None,
) -> None:
    """Ask the compiler for other occupancies.

    FILE is the LLVM IR that a build left, or a source with --arch GFX, and compiler flags after
    `--`. The compiler compiles it with other `amdgpu_waves_per_eu`, launch bounds or scheduling
    strategies. Each result is a row: registers, spills, scratch, reloads in loops, code size,
    waves/SIMD. Nothing is left on disk.

    Examples:
      kernelinfo sweep kernels.bc                     # hipcc --save-temps leaves it
      kernelinfo sweep kernels.bc vgprbound --waves 4,5,8
      kernelinfo sweep kernels.bc -k 'vgpr*' --exclude 'lds*' --waves 5
      kernelinfo sweep kernels.bc --launch-bounds 128,256 --strategy default,max-ilp
      kernelinfo sweep kernels.bc --format csv -o sweep.csv
    """
    query = options.choice(kernels, exclude, None, None, where)
    query = options.with_launch(query, workgroup_size, dynamic_lds, no_trap=no_trap_handler)
    view = console.make_view(names=names, color=color, width=width, output=output)
    settings = project.settings_of(archs, compiler, compile_commands, flags)
    _check(settings.targets)
    strategies = strategy.split(",") if strategy else ()
    sizes = _numbers("--waves", waves), _numbers("--launch-bounds", launch_bounds)
    files, kernel = _with_kernel(files)
    request = make_request(*sizes, strategies, level, mllvm or ())._replace(kernel=kernel)
    problems: list[str] = []
    if sources := _sources(files, settings):
        request, settings = merge_options(request, settings)
        is_of_one = names_kernels(request, query)
        inputs, compiler = _compiled(sources, settings, problems, is_of_one=is_of_one), None
    else:
        query = project.without_sources(files, query, settings._replace(compiler=None))
        inputs = _read(files, problems)
    sweeps = _sweeps(inputs, problems, request, query, compiler, timeout, jobs)
    if sweeps:
        console.write(OUTPUTS[format](sweeps, view), output, color=view.color)
    for message in _unmatched(sweeps, query):
        complain(f"{place(files)}: {message}")
    for swept in sweeps:
        if swept.has_failed:
            error = swept.kernels[0].variants[-1].error
            problems.append(say("sweep-failed", path=swept.file.path, error=error))
    for problem in problems:
        complain(problem)
    if problems:
        sys.exit(CANNOT_ANSWER)


def _unmatched(sweeps: Sequence[Sweep], query: Options) -> Iterator[str]:
    """One message per pattern that matches no kernel (`-k nope matches no kernel`), if another
    pattern matches one."""
    kernels = [kernel for sweep in sweeps for kernel in sweep.kernels]
    met = set[tuple[str, str]]().union(
        *(query.met(kernel.name, kernel.symbol, None) for kernel in kernels)
    )
    return unmatched(query, met) if sweeps else iter(())


def _check(targets: Sequence[str]) -> None:
    """Raise `KernelinfoError` if there are several targets or an unknown one."""
    if len(targets) > 1:
        several = " and ".join(targets)
        raise OptionError(say("sweep-targets", several=several))
    for target in targets:
        find(target)


def _with_kernel(words: list[str]) -> tuple[list[str], str | None]:
    """The files, and the kernel if the last word is not the name of an IR file or a source."""
    if len(words) > 1 and not words[-1].endswith((*IR_SUFFIXES, *SOURCE_SUFFIXES)):
        return words[:-1], words[-1]
    return words, None


def _sources(files: Sequence[str], settings: Settings) -> list[str] | None:
    """The sources to compile; None if a file is IR or not a source."""
    if any(file.endswith(IR_SUFFIXES) for file in files):
        return None
    return project.sources_to_compile(files, settings)


def _compiled(
    sources: Sequence[str], settings: Settings, problems: list[str], *, is_of_one: bool
) -> Iterator[Input]:
    """The IR of the sources. Errors go to `problems`."""
    for compiled, ir in compiling.compile_twice_now(sources, settings, is_of_one=is_of_one):
        if compiled.error:
            problems.append(compiled.error)
        elif ir:
            yield ir


def _read(files: Iterable[str], problems: list[str]) -> Iterator[Input]:
    """The IR files. Errors go to `problems`."""
    for file in files:
        try:
            yield read_input(file)
        except ReadError as error:
            problems.append(error.message)


def _sweeps(
    inputs: Iterable[Input],
    problems: list[str],
    request: Request,
    query: Options,
    compiler: str | None,
    timeout: float,
    jobs: int | None,
) -> list[Sweep]:
    """The sweeps. No compiler outlives the call. A message for each failure goes to `problems`.

    It is not a problem if only some of the files lack the kernel.
    """

    compiling.end_on_signals()
    sweeps: list[Sweep] = []
    without: list[str] = []
    with (
        console.bar(lambda bars: bars.of_items("variants")) as update,
        ThreadPoolExecutor((jobs or os.cpu_count() or 1) + 1) as pool,
        Processes(timeout, option="--timeout") as processes,
    ):
        for ir in inputs:
            work = (ir, request, query, compiler or clang_of(ir), processes, pool)
            try:
                tell, progress = _progress(update)
                future = pool.submit(sweep_input, *work, progress)
                wait_in_turns(partial(_ends, future, tell))
                sweeps.append(future.result())
            except (ReadError, CompilerError) as error:
                lacks_kernel = error.message.code in NO_KERNEL
                (without if lacks_kernel else problems).append(error.message)
    problems += [] if sweeps else without
    return sweeps


def _ends(future: Future[Sweep], tell: Callable[[], None], seconds: float) -> bool:
    """True if the future ends within `seconds`. Reports the progress afterwards."""
    with suppress(TimeoutError):
        future.exception(seconds)
    tell()
    return future.done()


def _progress(
    update: Callable[..., None],
) -> tuple[Callable[[], None], Callable[[int, int], None]]:
    """Two functions: the first prints the progress, the second takes the number of finished
    variants and of all. A terminal gets a bar; other outputs get a line every ten variants or 5
    s."""
    done, total, last_done, last_time = 0, 0, 0, time.monotonic()

    def progress(now_done: int, of_all: int) -> None:
        nonlocal done, total, last_done
        last_done = 0 if now_done < done else last_done  # the checks of the source lines begin
        done, total = now_done, of_all
        update(completed=done, total=total)

    def tell() -> None:
        nonlocal last_done, last_time
        now = time.monotonic()
        if not sys.stderr.isatty() and (
            done >= last_done + _VARIANTS or now >= last_time + _SECONDS
        ):
            progressed = say("sweep-progress", done=done, total=total)
            complain(progressed if total else say("sweep-begins"))
            last_done, last_time = done, now

    return tell, progress
