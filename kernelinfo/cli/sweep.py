"""`kernelinfo sweep FILE... [KERNEL]`."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Annotated

import typer

from kernelinfo.analysis.options import Options
from kernelinfo.cli import options
from kernelinfo.cli.output import CANNOT_ANSWER, complain, counting_bar, make_view, write
from kernelinfo.cli.signals import end_on_signals
from kernelinfo.cli.wanted import wanted_options
from kernelinfo.compile.ir import IR_SUFFIXES
from kernelinfo.compile.processes import Processes
from kernelinfo.errors import CompilerError, OptionError, ReadError
from kernelinfo.hardware.targets import find
from kernelinfo.render import SWEEP_FORMATS, renderer
from kernelinfo.variants.nouns import STRATEGIES, Request, Sweep
from kernelinfo.variants.sweeping import NoSuchKernelError, make_request, sweep_file

EXAMPLES = """
  kernelinfo sweep kernels.bc                     # hipcc --save-temps leaves it
  kernelinfo sweep kernels.bc vgprbound --waves 4,5,8
  kernelinfo sweep kernels.bc --launch-bounds 128,256 --strategy default,max-ilp
  kernelinfo sweep kernels.bc --format html -o sweep.html
"""


def _numbers(option: str, text: str | None) -> tuple[int, ...]:
    """The numbers in `4,5,8`."""
    if text is None:
        return ()
    if re.fullmatch(r"[1-9]\d{0,3}(,[1-9]\d{0,3})*", text) is None:
        raise OptionError(f"{option} {text}: not a list of numbers; write {option} 64,128")
    return tuple(map(int, text.split(",")))


def command(
    *,
    files: list[str] = typer.Argument(
        metavar="FILE... [KERNEL]",
        help="LLVM IR: .bc, .ll, or Triton's .llir. Then a kernel's name, with or without "
        "parameters, or a glob; by default all kernels.",
    ),
    waves: str | None = typer.Option(
        None,
        metavar="N,…",
        help="Ask for these waves/SIMD; by default all at which the target has a VGPR step.",
    ),
    launch_bounds: str | None = typer.Option(
        None, metavar="N,…", help="Set the workitems of the largest workgroup."
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
        None, metavar="PATH", help="Set a clang, or llvmlite; by default ROCm's or one on PATH."
    ),
    timeout: float = typer.Option(
        60, metavar="SECONDS", min=0.1, help="Limit the time of each variant."
    ),
    jobs: int | None = typer.Option(
        None, metavar="N", min=1, help="Run N compilers at once; by default one for each core."
    ),
    arch: options.Arch = None,
    where: options.Where = None,
    workgroup_size: options.WorkgroupSize = None,
    dynamic_lds: options.DynamicLds = None,
    no_trap_handler: options.NoTrapHandler = False,
    format: Annotated[str, options.format_option(SWEEP_FORMATS)] = "text",
    output: options.Output = None,
    names: options.Names = "full",
    color: options.Color = "auto",
    width: options.Width = None,
) -> None:
    """Ask the compiler for other occupancies.

    FILE is the LLVM IR that a build left. The compiler compiles it with other
    `amdgpu_waves_per_eu`, launch bounds or scheduling strategies. Each result is a row: registers,
    spills, scratch, reloads in loops, code size, waves/SIMD. Nothing is written to disk.
    """
    wanted = wanted_options(
        arch=arch,
        where=where,
        workgroup_size=workgroup_size,
        dynamic_lds=dynamic_lds,
        no_trap_handler=no_trap_handler,
    )
    view = make_view(names=names, color=color, width=width, output=output)
    if wanted.arch is not None:
        find(wanted.arch)
    strategies = strategy.split(",") if strategy else ()
    sizes = _numbers("--waves", waves), _numbers("--launch-bounds", launch_bounds)
    request = make_request(*sizes, strategies, level, mllvm or ())
    files, kernel = _with_kernel(files)
    found, problems = _sweeps(
        files, request._replace(kernel=kernel), wanted, compiler, timeout, jobs
    )
    if found:
        write(renderer(f"sweep.{format}")(found, view), output, color=view.color)
    for one in found:
        if one.has_failed:
            error = one.kernels[0].variants[-1].error
            problems.append(f"{one.file.path}: no variant was compiled: {error}")
    for problem in problems:
        complain(problem)
    if problems:
        sys.exit(CANNOT_ANSWER)


def _with_kernel(words: list[str]) -> tuple[list[str], str | None]:
    """The files, and the kernel if the last word is not the name of an IR file."""
    if len(words) > 1 and not words[-1].endswith(IR_SUFFIXES):
        return words[:-1], words[-1]
    return words, None


def _sweeps(
    files: Sequence[str],
    request: Request,
    wanted: Options,
    compiler: str | None,
    timeout: float,
    jobs: int | None,
) -> tuple[list[Sweep], list[str]]:
    """The sweeps, and a message for each file that failed. No compiler outlives the call.

    It is no problem if only some of the files lack the wanted kernel.
    """
    end_on_signals()
    found: list[Sweep] = []
    problems, without = [], []
    with (
        counting_bar("variants") as progress,
        ThreadPoolExecutor((jobs or os.cpu_count() or 1) + 1) as pool,
        Processes(timeout) as processes,
    ):
        for file in files:
            work = (file, request, wanted, compiler, processes, pool, progress)
            try:
                found.append(pool.submit(sweep_file, *work).result())
            except NoSuchKernelError as error:
                without.append(str(error))
            except (ReadError, CompilerError) as error:
                problems.append(str(error))
    return found, problems + ([] if found else without)
