"""A short run of what `python -m tests.pressure` proves at length."""

from __future__ import annotations

import tempfile
from pathlib import Path
from random import Random

import pytest

from tests.conftest import FIXTURES

from . import live_ins, machine_code

pytestmark = pytest.mark.slow
needs_llc = pytest.mark.skipif(
    bool(live_ins.missing()), reason=f"not installed: {', '.join(live_ins.missing())}"
)


@pytest.fixture(scope="module")
def oracle() -> str:
    if absent := machine_code.missing():
        pytest.skip(f"not installed: {', '.join(absent)}")
    return machine_code.program()


@pytest.mark.parametrize(("processor", "seed"), [("gfx90a", 11), ("gfx1201", 12)])
def test_fuzzed_instructions_read_and_write_what_llvm_says(
    oracle: str, tmp_path: Path, processor: str, seed: int
) -> None:
    path = tmp_path / "fuzzed.s"
    path.write_text("\n".join(machine_code.fuzzed(processor, seed, 2, tries=400_000)) + "\n")
    found = list(machine_code.compared(processor, path))
    assert len(found) > 500
    differences = [difference for _, difference in found if difference]
    assert [str(one) for one in differences if not machine_code.reason(one)] == []


@pytest.mark.parametrize(
    ("processor", "name"),
    [("gfx90a", "spills-clang22-gfx90a"), ("gfx1100", "variety-clang19-gfx1100")],
)
def test_fixtures_read_and_write_what_llvm_says(oracle: str, processor: str, name: str) -> None:
    found = list(machine_code.compared(processor, FIXTURES / "assembly" / f"{name}.s"))
    assert len(found) > 300
    assert [str(difference) for _, difference in found if difference] == []


@needs_llc
@pytest.mark.parametrize("target", ["gfx90a", "gfx1201"])
def test_blocks_begin_with_the_registers_that_llvm_lists(target: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        text, dump = live_ins.compiled(Random(f"test {target}"), target, 12, Path(folder))
    tally = live_ins.compare(text, dump)
    assert tally["kernels"] == tally["loops agree"] == 12
    assert tally["blocks"] > 20
    for letter in "VS":
        both = tally[f"both {letter}"]
        assert both >= 0.98 * (both + tally[f"llvm {letter}"])
        assert both >= 0.97 * (both + tally[f"ours {letter}"])
