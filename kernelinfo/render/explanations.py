"""Explanations of kernels, each with the live registers and loops of its code."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain, groupby, islice

from kernelinfo.analysis.options import Options
from kernelinfo.hardware.targets import Device
from kernelinfo.kernel import Finding, Kernel, Result
from kernelinfo.kernel.needs import RegisterNeeds, in_words, looser_waves, registers_in_words
from kernelinfo.pressure.measure import Look, Measured, measure_again
from kernelinfo.reading.blob import Problem
from kernelinfo.reading.paths import is_source
from kernelinfo.render import View
from kernelinfo.render import pressure as words
from kernelinfo.render.explain import KnownTexts, render_kernel
from kernelinfo.render.names import member_path, printable
from kernelinfo.render.notes import Notes, code_parts
from kernelinfo.render.pressure import in_short, shared
from kernelinfo.render.pressure.tables import in_flight_line
from kernelinfo.render.pressure.text import loops_table
from kernelinfo.rules.compilation import sweep_command
from kernelinfo.rules.waves import loses_waves


def explanations(
    results: Iterator[Result],
    view: View,
    device: Device | None,
    grid: int | None,
    ir: str | None,
    options: Options,
    tell: Callable[[Problem], object],
) -> Iterator[str]:
    """The explanation of each kernel. `ir` is the path of the LLVM IR next to the assembly; `tell`
    is called with problems of measuring."""
    first = [*islice(results, 2)]
    is_alone = len(first) == 1
    texts: KnownTexts = {}
    measured = _with_code(chain(first, results), options, is_alone, view.top or None, tell)
    for index, (result, measurement) in enumerate(measured):
        yield "\n" if index else ""
        kernel = measurement.result.kernel if measurement else result.kernel
        further = [("ask", text)] if (text := _sweep(kernel, result, ir)) else []
        notes = [*_origin(result, is_alone), *_of_code(result, measurement, view)]
        if measurement:  # with the findings on its code
            result = result._replace(findings=measurement.result.findings)
        if not view.whole:
            result = result._replace(findings=_shortly(result, kernel.needs))
        code = words.mix(measurement.story) if measurement else []
        code += code_parts(result.kernel.code, counted_before=bool(code) and not view.whole)
        yield from render_kernel(result, view, device, grid, notes, further, texts, code)
        if measurement and view.whole:
            yield "\n"
            yield from loops_table(measurement.story, view)


def _shortly(result: Result, needs: RegisterNeeds | None) -> tuple[Finding, ...]:
    """The findings, shortened: no advice in notes, no advice that the row of needs already gives,
    and no finding on padding that costs no wave (the table shows it)."""
    occupancy = result.occupancy
    needed = in_words(needs, result.kernel.traits, occupancy)
    return tuple(
        finding._replace(hint="")
        if finding.severity == "note" or (needed and needed in finding.hint)
        else finding
        for finding in result.findings
        if finding.rule != "KI208" or occupancy is None or loses_waves(occupancy)
    )


def _sweep(kernel: Kernel, result: Result, ir: str | None) -> str:
    """The command that tries other occupancies; empty if VGPRs do not limit and no register spills,
    or if there is no source or IR on this machine."""
    is_bound = result.occupancy and "vgpr" in result.occupancy.limiters
    if not is_bound and not kernel.spilled_registers:
        return ""
    source, flags = "", ""
    if not ir and not kernel.code_object.command and kernel.source:
        source = kernel.source.file if is_source(kernel.source.file) else ""
        flags = " -- FLAGS" if source else ""
    waves = looser_waves(kernel.needs, kernel.traits, result.occupancy)
    command = sweep_command(kernel, result.occupancy, ir or "", waves, source)
    return f"`{printable(command)}{flags}` " if command else ""


def _origin(result: Result, is_alone: bool) -> Notes:
    """Triton's options, and also the file or member if several kernels are explained."""
    code_object = result.kernel.code_object
    options = " ".join(f"{name}={value}" for name, value in code_object.options)
    where = "" if is_alone else member_path(code_object.path, code_object.member)
    return [
        (label, text) for label, text in (("in", where), ("options", printable(options))) if text
    ]


def _with_code(
    results: Iterator[Result],
    options: Options,
    is_alone: bool,
    most_loops: int | None,
    tell: Callable[[Problem], object],
) -> Iterator[tuple[Result, Measured | None]]:
    """(kernel, its code) of each kernel. The code is None for a code object, unless the kernel is
    the only one and llvm-objdump is installed. Each file is opened again once."""
    for origin, group in groupby(results, lambda result: result.kernel.code_object):
        kernels = [*group]
        if origin.kind == "code-object" and not is_alone:
            yield from ((result, None) for result in kernels)
            continue
        look = Look(lds=True, most_loops=most_loops)
        measured = measure_again(kernels, look, options, tell=tell)
        yield from zip(kernels, measured, strict=True)


def _of_code(result: Result, measured: Measured | None, view: View) -> Notes:
    """Lines on the peak of live registers, on what the code needs and loads, and on LDS.

    Values that hold registers are named only if VGPRs limit the occupancy. A code object states its
    LDS, so its LDS is explained only if the host may add some at launch.
    """
    if measured is None:
        return []
    unset = words.unwritten(measured) if view.whole else ""
    unwritten = [("unset", unset)] if unset else []
    if view.whole and (copies := words.copies(measured.story)):
        unwritten.append(("copies", copies))
    if line := in_flight_line(measured.story, measured.result):
        unwritten.append(("loads", line))
    needs, traits = measured.story.needs, result.kernel.traits
    if needed := registers_in_words(needs, traits, result.occupancy):
        unwritten = [("needs", needed), *unwritten]
    is_object = result.kernel.code_object.kind == "code-object"
    lds = measured.lds if not is_object or _may_launch_lds(result) else None
    lds = lds if view.whole or lds is None or lds.variables or not lds.bytes else None
    limiters = result.occupancy.limiters if result.occupancy else ()
    registers = in_short(measured.story) if view.whole else in_short(measured.story, most_idle=0)
    registers = registers if "vgpr" in limiters else registers[:1]
    return [*registers, *unwritten, *([("LDS", shared(lds))] if lds else [])]


def _may_launch_lds(result: Result) -> bool:
    """True if the host may add LDS at launch that neither the input nor the given launch states:
    the kernel reserves none and is not known to use dynamic LDS."""
    traits, occupancy = result.kernel.traits, result.occupancy
    launched = occupancy.launch.dynamic_lds_bytes if occupancy else 0
    return traits.numbers.lds_bytes == 0 and not (traits.numbers.dynamic_lds or launched)
