"""The sections of host files that hold code for the device, of whatever kind it is."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterable, Iterator

from kernelinfo.errors import ReadError
from kernelinfo.light_typing import NamedTuple
from kernelinfo.reading.blob import Blob, Elsewhere, Problem
from kernelinfo.reading.containers import bounds, bundle
from kernelinfo.reading.containers.parts import DATA_SECTION, after_zeros, part, problem

# PE images keep eight bytes of a name.
_DATA = re.compile(r"\.l?(ro|r)?data(\..*)?")

_OF_WRAPPERS = (".hip_fatbin", ".hip_fat")
_NAMES = (*_OF_WRAPPERS, ".llvm.offloading", ".llvm.of")
_KPACK_REFERENCES = (".rocm_kpack_ref", ".kpackrf")
# Before linking, with -fgpu-rdc or OpenMP of LLVM 14: one section for each target, of bitcode.
_PREFIX = "__CLANG_OFFLOAD_BUNDLE__"


class Section(NamedTuple):
    """A section of a host file."""

    name: str
    offset: int
    """From the start of the host file."""
    data: memoryview | None
    """None where they are not in the file."""
    end: int = 0
    """Where its padding ends, by the header; beyond a file that was cut off."""


def parts(blob: Blob, sections: Iterable[Section]) -> Iterator[Blob | Problem | Elsewhere]:
    """The bytes of those for the device, or what refers to them in other files."""
    found = list(sections)
    reference = next((s.data for s in found if s.name in _KPACK_REFERENCES), None)
    if reference is not None:
        found = yield from _elsewhere(blob, found, reference)
    empty = reference is None
    # Sections that share their bytes could multiply them without end.
    budget = bounds.REPETITION * len(blob.data)
    for name, offset, data, end in found:
        id = name.removeprefix(_PREFIX) if name.startswith(_PREFIX) else None
        if name not in _NAMES if id is None else not bundle.is_for_amd(id):
            continue
        empty = False
        budget -= 0 if data is None else len(data)
        if data is None:
            yield problem(blob, f"the bytes of {name} are not in this file", at=offset, member=id)
        elif budget < 0:
            yield problem(blob, "sections repeat the same bytes; not read from here on")
            return
        elif end > len(blob.data):
            message = f"{name} ends {end - len(blob.data)} bytes behind the file; build it again"
            yield problem(blob, message, at=offset, member=id)
        if data is not None and after_zeros(data) is not None:
            yield part(blob, "fatbin", data, at=offset, member=id)
    if empty:
        yield from _data(blob, found)


def _data(blob: Blob, sections: list[Section]) -> Iterator[Blob]:
    """The sections of constants and variables, in which programs embed code objects as bytes."""
    budget = bounds.REPETITION * len(blob.data)
    for name, offset, data, _ in sections:
        if data is not None and _DATA.fullmatch(name) and budget >= len(data):
            budget -= len(data)
            yield part(blob, DATA_SECTION, data, at=offset)


def _elsewhere(
    blob: Blob, sections: list[Section], reference: memoryview
) -> Generator[Problem | Elsewhere, None, list[Section]]:
    """What a host file refers to in kpack archives; returns the sections that hold code still."""
    from kernelinfo.reading.containers import hipk  # most host files have none

    wrappers = [s.data for s in sections if s.name in hipk.WRAPPERS and s.data is not None]
    stated = hipk.wrappers(wrappers[0]) if wrappers else hipk.Wrappers((), False)
    try:
        yield hipk.reference(blob, reference, stated.units or None)
    except ReadError as error:
        yield problem(blob, str(error))
    if stated.has_own_code:
        return sections
    # What is left of the fat binary is stray bytes, or none.
    return [section for section in sections if section.name not in _OF_WRAPPERS]
