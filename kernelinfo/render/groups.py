"""Kernels grouped over their targets, worst kernel first. Targets with equal rows share a row."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from kernelinfo.kernel import Result
from kernelinfo.reading.target_id import target_id
from kernelinfo.render import View
from kernelinfo.render.names import several
from kernelinfo.render.table import TableRow, severity, target_of, values_of

Group = list[Result]  # one kernel on all its targets


def grouped_rows(
    results: Iterable[Result], view: View, *, worst_first: bool
) -> tuple[list[TableRow], list[Result]]:
    """(rows, their results) of the first groups, until `view.top` rows are reached."""
    by_symbol: dict[str, Group] = {}
    for result in results:
        by_symbol.setdefault(result.kernel.symbol, []).append(result)
    groups = [*by_symbol.values()]
    if worst_first:
        groups.sort(key=lambda group: min(map(severity, group)))
    rows: list[TableRow] = []
    shown: list[Result] = []
    for group in groups:
        if view.top and len(rows) >= view.top:
            break
        rows += _rows(group, view.width // 5)
        shown += group
    return rows, shown


def folded_rows(results: Iterable[Result]) -> list[TableRow]:
    """Rows in the order of the results. Results of one symbol and target that look equal share
    one."""
    by_symbol: dict[str, Group] = {}
    equal: dict[tuple[str | int | None, ...], Group] = {}
    for result in results:
        by_symbol.setdefault(result.kernel.symbol, []).append(result)
        shown = (result.kernel.symbol, _id(result), *values_of(result))
        equal.setdefault(shown, []).append(result)
    ids = {symbol: _ids(group) for symbol, group in by_symbol.items()}
    return [
        TableRow(tuple(found), *_targets(found, ids[found[0].kernel.symbol]))
        for found in equal.values()
    ]


def _rows(group: Group, width: int) -> Iterator[TableRow]:
    """Rows of a group. Results that differ only in their target share a row."""
    equal: dict[tuple[str | int | None, ...], Group] = {}
    for result in sorted(group, key=severity):
        equal.setdefault(values_of(result), []).append(result)
    ids = _ids(group)
    for results in equal.values():
        yield TableRow(tuple(results), joined(_targets(results, ids), width))


def _ids(group: Group) -> dict[str, set[str]]:
    """Target without features → with them, of all results of a group."""
    ids: dict[str, set[str]] = {}
    for result in group:
        ids.setdefault(target_of(result.kernel), set()).add(_id(result))
    return ids


def _targets(row: Sequence[Result], ids: dict[str, set[str]]) -> list[str]:
    """The targets of a row, with features if another row of its group, whose `ids` these are,
    differs only in them."""
    own = {_id(result) for result in row}
    names: list[str] = []
    for processor in dict.fromkeys(target_of(result.kernel) for result in row):
        names += [processor] if ids[processor] <= own else sorted(ids[processor] & own)
    return sorted(names, key=lambda name: (len(name), name))


def joined(names: Sequence[str], width: int) -> str:
    """All targets, `gfx900,906,90a`; if that is wider: the first one and the number of others."""
    text = ",".join(names).replace(",gfx", ",")
    return text if len(text) <= width else several(names)


def _id(result: Result) -> str:
    code_object = result.kernel.code_object
    return target_id(code_object.target or "?", code_object.features)
