"""Invariants of every kernel: live ≤ used; text and object agree."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from kernelinfo.analysis.options import Options
from kernelinfo.pressure.measure import Measured, measure

from ..conftest import FIXTURES
from ..test_golden import run
from . import disassembler

ASSEMBLY = sorted((FIXTURES / "assembly").glob("*.s"))
PAIRS = [path for path in ASSEMBLY if (FIXTURES / "code_object" / f"{path.stem}.co").exists()]


def measured(path: Path) -> dict[str, Measured]:
    """Symbol → measured kernel of a file. Every kernel must be measured."""
    found = list(measure(str(path), Options()))
    return {item.result.kernel.symbol: item for item in found if isinstance(item, Measured)}


def exceeded(one: Measured) -> list[str]:
    """Register classes with more live registers than descriptor, metadata or comment state."""
    kernel, peak = one.result.kernel, one.story.peak
    demand = kernel.traits.demand
    limits = {"vector": demand.vgprs if demand else None, "sgprs": kernel.used.sgprs}
    return [
        f"{kernel.symbol}: {name} {getattr(peak.pressure, name)} > {limit}"
        for name, limit in limits.items()
        if limit is not None and getattr(peak.pressure, name) > limit
    ]


@pytest.mark.parametrize("path", ASSEMBLY, ids=lambda path: path.stem)
def test_no_more_is_live_than_is_used(path: Path) -> None:
    found = measured(path)
    assert found or path.stem == "nometadata"
    assert [line for one in found.values() for line in exceeded(one)] == []


@pytest.mark.nightly
@disassembler.needed
@pytest.mark.parametrize("path", PAIRS[::4], ids=lambda path: path.stem)
def test_text_and_object_of_one_compilation_have_the_same_peak(path: Path, tmp_path: Path) -> None:
    """The object may have more live registers: it lacks the comments on undefined values."""
    objects = peaks(FIXTURES / "code_object" / f"{path.stem}.co")
    assert all(peak <= objects[symbol] for symbol, peak in peaks(path).items())
    plain = tmp_path / path.name
    plain.write_text(re.sub("; implicit-def: .*", "", path.read_text("utf-8")))
    assert peaks(plain) == objects


def peaks(path: Path) -> dict[str, tuple[int, ...]]:
    """Symbol → instructions and live registers of each class at the peak."""
    stories = ((symbol, one.story) for symbol, one in measured(path).items())
    return {symbol: (s.instructions, *s.peak.pressure) for symbol, s in stories}


@pytest.mark.parametrize("name", ["odd-clang15-gfx90a", "odd-clang22-gfx90a"])
def test_names_of_any_characters_bound_nothing(name: str) -> None:
    found = measured(FIXTURES / "assembly" / f"{name}.s")
    reasons = {symbol: one.story.reasons for symbol, one in found.items() if one.story.reasons}
    assert reasons == {"_Z15calls_elsewherePi": ("calls",)}
    assert len(found) > 4


def test_what_a_log_puts_before_each_line_is_no_code(tmp_path: Path) -> None:
    plain = FIXTURES / "assembly" / "spills-clang22-gfx90a.s"
    logged = tmp_path / "build.log.s"
    lines = plain.read_text("utf-8").splitlines(keepends=True)
    logged.write_text("".join(f"[build] {line}" for line in lines))
    assert peaks(logged) == peaks(plain)


@pytest.mark.parametrize("format", ["text", pytest.param("json", marks=pytest.mark.nightly)])
def test_two_processes_print_what_one_prints(tmp_path: Path, format: str) -> None:
    for number in range(18):  # more files than one process takes at once
        name = ("occupancy-clang22-gfx90a.s", "spills-clang22-gfx90a.s")[number % 2]
        shutil.copy(FIXTURES / "assembly" / name, tmp_path / f"{number}.s")
    one, two = (run("pressure", str(tmp_path), "--format", format, "--jobs", n) for n in "12")
    assert one == two
    assert one[1:] == ("", 0)
