"""Clusters of workgroups, and the revision of the chip, which only gfx1250 has."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import FIXTURES
from tests.test_golden import run

CLUSTERS = FIXTURES / "assembly" / "clusters-clang22-gfx1250.s"


@pytest.mark.parametrize("name", ["assembly/{}.s", "code_object/{}.co"])
def test_limits_of_clusters_are_stated_and_not_counted(name: str) -> None:
    path = name.format("clusters-clang22-gfx1250")
    out = " ".join(run("explain", path, "clustered")[0].split())
    assert "clusters 4 workgroups start together; the runtime allows 16 in one and 15 " in out
    assert "which the percentage does not contain" in out
    assert "clusters are not counted" in out
    out, _, _ = run("explain", path, "alone")
    assert "start together" not in out


@pytest.mark.parametrize("target", ["gfx1250", "gfx942"])
def test_the_revision_is_named(target: str, tmp_path: Path) -> None:
    """AMD's compiler writes it of any target; it means something on gfx1250."""
    text = CLUSTERS.read_text().replace(
        "    .group_segment", "    .gfx1250_revision: B0\n    .group_segment"
    )
    path = tmp_path / "k.s"
    path.write_text(text.replace('gfx1250"', f'{target}"').replace("-gfx1250\n", f"-{target}\n"))
    out = " ".join(run("explain", str(path), "alone")[0].split())
    named = "compiled for revision B0; the runtime may rewrite the code" in out
    assert named is (target == "gfx1250")
