"""Rows of a comparison: one per moved, gone or new kernel; headlines and totals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Sequence
from itertools import chain
from typing import Literal, NamedTuple

from kernelinfo.compare import Comparison, Totals
from kernelinfo.compare.changes import Effect, LoopMove, Match, Move, Pair, effect, in_words
from kernelinfo.compare.summary import KernelSummary
from kernelinfo.kernel import counted, grouped, record
from kernelinfo.kernel.code_object import library_of, member_file
from kernelinfo.kernel.names import base_name
from kernelinfo.render import NameStyle, View, paint
from kernelinfo.render.messages import say
from kernelinfo.render.names import BETWEEN, name_of, printable, several, told_apart

Status = Effect | Literal["renamed", "gone", "new"]
"""renamed: only the name changed. gone: only in the old build. new: only in the new build."""

AFFECTED: tuple[Status, ...] = ("worse", "mixed", "changed", "better")
_ORDER: tuple[Status, ...] = (*AFFECTED, "gone", "new", "moved", "renamed")
_MOST_WHOLE = 8
"""Most targets and libraries to name."""
ROOM = 40
"""Columns of names; a longer name shifts the rest of its line."""
_SPILLED = ("vgpr_spills", "sgpr_spills", "scratch_bytes_per_lane")


class ChangedKernel(NamedTuple):
    """A kernel of either build, such as one that moved, is gone or is new."""

    status: Status
    old: KernelSummary | None  # as it was; None for a new kernel
    new: KernelSummary | None  # as it is; None for a kernel that is gone
    match: Match | None = None  # how it was known again, loosest last; None if it was not
    moves: tuple[Move, ...] = ()  # numbers that are not what they were
    options: str = ""
    """Triton's constants and options in which the builds' kernels of this name differ."""
    loops: tuple[LoopMove, ...] = ()  # loops that are not what they were

    @property
    def why(self) -> str:
        """What changed between the two kernels and what limits them, in words; for a kernel that
        one build lacks, its waves."""
        if self.old is None or self.new is None:
            return f"{'had' if self.new is None else 'has'} {_waves(self.kernel)}"
        loosely = "paired by base name alone" if self.match == "base-name" else ""
        pair = Pair(self.old, self.new)
        beside = f"also {pair.beside}" if pair.beside else ""
        return "; ".join(filter(None, (loosely, pair.why, beside, *in_words(self.loops))))

    @property
    def has_matrix_loop(self) -> bool:
        """True if a loop with matrix instructions moved."""
        return any(move.loop.counts.matrix for move in self.loops)

    @property
    def kernel(self) -> KernelSummary:
        """The kernel in the new build, or in the old one if it is gone."""
        kernel = self.new or self.old
        assert kernel is not None
        return kernel

    @property
    def sides(self) -> tuple[KernelSummary, KernelSummary]:
        """(old, new) kernel; a gone or new kernel is on both sides."""
        return self.old or self.kernel, self.new or self.kernel


def place(kernel: KernelSummary) -> str:
    """Library or member of a kernel: `libfoo.so.1`; empty for a build of one file or source."""
    path, member = kernel.place
    origin = (member or path).partition(":")[0]
    if origin == kernel.processor:  # a source compiled for several targets
        return ""
    return printable(member_file(member).rpartition("/")[2] or (library_of(path) if path else ""))


def folded_rows(
    changed: Sequence[ChangedKernel],
    names: NameStyle,
    top: int | None = None,
    *,
    has_target_column: bool,
) -> list[tuple[list[ChangedKernel], str, str]]:
    """(rows, name, suffix) of each group of rows that differ only in library and target, in the
    order of the first row of each; at most `top` groups.

    The suffix tells groups of the same name apart: ` · gfx90a · libfoo.so + 7 more × 8` names the
    target, the libraries and the number of rows. It omits the target if the table has a column of
    targets.
    """
    equal: dict[tuple[str, ...], list[ChangedKernel]] = {}
    for row in changed:
        name = arrow(*(name_of(kernel, names) for kernel in row.sides))
        target = (target_of(row),) if has_target_column else ()
        equal.setdefault((row.status, name, row.why, row.options, *target), []).append(row)
    groups = [*equal.values()][:top]
    changed = [row for group in groups for row in group]
    targets = not has_target_column and len({*map(target_of, changed)}) > 1
    places = len({place(row.kernel) for row in changed}) > 1
    texts = [
        name
        + among(map(target_of, group)) * targets
        + among(place(row.kernel) for row in group) * places
        + (BETWEEN + group[0].options if group[0].options else "")
        for (_, name, *_), group in zip(equal, groups, strict=False)
    ]
    texts = told_apart([[row.kernel for row in group] for group in groups], texts, targets=False)
    return [
        (group, name, text[len(name) :] + f" × {len(group)}" * (len(group) > 1))
        for (_, name, *_), group, text in zip(equal, groups, texts, strict=False)
    ]


def fitting_names(changed: Sequence[ChangedKernel], view: View) -> NameStyle:
    """The style of names: short if whole names are too long for a terminal and the user chose no
    style."""
    if not view.may_shorten:
        return view.names
    longest = max((paint.cells(name_of(row.kernel, view.names)) for row in changed), default=0)
    return "short" if longest > min(ROOM, view.width // 2) else view.names


def target_of(row: ChangedKernel) -> str:
    """Target of the kernel; `old → new` if it changed."""
    return printable(arrow(*(kernel.target for kernel in row.sides)))


def among(texts: Iterable[str]) -> str:
    """The targets or libraries of the rows: ` · libfoo.so + 7 more`; empty if the rows have
    none."""
    text = several(texts)
    return f"{BETWEEN}{text}" if text else ""


def rows(comparison: Comparison) -> list[ChangedKernel]:
    """All rows: affected kernels first, worst first. The order of kernels in the builds does not
    matter."""
    changed = [row for row in every_kernel(comparison) if row.status != "same"]
    kernels = chain((pair.new for pair in comparison.pairs), comparison.gone, comparison.new)
    return with_options(sorted(changed, key=_worst_first), kernels)


def with_options(
    changed: Sequence[ChangedKernel], among: Iterable[KernelSummary]
) -> list[ChangedKernel]:
    """The rows, each with the Triton options that differ between kernels of its name `among` these
    kernels."""
    if not any(row.kernel.options for row in changed):
        return [*changed]
    shared: dict[str, frozenset[tuple[str, str]]] = {}
    for kernel in among:
        options = frozenset(kernel.options)
        shared[kernel.name] = shared.get(kernel.name, options) & options
    return [
        row._replace(options=options_in_words(row.kernel, shared[row.kernel.name]))
        for row in changed
    ]


def options_in_words(kernel: KernelSummary, but: Container[tuple[str, str]] = ()) -> str:
    """The kernel's options as text, without those named in `but`: `BLOCK_M=128 num_warps=4`."""
    return " ".join(
        printable(f"{name}={value}") for name, value in kernel.options if (name, value) not in but
    )


def counts(changed: Sequence[ChangedKernel], moved: int | None = None) -> dict[Status, int]:
    """The number of rows of each status that occurs. `moved` is the number of rows of
    status `moved`, if `changed` lacks some of them."""
    counted = Counter(row.status for row in changed)
    if moved is not None:
        counted["moved"] = moved
    return {status: counted[status] for status in _ORDER if counted[status]}


def headline(changed: Sequence[ChangedKernel], moved: int | None = None) -> str:
    """The counts: `affected: 2 worse, 1 better · 1 gone · 12 moved within their steps`."""
    counted = counts(changed, moved)
    words = {"moved": "moved within their steps", "renamed": "only renamed"}
    affected = [f"{counted[status]} {status}" for status in AFFECTED if status in counted]
    rest = [
        f"{n} {words.get(status, status)}"
        for status, n in counted.items()
        if status not in AFFECTED
    ]
    return " · ".join([f"affected: {', '.join(affected)}" if affected else "none affected", *rest])


MANY = 4
"""Number of kernels from which on sums say more than one row per kernel."""


def roll_up(comparison: Comparison, changed: Sequence[ChangedKernel]) -> str:
    """The totals in a line, in the style of Mesa's shader-db."""
    old, new = comparison.totals
    waves = ""
    if len(comparison.pairs) >= MANY:
        waves = f" · {_roll_up_of_waves(comparison, old, new)}"
    return (
        f"kernels {grouped(len(comparison.pairs))}"
        f" · affected {grouped(sum(row.status in AFFECTED for row in changed))}"
        f"{waves}"
        f" · spilling {grouped(old.spilling)} → {grouped(new.spilling)}"
        f" · scratch summed {_sizes(old.scratch_bytes_per_lane, new.scratch_bytes_per_lane)}"
    )


def _roll_up_of_waves(comparison: Comparison, old: Totals, new: Totals) -> str:
    """Sum of waves (`waves/SIMD summed over 9 kernels 84 → 83 (−1.2 %)`); if the kernels of a pair
    differ in processor or wave size, the mean percent of the wave slots."""
    stated = sum(
        None not in (pair.old.numbers.percent, pair.new.numbers.percent)
        for pair in comparison.pairs
    )
    if not all(pair.compares_waves for pair in comparison.pairs):
        means = (f"{total.percent / max(1, stated):.1f}" for total in (old, new))
        return f"occupancy {' → '.join(means)} % on average"
    share = 0.0
    if old.waves_per_simd:
        share = 100 * (new.waves_per_simd - old.waves_per_simd) / old.waves_per_simd
    sign = "+" if share > 0 else "−" if share < 0 else ""
    waves = f"{grouped(old.waves_per_simd)} → {grouped(new.waves_per_simd)}"
    over = f"summed over {counted(stated, 'kernel')}"
    return f"waves/SIMD {over} {waves} ({sign}{abs(share):.1f} %)"


def toolchain(comparison: Comparison) -> str:
    """Changed compilers and their effect: `clang 19.1.7 → clang 22.1.8: 9 of 40 kernels moved`.

    Empty if they are the same.
    """
    builds = (comparison.old_compilers, comparison.new_compilers)
    if builds[0] == builds[1]:
        return ""
    before, after = (names or "unknown compiler" for names in compilers_in_words(*builds))
    moved = sum(bool(pair.moves) for pair in comparison.pairs)
    kernels = counted(len(comparison.pairs), "kernel")
    return printable(f"{before} → {after}: {grouped(moved)} of {kernels} moved")


def compilers_in_words(*builds: Sequence[str]) -> list[str]:
    """Names and versions of the compilers of each build. If these are equal in all builds, whole
    stamps instead."""
    names = [", ".join(dict.fromkeys(map(paint.compiler_name, stamps))) for stamps in builds]
    return names if len({*names}) > 1 else [", ".join(stamps) for stamps in builds]


def loosely_paired(comparison: Comparison) -> str:
    """A hint to use --loose if it would pair gone kernels with new ones; else empty."""
    gone, new = (
        Counter((base_name(kernel.name), kernel.processor) for kernel in side)
        for side in (comparison.gone, comparison.new)
    )
    count = sum(gone[name] == new[name] == 1 for name in gone)
    if not count:
        return ""
    return say(
        "kernel-gone-and-new" if count == 1 else "kernels-gone-and-new",
        kernels=counted(count, "gone kernel"),
    )


def retargeted(comparison: Comparison) -> str:
    """Changed targets: `gfx90a:xnack+ → gfx90a`; empty if none changed."""
    changes = (arrow(old, new) for old, new in sorted(comparison.retargeted))
    return printable(", ".join(changes))


def whole_moves(comparison: Comparison) -> Iterator[tuple[str, str, str, int]]:
    """(`target` or `library`, its name, `gone` or `new`, number of kernels) of each target and
    library that only one build has."""

    if not comparison.gone and not comparison.new:
        return

    def library(kernel: KernelSummary) -> str:
        path, member = kernel.place
        return library_of(path) if path and member else ""  # else a file of one target

    for noun, name_of_whole in (("target", lambda kernel: kernel.target), ("library", library)):
        gone = Counter(map(name_of_whole, comparison.gone))
        new = Counter(map(name_of_whole, comparison.new))
        kept = {name_of_whole(kernel) for pair in comparison.pairs for kernel in pair[:2]}
        for status, counts, counterparts in (("gone", gone, new), ("new", new, gone)):
            for name in sorted(counts.keys() - kept - counterparts.keys() - {""}):
                yield noun, name, status, counts[name]


def whole(comparison: Comparison) -> str:
    """Targets and libraries that only one build has: `target gfx1030 is gone: 2 kernels`."""
    moves = [
        f"{noun} {printable(name)} is {status}: {counted(kernels, 'kernel')}"
        for noun, name, status, kernels in whole_moves(comparison)
    ]
    return " · ".join(
        [*moves[:_MOST_WHOLE], *([f"{len(moves)} in all"] * (len(moves) > _MOST_WHOLE))]
    )


def unread(comparison: Comparison) -> str:
    """A warning that kernels may be missing because some input was not read; empty if both builds
    were read completely."""
    if not comparison.problems:
        return ""
    return say("builds-unread", problems=counted(len(comparison.problems), "problem"))


def arrow(old: str, new: str) -> str:
    """`old → new`, or one of them if they are equal."""
    return new if old == new else f"{old} → {new}"


def every_kernel(comparison: Comparison) -> Iterator[ChangedKernel]:
    """All kernels of both builds, equal ones included."""
    yield from map(of_pair, comparison.pairs)
    yield from (ChangedKernel("gone", kernel, None) for kernel in comparison.gone)
    yield from (ChangedKernel("new", None, kernel) for kernel in comparison.new)


def of_pair(pair: Pair) -> ChangedKernel:
    """The row of a pair; its status is `same` if no number, loop or name changed."""
    moves, loops = pair.moves, pair.loops
    status: Status = effect(moves)
    if status == "same" and (loops or pair.renamed):
        status = "moved" if loops else "renamed"
    return ChangedKernel(status, pair.old, pair.new, pair.match, moves, loops=loops)


def _worst_first(row: ChangedKernel) -> tuple[object, ...]:
    by_measure = {move.measure: move for move in row.moves}
    waves = by_measure.get("waves_per_simd") or by_measure.get("percent")
    left = (waves.new or 0) / waves.old if waves and waves.old else 1
    gained = sum(
        (move.new or 0) - (move.old or 0) for move in row.moves if move.measure in _SPILLED
    )
    kernel = row.kernel
    order = _ORDER.index(row.status), left, -gained, not row.has_matrix_loop
    return (*order, kernel.name, kernel.target, kernel.code_object)


def _waves(kernel: KernelSummary) -> str:
    numbers = kernel.numbers
    if numbers.waves_per_simd is None:
        return "? waves/SIMD"
    return paint.bound(numbers.exact) + paint.waves_per_simd(numbers.waves_per_simd)


def _sizes(old: float, new: float) -> str:
    """Two sizes with their unit: `2.1 → 2.6 KiB`."""
    unit, per = ("KiB", 1024) if max(old, new) >= 1024 else ("B", 1)
    return f"{grouped(old / per)} → {grouped(new / per)} {unit}"


_SUMMED = {
    "vgprs": "VGPRs",
    "sgprs": "SGPRs",
    "spills": "spills",
    "scratch_bytes_per_lane": "scratch",
    "lds_bytes": "LDS",
    "code_bytes": "code",
}
"""Key of `moved_sums` → name in the line."""


class MovedSum(NamedTuple):
    """One number, summed over the pairs that state it in both builds."""

    old: int  # sum in the old build
    new: int  # sum in the new build
    less: int
    """Number of kernels with less in the new build."""
    more: int  # number of kernels with more in the new build


def totals(comparison: Comparison) -> str:
    """`Totals from 2 (50 %) moved kernels: VGPRs −16 (−7.1 %, 2 better), …`; empty if none moved.

    Fewer instructions count as `less`, not as better.
    """
    moved = [pair for pair in comparison.pairs if pair.moves]
    if not moved:
        return ""
    share = 100 * len(moved) / len(comparison.pairs)
    sums = moved_sums(moved)
    parts = [f"{name} {_change(sums[key], 'better', 'worse')}" for key, name in _SUMMED.items()]
    parts += [
        f"{number.noun} {_change(sums[number.field], 'less', 'more')}"
        for number in record.INSTRUCTIONS
        if number.field in sums
    ]
    kernels = "kernel" if len(moved) == 1 else "kernels"
    return (
        f"Totals from {grouped(len(moved))} ({_percent(share)}) moved {kernels}: {', '.join(parts)}"
    )


def moved_sums(moved: Sequence[Pair]) -> dict[str, MovedSum]:
    """For each key of `_SUMMED`, its sum over the kernels that moved; `spills` are those of VGPRs
    and SGPRs together. Instruction counts are included if they moved."""
    sums = {
        key: _sum(moved, ("vgpr_spills", "sgpr_spills") if key == "spills" else (key,))
        for key in _SUMMED
    }
    fields = [number.field for number in record.INSTRUCTIONS if number.field != "other"]
    counted = {field: _sum(moved, (field,)) for field in fields}
    return sums | {field: total for field, total in counted.items() if total.less or total.more}


def _sum(pairs: Iterable[Pair], fields: Sequence[str]) -> MovedSum:
    before = after = less = greater = 0
    for pair in pairs:
        sides = pair.old.numbers, pair.new.numbers
        values = [tuple(getattr(side, field) for side in sides) for field in fields]
        stated = [(old, new) for old, new in values if old is not None and new is not None]
        old, new = sum(old for old, _ in stated), sum(new for _, new in stated)
        before, after = before + old, after + new
        less, greater = less + (new < old), greater + (new > old)
    return MovedSum(before, after, less, greater)


def _change(total: MovedSum, less: str, greater: str) -> str:
    """`−16 (−7.1 %, 2 better, 1 worse)`, or `0`. `less` and `greater` are the words for kernels
    that have less or more in the new build."""
    counts = ((total.less, less), (total.more, greater))
    split = [f"{grouped(count)} {word}" for count, word in counts if count]
    by = total.new - total.old
    if by and total.old:
        split.insert(0, f"{_sign(by)}{_percent(100 * abs(by) / total.old)}")
    return f"{_sign(by)}{grouped(abs(by))}" + (f" ({', '.join(split)})" if split else "")


def _sign(by: float) -> str:
    return "+" if by > 0 else "−" if by < 0 else ""


def _percent(share: float) -> str:
    """A percentage with two significant digits: `0.61 %`, `12 %`."""
    return f"{share:.2g} %" if share < 100 else f"{share:.0f} %"
