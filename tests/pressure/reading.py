"""Functions of assembly texts, for tests."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kernelinfo.pressure.function import LiveFunction
from kernelinfo.pressure.listing import read_listing
from kernelinfo.pressure.registers import from_directives
from kernelinfo.reading.assembly.scan import SourceFiles

_DESCRIBED = re.compile(r"^\s*\.amdhsa_kernel (\S+)\n(.*?)\.end_amdhsa_kernel", re.M | re.S)


def function_of(text: str, name: str = "", entry: int | None = None) -> LiveFunction:
    """The function whose label is on the first line of `text`."""
    lines = text.split("\n")
    set_up = from_directives("") if entry is None else entry
    return LiveFunction(read_listing(lines, 1, SourceFiles(), lambda *_: None, name), set_up)


def kernels_of(text: str) -> Iterator[tuple[str, LiveFunction]]:
    """Symbol and function of every kernel in a compiler's text."""
    lines = text.split("\n")
    labels = {line.partition(":")[0]: number for number, line in enumerate(lines) if ":" in line}
    for described in _DESCRIBED.finditer(text):
        first = labels[described[1]]
        listing = read_listing(
            lines[first:], first + 1, SourceFiles(), lambda *_: None, described[1]
        )
        yield described[1], LiveFunction(listing, from_directives(described[2]))
