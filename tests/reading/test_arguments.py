"""Kernel arguments, from objects and texts of the same compilation."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kernelinfo import Kernel, Result, analyse
from kernelinfo.analysis.options import Options
from kernelinfo.reading.arguments import Argument

from ..conftest import FIXTURES
from ..test_golden import run

PAIRS = [
    path
    for path in sorted((FIXTURES / "code_object").glob("*.co"))
    if (FIXTURES / "assembly" / f"{path.stem}.s").exists() and "-v2-" not in path.name
]


def kernels(path: Path) -> dict[str, Kernel]:
    items = analyse([str(path)], Options(arguments=lambda _: True))
    return {item.kernel.symbol: item.kernel for item in items if isinstance(item, Result)}


@pytest.mark.parametrize("path", PAIRS, ids=lambda path: path.name)
def test_text_and_object_agree(path: Path) -> None:
    texts = kernels(FIXTURES / "assembly" / f"{path.stem}.s")
    objects = kernels(path)
    assert objects
    for symbol in objects.keys() & texts.keys():  # a macro's kernel is in the object alone
        assert objects[symbol].arguments == texts[symbol].arguments


def test_names_types_and_what_the_runtime_passes() -> None:
    """OpenCL's metadata have the types of the source."""
    found = kernels(FIXTURES / "code_object" / "shaped-clang22-gfx942.co")["shaped_block"].arguments
    assert found
    assert (found[0].offset, found[0].size, found[0].kind) == (0, 8, "global_buffer")
    assert found[0].type == "int*"
    assert not found[0].is_hidden


def test_what_the_runtime_passes_is_marked() -> None:
    assert Argument(None, None, 16, 4, "hidden_block_count_x", None).is_hidden


def test_they_are_not_read_unless_asked_for() -> None:
    items = analyse([str(PAIRS[0])], Options())
    assert all(item.kernel.arguments is None for item in items if isinstance(item, Result))


def test_json() -> None:
    path = "code_object/tiny-v6-clang22-gfx90a.co"
    out, _, _ = run(path, "--format", "json", "--arguments")
    first, _ = json.loads(out)["kernels"]
    assert first["arguments"] == [
        Argument(None, None, 0, 8, "global_buffer", "global")._asdict(),
        Argument(None, None, 8, 4, "by_value", None)._asdict(),
    ]
