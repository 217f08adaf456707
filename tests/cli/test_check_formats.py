"""`kernelinfo check --format …` on a code object whose kernel has a hostile name."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest

from ..conftest import FIXTURES
from ..test_golden import run

OBJECT = FIXTURES / "code_object" / "occupancy-hip-amdgcn-amd-amdhsa-gfx90a.out"
SYMBOL = b"_Z9sgprboundiPd"
HOSTILE = b"|\xff\n::error::\x1b<`"
SHOWN = "|\\xff\\n::error::\\x1b<`"


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    assert len(HOSTILE) == len(SYMBOL)
    (tmp_path / "kernels.co").write_bytes(OBJECT.read_bytes().replace(SYMBOL, HOSTILE))
    return tmp_path


def test_its_name_is_read_as_it_is(hostile: Path) -> None:
    report = json.loads(run("kernels.co", "--format", "json", folder=hostile)[0])
    assert HOSTILE.decode("utf-8", "backslashreplace") in {k["symbol"] for k in report["kernels"]}


def of_sarif(text: str) -> str:
    return "".join(result["message"]["text"] for result in json.loads(text)["runs"][0]["results"])


def of_gitlab(text: str) -> str:
    return "".join(issue["description"] for issue in json.loads(text))


def of_junit(text: str) -> str:
    return "".join(case.attrib["name"] for case in ElementTree.fromstring(text).iter("testcase"))


def of_github(text: str) -> str:
    commands = [line for line in text.splitlines() if line.startswith("::")]
    assert all(line.startswith(("::warning file=", "::notice file=")) for line in commands)
    return "".join(commands)


@pytest.mark.parametrize(
    ("name", "read"),
    [("sarif", of_sarif), ("gitlab", of_gitlab), ("junit", of_junit), ("github", of_github)],
)
def test_it_does_no_harm(name: str, read: Callable[[str], str], hostile: Path) -> None:
    out, err, code = run("check", "kernels.co", "--format", name, folder=hostile)
    assert (err, code) == ("", 1)
    out.encode("utf-8")
    assert SHOWN in read(out)
    assert "\x1b" not in out
