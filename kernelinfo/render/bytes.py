"""The bytes of libraries by their owners, targets, libraries or families of kernels."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple, get_args

from kernelinfo.analysis.contents import OwnedBytes
from kernelinfo.errors import OptionError
from kernelinfo.kernel import grouped
from kernelinfo.kernel.names import base_name, demangle
from kernelinfo.reading.blob import Note, Problem
from kernelinfo.reading.code_object.extents import Owner
from kernelinfo.render import View, matrix, paint, tables
from kernelinfo.render.messages import say

BytesBy = Literal["library", "member", "target", "file", "family"]
BYTES_BY: tuple[BytesBy, ...] = get_args(BytesBy)
SCHEMA = "kernelinfo/bytes/1"
_OWNERS: tuple[Owner, ...] = get_args(Owner)
_TITLE = "Bytes of device code"
_COLUMNS, _CONTAINERS = ("bytes", "share", "equal"), "(containers)"
_KEYS: dict[BytesBy, Callable[[OwnedBytes], str]] = {
    "library": lambda part: part.library,
    "member": lambda part: part.member,
    "target": lambda part: part.target,
    "file": lambda part: part.path,
    "family": lambda part: base_name(demangle(part.symbol)) if _is_code(part) else "",
}


class ByteSums(NamedTuple):
    """Sums over some bytes of device code."""

    bytes: int = 0
    functions: int = 0
    """Number of kernels and other functions that the bytes belong to."""
    equal_bytes: int = 0
    """Bytes of code that is equal to earlier code of the same file and target."""


OwnedParts = dict[tuple[str, ...], dict[Owner, ByteSums]]
"""Values of the keys → owner → sums."""


def render_bytes(
    items: Iterable[OwnedBytes | Problem | Note], by: tuple[BytesBy, ...], format: str, view: View
) -> Iterator[str]:
    """The bytes, summed by owner and by the up to two keys in `by`, in a format.

    Raises `OptionError` for a format without tables.
    """
    if format not in matrix.FORMATS:
        raise OptionError(
            say("format-without-bytes", format=format, names=", ".join(matrix.FORMATS))
        )
    parts = _sum_up(items, by)
    if format in ("json", "jsonl", "csv"):
        rows = [
            (*names, owner, *owners[owner])
            for names, owners in sorted(parts.items())
            for owner in sorted(owners, key=_OWNERS.index)
        ]
        table = tables.Table(
            (*by, "owner", *ByteSums._fields), rows, SCHEMA, "bytes", {"by": list(by)}
        )
        yield from tables.WRITERS[format](table, view)
        return
    top = 0 if format == "markdown" else view.top
    if not parts:
        return
    if not by:
        lines = _owner_lines(parts)
    elif by == ("family",):
        lines = _family_lines(parts, top)
    elif by[1:]:
        lines = _matrix_lines(parts, by, top)
    else:
        lines = _key_lines(parts, by[0], top)
    if not any(line[-1] for line in lines[1:]):  # no code is equal
        lines = [line[:-1] for line in lines]
    if format == "html":
        yield from matrix.table_page(_TITLE, lines, _legend(lines), has_total=True)
    elif format == "markdown":
        yield from tables.kernel_table(
            [*map(tables.plain, lines[0])], [[*map(tables.plain, row)] for row in lines[1:]]
        )
    else:
        yield from _text(lines, view)


def _is_code(part: OwnedBytes) -> bool:
    return part.owner in ("kernel code", "other functions") and bool(part.symbol)


def _sum_up(items: Iterable[object], by: tuple[BytesBy, ...]) -> OwnedParts:
    parts: dict[tuple[str, ...], dict[Owner, list[int]]] = {}
    for part in items:
        if isinstance(part, OwnedBytes):
            names = tuple([_KEYS[key](part) for key in by])
            sums = parts.setdefault(names, {}).setdefault(part.owner, [0, 0, 0])
            sums[0] += part.size
            sums[1] += _is_code(part)
            sums[2] += part.size if part.is_copy else 0
    return {
        names: {owner: ByteSums._make(sums) for owner, sums in owners.items()}
        for names, owners in parts.items()
    }


def _total(owners: Iterable[ByteSums]) -> ByteSums:
    return ByteSums._make(map(sum, zip(ByteSums(), *owners, strict=True)))


def _of_owners(parts: OwnedParts) -> dict[Owner, ByteSums]:
    """The sums of each owner, in the order of `_OWNERS`."""
    present = {owner for owners in parts.values() for owner in owners}
    return {
        owner: _total(owners[owner] for owners in parts.values() if owner in owners)
        for owner in sorted(present, key=_OWNERS.index)
    }


NamedSums = tuple[tuple[str, ...], ByteSums]
"""Values of the keys of a row, and its sums."""


def _most_first(rows: Mapping[tuple[str, ...], ByteSums], top: int = 0) -> list[NamedSums]:
    """The `top` rows with the most bytes, most first; the others are merged into one row. All rows
    if `top` is 0, or if only one would be merged."""
    ordered = sorted(rows.items(), key=lambda row: (-row[1].bytes, row[0]))
    rest = ordered[top:] if top else []
    if not rest[1:]:
        return ordered
    return [*ordered[:top], ((f"({grouped(len(rest))} more)",), _total(s for _, s in rest))]


def _owner_lines(parts: OwnedParts) -> list[list[str]]:
    """Headings, a row for each owner, and a total."""
    owners: dict[tuple[str, ...], ByteSums] = {
        (owner,): s for owner, s in _of_owners(parts).items()
    }
    return [["owner", *_COLUMNS], *_numbers(_with_total(_most_first(owners)))]


def _family_lines(parts: OwnedParts, top: int) -> list[list[str]]:
    """Headings, a row for each family of kernels and functions, then the other owners and a
    total."""
    families = {names: _total(parts[names].values()) for names in parts if names[0]}
    owners: dict[tuple[str, ...], ByteSums] = {
        (f"({owner})",): sums for owner, sums in parts.get(("",), {}).items()
    }
    rows = _with_total([*_most_first(families, top), *_most_first(owners)])
    counts = ["functions", *(grouped(sums.functions) if sums.functions else "" for _, sums in rows)]
    lines = [["family", *_COLUMNS], *_numbers(rows)]
    return [[line[0], count, *line[1:]] for line, count in zip(lines, counts, strict=True)]


def _key_lines(parts: OwnedParts, key: BytesBy, top: int) -> list[list[str]]:
    """Headings, a row for each value of the key with a column for each owner, and a total."""
    rows = _with_total(_most_first({n: _total(parts[n].values()) for n in parts}, top))
    owners = sorted(_of_owners(parts).items(), key=lambda owner: -abs(owner[1].bytes))
    columns = [_sizes([sums.bytes for _, sums in rows])]
    for owner, whole in owners:
        cells = {names: parts[names].get(owner, ByteSums()).bytes for names in parts}
        columns.append(_column(rows, cells, whole.bytes))
    columns.append(_sizes([sums.equal_bytes for _, sums in rows]))
    headings = [key, "bytes", *(owner for owner, _ in owners), "equal"]
    return [headings, *_labelled(rows, columns)]


def _matrix_lines(parts: OwnedParts, by: tuple[BytesBy, ...], top: int) -> list[list[str]]:
    """Headings, a row for each value of the first key with a column for each of the second, and a
    total."""
    of_pairs = {names: _total(owners.values()) for names, owners in parts.items()}
    of_first, of_second = (_of_part(of_pairs, number) for number in (0, 1))
    rows = _with_total(_most_first(of_first, top))
    columns = [_sizes([sums.bytes for _, sums in rows])]
    seconds = _most_first(of_second)
    for (second,), whole in seconds:
        cells = {name: of_pairs.get((*name, second), ByteSums()).bytes for name in of_first}
        columns.append(_column(rows, cells, whole.bytes))
    columns.append(_sizes([sums.equal_bytes for _, sums in rows]))
    names = [paint.printable(name or _CONTAINERS) for (name,), _ in seconds]
    return [[by[0], "bytes", *names, "equal"], *_labelled(rows, columns)]


def _of_part(
    of_pairs: Mapping[tuple[str, ...], ByteSums], number: int
) -> dict[tuple[str, ...], ByteSums]:
    """The sums for each value of the first or second key."""
    sums: dict[tuple[str, ...], ByteSums] = {}
    for names, part in of_pairs.items():
        name = (names[number],)
        sums[name] = _total((sums.get(name, ByteSums()), part))
    return sums


def _column(
    rows: Sequence[NamedSums], cells: Mapping[tuple[str, ...], int], total: int
) -> list[str]:
    """The cells of a column of bytes, one per row. The last row is the total; if the others do not
    add up to it, the row just above it, which stands for the merged rows, gets the rest."""
    numbers = [cells.get(names, 0) for names, _ in rows[:-1]]
    rest = total - sum(numbers)
    return _sizes([*(numbers if not rest else [*numbers[:-1], rest]), total])


def _labelled(rows: Sequence[NamedSums], columns: Sequence[Sequence[str]]) -> list[list[str]]:
    names = [paint.printable(name or _CONTAINERS) for (name, *_), _ in rows]
    return [[name, *cells] for name, cells in zip(names, zip(*columns, strict=True), strict=True)]


def _with_total(rows: list[NamedSums]) -> list[NamedSums]:
    return [*rows, (("all",), _total(sums for _, sums in rows))]


def _numbers(rows: Sequence[NamedSums]) -> list[list[str]]:
    """Name, bytes, share and equal bytes of each row; the last is the total."""
    sizes = _sizes([sums.bytes for _, sums in rows])
    equal = _sizes([sums.equal_bytes for _, sums in rows])
    whole = sum(max(sums.bytes, 0) for _, sums in rows[:-1]) or 1
    shares = [f"{100 * sums.bytes / whole:.1f} %".replace("-", "−") for _, sums in rows]
    names = [paint.printable(names[0]) for names, _ in rows]
    return [list(row) for row in zip(names, sizes, shares, equal, strict=True)]


def _sizes(counts: Sequence[int]) -> list[str]:
    """Numbers of bytes as text, all in one unit; MiB and KiB have one decimal; empty for 0."""
    largest = max(map(abs, counts), default=0)
    for unit, name in ((1 << 20, "MiB"), (1 << 10, "KiB")):
        if largest >= 10 * unit:
            return [_size(count, unit, name) for count in counts]
    return [f"{grouped(count)} B".replace("-", "−") if count else "" for count in counts]


def _size(count: int, unit: int, name: str) -> str:
    if 0 < abs(count) < unit / 20:
        return f"< 0.1 {name}"
    return f"{count / unit:,.1f} {name}".replace(",", " ").replace("-", "−") if count else ""


def _text(lines: Sequence[Sequence[str]], view: View) -> Iterator[str]:
    """Tables with as many columns as fit, then the legend."""
    names, *numbers = zip(*lines, strict=True)
    for number, table in enumerate(paint.within(view.width, [names], numbers)):
        yield "\n" * bool(number)
        yield from paint.painted(([(line, "")] for line in table), view)
    if not view.quiet:
        yield from paint.painted(paint.fitted([(f" {_legend(lines)}", "dim")], view, 1), view)


def _legend(lines: Sequence[Sequence[str]]) -> str:
    """The legend of the columns that the table has."""
    words = {cell for line in lines for cell in line[:1]} | {*lines[0]}
    parts = ["each byte has one owner"]
    if "compression" in words:
        parts.append("compression: what it adds, below 0 saves; shares are of the bytes without it")
    if "equal" in words:
        parts.append(
            "equal: code as before in the same file and for the same target; sharing saves it"
        )
    return "; ".join(parts)
