"""Attributes edited in bitcode against the same attributes in the source."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from kernelinfo import CompilerError, Options, Result, analyse, arch
from kernelinfo.compile.compilers import Compiler, find_compiler
from kernelinfo.compile.ir import read_input
from kernelinfo.compile.processes import Processes
from kernelinfo.kernel import USED
from kernelinfo.variants import IrModule, by_symbol, open_module

from .kernels import PRELUDE, RandomKernel, random_asked, random_kernel

TARGETS = ("gfx90a", "gfx942", "gfx1100", "gfx1201")
KERNELS_OF_A_MODULE = 5
_FLAGS = (
    *("-x", "hip", "--cuda-device-only", "-nogpuinc", "-nogpulib", "-fuse-cuid=none"),
    *("-std=c++17", "-w"),
)


@dataclass
class Tally:
    """Results, as numbers of kernels."""

    kernels: int = 0
    changed: int = 0
    """Kernels that the attribute changed."""
    spilling: int = 0
    reproduced: int = 0
    """Kernels as compiled that equal those of the compilation of the bitcode."""
    refused: int = 0
    """Modules that the compiler refuses with the attribute, in the source and edited."""
    differences: list[str] = field(default_factory=list)


def measures(result: Result) -> tuple[object, ...]:
    """Registers, spills, scratch, LDS, code size and occupancy."""
    kernel, occupancy = result.kernel, result.occupancy
    resident = (occupancy.allocated, occupancy.waves_per_simd) if occupancy else ()
    stated = [getattr(kernel.numbers, name) for name in (*USED, "vgpr_spills", "sgpr_spills")]
    return (*stated, kernel.code_bytes, *resident)


def compile_source(
    version: int,
    target: str,
    level: str,
    kernels: Sequence[RandomKernel],
    folder: Path,
    *,
    to_assembly: bool = True,
    prelude: str = "",
) -> Path:
    """Path of the bitcode that `--save-temps` leaves. With `to_assembly`, the assembly is next to
    it. `prelude` are functions that the kernels call."""
    folder.mkdir(parents=True)
    source = PRELUDE + prelude + "".join(kernel.source() for kernel in kernels)
    (folder / "unit.hip").write_text(source)
    stem = f"unit-hip-amdgcn-amd-amdhsa-{target}"
    command = [f"clang-{version}", *_FLAGS, f"-O{level}", f"--offload-arch={target}"]
    command += ["unit.hip"]
    if to_assembly:
        command += ["-S", "--save-temps", "-o", f"{stem}.s"]
    else:
        command += ["-emit-llvm", "-c", "-Xclang", "-disable-llvm-passes", "-o", f"{stem}.bc"]
    subprocess.run(command, cwd=folder, check=True, stderr=subprocess.PIPE)
    return folder / f"{stem}.bc"


def run(
    version: int,
    target: str,
    modules: int,
    random: Random,
    folder: Path,
    *,
    through_llvmlite: bool = False,
    kernels_of_a_module: int = KERNELS_OF_A_MODULE,
) -> Tally:
    """Tally of random kernels in `modules` modules."""
    tally = Tally()
    with Processes(300) as processes:
        compiler = find_compiler(
            "llvmlite" if through_llvmlite else f"clang-{version}", None, processes
        )
        number = 0
        while tally.kernels < modules * kernels_of_a_module:
            where = folder / f"{version}-{target}-{number}"
            kernels = [
                random_kernel(random, f"k{i}", arch(target).target)
                for i in range(kernels_of_a_module)
            ]
            for line in _compare(
                version, target, random, where, compiler, processes, tally, kernels
            ):
                tally.differences.append(f"clang {version}, {target}, module {number}: {line}")
            number += 1
    return tally


def _compare(
    version: int,
    target: str,
    random: Random,
    folder: Path,
    compiler: Compiler,
    processes: Processes,
    tally: Tally,
    kernels: Sequence[RandomKernel],
) -> Iterator[str]:
    """Differences in one module; none if the compiler refuses it unchanged."""
    asked = {kernel.name: random_asked(random, arch(target).target) for kernel in kernels}
    level = random.choice(("3", "3", "2", "1", "s"))
    try:
        plain = compile_source(version, target, level, kernels, folder / "plain")
    except subprocess.CalledProcessError:
        return
    module = _open(plain, compiler, processes)
    options = module.drivers["clang"]
    changes = {name: wish.attributes(has_required_size=False) for name, wish in asked.items()}
    others = [kernel.asking(asked[kernel.name]) for kernel in kernels]
    try:
        truth = _truth(version, target, level, others, folder / "written", compiler, processes)
    except (subprocess.CalledProcessError, CompilerError):
        tally.refused += 1
        with suppress(CompilerError):
            module.compile(changes, level, options)
            yield "the compiler refuses the attribute in the source and takes it edited"
        return
    edited = module.compile(changes, level, options)
    as_compiled = module.compile({}, level, options)
    left = _assembly(plain)
    for kernel in kernels:
        mine, its = measures(edited[kernel.name]), measures(truth[kernel.name])
        tally.kernels += 1
        tally.changed += its != measures(as_compiled[kernel.name])
        tally.spilling += bool(truth[kernel.name].kernel.numbers.vgpr_spills)
        tally.reproduced += measures(as_compiled[kernel.name]) == measures(left[kernel.name])
        if mine != its:
            wish = asked[kernel.name]
            yield f"{kernel.name} {wish} -O{level}: edited {mine}, in the source {its}"


def _truth(
    version: int,
    target: str,
    level: str,
    kernels: Sequence[RandomKernel],
    folder: Path,
    compiler: Compiler,
    processes: Processes,
) -> Mapping[str, Result]:
    """Symbol → kernel compiled with the attributes in the source.

    Raises `CalledProcessError` or `CompilerError` if the compiler refuses them.
    """
    if compiler.path != "llvmlite":
        return _assembly(compile_source(version, target, level, kernels, folder))
    path = compile_source(version, target, level, kernels, folder, to_assembly=False)
    module = _open(path, compiler, processes)
    return module.compile({}, level, module.drivers["clang"])


@contextmanager
def opened(path: Path, version: int) -> Iterator[IrModule]:
    """The module of an IR file, with the means to compile it."""
    with Processes(300) as processes:
        yield _open(path, find_compiler(f"clang-{version}", None, processes), processes)


def _open(path: Path, compiler: Compiler, processes: Processes) -> IrModule:
    return open_module(read_input(str(path)), compiler, processes, Options())


def _assembly(bitcode: Path) -> dict[str, Result]:
    return by_symbol(analyse([str(bitcode.with_suffix(".s"))], Options()))
