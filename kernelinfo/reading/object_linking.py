"""Numbers of kernels in unlinked code: each function's own, combined along the calls.

With `-amdgpu-enable-object-linking`, descriptors and metadata count a function without its callees
and without LDS, which the linker places. The section `.amdgpu.info`, or the directive
`.amdgpu_info` in assembly, tells the linker the rest.
Source: llvm/include/llvm/Support/AMDGPUObjLinkingInfo.h, LLVM 24git.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from kernelinfo.hardware.targets import Target, extra_sgprs, total_vgprs
from kernelinfo.reading.facts import NOTHING, KernelFacts, Numbers, StatedNumbers
from kernelinfo.reading.messages import say

NOTE = say("object-not-linked")
_MOST_CALLS = 1 << 20
"""Most calls to follow in one object, summed over its kernels. Real code inlines nearly all."""
_VCC, _FLAT_SCRATCH, _DYNAMIC_STACK = 1, 2, 4
_REPLACED: Mapping[str, None] = dict.fromkeys(
    (
        *("vgprs", "arch_vgprs", "agprs", "sgprs", "lds_bytes", "scratch_bytes_per_lane"),
        *("reserved_vgprs", "least_reserved_vgprs", "accum_offset", "reserved_sgprs"),
        *("dynamic_stack", "compiler_waves_per_simd"),
    )
)
"""Numbers that descriptors, metadata and kernel info count without callees."""
_UNKNOWN = Numbers(indirect_call=True)  # for a kernel that the linking info does not list


class LinkedFunction:
    """Linking info of one function, callees excluded."""

    def __init__(self, *, is_open: bool = False) -> None:
        self.flags = 0
        """Bits: 1 VCC, 2 flat scratch, 4 dynamic stack."""
        self.vgprs = self.agprs = self.sgprs = 0
        self.scratch = 0
        """Bytes per lane."""
        self.uses: dict[str, int] = {}
        """LDS variables: bytes by name."""
        self.calls: list[str] = []
        self.is_open = is_open
        """True if its callees or LDS variables are not all known."""


def with_callees(
    kernels: Iterable[KernelFacts],
    functions: Mapping[str, LinkedFunction],
    target: Target | None,
    *,
    xnack: bool,
) -> list[KernelFacts]:
    """The kernels with numbers that include their callees, in place of those that do not.

    `functions` holds one object's functions by name. `xnack` is True if the code may run with
    XNACK on.
    """
    left = _MOST_CALLS
    linked = []
    for kernel in kernels:
        numbers = _UNKNOWN
        if kernel.symbol in functions:
            numbers, calls = _reached(functions, kernel.symbol, left, target, xnack=xnack)
            left -= calls
        alone = ((source, counts._replace(**_REPLACED)) for source, counts in kernel.stated)
        stated: list[StatedNumbers] = [("linking-info", numbers)]
        stated += [(source, counts) for source, counts in alone if counts != NOTHING]
        linked.append(kernel._replace(stated=tuple(stated)))
    return linked


def _reached(
    functions: Mapping[str, LinkedFunction],
    name: str,
    limit: int,
    target: Target | None,
    *,
    xnack: bool,
) -> tuple[Numbers, int]:
    """Numbers of the function `name` with all functions that it reaches, open beyond `limit` calls;
    and the calls of all of them, with one more for each function."""
    reached: dict[str, LinkedFunction] = {}
    scratch: dict[str, int] = {}
    """Bytes per lane along the deepest path, by each finished function's name."""
    is_open = is_recursive = False
    calls = 0
    waiting = [name]
    while waiting:
        current = waiting[-1]
        function = functions.get(current)
        if function is None or current in scratch:
            is_open |= function is None
            waiting.pop()
        elif current in reached:
            deepest = max((scratch.get(callee, 0) for callee in function.calls), default=0)
            scratch[current] = function.scratch + deepest
            waiting.pop()
        else:
            reached[current] = function
            calls += 1 + len(function.calls)
            is_open |= function.is_open or calls > limit
            # A function that is reached but not finished is a caller of this one.
            is_recursive |= any(c in reached and c not in scratch for c in function.calls)
            if calls <= limit:
                waiting += [callee for callee in function.calls if callee not in reached]
    numbers = _together(reached.values(), target, xnack=xnack)
    numbers = numbers._replace(
        scratch_bytes_per_lane=scratch[name],
        dynamic_stack=numbers.dynamic_stack or is_recursive,
        recursion=is_recursive or None,
        indirect_call=is_open or None,
    )
    return numbers, calls


def _together(
    functions: Collection[LinkedFunction], target: Target | None, *, xnack: bool
) -> Numbers:
    """Registers, LDS and flags that all of the functions together need."""
    flags = 0
    lds: dict[str, int] = {}
    for function in functions:
        flags |= function.flags
        lds |= function.uses
    vgprs = max(function.vgprs for function in functions)
    agprs = max(function.agprs for function in functions)
    sgprs = max(function.sgprs for function in functions)
    if target is not None:
        vcc, flat = bool(flags & _VCC), bool(flags & _FLAT_SCRATCH)
        flat |= target.sgprs.architected_flat_scratch
        sgprs += extra_sgprs(target, vcc=vcc, flat_scratch=flat, xnack=xnack)
        vgprs = total_vgprs(target, vgprs, agprs)
    return Numbers(
        vgprs=vgprs,
        agprs=agprs,
        sgprs=sgprs,
        lds_bytes=sum(lds.values()),
        dynamic_stack=bool(flags & _DYNAMIC_STACK),
    )
