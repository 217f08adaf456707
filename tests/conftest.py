"""What all tests share."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from kernelinfo.occupancy import targets

# What CI tries must not change from one run to the next; by hand every run tries something new. How
# long one try takes says more of the machine than of the code.
settings.register_profile("ci", derandomize=True, deadline=None)
settings.register_profile("by-hand", deadline=None)
settings.load_profile("ci" if os.environ.get("CI") else "by-hand")

# The gate writes for GitHub where it runs there, and its tests run there, too.
for name in ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY"):
    os.environ.pop(name, None)

FIXTURES = Path(__file__).parent.parent / "fixtures"
CORPUS = Path(__file__).parents[2] / "shared" / "corpus"
HOSTILE = CORPUS.parent / "hostile"


def every_file() -> list[str]:
    """All files that something could be read of: fixtures, and corpora where they are."""
    roots = [FIXTURES / "assembly", FIXTURES / "code_object", FIXTURES / "container"]
    roots += [FIXTURES / "broken", CORPUS, HOSTILE]
    return sorted(str(path) for root in roots for path in root.rglob("*") if path.is_file())


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--regen", action="store_true", help="Rewrite fixtures/expected; review the diff."
    )


@pytest.fixture
def regenerate(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--regen"))


def registers(target: str, total: int) -> dict[str, Any]:
    """`vgprs` and `agprs` per lane that make up `total`: VGPRs as far as a wave can name them."""
    most = targets.find(target).agprs.addressable or total
    return {"vgprs": min(total, most), "agprs": max(total - most, 0)}
