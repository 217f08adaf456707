"""Children of debug entries are pyelftools' own, found without parsing what is below them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

from elftools.elf.elffile import ELFFile

from kernelinfo.reading.code_object.debug_children import children
from tests.conftest import CORPUS, FIXTURES, needs_corpus


def units(path: Path) -> Iterator[Any]:
    """The top entry of each unit, of a new reading."""
    file = ELFFile(BytesIO(path.read_bytes()))
    if file["e_type"] != "ET_REL" and file.has_dwarf_info(strict=True):
        dwarf = file.get_dwarf_info(relocate_dwarf_sections=False)
        yield from (unit.get_top_DIE() for unit in dwarf.iter_CUs())


def entries(top: Any, children_of: Callable[[Any], Iterable[Any]]) -> list[tuple[int, str]]:
    """(offset, tag) of all entries below a top entry."""
    found, pending = [], [top]
    while pending:
        for one in children_of(pending.pop()):
            found.append((one.offset, one.tag))
            pending.append(one)
    return found


def compare(path: Path) -> int:
    """The number of entries of a file, which both ways find."""
    ours = [entries(top, children) for top in units(path)]
    assert ours == [entries(top, lambda one: one.iter_children()) for top in units(path)]
    return sum(map(len, ours))


def test_the_fixture_with_inlined_functions() -> None:
    assert compare(FIXTURES / "lines" / "attention-clang22-gfx942.co") > 20


@needs_corpus
def test_objects_of_four_compilers() -> None:
    found = [compare(path) for path in sorted((CORPUS / "debug").glob("small-*.co"))]
    assert sum(found) > 200
