"""Whatever a specimen is wrapped in, and whoever says it: the numbers come out as they went in."""

from __future__ import annotations

import csv
import io
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernelinfo.render import View

from ..outputs import outputs
from .promise import Answer, answer
from .specimens import CONTAINERS, HOSTILE_NAMES, Specimen, assembly, code_object, modules

MODULES = modules()


def read_back(found: Answer) -> list[Specimen]:
    assert found.problems == []
    specimens = []
    for kernel in (result.kernel for result in found.results):
        used, size = kernel.numbers, kernel.numbers.max_workgroup_size
        assert used.vgprs is not None
        assert used.agprs is not None
        assert used.sgprs is not None
        assert used.lds_bytes is not None
        assert used.scratch_bytes_per_lane is not None
        assert size is not None
        counts = (used.vgprs, used.agprs, used.sgprs, used.lds_bytes, used.scratch_bytes_per_lane)
        specimens.append(Specimen(kernel.symbol, *counts, size))
        assert not kernel.traits.disagreements
    return specimens


@settings(deadline=None, max_examples=50)
@given(MODULES, st.booleans())
def test_code_objects(kernels: list[Specimen], sections: bool) -> None:
    assert read_back(answer(code_object(kernels, sections=sections))) == kernels


@settings(deadline=None, max_examples=50)
@given(MODULES)
def test_assembly(kernels: list[Specimen]) -> None:
    assert read_back(answer(assembly(kernels))) == kernels


@pytest.mark.parametrize("container", CONTAINERS)
@settings(deadline=None, max_examples=10)
@given(MODULES)
def test_containers(container: str, kernels: list[Specimen]) -> None:
    wrap = CONTAINERS[container]
    assert read_back(answer(wrap(code_object(kernels)))) == kernels


@settings(deadline=None, max_examples=100)
@given(modules(HOSTILE_NAMES))
def test_hostile_names_are_only_names(kernels: list[Specimen]) -> None:
    found = answer(code_object(kernels))
    assert read_back(found) == kernels
    [header, *rows] = csv.reader(
        io.StringIO("".join(outputs("report")["csv"](found.results, View())))
    )
    assert len(rows) == len(kernels)
    for row in rows:
        assert len(row) == len(header)
        texts = [cell for cell in row if not cell.removeprefix("-").isdecimal()]
        assert not [cell for cell in texts if cell.startswith(("=", "+", "-", "@"))]
    document = json.loads("".join(outputs("report")["json"](found.results, View())))
    assert [kernel["symbol"] for kernel in document["kernels"]] == [k.name for k in kernels]
