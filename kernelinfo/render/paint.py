"""Lines of styled text, painted only where colour is wanted."""

from __future__ import annotations

from collections.abc import Iterable

Span = tuple[str, str]
"""Text and the rich style it has on a terminal; "" for none."""


_NARROW = dict.fromkeys(map(ord, "■·…–−×≤›¹"), "x")
"""Of one column, and all that most reports have beside ASCII: rich takes long to import."""


def paint(line: Iterable[Span], color: bool) -> str:
    """One line of output, without its newline."""
    spans = tuple(line)
    if not color:
        return "".join(text for text, _ in spans).rstrip()
    from rich.style import Style

    return "".join(Style.parse(style).render(text) if style else text for text, style in spans)


def cells(text: str) -> int:
    """Columns that `text` takes on a terminal."""
    if text.translate(_NARROW).isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def left(text: str, width: int) -> str:
    return text + " " * (width - cells(text))


def right(text: str, width: int) -> str:
    return " " * (width - cells(text)) + text
