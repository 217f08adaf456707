"""A module of LLVM IR, compiled in every variant: at the level that it was, and as asked for."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Executor
from itertools import product
from math import prod
from typing import NamedTuple

from kernelinfo.analysis import Analysis, analyse
from kernelinfo.analysis.options import Options
from kernelinfo.compare.changes import Pair
from kernelinfo.compare.summary import build
from kernelinfo.errors import CompilerError, ReadError, UnknownTargetError
from kernelinfo.kernel import Item, Report, Result
from kernelinfo.kernel.names import demangle
from kernelinfo.occupancy.targets import find
from kernelinfo.reading.containers import open_bytes
from kernelinfo.reading.containers.triton import read_sidecar
from kernelinfo.variants import ir
from kernelinfo.variants.compilers import Compiler
from kernelinfo.variants.ir import Input
from kernelinfo.variants.nouns import Asked, Origin, Request, Sweep, SweptKernel, Variant, steps
from kernelinfo.variants.processes import Processes

LEVELS = ("3", "2", "1", "s")
"""Tried in this order until one reproduces the assembly next to the input."""

_CLANG = ("-amdgpu-internalize-symbols",)
"""Options of clang's driver for HIP (HIPAMD.cpp, HIPAMDToolChain::addClangTargetOptions)."""
_HIPCC = ("-amdgpu-early-inline-all=true", "-amdgpu-function-calls=false")
"""Options that hipcc adds to those (hipcc.pl; hipcc's hipBin_amd.h, executeHipCCCmd)."""


class Module(NamedTuple):
    """Textual IR, and what compiles it."""

    file: Input
    text: str
    triple: str
    target_id: str
    compiler: Compiler
    processes: Processes
    reading: Options

    @property
    def drivers(self) -> dict[str, tuple[str, ...]]:
        """Compiler drivers that may have made the input, and the LLVM options that each adds."""
        if self.file.is_optimised or ir.is_opencl(self.text):
            return {"clang": ()}
        return {"clang": _CLANG, "hipcc": _CLANG + _HIPCC}

    def compile(
        self, changes: Mapping[str, Mapping[str, str]], level: str, options: tuple[str, ...]
    ) -> dict[str, Result]:
        """Each kernel by its symbol, compiled with function attributes changed. `changes` are by
        symbol and attribute name. Raises `CompilerError` or `ReadError`."""
        build = (self.triple, self.target_id, level, *options)
        command = self.compiler.to_assembly(*build, is_optimised=self.file.is_optimised)
        text = ir.with_attributes(self.text, changes)
        assembly = self.processes.run(command, text.encode("utf-8", "surrogateescape"))
        # Named as what the same compilation writes, so that Triton's JSON next to that is read.
        blobs = open_bytes(assembly, self.file.assembly)
        found = by_symbol(Analysis(self.reading).analyse_path(self.file.assembly, blobs))
        return {symbol: self._named(result) for symbol, result in found.items()}

    def _named(self, result: Result) -> Result:
        """The result with the input as its path: the assembly is nowhere on disk."""
        code_object = result.kernel.code_object._replace(path=self.file.path)
        return result._replace(kernel=result.kernel._replace(code_object=code_object))


class Outcome(NamedTuple):
    """One compilation of the module."""

    results: Mapping[str, Result]  # kernels by symbol; none if it failed
    error: str | None = None


class Baseline(NamedTuple):
    """The module as compiled, and the level at which that is."""

    level: str
    level_from: Origin
    driver: str
    outcome: Outcome
    differences: Mapping[str, str]  # of kernels from the assembly next to the input, by symbol


def by_symbol(items: Iterable[Item]) -> dict[str, Result]:
    """Kernels by their symbols. Raises `ReadError` if something could not be read."""
    report = Report.of(items)
    for problem in report.problems:
        raise ReadError(f"{problem.path}: {problem.message}")
    return {result.kernel.symbol: result for result in report.results}


def open_module(file: Input, compiler: Compiler, processes: Processes, options: Options) -> Module:
    """The module in `file`; `options.arch` is the target of IR that states none. Raises `ReadError`
    if it is not a module for AMD GPUs with kernels."""
    text, triple = _text(file, compiler, processes)
    if not any(ir.definitions(text)):
        raise ReadError(f"{file.path}: no kernel in it; give the IR of a module with kernels")
    target_id = ir.target_id(text) or options.arch
    if target_id is None and (sidecar := read_sidecar(file.assembly)):  # Triton's JSON
        target_id = sidecar.arch
    if target_id is None:
        raise ReadError(f"{file.path}: names no target; give one by --arch")
    try:
        find(target_id.partition(":")[0])
    except UnknownTargetError as error:
        raise ReadError(f"{file.path}: {error}") from None
    reading = options._replace(arch=None)
    return Module(file, text, triple, target_id, compiler, processes, reading)


def _text(file: Input, compiler: Compiler, processes: Processes) -> tuple[str, str]:
    """The module as LLVM prints it, and the one of `ir.TRIPLES` that it is compiled for."""
    if b"\0" in file.data:
        tries = [(file.data, spelling) for spelling in ir.SPELLINGS]
    else:
        text = file.data.decode("utf-8", "surrogateescape")
        stated = ir.triple(text)
        triple = ir.known_triple(stated) if stated is not None else ir.TRIPLES[0]
        if triple is None:
            raise ReadError(f"{file.path}: IR for {stated}, not for an AMD GPU")
        tries = [(ir.with_triple(text, triple).encode("utf-8", "surrogateescape"), triple)]
    for data, spelling in tries:
        try:
            printed = processes.run(compiler.to_text(spelling), data)
        except CompilerError as error:
            if "overriding the module target triple" not in str(error):
                read_by = f"{compiler.path} cannot read it: {error}"
                hint = f"; made by {file.producer}" if file.producer else ""
                raise ReadError(f"{file.path}: {read_by}{hint}") from None
            continue
        triple = ir.known_triple(spelling) or ir.TRIPLES[0]
        return ir.with_triple(printed.decode("utf-8", "surrogateescape"), triple), triple
    raise ReadError(f"{file.path}: not for an AMD GPU; give the .bc whose name has amdgcn in it")


def sweep(
    module: Module, request: Request, pool: Executor, progress: Callable[[int, int], None]
) -> Sweep:
    """Compile the module in every variant. `progress` is called with the variants that are done and
    their number. Raises `ReadError` if no kernel is wanted."""
    wanted = _wanted(module, request)
    reference, notes = _reference(module)
    base = _baseline(module, request, reference)
    required = _with_required_size(base.outcome)
    variants = request.variants(_default_waves(module, base.outcome))

    def compile(asked: Asked) -> Outcome:
        changes = {
            symbol: asked.attributes(has_required_size=symbol in required) for symbol in wanted
        }
        options = (*module.drivers[base.driver], *request.options, *asked.options)
        return _outcome(module, changes, base.level, options)

    futures = [pool.submit(compile, asked) for asked in variants[1:]]
    outcomes = [base.outcome]
    for done, future in enumerate(futures):
        progress(done, len(futures))
        outcomes.append(future.result())
    kernels = tuple(
        SweptKernel(
            symbol,
            demangle(symbol),
            tuple(_variant(a, o, symbol) for a, o in zip(variants, outcomes, strict=True)),
            tuple(_notes(symbol, base, required if request.launch_bounds else {})),
        )
        for symbol in wanted
    )
    return Sweep(
        file=module.file,
        compiler=module.compiler,
        target_id=module.target_id,
        level=base.level,
        level_from=base.level_from,
        driver=base.driver,
        assembly=module.file.assembly if reference else None,
        kernels=kernels,
        notes=notes,
    )


def _wanted(module: Module, request: Request) -> tuple[str, ...]:
    names = {one.symbol: demangle(one.symbol) for one in ir.definitions(module.text)}
    wanted = request.is_wanted
    found = tuple(s for s, name in names.items() if wanted is None or wanted(name, s))
    if not found:
        raise ReadError(f"{module.file.path}: no such kernel; it has {', '.join(names.values())}")
    return found


def _reference(module: Module) -> tuple[Mapping[str, Result], tuple[str, ...]]:
    """Kernels of the assembly next to the input, by symbol; and why there are none."""
    path = module.file.assembly
    if not os.path.isfile(path):
        return {}, ()
    try:
        return by_symbol(analyse([path], module.reading)), ()
    except ReadError as error:
        return {}, (f"not compared with the assembly next to it: {error}",)


def _baseline(module: Module, request: Request, reference: Mapping[str, Result]) -> Baseline:
    """The module as compiled: the first way to compile it that reproduces `reference`, or -O3."""
    origin: Origin = "option" if request.level else "reproduced"
    unlike = []
    levels = LEVELS if reference and not module.file.is_optimised else LEVELS[:1]
    drivers = list(module.drivers) if reference else list(module.drivers)[:1]
    for level, driver in product((request.level,) if request.level else levels, drivers):
        options = (*module.drivers[driver], *request.options)
        outcome = _outcome(module, {}, level, options)
        differences = _differences(reference, outcome)
        if reference and not differences and outcome.error is None:
            return Baseline(level, origin, driver, outcome, {})
        unlike.append(Baseline(level, origin, driver, outcome, differences))
    return unlike[0] if request.level else unlike[0]._replace(level_from="assumed")


def _outcome(
    module: Module, changes: Mapping[str, Mapping[str, str]], level: str, options: tuple[str, ...]
) -> Outcome:
    try:
        return Outcome(module.compile(changes, level, options))
    except (CompilerError, ReadError) as error:
        return Outcome({}, str(error))


def _differences(reference: Mapping[str, Result], outcome: Outcome) -> dict[str, str]:
    """Differences from the assembly next to the input, by symbol, in words."""
    found = {}
    for symbol in reference.keys() & outcome.results.keys():
        old, new = build([reference[symbol], outcome.results[symbol]], lambda of: "").kernels
        if (pair := Pair(old, new)).moves:
            found[symbol] = pair.why
    return found


def _default_waves(module: Module, base: Outcome) -> tuple[int, ...]:
    """The steps of the target for waves of the size that the kernels have."""
    target = find(module.target_id.partition(":")[0])
    default = target.waves.default_size
    sizes = {result.kernel.wave_size or default for result in base.results.values()} or {default}
    return tuple(sorted({waves for size in sizes for waves in steps(target, size)}))


def _with_required_size(base: Outcome) -> dict[str, int]:
    """Workitems of the workgroup that the source requires, by symbol; others are left out."""
    sizes = {symbol: one.kernel.workgroup.required for symbol, one in base.results.items()}
    return {symbol: prod(size) for symbol, size in sizes.items() if size}


def _variant(asked: Asked, outcome: Outcome, symbol: str) -> Variant:
    if result := outcome.results.get(symbol):
        return Variant(asked, result)
    return Variant(asked, None, outcome.error or "the compiler left this kernel out")


def _notes(symbol: str, base: Baseline, required: Mapping[str, int]) -> Iterator[str]:
    if symbol in base.differences:
        yield f"as compiled differs from the assembly next to it: {base.differences[symbol]}"
    if symbol in required:
        yield f"launch bounds left alone: the source requires workgroups of {required[symbol]}"
