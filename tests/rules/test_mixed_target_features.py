"""KI305: features named by some of a file's target ids and not by others."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from kernelinfo import Options, Report, Selection, analyse
from tests.containers import bundle

from ..conftest import FIXTURES

MIXED = FIXTURES / "container" / "mixed-features.hipfb"
TRIPLE = "amdgcn-amd-amdhsa"
ALONE = Selection(select=("KI305",))


def findings_of(path: Path) -> list[tuple[str | None, str]]:
    """Member and message of each finding."""
    report = Report.of(analyse([str(path)], Options(selection=ALONE)))
    assert report.results
    return [
        (result.kernel.code_object.member, finding.message)
        for result in report.results
        for finding in result.findings
    ]


@pytest.mark.parametrize(
    "name",
    [
        "container/tiny.hipfb",
        "container/libtwo.so",
        "container/libmixed.so",
        "code_object/tiny-v5-clang19-gfx90a-features.co",
    ],
)
def test_one_setting_for_each_processor_is_not_mixed(name: str) -> None:
    assert findings_of(FIXTURES / name) == []


def test_xnack_on_beside_off_is_normal(tmp_path: Path) -> None:
    both = tmp_path / "both.hipfb"
    code = (FIXTURES / "code_object" / "tiny-v5-clang19-gfx90a-features.co").read_bytes()
    both.write_bytes(bundle(*((f"hipv4-{TRIPLE}--gfx90a:xnack{sign}", code) for sign in "+-")))
    assert findings_of(both) == []


def test_an_id_that_leaves_open_what_another_names() -> None:
    found = findings_of(MIXED)
    assert {member for member, _ in found} == {"hipv4-amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-"}
    assert {message for _, message in found} == {
        "built for gfx90a:sramecc+:xnack-, next to code for gfx90a in the same file"
    }


def test_libraries_of_one_wheel_are_loaded_on_their_own(tmp_path: Path) -> None:
    wheel = tmp_path / "demo-1.2-py3-none-any.whl"
    code = (FIXTURES / "code_object" / "tiny-v5-clang19-gfx90a-features.co").read_bytes()
    with zipfile.ZipFile(wheel, "w") as file:
        file.writestr("demo/one.hipfb", bundle((f"hipv4-{TRIPLE}--gfx90a", code)))
        file.writestr("demo/two.hipfb", bundle((f"hipv4-{TRIPLE}--gfx90a:xnack+", code)))
    assert findings_of(wheel) == []
    with zipfile.ZipFile(wheel, "a") as file:
        file.write(MIXED, "demo/three.hipfb")
    assert len(findings_of(wheel)) == len(findings_of(MIXED))
