"""JSON lines are the kernels of the JSON document, each with its input inside."""

from __future__ import annotations

import json

from kernelinfo import Options, Report, analyse, load
from kernelinfo.render import View, jsonl
from kernelinfo.render.json import document, kernel_document

from ..conftest import FIXTURES, every_file


def test_the_same_kernels() -> None:
    kernels = 0
    for path in every_file():
        report = Report.of(analyse([path], Options()))
        whole = json.loads(json.dumps(document(report)))
        lines = [json.loads(line) for line in jsonl.render(report.results, View())]
        assert len(lines) == len(whole["kernels"])
        for line, kernel in zip(lines, whole["kernels"], strict=True):
            assert line.pop("input") == whole["inputs"][kernel.pop("input")]
            assert line == kernel
        kernels += len(lines)
    assert kernels > 300


def test_equal_traits_but_a_size_that_one_does_not_state() -> None:
    (result, *_) = load(FIXTURES / "code_object" / "occupancy-clang22-gfx90a.co").results
    assert result.kernel.code_size
    unsaid = result._replace(kernel=result.kernel._replace(code_size=None))
    for results in ((result, unsaid), (unsaid, result)):
        lines = [json.loads(line) for line in jsonl.render(results, View())]
        whole = json.loads(json.dumps([kernel_document(one) for one in results]))
        assert [{**line, "input": 0} for line in lines] == [{**one, "input": 0} for one in whole]
