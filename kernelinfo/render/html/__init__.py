"""The report as one HTML page that fetches nothing, from the templates and scripts of this folder.

Charts are SVG of our own. A charting library would be several times as large as the page, and would
lack hatching, labels for screen readers, print, and both colour schemes by CSS.
"""

from __future__ import annotations

import zlib
from base64 import b64encode
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from json import dumps
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

from kernelinfo import __version__
from kernelinfo.hardware import targets
from kernelinfo.kernel import Item, Kernel, Repeat, Result, record
from kernelinfo.kernel.code_object import CodeObject, library_of, member_file
from kernelinfo.kernel.names import KernelName
from kernelinfo.kernel.traits import LDS_NOT_STATED
from kernelinfo.model import Occupancy
from kernelinfo.reading.blob import Problem
from kernelinfo.reading.facts import SOURCES
from kernelinfo.render import NameStyle, View, notes, paint
from kernelinfo.render.json import as_json
from kernelinfo.render.names import member_path, name_of, names_of, printable
from kernelinfo.rules import BY_DEFAULT

if TYPE_CHECKING:
    from kernelinfo.compare.summary import KernelSummary
    from kernelinfo.render.names import Named

_SCRIPTS = (
    *("pieces.js", "model.js", "steps.js", "occupancy.js", "words.js", "dom.js", "address.js"),
    *("places.js", "report.js", "chart.js", "curves.js", "unit.js", "whatif.js", "outcome.js"),
    *("findings.js", "resources.js", "kernel.js", "controls.js", "filters.js", "blocks.js"),
    *("table.js", "columns.js", "histogram.js", "scatter.js", "problems.js", "fleet.js", "main.js"),
)
TABLE_SCRIPTS = (
    *("pieces.js", "words.js", "dom.js", "address.js", "places.js", "chart.js", "blocks.js"),
    *("table.js", "controls.js"),
)
"""Scripts of a page with a table that filters and sorts."""


def render(
    items: Iterable[Item],
    view: View,
    parts: Mapping[str, Mapping[Any, Any]] | None = None,
    code: CodePieces | None = None,
    scripts: Sequence[str] = (),
) -> Iterator[str]:
    """The page of a report, written while the items come in.

    `parts` maps the name of a further script to its data: `pressure` has curves of live registers
    by kernel number, `gate` the outcome of a check. `code` makes pieces of kernels' code, which the
    further `scripts` draw."""
    parts = parts or {}
    scripts = (*_SCRIPTS[:-1], *(f"{part}.js" for part in parts), *scripts, _SCRIPTS[-1])
    return page(pieces(items, view, parts, code), scripts)


def render_given(occupancy: Occupancy, title: str, view: View) -> Iterator[str]:
    """The what-if page of given numbers, without a file."""
    return page(given_pieces(occupancy, title, view), _SCRIPTS)


def page(pieces: Iterable[str], scripts: Sequence[str]) -> Iterator[str]:
    """A page with its data in pieces and the scripts, in the order of their dependencies."""
    from jinja2 import Environment, PackageLoader  # 30 ms; JSON and CSV stand beside pages

    environment = Environment(loader=PackageLoader("kernelinfo.render", "html"), autoescape=True)
    template = environment.get_template("page.html")
    yield from template.generate(version=__version__, scripts=scripts, pieces=pieces)


# A report as compact JSON for the page; values that kernels share are stored once.

# The data of a page in pieces: JSON elements that are written as soon as they are known.

_T = TypeVar("_T")
_V = TypeVar("_V", bound=Hashable)

ROWS = 2000
"""Most rows of a piece."""
_PLAIN = 1 << 16
"""Characters above which a piece is compressed, to a tenth. Shorter ones stay readable."""


PieceKind = Literal["data", "source", "text", "details", "code"]
"""`data` is read when the page opens; `details`, `code` and `text` are read when a kernel is
opened. `source`, the path of a source file whose lines are a `text`, is listed on the page."""


def piece(value: Any, kind: PieceKind = "data") -> str:
    """An element of the page with `value` as JSON, or as base64 of its zlib stream if it is
    long."""
    text, packed = dumps(value, separators=(",", ":")), ""
    for character in "<>&'":  # so that no text ends the element
        text = text.replace(character, f"\\u{ord(character):04x}")
    if len(text) > _PLAIN:
        text, packed = b64encode(zlib.compress(text.encode())).decode(), " data-packed"
    return f'<script type="application/json" data-piece="{kind}"{packed}>{text}</script>'


def batches(values: Iterable[_T]) -> Iterator[Sequence[_T]]:
    """The values in lists of at most `ROWS`."""
    rest = iter(values)
    while batch := list(islice(rest, ROWS)):
        yield batch


class Shared(Generic[_V]):
    """Values that many rows share. Rows hold indices; pieces hold the values."""

    def __init__(self) -> None:
        self._numbers: dict[_V, int] = {}
        self._fresh: list[_V] = []

    def __call__(self, value: _V) -> int:
        """The number of a value, counted from 0 in the order of first use."""
        number = self._numbers.get(value)
        if number is None:
            number = self._numbers[value] = len(self._numbers)
            self._fresh.append(value)
        return number

    @property
    def values(self) -> list[_V]:
        """All values, in the order of their numbers."""
        return [*self._numbers]

    def fresh(self) -> list[_V]:
        """Values that no piece holds yet, in the order of their numbers."""
        fresh, self._fresh = self._fresh, []
        return fresh


MOST_OF_A_NAME = 4000
"""Most characters of a kernel's name in the page. A cut name states its length."""

_FACTS: dict[str, str] = {number.field: number.noun or number.unit for number in record.NUMBERS} | {
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
    "counters",
}
"""Fields of a target that the page's arithmetic does not use."""

CodePieces = Callable[[Sequence[Result]], Iterator[str]]
"""A function that makes pieces of the code of some kernels."""

_COLUMNS = ("title", "input", "case", "used", "spills", "findings", "compiler")
"""Cells of a row of `kernels`. All but the last two are numbers of shared values."""
_SHARED = ("inputs", "cases", "used", "spills", "findings", "texts")
"""Kinds of values that kernels share."""


def pieces(
    items: Iterable[Item],
    view: View,
    parts: Mapping[str, Mapping[Any, Any]],
    code: CodePieces | None = None,
) -> Iterator[str]:
    """The report as JSON, in pieces. Only what kernels share is kept in memory."""
    yield _head(view)
    problems: list[Problem] = []
    repeats: list[Repeat] = []
    titles = Shared[KernelName]()
    shared = {name: Shared[Hashable]() for name in _SHARED}
    for batch in batches(_results(items, problems, repeats)):
        rows = [_row(result, titles, shared) for result in batch]
        details = [_details(result, shared["texts"]) for result in batch]
        yield piece({"kernels": rows, "titles": fresh_titles(titles, view.names), **_fresh(shared)})
        yield piece(details, "details")
        if code:
            yield from code(batch)
    copies = [
        (*(member_path(origin.path, origin.member) for origin in (copy, copy.first)), copy.is_exact)
        for copy in repeats
    ]
    yield piece(
        {
            "kernels": [],
            "titles": [],
            **_fresh(shared),
            "briefs": brief_titles(titles, view.names),
            "problems": problem_rows(problems),
            "repeats": copies,
            **parts,
        }
    )


def given_pieces(occupancy: Occupancy, title: str, view: View) -> Iterator[str]:
    """The occupancy of given numbers, in the form of a report of one kernel, without findings and
    sources."""
    yield _head(view)
    demand = occupancy.demand
    yield piece(
        {
            "is_given": True,
            "kernels": [(0, 0, 0, 0, 0, (), None)],
            "titles": [(title, "", len(title))],
            "briefs": [""],
            "inputs": [("", "given", occupancy.target, occupancy.target, "", None, "", "", ())],
            "cases": [_case(occupancy)],
            "used": [(demand.vgprs, demand.agprs, demand.sgprs, demand.lds_bytes)],
            "spills": [(0, 0, None)],
            **dict.fromkeys(("findings", "texts", "problems", "repeats"), ()),
        }
    )
    yield piece([("", (), (), ())], "details")


def _fresh(shared: Mapping[str, Shared[Hashable]]) -> dict[str, list[Hashable]]:
    """The shared values that no piece holds yet."""
    return {name: values.fresh() for name, values in shared.items()}


def _head(view: View) -> str:
    """Names of columns and sources, the rules, and the arithmetic of every target."""
    arithmetic = {name: as_json(targets.find(name), _NOT_COUNTED) for name in targets.known()}
    return piece(
        {
            "columns": _COLUMNS,
            "rows": ROWS,
            "facts": list(_FACTS.values()),
            "sources": SOURCES,
            "lds_not_stated": LDS_NOT_STATED,
            "rules": [
                (rule.number, rule.name, rule.severity, rule.fixed)
                for rule in (view.selection or BY_DEFAULT).rules()
            ],
            "targets": arithmetic,
        }
    )


def _results(
    items: Iterable[Item], problems: list[Problem], repeats: list[Repeat]
) -> Iterator[Result]:
    """The results among the items; other items are appended to the lists."""
    for item in items:
        if isinstance(item, Result):
            yield item
        elif isinstance(item, Problem):
            problems.append(item)
        elif isinstance(item, Repeat):
            repeats.append(item)


def _row(
    result: Result, titles: Shared[KernelName], shared: Mapping[str, Shared[Hashable]]
) -> list[Any]:
    """Cells of a kernel in the order of `_COLUMNS`."""
    kernel, occupancy = result.kernel, result.occupancy
    used, compiler = kernel.numbers, result.compiler_number
    return [
        titles(title(kernel)),
        shared["inputs"](_input(kernel.code_object)),
        None if occupancy is None else shared["cases"](_case(occupancy)),
        shared["used"]((used.vgprs, used.agprs, used.sgprs, used.lds_bytes)),
        shared["spills"]((used.vgpr_spills, used.sgpr_spills, used.scratch_bytes_per_lane)),
        [
            shared["findings"]((f.rule, f.name, f.severity, printable(f.message), f.hint))
            for f in result.findings
        ],
        [compiler.waves_per_simd, shared["texts"](compiler.reason or "agrees")]
        if compiler and compiler.agrees is not None
        else None,
    ]


def _details(result: Result, texts: Shared[Hashable]) -> list[Any]:
    """Source line, sentences on the code and on a profile, and facts, for a kernel's page."""
    return [
        _source(result.kernel),
        [texts(part) for part in notes.code_parts(result.kernel.code)],
        [texts(line) for line in notes.expected(result)],
        _facts(result.kernel),
    ]


def problem_rows(problems: Iterable[Problem]) -> list[tuple[Any, ...]]:
    """(path, member, line, offset, message) of each problem."""
    return [
        (printable(p.path), printable(p.member or ""), p.line, p.offset, printable(p.message))
        for p in problems
    ]


def title(kernel: Named) -> KernelName:
    """The names that make up a kernel's title; `titles(title(kernel))` is the number of the
    title."""
    return KernelName(kernel.name, kernel.symbol)


def fresh_titles(titles: Shared[KernelName], style: NameStyle) -> list[tuple[str, str, int]]:
    """(name, mangled name or empty if equal, length before truncation) of titles that no piece
    holds yet."""
    return [_title(kernel, style) for kernel in titles.fresh()]


def brief_titles(titles: Shared[KernelName], style: NameStyle) -> list[str]:
    """Short names as in the text report, unique, by number of title; empty if equal to the name.
    They depend on all kernels, so they come last."""
    kernels = titles.values
    short = names_of(kernels, "short" if style == "full" else style)
    cut = [short[kernel.symbol][:MOST_OF_A_NAME] for kernel in kernels]
    names = [_title(kernel, style)[0] for kernel in kernels]
    return ["" if brief == name else brief for brief, name in zip(cut, names, strict=True)]


def _title(kernel: KernelName, style: NameStyle) -> tuple[str, str, int]:
    name = name_of(kernel, "mangled" if style == "mangled" else "full")
    symbol = printable(kernel.symbol)
    shown = "" if symbol == name else symbol[:MOST_OF_A_NAME]
    return name[:MOST_OF_A_NAME], shown, len(name)


def _input(code_object: CodeObject) -> tuple[Any, ...]:
    """The source of kernels as a row of the page: location, kind, processor, target id, compiler,
    offset, file or member, its short name, options of Triton."""
    return (
        member_path(code_object.path, code_object.member),
        code_object.kind,
        printable(code_object.target or ""),
        printable(code_object.target_id or ""),
        paint.compiler_name(code_object.compiler or ""),
        code_object.offset,
        *place(code_object.path, code_object.member),
        tuple(printable(f"{name}={value}") for name, value in code_object.options),
    )


def place(path: str, member: str | None) -> tuple[str, str]:
    """(path of a file or of an archive's member, short name). The entry of a bundle, which names a
    target, is left out."""
    file = member_file(member or "")
    name = file.rpartition("/")[2] if file else library_of(path) if path else ""
    return member_path(path, file), printable(name)


def place_of(kernel: KernelSummary) -> tuple[str, str, str]:
    """(target, file or member file, its short name) of a compared kernel."""
    return printable(kernel.target), *place(*kernel.place)


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
    """[index into `_FACTS`, index into `SOURCES`, value, line or offset in bytes] of each
    number."""
    index_of = [*_FACTS].index
    return [
        [index_of(f.name), SOURCES.index(f.source), f.value, kernel.line_of(f) or kernel.offset(f)]
        for f in kernel.traits.facts
        if f.name in _FACTS
    ]
