"""Variables in LDS by debug information, without a compiler: see `test_lds` for real ones."""

from __future__ import annotations

from collections.abc import Mapping

from kernelinfo.pressure.lds import LdsUse, LdsVariable, lds_of
from kernelinfo.reading.debug_entries import DebugEntry, DebugUnit


def entry(
    tag: str, name: str, *children: DebugEntry, numbers: Mapping[str, int] | None = None
) -> DebugEntry:
    return DebugEntry(f"DW_TAG_{tag}", name, None, numbers or {}, True, None, [*children])


INT = entry("base_type", "int", numbers={"DW_AT_byte_size": 4})
TILE = entry("variable", "tile", numbers={"DW_AT_type": 1})
KERNEL = entry("subprogram", "k", TILE, numbers={"DW_AT_high_pc": 64})
OTHERS: DebugUnit = {0: entry("subprogram", "f", numbers={"DW_AT_high_pc": 8})}
UNIT: DebugUnit = {0: KERNEL, 1: INT, 2: TILE}


def test_the_unit_of_the_kernel_names_its_variables() -> None:
    assert lds_of([OTHERS, UNIT], "k", 4) == LdsUse(4, (LdsVariable("tile", 4, None),))


def test_a_size_that_they_do_not_add_up_to_is_not_explained() -> None:
    assert lds_of([UNIT], "k", 8) == LdsUse(8, ())


def test_without_debug_information_nothing_is_said() -> None:
    assert lds_of([OTHERS], "k", 4) is None
