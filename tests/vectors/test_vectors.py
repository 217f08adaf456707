"""`kernelinfo vectors`: what the file says is right, by other ways to work it out."""

from __future__ import annotations

import json
import re
import subprocess
from collections import Counter
from functools import cache
from pathlib import Path
from shutil import which

import pytest

from tests.manual.recipes import recipe
from tests.targets import KNOWN
from tests.test_golden import run

from .oracle import Vector, expected

SAMPLE = 97
"""One case in so many is tried where each one takes long; a prime, so that all kinds occur."""


@cache
def lines() -> list[str]:
    out, err, code = run("vectors")
    assert (err, code) == ("", 0)
    return out.splitlines()


@cache
def vectors() -> list[Vector]:
    return [json.loads(line) for line in lines() if line.startswith('{"target"')]


def test_the_file_covers_every_target() -> None:
    assert json.loads(lines()[0]).keys() == {"schema", "kernelinfo", "license"}
    assert len(vectors()) >= 20_000
    assert {vector["target"] for vector in vectors()} == set(KNOWN)
    assert {name for vector in vectors() for name in vector["limiters"]} == {
        *("slots", "vgpr", "sgpr", "lds", "barriers", "scratch")
    }
    for field in ("wave_size", "wgp_mode", "trap_handler", "launchable"):
        assert len({vector[field] for vector in vectors()}) > 1, field


def test_the_manuals_model_finds_its_fields() -> None:
    fields = re.findall(r'field\(h, "(\w+)"\)', recipe("model-c"))
    hardware = [json.loads(line) for line in lines() if line.startswith('{"hardware"')]
    assert len({*fields}) > 10
    assert all({*fields} <= {*one} for one in hardware if "members" not in one)


def test_both_sides_of_each_step_of_vgprs_are_tried() -> None:
    """The steps of CDNA 2 as AMD publishes them: 512 VGPRs for each lane of a SIMD."""
    tried = {vector["vgprs"] for vector in vectors() if vector["target"] == "gfx90a"}
    steps = {64, 72, 80, 96, 128, 168, 256}
    assert tried >= {*steps, *(step + 1 for step in steps)}


def test_both_sides_of_each_share_of_lds_are_tried() -> None:
    """1, 2, 3, 4, 5, 8 or 16 workgroups share the 64 KiB of CDNA 2, in steps of 512 B."""
    tried = {vector["lds_bytes"] for vector in vectors() if vector["target"] == "gfx90a"}
    shares = {65536, 32768, 21504, 16384, 12800, 8192, 4096}
    assert tried >= {*shares, *(share + 1 for share in shares)}


def test_random_cases_launch_workgroups_as_programs_do() -> None:
    """64 to 1024 workitems, each power of two many times, besides sizes that occur once or so. Only
    random cases have such counts of SGPRs."""
    sizes = Counter(vector["workgroup_size"] for vector in vectors() if vector["sgprs"] % 8 == 5)
    assert {size for size, _ in sizes.most_common(5)} == {64, 128, 256, 512, 1024}


def test_each_case_is_what_a_simulation_finds() -> None:
    for vector in vectors()[::SAMPLE]:
        assert expected(vector) == {key: vector[key] for key in expected(vector)}, vector


@pytest.mark.nightly
def test_every_case_is_what_a_simulation_finds() -> None:
    wrong = [one for one in vectors() if one | expected(one) != one]
    assert wrong == []


def test_cases_are_what_calc_says() -> None:
    for vector in vectors()[:: SAMPLE * 8]:
        out, err, code = run("calc", *_options(vector), "--format", "json")
        assert (err, code) == ("", 0)
        record = json.loads(out)
        answer = record | record["resident"]
        for field in ("launchable", "workgroups", "waves", "percent", "limiters"):
            assert answer[field] == vector[field], vector


def _options(vector: Vector) -> list[str]:
    amounts = {
        "--vgpr": "vgprs",
        "--agpr": "agprs",
        "--sgpr": "sgprs",
        "--lds": "lds_bytes",
        "--scratch": "scratch_bytes_per_lane",
        "--block": "workgroup_size",
        "--wave": "wave_size",
    }
    options = [word for name, field in amounts.items() for word in (name, str(vector[field]))]
    options += ["--cu-mode"] if vector["wgp_mode"] is False else []
    options += [] if vector["trap_handler"] else ["--no-trap-handler"]
    return ["--arch", vector["target"], *options]


@pytest.mark.needs("cc")
def test_the_manuals_model_in_c_agrees(tmp_path: Path) -> None:
    compiler = which("cc")
    assert compiler
    (tmp_path / "model.c").write_text(recipe("model-c"))
    warnings = ["-Wall", "-Wextra", "-Werror", "-O1"]
    subprocess.run([compiler, *warnings, "model.c", "-o", "model"], cwd=tmp_path, check=True)
    text = "\n".join([*lines(), ""])
    done = subprocess.run(
        ["./model"], input=text, capture_output=True, text=True, cwd=tmp_path, check=False
    )
    assert (done.stdout, done.returncode) == (f"{len(vectors())} cases, 0 wrong\n", 0)
