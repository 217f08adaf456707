"""What all tests of fleets share."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def _collected() -> Iterator[None]:
    """DuckDB complains at the end of what the command line has frozen in this process."""
    yield
    gc.unfreeze()
    gc.enable()
