"""Registers live at each instruction: text -> instructions -> flow -> liveness -> story.

This module holds what reports ask of code; it imports the readers only when code is read.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import kernelinfo.analysis as analysis
from kernelinfo.analysis.options import Options
from kernelinfo.kernel import Item, Kernel
from kernelinfo.reading.blob import Blob

if TYPE_CHECKING:
    from kernelinfo.analysis.options import CodeAndRemarks, ReadCode
    from kernelinfo.kernel.report import Report


def analyse(paths: Iterable[str], options: Options, *, required: bool = True) -> Iterator[Item]:
    """Results, repeats, problems and notes of the paths, in the order of reading.

    If kernels are `required`, a path without any is a problem. A path whose kernels are all
    filtered out is a problem only if the other paths have no chosen kernel either. Raises
    `UnknownTargetError` for an unknown target in `options`.
    """
    return analysis.analyse(paths, _as_reports(options), required=required)


def load(source: str | os.PathLike[str] | bytes, options: Options | None = None) -> Report:
    """The report of one path, or of the bytes of one code object or assembly.

    Raises `KernelinfoError` at the first problem: the report is whole or not returned.
    """
    return analysis.load(source, _as_reports(options or Options()))


def _as_reports(options: Options) -> Options:
    """The options, extended so that code is read for the rules, as `report` does."""
    if options.read_for_rules:
        return options
    return options._replace(read_for_rules=code_for_rules)


def with_instructions(options: Options) -> Options:
    """The options, such that the analysis also counts the instructions of each kernel."""
    return options._replace(count_instructions=_code_reader())


def code_for_rules(blob: Blob, kernels: Sequence[Kernel]) -> CodeAndRemarks | None:
    """The kernels of an assembly text with what rules read in their code: the registers that the
    code touches, unless a compiler stamped the text and so has counted them; and the loops of each
    kernel that may copy between VGPRs and AGPRs in a loop with matrix instructions.

    None without kernels, and for anything but assembly.
    """
    if not kernels or kernels[0].code_object.kind != "assembly":
        return None
    return _code_in_text(blob, kernels, [not kernel.code_object.stamps for kernel in kernels]), []


def code_of_one(blob: Blob, kernels: Sequence[Kernel]) -> CodeAndRemarks:
    """The kernels with the registers that they touch, and their loops as in `code_for_rules`.

    All kernels of an assembly text are read. Of a code object, a single kernel is read, and stays
    unchanged if no llvm-objdump is installed; for several kernels the result is empty.
    """
    if kernels and kernels[0].code_object.kind == "assembly":
        return _code_in_text(blob, kernels, [True] * len(kernels)), []
    if len(kernels) != 1:
        return [], []
    read, _ = _code_reader()(blob, kernels)
    return [kernel._replace(instructions=None) for kernel in read], []


def _code_in_text(
    blob: Blob, kernels: Sequence[Kernel], are_touches_asked: Sequence[bool]
) -> list[Kernel]:
    from kernelinfo.pressure.prescan import ScannedText  # few reports need it

    text = ScannedText(blob.data.read())
    scanned: list[Kernel] = []
    closer: dict[int, Kernel] = {}
    for number, (kernel, is_asked) in enumerate(zip(kernels, are_touches_asked, strict=True)):
        symbol, line = kernel.symbol, kernel.line
        touches = text.touched(symbol, line) if is_asked and line else None
        scanned.append(kernel._replace(touched=touches))
        if (is_asked and not touches) or (line and text.may_copy_in_matrix_loop(symbol, line)):
            closer[number] = kernel
    if closer:
        read, _ = _code_reader()(blob, [*closer.values()])
        for number, kernel in zip(closer, read, strict=True):
            touches = kernel.touched if are_touches_asked[number] else None
            scanned[number] = kernel._replace(instructions=None, touched=touches)
    return scanned


def _code_reader() -> ReadCode:
    # 20 modules that nothing else of a report needs.
    from kernelinfo.pressure.measure import count_instructions

    return count_instructions
