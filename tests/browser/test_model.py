"""The page's own occupancy model says what the Python model says, of every target."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from kernelinfo import (
    Demand,
    Kernel,
    KernelinfoError,
    Launch,
    Occupancy,
    Options,
    Report,
    Target,
    analyse,
    arch,
)
from kernelinfo.hardware import targets
from kernelinfo.kernel import Rule
from kernelinfo.model import occupancy
from kernelinfo.model.curves import CurveVariable, curve
from kernelinfo.model.limits import limits
from kernelinfo.model.vectors import vectors
from kernelinfo.render.table import next_step
from kernelinfo.rules import BY_DEFAULT, findings

from ..conftest import FIXTURES
from ..test_golden import OCCUPANCY
from .chromium import Opened
from .conftest import Reported

CASES = 400
"""Random kernels and launches for each target."""

ANSWER = (
    *("target", "launch", "per", "simds", "wave_slots", "workgroups", "waves", "waves_per_simd"),
    *("percent", "obstacles", "at_most_because", "allocated", "limits", "limiters", "next"),
    *("headroom", "range", "exact"),
)
"""Fields of an occupancy in the page's model."""
OCCUPANCIES = """cases.map(([target, demand, launch]) =>
    occupancyOf(report.targets[target], demand, launch, report.targets))"""
CURVES = """cases.map(([variable, target, demand, launch]) =>
    curveOf(variable, report.targets[target], demand, launch, report.targets).map((point) =>
        [point.at, point.occupancy.percent, point.occupancy.limiters]))"""
ON_ANOTHER = """cases.map(([own, target, demand, used]) =>
    demandOn(report.targets[own], report.targets[target], demand, used))"""


def answers(page: Page, question: str, cases: list[Any]) -> Any:
    """The page's answers to the cases. They travel as text, which Playwright passes far faster."""
    code = f"text => {{ const cases = JSON.parse(text); return JSON.stringify({question}); }}"
    return json.loads(page.evaluate(code, json.dumps(cases)))


def plain(value: Any) -> Any:
    """A record as JSON values."""
    if hasattr(value, "_asdict"):
        return {name: plain(item) for name, item in value._asdict().items()}
    return [plain(item) for item in value] if isinstance(value, tuple) else value


def random_case(target: Target, random: Random) -> tuple[Demand, Launch]:
    """A kernel and a launch as they may come, and now and then as they cannot."""
    file = random.choice(target.vgprs)
    unstated = [None] if random.random() < 0.1 else []
    lds = random.choice([0, 0, random.randrange(2**12), random.randrange(2**17), 2**16])
    demand = Demand(
        wave_size=file.wave_size,
        vgprs=random.choice(unstated or [random.randint(0, 128), random.randint(0, 520)]),
        sgprs=random.choice(unstated or [random.randint(0, 112)]),
        lds_bytes=random.choice(unstated or [lds]),
        scratch_bytes_per_lane=random.choice(
            unstated or [0, 60, random.randrange(2**16), random.randrange(2**20)]
        ),
        accum_offset=random.choice([None, 4 * random.randint(1, 64)]),
        wgp_mode=random.choice([None, True, False]),
        tg_split=random.random() < 0.1,
        at_least=random.choice([(), ("the kernel calls functions that are not known here",)]),
        dynamic_vgpr_block=random.choice((0, 0, *file.dynamic_blocks)),
        arch_vgprs=random.choice([None, random.randint(0, 128), random.randint(0, 520)]),
        agprs=random.choice([None, 0, random.randint(0, 300)]),
    )
    if random.random() < 0.3:
        demand = padded(demand, random)
    size = random.choice([1, 64, 256, 1024, random.randint(1, 1024), random.randint(1, 1100)])
    launch = Launch(
        size,
        random.choice(["option", "required", "declared-max", "hardware-max", "graphics-stage"]),
        dynamic_lds_bytes=random.choice([0, 0, 0, random.randrange(2**14)]),
        trap_handler=random.random() < 0.8,
        smallest_size=random.choice([None, None, random.randint(1, size)]),
    )
    return demand, launch


def padded(demand: Demand, random: Random) -> Demand:
    """The demand with registers that the code does not use."""
    vgprs, sgprs = (random.choice([count, random.randrange(count)]) if count else None
                    for count in (demand.vgprs, demand.sgprs))  # fmt: skip
    return demand._replace(
        used_vgprs=None if vgprs == demand.vgprs else vgprs,
        used_sgprs=None if sgprs == demand.sgprs else sgprs,
    )


@pytest.fixture(scope="module")
def page(browser: Browser, reported: Reported) -> Iterator[Page]:
    held = Opened(browser.new_page())
    yield held.open(reported(f"assembly/{OCCUPANCY}.s"))
    held.page.close()
    assert held.complaints == []


@pytest.mark.parametrize("name", targets.known())
def test_it_says_what_python_says(page: Page, name: str) -> None:
    random = Random(name)
    cases = [random_case(targets.find(name), random) for _ in range(CASES)]
    shown = answers(page, OCCUPANCIES, [[name, plain(d), plain(ln)] for d, ln in cases])
    for (demand, launch), found in zip(cases, shown, strict=True):
        hardware, alone = found.pop("hardware"), found.pop("unpadded")
        expected = occupancy(targets.find(name), demand, launch)
        assert alone == plain(limits(expected.placement.unpadded))
        assert found == {one: plain(getattr(expected, one)) for one in ANSWER}, (demand, launch)
        assert hardware in (targets.find(name).members or (name,))


VECTOR = ("workgroups", "waves", "waves_per_simd", "percent", "limiters")


def test_it_says_what_the_test_vectors_say(page: Page) -> None:
    known = list(vectors())
    asked = [[one["target"], plain(demand_of(one)), plain(launch_of(one))] for one in known]
    shown = answers(page, OCCUPANCIES, asked)
    for vector, found in zip(known, shown, strict=True):
        assert {one: found[one] for one in VECTOR} == {one: vector[one] for one in VECTOR}, vector


def demand_of(vector: dict[str, Any]) -> Demand:
    amounts = ("vgprs", "agprs", "sgprs", "lds_bytes", "scratch_bytes_per_lane")
    given = {name: vector[name] for name in (*amounts, "wave_size", "wgp_mode")}
    return arch(vector["target"]).demand(**given)


def launch_of(vector: dict[str, Any]) -> Launch:
    return Launch(vector["workgroup_size"], trap_handler=vector["trap_handler"])


FOUND = """cases.map(([index, changes]) => {
    const kernel = report.kernels[index];
    const now = caseWith(report, kernel, changes);
    return findingsAt(now, kernel, true, report).filter(({ rule }) => rule in LAUNCH_RULES)
        .map(({ rule, severity, message, hint }) => [rule, severity, message, hint]);
})"""
SIZES = (1, 64, 65, 192, 256, 704, 1000, 1024)
LDS = (0, 5_000, 13_200, 16_385, 21_900, 40_000, 65_536, 70_000)


def test_its_rules_find_what_python_finds(browser: Browser, reported: Reported) -> None:
    """Whatever size or LDS the sliders ask for."""
    held = Opened(browser.new_page())
    page = held.open(reported("assembly"))
    own = page.evaluate("Object.keys(LAUNCH_RULES)")
    rules = [rule for rule in BY_DEFAULT.rules() if rule.number in own]
    assert len(rules) == len(own)
    cases, expected = [], []
    items = analyse([str(FIXTURES / "assembly")], Options())
    for index, kernel in enumerate(Report.of(items).kernels):
        static = kernel.numbers.lds_bytes
        if kernel.traits.demand is None or kernel.numbers.graphics_stage or static is None:
            continue
        cases += [[index, {"size": size}] for size in SIZES]
        expected += [found(kernel, kernel.occupancy(workgroup_size=size), rules) for size in SIZES]
        lds = [most for most in LDS if most >= static]
        cases += [[index, {"lds": most}] for most in lds]
        expected += [
            found(kernel, kernel.occupancy(dynamic_lds=most - static), rules) for most in lds
        ]
    assert {rule for answer in expected for rule, *_ in answer} == set(own)
    assert answers(page, FOUND, cases) == expected
    held.page.close()


def test_its_next_step_is_that_of_the_text(browser: Browser, reported: Reported) -> None:
    held = Opened(browser.new_page())
    page = held.open(reported("assembly"))
    results = Report.of(analyse([str(FIXTURES / "assembly")], Options())).results
    known = [(index, one) for index, one in enumerate(results) if one.occupancy is not None]
    words = [next_step(one.occupancy, one.next) for _, one in known if one.occupancy]
    assert any("at no cost" in text for text in words)
    question = "cases.map((index) => nextStep(caseWith(report, report.kernels[index], {})))"
    assert answers(page, question, [index for index, _ in known]) == words
    held.page.close()


def found(kernel: Kernel, occupancy: Occupancy, rules: Sequence[Rule]) -> list[list[str]]:
    return [[f.rule, f.severity, f.message, f.hint] for f in findings(kernel, occupancy, rules)]


VARIABLES: dict[str, CurveVariable] = {"vgpr": "vgpr", "lds": "lds", "size": "workgroup-size"}


@pytest.mark.parametrize("variable", VARIABLES)
def test_its_curves_have_the_points_of_calc(page: Page, variable: str) -> None:
    random = Random(variable)
    cases = [(name, *random_case(targets.find(name), random)) for name in targets.known()]
    cases = [(n, d.unpadded, ln._replace(dynamic_lds_bytes=0)) for n, d, ln in cases]
    asked = [[variable, name, plain(demand), plain(launch)] for name, demand, launch in cases]
    for (name, demand, launch), points_shown in zip(
        cases, answers(page, CURVES, asked), strict=True
    ):
        points = curve(targets.find(name), demand, launch, [VARIABLES[variable]])
        assert points_shown == [[p.at[0], p.percent, list(p.limiters)] for p in points], name


def test_kernels_move_to_other_targets_as_they_do_with_as(page: Page) -> None:
    cases, expected = [], []
    for kernel in Report.of(analyse([str(FIXTURES / "assembly")], Options())).kernels:
        if kernel.target is None:
            continue
        for name in targets.known():
            try:
                moved = kernel.on(targets.find(name))
            except KernelinfoError:
                continue
            cases.append(
                [kernel.target.name, name, plain(kernel.traits.demand), plain(kernel.numbers)]
            )
            expected.append(plain(moved.traits.demand))
    assert len(cases) > 1000
    assert answers(page, ON_ANOTHER, cases) == expected
