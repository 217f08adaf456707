"""A report as compact JSON for the page; values that kernels share are stored once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable
from itertools import count
from typing import Any

from kernelinfo.compare.summary import KernelSummary
from kernelinfo.hardware import targets
from kernelinfo.kernel import Kernel, Result
from kernelinfo.kernel.code_object import CodeObject
from kernelinfo.kernel.numbers import NUMBERS
from kernelinfo.kernel.report import Report
from kernelinfo.kernel.traits import LDS_NOT_STATED
from kernelinfo.occupancy import Occupancy
from kernelinfo.reading.blob import Problem
from kernelinfo.reading.facts import SOURCES
from kernelinfo.render import View
from kernelinfo.render.json import as_json
from kernelinfo.render.name_style import NameStyle
from kernelinfo.render.names import member_path, name_of, names_of, printable
from kernelinfo.render.notes import code_parts, expected
from kernelinfo.render.words import compiler_name
from kernelinfo.rules import BY_DEFAULT

MOST_OF_A_NAME = 4000
"""Most characters of a kernel's name in the page. A cut name states its length."""

_FACTS: dict[str, str] = {number.field: number.noun or number.unit for number in NUMBERS} | {
    "accum_offset": "first AGPR",
    "max_workgroup_size": "workitems in the largest workgroup",
    "dynamic_lds_bytes": "B of LDS at launch",
}
"""Fields that the page shows with their sources, in that order → their nouns."""

_NOT_COUNTED = {
    *("source", "confidence", "elf_mach", "encoding_granule", "early_encoding_granule"),
    *("early_encoding_before", "believed", "xnack", "sramecc", "named_barriers"),
    *("v2_name_with_xnack", "with_vcc", "with_xnack", "with_flat_scratch"),
    *("architected_flat_scratch", "dynamic_blocks", "default_size", "devices"),
}
"""Fields of a target that the page's arithmetic does not use."""

_Shared = defaultdict[Hashable, int]  # value → index; rows store the index


def dataset(report: Report, view: View) -> dict[str, Any]:
    """The report as JSON values. `columns` names the cells in the rows of `kernels`."""
    named = Titles(report.kernels, view.names)
    titles, inputs, cases, findings, texts = (_Shared(count().__next__) for _ in range(5))

    def kernel_row(result: Result) -> dict[str, Any]:
        kernel, occupancy, used = result.kernel, result.occupancy, result.kernel.used
        number = result.compiler_number
        return {
            "title": titles[named.of(kernel)],
            "input": inputs[_input(kernel.code_object)],
            "case": None if occupancy is None else cases[_case(occupancy)],
            "used": [used.vgprs, used.agprs, used.sgprs, used.lds_bytes],
            "spills": [kernel.spills.vgprs, kernel.spills.sgprs, used.scratch_bytes_per_lane],
            "findings": [
                findings[f.rule, f.name, f.severity, printable(f.message), f.hint]
                for f in result.findings
            ],
            "source": _source(kernel),
            "code": [texts[part] for part in code_parts(kernel.code)],
            "expected": [texts[line] for line in expected(result)],
            "compiler": [number.waves_per_simd, texts[number.reason or "agrees"]]
            if number and number.agrees is not None
            else None,
            "facts": _facts(kernel),
        }

    rows = [kernel_row(result) for result in report.results]
    return {
        "columns": [*rows[0]] if rows else [],
        "kernels": [[*row.values()] for row in rows],
        "titles": list(titles),
        "inputs": list(inputs),
        "cases": list(cases),
        "findings": list(findings),
        "texts": list(texts),
        "facts": list(_FACTS.values()),
        "sources": SOURCES,
        "lds_not_stated": LDS_NOT_STATED,
        "rules": [
            (rule.number, rule.name, rule.severity, rule.fixed)
            for rule in (view.selection or BY_DEFAULT).rules()
        ],
        "problems": problem_rows(report.problems),
        "repeats": [
            (*(member_path(one.path, one.member) for one in (copy, copy.first)), copy.is_exact)
            for copy in report.repeats
        ],
        "targets": {name: as_json(targets.find(name), _NOT_COUNTED) for name in targets.known()},
    }


def problem_rows(problems: Iterable[Problem]) -> list[tuple[Any, ...]]:
    """(path, member, line, offset, message) of each problem."""
    return [
        (printable(p.path), printable(p.member or ""), p.line, p.offset, printable(p.message))
        for p in problems
    ]


class Titles:
    """Names of kernels in a page: the unique short names of the text report, and whole names."""

    def __init__(self, kernels: Iterable[Kernel | KernelSummary], style: NameStyle) -> None:
        self._style = style
        self._brief = names_of(kernels, "short" if style == "full" else style)

    def of(self, kernel: Kernel | KernelSummary) -> tuple[str, str, str, int]:
        """(name, mangled name, short name, length before a cut); empty if equal to the name."""
        name = name_of(kernel, "mangled" if self._style == "mangled" else "full")
        others = printable(kernel.symbol), self._brief[kernel.symbol]
        symbol, brief = ("" if other == name else other[:MOST_OF_A_NAME] for other in others)
        return name[:MOST_OF_A_NAME], symbol, brief, len(name)


def _input(code_object: CodeObject) -> tuple[Any, ...]:
    location = member_path(code_object.path, code_object.member)
    target, stamp = printable(code_object.target or ""), code_object.compiler or ""
    return location, code_object.kind, target, compiler_name(stamp), code_object.offset


def _case(occupancy: Occupancy) -> tuple[Any, ...]:
    """(target, demand, launch, numbers of the occupancy)."""
    allocated = occupancy.allocated
    return (
        occupancy.target,
        tuple(occupancy.demand),
        tuple(occupancy.launch),
        (
            *(occupancy.percent, occupancy.waves_per_simd, occupancy.limiters, occupancy.exact),
            *(allocated.vgprs, allocated.agprs, allocated.sgprs),
        ),
    )


def _source(kernel: Kernel) -> str:
    if kernel.source is not None:
        return printable(f"{kernel.source.file}:{kernel.source.line}")
    return "" if kernel.line is None else f"line {kernel.line}"


def _facts(kernel: Kernel) -> list[list[int | None]]:
    """[fact, source, value, line or offset] of each number."""
    index_of = [*_FACTS].index
    return [
        [index_of(f.name), SOURCES.index(f.source), f.value, kernel.line_of(f) or kernel.offset(f)]
        for f in kernel.traits.facts
        if f.name in _FACTS
    ]
