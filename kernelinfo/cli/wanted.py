"""Options of an analysis, from options of the command line."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kernelinfo.analysis.options import Options
from kernelinfo.kernel import Kernel
from kernelinfo.reading.blob import Blob
from kernelinfo.reading.budget import Bounds

if TYPE_CHECKING:
    from kernelinfo.analysis.options import CodeAndRemarks, ReadCode


def wanted_options(given: Mapping[str, Any]) -> Options:
    """The options of an analysis that a command's parameters state: choice of kernels, launch,
    bounds and counts. Each command has some of them, by the names here."""
    bounds = dict(given.get("bound") or ()) | ({"carved": sys.maxsize} if given.get("deep") else {})
    wanted = Options(
        arch=given.get("arch"),
        workgroup_size=given.get("workgroup_size"),
        dynamic_lds_bytes=given.get("dynamic_lds"),
        trap_handler=not given.get("no_trap_handler"),
        kernels=tuple(given.get("kernels") or ()),
        exclude=tuple(given.get("exclude") or ()),
        targets=tuple(given.get("target") or ()),
        members=tuple(given.get("member") or ()),
        where=given.get("where"),
        all_copies=given.get("all_copies", False),
        bounds=Bounds(**bounds),
    )
    return with_instructions(wanted) if given.get("instructions") else wanted


def with_instructions(wanted: Options) -> Options:
    """The options of an analysis that also counts the instructions of each kernel."""
    return wanted._replace(count_instructions=_code_readers()[0])


def touched_in_unstamped(blob: Blob, kernels: Sequence[Kernel]) -> CodeAndRemarks | None:
    """The registers that kernels of a text touch that no compiler stamped; None for other code,
    whose compiler counted them."""
    if not kernels or kernels[0].code_object.kind != "assembly" or kernels[0].code_object.stamps:
        return None
    return _code_readers()[1](blob, kernels)


def _code_readers() -> tuple[ReadCode, ReadCode]:
    # 20 modules that nothing else of a report needs.
    from kernelinfo.pressure.kernel_code import count_instructions, touched_registers

    return count_instructions, touched_registers
