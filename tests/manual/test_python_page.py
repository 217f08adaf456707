"""The Python that the manual shows gives what it says; the API lists and shows itself."""

from __future__ import annotations

import contextlib
import doctest
import inspect
import pydoc
import re
import subprocess
import sys
from pathlib import Path

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


@pytest.mark.needs("pandas")
def test_the_table_of_pandas() -> None:
    known = {"report": kernelinfo.load(CODE_OBJECT)}
    *statements, shown = recipe("pandas").strip().splitlines()
    exec("\n".join(statements), known)
    table = eval(shown, known)
    assert table.to_dict("index") == {
        "sgprbound(int, double*)": {"VGPR_Count": 64, "Scratch_Size": 60}
    }


API = sorted(set(dir(kernelinfo)) - {"__version__"})


def test_help_and_a_star_import_have_the_whole_api() -> None:
    text = pydoc.plain(pydoc.render_doc(kernelinfo))
    starred: dict[str, object] = {}
    exec("from kernelinfo import *", starred)
    assert set(API) <= set(starred)
    for name in API:
        assert re.search(rf"^    (?:class )?{name}\(", text, re.MULTILINE), name


def test_signatures_can_be_read() -> None:
    """Each parameter has its type, and no default fills a screen."""
    for name in (name for name in API if not name.endswith("Error")):
        for parameter in inspect.signature(getattr(kernelinfo, name)).parameters.values():
            assert parameter.annotation is not parameter.empty, (name, parameter)
            assert len(str(parameter)) < 150, (name, parameter)


def test_the_api_is_imported_when_it_is_used() -> None:
    """A report needs no gate, comparison, compiler or liveness; an unknown name is an error."""
    program = (
        "import sys, kernelinfo\n"
        "assert not [name for name in sys.modules if name.startswith('kernelinfo.')]\n"
        "kernelinfo.load\n"
        "rooms = {name.split('.')[1] for name in sys.modules if name.startswith('kernelinfo.')}\n"
        "assert not rooms & {'gate', 'compare', 'variants', 'render', 'cli'}, rooms\n"
        "assert not [name for name in sys.modules if name.startswith('kernelinfo.pressure.')]\n"
        "try: kernelinfo.nonsense\n"
        "except AttributeError: pass\n"
        "else: raise AssertionError\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


SCRIPT = Path(__file__).with_name("users_script.py")
MYPY = ("--strict", "--config-file=", "--follow-imports=silent", "--cache-dir=cache")
CHECKERS = {
    "mypy": ("-m", "mypy", *MYPY),
    "pyright": ("-m", "pyright", "--pythonpath", sys.executable),
}


def test_the_users_script_has_the_whole_api() -> None:
    text = SCRIPT.read_text("utf-8")
    assert [name for name in API if not re.search(rf"\bkernelinfo\.{name}\b", text)] == []


@pytest.mark.nightly
@pytest.mark.parametrize("checker", CHECKERS)
def test_type_checkers_know_the_api_and_nothing_else(checker: str, tmp_path: Path) -> None:
    """pyright downloads itself when it runs first, so that a machine without it skips."""
    pytest.importorskip(checker, reason=f"{checker} is not installed: pip install {checker}")

    def complaints(text: str) -> str:
        (tmp_path / "script.py").write_text(text, "utf-8")
        command = [sys.executable, *CHECKERS[checker], "script.py"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        if (
            checker == "pyright"
            and "summary" not in done.stdout
            and not re.search(r"^\d+ errors?", done.stdout, re.MULTILINE)
        ):
            pytest.skip(f"pyright does not run: {done.stderr.strip()[-200:]}")
        return "" if done.returncode == 0 else done.stdout

    script = "# pyright: strict, reportUnusedVariable=false\n" + SCRIPT.read_text("utf-8")
    assert complaints(script) == ""
    assert '"nonsense"' in complaints(f"{script}\nkernelinfo.nonsense\n")
    wrong = complaints(f"{script}\nwaves: str = kernelinfo.load('').kernel('k').waves_per_simd\n")
    assert '"float"' in wrong
    assert '"str"' in wrong


def test_a_report_is_shown_in_one_line_and_as_a_table() -> None:
    report = kernelinfo.load(CODE_OBJECT)
    occupancies = [kernel.occupancy() for kernel in report.kernels]
    for value in (report, *report.results, *report.kernels, *occupancies):
        assert len(repr(value).splitlines()) == 1
        assert len(repr(value)) < 250
    kernel = report.kernels[0]._replace(name="f<b>\x1b[31m\u202e")
    results = tuple(result._replace(kernel=kernel) for result in report.results * 20)
    table = kernelinfo.Report(results, ())._repr_html_()
    assert table.count("<tr>") == 61
    assert "<td>f&lt;b&gt;\\x1b[31m\\u202e</td><td>gfx90a</td>" in table
    assert "… 20 more kernels" in table
    bounds = kernelinfo.load(FIXTURES / "assembly/odd-clang19-gfx90a.s")._repr_html_()
    assert "<td>≤8</td><td>≤100</td>" in bounds
    assert "≤" not in table


def test_notebooks_show_kernels_comparisons_and_live_registers() -> None:
    """With VGPRs as the report counts them: all that is allocated."""
    text = FIXTURES / "assembly/occupancy-hip-amdgcn-amd-amdhsa-gfx90a.s"
    report = kernelinfo.load(text)
    shown = report.kernel("vgprbound")._repr_html_()
    assert "<td>256</td><td>128</td><td>4</td>" in shown
    story = kernelinfo.live_registers(text, "vgprbound")._repr_html_()
    assert "122 vector registers live at line 511" in story
    assert "<td>loop constants</td><td>v[86:97]</td><td>12</td>" in story
    moved = kernelinfo.diff(report, FIXTURES / "assembly/occupancy-clang22-gfx90a.s")
    assert "VGPR: 128 → 112 allocated" in moved._repr_html_()
