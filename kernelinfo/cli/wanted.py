"""Options of an analysis, from options of the command line."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from kernelinfo.analysis.options import Options
from kernelinfo.reading.budget import Bounds

if TYPE_CHECKING:
    from kernelinfo.kernel.condition import Where


def wanted_options(
    *,
    arch: str | None = None,
    target: list[str] | None = None,
    workgroup_size: int | None = None,
    dynamic_lds: int | None = None,
    no_trap_handler: bool = False,
    kernels: list[str] | None = None,
    exclude: list[str] | None = None,
    member: list[str] | None = None,
    where: Where | None = None,
    all_copies: bool = False,
    bound: list[Any] | None = None,
    deep: bool = False,
) -> Options:
    """The options of an analysis: choice of kernels, launch and bounds."""
    bounds = dict(bound or ()) | ({"carved": sys.maxsize} if deep else {})
    return Options(
        arch=arch,
        workgroup_size=workgroup_size,
        dynamic_lds_bytes=dynamic_lds,
        trap_handler=not no_trap_handler,
        kernels=tuple(kernels or ()),
        exclude=tuple(exclude or ()),
        targets=tuple(target or ()),
        members=tuple(member or ()),
        where=where,
        all_copies=all_copies,
        bounds=Bounds(**bounds),
    )


def with_instructions(wanted: Options) -> Options:
    """The options of an analysis that also counts the instructions of each kernel."""
    # The reader of instructions: 20 modules that nothing else of a report needs.
    from kernelinfo.pressure.kernel_counts import count_instructions

    return wanted._replace(count_instructions=count_instructions)
