"""What rules say of kernels that are alike is found once, and is what they say of each."""

from __future__ import annotations

import pytest

from kernelinfo.analysis import analyse
from kernelinfo.analysis.options import Options
from kernelinfo.kernel import Result
from kernelinfo.rules import RULES, Selection, findings

from ..conftest import FIXTURES


@pytest.mark.parametrize("launch", [Options(), Options(workgroup_size=704)], ids=["own", "704"])
def test_every_kernel_is_told_what_it_would_be_told_alone(launch: Options) -> None:
    options = launch._replace(selection=Selection(select=("KI",)))
    paths = [str(FIXTURES / folder) for folder in ("code_object", "container", "assembly")]
    results = [item for item in analyse(paths * 2, options) if isinstance(item, Result)]
    assert len({result.kernel.alike for result in results}) < len(results) / 2
    for kernel, occupancy, found in results:
        if occupancy is not None:
            assert found == tuple(findings(kernel, occupancy, RULES))
