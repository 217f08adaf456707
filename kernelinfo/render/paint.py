"""Lines of styled text: numbers and terms in words, escaped, coloured, wrapped and aligned."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, cast

from kernelinfo.kernel import counted, grouped
from kernelinfo.kernel import waves_per_simd as waves_per_simd
from kernelinfo.model import Occupancy
from kernelinfo.model.limits import RESOURCES, Launch, Resource

if TYPE_CHECKING:
    from kernelinfo.kernel.record import Value
    from kernelinfo.render import View


Span = tuple[str, str]  # (text, rich style); "" for no style

_NARROW = dict.fromkeys(map(ord, "■·…–−×≤›¹→◄"), "x")
"""Characters of one column that reports use. They spare most reports the slow import of rich."""

_ACTIVE = r"[\0-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]"
"""Pattern for characters, except the newline, that act on a terminal or on the reading order:
controls of ASCII and Latin-1, Unicode's line separators and bidirectional controls."""
_PLAIN = bytes(range(0x20, 0x7F))
"""The printable characters of ASCII."""
_COLORS = r"\x1b\[[\d;]*m"
_HASHES = re.compile(r"##(?=\w*\[)")
_COLONS = re.compile(r"(?<!\S)::")


def without_commands(text: str) -> str:
    """`text` without commands of CI services (`::error::`, `##[error]`, `##vso[`).

    Their first character becomes an escape. GitHub's runner looks for `::` at the beginning of a
    line and for `##[` anywhere (ActionCommand.cs)."""
    text = without_hashes(text)
    return _COLONS.sub(r"\\x3a:", text) if "::" in text else text


def without_hashes(text: str) -> str:
    """`text` without `##[` and `##vso[`: the first `#` becomes its JSON escape, so that values in
    JSON stay the same."""
    return _HASHES.sub(r"\\u0023#", text) if "#" in text and "##" in text else text


def printable(text: str) -> str:
    """`text` with escapes for control, bidirectional and undecodable characters."""
    if _is_plain(text) or text.isprintable():
        return text
    return "".join(c if c.isprintable() else _escape(c) for c in text)


def harmless(text: str, *, color: bool) -> str:
    """`text` with escapes for all characters that act on a terminal.

    Keeps newlines and, with `color`, the colours of `paint`."""
    if _is_plain(text, b"\n") or text.replace("\n", "").isprintable():
        return text
    kept = _COLORS if color else r"\Z"
    return re.sub(rf"({kept})|{_ACTIVE}", lambda match: match[1] or _escape(match[0]), text)


def _is_plain(text: str, further: bytes = b"") -> bool:
    """True if all characters are printable ASCII or in `further`. `isprintable` would take ten
    times as long, a tenth of the time of a library's report."""
    return text.isascii() and not text.encode().translate(None, _PLAIN + further)


def _escape(characters: str) -> str:
    return characters.encode("unicode_escape").decode()


def paint(line: Iterable[Span], color: bool) -> str:
    """One line of output as text, escaped, without its newline."""
    if not color:
        return without_commands(printable("".join(text for text, _ in line))).rstrip()
    spans = [(without_commands(printable(text)), style) for text, style in line]
    if spans:  # a space behind the last column would start a new line on the terminal
        spans[-1] = (spans[-1][0].rstrip(), spans[-1][1])
    from rich.style import Style

    return "".join(Style.parse(style).render(text) if style else text for text, style in spans)


def painted(lines: Iterable[Iterable[Span]], view: View) -> Iterator[str]:
    """Lines of output as text, escaped, with newlines."""
    for line in lines:
        yield paint(line, view.color) + "\n"


_WORDS = re.compile(r"[≤≥] \S+\s*|[^\s=]*\d [^\s(]\S*\s*|\S+\s*|\s+")
"""Words; a number stays with its sign and its noun."""


def wrap(line: Iterable[Span], width: int, indent: int) -> Iterator[list[Span]]:
    """The line, wrapped between words at `width` columns. All lines but the first are indented,
    less if a word needs the room."""
    spans = [*line]
    if sum(cells(text) for text, _ in spans) <= width:
        yield spans
        return
    row: list[Span] = []
    taken, begun = 0, False
    for text, style in spans:
        for word in _WORDS.findall(text):
            needed = cells(word.rstrip())
            if begun and taken + needed > width:
                yield row
                taken = max(0, min(indent, width - needed))
                row, begun = [(" " * taken, "")], False
            row.append((word, style))
            taken += cells(word)
            begun = begun or bool(word.strip())
    yield row


def fitted(line: list[Span], view: View, indent: int) -> Iterator[list[Span]]:
    """The line, wrapped between words if it is too wide for the terminal."""
    yield from wrap(line, view.width, indent) if view.fold else [line]


def cells(text: str) -> int:
    """Columns that `text` takes on a terminal."""
    if text.isascii() or text.translate(_NARROW).isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def left(text: str, width: int) -> str:
    return text + " " * (width - cells(text))


def right(text: str, width: int) -> str:
    return " " * (width - cells(text)) + text


def folded(name: str, width: int, indent: int) -> list[str]:
    """Lines of a name, at most `width` columns if possible; all but the first are indented.

    A line ends before the last text that distinguishes the name (` · `), else after its last comma,
    opening bracket or `::`, else between words."""
    lines, line = [], ""
    for part in re.findall(_PARTS, name):
        if line.strip() and cells(line + part.rstrip()) > width:
            ends = (max(line.rfind(mark) + len(mark) for mark in marks) for marks in _MARKS)
            end = next((end for end in ends if cells(line[:end]) > width // 2), len(line))
            lines.append(line[:end].rstrip())
            line = " " * indent + line[end:]
        line += part
    return [*lines, line]


_PARTS = r"(?s).+?(?: · |, |::|[<( ]|\Z)"
_MARKS = ((" · ",), (", ",), ("<", "("), ("::",), (" ",))  # ends of a line, the best first


def table_lines(
    rows: Sequence[Sequence[str]],
    kinds: str,
    view: View,
    styles: Mapping[int, str] | None = None,
    gap: str = "  ",
) -> Iterator[list[Span]]:
    """Lines of a table, laid out by `laid_out`. `styles` has one style per row; the heading is row
    0."""
    for index, line, indent in laid_out(rows, kinds, view, gap):
        yield from fitted([(line, (styles or {}).get(index, ""))], view, indent)


_NARROWEST = 12
"""Fewest columns in which a last cell is wrapped below its own start."""


def laid_out(
    rows: Sequence[Sequence[str]], kinds: str, view: View, gap: str = "  "
) -> Iterator[tuple[int, str, int]]:
    """(number of a row, one of its lines, indent of the line's rest if the line is too wide).

    The first row is the heading. `kinds` has a letter for each column: `n` is aligned to the right,
    `k` is the name of the row (by default the first `t`), and a `d` at the end is a description. On
    a narrow terminal a description is wrapped in its column, or goes below its row. In a table
    without descriptions, names that are too long go above their rows.
    """
    kinds = kinds or "t" * len(rows[0])
    lines = [f" {line}" for line in _closely(rows, kinds, view, gap)]
    start = cells(lines[0]) - max(cells(row[-1].lstrip()) for row in rows)
    if not view.fold or cells(lines[0]) <= view.width or not {*kinds} - {"n"}:
        yield from ((index, line, 6) for index, line in enumerate(lines))
    elif kinds[-1] != "d":
        yield from _below_names(rows, kinds, view, gap)
    elif 3 * (start - 2) <= 2 * view.width:
        yield from ((index, line, min(start, view.width // 2)) for index, line in enumerate(lines))
    else:
        for index, line in enumerate(_closely([row[:-1] for row in rows], kinds[:-1], view, gap)):
            yield index, f" {line}", 4
            if rows[index][-1]:
                yield index, f"   {rows[index][-1]}", 4


def _closely(
    rows: Sequence[Sequence[str]], kinds: str, view: View, gap: str, before: int = 1
) -> list[str]:
    """The rows as aligned lines. The space between columns shrinks if that makes the rows fit a
    terminal."""
    lines = [*aligned(rows, kinds, gap)]
    if not view.fold or before + cells(lines[0]) <= view.width:
        return lines
    close = [*aligned(rows, kinds, " ")]
    return close if before + cells(close[0]) <= view.width else lines


def _below_names(
    rows: Sequence[Sequence[str]], kinds: str, view: View, gap: str
) -> Iterator[tuple[int, str, int]]:
    name = kinds.find("k" if "k" in kinds else "t")
    names = [row[name] for row in rows]
    rest = [[*row[:name], *row[name + 1 :]] for row in rows]
    room = view.width - cells(f" {gap}{aligned(rest, kinds[:name] + kinds[name + 1 :], gap)[0]}")
    room = min(room, max(map(cells, names)))
    if room < cells(names[0]) or name == len(kinds) - 1:  # then all stand above
        room, before, kinds = 0, "  ", kinds[:name] + kinds[name + 1 :]
    else:
        before, short = " ", [left(text, room) if cells(text) <= room else "" for text in names]
        rest = [[*row[:name], text, *row[name:]] for row, text in zip(rest, short, strict=True)]
    lines = [before + line for line in _closely(rest, kinds, view, gap, cells(before))]
    start = cells(lines[0]) - max(cells(row[-1].lstrip()) for row in rest)
    indent = start if kinds[-1] != "n" and view.width - start >= _NARROWEST else 6
    for index, (text, line) in enumerate(zip(names, lines, strict=True)):
        if index and cells(text) > room:
            yield from ((index, f" {part}", 3) for part in folded(text, view.width - 1, 2))
        yield index, line, indent


def within(
    width: int, labels: Sequence[Sequence[str]], numbers: Sequence[Sequence[str]]
) -> Iterator[list[str]]:
    """Tables as lines, each at most `width` columns wide if possible.

    Used for many numbers, which nobody could read in wrapped rows. `labels` and `numbers` are
    columns; each table begins with the labels.
    """
    first = 0
    while first < len(numbers):
        for end in range(len(numbers), first, -1):
            rows = list(zip(*labels, *numbers[first:end], strict=True))
            lines = aligned(rows, "t" * len(labels) + "n" * (end - first))
            if cells(lines[0]) < width:
                break
        yield [f" {line}" for line in lines]
        first = end


def entry_lines(
    head: list[Span], name: str, text: str, view: View, indent: int
) -> Iterator[list[Span]]:
    """An entry of a list without headings: its head, a name and a sentence. On a narrow terminal
    the sentence goes below the name, and the name below a head that is wider than `indent`."""
    before, line = sum(cells(text) for text, _ in head), f"{name}  {text}".rstrip()
    if not view.fold or before + cells(line) <= view.width:
        yield [*head, (line, "")]
        return
    if before > indent:
        yield from fitted(head, view, indent)
        head = [(" " * indent, "")]
    first, *rest = folded(name.rstrip(), view.width - indent, 2)
    yield [*head, (first, "")]
    yield from ([(" " * indent + other, "")] for other in rest)
    yield from fitted([(" " * indent + text, "")], view, indent)


def hidden(count: int, noun: str = "kernel") -> Iterator[list[Span]]:
    """A line with the number of hidden rows; no line if all are shown."""
    if count:
        yield [(f" … {counted(count, f'more {noun}')}; --top 0 shows all", "dim")]


def aligned(rows: Sequence[Sequence[str]], kinds: str = "", gap: str = "  ") -> list[str]:
    """One line per row, in columns. `kinds` has a letter per column; `n` aligns to the right."""
    widths = [max(map(cells, column)) for column in zip(*rows, strict=True)]
    sides = [right if kind == "n" else left for kind in kinds or "t" * len(widths)]
    return [
        gap.join([side(cell, width) for side, cell, width in zip(sides, row, widths, strict=True)])
        for row in rows
    ]


def number(value: float) -> str:
    """A number without trailing zeros: 8, 5.5, 0.25."""
    return f"{value:.4g}"


def percent(value: float) -> str:
    return f"{number(round(value, 1))} %"


def known(count: int | None) -> str:
    """The count as text; `?` if it is unknown."""
    return "?" if count is None else str(count)


def bound(exact: bool | None) -> str:
    """`≤` before an upper bound; empty before an exact number."""
    return "≤" if exact is False else ""


def size(count: int | None) -> str:
    """A number of bytes as text: in KiB if it is 1 KiB or more and a multiple of 256 B, such as
    `16.5 KiB`, else in B; `?` if it is unknown."""
    return size_column([count])[0]


def size_column(counts: Sequence[int | None]) -> list[str]:
    """Cells of one column of bytes, in one unit: KiB if the largest is 1 KiB or more and all are
    multiples of 256 B, else B. `?` is an unknown number."""
    stated = [count for count in counts if count]
    if max(stated, default=0) < 1024 or any(count % 256 for count in stated):
        return [f"{count} B" if count else known(count) for count in counts]
    return [f"{count / 1024:.17g} KiB" if count else known(count) for count in counts]


def sizes(counts: Sequence[int]) -> list[str]:
    """Numbers of bytes in one unit: KiB if the largest is 10 KiB or more, MiB from 10 MiB on."""
    largest = max(counts, default=0)
    for unit, name in ((1 << 20, "MiB"), (1 << 10, "KiB")):
        if largest >= 10 * unit:
            return [f"{grouped(count / unit)} {name}" for count in counts]
    return [f"{grouped(count)} B" if count else "0" for count in counts]


def bare(resource: Resource, value: int) -> str:
    """The amount without the resource's name: `96`, `32 KiB`."""
    return size(value) if resource in ("lds", "scratch") else str(value)


def amount(resource: Resource, value: int) -> str:
    """The amount with the resource's name: `96 VGPRs`, `32 KiB LDS`."""
    many = "" if resource in ("lds", "scratch") else "s"
    return f"{bare(resource, value)} {RESOURCES[resource]}{many}"


def change(resource: Resource, value: int) -> str:
    """The amount with its sign: `+14`, `−32 KiB`."""
    return f"{'+' if value > 0 else '−'}{bare(resource, abs(value))}"


def block(launch: Launch) -> str:
    """Workitems of the workgroup; `–` for a graphics stage."""
    return "–" if launch.assumption == "graphics-stage" else str(launch.workgroup_size)


def limiters(occupancy: Occupancy) -> str:
    """All limiters (`VGPR LDS`), or a text saying that no workgroup can start."""
    if not occupancy.launchable:
        return f"refused: {occupancy.refusal}" if occupancy.refusal else "cannot launch"
    return " ".join(RESOURCES[limiter] for limiter in occupancy.limiters)


def compiler_name(stamp: str) -> str:
    """Name and version (`clang 19.1.7`) from a compiler's stamp; printable, empty for no stamp."""
    before, separator, after = printable(stamp).partition("clang version ")
    if not separator:
        return before
    vendor = "AMD " if before.startswith("AMD") else ""
    return f"{vendor}clang {after.split(' ')[0].split('-')[0]}"


def column_cells(name: str, values: Sequence[Value]) -> list[str]:
    """The cells of the column of this name: sizes with their unit, `?` for an unknown value."""
    if name.lower() in ("lds", "scratch", "code"):
        return size_column(cast("Sequence[int | None]", values))
    return [cell(value) for value in values]


def cell(value: Value) -> str:
    """The text of a value: `?` for an unknown one, numbers as `number` writes them."""
    if value is None:
        return "?"
    if isinstance(value, tuple):
        return " ".join(value)
    return number(value) if isinstance(value, float) else str(value)
