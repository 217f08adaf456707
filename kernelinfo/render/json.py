"""The report as one JSON document; report-schema.json in this folder describes every key."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain, repeat
from json import JSONEncoder
from types import MappingProxyType
from typing import Any

from kernelinfo import __version__
from kernelinfo.kernel import Finding, Item, Kernel, Repeat, Result, record
from kernelinfo.kernel.code_object import CodeObject
from kernelinfo.model import Occupancy
from kernelinfo.reading.blob import Problem
from kernelinfo.reading.facts import Numbers, Source
from kernelinfo.render import View

SCHEMA = "kernelinfo/report/1"

PROVENANCE: dict[str, str] = {
    number.field: number.document for number in record.NUMBERS if number.document
} | {
    "accum_offset": "allocated.arch_vgprs",
    "max_workgroup_size": "workgroup.declared_max",
    "required_workgroup": "workgroup.required",
    "wgp_mode": "wgp_mode",
    "tg_split": "flags.tg_split",
    "dynamic_stack": "flags.dynamic_stack",
    "indirect_call": "flags.indirect_call",
    "recursion": "flags.recursion",
    "dynamic_lds_bytes": "used.dynamic_lds_bytes",
    "compiler_waves_per_simd": "compiler_occupancy.waves_per_simd",
}
"""Field → key of the kernel's document whose value comes from the field."""


def render(items: Iterable[Item], view: View) -> Iterator[str]:
    yield from encoded(document(items))


def document(
    items: Iterable[Item],
    own: Iterator[dict[str, Any]] | None = None,
    counts: Mapping[str, int] = MappingProxyType({}),
) -> dict[str, Any]:
    """The report as JSON values. The kernels are an iterator. What is known only once all kernels
    have been written is given as an iterator or a function. `own` has more keys for each kernel;
    `counts` is added to the summary."""
    inputs: dict[CodeObject, int] = {}
    repeats: dict[CodeObject, list[Repeat]] = {}
    problems: list[Problem] = []
    summary, targets = Counter(counts), Counter[str]()
    further = own or repeat({})

    def results() -> Iterator[Result]:
        for item in items:
            if isinstance(item, Problem):
                problems.append(item)
            elif isinstance(item, Repeat):
                repeats.setdefault(item.first, []).append(item)
            elif isinstance(item, Result):
                targets[item.kernel.code_object.target or "unknown"] += 1
                summary["spilling"] += item.kernel.spilled_registers > 0
                for finding in item.findings:
                    summary[f"{finding.severity}s"] += 1
                yield item

    def kernels() -> Iterator[Spelled]:
        statements: dict[tuple[object, ...], tuple[object, str, _Origins]] = {}
        shared: dict[_Origins, _Origins] = {}  # thousands of statements have the same few
        code_object, index = None, 0
        for result in results():
            kernel, occupancy, _ = result
            if kernel.code_object is not code_object:
                code_object = kernel.code_object
                index = inputs.setdefault(code_object, len(inputs))
            key = id(kernel.traits), id(occupancy), code_object.kind, kernel.code_bytes is None
            stated = statements.get(key)
            if stated is None:
                if len(statements) >= _MOST_STATEMENTS:
                    statements.clear()
                # The objects stay alive whose ids are the key; not the kernel, with its loops.
                alive = kernel.traits, occupancy
                origins = _origins(kernel)
                origins = shared.setdefault(origins, origins)
                stated = alive, encode(_statement_document(result))[1:], origins
                statements[key] = stated
            _, statement, origins = stated
            document = {"input": index, **_own_document(result, origins), **next(further)}
            yield Spelled(f"{encode(document)[:-1]}, {statement}")

    return {
        "schema": SCHEMA,
        "version": __version__,
        "kernels": kernels(),
        "inputs": lambda: (code_object_document(place, repeats.get(place, ())) for place in inputs),
        "problems": map(as_json, problems),
        "summary": lambda: {
            "kernels": targets.total(),
            "code_objects": len(inputs),
            "targets": targets,
            **{name: summary[name] for name in _COUNTED},
        },
    }


_MOST_STATEMENTS = 1 << 12  # 2.3 kB each; 88,000 kernels make 27,000, where none is dropped 24,000
_COUNTED = ("spilling", "errors", "warnings", "notes", "suppressed")


def as_json(value: Any, without: Collection[str] = ()) -> Any:
    """JSON value of `value`. A named tuple becomes an object, without the fields in `without`;
    problems and findings get their `code`."""
    if not isinstance(value, tuple):
        return value
    if names := getattr(value, "_fields", None):
        members = dict(zip(names, value, strict=True))
        for name in without:
            members.pop(name, None)
        for name, field in members.items():
            if isinstance(field, tuple):
                members[name] = as_json(field, without)
        if isinstance(value, (Problem, Finding)):
            members["code"] = value.code
        return members
    return [as_json(item, without) for item in value]


def picked(value: Any, *names: str) -> dict[str, Any]:
    """The named attributes of `value` as a JSON object."""
    return {name: as_json(getattr(value, name)) for name in names}


def code_object_document(code_object: CodeObject, repeats: Sequence[Repeat] = ()) -> dict[str, Any]:
    """JSON object of a code object with its copies."""
    also = [
        {
            "path": copy.path,
            "container": copy.containers,
            "member": copy.member,
            "offset": copy.offset,
        }
        for copy in repeats
    ]
    stated = {"options": [*code_object.written_options], "also": also}
    fields = as_json(code_object, {"options"}) | stated
    return {
        ("container" if name == "containers" else name): field for name, field in fields.items()
    }


def kernel_document(result: Result) -> dict[str, Any]:
    """JSON object of one kernel; `document` adds the key `input`."""
    return _own_document(result, _origins(result.kernel)) | _statement_document(result)


def _own_document(result: Result, origins: _Origins) -> dict[str, Any]:
    """Keys of a kernel's JSON object whose values belong to this kernel alone."""
    kernel = result.kernel
    return {
        "symbol": kernel.symbol,
        "name": kernel.name,
        "source": as_json(kernel.source),
        "code_bytes": kernel.code_bytes,
        "code": as_json(kernel.code),
        "compiler_occupancy": as_json(result.compiler_number),
        "provenance": _provenance(kernel, origins),
        "findings": as_json(result.findings),
        "arguments": as_json(kernel.arguments),
        "instructions": as_json(kernel.instructions),
        "touched": as_json(kernel.touched),
        "loops": as_json(kernel.loops),
        "needs": as_json(kernel.needs),
    }


def _statement_document(result: Result) -> dict[str, Any]:
    """Keys of a kernel's JSON object whose values are the same for all kernels with the same traits
    and occupancy."""
    kernel, numbers, occupancy = result.kernel, result.kernel.numbers, result.occupancy
    launch = occupancy.launch if occupancy else None
    return {
        "target": kernel.target.name if kernel.target else kernel.traits.compiled_for,
        "wave_size": kernel.wave_size,
        "wgp_mode": numbers.wgp_mode,
        "workgroup": {
            "declared_max": numbers.max_workgroup_size,
            "required": as_json(numbers.required_workgroup),
            "assumed": launch and launch.workgroup_size,
            "assumption": launch and launch.assumption,
        },
        "used": {
            **picked(numbers, "vgprs", "agprs", "sgprs", "lds_bytes"),
            "dynamic_lds_bytes": launch and launch.dynamic_lds_bytes,
            "scratch_bytes_per_lane": numbers.scratch_bytes_per_lane,
        },
        "allocated": occupancy and as_json(occupancy.allocated),
        "spills": {"vgprs": numbers.vgpr_spills, "sgprs": numbers.sgpr_spills},
        "flags": picked(numbers, "dynamic_stack", "indirect_call", "recursion", "tg_split"),
        "occupancy": occupancy and occupancy_document(occupancy),
    }


def occupancy_document(occupancy: Occupancy) -> dict[str, Any]:
    return {
        **picked(occupancy, "percent", "waves_per_simd", "launchable", "obstacles", "exact"),
        "at_most_because": list(occupancy.at_most_because),
        "resident": picked(occupancy, "per", "simds", "workgroups", "waves", "wave_slots"),
        "limiters": list(occupancy.limiters),
        "limits": as_json(occupancy.limits, {"waves"}),
        **picked(occupancy, "next", "headroom", "range"),
    }


_FIELDS = Numbers._fields
_KEYS = [*map(PROVENANCE.get, _FIELDS)]
_Origins = tuple[tuple[Source, str, str], ...]
"""(best source, key, field of the source) of each of a kernel's numbers."""


def _origins(kernel: Kernel) -> _Origins:
    code: Source = "symbol" if kernel.code_object.kind == "code-object" else "kernel-info"
    best: dict[str, tuple[Source, str, str]] = {}
    for source, numbers in (*kernel.traits.stated, (code, Numbers(code_bytes=kernel.code_bytes))):
        for field, key, value in zip(_FIELDS, _KEYS, numbers, strict=True):
            if value is not None and key and key not in best:
                best[key] = source, key, field
    return tuple(best.values())


def _provenance(kernel: Kernel, origins: _Origins) -> dict[str, dict[str, Any]]:
    """For each key, the place of the number (source, line, offset) in its best source."""
    is_object = kernel.code_object.kind == "code-object"
    provenance: dict[str, dict[str, Any]] = {}
    for source, key, field in origins:
        begin = None
        for place in kernel.places:
            if place.source == source and field in place.within:
                begin = place.begin + place.within[field]
                break
        line, offset = (None, begin) if is_object else (begin, None)
        provenance[key] = {"from": source, "line": line, "offset": offset}
    return provenance


# JSON text of a document, line by line, so that only one kernel of many is in memory.

encode = JSONEncoder(check_circular=False).encode
"""Value → text on one line, by the encoder in C. Python's own, which indents, takes ten times as
long."""


class Spelled(str):
    """A value as JSON text."""

    __slots__ = ()


def encoded(document: Any) -> Iterator[str]:
    """A JSON document in pieces, one line per member, list element or value of an iterator. An
    iterator becomes an array.

    A function in place of a value is called only after all earlier members are written.
    """
    if isinstance(document, dict):
        lists = {
            name: iter(member) for name, member in document.items() if isinstance(member, list)
        }
        yield from _members(document | lists, "\n")
    else:
        yield from _pieces(document, "\n")
    yield "\n"


def _pieces(value: Any, line: str) -> Iterator[str]:
    """The JSON text of a value. `line` is a newline and the indent of the line on which the value
    begins; its closing bracket gets the same indent."""
    if isinstance(value, Spelled):
        yield value
    elif isinstance(value, Iterator):
        yield from _joined("[]", (_pieces(item, line + " ") for item in value), line)
    elif callable(value):
        yield from _pieces(value(), line)
    else:
        yield from _members(value, line) if _has_iterator(value) else (encode(value),)


def _members(value: dict[str, Any], line: str) -> Iterator[str]:
    """The text of an object with a line for each member."""
    members = (
        chain((f"{encode(name)}: ",), _pieces(member, line + " ")) for name, member in value.items()
    )
    return _joined("{}", members, line)


def _has_iterator(value: Any) -> bool:
    """True if the value is an object with an array that is generated while it is written."""
    return isinstance(value, dict) and any(
        isinstance(member, Iterator) or _has_iterator(member) for member in value.values()
    )


def _joined(brackets: str, items: Iterable[Iterable[str]], line: str) -> Iterator[str]:
    """The items between brackets, each on its own line."""
    between = brackets[0]
    for item in items:
        yield f"{between}{line} "
        yield from item
        between = ","
    yield brackets if between == brackets[0] else line + brackets[1]
