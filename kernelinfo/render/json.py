"""The report as one JSON document; report-schema.json in this folder describes every key."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from kernelinfo import __version__
from kernelinfo.kernel import CodeObject, Item, Kernel, Repeat, Report, Result
from kernelinfo.kernel.numbers import NUMBERS
from kernelinfo.light_typing import Any
from kernelinfo.occupancy import Occupancy
from kernelinfo.reading.facts import Fact, FactName
from kernelinfo.render import View

SCHEMA = "kernelinfo/1"

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
"""Which key of a kernel each fact stands behind."""


def render(items: Iterable[Item], view: View) -> Iterator[str]:
    yield encoded(document(Report.of(items)))


def encoded(value: Any) -> str:
    """A JSON document with its newline."""
    return json.dumps(value, indent=1) + "\n"


def document(report: Report) -> dict[str, Any]:
    """The report as JSON values."""
    inputs = {code_object: index for index, code_object in enumerate(report.code_objects)}
    severities = Counter(f.severity for r in report.results for f in r.findings)
    return {
        "schema": SCHEMA,
        "version": __version__,
        "inputs": [code_object_document(code_object, report.repeats) for code_object in inputs],
        "kernels": [
            {"input": inputs[result.kernel.code_object], **kernel_document(result)}
            for result in report.results
        ],
        "problems": [flat(problem) for problem in report.problems],
        "summary": {
            "kernels": len(report.results),
            "code_objects": len(inputs),
            "targets": Counter(k.code_object.target or "unknown" for k in report.kernels),
            "spilling": sum(1 for kernel in report.kernels if kernel.spills.registers),
            "errors": severities["error"],
            "warnings": severities["warning"],
            "notes": severities["note"],
            "suppressed": 0,
        },
    }


def flat(value: Any) -> dict[str, Any]:
    """The fields of a tuple or a slotted dataclass; `asdict` would copy each of them deeply."""
    if isinstance(value, tuple):
        return dict(zip(value._fields, value, strict=True))  # type: ignore[attr-defined]
    return {name: getattr(value, name) for name in value.__slots__}


def code_object_document(code_object: CodeObject, repeats: Sequence[Repeat] = ()) -> dict[str, Any]:
    also = [
        {"path": one.path, "container": one.containers, "member": one.member, "offset": one.offset}
        for one in repeats
        if one.first == code_object
    ]
    values = flat(code_object) | {"features": flat(code_object.features), "also": also}
    del values["kernel_count"]
    return {("container" if key == "containers" else key): value for key, value in values.items()}


def kernel_document(result: Result) -> dict[str, Any]:
    """One kernel, without the key that says which input it comes from."""
    kernel, occupancy, code = result.kernel, result.occupancy, result.kernel.code
    launch = occupancy.launch if occupancy else None
    return {
        "symbol": kernel.symbol,
        "name": kernel.name,
        "target": kernel.target.name if kernel.target else kernel.code_object.target,
        "source": kernel.source._asdict() if kernel.source else None,
        "wave_size": kernel.wave_size,
        "wgp_mode": kernel.traits.wgp_mode,
        "code_bytes": kernel.code_bytes,
        "code": code and flat(code) | {"loops": code.loops and [*map(flat, code.loops)]},
        "workgroup": {
            **flat(kernel.workgroup),
            "assumed": launch.workgroup_size if launch else None,
            "assumption": launch.assumption if launch else None,
        },
        "used": {
            "vgprs": kernel.used.vgprs,
            "agprs": kernel.used.agprs,
            "sgprs": kernel.used.sgprs,
            "lds_bytes": kernel.used.lds_bytes,
            "dynamic_lds_bytes": launch.dynamic_lds_bytes if launch else None,
            "scratch_bytes_per_lane": kernel.used.scratch_bytes_per_lane,
        },
        "allocated": flat(occupancy.allocated) if occupancy else None,
        "spills": flat(kernel.spills),
        "flags": flat(kernel.flags),
        "occupancy": occupancy_document(occupancy) if occupancy else None,
        "compiler_occupancy": number._asdict() if (number := result.compiler_number) else None,
        "provenance": _provenance(kernel),
        "findings": [flat(finding) for finding in result.findings],
        "arguments": None if kernel.arguments is None else [flat(a) for a in kernel.arguments],
    }


def occupancy_document(occupancy: Occupancy) -> dict[str, Any]:
    return {
        "percent": occupancy.percent,
        "waves_per_simd": occupancy.waves_per_simd,
        "launchable": occupancy.launchable,
        "obstacles": list(occupancy.obstacles),
        "exact": occupancy.exact,
        "at_most_because": list(occupancy.at_most_because),
        "resident": {
            "per": occupancy.per,
            "simds": occupancy.simds,
            "workgroups": occupancy.workgroups,
            "waves": occupancy.waves,
            "wave_slots": occupancy.wave_slots,
        },
        "limiters": list(occupancy.limiters),
        "limits": [
            {name: value for name, value in flat(limit).items() if name != "waves"}
            for limit in occupancy.limits
        ],
        "next": [flat(step) for step in occupancy.next],
        "headroom": flat(occupancy.headroom),
        "range": flat(occupancy.range) if occupancy.range else None,
    }


def _provenance(kernel: Kernel) -> dict[str, dict[str, Any]]:
    """Where each number stands."""
    best: dict[FactName, Fact] = {}
    for fact in kernel.traits.facts:
        best.setdefault(fact.name, fact)
    stated = [fact for name, fact in best.items() if name in PROVENANCE]
    if kernel.code_size:
        stated.append(kernel.code_size)
    return {
        PROVENANCE[fact.name]: {
            "from": fact.source,
            "line": kernel.line_of(fact),
            "offset": kernel.offset(fact),
        }
        for fact in stated
    }
