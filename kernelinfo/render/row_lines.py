"""Rows of kernels as lines of text, for the formats with one row per kernel."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache, lru_cache, partial

from kernelinfo.kernel import Item, Kernel, Result
from kernelinfo.kernel.code_object import CodeObject
from kernelinfo.kernel.rows import (
    BUILD,
    FINDINGS,
    INSTRUCTIONS,
    KERNEL,
    OCCUPANCY,
    ORIGIN,
    RESOURCES,
    SIZE,
    SOURCE,
    ColumnNames,
    ColumnValues,
    build_values,
    finding_values,
    instruction_values,
    occupancy_values,
    origin_values,
    resource_values,
    source_values,
)

Spell = Callable[[ColumnNames, ColumnValues], str]
"""(names, values) of neighbouring columns → their text."""


def lines(
    items: Iterable[Item], name: Callable[[Kernel], str], spell: Spell, instructions: bool
) -> Iterator[str]:
    """One line of text per kernel: its columns spelled by `spell`, joined by commas.

    Equal values of neighbouring columns are spelled once. `name` returns the `Kernel_Name`.
    `instructions` adds the columns `INSTRUCTIONS`.
    """
    code_object: CodeObject | None = None
    groups = (KERNEL, RESOURCES, SIZE, OCCUPANCY, SOURCE + FINDINGS)
    named, resources, size, reached, found = (_texts(spell, names) for names in groups)
    for kernel, occupancy, findings in (item for item in items if isinstance(item, Result)):
        if kernel.code_object is not code_object:
            code_object = kernel.code_object
            origin = spell(ORIGIN, origin_values(kernel))
            build = spell(BUILD, build_values(code_object))
        yield ",".join(
            (
                named((name(kernel), kernel.symbol)),
                origin,
                resources(resource_values(kernel.traits, occupancy)),
                size((kernel.code_bytes,)),
                reached(occupancy_values(occupancy)),
                build,
                found(source_values(kernel) + finding_values(findings)),
                *([spell(INSTRUCTIONS, instruction_values(kernel))] if instructions else []),
            )
        )


@cache
def _texts(spell: Spell, names: ColumnNames) -> Callable[[ColumnValues], str]:
    """A cached `spell` for these columns; the cache saves a third of a report's time."""
    return lru_cache(maxsize=1 << 14)(partial(spell, names))
