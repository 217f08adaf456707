"""Children of debug entries are pyelftools' own, found without parsing what is below them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any

from elftools.elf.elffile import ELFFile

from kernelinfo.reading.code_object.debug_children import entries_below
from tests.conftest import CORPUS, FIXTURES, needs_corpus


def units(path: Path) -> Iterator[Any]:
    """The top entry of each unit, of a new reading."""
    file = ELFFile(BytesIO(path.read_bytes()))
    if file["e_type"] != "ET_REL" and file.has_dwarf_info(strict=True):
        dwarf = file.get_dwarf_info(relocate_dwarf_sections=False)
        yield from (unit.get_top_DIE() for unit in dwarf.iter_CUs())


def below(top: Any, children_of: Callable[[Any], Iterable[Any]]) -> list[tuple[int, str]]:
    """(offset, tag) of all entries below a top entry."""
    found, pending = [], [top]
    while pending:
        for one in children_of(pending.pop()):
            found.append((one.offset, one.tag))
            pending.append(one)
    return found


def compare(path: Path) -> int:
    """The number of entries of a file, which both ways find."""
    ours = [below(top, entries_below) for top in units(path)]
    assert ours == [below(top, lambda one: one.iter_children()) for top in units(path)]
    return sum(map(len, ours))


def test_the_fixture_with_inlined_functions() -> None:
    assert compare(FIXTURES / "lines" / "attention-clang22-gfx942.co") > 20


def test_scopes_are_entered_and_unwanted_entries_left_out() -> None:
    path = FIXTURES / "lines" / "attention-clang22-gfx942.co"
    (top, *_), (same, *_) = units(path), units(path)
    every = sorted(below(same, lambda one: one.iter_children()))
    tags = {tag for _, tag in every}
    assert len(tags) > 1
    for tag in tags:
        found = entries_below(top, tags, partial(has_tag, tag))
        assert [(one.offset, one.tag) for one in found] == [one for one in every if one[1] == tag]


def has_tag(tag: str, abbreviation: Any) -> bool:
    return bool(abbreviation["tag"] == tag)


@needs_corpus
def test_objects_of_four_compilers() -> None:
    found = [compare(path) for path in sorted((CORPUS / "debug").glob("small-*.co"))]
    assert sum(found) > 200
