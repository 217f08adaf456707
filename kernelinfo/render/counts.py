"""Counts of kernels by library, member, target, file, limiter or waves, instead of the kernels."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from typing import Literal, NamedTuple, get_args

from kernelinfo.errors import OptionError
from kernelinfo.kernel import Item, Result, grouped
from kernelinfo.kernel.columns import find
from kernelinfo.kernel.record import BY_NAME, compared_value
from kernelinfo.render import View
from kernelinfo.render.messages import say
from kernelinfo.render.paint import number, sizes
from kernelinfo.render.tables import WRITERS, Row, Table

CountedBy = Literal["library", "member", "target", "file", "limiter", "waves"]
BY: tuple[CountedBy, ...] = get_args(CountedBy)
SCHEMA = "kernelinfo/counts/1"
HEADINGS = ("kernels", "spilling", "scratch", "waves lost", "code")


class KernelSums(NamedTuple):
    """Sums over some kernels; a number that a kernel does not state adds 0, and so does scratch
    that grows at run time."""

    kernels: int = 0  # number of kernels
    spilling: int = 0
    """Number of kernels that spill registers."""
    scratch_bytes_per_lane: int = 0  # sum in bytes over kernels whose scratch does not grow
    waves_lost: float = 0
    """Sum of the waves per SIMD below the number of slots."""
    code_bytes: int = 0  # sum of the bytes of code

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
    if format not in WRITERS:
        raise OptionError(
            say("format-without-counts", by=by, format=format, names=", ".join(WRITERS))
        )
    found = counts_by(items, by)
    has_total = by != "limiter" and len(found) > 1
    table = Table(
        (by, *KernelSums._fields),
        [(name, *sums) for name, sums in found.items()],
        SCHEMA,
        "counts",
        headings=(by, *HEADINGS),
        texts=_texts,
        kinds="tnnnnn",
        total=("all", *reduce(KernelSums.plus, found.values())) if has_total else (),
        legend="scratch, waves lost and code are sums: bytes per lane, waves/SIMD below the slots, "
        "bytes",
    )
    yield from WRITERS[format](table, view)


def _texts(rows: Sequence[Row]) -> list[tuple[str, ...]]:
    sums = sums_in_words([KernelSums(*row[1:]) for row in rows])
    return [(row[0], *words) for row, words in zip(rows, sums, strict=True)]
