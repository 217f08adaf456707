"""Fixtures and helpers for all tests."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from kernelinfo.hardware import targets
from kernelinfo.reading.facts import Code, KernelFacts, Module

# CI tries the same examples in every run; a run by hand tries new ones. There is no deadline, since
# the duration of one try depends on the machine.
settings.register_profile("ci", derandomize=True, deadline=None)
settings.register_profile("by-hand", deadline=None)
settings.load_profile("ci" if os.environ.get("CI") else "by-hand")

# The gate writes for GitHub where it runs there, and its tests run there, too.
for name in ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY"):
    os.environ.pop(name, None)

# A background job of a shell ignores Ctrl-C, one of `nohup` a hang-up. So would each program that a
# test interrupts.
signal.signal(signal.SIGINT, signal.default_int_handler)
if hasattr(signal, "SIGHUP"):
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

FIXTURES = Path(__file__).parent.parent / "fixtures"
CORPUS = Path(__file__).parents[2] / "shared" / "corpus"
HOSTILE = CORPUS.parent / "hostile"

needs_corpus = pytest.mark.skipif(
    not CORPUS.exists(), reason="the shared corpus is not next to this checkout"
)

needs_checkout = pytest.mark.skipif(
    targets.ARE_CHECKED, reason="an installed package has its tables as a build made them"
)


def every_file() -> list[str]:
    """All files that something could be read of: fixtures, and corpora where they are."""
    roots = [FIXTURES / "assembly", FIXTURES / "code_object", FIXTURES / "container"]
    roots += [FIXTURES / "broken", CORPUS, HOSTILE]
    return sorted(str(path) for root in roots for path in root.rglob("*") if path.is_file())


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


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int | None:
    """One process where files are rewritten; else as many as xdist finds cores."""
    return 0 if config.getoption("regen") else None


SLOW = (
    "benchmarks",
    "browser",
    "differential",
    "fleet",
    "fuzz",
    "robustness",
    "cli/test_build_tree.py",
    "distribution/test_wheel.py",
    "gate/test_story.py",
    "manual/test_cmake.py",
    "manual/test_pre_commit.py",
    "manual/test_recipes.py",
    "watch/test_terminal.py",
)
"""CI's second step: what needs compilers, Chromium, a wheel or minutes."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        place = item.path.relative_to(Path(__file__).parent)
        if any(map(place.is_relative_to, SLOW)):
            item.add_marker(pytest.mark.slow)


@pytest.fixture
def regenerate(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--regen"))


def registers(target: str, total: int) -> dict[str, Any]:
    """`vgprs` and `agprs` per lane that make up `total`: VGPRs as far as a wave can name them."""
    most = targets.find(target).agprs.addressable or total
    return {"vgprs": min(total, most), "agprs": max(total - most, 0)}
