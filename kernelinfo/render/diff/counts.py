"""Counts of two builds by library, target and so on, instead of the kernels that moved."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence

from kernelinfo.compare import Comparison
from kernelinfo.compare.summary import KernelSummary
from kernelinfo.errors import OptionError
from kernelinfo.kernel.code_object import library_of, member_file
from kernelinfo.kernel.columns import KernelSums
from kernelinfo.model.limits import RESOURCES
from kernelinfo.render import View
from kernelinfo.render.diff.rows import arrow
from kernelinfo.render.messages import say
from kernelinfo.render.names import printable
from kernelinfo.render.paint import number
from kernelinfo.render.rows import (
    COUNTED,
    HEADINGS,
    CountedBy,
    counted_sums,
    sums_in_words,
    waves_lost,
)
from kernelinfo.render.tables import WRITERS, Row, Table

SCHEMA = "kernelinfo/diff-counts/1"


def render_counts(comparison: Comparison, by: CountedBy, format: str, view: View) -> Iterator[str]:
    """The counts of both builds in a format, the most changed first.

    Raises `OptionError` for a format without tables.
    """
    if format not in WRITERS:
        raise OptionError(
            say("format-without-counts", by=by, format=format, names=", ".join(WRITERS))
        )
    files = comparison.names or ("", "")
    old = _counts((*(pair.old for pair in comparison.pairs), *comparison.gone), by, files[0])
    new = _counts((*(pair.new for pair in comparison.pairs), *comparison.new), by, files[1])
    rows = [
        (name, old.get(name, KernelSums()), new.get(name, KernelSums())) for name in {**new, **old}
    ]
    rows.sort(key=lambda row: (row[1] == row[2], -abs(row[2].waves_lost - row[1].waves_lost)))
    table = Table(
        (by, *(f"{side}_{field}" for side in ("old", "new") for field in COUNTED)),
        [(name, *counted_sums(before), *counted_sums(after)) for name, before, after in rows],
        SCHEMA,
        "counts",
        headings=(by, *HEADINGS),
        texts=_texts,
        kinds="tnnnnnn",
    )
    yield from WRITERS[format](table, view)


def _texts(rows: Sequence[Row]) -> list[tuple[str, ...]]:
    half = 1 + len(COUNTED)
    return in_both([(row[0], row[1:half], row[half:]) for row in rows])


def in_both(rows: Sequence[tuple[str, Row, Row]]) -> list[tuple[str, ...]]:
    """The name and the `counted_sums` of each row, `26 → 27` for those of both builds."""
    sums = sums_in_words(build for _, old, new in rows for build in (old, new))
    return [
        (printable(name), *map(arrow, old, new))
        for (name, *_), old, new in zip(rows, sums[::2], sums[1::2], strict=True)
    ]


def _counts(kernels: Iterable[KernelSummary], by: CountedBy, file: str) -> dict[str, KernelSums]:
    """Library, target and so on → the sums over its kernels. `file` is that of a build of one."""
    counts: dict[str, KernelSums] = {}
    for kernel in kernels:
        numbers = kernel.numbers
        spills = (numbers.vgpr_spills or 0) + (numbers.sgpr_spills or 0)
        sums = KernelSums(
            kernels=1,
            waves_per_simd=numbers.waves_per_simd or 0,
            spilling=int(spills > 0),
            worst_spills=spills,
            scratch_bytes_per_lane=numbers.scratch_bytes_per_lane or 0,
            vgprs=numbers.vgprs or 0,
            code_bytes=numbers.code_bytes or 0,
            waves_lost=waves_lost(numbers.waves_per_simd, numbers.percent),
        )
        for name in _names(kernel, by, file):
            counts[name] = counts.get(name, KernelSums()).plus(sums)
    return counts


def _names(kernel: KernelSummary, by: CountedBy, file: str) -> tuple[str, ...]:
    """The library, target and so on of a kernel; several for its limiters."""
    path, member = kernel.place
    path = path or os.path.basename(file)
    if by == "limiter":
        return tuple(RESOURCES[limiter] for limiter in kernel.numbers.limiters) or ("?",)
    if by == "waves":
        waves = kernel.numbers.waves_per_simd
        return ("?" if waves is None else number(waves),)
    names = {
        "library": library_of(path) if path else "",
        "member": member_file(member),
        "target": kernel.target,
        "file": path,
    }
    return (names[by] or "?",)
