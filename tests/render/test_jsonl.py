"""JSON lines are the kernels of the JSON document, each with its input inside."""

from __future__ import annotations

import json

from kernelinfo import Options, Report, analyse
from kernelinfo.render import View, jsonl
from kernelinfo.render.json import document

from ..conftest import every_file


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
