"""A repository around the fixtures: formats for CI name files relative to its root."""

from __future__ import annotations

import pytest

from kernelinfo.opening import is_below
from kernelinfo.reading import paths

from ...conftest import FIXTURES

ROOT = str(FIXTURES.parent)


@pytest.fixture(autouse=True)
def repository(monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder of these tests counts as a repository, also where an sdist was unpacked."""
    found = paths._root

    def root(folder: str) -> str | None:
        return ROOT if is_below(folder, ROOT) else found(folder)

    monkeypatch.setattr(paths, "_root", root)
