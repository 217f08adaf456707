"""What code that is linked later states of each function alone, put together along its calls.

Compiled with `-amdgpu-enable-object-linking`, an object's descriptors and metadata speak of each
function alone, without what it calls and without LDS, which the linker places. The section
`.amdgpu.info`, and in assembly the directive `.amdgpu_info`, have what the linker needs.
llvm/include/llvm/Support/AMDGPUObjLinkingInfo.h, as LLVM 24git writes it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from kernelinfo.light_typing import NamedTuple
from kernelinfo.occupancy.placement import extra_sgprs, total_vgprs
from kernelinfo.occupancy.targets import Target
from kernelinfo.reading.facts import Fact, FactName, Facts, KernelFacts

NOTE = "is not linked yet: numbers are of what each kernel reaches in this object; link for all"
_MOST_CALLS = 200
"""From a kernel down; real ones are inlined but for a few."""
_VCC, _FLAT_SCRATCH, _DYNAMIC_STACK = 1, 2, 4
_REPLACED: tuple[FactName, ...] = (
    *("vgprs", "arch_vgprs", "agprs", "sgprs", "lds_bytes", "scratch_bytes_per_lane"),
    *("reserved_vgprs", "least_reserved_vgprs", "accum_offset", "reserved_sgprs", "dynamic_stack"),
    "compiler_waves_per_simd",
)
"""What descriptors, metadata and kernel info state of one function alone."""
_UNKNOWN = (Fact("indirect_call", True, "linking-info"),)
"""Of a kernel of which nothing is stated."""


@dataclass
class Function:
    """What is stated of one function alone."""

    flags: int = 0
    """1 VCC, 2 flat scratch, 4 dynamic stack."""
    sgprs: int = 0
    vgprs: int = 0
    agprs: int = 0
    scratch: int = 0
    """Bytes per lane."""
    uses: dict[str, int] = field(default_factory=dict)
    """Bytes of LDS variables, by name."""
    calls: list[str] = field(default_factory=list)
    is_open: bool = False
    """Whether it calls what is not known."""


class _Reach(NamedTuple):
    """A function with everything that it reaches."""

    functions: dict[str, Function]
    scratch: int
    """Bytes per lane along the deepest path of calls."""
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
    known: dict[str, _Reach] = {}
    found = []
    for kernel in kernels:
        facts: tuple[Fact, ...] = _UNKNOWN
        if kernel.symbol in functions:
            reach = _reach(kernel.symbol, functions, known, ())
            facts = tuple(_facts(reach, target, xnack=xnack))
        own = (fact for fact in kernel.facts if fact.name not in _REPLACED)
        found.append(kernel._replace(facts=Facts((*facts, *own))))
    return found


def _reach(
    name: str, functions: Mapping[str, Function], known: dict[str, _Reach], path: tuple[str, ...]
) -> _Reach:
    """All that a function calls; `path` are its callers."""
    if name in known:
        return known[name]
    function = functions.get(name)
    if function is None or len(path) > _MOST_CALLS:
        return _Reach({}, 0, is_open=True, is_recursive=False)
    if name in path:
        return _Reach({}, 0, is_open=False, is_recursive=True)
    callees = [_reach(callee, functions, known, (*path, name)) for callee in function.calls]
    reached = {name: function}
    for callee in callees:
        reached |= callee.functions
    reach = _Reach(
        reached,
        function.scratch + max((callee.scratch for callee in callees), default=0),
        is_open=function.is_open or any(callee.is_open for callee in callees),
        is_recursive=any(callee.is_recursive for callee in callees),
    )
    if not reach.is_recursive:  # what a cycle reaches depends on where it was entered
        known[name] = reach
    return reach


def _facts(reach: _Reach, target: Target | None, *, xnack: bool) -> Iterator[Fact]:
    functions = reach.functions.values()
    flags = 0
    lds: dict[str, int] = {}
    for function in functions:
        flags |= function.flags
        lds |= function.uses
    vgprs, agprs = (max(getattr(f, name) for f in functions) for name in ("vgprs", "agprs"))
    sgprs = max(function.sgprs for function in functions)
    if target is not None:
        vcc, flat = bool(flags & _VCC), bool(flags & _FLAT_SCRATCH)
        flat |= target.sgprs.architected_flat_scratch
        sgprs += extra_sgprs(target, vcc=vcc, flat_scratch=flat, xnack=xnack)
        vgprs = total_vgprs(target, vgprs, agprs)
    numbers: dict[FactName, int | bool] = {
        "vgprs": vgprs,
        "agprs": agprs,
        "sgprs": sgprs,
        "lds_bytes": sum(lds.values()),
        "scratch_bytes_per_lane": reach.scratch,
        "dynamic_stack": bool(flags & _DYNAMIC_STACK) or reach.is_recursive,
    }
    if reach.is_recursive:
        numbers["recursion"] = True
    if reach.is_open:
        numbers["indirect_call"] = True
    yield from (Fact(name, value, "linking-info") for name, value in numbers.items())
