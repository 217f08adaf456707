"""Kernels compiled for other occupancies, launch bounds and scheduling strategies.

IR file -> text -> function attributes edited -> the user's compiler -> assembly -> kernels.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import product
from math import prod
from typing import NamedTuple

from kernelinfo.analysis import Analysis
from kernelinfo.analysis.options import Options
from kernelinfo.compare.changes import Pair
from kernelinfo.compare.summary import build
from kernelinfo.compile import Settings, ir
from kernelinfo.compile.compilers import (
    INLINE_ALL,
    Compiler,
    drivers,
    major_version,
    parse_ir_flags,
    read_ir,
)
from kernelinfo.compile.ir import Input
from kernelinfo.compile.messages import say as say_of_sources
from kernelinfo.compile.processes import Processes
from kernelinfo.compile.sources import compile_twice
from kernelinfo.errors import CompilerError, Message, ReadError, UnknownTargetError
from kernelinfo.hardware.targets import find
from kernelinfo.kernel import Item, Result
from kernelinfo.kernel.names import demangle
from kernelinfo.kernel.report import Report
from kernelinfo.reading.containers import open_bytes
from kernelinfo.reading.containers.triton import read_sidecar
from kernelinfo.reading.messages import in_file
from kernelinfo.variants.messages import say
from kernelinfo.variants.nouns import Line as Line
from kernelinfo.variants.nouns import LineLanguage as LineLanguage
from kernelinfo.variants.nouns import Origin, Variant, is_same
from kernelinfo.variants.nouns import choose_written as choose_written
from kernelinfo.variants.nouns import lines as lines
from kernelinfo.variants.nouns import measures as measures
from kernelinfo.variants.requests import AS_COMPILED, Request, fewest_waves
from kernelinfo.variants.requests import SIZES as SIZES
from kernelinfo.variants.requests import WAVES as WAVES
from kernelinfo.variants.requests import Asked as Asked

LEVELS = ("3", "2", "1", "s")
"""Levels in the order tried, until one reproduces the assembly next to the input."""


class IrModule(NamedTuple):
    """Textual IR, and the means to compile it."""

    file: Input
    text: str
    triple: str
    target_id: str
    compiler: Compiler
    processes: Processes
    reading: Options
    is_optimised: bool  # code generation alone is left
    texts: Mapping[str, str]  # of its functions and variables, by symbol

    @property
    def drivers(self) -> dict[str, tuple[str, ...]]:
        """For each compiler driver that may have made the input, the LLVM options that it adds."""
        return drivers(self.text, is_optimised=self.is_optimised)

    def of_kernels(self, symbols: Collection[str]) -> IrModule:
        """The module, changed so that the compiler first drops all kernels but those named by
        `symbols`. The same module if there are no others, or for optimised IR, in which no pass
        would drop them."""
        if self.is_optimised or {kernel.symbol for kernel in ir.definitions(self.text)} <= {
            *symbols
        }:
            return self
        return self._replace(text=ir.without_other_kernels(self.text, symbols))

    def compile(
        self, changes: Mapping[str, Mapping[str, str]], level: str, options: tuple[str, ...]
    ) -> dict[str, Result]:
        """The kernels by symbol, compiled with changed attributes, which are given as symbol →
        attribute name → value.

        `level` is `3` of -O3. Raises `CompilerError` or `ReadError`.
        """
        build = (self.triple, self.target_id, level, *options)
        command = self.compiler.to_assembly(*build, is_optimised=self.is_optimised)
        text = ir.with_attributes(self.text, changes)
        assembly = self.processes.run(command, text.encode("utf-8", "surrogateescape"))
        # Named like the file of the same compilation, so that Triton's JSON next to it is read.
        blobs = open_bytes(assembly, self.file.assembly)
        results = by_symbol(Analysis(self.reading).analyse_path(self.file.assembly, blobs))
        return {symbol: self._named(result) for symbol, result in results.items()}

    def _named(self, result: Result) -> Result:
        """The result, with the IR's path in place of the assembly's, which has no file."""
        code_object = result.kernel.code_object._replace(path=self.file.path)
        return result._replace(kernel=result.kernel._replace(code_object=code_object))


def by_symbol(items: Iterable[Item]) -> dict[str, Result]:
    """Symbol → kernel. Raises `ReadError` if an item is a problem."""
    report = Report.of(items)
    for problem in report.problems:
        raise ReadError(problem.located)
    return {result.kernel.symbol: result for result in report.results}


def open_module(
    file: Input, compiler: Compiler, processes: Processes, options: Options
) -> IrModule:
    """The module in `file`. `options.arch` is the target if the IR states none.

    Raises `ReadError` if it is not a module for AMD GPUs with kernels.
    """
    text, triple = read_ir(file, compiler, processes)
    if not any(ir.definitions(text)):
        if file.compiled:
            raise ReadError(in_file(file.path, say_of_sources("source-without-kernels")))
        raise ReadError(say("module-without-kernels", path=file.path))
    target_id = ir.target_id(text) or options.arch
    if target_id is None and (sidecar := read_sidecar(file.assembly)):  # Triton's JSON
        target_id = sidecar.arch
    if target_id is None:
        raise ReadError(say("module-without-target", path=file.path))
    try:
        find(target_id.partition(":")[0])
    except UnknownTargetError as error:
        raise ReadError(in_file(file.path, error.message)) from None
    reading = options._replace(arch=None)
    work = (triple, target_id, compiler, processes, reading, file.is_optimised)
    return IrModule(file, text, *work, ir.definition_texts(text))


def merge_options(request: Request, settings: Settings) -> tuple[Request, Settings]:
    """The request and the settings; each gets the level and the LLVM options of both."""
    level = (f"-O{request.level}",) if request.level else ()
    llvm = (word for option in request.options for word in ("-mllvm", option))
    flags = (*settings.flags, *level, *llvm)
    stated, options, _ = parse_ir_flags(flags)
    level_of = {"fast": "3", "g": "1"}
    request = request._replace(level=level_of.get(stated, stated), options=tuple(options))
    return request, settings._replace(flags=flags)


def clang_of(file: Input) -> str | None:
    """The clang that made the IR of a source; None if hipcc made it."""
    command = file.compiled.command if file.compiled else ()
    return command[0] if command and "clang" in os.path.basename(command[0]) else None


def names_kernels(request: Request, options: Options) -> bool:
    """True if the user names kernels, without a condition that only compiled kernels can answer."""
    return bool(request.kernel or options.kernels) and options.where is None


def compile_to_ir(
    path: str, request: Request, options: Options, settings: Settings, processes: Processes
) -> tuple[Input, Request]:
    """The IR of a source, and the request extended by the level and the LLVM options of the flags.

    Raises `CompilerError` with the compiler's message.
    """
    is_of_one = names_kernels(request, options)
    request, settings = merge_options(request, settings)
    ((compiled, made),) = compile_twice([path], settings, processes, is_of_one=is_of_one)
    if made is None:
        raise CompilerError(
            say("module-not-compiled", told=compiled.messages, reason=compiled.error)
        )
    return made, request


class Baseline(NamedTuple):
    """A module, how to compile it, and its unchanged kernels."""

    module: IrModule
    level: str  # `3` of -O3
    level_from: Origin  # an option, the first that reproduces the assembly, or assumed
    driver: str  # `clang` or `hipcc`
    options: tuple[str, ...]  # LLVM options of the driver and of the user
    compiled: Mapping[str, Variant]  # symbol → kernel as compiled

    def variants(self, change: Asked, symbols: Iterable[str]) -> dict[str, Variant]:
        """Symbol → kernel, all changed in one compilation."""
        changes = {symbol: self.attributes(change, symbol) for symbol in symbols}
        options = (*self.options, *change.options)
        return _variants(self._read_for(change), change, changes, self.level, options)

    def _read_for(self, change: Asked) -> IrModule:
        """The module, for reading variants with this change. A launch bound above the compiled
        launch does not make the host launch more workitems, so kernels whose bound is raised keep
        the compiled launch."""
        sizes = []
        for symbol, variant in self.compiled.items():
            if variant.result and (resident := variant.result.occupancy):
                size = resident.launch.workgroup_size
                sizes += [(symbol, size)] if size < (change.launch_bounds or 0) else []
        reading = self.module.reading
        sizes += reading.workgroup_sizes
        return self.module._replace(reading=reading._replace(workgroup_sizes=tuple(sizes)))

    def attributes(self, change: Asked, symbol: str) -> dict[str, str]:
        """Attribute name → value of a change of one kernel."""
        return change.attributes(has_required_size=self.required_size(symbol) is not None)

    def has(self, symbol: str, variant: Variant) -> bool:
        """True if this kernel gets the same variant when it alone is changed, and not several
        kernels."""
        if (result := variant.result) is None:
            return False
        options = (*self.options, *variant.asked.options)
        changes = {symbol: self.attributes(variant.asked, symbol)}
        module = self._read_for(variant.asked)
        made = compile_optimised(module, changes, self.level, options, [result])
        alone = made.get(symbol) or self.variants(variant.asked, [symbol])[symbol].result
        return is_same(alone, result)

    def required_size(self, symbol: str) -> int | None:
        """Workitems of the workgroup that a kernel's source requires; None if it does not."""
        result = self.compiled[symbol].result
        size = result.kernel.numbers.required_workgroup if result else None
        return prod(size) if size else None

    def differs(self, symbol: str, result: Result | None) -> bool:
        """True if the unchanged kernel's numbers differ from those of `result`."""
        return not is_same(self.compiled[symbol].result, result)


def baseline(module: IrModule, request: Request, reference: Mapping[str, Result]) -> Baseline:
    """The first way to compile the module that reproduces the kernels of `reference`; otherwise
    -O3.

    `reference` has the kernels of the build's own assembly by symbol; it is empty without one.
    """
    is_asked = request.level is not None and module.file.compiled is None
    origin: Origin = "option" if is_asked else "reproduced"
    levels = LEVELS if reference and not module.is_optimised else LEVELS[:1]
    driver = module.file.compiled.driver if module.file.compiled else ""
    first = [driver] if driver in module.drivers else [*module.drivers][:1]
    drivers = [*module.drivers] if reference else first
    symbols = {kernel.symbol: dict[str, str]() for kernel in ir.definitions(module.text)}
    tried = []
    for level, driver in product((request.level,) if request.level else levels, drivers):
        options = (*module.drivers[driver], *request.options)
        compiled = _variants(module, AS_COMPILED, symbols, level, options)
        made = Baseline(module, level, origin, driver, options, compiled)
        common = [symbol for symbol in reference if symbol in compiled and compiled[symbol].result]
        if common and not differences(reference, compiled):
            return made
        tried.append(made)
    return tried[0]._replace(level_from="option" if request.level else "assumed")


def leave_out_others(
    module: IrModule,
    request: Request,
    reference: Mapping[str, Result],
    symbols: Iterable[str],
    whole: Baseline | None = None,
) -> tuple[Baseline, tuple[Message, ...]]:
    """The baseline of the kernels named by `symbols`, compiled without the module's other kernels,
    and notes.

    If their numbers may depend on the other kernels, the two are compared. If they do depend on
    them, the result is the baseline of the whole module, and a note says so. `whole` is that
    baseline if it is compiled already.
    """
    part = module.of_kernels(symbols := tuple(symbols))
    if part is module:
        return whole or baseline(module, request, reference), ()
    alone = baseline(part, request, reference)
    expected = reference
    if not reference and whole is None:
        changes = {symbol: dict[str, str]() for symbol in symbols}
        results = [alone.compiled[symbol].result for symbol in symbols]
        likely = [*filter(None, results)]
        is_sure = len(likely) == len(symbols) and not any(
            may_depend_on_others(module, symbols, alone.options, result) for result in likely
        )
        if is_sure and not shares_definitions(module, symbols, alone.options):
            return alone, ()
        expected = compile_optimised(module, changes, alone.level, alone.options, likely)
    if not any(alone.differs(symbol, expected.get(symbol)) for symbol in symbols):
        return alone, ()
    whole = whole or baseline(module, request, reference)
    if (alone.level, alone.driver) != (whole.level, whole.driver):
        compiled = whole._replace(module=part).variants(AS_COMPILED, symbols)
        alone = alone._replace(compiled=compiled)
    alone = whole._replace(module=part, compiled=alone.compiled)
    for symbol in symbols:
        result = whole.compiled[symbol].result
        if result and alone.differs(symbol, result):
            moved = differences({symbol: result}, alone.compiled).get(symbol) or say("sweep-code")
            return whole, (say("sweep-whole", name=demangle(symbol), difference=moved),)
    return alone, ()


def compile_optimised(
    module: IrModule,
    changes: Mapping[str, Mapping[str, str]],
    level: str,
    options: tuple[str, ...],
    likely: Sequence[Result] = (),
) -> dict[str, Result]:
    """The kernels named by `changes`, as the whole module gives them; empty if they cannot be
    compiled in this way.

    All kernels are optimised, which takes much less time than code generation. Then code is
    generated only for the kernels on which the named ones may depend. `changes` and `options` are
    those of `IrModule.compile`, `likely` are the named kernels from a compilation of fewer kernels.
    """
    if module.compiler.is_llvmlite or module.is_optimised:
        return {}
    try:
        build = (module.triple, module.target_id, level, *options)
        data = ir.with_attributes(module.text, changes).encode("utf-8", "surrogateescape")
        command = module.compiler.to_optimised(*build)
        text = module.processes.run(command, data).decode("utf-8", "surrogateescape")
        optimised = module._replace(is_optimised=True)
        needed = _needed_kernels(module, likely, options) or tuple(changes)
        part = optimised._replace(text=ir.without_bodies(text, needed))
        compiled = part.compile({}, level, options)
        made = {symbol: compiled[symbol] for symbol in changes}
    except (CompilerError, ReadError, KeyError):
        return {}
    return made


def shares_definitions(
    module: IrModule, symbols: Collection[str], options: tuple[str, ...]
) -> bool:
    """True if the kernels of `symbols` share definitions with other kernels that optimisation may
    treat differently without those: functions that need not be inlined, and variables that code may
    write."""
    every = {kernel.symbol for kernel in ir.definitions(module.text)}
    others = ir.reached(module.texts, every.difference(symbols))
    inlines_all = INLINE_ALL in options
    return any(
        ir.is_variable(text) or ir.may_stay_called(text, inlines_all=inlines_all)
        for symbol, text in ir.reached(module.texts, symbols).items()
        if symbol in others
    )


def may_depend_on_others(
    module: IrModule, symbols: Collection[str], options: tuple[str, ...], result: Result | None
) -> bool:
    """True if code generation may give a kernel other numbers when the whole module is compiled, or
    when it is changed together with the other kernels of `symbols`."""
    if result is None or result.kernel.target is None:
        return False
    if len(symbols) > 1:
        return _calls(result) or _may_spill_others(module, result)
    return bool(_needed_kernels(module, [result], options))


def _needed_kernels(
    module: IrModule, results: Sequence[Result], options: tuple[str, ...]
) -> tuple[str, ...]:
    """The symbols of the kernels on which code generation of `results` may depend, in order; empty
    if it depends on no others.

    Functions that kernels call take attributes of all their callers (LLVM AMDGPUAttributor.cpp).
    """
    symbols = tuple(kernel.symbol for kernel in ir.definitions(module.text))
    if any(map(_calls, results)):
        return symbols
    spilling = [result for result in results if _may_spill_others(module, result)]
    places = [symbols.index(result.kernel.symbol) for result in spilling]
    before = symbols[: max(places, default=-1) + 1]
    return before if _may_use_agprs(module, before[:-1], options, results) else ()


_INDEPENDENT = 22
"""The first clang of which no kernel was seen to depend on those before it in its module."""


def _may_spill_others(module: IrModule, result: Result) -> bool:
    """True if the spills of a kernel may depend on kernels before it that may use AGPRs.

    clang 15 and 19 keep using the register classes of such an earlier kernel on targets whose
    register file holds both VGPRs and AGPRs (LLVM RegisterClassInfo.cpp, compute: ProperSubClass is
    never reset).
    """
    version = major_version(module.compiler.version) or 0
    target = result.kernel.target
    is_shared = target is not None and target.agprs.file == "unified"
    return bool(result.kernel.numbers.vgpr_spills) and is_shared and version < _INDEPENDENT


def _may_use_agprs(
    module: IrModule,
    symbols: Collection[str],
    options: tuple[str, ...],
    results: Sequence[Result],
) -> bool:
    """True if one of the kernels may use AGPRs: because of its code, or because it may run with
    one wave/SIMD, which has more registers than VGPRs can address. `results` are kernels of the
    module."""
    declared = ir.attributes(module.text, (WAVES, SIZES)) if symbols else {}
    for symbol in symbols:
        sizes, waves = (declared[symbol].get(name, "").split(",") for name in (SIZES, WAVES))
        largest = int(sizes[-1][:9]) if sizes[-1][:9].isdecimal() else 1024
        stated = int(waves[0][:9]) if waves[0][:9].isdecimal() else 0
        if max(fewest_waves(results[0], largest) or 1, stated) < 2:
            return True
    inlines_all = INLINE_ALL in options
    return any(
        ir.may_use_agprs(text) or ir.may_stay_called(text, inlines_all=inlines_all)
        for text in ir.reached(module.texts, symbols).values()
    )


def _calls(result: Result) -> bool:
    return result.kernel.code is not None and bool(result.kernel.code.calls)


def differences(reference: Mapping[str, Result], compiled: Mapping[str, Variant]) -> dict[str, str]:
    """For each symbol, how the kernel differs from that of `reference`, in words."""
    different = {}
    for symbol, old in reference.items():
        if symbol in compiled and (new := compiled[symbol].result):
            before, after = build([old, new], lambda origin: "").kernels
            if (pair := Pair(before, after)).moves:
                different[symbol] = pair.why
    return different


def _variants(
    module: IrModule,
    change: Asked,
    changes: Mapping[str, Mapping[str, str]],
    level: str,
    options: tuple[str, ...],
) -> dict[str, Variant]:
    """The kernel of each symbol in `changes`."""
    error, results = say("variant-without-kernel"), dict[str, Result]()
    try:
        results = module.compile(changes, level, options)
    except (CompilerError, ReadError) as failure:
        error = failure.message
    made = {symbol: results.get(symbol) for symbol in changes}
    return {s: Variant(change, result, None if result else error) for s, result in made.items()}
