"""The ELF reader against pyelftools, on every file that both read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from io import BytesIO
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile
from elftools.elf.enums import (
    ENUM_E_MACHINE,
    ENUM_E_TYPE,
    ENUM_P_TYPE_BASE,
    ENUM_SH_TYPE_BASE,
)

from kernelinfo.errors import ReadError
from tests.conftest import every_file, fixtures_and_shared

from .inside import Blob, Data, ReadWarning, elf, open_paths

_ELF = b"\x7fELF"


def elf_files(roots: Sequence[str]) -> list[Data]:
    """Host files and the code objects inside any file."""
    paths = every_file(roots)
    found = [item.data for item in open_paths(paths) if isinstance(item, Blob)]
    found += [Data.of(Path(path).read_bytes()) for path in paths]
    return [data for data in found if bytes(data.read(0, 4)) == _ELF]


def number(value: object, names: Mapping[str, int]) -> object:
    """The number of a field that pyelftools may give as a name."""
    return names[value] if isinstance(value, str) else value


@fixtures_and_shared
def test_both_read_the_same(roots: Sequence[str]) -> None:
    read_by_both = 0
    for data in elf_files(roots):
        warnings: list[ReadWarning] = []
        try:
            ours = elf.read_elf(data, warnings)
            theirs = ELFFile(BytesIO(data.read()))
            sections, segments = list(theirs.iter_sections()), list(theirs.iter_segments())
        except (ReadError, ELFError, AttributeError, TypeError, ValueError):
            continue
        if warnings:
            continue
        read_by_both += 1
        assert ours.type == number(theirs["e_type"], ENUM_E_TYPE)
        assert ours.machine == number(theirs["e_machine"], ENUM_E_MACHINE)
        assert ours.flags == theirs["e_flags"]
        assert [
            (s.name, s.address, s.offset, s.size, s.link, s.entry_size) for s in ours.sections
        ] == [
            (s.name, s["sh_addr"], s["sh_offset"], s["sh_size"], s["sh_link"], s["sh_entsize"])
            for s in sections
        ]
        assert [(s.address, s.offset, s.size) for s in ours.segments] == [
            (s["p_vaddr"], s["p_offset"], s["p_filesz"]) for s in segments
        ]
        types = {**ENUM_SH_TYPE_BASE, **ENUM_P_TYPE_BASE, "SHT_AMD64_UNWIND": 0x70000001}
        assert [s.type for s in ours.sections] == [number(s["sh_type"], types) for s in sections]
        assert [s.type for s in ours.segments] == [number(s["p_type"], types) for s in segments]
    assert read_by_both > 40
