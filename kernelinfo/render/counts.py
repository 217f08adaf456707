"""Counts of kernels by library, member, target, file, limiter or waves, instead of the kernels."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import reduce
from typing import Literal, NamedTuple, get_args

from kernelinfo.errors import OptionError
from kernelinfo.kernel import Item, Result, grouped
from kernelinfo.kernel.columns import find
from kernelinfo.kernel.record import BY_NAME, compared_value
from kernelinfo.render import RECORD_FORMATS, View
from kernelinfo.render.messages import say
from kernelinfo.render.names import printable
from kernelinfo.render.paint import fitted, number, painted, sizes, table_lines
from kernelinfo.render.records import render_document
from kernelinfo.render.table import hidden

CountedBy = Literal["library", "member", "target", "file", "limiter", "waves"]
BY: tuple[CountedBy, ...] = get_args(CountedBy)
SCHEMA = "kernelinfo/counts/1"
HEADINGS = ("kernels", "spilling", "scratch", "waves lost", "code")


class KernelSums(NamedTuple):
    """Sums over some kernels; a number that a kernel does not state adds 0, and so does scratch
    that grows at run time."""

    kernels: int = 0
    spilling: int = 0
    """Number of kernels that spill registers."""
    scratch_bytes_per_lane: int = 0
    waves_lost: float = 0
    """Waves per SIMD below the number of slots."""
    code_bytes: int = 0

    def plus(self, other: KernelSums) -> KernelSums:
        """The sums of both."""
        return KernelSums._make(map(sum, zip(self, other, strict=True)))


def sums_in_words(found: Sequence[KernelSums]) -> list[tuple[str, ...]]:
    """The cells of each of the sums, in the order of `HEADINGS`; a column has one unit."""
    scratch = sizes([one.scratch_bytes_per_lane for one in found])
    code = sizes([one.code_bytes for one in found])
    return [
        (
            grouped(one.kernels),
            grouped(one.spilling),
            scratch[at],
            grouped(one.waves_lost),
            code[at],
        )
        for at, one in enumerate(found)
    ]


def counts_by(items: Iterable[Item], by: CountedBy) -> dict[str, KernelSums]:
    """Library, target and so on → the sums over its kernels, most kernels first.

    A kernel with several limiters counts for each.
    """
    column = find(by)
    assert column
    found: dict[str, KernelSums] = {}
    for item in items:
        if isinstance(item, Result):
            value, one = column.value(item), _counts(item)
            for key in value if isinstance(value, tuple) else (value,):
                name = "?" if key is None else number(key) if isinstance(key, float) else str(key)
                found[name] = found.get(name, KernelSums()).plus(one)
    return dict(sorted(found.items(), key=lambda pair: (-pair[1].kernels, pair[0])))


def _counts(result: Result) -> KernelSums:
    kernel, occupancy = result.kernel, result.occupancy
    return KernelSums(
        kernels=1,
        spilling=int(kernel.spills.registers > 0),
        scratch_bytes_per_lane=int(compared_value(BY_NAME["Scratch_Size"], result) or 0),
        waves_lost=waves_lost(occupancy.waves_per_simd, occupancy.percent) if occupancy else 0,
        code_bytes=kernel.code_bytes or 0,
    )


def waves_lost(waves: float | None, percent: float | None) -> float:
    """Waves per SIMD below the number of slots; 0 if it is unknown or no workgroup can start."""
    return round(waves * (100 / percent - 1), 4) if waves and percent else 0


def render_counts(items: Iterable[Item], by: CountedBy, format: str, view: View) -> Iterator[str]:
    """The counts in a format. Raises `OptionError` for a format without tables."""
    if format not in RECORD_FORMATS:
        raise OptionError(say("format-without-counts", by=by, format=format))
    found = counts_by(items, by)
    if format == "text":
        yield from _text(found, by, view)
    else:
        records = [{by: name, **counts._asdict()} for name, counts in found.items()]
        yield from render_document({"schema": SCHEMA, "counts": records}, records, format)


def _text(found: Mapping[str, KernelSums], by: CountedBy, view: View) -> Iterator[str]:
    shown = [*found.items()][: view.top or None]
    sums = [(printable(name), counts) for name, counts in shown]
    if by != "limiter" and len(found) > 1:
        sums.append(("all", reduce(KernelSums.plus, found.values())))
    cells = sums_in_words([counts for _, counts in sums])
    rows = [(by, *HEADINGS), *((name, *row) for (name, _), row in zip(sums, cells, strict=True))]
    yield from (f"{line}\n" for line in table_lines(rows, "tnnnnn", view))
    yield from painted(hidden(len(found) - len(shown), "row"), view)
    if not view.quiet:
        text = " scratch, waves lost and code are sums: bytes per lane, waves/SIMD below the slots"
        yield from painted(fitted([(f"{text}, bytes", "dim")], view, 1), view)
