"""Fixtures and helpers for all tests."""

from __future__ import annotations

import os
import signal
from collections import Counter
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import pytest
import typer.main
import typer.utils
from hypothesis import settings

from kernelinfo.hardware import targets
from kernelinfo.reading.facts import Code, KernelFacts, Module

from .audit import Audit
from .near import list_near_files
from .tools import are_required, missing

# CI tries the same examples in every run; a run by hand tries new ones. There is no deadline, since
# the duration of one try depends on the machine.
settings.register_profile("ci", derandomize=True, deadline=None, max_examples=50)
settings.register_profile("by-hand", deadline=None, max_examples=50)
settings.register_profile("nightly", deadline=None, max_examples=500)
settings.load_profile(
    os.environ.get("HYPOTHESIS_PROFILE", "ci" if os.environ.get("CI") else "by-hand")
)

# typer reads a command's parameters at each call: a quarter of a table of command lines.
vars(typer.main)["get_params_from_function"] = cache(typer.utils.get_params_from_function)

# The gate writes for GitHub where it runs there, and its tests run there, too.
for name in ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY"):
    os.environ.pop(name, None)

# A background job of a shell ignores Ctrl-C, one of `nohup` a hang-up. So would each program that a
# test interrupts.
signal.signal(signal.SIGINT, signal.default_int_handler)
if hasattr(signal, "SIGHUP"):
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

TESTS = Path(__file__).parent
FIXTURES = TESTS.parent / "fixtures"
CORPUS = Path(__file__).parents[2] / "shared" / "corpus"
HOSTILE = CORPUS.parent / "hostile"

needs_checkout = pytest.mark.skipif(
    targets.ARE_CHECKED, reason="an installed package has its tables as a build made them"
)


NO_CORPUS = "the shared corpus is not next to this checkout"
needs_corpus = pytest.mark.skipif(not CORPUS.exists(), reason=NO_CORPUS)
"""Mark of tests of the tier `tools` that read real files of all compilers."""

ROOTS = {
    **{name: FIXTURES / name for name in ("assembly", "code_object", "container", "broken")},
    "corpus": CORPUS,
    "hostile": HOSTILE,
}
"""Folders whose files something could be read of."""
SHARED = ("corpus", "hostile")
"""Those beside a checkout, for the nightly: far more than the fixtures."""
fixtures_and_shared = pytest.mark.parametrize(
    "roots",
    [
        pytest.param([name for name in ROOTS if name not in SHARED], id="fixtures"),
        pytest.param(SHARED, marks=[pytest.mark.nightly, needs_corpus], id="shared"),
    ],
)


def every_file(roots: Iterable[str]) -> list[str]:
    """All files of these folders of `ROOTS`."""
    folders = [ROOTS[root] for root in roots]
    return sorted(str(path) for folder in folders for path in folder.rglob("*") if path.is_file())


@pytest.fixture(
    scope="module",
    params=["fixtures", pytest.param("shared", marks=[pytest.mark.nightly, needs_corpus])],
)
def texts(request: pytest.FixtureRequest) -> list[bytes]:
    """All assembly of the fixtures, and at night of the folders beside a checkout."""
    roots = [root for root in ROOTS if (root in SHARED) == (request.param == "shared")]
    paths = (path for path in every_file(roots) if path.endswith((".s", ".amdgcn")))
    return [Path(path).read_bytes() for path in paths]


def with_code(
    modules: Iterable[Module],
) -> list[tuple[Module, list[KernelFacts], list[Code | None]]]:
    """Each module, apart from its kernels, and their instructions, read now."""
    return [
        (
            module._replace(kernels=()),
            [kernel._replace(read_code=None) for kernel in module.kernels],
            [kernel.read_code() if kernel.read_code else None for kernel in module.kernels],
        )
        for module in modules
    ]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--regen", action="store_true", help="Rewrite fixtures/expected; review the diff."
    )
    parser.addoption(
        "--near",
        action="store_true",
        help="Test files that reach what was changed.",
    )
    parser.addoption("--order", type=int, metavar="SEED", help="Files in a random order.")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Files that cannot hold a chosen test are not even imported."""
    if collection_path.suffix != ".py" or not collection_path.is_relative_to(TESTS):
        return None
    if config.getoption("near") and collection_path not in config.stash[NEAR]:
        return True
    place = collection_path.relative_to(TESTS)
    is_default = config.option.markexpr == DEFAULT
    return True if is_default and any(map(place.is_relative_to, NIGHTLY)) else None


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Audit(), "audit")
    if config.getoption("near"):
        config.stash[NEAR] = list_near_files()


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int | None:
    """One process where files are rewritten; else as many as xdist finds cores."""
    return 0 if config.getoption("regen") else None


NIGHTLY = (
    *("benchmarks", "browser", "differential", "fleet", "fuzz", "robustness"),
    *("cli/test_build_tree.py", "distribution/test_wheel.py", "gate/test_story.py"),
    *("manual/test_cmake.py", "manual/test_pre_commit.py", "manual/test_recipes.py"),
    "manual/test_pull_request.py",
    *("watch/test_terminal.py", "agents/test_server.py", "triton/test_real.py"),
)
"""Tests of these folders and files are the nightly's."""
DEFAULT = "not tools and not nightly"
"""The default tier, as pyproject.toml chooses it."""
NEAR = pytest.StashKey[set[Path]]()
EACH_PUSH = [
    line
    for line in (TESTS / "each_push.txt").read_text("utf-8").splitlines()
    if line and not line.startswith("#")
]
"""The few of the nightly's tests that are of the tier `tools`: beginnings of their ids."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if (seed := config.getoption("order")) is not None:
        items.sort(key=lambda item: Random(f"{seed} {item.path}").random())
    for item in items:
        place = item.path.relative_to(TESTS)
        if item.nodeid.removeprefix("tests/").startswith(tuple(EACH_PUSH)):
            item.own_markers = [mark for mark in item.own_markers if mark.name != "nightly"]
            item.add_marker(pytest.mark.tools)
        elif any(map(place.is_relative_to, NIGHTLY)) or item.get_closest_marker("nightly"):
            item.add_marker(pytest.mark.nightly)
        elif item.get_closest_marker("needs") or any(
            mark.kwargs.get("reason") == NO_CORPUS for mark in item.iter_markers("skipif")
        ):
            item.add_marker(pytest.mark.tools)


def require(*names: str) -> None:
    """Skip the test if a tool of tools.toml is missing; fail it if KERNELINFO_REQUIRE names it."""
    absent = missing(*names)
    reason = f"not installed: {', '.join(absent)} (tests/tools.toml)"
    if are_required().intersection(absent):
        pytest.fail(reason, pytrace=False)
    if absent:
        pytest.skip(reason, allow_module_level=True)


def pytest_runtest_setup(item: pytest.Item) -> None:
    for mark in item.iter_markers("needs"):
        require(*mark.args)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """How many tests were skipped for each reason."""
    reports = terminalreporter.stats.get("skipped", [])
    reasons = Counter(report.longrepr[2].removeprefix("Skipped: ") for report in reports)
    for reason, count in reasons.most_common():
        terminalreporter.write_line(f"skipped {count}: {reason}")


@pytest.fixture
def regenerate(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--regen"))


def registers(target: str, total: int) -> dict[str, Any]:
    """`vgprs` and `agprs` per lane that make up `total`: VGPRs as far as a wave can name them."""
    most = targets.find(target).agprs.addressable or total
    return {"vgprs": min(total, most), "agprs": max(total - most, 0)}
