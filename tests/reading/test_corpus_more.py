"""Kernels found = expected, for every row of the shared corpus of further inputs."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

import pytest

from kernelinfo import Options, Problem, Result, analyse

from ..conftest import CORPUS, needs_corpus
from ..messages import code_of, says

INDEX = CORPUS / "INDEX.csv"
pytestmark = needs_corpus
ROWS = [
    row
    for row in csv.DictReader(INDEX.read_text("utf-8").splitlines() if INDEX.exists() else [])
    if row["file"].startswith("more/") and row["kind"] not in ("source", "make script")
]
WITHOUT_CODE = {
    "more/kpack/alone/libalone.so": "kpack-missing ../.kpack/alone_lib_@GFXARCH@.kpack",
    "more/kpack/more-1.0-py3-none-linux_x86_64.whl": "kpack-missing",
    "more/logs/no-usage.opt.yaml": "record-without-usage",
}
"""The message, where it matters; of other files that there is nothing to read."""


def counted(paths: list[str]) -> tuple[Counter[str], list[str]]:
    """Kernels by target, and problems."""
    items = list(analyse(paths, Options()))
    targets = (i.kernel.code_object.target or "" for i in items if isinstance(i, Result))
    return Counter(targets), [item.message for item in items if isinstance(item, Problem)]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["file"])
def test_kernels_of_each_row(row: dict[str, str]) -> None:
    found, problems = counted([str(CORPUS / row["file"])])
    assert found.total() == int(row["kernels expected"])
    if row["targets=kernels"]:
        pairs = (pair.rsplit("=", 1) for pair in row["targets=kernels"].split())
        assert found == {target: int(count) for target, count in pairs}
    if "" in found:
        assert {code_of(problem) for problem in problems} == {"log-without-target"}
    elif found:
        assert problems == []
    else:
        assert any(says(message, WITHOUT_CODE.get(row["file"], "")) for message in problems)


@pytest.mark.parametrize(
    ("folder", "kernels"),
    [
        ("kpack/rock", 12),
        ("kpack/family", 6),
        ("kpack/indexed", 12),
        ("kpack/win", 6),
        ("objects/library", 6),
        ("packages/oci", 9),
    ],
)
def test_each_object_of_a_folder_once(folder: str, kernels: int) -> None:
    found, problems = counted([str(CORPUS / "more" / folder)])
    assert (found.total(), problems) == (kernels, [])


def test_halves_of_an_installation_given_one_by_one() -> None:
    folder = CORPUS / "more" / "kpack" / "rock"
    found, problems = counted([str(folder / "lib"), str(folder / ".kpack")])
    assert (found.total(), problems) == (12, [])


def test_there_are_rows() -> None:
    assert len(ROWS) > 80
    assert all(Path(CORPUS / row["file"]).exists() for row in ROWS)
