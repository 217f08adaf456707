"""The report as one JSON document; report-schema.json in this folder describes every key."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import repeat
from types import MappingProxyType
from typing import Any

from kernelinfo import __version__
from kernelinfo.kernel import Finding, Item, Kernel, Repeat, Result
from kernelinfo.kernel.code_object import CodeObject
from kernelinfo.kernel.record import NUMBERS
from kernelinfo.model import Occupancy
from kernelinfo.reading.blob import Problem
from kernelinfo.reading.facts import Numbers, Source
from kernelinfo.render import View
from kernelinfo.render.json_text import Spelled, encode, encoded

SCHEMA = "kernelinfo/report/1"

PROVENANCE: dict[str, str] = {
    number.field: number.document for number in NUMBERS if number.document
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
"""Field → key of the kernel's document that the field is the source of."""


def render(items: Iterable[Item], view: View) -> Iterator[str]:
    yield from encoded(document(items))


def document(
    items: Iterable[Item],
    own: Iterator[dict[str, Any]] | None = None,
    counts: Mapping[str, int] = MappingProxyType({}),
) -> dict[str, Any]:
    """The report as JSON values: its kernels are an iterator, and what is known behind them are
    iterators and functions. `own` has more keys for each kernel, `counts` is added to the summary.
    """
    inputs: dict[CodeObject, int] = {}
    repeats: dict[CodeObject, list[Repeat]] = {}
    problems: list[Problem] = []
    summary, targets = Counter(counts), Counter[str]()
    more = own or repeat({})

    def results() -> Iterator[Result]:
        for item in items:
            if isinstance(item, Problem):
                problems.append(item)
            elif isinstance(item, Repeat):
                repeats.setdefault(item.first, []).append(item)
            elif isinstance(item, Result):
                targets[item.kernel.code_object.target or "unknown"] += 1
                summary["spilling"] += item.kernel.spills.registers > 0
                summary.update(f"{finding.severity}s" for finding in item.findings)
                yield item

    def kernels() -> Iterator[Spelled]:
        statements: dict[tuple[int, int], tuple[Result, str]] = {}
        for result in results():
            kernel, occupancy, _ = result
            index = inputs.setdefault(kernel.code_object, len(inputs))
            key = id(kernel.traits), id(occupancy)
            _, statement = statements.get(key) or (None, "")
            if not statement:
                if len(statements) >= _MOST_STATEMENTS:
                    statements.clear()
                statement = encode(_statement_document(result))[1:]
                statements[key] = result, statement  # which keeps the key's objects alive
            document = {"input": index, **_own_document(result), **next(more)}
            yield Spelled(f"{encode(document)[:-1]}, {statement}")

    return {
        "schema": SCHEMA,
        "version": __version__,
        "kernels": kernels(),
        "inputs": lambda: (code_object_document(one, repeats.get(one, ())) for one in inputs),
        "problems": map(as_json, problems),
        "summary": lambda: {
            "kernels": targets.total(),
            "code_objects": len(inputs),
            "targets": targets,
            **{name: summary[name] for name in _COUNTED},
        },
    }


_MOST_STATEMENTS = 1 << 14
_COUNTED = ("spilling", "errors", "warnings", "notes", "suppressed")


def as_json(value: Any, without: Collection[str] = ()) -> Any:
    """JSON value of `value`. A named tuple becomes an object, without the fields in `without`;
    problems and findings get their `code`."""
    if not isinstance(value, tuple):
        return value
    if names := getattr(value, "_fields", None):
        fields = zip(names, value, strict=True)
        members = {name: as_json(field, without) for name, field in fields if name not in without}
        return members | {"code": value.code} if isinstance(value, Problem | Finding) else members
    return [as_json(one, without) for one in value]


def picked(value: Any, *names: str) -> dict[str, Any]:
    """The named attributes of `value` as a JSON object."""
    return {name: as_json(getattr(value, name)) for name in names}


def code_object_document(code_object: CodeObject, repeats: Sequence[Repeat] = ()) -> dict[str, Any]:
    """JSON object of a code object with its copies."""
    also = [
        {"path": one.path, "container": one.containers, "member": one.member, "offset": one.offset}
        for one in repeats
    ]
    stated = {"options": [*code_object.written_options], "also": also}
    fields = as_json(code_object, {"options"}) | stated
    return {("container" if name == "containers" else name): of for name, of in fields.items()}


def kernel_document(result: Result) -> dict[str, Any]:
    """JSON object of one kernel, without its key `input`."""
    return _own_document(result) | _statement_document(result)


def _own_document(result: Result) -> dict[str, Any]:
    """Keys of a kernel's object whose values only this kernel has."""
    kernel = result.kernel
    return {
        **picked(kernel, "symbol", "name", "source", "code_bytes", "code"),
        "compiler_occupancy": as_json(result.compiler_number),
        "provenance": _provenance(kernel),
        "findings": as_json(result.findings),
        "arguments": as_json(kernel.arguments),
        **picked(kernel, "instructions", "touched"),
    }


def _statement_document(result: Result) -> dict[str, Any]:
    """Keys of a kernel's object whose values all kernels of equal statements share."""
    kernel, occupancy = result.kernel, result.occupancy
    launch = occupancy.launch if occupancy else None
    return {
        "target": kernel.target.name if kernel.target else kernel.traits.compiled_for,
        "wave_size": kernel.wave_size,
        "wgp_mode": kernel.traits.numbers.wgp_mode,
        "workgroup": {
            **as_json(kernel.workgroup),
            "assumed": launch and launch.workgroup_size,
            "assumption": launch and launch.assumption,
        },
        "used": {
            **picked(kernel.used, "vgprs", "agprs", "sgprs", "lds_bytes"),
            "dynamic_lds_bytes": launch and launch.dynamic_lds_bytes,
            "scratch_bytes_per_lane": kernel.used.scratch_bytes_per_lane,
        },
        "allocated": occupancy and as_json(occupancy.allocated),
        **picked(kernel, "spills", "flags"),
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


def _provenance(kernel: Kernel) -> dict[str, dict[str, Any]]:
    """Key → place of the number (source, line, offset), from its best source."""
    found: dict[str, dict[str, Any]] = {}
    is_object = kernel.code_object.kind == "code-object"
    code: Source = "symbol" if is_object else "kernel-info"
    for source, numbers in (*kernel.traits.stated, (code, Numbers(code_bytes=kernel.code_bytes))):
        places = [place for place in kernel.places if place.source == source]
        for field, value in zip(_FIELDS, numbers, strict=True):
            if value is None or (key := PROVENANCE.get(field)) is None or key in found:
                continue
            begins = (
                place.begin + place.within[field] for place in places if field in place.within
            )
            begin = next(begins, None) if places else None
            line, offset = (None, begin) if is_object else (begin, None)
            found[key] = {"from": source, "line": line, "offset": offset}
    return found
