"""Kernels compiled for other occupancies, launch bounds and scheduling strategies.

IR file -> text -> function attributes edited -> the user's compiler -> assembly -> kernels.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping
from itertools import product
from math import prod
from typing import NamedTuple

from kernelinfo.analysis import Analysis
from kernelinfo.analysis.options import Options
from kernelinfo.compare.changes import Pair
from kernelinfo.compare.summary import build
from kernelinfo.compile import Settings, ir
from kernelinfo.compile.compilers import (
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
from kernelinfo.variants.requests import AS_COMPILED
from kernelinfo.variants.requests import SIZES as SIZES
from kernelinfo.variants.requests import WAVES as WAVES
from kernelinfo.variants.requests import Asked as Asked
from kernelinfo.variants.requests import Request as Request

LEVELS = ("3", "2", "1", "s")
"""Levels in the order tried, until one reproduces the assembly next to the input."""


_ONE_WAVE = 256
"""The most workitems that may run as one wave/SIMD: 4 SIMDs of waves of 64 lanes."""


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

    def shared(self, symbols: Collection[str]) -> tuple[str, ...]:
        """Texts of the functions and variables that the kernels share with others."""
        every = {kernel.symbol for kernel in ir.definitions(self.text)}
        return ir.shared(self.texts, symbols, every.difference(symbols))

    def with_stand_in(self, symbols: Collection[str]) -> IrModule:
        """The module, with a stand-in for all kernels but those named by `symbols`. The stand-in
        may use AGPRs if a kernel that it replaces may, and comes before the last of `symbols`."""
        part = self.of_kernels(symbols)
        text = ir.with_stand_in(part.text, symbols, self.shared(symbols))
        size = _ONE_WAVE if self.has_agprs_before(symbols) else 1024
        declared = {ir.STAND_IN: {SIZES: f"1,{size}", WAVES: "1"}}
        return part._replace(text=ir.with_attributes(text, declared))

    def has_agprs_before(self, symbols: Collection[str]) -> bool:
        """True if other kernels, before the last one of `symbols`, may use AGPRs: because of their
        code, or because they may run with one wave/SIMD, which has more registers than VGPRs can
        address."""
        every = [kernel.symbol for kernel in ir.definitions(self.text)]
        others = {*every[: max(map(every.index, symbols))]}.difference(symbols)
        declared = ir.attributes(self.text, (SIZES,))
        sizes = [declared[symbol].get(SIZES, "").rpartition(",")[2][:9] for symbol in others]
        return any(size.isdecimal() and int(size) <= _ONE_WAVE for size in sizes) or any(
            map(ir.may_use_agprs, ir.reached(self.texts, others).values())
        )

    def compile(
        self, changes: Mapping[str, Mapping[str, str]], level: str, options: tuple[str, ...]
    ) -> dict[str, Result]:
        """The kernels by symbol, compiled with changed attributes, which are given as symbol →
        attribute name → value.

        `level` is `3` for -O3. Raises `CompilerError` or `ReadError`.
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

    def has(self, symbol: str, variant: Variant, *, is_alone: bool) -> bool:
        """True if this kernel gets the same variant when no other kernel is changed with it.

        With `is_alone`, the variant was compiled without the module's other kernels; then they are
        not compiled here, either, and the result is False if the variant may depend on them.
        """
        module = self.module
        parts = [module.with_stand_in([symbol])]
        parts += [] if is_alone else [module.of_kernels([symbol])]
        if not may_call_any(module, [symbol], [variant.result]) and all(
            self._makes(part, symbol, variant) for part in parts
        ):
            return True
        return not is_alone and self._makes(module, symbol, variant)

    def _makes(self, module: IrModule, symbol: str, variant: Variant) -> bool:
        """True if the variant is the same in a module in which only this kernel is changed."""
        made = self._replace(module=module).variants(variant.asked, [symbol])
        return is_same(made[symbol].result, variant.result)

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
    """(baseline, notes) of the kernels named by `symbols`, compiled without the module's others.

    `whole` is the baseline of the whole module if it is compiled already. Kernels that differ from
    `reference`, or from `whole` if there is no reference, are compared with the whole module. If
    they differ from that, too, its baseline is the result, and a note says so.

    With neither `reference` nor `whole`, the kernels may be compiled once more, next to a stand-in
    for the others. If that changes a kernel, this second compilation is the result, and a note says
    that the whole module may give other numbers. The note is also given if the kernels may call any
    function.
    """
    part = module.of_kernels(symbols := tuple(symbols))
    if part is module:
        return whole or baseline(module, request, reference), ()
    alone = baseline(part, request, reference)
    if not reference and whole is None:
        results = [alone.compiled[symbol].result for symbol in symbols]
        depends = (may_depend_on_others(module, symbols, result) for result in results)
        if not module.shared(symbols) and not any(depends):
            return alone, ()
        beside = alone._replace(module=module.with_stand_in(symbols))
        beside = beside._replace(compiled=beside.variants(AS_COMPILED, symbols))
        unlike = [
            symbol for symbol, r in zip(symbols, results, strict=True) if beside.differs(symbol, r)
        ]
        if not unlike and not may_call_any(module, symbols, results):
            return alone, ()
        is_compiled = unlike and all(variant.result for variant in beside.compiled.values())
        return (beside if is_compiled else alone), (say("sweep-alone"),)
    compiled = whole.compiled if whole else {}
    made = {symbol: variant.result for symbol, variant in compiled.items()}
    if not any(alone.differs(s, reference.get(s) if reference else made[s]) for s in symbols):
        return alone, ()
    whole = whole or baseline(module, request, reference)
    if (alone.level, alone.driver) != (whole.level, whole.driver):
        again = whole._replace(module=part).variants(AS_COMPILED, symbols)
        alone = alone._replace(compiled=again)
    alone = whole._replace(module=part, compiled=alone.compiled)
    for symbol in symbols:
        result = whole.compiled[symbol].result
        if result and alone.differs(symbol, result):
            moved = differences({symbol: result}, alone.compiled).get(symbol) or say("sweep-code")
            return whole, (say("sweep-whole", name=demangle(symbol), difference=moved),)
    return alone, ()


def may_depend_on_others(module: IrModule, symbols: Collection[str], result: Result | None) -> bool:
    """True if code generation may give a kernel other numbers when the module's other kernels are
    left out, or others of `symbols` are changed.

    Functions that it calls take attributes of all their callers (LLVM AMDGPUAttributor.cpp).
    """
    if result is None:
        return False
    may_spill = _may_spill_others(module, result)
    return _calls(result) or (may_spill and (len(symbols) > 1 or module.has_agprs_before(symbols)))


def may_call_any(
    module: IrModule, symbols: Collection[str], results: Iterable[Result | None]
) -> bool:
    """True if the registers or LDS of the calls of kernels come from the whole module."""
    return any(r and _calls(r) for r in results) and ir.is_open(ir.reached(module.texts, symbols))


_INDEPENDENT = 22
"""Major version of the first clang with which no kernel was seen to depend on the kernels before
it in its module."""


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
