"""Kernels that have another name than in the baseline: likely renames, and those that the user
states."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from shlex import quote

from kernelinfo.compare import Comparison
from kernelinfo.compare.changes import Pair
from kernelinfo.compare.summary import KernelSummary
from kernelinfo.errors import Message, OptionError, or_list
from kernelinfo.gate.messages import say
from kernelinfo.kernel.names import base_name, matches, stem, without_namespace
from kernelinfo.kernel.record import NUMBERS

_LEAST_ALIKE = 0.5
"""Least share of two base names that their common prefix and suffix cover if they are alike."""
_MOST_APART = 0.1
"""Largest mean relative difference of the numbers of two kernels with unlike names that are taken
for the same kernel."""
_MOST_PAIRS = 1 << 14
"""Most possible pairs with equal library, target and template arguments. If there are more, none of
them is proposed."""
_MOST_NAMED = 3
_COMPARED = tuple(number.field for number in NUMBERS if number.better)


def find_likely(
    missed: Iterable[KernelSummary],
    new: Iterable[KernelSummary],
    given_up: Iterable[KernelSummary] = (),
) -> tuple[Pair, ...]:
    """Pairs of a gone kernel and the new kernel that is likely the same one.

    The two agree in library, target and template arguments, each is the other's nearest by name and
    numbers (code size included), and either their names are alike, or their parameters agree and
    their numbers nearly do. Kernels that the user dropped get no successor, nor
    do those of a group with too many possible pairs (`_MOST_PAIRS`).
    """
    stated = set(map(id, given_up))
    gone = [kernel for kernel in missed if id(kernel) not in stated]
    groups: dict[object, list[KernelSummary]] = defaultdict(list)
    for kernel in new if gone else ():
        groups[_key(kernel)].append(kernel)
    before: dict[object, list[KernelSummary]] = defaultdict(list)
    for kernel in gone:
        before[_key(kernel)].append(kernel)
    return tuple(
        pair
        for key, kernels in before.items()
        if 0 < len(kernels) * len(groups[key]) <= _MOST_PAIRS
        for pair in _pair_nearest(kernels, groups[key])
    )


def _key(kernel: KernelSummary) -> tuple[str, str, str]:
    """(library, target, template arguments)."""
    return kernel.unit, kernel.target, _arguments(kernel)


def _arguments(kernel: KernelSummary) -> str:
    """The template arguments: `<float, 4>`."""
    return stem(kernel.name).removeprefix(base_name(kernel.name))


def _pair_nearest(gone: Sequence[KernelSummary], new: Sequence[KernelSummary]) -> Iterator[Pair]:
    """Pairs of kernels that are each other's only nearest kernel and likely the same one."""
    apart = [[_distance(old, now) for now in new] for old in gone]
    for old, row in zip(gone, apart, strict=True):
        least, place = min(row), row.index(min(row))
        column = [distances[place] for distances in apart]
        is_nearest = row.count(least) == column.count(least) == 1 and least == min(column)
        if is_nearest and _is_likely(old, new[place]):
            yield Pair(old, new[place], "namespace")


def _distance(old: KernelSummary, new: KernelSummary) -> float:
    return 1 - _likeness(old, new) + _difference(old, new)


def _likeness(old: KernelSummary, new: KernelSummary) -> float:
    """The share of the base names that their common prefix and suffix cover, from 0 to 1."""
    before, now = base_name(old.name), base_name(new.name)
    begin = _count_equal(before, now)
    end = _count_equal(before[begin:][::-1], now[begin:][::-1])
    return 2 * (begin + end) / (len(before) + len(now) or 1)


def _count_equal(text: str, other: str) -> int:
    """Length of the common prefix."""
    places = range(min(len(text), len(other)))
    return next((place for place in places if text[place] != other[place]), len(places))


def _difference(old: KernelSummary, new: KernelSummary) -> float:
    """Mean relative difference of the numbers, from 0 to 1."""
    values = [(getattr(old.numbers, field), getattr(new.numbers, field)) for field in _COMPARED]
    stated = [(before or 0, now or 0) for before, now in values]
    apart: float = sum(abs(a - b) / max(a, b) for a, b in stated if a != b)
    return apart / len(stated)


def _is_likely(old: KernelSummary, new: KernelSummary) -> bool:
    if _likeness(old, new) >= _LEAST_ALIKE:
        return True
    parameters = [without_namespace(k.name).removeprefix(stem(k.name)) for k in (old, new)]
    return parameters[0] == parameters[1] and _difference(old, new) <= _MOST_APART


def phrase_rename(pair: Pair) -> Message:
    """A likely rename with what moved: `softmax → softmax_v2 likely: VGPR: …, 8 → 3 waves/SIMD`."""
    old, new = _old_and_new_name(pair)
    return say("rename-likely", old=old, new=new, change=pair.why or say("numbers-same"))


def mend_rename(pair: Pair) -> Message:
    return say("rename-likely-mend", rename=quote("=".join(_old_and_new_name(pair))))


def refuse_drop(pair: Pair) -> Message:
    """The reason why an update refuses to drop a kernel that was likely renamed and got worse."""
    old, new = _old_and_new_name(pair)
    rename, drop = quote(f"{old}={new}"), quote(f"{old}=")
    return say("rename-lost", old=old, new=new, change=pair.why, rename=rename, drop=drop)


def _old_and_new_name(pair: Pair) -> tuple[str, str]:
    """The old and the new name of a kernel: base names if these differ, else whole names."""
    old, new = base_name(pair.old.name), base_name(pair.new.name)
    return (old, new) if old != new else (pair.old.name, pair.new.name)


def state_renames(
    comparison: Comparison, renames: Iterable[str], kernels: Iterable[KernelSummary]
) -> tuple[Comparison, tuple[KernelSummary, ...]]:
    """The comparison with the user's renames applied, and the kernels that the user dropped.

    Each rename is `OLD=NEW`, with names as for `-k` or base names, or `OLD=` for a kernel without a
    successor. `kernels` are those of the new build, in its order. Raises `OptionError` for a rename
    that fits no kernel, or several equally well.
    """
    pairs = {id(pair.new): pair for pair in comparison.pairs}
    gone, new = [*comparison.gone], [*comparison.new]
    dropped: list[KernelSummary] = []
    for rename in renames:
        old_name, new_name = _split(rename, gone)
        for old in [kernel for kernel in gone if _is_called(old_name, kernel)]:
            gone.remove(old)
            if not new_name:
                dropped.append(old)
                continue
            successor = _choose(rename, old, new, new_name)
            new = [kernel for kernel in new if kernel is not successor]
            pairs[id(successor)] = Pair(old, successor, "namespace")
    in_order = tuple(pairs[id(kernel)] for kernel in kernels if id(kernel) in pairs)
    stated = comparison._replace(pairs=in_order, gone=(*gone, *dropped), new=tuple(new))
    return stated, tuple(dropped)


def _split(rename: str, gone: Sequence[KernelSummary]) -> tuple[str, str]:
    """(OLD, NEW), split at the first `=` that follows the name of a missing kernel."""
    places = [place for place, letter in enumerate(rename) if letter == "=" and place]
    if not places:
        raise OptionError(say("rename-malformed", rename=rename))
    for place in places:
        if any(_is_called(rename[:place], kernel) for kernel in gone):
            return rename[:place], rename[place + 1 :]
    old, hint = rename[: places[0]], _list_names(gone) or say("renames-impossible")
    raise OptionError(say("rename-old-unknown", rename=rename, old=old, hint=hint))


def _list_names(kernels: Iterable[KernelSummary]) -> str:
    """`did you mean gemm, gemv or copy?`, or an empty text without kernels."""
    return or_list(sorted({base_name(kernel.name) for kernel in kernels})[:_MOST_NAMED])


def _is_called(name: str, kernel: KernelSummary) -> bool:
    return base_name(kernel.name) == name or matches(name, kernel.name, kernel.symbol)


def _choose(
    rename: str, old: KernelSummary, new: Sequence[KernelSummary], name: str
) -> KernelSummary:
    """The new kernel of this name on the target of `old`. Of several, the one with the same
    template arguments is preferred, then the one of the same library. Raises `OptionError` if there
    is none, or if several remain."""
    of_target = [kernel for kernel in new if kernel.target == old.target]
    kernels = [kernel for kernel in of_target if _is_called(name, kernel)]
    keys: tuple[Callable[[KernelSummary], str], ...] = (_arguments, lambda kernel: kernel.unit)
    for key in keys:
        kernels = [kernel for kernel in kernels if key(kernel) == key(old)] or kernels
    if len(kernels) == 1:
        return kernels[0]
    target, count = old.target, len(kernels)
    if kernels:
        message = say("rename-ambiguous", rename=rename, count=count, target=target, old=old.name)
        raise OptionError(message)
    hint = _list_names(of_target) or say("renames-unbuilt", target=target)
    message = say(
        "rename-new-unknown", rename=rename, new=name, old=old.name, target=target, hint=hint
    )
    raise OptionError(message)
