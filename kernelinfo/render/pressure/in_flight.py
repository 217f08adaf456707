"""Loads in flight as text: what a wave, and all waves of a CU, wait for at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from kernelinfo.kernel import Result, counted
from kernelinfo.pressure.function import CodeLocation
from kernelinfo.pressure.in_flight import tightest
from kernelinfo.pressure.nouns import InFlight, Story
from kernelinfo.reading.facts import SourceLine
from kernelinfo.render import View
from kernelinfo.render.names import printable
from kernelinfo.render.paint import painted, size, table_lines, wrap
from kernelinfo.render.pressure.words import located


def in_flight_table(story: Story, result: Result, view: View) -> Iterator[str]:
    """The loads in flight in each loop, in the order of the text; in the whole function if no loop
    loads. A line says why if they are not known."""
    if story.waits_unknown:
        text = f" in flight: cannot tell: {printable(story.waits_unknown)}"
        yield from painted([[], *wrap([(text, "")], view.width, 2)], view)
        return
    loops = [loop for loop in story.loops if loop.in_flight][: view.top or None]
    rows = [
        row
        for loop in loops
        for row in _rows(f"{loop.label or ''} {located(loop.at)}", loop.in_flight, result, loop.at)
    ] or _rows("all", story.in_flight, result)
    if rows:
        per = f"per {result.occupancy.per}" if result.occupancy else "per CU"
        heading = ("in flight", "from", "loads", "B/lane", per, "waits", "shortest wait")
        yield "\n"
        yield from painted(table_lines([heading, *rows], "ttnnnnd", view, {0: "bold"}), view)


def _rows(
    name: str, of_loop: Sequence[InFlight], result: Result, near: CodeLocation | None = None
) -> list[tuple[str, ...]]:
    """A row for each memory. Bytes of scalar loads are not those of a lane."""
    return [
        (
            printable(name.strip()) if position == 0 else "",
            row.memory,
            str(row.loads),
            "" if row.memory == "scalar" else str(row.bytes),
            size(number) if (number := _bytes_of_all(row, result)) else "",
            str(row.waits),
            _shortest(row, near),
        )
        for position, row in enumerate(of_loop)
    ]


def _bytes_of_all(row: InFlight, result: Result) -> int | None:
    """Bytes in flight in all waves of a CU or WGP; None if their number is not known."""
    occupancy, lanes = result.occupancy, result.kernel.wave_size
    if occupancy is None or lanes is None:
        return None
    return row.bytes * occupancy.waves * (1 if row.memory == "scalar" else lanes)


def _shortest(row: InFlight, near: CodeLocation | None = None) -> str:
    """The wait that has the fewest instructions to hide a load: `17 instructions (:30 for :29)`."""
    if row.wait is None or row.load is None or row.distance is None:
        return "none for a load in it"
    places = f"{located(row.wait, near)} for {located(row.load, row.wait)}"
    return f"{counted(row.distance, 'instruction')} ({places})"


_MOST_NAMED = 3  # places of loads that one line or wait names


def waited_for(story: Story) -> dict[SourceLine, str]:
    """Source line → what its waits wait for: `:75 15`, a place of loads and the fewest instructions
    between, nearest first."""
    completed: dict[SourceLine, list[tuple[CodeLocation, int]]] = {}
    for wait in story.waits:
        if wait.at.source and wait.completes:
            completed.setdefault(wait.at.source, []).extend(wait.completes)
    return {
        line: _nearest(loads, CodeLocation(0, None, None, line, "elsewhere"))
        for line, loads in completed.items()
    }


def _nearest(loads: Iterable[tuple[CodeLocation, int]], near: CodeLocation) -> str:
    places: dict[str, int] = {}
    for load, distance in sorted(loads, key=lambda pair: pair[1]):
        places.setdefault(located(load, near), distance)
    parts = [f"{place} {distance}" for place, distance in places.items()]
    return ", ".join(parts[:_MOST_NAMED]) + (" …" if len(parts) > _MOST_NAMED else "")


def wait_comments(story: Story) -> dict[int, str]:
    """Number of each wait's instruction → a comment that says what it waits for."""
    return {
        wait.at.number: f"  ; for {_nearest(wait.completes, wait.at)} before"
        for wait in story.waits
        if wait.completes
    }


def in_flight_line(story: Story, result: Result) -> str:
    """The loop that waits soonest for a load from far memory, in a sentence; empty if the code has
    no such wait or is not known."""
    chosen = tightest(story)
    if chosen is None:
        return ""
    loop, row = chosen
    text = f"{row.loads} in flight"
    text += f" in {printable(loop.label or located(loop.at))}" if loop else ""
    number = _bytes_of_all(row, result)
    text += f", {size(number)} per {result.occupancy.per}" if number and result.occupancy else ""
    return f"{text}; shortest wait {_shortest(row, loop and loop.at)}"
