"""Registers live at each instruction: text -> instructions -> flow -> liveness -> story.

What reports ask of code stands here, and imports its readers only for code that is read.
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
    from kernelinfo.kernel.code_object import InstructionCounts
    from kernelinfo.kernel.report import Report
    from kernelinfo.kernel.touched import TouchedRegisters


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
    """The options, with the registers that hand-written code touches, as `report` has them."""
    if options.find_touched:
        return options
    return options._replace(find_touched=touched_in_unstamped)


def with_instructions(options: Options) -> Options:
    """The options of an analysis that also counts the instructions of each kernel."""
    return options._replace(count_instructions=_code_reader())


def touched_in_unstamped(blob: Blob, kernels: Sequence[Kernel]) -> CodeAndRemarks | None:
    """The registers that kernels of a text touch that no compiler stamped; None for other code,
    whose compiler counted them."""
    if not kernels or kernels[0].code_object.kind != "assembly" or kernels[0].code_object.stamps:
        return None
    return _touched_in_text(blob, kernels), []


def touched_in_explained(blob: Blob, kernels: Sequence[Kernel]) -> CodeAndRemarks:
    """The registers that kernels of a text touch; those of a code object if only one is chosen,
    and unknown without an llvm-objdump."""
    if kernels and kernels[0].code_object.kind == "assembly":
        return _touched_in_text(blob, kernels), []
    if len(kernels) != 1:
        return [], []
    code, _ = _code_reader()(blob, kernels)
    return [(None, touches) for _, touches in code], []


def _touched_in_text(
    blob: Blob, kernels: Sequence[Kernel]
) -> list[tuple[InstructionCounts | None, TouchedRegisters | None]]:
    from kernelinfo.pressure.prescan import ScannedText  # few reports need it

    text = ScannedText(blob.data.read())
    scanned = [kernel.line and text.touched(kernel.symbol, kernel.line) for kernel in kernels]
    if not all(scanned):
        closer = [kernel for kernel, touches in zip(kernels, scanned, strict=True) if not touches]
        code, _ = _code_reader()(blob, closer)
        looked_at = iter(code)
        scanned = [touches or next(looked_at)[1] for touches in scanned]
    return [(None, touches or None) for touches in scanned]


def _code_reader() -> ReadCode:
    # 20 modules that nothing else of a report needs.
    from kernelinfo.pressure.kernel_code import count_instructions

    return count_instructions
