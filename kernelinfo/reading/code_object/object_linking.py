"""What objects that are linked later state of each function: the section `.amdgpu.info`.

Compiled with `-amdgpu-enable-object-linking`, an object's descriptors and metadata speak of each
function alone, without what it calls and without LDS, which the linker places. Entries:

    u8 u8     kind, and bytes of the payload; kinds that are not known are skipped
    1         u64, relocated: the function that the following entries are of
    2         u32: flags; 1 VCC, 2 flat scratch, 4 dynamic stack
    3 4 5 6   u32: SGPRs, VGPRs, AGPRs, bytes of scratch, of this function alone
    7         u64, relocated: an LDS variable that it uses
    8         u64, relocated: a function that it calls
    9         u32: the type of functions that it calls by a pointer

llvm/include/llvm/Support/AMDGPUObjLinkingInfo.h, as LLVM 24git writes it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from struct import Struct

from kernelinfo.errors import ReadError
from kernelinfo.light_typing import NamedTuple
from kernelinfo.occupancy.placement import align
from kernelinfo.occupancy.targets import Target
from kernelinfo.reading.assembly.arithmetic import extra_sgprs
from kernelinfo.reading.elf import SHT_SYMTAB, Elf, string_at
from kernelinfo.reading.facts import Fact, FactName, Facts, KernelFacts, ReadWarning

_SECTION = ".amdgpu.info"
NOTE = "is not linked yet: numbers are of what each kernel reaches in this object; link for all"
_RELOCATIONS = ".rela.amdgpu.info"
_RELOCATION = Struct("<QQq")
_SYMBOL = Struct("<I12xQ")
_FUNCTION, _FLAGS, _SGPRS, _VGPRS, _AGPRS, _SCRATCH, _USE, _CALL, _INDIRECT = range(1, 10)
_NUMBERS = {_FLAGS: "flags", _SGPRS: "sgprs", _VGPRS: "vgprs", _AGPRS: "agprs", _SCRATCH: "scratch"}
_POINTERS = (_FUNCTION, _USE, _CALL)
_MOST_CALLS = 200
"""From a kernel down; real ones are inlined but for a few."""
_VCC, _FLAT_SCRATCH, _DYNAMIC_STACK = 1, 2, 4
_REPLACED: tuple[FactName, ...] = (
    *("vgprs", "arch_vgprs", "agprs", "sgprs", "lds_bytes", "scratch_bytes_per_lane"),
    *("reserved_vgprs", "least_reserved_vgprs", "accum_offset", "reserved_sgprs", "dynamic_stack"),
)
"""What descriptors and metadata state of one function alone."""
_UNKNOWN = (Fact("indirect_call", True, "linking-info"),)
"""Of a kernel of which the section states nothing."""


@dataclass
class _Function:
    """What is stated of one function alone."""

    flags: int = 0
    sgprs: int = 0
    vgprs: int = 0
    agprs: int = 0
    scratch: int = 0
    uses: dict[str, int] = field(default_factory=dict)
    """Bytes of LDS variables, by name."""
    calls: list[str] = field(default_factory=list)
    is_open: bool = False
    """Whether it calls what is not known."""


class _Symbol(NamedTuple):
    name: str
    size: int


class _Reach(NamedTuple):
    """A function with everything that it reaches."""

    functions: dict[str, _Function]
    scratch: int
    """Bytes per lane along the deepest path of calls."""
    is_open: bool
    is_recursive: bool


def with_callees(
    kernels: list[KernelFacts],
    elf: Elf,
    target: Target | None,
    *,
    xnack: bool,
    warnings: list[ReadWarning],
) -> list[KernelFacts]:
    """The kernels of an object that has the section, each with what all that it calls states
    instead of what is stated of it alone."""
    linking = kernel_facts(elf, target, xnack=xnack, warnings=warnings)
    return [_with(kernel, linking.get(kernel.symbol, _UNKNOWN)) for kernel in kernels]


def _with(kernel: KernelFacts, facts: tuple[Fact, ...]) -> KernelFacts:
    own = [fact for fact in kernel.facts if fact.name not in _REPLACED]
    return kernel._replace(facts=Facts((*facts, *own)))


def kernel_facts(
    elf: Elf, target: Target | None, *, xnack: bool, warnings: list[ReadWarning]
) -> dict[str, tuple[Fact, ...]]:
    """The facts of each function with what it calls, by name."""
    section = next(s for s in elf.sections if s.name == _SECTION)
    data = elf.bytes_of(section)
    if data is None:
        warnings.append(ReadWarning(f"{_SECTION} lies outside the file", offset=section.offset))
        return {}
    functions = _functions(bytes(data), _symbols_at(elf), section.offset, warnings)
    known: dict[str, _Reach] = {}
    return {
        name: tuple(_facts(_reach(name, functions, known, ()), target, xnack=xnack))
        for name in functions
    }


def _symbols_at(elf: Elf) -> dict[int, _Symbol]:
    """The symbols that the relocations of the section name, by the offset that they fill."""
    relocations = next((s for s in elf.sections if s.name == _RELOCATIONS), None)
    table = next((s for s in elf.sections if s.type == SHT_SYMTAB), None)
    if relocations is None or table is None or table.link >= len(elf.sections):
        return {}
    rows, symbols = elf.bytes_of(relocations), elf.bytes_of(table)
    strings = bytes(elf.bytes_of(elf.sections[table.link]) or b"")
    found: dict[int, _Symbol] = {}
    if rows is None or symbols is None:
        return found
    for at, info, _ in _RELOCATION.iter_unpack(rows[: len(rows) - len(rows) % _RELOCATION.size]):
        start = (info >> 32) * 24
        if start + 24 <= len(symbols):
            name_at, size = _SYMBOL.unpack_from(symbols, start)
            found[at] = _Symbol(string_at(strings, name_at) or "", size)
    return found


def _entries(data: bytes) -> Iterator[tuple[int, int, bytes]]:
    """Kind, offset and bytes of each payload. Raises `ReadError` where one is damaged."""
    at = 0
    while at + 2 <= len(data):
        kind, size = data[at], data[at + 1]
        payload = data[at + 2 : at + 2 + size]
        expected = 8 if kind in _POINTERS else 4
        if len(payload) < size or (kind <= _INDIRECT and size != expected):
            raise ReadError(f"an entry of kind {kind} with {size} bytes at {at}")
        yield kind, at + 2, payload
        at += 2 + size


def _functions(
    data: bytes, symbols: Mapping[int, _Symbol], offset: int, warnings: list[ReadWarning]
) -> dict[str, _Function]:
    """By name; what is damaged leaves the function open in which it stands."""
    functions: dict[str, _Function] = {}
    function: _Function | None = None
    try:
        for kind, at, payload in _entries(data):
            symbol = symbols.get(at)
            if kind == _FUNCTION:
                function = _Function()
                if symbol is not None:
                    functions[symbol.name] = function
            elif function is None:
                raise ReadError("numbers before a function")
            else:
                _add(function, kind, payload, symbol)
    except ReadError as error:
        warnings.append(
            ReadWarning(f"damaged {_SECTION}: {error}; not read from there on", offset=offset)
        )
        if function is not None:
            function.is_open = True
    return functions


def _add(function: _Function, kind: int, payload: bytes, symbol: _Symbol | None) -> None:
    if kind in _NUMBERS:
        setattr(function, _NUMBERS[kind], int.from_bytes(payload, "little"))
    elif kind == _USE and symbol is not None:
        function.uses[symbol.name] = symbol.size
    elif kind == _CALL and symbol is not None:
        function.calls.append(symbol.name)
    elif kind in (_USE, _CALL, _INDIRECT):
        function.is_open = True


def _reach(
    name: str, functions: dict[str, _Function], known: dict[str, _Reach], path: tuple[str, ...]
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
        if target.agprs.file == "unified" and agprs:
            vgprs = align(vgprs, target.agprs.offset_granule) + agprs
        vgprs = max(vgprs, agprs)
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
