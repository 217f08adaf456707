"""Numbers of kernels in metadata, in the symbols beside them, and in linking info with callees.

The map is msgpack or YAML. Keys: LLVM's AMDGPUUsage, "Code Object Metadata". Hand-written maps
leave most keys out. LLVM 20 and later define the symbols NAME.has_recursion and others: assembly
by `.set`, an object in its symbol table until it is stripped (AMDGPUMCResourceInfo::getSymbol).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import partial
from reprlib import repr as shortened
from typing import Any

from kernelinfo.errors import Message
from kernelinfo.hardware.targets import Target, align, extra_sgprs, total_vgprs
from kernelinfo.reading.facts import NOTHING, KernelFacts, Numbers, StatedNumbers
from kernelinfo.reading.messages import say

MOST_REGISTERS = 1024
"""Most registers of a kind per wave or lane; gfx1250 addresses the most of all targets."""
UINT32 = 0xFFFFFFFF
"""Largest number that a kernel can state."""


def _between(least: int, largest: int, value: object) -> int:
    # `type() is`: True is an int to Python, but no count.
    if type(value) is not int or not least <= value <= largest:
        raise ValueError(say("value-not-whole", least=least, most=largest))
    return value


_registers = partial(_between, 0, MOST_REGISTERS)
_count = partial(_between, 0, UINT32)
_size = partial(_between, 1, UINT32)


def _workgroup(value: object) -> tuple[int, int, int]:
    if not isinstance(value, list) or len(value) != 3:
        raise ValueError(say("value-not-three-sizes"))
    x, y, z = map(_size, value)
    return x, y, z


def _wave_size(value: object) -> int:
    if type(value) is not int or value not in (32, 64):
        raise ValueError(say("value-not-32-or-64"))
    return value


def _wave_size_v2(value: object) -> int:
    # clang 4 wrote the logarithm.
    return 1 << value if type(value) is int and value in (5, 6) else _wave_size(value)


def _revision(value: object) -> str:
    if not isinstance(value, str) or not (value.isalnum() and value.isascii() and len(value) < 9):
        raise ValueError(say("value-not-a-revision"))
    return value


def _flag(value: object) -> bool:
    if not isinstance(value, int) or value not in (0, 1):
        raise ValueError(say("value-not-a-flag"))
    return bool(value)


_Converted = Callable[[object], object]

KEYS: Mapping[str, tuple[str, _Converted]] = {
    ".vgpr_count": ("vgprs", _registers),
    ".agpr_count": ("agprs", _registers),
    ".sgpr_count": ("sgprs", _registers),
    ".group_segment_fixed_size": ("lds_bytes", _count),
    ".private_segment_fixed_size": ("scratch_bytes_per_lane", _count),
    ".vgpr_spill_count": ("vgpr_spills", _count),
    ".sgpr_spill_count": ("sgpr_spills", _count),
    ".max_flat_workgroup_size": ("max_workgroup_size", _size),
    ".reqd_workgroup_size": ("required_workgroup", _workgroup),
    ".cluster_dims": ("cluster", _workgroup),
    ".gfx1250_revision": ("revision", _revision),
    ".wavefront_size": ("wave_size", _wave_size),
    ".workgroup_processor_mode": ("wgp_mode", _flag),
    ".uses_dynamic_stack": ("dynamic_stack", _flag),
}

KEYS_V2: Mapping[str, Mapping[str, tuple[str, _Converted]]] = {
    "CodeProps": {
        "NumVGPRs": ("vgprs", _registers),
        "NumSGPRs": ("sgprs", _registers),
        "GroupSegmentFixedSize": ("lds_bytes", _count),
        "PrivateSegmentFixedSize": ("scratch_bytes_per_lane", _count),
        "NumSpilledVGPRs": ("vgpr_spills", _count),
        "NumSpilledSGPRs": ("sgpr_spills", _count),
        "MaxFlatWorkGroupSize": ("max_workgroup_size", _size),
        "WavefrontSize": ("wave_size", _wave_size_v2),
        "IsDynamicCallStack": ("dynamic_stack", _flag),
    },
    "Attrs": {"ReqdWorkGroupSize": ("required_workgroup", _workgroup)},
}

_VERSIONS = (([1, 0], 3), ([1, 1], 4), ([1, 2], 5))
_DYNAMIC_LDS = {"hidden_dynamic_lds_size", "dynamic_shared_pointer", "DynamicSharedPointer"}


def code_object_version(version: object) -> int | None:
    """Code object version of an `amdhsa.version`; None if unknown. Versions 5 and 6 have the same
    `amdhsa.version`, and 5 stands for both."""
    return next((number for stated, number in _VERSIONS if version == stated), None)


def unknown_version(version: object) -> Message | None:
    """The warning about an `amdhsa.version` that is stated but unknown; None otherwise."""
    if version is None or code_object_version(version):
        return None
    return say("metadata-version", version=_shown(version))


def kernel_numbers(kernel: Mapping[object, object]) -> tuple[str, Numbers, list[Message]]:
    """Symbol, numbers and complaints of one element of `amdhsa.kernels` (code object v3 on).

    A malformed value gives a complaint in words and no number. Unknown keys are ignored.
    """
    symbol = kernel_symbol(kernel.get(".symbol"), kernel.get(".name"))
    numbers, complaints = _read(KEYS, kernel)
    complaints += _no_text(kernel, ".symbol", ".name")
    if takes_dynamic_lds(kernel.get(".args")):
        numbers["dynamic_lds"] = True
    return symbol, Numbers(**numbers), complaints


def kernel_symbol(symbol: object, name: object) -> str:
    """Symbol of the kernel's function: `.symbol` without `.kd`, else `.name`; "" if neither is
    text. Equal symbols share one object, since a library repeats each for many targets."""
    return sys.intern(_text(symbol).removesuffix(".kd") or _text(name))


def kernel_numbers_v2(kernel: Mapping[object, object]) -> tuple[str, Numbers, list[Message]]:
    """The symbol, numbers and complaints of one element of `Kernels` in the YAML of code object
    v2."""
    symbol = _text(kernel.get("SymbolName")).removesuffix("@kd") or _text(kernel.get("Name"))
    numbers: dict[str, Any] = {}
    complaints = _no_text(kernel, "SymbolName", "Name")
    for part, keys in KEYS_V2.items():
        values = kernel.get(part)
        if isinstance(values, Mapping):
            numbers_of_part, complaints_of_part = _read(keys, values)
            numbers |= numbers_of_part
            complaints += complaints_of_part
        elif values is not None:
            complaints.append(say("metadata-not-a-map", part=part, value=_shown(values)))
    if takes_dynamic_lds(kernel.get("Args"), "ValueKind"):
        numbers["dynamic_lds"] = True
    return symbol, Numbers(**numbers), complaints


def _read(
    keys: Mapping[str, tuple[str, _Converted]], values: Mapping[object, object]
) -> tuple[dict[str, Any], list[Message]]:
    """Numbers by the names of `Numbers`, and complaints about malformed values."""
    numbers: dict[str, Any] = {}
    complaints: list[Message] = []
    for key, (name, reading) in keys.items():
        if key not in values:
            continue
        try:
            numbers[name] = reading(values[key])
        except ValueError as error:
            complaints.append(
                say("metadata-value", key=key, value=_shown(values[key]), error=error)
            )
    return numbers, complaints


def _no_text(kernel: Mapping[object, object], *keys: str) -> list[Message]:
    """Complaints about names that are not text."""
    odd = [key for key in keys if not isinstance(kernel.get(key, ""), (str, bytes))]
    return [say("metadata-not-text", key=key, value=_shown(kernel[key])) for key in odd]


def takes_dynamic_lds(args: object, kind: str = ".value_kind") -> bool:
    """True if an argument shows that the kernel's LDS is sized at launch."""
    # False proves nothing: `extern __shared__` leaves no mark.
    if not isinstance(args, list):
        return False
    kinds = (arg.get(kind) for arg in args if isinstance(arg, Mapping))
    return any(_text(value) in _DYNAMIC_LDS for value in kinds)


def _text(value: object) -> str:
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    return value if isinstance(value, str) else ""


def _shown(value: object) -> str:
    # Python refuses to print integers of more than 4300 digits.
    if isinstance(value, int) and value.bit_length() > 64:
        return say("value-of-many-bits", bits=value.bit_length())
    return shortened(value)


SYMBOLS: Mapping[str, str] = {
    "has_indirect_call": "indirect_call",
    "has_recursion": "recursion",
    "has_dyn_sized_stack": "dynamic_stack",
    "num_named_barrier": "named_barriers",
}
"""Field of `Numbers` by the end of a symbol's name, after the last dot."""

NAMED_BARRIERS = 4
"""Granule of named barriers in the descriptor (AMDHSAKernelDescriptor.h, NAMED_BAR_CNT)."""


def symbol_numbers(values: Mapping[str, int]) -> Numbers:
    """The numbers of one function; `values` maps the suffixes of its symbols' names to their
    values."""
    flags = {SYMBOLS[suffix]: bool(count) for suffix, count in values.items()}
    barriers = values.get("num_named_barrier")
    # LLVM reports recursion as a dynamic stack (SIProgramInfo::DynamicCallStack).
    return Numbers(
        dynamic_stack=flags.get("recursion") or flags.get("dynamic_stack"),
        recursion=flags.get("recursion"),
        indirect_call=flags.get("indirect_call"),
        named_barriers=None if barriers is None else align(barriers, NAMED_BARRIERS),
    )


# Numbers of kernels in unlinked code: each function's own, combined along the calls.
#
# With `-amdgpu-enable-object-linking`, descriptors and metadata count a function without its
# callees and without LDS, which the linker places. The section `.amdgpu.info`, or the directive
# `.amdgpu_info` in assembly, tells the linker the rest.
# Source: llvm/include/llvm/Support/AMDGPUObjLinkingInfo.h, LLVM 24git.

NOT_LINKED = say("object-not-linked")
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
    """The kernels with numbers that include their callees.

    `functions` holds one object's functions by name; a kernel that is not in it counts as calling
    unknown functions. `xnack` is True if the code may run with XNACK
    on.
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
    """(numbers of the function `name` and all functions that it calls, size of this call graph:
    functions plus calls).

    After `limit` functions and calls the graph is not followed further, and the numbers say that
    callees are unknown.
    """
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
    """The registers, LDS and flags that the functions need together. Without a target, VGPRs
    exclude AGPRs, and SGPRs exclude VCC, flat scratch and XNACK."""
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
