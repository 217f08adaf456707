"""Rows of kernels as lines of text, for the formats with one row per kernel."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache, partial

from kernelinfo.kernel import Finding, Item, Kernel, Result
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
from kernelinfo.kernel.traits import Traits
from kernelinfo.model import Occupancy

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
    text = partial(_text, spell)
    for kernel, occupancy, findings in (item for item in items if isinstance(item, Result)):
        if kernel.code_object is not code_object:
            code_object = kernel.code_object
            origin = spell(ORIGIN, origin_values(kernel))
            build = spell(BUILD, build_values(code_object))
        resources, reached, found = _of_statement(spell, kernel.traits, occupancy, findings)
        yield ",".join(
            (
                text(KERNEL, (name(kernel), kernel.symbol)),
                origin,
                resources,
                text(SIZE, (kernel.code_bytes,)),
                reached,
                build,
                text(SOURCE, source_values(kernel)),
                found,
                *([spell(INSTRUCTIONS, instruction_values(kernel))] if instructions else []),
            )
        )


@lru_cache(maxsize=1 << 14)  # a library has each name for seven targets
def _text(spell: Spell, names: ColumnNames, values: ColumnValues) -> str:
    return spell(names, values)


@lru_cache(maxsize=1 << 15)  # spelled once for 88,000 kernels with 25,000 statements
def _of_statement(
    spell: Spell, traits: Traits, occupancy: Occupancy | None, findings: tuple[Finding, ...]
) -> tuple[str, str, str]:
    """Texts of the columns `RESOURCES`, `OCCUPANCY` and `FINDINGS`, which equal kernels share."""
    return (
        spell(RESOURCES, resource_values(traits, occupancy)),
        spell(OCCUPANCY, occupancy_values(occupancy)),
        spell(FINDINGS, finding_values(findings)),
    )
