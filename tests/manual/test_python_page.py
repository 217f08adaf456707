"""The Python that the manual shows gives what it says; the API lists and shows itself."""

from __future__ import annotations

import contextlib
import doctest
import inspect
import pydoc
import re
from dataclasses import replace

import pytest

import kernelinfo

from ..conftest import FIXTURES
from .recipes import ROOT, recipe

PAGE = ROOT / "kernelinfo" / "manual" / "python.md"
CODE_OBJECT = FIXTURES / "code_object" / "occupancy-hip-amdgcn-amd-amdhsa-gfx90a.out"


def test_every_answer_on_the_page_is_what_python_says() -> None:
    blocks = re.findall(r"```pycon\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    page = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, "python.md", None, None)
    output: list[str] = []
    with contextlib.chdir(ROOT):
        results = doctest.DocTestRunner().run(page, out=output.append)
    assert results.attempted > 15
    assert results.failed == 0, "".join(output)


def test_the_table_of_pandas() -> None:
    pytest.importorskip("pandas", reason="pandas is not installed")
    known = {"report": kernelinfo.load(CODE_OBJECT)}
    *statements, shown = recipe("pandas").strip().splitlines()
    exec("\n".join(statements), known)
    table = eval(shown, known)
    assert table.to_dict("index") == {
        "sgprbound(int, double*)": {"VGPR_Count": 64, "Scratch_Size": 60}
    }


def test_dir_and_help_list_the_api() -> None:
    assert set(kernelinfo.__all__) <= set(dir(kernelinfo))
    text = pydoc.plain(pydoc.render_doc(kernelinfo))
    for name in kernelinfo.__all__:
        assert re.search(rf"^    (?:class )?{name}\(", text, re.MULTILINE), name


@pytest.mark.parametrize("name", [n for n in kernelinfo.__all__ if not n.endswith("Error")])
def test_signatures_can_be_read(name: str) -> None:
    """Each parameter has its type, and no default fills a screen."""
    for parameter in inspect.signature(getattr(kernelinfo, name)).parameters.values():
        assert parameter.annotation is not parameter.empty, parameter
        assert len(str(parameter)) < 150, parameter


def test_a_report_is_shown_in_one_line_and_as_a_table() -> None:
    report = kernelinfo.load(CODE_OBJECT)
    for value in (report, *report.results, *report.kernels):
        assert len(repr(value).splitlines()) == 1
        assert len(repr(value)) < 250
    kernel = report.kernels[0]._replace(name="f<b>\x1b[31m\u202e")
    table = replace(
        report, results=tuple(result._replace(kernel=kernel) for result in report.results * 20)
    )._repr_html_()
    assert table.count("<tr>") == 61
    assert "<td>f&lt;b&gt;\\x1b[31m\\u202e</td><td>gfx90a</td>" in table
    assert "… 20 more kernels" in table
