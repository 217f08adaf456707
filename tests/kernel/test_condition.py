"""Conditions on kernels: what they choose, units, unknown numbers, and mistakes."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

import kernelinfo
from kernelinfo import OptionError, condition

from ..conftest import FIXTURES
from ..messages import refused
from ..test_golden import run

PATHS = ("assembly/variety-clang22-gfx90a.s", "code_object/tiny-v6-clang22-gfx1030.co")
RESULTS = [result for path in PATHS for result in kernelinfo.load(FIXTURES / path).results]


def rows(*words: str) -> list[dict[str, Any]]:
    """Rows of kernels of both files, as JSON lines."""
    out, _, code = run("report", *PATHS, "--format", "jsonl", *words)
    assert code == 0
    return [json.loads(line) for line in out.splitlines()]


HOLDS: list[tuple[str, Callable[[dict[str, Any]], bool]]] = [
    ("waves < 4", lambda r: r["Waves_Per_SIMD"] < 4),
    ("waves/SIMD<4", lambda r: r["Waves_Per_SIMD"] < 4),
    ("Waves_Per_SIMD >= 8", lambda r: r["Waves_Per_SIMD"] >= 8),
    ("occ <= 50%", lambda r: r["Occupancy_Percent"] <= 50),
    ("lds > 32k", lambda r: r["LDS_Block_Size"] > 32 * 1024),
    ("lds = 40KiB", lambda r: r["LDS_Block_Size"] == 40 * 1024),
    ("VGPR_USED != 2", lambda r: r["VGPR_Used"] != 2),
    ("limiters = vgpr", lambda r: "vgpr" in r["Limiters"]),
    ("'limited by' = LDS", lambda r: "lds" in r["Limiters"]),
    ("exact = false", lambda r: r["Exact"] is False),
    ("kernel = stride", lambda r: "stride<" in r["Kernel_Name"]),
    ("kernel ~ vgpr*", lambda r: r["Kernel_Name"].startswith("vgpr")),
    ("kernel = 'vgpr_heavy(int*)'", lambda r: r["Kernel_Name"] == "vgpr_heavy(int*)"),
    ("target = gfx1030", lambda r: r["Compiled_For"] == "gfx1030"),
    ("target = MI250X", lambda r: r["Compiled_For"] == "gfx90a"),
    ("target ~ gfx9*", lambda r: r["Compiled_For"] == "gfx90a"),
    ("library ~ tiny*", lambda r: r["Library"].startswith("tiny")),
    (
        "not waves < 4 and lds = 0",
        lambda r: r["Waves_Per_SIMD"] >= 4 and not r["LDS_Block_Size"],
    ),
    (
        "waves = 1 or waves = 2 and (lds > 0 OR agpr > 100)",
        lambda r: (
            r["Waves_Per_SIMD"] == 1
            or (
                r["Waves_Per_SIMD"] == 2
                and (r["LDS_Block_Size"] > 0 or r["Accum_VGPR_Count"] > 100)
            )
        ),
    ),
]


def test_a_condition_chooses_what_the_rows_say() -> None:
    every, wrong = rows(), []
    for text, holds in HOLDS:
        expected = [row for row in every if holds(row)]
        if rows("--where", text) != expected or not 0 < len(expected) < len(every):
            wrong.append(text)
    assert wrong == []


def test_a_condition_holds_for_a_row_with_the_columns_that_it_reads() -> None:
    every = rows()
    wanted = condition("waves < 4 and not (kernel ~ lds* or spills > 0) or BLOCK_M = 64")
    assert wanted.reads == (
        *("Waves_Per_SIMD", "Kernel_Name", "Symbol", "VGPR_Spills", "SGPR_Spills", "Options"),
    )
    for result, row in zip(RESULTS, every, strict=True):
        read = {name: row[name] for name in wanted.reads}
        assert wanted.holds(read) is wanted.holds(result)
        assert condition("BLOCK_M = 64").holds(read | {"Options": ["BLOCK_M=64"]})
    for name in every[0]:
        for value in ("?", "1", "gfx90a"):
            try:
                one = condition(f"{name} = {value}")
            except OptionError:  # a number is no text
                continue
            for result, row in zip(RESULTS, every, strict=True):
                assert one.holds({name: row[name] for name in one.reads}) is one.holds(result)


def test_a_constant_that_is_no_number_compares_false() -> None:
    below = condition("BLOCK_M < 100")
    options = {"64": True, "128": False, "wide": False}
    assert {one: below.holds({"Options": [f"BLOCK_M={one}"]}) for one in options} == options


def test_an_unknown_number_compares_false_and_equals_a_question_mark() -> None:
    (unknown,) = [
        result
        for result in kernelinfo.load(FIXTURES / "code_object/nometadata.co").results
        if result.kernel.numbers.vgpr_spills is None
    ][:1]
    for text in ("spills < 1", "spills >= 0", "spills = 0", "spills != 0", "spills != ?"):
        assert not condition(text).holds(unknown), text
    assert condition("spills = ?").holds(unknown)
    assert condition("not spills < 1").holds(unknown)
    assert condition("member = ?").holds(unknown)


MISTAKES = [
    ("wavs < 4", 0, "condition-column did-you-mean 'wavs' … waves"),
    ("waves < 4 and vgrp > 8", 14, "condition-column did-you-mean 'vgrp' … vgpr"),
    ("waves < many", 8, "condition-number waves … 'many'"),
    ("kernel < 4", 9, "condition-order < … kernel"),
    ("target = gfx9x", 9, "target-unknown 'gfx9x'"),
    ("waves 4", 6, "condition-malformed"),
    ("waves <", 7, "condition-malformed"),
    ("(waves < 4", 10, "condition-malformed"),
    ("waves < 4)", 9, "condition-malformed"),
    ("waves < 4 lds > 2", 10, "condition-malformed"),
    ("", 0, "condition-malformed"),
]


def test_a_mistake_has_a_caret_and_the_nearest_name() -> None:
    for text, caret, what in MISTAKES:
        with refused(what, OptionError) as error:
            condition(text)
        first, shown, mark = str(error.value).split("\n")
        assert first.startswith("--where: ")
        assert shown == f"  {text}"
        assert mark == "  " + " " * caret + "^"


@pytest.mark.parametrize("text", ["(" * 4000 + "waves=1" + ")" * 10, "not " * 1000 + "waves = 1"])
def test_a_deep_condition_ends(text: str) -> None:
    if text.startswith("("):
        with pytest.raises(OptionError, match="--where: "):
            condition(text)
    else:
        assert condition(text).holds(RESULTS[0]) is condition("waves = 1").holds(RESULTS[0])


def test_a_long_condition_is_refused() -> None:
    with refused("condition-too-long 4096", OptionError):
        condition(" and ".join(["waves = 1"] * 1000))
    assert not condition(" and ".join(["waves = 1"] * 200)).holds(RESULTS[-1])
