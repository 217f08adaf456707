"""Children of debug entries are pyelftools' own, found without parsing what is below them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from io import BytesIO
from pathlib import Path
from struct import pack
from typing import Any

from elftools.elf.elffile import ELFFile

from tests.conftest import CORPUS, FIXTURES, needs_corpus

from ..inside import entries_below


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


def test_codes_of_two_bytes_and_whole_addresses(tmp_path: Path) -> None:
    """Abbreviations 200 and 201, as units with many kinds of entries have; `DW_FORM_addr` has the
    bytes that the unit states."""
    data = bytearray((FIXTURES / "lines" / "attention-clang22-gfx942.co").read_bytes())
    elf = ELFFile(BytesIO(bytes(data)))
    info, kinds = (elf.get_section_by_name(f".debug_{name}") for name in ("info", "abbrev"))
    assert info
    assert kinds
    entries = bytes.fromhex("01 c801 1122334455667788 c901 c901 00 c901 00")
    for section, new in (
        (info, pack("<IHIB", info["sh_size"] - 4, 4, 0, 8) + entries),
        (kinds, bytes.fromhex("0111010000 c8012e0111010000 c90134000000 00")),
    ):
        start, size = section["sh_offset"], section["sh_size"]
        data[start : start + size] = new.ljust(size, b"\0")
    (tmp_path / "k.co").write_bytes(data)
    assert compare(tmp_path / "k.co") == 4


def has_tag(tag: str, abbreviation: Any) -> bool:
    return bool(abbreviation["tag"] == tag)


@needs_corpus
def test_objects_of_four_compilers() -> None:
    found = [compare(path) for path in sorted((CORPUS / "debug").glob("small-*.co"))]
    assert sum(found) > 200
