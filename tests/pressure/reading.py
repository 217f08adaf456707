"""Functions of assembly texts, for tests."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kernelinfo.pressure.function import LiveFunction
from kernelinfo.pressure.listing import read_listing
from kernelinfo.pressure.registers import EVERY, from_directives
from kernelinfo.reading.assembly.comments import without_comments
from kernelinfo.reading.assembly.directives import read_block
from kernelinfo.reading.assembly.expressions import number
from kernelinfo.reading.assembly.scan import SourceFiles

_DESCRIBED = re.compile(r"^\s*\.amdhsa_kernel (\S+)\n(.*?)\.end_amdhsa_kernel", re.M | re.S)


def function_of(text: str, name: str = "", entry: int | None = None) -> LiveFunction:
    """The function whose label is on the first line of `text`."""
    names_registers = "/*v" in text
    plain = text if names_registers else without_comments(text.encode()).decode()
    lines = plain.split("\n")
    set_up = EVERY if entry is None else entry
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
        yield described[1], LiveFunction(listing, set_up_by(described[0]))


def set_up_by(block: str) -> int:
    """Registers set at kernel entry by the text of an `.amdhsa_kernel` or `.amd_kernel_code_t`."""
    kind = "amdhsa_kernel" if ".amdhsa_kernel" in block else "amd_kernel_code_t"
    fields = read_block(block.encode(), block.index("."), kind)[0].by_field
    return from_directives({name: number(one.value) for name, one in fields.items()})
