"""Markdown for a pull request or the summary of a GitHub job: the kernels that fail."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from kernelinfo.gate.verdict import Verdict
from kernelinfo.kernel import Result
from kernelinfo.render import View
from kernelinfo.render.check.claims import Claim, claims, problem_text
from kernelinfo.render.check.headline import headline
from kernelinfo.render.check.place import Place
from kernelinfo.render.names import printable
from kernelinfo.render.words import number, plural

_SHOWN = 20
"""Rows before the rest is folded."""
_FAILING = ("kernel", "target", "waves/SIMD", "finding", "at")
_EXCUSED = ("kernel", "target", "finding", "reason")


def render(verdict: Verdict, view: View) -> Iterator[str]:
    """The verdict, the kernels that fail, and what else there is to know."""
    yield f"**kernelinfo {_text(headline(verdict))}**\n"
    told = list(claims(verdict, view))
    failing = [c for c in told if c.suppressed is None and verdict.fails(c.finding)]
    rows = [
        _row(result, list(found))
        for result, found in groupby(failing, lambda claim: claim.result)
        if result is not None
    ]
    yield from _table(_FAILING, rows[:_SHOWN])
    yield from _folded(plural(len(rows) - _SHOWN, "more kernel"), _FAILING, rows[_SHOWN:])
    notes = [f"{_rule(c)} {_code(c.subject)}: {_text(c.text)}" for c in told if c.result is None]
    yield from _list("About the gate itself:", notes)
    problems = [f"{_code(p.path)}: {_text(problem_text(p))}" for p in verdict.problems]
    yield from _list("Could not be answered:", problems)
    excused = [
        (_code(c.subject), _code(c.target or ""), f"{_rule(c)} {_text(c.text)}", _reason(c))
        for c in told
        if c.suppressed is not None
    ]
    yield from _folded(f"{len(excused)} suppressed", _EXCUSED, excused)


def _row(result: Result, found: Sequence[Claim]) -> tuple[str, ...]:
    occupancy, first = result.occupancy, found[0]
    return (
        _code(first.subject),
        _code(first.target or ""),
        number(occupancy.waves_per_simd) if occupancy else "?",
        "<br>".join(f"{_rule(claim)} {_text(claim.text)}" for claim in found),
        _at(first.place),
    )


def _rule(claim: Claim) -> str:
    return f"{claim.finding.rule} {claim.finding.severity}:"


def _reason(claim: Claim) -> str:
    assert claim.suppressed is not None
    until = f" (until {claim.suppressed.until})" if claim.suppressed.until else ""
    return _text(claim.suppressed.reason + until)


def _at(place: Place | None) -> str:
    if place is None:
        return ""
    return _code(place.path if place.line is None else f"{place.path}:{place.line}")


def _table(heading: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    if rows:
        yield "\n"
        for cells in (heading, ("---",) * len(heading), *rows):
            yield f"| {' | '.join(cells)} |\n"


def _folded(title: str, heading: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    if rows:
        yield f"\n<details><summary>{title}</summary>\n"
        yield from _table(heading, rows)
        yield "\n</details>\n"


def _list(title: str, lines: Sequence[str]) -> Iterator[str]:
    if lines:
        yield f"\n{title}\n\n"
        yield from (f"* {line}\n" for line in lines)


_ACTIVE = {character: f"\\{character}" for character in r"\`*_[]<>|~#$"}
_TEXT = str.maketrans(_ACTIVE | {"&": "&amp;", "@": "@\u200b"})
"""Nothing in a text is markup, and nobody is called by it."""


def _text(text: str) -> str:
    return printable(text).translate(_TEXT)


def _code(text: str) -> str:
    """A name as code; in HTML where a code span could not hold it inside a table."""
    text = printable(text)
    if "|" in text or "`" in text:
        escaped = (c if c.isalnum() or c == " " else f"&#{ord(c)};" for c in text)
        return f"<code>{''.join(escaped)}</code>"
    return f"`{text}`" if text.strip() else text
