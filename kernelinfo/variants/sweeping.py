"""LLVM IR compiled in every variant, at the optimisation level of its build."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from itertools import compress, product
from math import prod
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from kernelinfo.analysis import analyse
from kernelinfo.analysis.options import Options
from kernelinfo.compare.changes import Pair
from kernelinfo.compare.summary import build
from kernelinfo.compile import ir
from kernelinfo.compile.compilers import find_compiler
from kernelinfo.compile.flags import absolute_flags
from kernelinfo.compile.ir import Input, read_input
from kernelinfo.compile.nouns import Settings
from kernelinfo.compile.processes import Processes
from kernelinfo.compile.sources import left_out
from kernelinfo.errors import CompilerError, Message, OptionError, ReadError
from kernelinfo.hardware.products import target_named
from kernelinfo.hardware.targets import find
from kernelinfo.kernel import Result
from kernelinfo.kernel.names import demangle
from kernelinfo.kernel.pattern import matches, matching, nearest_kernels
from kernelinfo.reading.messages import in_file
from kernelinfo.reading.paths import is_source
from kernelinfo.variants.lines import lines, of_its_row
from kernelinfo.variants.messages import say
from kernelinfo.variants.module import (
    CompilerRun,
    IrModule,
    by_symbol,
    clang_of,
    compiled_source,
    open_module,
)
from kernelinfo.variants.nouns import (
    SIZES,
    STRATEGIES,
    WAVES,
    Asked,
    Language,
    Line,
    Origin,
    Request,
    Sweep,
    SweptKernel,
    Variant,
    cost_of,
    is_worth_a_row,
    measures,
    steps,
)
from kernelinfo.waiting import result

if TYPE_CHECKING:
    from kernelinfo.kernel.columns import Where

_T = TypeVar("_T")
LEVELS = ("3", "2", "1", "s")
"""Levels in the order tried, until one reproduces the assembly next to the input."""


class NoSuchKernelError(ReadError):
    """The file has none of the wanted kernels."""


class Baseline(NamedTuple):
    """The module as compiled: level, driver and kernels."""

    level: str
    level_from: Origin
    driver: str
    outcome: CompilerRun
    differences: Mapping[str, str]  # symbol → difference from the build's own assembly


def sweep(
    source: str | os.PathLike[str],
    kernel: str | None = None,
    *,
    waves: Iterable[int] = (),
    launch_bounds: Iterable[int] = (),
    strategies: Iterable[str] = (),
    level: str | int | None = None,
    mllvm: Iterable[str] = (),
    compiler: str | None = None,
    arch: str | None = None,
    flags: Iterable[str] = (),
    compile_commands: str | os.PathLike[str] | None = None,
    timeout: float = 60,
    jobs: int | None = None,
    options: Options | None = None,
) -> Sweep:
    """The kernels of an IR file or of a source, compiled for other occupancies.

    `source` is the path of a `.bc`, `.ll` or `.llir`, or of a source, which is compiled for `arch`,
    a gfx target or a product, with `flags` and those in `compile_commands`. `kernel` is a name as
    `pattern.matching` takes it. Without `waves`, `launch_bounds` (workitems) and `strategies`, all
    waves/SIMD at which the target has a VGPR step are tried. `level` is 3 for -O3, or `s`;
    `timeout` is in seconds per compilation. Raises `ReadError`, `CompilerError` or `OptionError`. A
    variant that fails has an `error`.
    """
    path, request = os.fspath(source), make_request(waves, launch_bounds, strategies, level, mllvm)
    request = request._replace(kernel=kernel)
    targets = (target_named(arch).name,) if arch else ()
    commands = os.fspath(compile_commands) if compile_commands else None
    settings = Settings(targets, absolute_flags(flags, os.getcwd()), compiler, commands)
    reading = options or Options()
    reading = reading._replace(arch=targets[0]) if targets else reading
    workers = (jobs or os.cpu_count() or 1) + 1  # one waits for the others
    with ThreadPoolExecutor(workers) as pool, Processes(timeout, option="--timeout") as processes:
        if is_source(path) and not path.endswith(ir.IR_SUFFIXES):
            notes = (*left_out([path], settings),)
            file, request = compiled_source(path, request, settings, processes)
            compiler = clang_of(file)
        else:
            notes, file = (), _ir_of(path, settings)
        work = (file, request, reading, compiler, processes, pool)
        made = result(pool.submit(sweep_input, *work, lambda done, number: None))
        return made._replace(notes=(*notes, *made.notes))


def _ir_of(path: str, settings: Settings) -> Input:
    """The IR file at `path`. Raises `OptionError` for settings that are for sources."""
    if settings.flags or settings.compile_commands:
        raise OptionError(say("sweep-no-source", path=path))
    return read_input(path)


def make_request(
    waves: Iterable[int] = (),
    launch_bounds: Iterable[int] = (),
    strategies: Iterable[str] = (),
    level: str | int | None = None,
    mllvm: Iterable[str] = (),
) -> Request:
    """The request. Strategy `default` is the compiler's own. Raises `OptionError`."""
    level = None if level is None else str(level)
    if level is not None and level not in ("0", "1", "2", "3", "s", "z"):
        raise OptionError(say("sweep-level", level=level))
    for name in (strategies := tuple(strategies)):
        if name not in ("default", *STRATEGIES):
            raise OptionError(say("sweep-strategy", name=name, strategies=", ".join(STRATEGIES)))
    sizes = tuple(waves), tuple(launch_bounds)
    if any(not 0 < number < 10_000 for number in (*sizes[0], *sizes[1])):
        raise OptionError(say("sweep-numbers"))
    wishes = (None if name == "default" else name for name in strategies)
    return Request(*sizes, tuple(wishes), level, tuple(mllvm))


def sweep_input(
    file: Input,
    request: Request,
    options: Options,
    compiler: str | None,
    processes: Processes,
    pool: Executor,
    progress: Callable[[int, int], None],
) -> Sweep:
    """The sweep of one input, run in a worker of `pool`, which also runs the compilers.

    An interrupt then reaches the waiting main thread and leaves `processes` intact.
    """
    request = request._replace(
        patterns=options.kernels, exclude=options.exclude, where=options.where
    )
    reading = options._replace(kernels=(), exclude=(), where=None)
    compiler_of = find_compiler(compiler, file.producer, processes)
    module = open_module(file, compiler_of, processes, reading)
    return sweep_module(module, request, pool, progress)


def sweep_module(
    module: IrModule, request: Request, pool: Executor, progress: Callable[[int, int], None]
) -> Sweep:
    """The sweep of one module. Raises `ReadError` if no kernel is wanted.

    `progress` gets the number of finished compilations and of all: first of the variants, then of
    those that check the source lines.
    """
    wanted = _wanted(module, request)
    reference, notes = _reference(module)
    base = _baseline(module, request, reference)
    if request.where is not None:
        wanted = _where(request.where, wanted, base.outcome.results, module.file.path)
    compiled = [base.outcome.results[symbol] for symbol in wanted if symbol in base.outcome.results]
    variants = request.variants(
        _default_waves(module, compiled), or_more=not module.file.is_optimised
    )
    declared = ir.attributes(module.text, (WAVES, SIZES))
    compilation = Compilation(module, request, base, _with_required_size(base.outcome), declared)
    futures = [pool.submit(compilation.outcome, asked, wanted) for asked in variants[1:]]
    outcomes = (base.outcome, *_ended(futures, progress))
    made = list(zip(variants, outcomes, strict=True))
    kernels = [compilation.kernel(symbol, made) for symbol in wanted]
    for_lines = [(kernel.symbol, variant) for kernel in kernels for variant in of_its_row(kernel)]
    if len(wanted) > 1:
        checks = [pool.submit(compilation.is_its_own, *one) for one in for_lines]
        for_lines = [*compress(for_lines, _ended(checks, progress))]
    return Sweep(
        file=module.file,
        compiler=module.compiler,
        target_id=module.target_id,
        level=base.level,
        level_from=base.level_from,
        driver=base.driver,
        assembly=module.file.assembly if reference else None,
        kernels=tuple(compilation.with_lines(kernel, for_lines) for kernel in kernels),
        notes=notes,
    )


def _ended(futures: Sequence[Future[_T]], progress: Callable[[int, int], None]) -> Iterator[_T]:
    """The result of each compilation, in order."""
    for done, future in enumerate(futures):
        progress(done, len(futures))
        yield future.result()


def _where(
    where: Where, symbols: Iterable[str], compiled: Mapping[str, Result], path: str
) -> tuple[str, ...]:
    """The kernels for which a condition holds as compiled. Raises `NoSuchKernelError` for none."""
    found = tuple(s for s in symbols if s in compiled and where.holds(compiled[s]))
    if not found:
        raise NoSuchKernelError(say("sweep-where", path=path, condition=where.text))
    return found


class Compilation(NamedTuple):
    """Common inputs of all compilations of a module."""

    module: IrModule
    request: Request
    base: Baseline
    required: Mapping[str, int]  # symbol → workitems of the required workgroup size
    declared: Mapping[str, Mapping[str, str]]  # symbol → sizes and waves in the IR

    def outcome(self, asked: Asked, wanted: Iterable[str]) -> CompilerRun:
        """The module with the wanted kernels changed."""
        changes = {
            symbol: asked.attributes(has_required_size=symbol in self.required) for symbol in wanted
        }
        options = (*self.module.drivers[self.base.driver], *self.request.options, *asked.options)
        return _outcome(self.module, changes, self.base.level, options)

    def is_its_own(self, symbol: str, variant: Variant) -> bool:
        """True if the variant is the same with this kernel alone changed.

        Spills of clang 15 and 19 differ with those of other kernels.
        """
        alone = _variant(variant.asked, self.outcome(variant.asked, [symbol]), symbol).result
        if not (alone and variant.result):
            return False
        return measures(alone) == measures(variant.result)

    def kernel(self, symbol: str, made: Sequence[tuple[Asked, CompilerRun]]) -> SweptKernel:
        """The kernel in all variants, without source lines."""
        variants = [_variant(asked, outcome, symbol) for asked, outcome in made]
        if self.request.takes_default_waves:
            variants = [variants[0], *(v for v in variants[1:] if is_worth_a_row(v, variants[0]))]
        notes = tuple(_notes(symbol, self))
        return SweptKernel(symbol, demangle(symbol), tuple(variants), notes)

    def with_lines(
        self, kernel: SweptKernel, variants: Iterable[tuple[str, Variant]]
    ) -> SweptKernel:
        """The kernel with the source lines for its own ones of (symbol, variant)."""
        own = [variant for symbol, variant in variants if symbol == kernel.symbol]
        return kernel._replace(lines=tuple(dict.fromkeys(self._lines(kernel.symbol, own))))

    def _lines(self, symbol: str, variants: Iterable[Variant]) -> Iterator[Line]:
        module = self.module
        language: Language = "OpenCL" if ir.is_opencl(module.text) else "HIP"
        for variant in variants:
            yield from lines(
                variant.asked,
                "Triton" if module.file.is_optimised else language,
                self.declared.get(symbol, {}),
                self.request.options,
                has_required_size=symbol in self.required,
            )


def _wanted(module: IrModule, request: Request) -> tuple[str, ...]:
    """The symbols of the kernels that the request names. Raises `NoSuchKernelError` for none."""
    names = {one.symbol: demangle(one.symbol) for one in ir.definitions(module.text)}
    kernel, patterns = request.kernel, request.patterns
    found = {s: name for s, name in names.items() if kernel is None or kernel in (name, s)}
    if kernel is not None and not found:
        found = {s: name for s, name in names.items() if matches(kernel, name, s)}
    if patterns:
        found = {s: name for s, name in found.items() if matching(patterns, name, s)}
    found = {s: name for s, name in found.items() if not matching(request.exclude, name, s)}
    if not found:
        raise NoSuchKernelError(in_file(module.file.path, _missing(request, names)))
    return tuple(found)


def _missing(request: Request, names: Mapping[str, str]) -> Message:
    """Message that none of the names is chosen, with those nearest to a word that has none."""
    kernel, patterns = request.kernel, request.patterns
    options = [f"-k {one}" for one in patterns] + [f"--exclude {one}" for one in request.exclude]
    asked = [*filter(None, [kernel]), *patterns]
    what = say("sweep-matches", choice=" ".join([*filter(None, [kernel]), *options]))
    if kernel is not None and not options:
        what = say("sweep-named", kernel=kernel)
    without = (one for one in asked if not any(matches(one, n, s) for s, n in names.items()))
    near = next(filter(None, (nearest_kernels(one, names.values()) for one in without)), "")
    mend = f"; {near}" if near else ""
    return say("sweep-no-kernel", what=what, count=len(names), mend=mend)


def _reference(module: IrModule) -> tuple[Mapping[str, Result], tuple[str, ...]]:
    """Symbol → kernel of the build's own assembly, and notes if it cannot be read.

    The assembly of a source is in memory, that of an IR file next to it.
    """
    file, reading = module.file, module.reading
    path = file.assembly
    if file.compiled is not None:
        path, reading = file.path, reading._replace(compiled=(file.compiled,))
    elif not os.path.isfile(path):
        return {}, ()
    try:
        return by_symbol(analyse([path], reading)), ()
    except ReadError as error:
        return {}, (say("sweep-not-compared", assembly=_assembly(file), error=error),)


def _assembly(file: Input) -> str:
    """The build's own assembly in words."""
    return say("sweep-assembly-beside") if file.compiled is None else say("sweep-assembly-own")


def _baseline(module: IrModule, request: Request, reference: Mapping[str, Result]) -> Baseline:
    """The first way to compile the module that reproduces `reference`, else -O3."""
    is_asked = request.level is not None and module.file.compiled is None
    origin: Origin = "option" if is_asked else "reproduced"
    unlike = []
    levels = LEVELS if reference and not module.file.is_optimised else LEVELS[:1]
    drivers = list(module.drivers) if reference else list(module.drivers)[:1]
    for level, driver in product((request.level,) if request.level else levels, drivers):
        options = (*module.drivers[driver], *request.options)
        outcome = _outcome(module, {}, level, options)
        differences = _differences(reference, outcome)
        if reference.keys() & outcome.results.keys() and not differences:
            return Baseline(level, origin, driver, outcome, {})
        unlike.append(Baseline(level, origin, driver, outcome, differences))
    return unlike[0]._replace(level_from="option" if request.level else "assumed")


def _outcome(
    module: IrModule, changes: Mapping[str, Mapping[str, str]], level: str, options: tuple[str, ...]
) -> CompilerRun:
    try:
        return module.compile(changes, level, options)
    except (CompilerError, ReadError) as error:
        return CompilerRun({}, error.message)


def _differences(reference: Mapping[str, Result], outcome: CompilerRun) -> dict[str, str]:
    """Symbol → difference from the build's own assembly, in words."""
    found = {}
    for symbol in reference.keys() & outcome.results.keys():
        old, new = build([reference[symbol], outcome.results[symbol]], lambda of: "").kernels
        if (pair := Pair(old, new)).moves:
            found[symbol] = pair.why
    return found


def _default_waves(module: IrModule, compiled: Sequence[Result]) -> tuple[int, ...]:
    """Waves/SIMD to try: VGPR steps of the target for the kernels' wave sizes.

    Leaves out fewer waves than as compiled, unless a kernel spills and may spill less there.
    """
    target = find(module.target_id.partition(":")[0])
    default = target.waves.default_size
    sizes = {result.kernel.wave_size or default for result in compiled} or {default}
    least = min((_fewest_waves(result) for result in compiled), default=0.0)
    every = {waves for size in sizes for waves in steps(target, size)}
    return tuple(sorted(waves for waves in every if waves >= least))


def _fewest_waves(result: Result) -> float:
    """Fewest waves/SIMD at which a kernel may gain something."""
    if result.occupancy is None or cost_of(result).costs:
        return 0.0
    return result.occupancy.waves_per_simd


def _with_required_size(base: CompilerRun) -> dict[str, int]:
    """Symbol → workitems, for kernels whose source requires a workgroup size."""
    sizes = {symbol: one.kernel.workgroup.required for symbol, one in base.results.items()}
    return {symbol: prod(size) for symbol, size in sizes.items() if size}


def _variant(asked: Asked, outcome: CompilerRun, symbol: str) -> Variant:
    if result := outcome.results.get(symbol):
        return Variant(asked, result)
    return Variant(asked, None, outcome.error or say("variant-without-kernel"))


def _notes(symbol: str, of: Compilation) -> Iterator[Message]:
    differences, required = of.base.differences, of.required
    if symbol in differences:
        yield say(
            "sweep-differs", assembly=_assembly(of.module.file), difference=differences[symbol]
        )
    if symbol in required and of.request.launch_bounds:
        yield say("sweep-bounds-left", workitems=required[symbol])
