"""Kernel arguments, from objects and texts of the same compilation."""

from __future__ import annotations

from pathlib import Path

from kernelinfo import Kernel, Options, Result, analyse

from ..conftest import FIXTURES

PAIRS = [
    path
    for path in sorted((FIXTURES / "code_object").glob("*.co"))
    if (FIXTURES / "assembly" / f"{path.stem}.s").exists() and "-v2-" not in path.name
]


def kernels(path: Path) -> dict[str, Kernel]:
    items = analyse([str(path)], Options(arguments=lambda _: True))
    return {item.kernel.symbol: item.kernel for item in items if isinstance(item, Result)}


def test_text_and_object_agree() -> None:
    for path in PAIRS:
        texts = kernels(FIXTURES / "assembly" / f"{path.stem}.s")
        objects = kernels(path)
        assert objects
        for symbol in objects.keys() & texts.keys():  # a macro's kernel is in the object alone
            assert objects[symbol].arguments == texts[symbol].arguments
            for argument in objects[symbol].arguments or ():
                assert argument.is_hidden is (argument.kind or "").startswith("hidden_")


def test_names_types_and_what_the_runtime_passes() -> None:
    """OpenCL's metadata have the types of the source."""
    found = kernels(FIXTURES / "code_object" / "shaped-clang22-gfx942.co")["shaped_block"].arguments
    assert found
    assert (found[0].offset, found[0].size, found[0].kind) == (0, 8, "global_buffer")
    assert found[0].type == "int*"
    assert not found[0].is_hidden


def test_they_are_not_read_unless_asked_for() -> None:
    items = analyse([str(PAIRS[0])], Options())
    assert all(item.kernel.arguments is None for item in items if isinstance(item, Result))
