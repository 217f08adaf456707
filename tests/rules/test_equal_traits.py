"""Findings of kernels with equal traits are worked out once, and are those of each alone."""

from __future__ import annotations

import pytest

from kernelinfo.analysis import analyse
from kernelinfo.analysis.options import Options
from kernelinfo.kernel import Result
from kernelinfo.rules import RULES, Selection, findings

from ..conftest import FIXTURES


@pytest.mark.parametrize("launch", [Options(), Options(workgroup_size=704)], ids=["own", "704"])
def test_every_kernel_has_the_findings_it_has_alone(launch: Options) -> None:
    options = launch._replace(selection=Selection(select=("KI",)))
    paths = [str(FIXTURES / folder) for folder in ("code_object", "container", "assembly")]
    results = [item for item in analyse(paths, options) if isinstance(item, Result)]
    assert len({result.kernel.traits for result in results}) < len(results) * 2 / 3
    for kernel, occupancy, found in results:
        if occupancy is not None and not occupancy.refusal:
            assert found == tuple(findings(kernel, occupancy, RULES))
