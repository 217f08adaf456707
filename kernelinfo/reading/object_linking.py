"""What code that is linked later states of each function alone, put together along its calls.

Compiled with `-amdgpu-enable-object-linking`, an object's descriptors and metadata speak of each
function alone, without what it calls and without LDS, which the linker places. The section
`.amdgpu.info`, and in assembly the directive `.amdgpu_info`, have what the linker needs.
llvm/include/llvm/Support/AMDGPUObjLinkingInfo.h, as LLVM 24git writes it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from kernelinfo.occupancy.placement import extra_sgprs, total_vgprs
from kernelinfo.occupancy.targets import Target
from kernelinfo.reading.facts import NOTHING, KernelFacts, Numbers, Stated

NOTE = "is not linked yet: numbers are of what each kernel reaches in this object; link for all"
_MOST_CALLS = 1 << 20
"""That are followed in one object, for each kernel anew; real ones are inlined but for a few."""
_VCC, _FLAT_SCRATCH, _DYNAMIC_STACK = 1, 2, 4
_REPLACED: Mapping[str, None] = dict.fromkeys(
    (
        *("vgprs", "arch_vgprs", "agprs", "sgprs", "lds_bytes", "scratch_bytes_per_lane"),
        *("reserved_vgprs", "least_reserved_vgprs", "accum_offset", "reserved_sgprs"),
        *("dynamic_stack", "compiler_waves_per_simd"),
    )
)
"""What descriptors, metadata and kernel info state of one function alone."""
_UNKNOWN = Numbers(indirect_call=True)  # of a kernel of which nothing is stated


class Function:
    """What is stated of one function alone."""

    def __init__(self, *, is_open: bool = False) -> None:
        self.flags = 0
        """1 VCC, 2 flat scratch, 4 dynamic stack."""
        self.vgprs = self.agprs = self.sgprs = 0
        self.scratch = 0
        """Bytes per lane."""
        self.uses: dict[str, int] = {}
        """Bytes of LDS variables, by name."""
        self.calls: list[str] = []
        self.is_open = is_open
        """Whether it calls what is not known."""


class _Reach(NamedTuple):
    """A function with everything that it reaches."""

    functions: Collection[Function]
    scratch: int  # bytes per lane along the deepest path of calls
    is_open: bool
    is_recursive: bool


def with_callees(
    kernels: Iterable[KernelFacts],
    functions: Mapping[str, Function],
    target: Target | None,
    *,
    xnack: bool,
) -> list[KernelFacts]:
    """The kernels, each with what all that it calls states instead of what is stated of it alone;
    `functions` are those of one object, by name."""
    calls = _Calls(functions)
    found = []
    for kernel in kernels:
        numbers = _UNKNOWN
        if kernel.symbol in functions:
            numbers = _numbers(calls.reach(kernel.symbol), target, xnack=xnack)
        own = ((source, alone._replace(**_REPLACED)) for source, alone in kernel.stated)
        linked: Stated = "linking-info", numbers
        stated = (linked, *(one for one in own if one[1] != NOTHING))
        found.append(kernel._replace(stated=stated))
    return found


class _Calls:
    """Who calls whom in one object."""

    def __init__(self, functions: Mapping[str, Function]) -> None:
        self._functions = functions
        self._left = _MOST_CALLS

    def reach(self, name: str) -> _Reach:
        """All that a function calls, itself included; open beyond the most calls."""
        reached: dict[str, Function] = {}
        scratch: dict[str, int] = {}
        """Along the deepest path, of functions whose callees are known."""
        is_open = is_recursive = False
        waiting = [name]
        while waiting:
            current = waiting[-1]
            function = self._functions.get(current)
            if function is None or current in scratch:
                is_open |= function is None
                waiting.pop()
            elif current in reached:
                deepest = max((scratch.get(callee, 0) for callee in function.calls), default=0)
                scratch[current] = function.scratch + deepest
                waiting.pop()
            else:
                reached[current] = function
                self._left -= 1 + len(function.calls)
                is_open |= function.is_open or self._left < 0
                # One that is reached and not done is a caller of this one.
                is_recursive |= any(c in reached and c not in scratch for c in function.calls)
                if self._left >= 0:
                    waiting += [callee for callee in function.calls if callee not in reached]
        return _Reach(reached.values(), scratch[name], is_open, is_recursive)


def _numbers(reach: _Reach, target: Target | None, *, xnack: bool) -> Numbers:
    flags = 0
    lds: dict[str, int] = {}
    for function in reach.functions:
        flags |= function.flags
        lds |= function.uses
    vgprs = max(function.vgprs for function in reach.functions)
    agprs = max(function.agprs for function in reach.functions)
    sgprs = max(function.sgprs for function in reach.functions)
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
        scratch_bytes_per_lane=reach.scratch,
        dynamic_stack=bool(flags & _DYNAMIC_STACK) or reach.is_recursive,
        recursion=reach.is_recursive or None,
        indirect_call=reach.is_open or None,
    )
