"""LLVM IR compiled in every variant, at the optimisation level of its build."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor, wait
from itertools import chain
from typing import TYPE_CHECKING, TypeVar

from kernelinfo.analysis import analyse
from kernelinfo.analysis.options import Options
from kernelinfo.compile import IR_SUFFIXES, Settings, ir, make_absolute
from kernelinfo.compile.compilers import find_compiler
from kernelinfo.compile.ir import Input, read_input
from kernelinfo.compile.processes import Processes
from kernelinfo.compile.sources import list_left_out
from kernelinfo.errors import Message, OptionError, ReadError
from kernelinfo.hardware.products import target_named
from kernelinfo.hardware.targets import find
from kernelinfo.kernel import Result
from kernelinfo.kernel.names import demangle, matches, matching, nearest_kernels
from kernelinfo.reading.messages import in_file
from kernelinfo.reading.paths import is_source
from kernelinfo.variants import (
    Baseline,
    IrModule,
    baseline,
    by_symbol,
    clang_of,
    compile_to_ir,
    differences,
    leave_out_others,
    may_depend_on_others,
    open_module,
)
from kernelinfo.variants.messages import say
from kernelinfo.variants.nouns import (
    Line,
    LineLanguage,
    Sweep,
    SweptKernel,
    Variant,
    choose_written,
    keep_worthwhile,
    lines,
    listed,
)
from kernelinfo.variants.requests import (
    AS_COMPILED,
    SIZES,
    WAVES,
    Request,
    default_waves,
    fixed_limit,
    forbidden,
    make_request,
)
from kernelinfo.waiting import result

if TYPE_CHECKING:
    from kernelinfo.kernel.columns import Where

_T = TypeVar("_T")
_PATIENCE = 1  # seconds between reports of progress


NO_KERNEL = ("sweep-no-kernel", "sweep-where")
"""Codes of errors for a file that has none of the kernels asked for."""


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
    `names.matching` takes it. Without `waves`, `launch_bounds` (workitems) and `strategies`, all
    waves/SIMD at which the target has a VGPR step are tried. For kernels that spill, fewer waves
    and smaller launch bounds are tried, too. `level` is 3 for -O3, or `s`; `timeout` is in seconds
    per compilation. Raises `ReadError`, `CompilerError` or `OptionError`. A variant that fails has
    an `error`.
    """
    path, request = os.fspath(source), make_request(waves, launch_bounds, strategies, level, mllvm)
    request = request._replace(kernel=kernel)
    targets = (target_named(arch).name,) if arch else ()
    commands = os.fspath(compile_commands) if compile_commands else None
    settings = Settings(targets, make_absolute(flags, os.getcwd()), compiler, commands)
    reading = options or Options()
    reading = reading._replace(arch=targets[0]) if targets else reading
    workers = (jobs or os.cpu_count() or 1) + 1  # one waits for the others
    with ThreadPoolExecutor(workers) as pool, Processes(timeout, option="--timeout") as processes:
        if is_source(path) and not path.endswith(IR_SUFFIXES):
            notes = (*list_left_out([path], settings),)
            file, request = compile_to_ir(path, request, reading, settings, processes)
            compiler = clang_of(file)
        else:
            notes, file = (), _ir_of(path, settings)
        work = (file, request, reading, compiler, processes, pool)
        made = result(pool.submit(sweep_input, *work, lambda done, number: None))
        return made._replace(notes=(*notes, *made.notes))


def _ir_of(path: str, settings: Settings) -> Input:
    """The IR file at `path`. Raises `OptionError` for settings that only sources take."""
    if settings.flags or settings.compile_commands:
        raise OptionError(say("sweep-no-source", path=path))
    return read_input(path)


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
    """The sweep of one module. Raises `ReadError` if no kernel is chosen.

    `progress` gets the number of finished compilations and of all: first of the variants, then of
    those that check the source lines.
    """
    symbols = _chosen(module, request)
    reference, notes = _reference(module)
    whole = None
    if request.where is not None:
        whole = baseline(module, request, reference)
        symbols = _where(request.where, symbols, whole.compiled, module.file.path)
    base, of_module = leave_out_others(module, request, reference, symbols, whole)
    declared = ir.attributes(module.text, (WAVES, SIZES))
    target = find(module.target_id.partition(":")[0])
    requests = {
        symbol: request.variants(
            target,
            base.compiled[symbol].result,
            states_waves=WAVES in declared.get(symbol, {}),
            or_more=not module.file.is_optimised,
        )
        for symbol in symbols
    }
    every = dict.fromkeys(chain.from_iterable(changes[1:] for changes in requests.values()))
    compilations = [
        pool.submit(base.variants, change, [s for s in symbols if change in requests[s]])
        for change in every
    ]
    compiled = dict(zip(every, _ended(compilations, progress), strict=True))
    compiled[AS_COMPILED] = dict(base.compiled)
    unlike = differences(reference, base.compiled)
    kernels = []
    for symbol, changes in requests.items():
        variants = tuple(compiled[change][symbol] for change in changes)
        if request.takes_defaults:
            variants = keep_worthwhile(variants)
        kernel = SweptKernel(symbol, demangle(symbol), variants)
        of_kernel = _notes(kernel, base, request, unlike.get(symbol))
        kernels.append(kernel._replace(notes=tuple(of_kernel)))
    written = [
        (kernel.symbol, variant)
        for kernel in kernels
        for variant in choose_written(kernel, takes_defaults=request.takes_defaults)
    ]
    is_alone = len(symbols) == 1 and base.module is not module
    shares = base.module is not module and bool(module.shared(symbols))
    unsure = [
        (symbol, variant)
        for symbol, variant in written
        if (len(symbols) > 1 or (is_alone and not of_module))
        and (shares or may_depend_on_others(module, symbols, variant.result))
    ]
    checked = {
        symbol: max((v for s, v in unsure if s == symbol), key=_most_useful) for symbol, _ in unsure
    }
    has = base._replace(module=module).has
    checks = {
        (symbol, variant.asked): pool.submit(has, symbol, variant, is_alone=is_alone)
        for symbol, variant in checked.items()
    }
    is_true = dict(zip(checks, _ended([*checks.values()], progress), strict=True))
    if is_alone and not all(is_true.values()):
        is_true, of_module = dict.fromkeys(is_true, True), (say("sweep-alone"),)
    texts = {kernel.symbol: list[Line]() for kernel in kernels}
    for symbol, variant in written:
        if is_true.get((symbol, variant.asked), (symbol, variant) not in unsure):
            texts[symbol] += _lines(variant, symbol, base, request, declared)
    return Sweep(
        file=module.file,
        compiler=module.compiler,
        target_id=module.target_id,
        level=base.level,
        level_from=base.level_from,
        driver=base.driver,
        assembly=module.file.assembly if reference else None,
        kernels=tuple(
            kernel._replace(lines=tuple(dict.fromkeys(texts[kernel.symbol]))) for kernel in kernels
        ),
        notes=(*notes, *of_module),
    )


def _ended(futures: Sequence[Future[_T]], progress: Callable[[int, int], None]) -> Iterator[_T]:
    """The result of each compilation, in order."""
    for future in futures:
        while not future.done():
            progress(sum(other.done() for other in futures), len(futures))
            wait([future], timeout=_PATIENCE)
        yield future.result()


def _where(
    where: Where, symbols: Iterable[str], compiled: Mapping[str, Variant], path: str
) -> tuple[str, ...]:
    """The kernels for which a condition holds when they are compiled unchanged. Raises `ReadError`
    if there are none."""
    results = ((symbol, compiled[symbol].result) for symbol in symbols)
    chosen = tuple(symbol for symbol, result in results if result and where.holds(result))
    if not chosen:
        raise ReadError(say("sweep-where", path=path, condition=where.text))
    return chosen


def _most_useful(variant: Variant) -> tuple[int, bool]:
    """Sort key for variants that share a row: the most useful variant has the greatest key.

    A larger launch bound is more useful, since it refuses fewer launches. With equal bounds, asking
    for a number of waves or more is more useful than asking for exactly that number.
    """
    return variant.asked.launch_bounds or 0, variant.asked.or_more


def _lines(
    variant: Variant,
    symbol: str,
    base: Baseline,
    request: Request,
    declared: Mapping[str, Mapping[str, str]],
) -> Iterator[Line]:
    """The source lines for a variant. `declared` are sizes and waves in the IR, by symbol."""
    language: LineLanguage = "OpenCL" if ir.is_opencl(base.module.text) else "HIP"
    return lines(
        variant.asked,
        "Triton" if base.module.file.is_optimised else language,
        declared.get(symbol, {}),
        request.options,
        has_required_size=base.required_size(symbol) is not None,
    )


def _chosen(module: IrModule, request: Request) -> tuple[str, ...]:
    """The symbols of the kernels that the request names. Raises `ReadError` if there are none."""
    symbols = [kernel.symbol for kernel in ir.definitions(module.text)]
    names = {symbol: demangle(symbol) for symbol in symbols}
    kernel, patterns = request.kernel, request.patterns
    chosen = [(name, s) for s, name in names.items() if kernel is None or kernel in (name, s)]
    if kernel is not None and not chosen:
        chosen = [(name, s) for s, name in names.items() if matches(kernel, name, s)]
    if patterns:
        chosen = [(name, s) for name, s in chosen if matching(patterns, name, s)]
    chosen = [(name, s) for name, s in chosen if not matching(request.exclude, name, s)]
    if not chosen:
        raise ReadError(in_file(module.file.path, _missing(request, names)))
    return tuple(symbol for _, symbol in chosen)


def _missing(request: Request, names: Mapping[str, str]) -> Message:
    """The message that no kernel is chosen, with the names nearest to a word that matches none."""
    kernel, patterns = request.kernel, request.patterns
    options = [f"-k {pattern}" for pattern in patterns]
    options += [f"--exclude {pattern}" for pattern in request.exclude]
    words = [*filter(None, [kernel]), *patterns]
    what = say("sweep-matches", choice=" ".join([*filter(None, [kernel]), *options]))
    if kernel is not None and not options:
        what = say("sweep-named", kernel=kernel)
    unknown = (word for word in words if not any(matches(word, n, s) for s, n in names.items()))
    near = next(filter(None, (nearest_kernels(word, names.values()) for word in unknown)), "")
    mend = f"; {near}" if near else ""
    return say("sweep-no-kernel", what=what, count=len(names), mend=mend)


def _reference(module: IrModule) -> tuple[Mapping[str, Result], tuple[str, ...]]:
    """Symbol → kernel of the build's own assembly, and notes if it cannot be read.

    The assembly of a source is in memory; that of an IR file is next to it.
    """
    file, reading = module.file, module.reading
    path = file.assembly
    if file.compiled is not None:
        if not file.compiled.assembly:
            return {}, ()
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


def _notes(
    kernel: SweptKernel, base: Baseline, request: Request, difference: str | None
) -> Iterator[Message]:
    """Notes on a kernel. `difference` says how it differs from the build's own assembly."""
    if difference is not None:
        assembly = _assembly(base.module.file)
        yield say("sweep-differs", assembly=assembly, difference=difference)
    compiled, required = kernel.variants[0].result, base.required_size(kernel.symbol)
    if required is not None and request.launch_bounds:
        yield say("sweep-bounds-left", workitems=required)
    waves = request.waves
    if request.takes_defaults:
        waves = default_waves(find(base.module.target_id.partition(":")[0]), compiled)
    if (ruled_out := forbidden(waves, compiled)) and (limit := fixed_limit(compiled)):
        counts, allowed = listed(ruled_out), f"{limit.waves_per_simd:g}"
        if limit.resource == "lds":
            yield say("sweep-forbidden", waves=counts, allowed=allowed)
        else:
            yield say("sweep-forbidden-barriers", waves=counts, allowed=allowed)
    if bounds := kernel.smaller_bounds:
        yield say("sweep-refused", bounds=listed(bounds))
