"""Kernels with descriptors far from their code, and kernels with odd names."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import kernelinfo

from ..conftest import FIXTURES
from ..test_golden import run
from . import texts

_ADD = "\tv_add_u32_e32 v0, v1, v2\n"
_FILL = "\ts_nop 0\n" * 20_000
"""More than 64 KiB."""


def _apart(first: str, second: str, *, reverse: bool) -> str:
    """Two kernels without `.type` and `.size`, then both descriptors."""
    code = f"\t.globl first\nfirst:\n{first}\t.globl second\nsecond:\n{second}\ts_endpgm\n"
    names = ["second", "first"] if reverse else ["first", "second"]
    described = "".join(map(texts.descriptor, names))
    return f"{texts.HEAD}\t.text\n{code}{described}{texts.metadata(names)}"


def measured(path: Path) -> dict[str, tuple[int, bool, list[str]]]:
    """Instructions, exactness and reasons of each kernel."""
    out, _, code = run("pressure", str(path), "--format", "json")
    assert code == 0
    kernels = json.loads(out)["kernels"]
    return {one["symbol"]: (one["instructions"], one["exact"], one["reasons"]) for one in kernels}


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("fill", ["", _FILL])
def test_code_first_then_descriptors(fill: str, reverse: bool, tmp_path: Path) -> None:
    path = tmp_path / "k.s"
    text = _apart(f"{_ADD}\ts_endpgm\n", f"{_ADD}{_ADD}{fill}", reverse=reverse)
    path.write_text(text)
    assert measured(path) == {
        "first": (2, True, []),
        "second": (3 + fill.count("\n"), True, []),
    }
    lines = {one.symbol: one.line for one in kernelinfo.load(path).kernels}
    wanted = {name: text[: text.index(f"\n{name}:")].count("\n") + 2 for name in lines}
    assert lines == wanted


def test_code_that_runs_on_into_the_next_kernel(tmp_path: Path) -> None:
    path = tmp_path / "k.s"
    path.write_text(_apart(_ADD, _ADD, reverse=False))
    assert measured(path) == {
        "first": (1, False, ["its code runs on into second"]),
        "second": (2, True, []),
    }


@pytest.mark.parametrize("version", [15, 19, 22])
def test_odd_names(version: int) -> None:
    r"""Includes `back\slash`. Each kernel of the report has register pressure."""
    path = FIXTURES / f"assembly/odd-clang{version}-gfx90a.s"
    reported = {kernel.symbol for kernel in kernelinfo.load(path).kernels}
    assert measured(path).keys() == reported
    assert "back\\slash" in reported
