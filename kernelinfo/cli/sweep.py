"""`kernelinfo sweep FILE [KERNEL]`."""

from __future__ import annotations

import os
import re
import signal
import sys
from concurrent.futures import ThreadPoolExecutor

import typer

from kernelinfo.analysis.options import Options
from kernelinfo.cli.naming import is_named
from kernelinfo.cli.options import format_option, takes
from kernelinfo.cli.output import CANNOT_ANSWER, complain, write
from kernelinfo.cli.progress import counted
from kernelinfo.errors import OptionError
from kernelinfo.occupancy.targets import find
from kernelinfo.render import SWEEP_FORMATS, View, renderer
from kernelinfo.variants.compilers import find_compiler
from kernelinfo.variants.ir import read_input
from kernelinfo.variants.nouns import STRATEGIES, Request, Sweep
from kernelinfo.variants.processes import Processes
from kernelinfo.variants.sweeping import open_module, sweep

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


@takes("arch workgroup_size dynamic_lds no_trap_handler format output names color width")
def command(
    file: str = typer.Argument(metavar="FILE", help="LLVM IR: .bc, .ll, or Triton's .llir."),
    kernel: str | None = typer.Argument(
        None, metavar="KERNEL", help="Its name, with parameters or without, or a glob; all kernels."
    ),
    waves: str | None = typer.Option(
        None,
        metavar="N,…",
        help="Ask for these waves/SIMD; by default each at which the target has a VGPR step.",
    ),
    launch_bounds: str | None = typer.Option(
        None, metavar="N,…", help="Set the workitems of the largest workgroup."
    ),
    strategy: str | None = typer.Option(
        None, metavar="NAME,…", help=f"Scheduling strategies: default, {', '.join(STRATEGIES)}."
    ),
    level: str | None = typer.Option(
        None,
        "-O",
        metavar="0|1|2|3|s|z",
        help="Optimisation level; the one that reproduces the assembly next to FILE, or 3.",
    ),
    mllvm: list[str] | None = typer.Option(
        None, metavar="OPTION", help="Pass an LLVM option to every variant. Repeatable."
    ),
    compiler: str | None = typer.Option(
        None, metavar="PATH", help="A clang, or llvmlite; by default ROCm's or one on PATH."
    ),
    timeout: float = typer.Option(
        60, metavar="SECONDS", min=0.1, help="Limit the time of each variant."
    ),
    jobs: int | None = typer.Option(
        None, metavar="N", min=1, help="Run N compilers at once; as many as cores by default."
    ),
    format: str = format_option(SWEEP_FORMATS),
    *,
    wanted: Options,
    view: View,
    output: str | None,
) -> None:
    """Ask the compiler for other occupancies.

    FILE is the LLVM IR that a build left. The compiler is run on it with other
    `amdgpu_waves_per_eu`, launch bounds or scheduling strategies, and each result is a row:
    registers, spills, scratch, reloads in loops, code size, waves/SIMD. Nothing is written to disk.
    """
    if level is not None and level not in ("0", "1", "2", "3", "s", "z"):
        raise OptionError(f"-O{level}: give 0, 1, 2, 3, s or z")
    if wanted.arch is not None:
        find(wanted.arch)
    request = Request(
        waves=_numbers("--waves", waves),
        launch_bounds=_numbers("--launch-bounds", launch_bounds),
        strategies=tuple(_strategy(name) for name in strategy.split(",")) if strategy else (),
        level=level,
        options=tuple(mllvm or ()),
        is_wanted=None if kernel is None else lambda name, symbol: is_named(name, symbol, kernel),
    )
    found = _sweep(file, request, wanted, compiler, timeout, jobs or os.cpu_count() or 1)
    write(renderer(f"sweep.{format}")(found, view), output, color=view.color)
    if found.has_failed:
        complain(f"{file}: no variant was compiled: {found.kernels[0].variants[-1].error}")
        sys.exit(CANNOT_ANSWER)


def _strategy(name: str) -> str | None:
    if name not in ("default", *STRATEGIES):
        raise OptionError(f"--strategy {name}: give default, {', '.join(STRATEGIES)}")
    return None if name == "default" else name


def _sweep(
    file: str, request: Request, wanted: Options, given: str | None, timeout: float, jobs: int
) -> Sweep:
    """The sweep; however it ends, no compiler is left running."""
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    source = read_input(file)
    with (
        counted("variants") as progress,
        ThreadPoolExecutor(jobs) as pool,  # waits for compilers, and so ends after them
        Processes(timeout) as processes,
    ):
        compiler = find_compiler(given, source.producer, processes)
        module = open_module(source, compiler, processes, wanted)
        return sweep(module, request, pool, progress)
