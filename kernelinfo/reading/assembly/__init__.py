"""Modules of an assembly text, read from the compiler's comments, directives and metadata."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kernelinfo.errors import TooManyKernelsError
from kernelinfo.reading.assembly.kernel_text import WholeText
from kernelinfo.reading.assembly.module_text import ModuleText
from kernelinfo.reading.assembly.scan import (
    ASSIGNMENT,
    BEGIN,
    BUNDLE,
    is_directive,
    marks,
    outside_macros,
)
from kernelinfo.reading.budget import UNBOUNDED, KernelBudget
from kernelinfo.reading.data import Lines, Text, decode, line_at
from kernelinfo.reading.facts import Features, Module, ReadWarnings

_DIRECTIVE = 3
"""Statements counted for one directive, by the time that it takes to read."""


def read(
    text: Text, *, arch: str | None = None, budget: KernelBudget = UNBOUNDED
) -> Iterator[Module]:
    """Modules of an assembly text, in its order.

    A module ends at the next `.amdgcn_target` or at the next part of a text bundle. A part without
    anything for an AMD GPU gives no module. `arch` is the target of modules that name none. A
    statement that cannot be read becomes a warning of its module; nothing in a text raises. Takes
    time linear in the text. Raises `ReadError` if a long text cannot be read any more.
    """
    warnings = ReadWarnings()
    whole = WholeText(text, Lines(text), warnings, budget)
    part = ""
    unended: list[tuple[str, int]] = []
    module = ModuleText(whole, 0, part)
    offset, end = 0, len(text)
    try:
        for offset, kind in outside_macros(text, _counted(marks(text), budget)):
            if kind == BUNDLE:
                mark, _, entry = decode(line_at(text, offset)).partition(" ")
                begins = mark == f"{BUNDLE}START__"
                if part and begins:
                    unended.append((part, offset))
                elif not begins and entry != part:
                    message = f"part {entry!r} ends, but part {part!r} is open; build it again"
                    module.warn(message, offset)
                yield from module.finish(offset, arch)
                part = entry if begins else ""
                module = ModuleText(whole, offset, part)
            else:
                if kind == "amdgcn_target" and module.begun and is_directive(text, offset):
                    yield from module.finish(offset, arch)
                    module = ModuleText(whole, offset, part)
                module.take(offset, kind)
        if part:
            unended.append((part, end))
    except TooManyKernelsError as error:
        module.warn(str(error), offset)
        end = offset
    if unended:
        more = f" and {len(unended) - 1} more" if len(unended) > 1 else ""
        module.warn(f"part {unended[0][0]!r}{more} has no end; build it again", unended[0][1])
    yield from module.finish(end, arch)
    if rest := warnings.rest():
        yield Module("assembly", None, Features(), None, (), (), rest)


def _counted(marks: Iterable[tuple[int, str]], budget: KernelBudget) -> Iterator[tuple[int, str]]:
    """The same marks, counted. Raises `TooManyKernelsError` if they exceed the budget."""
    for offset, kind in marks:
        budget.spend_statements(1 if kind in (ASSIGNMENT, BEGIN) else _DIRECTIVE)
        yield offset, kind
