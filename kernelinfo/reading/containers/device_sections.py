"""The sections of host files that hold code for the device, of whatever kind it is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kernelinfo.light_typing import NamedTuple
from kernelinfo.reading.blob import Blob, Problem
from kernelinfo.reading.containers import bounds, bundle
from kernelinfo.reading.containers.parts import after_zeros, part, problem

# PE images keep eight bytes of a name.
_NAMES = (".hip_fatbin", ".hip_fat", ".llvm.offloading", ".llvm.of")
# Before linking, with -fgpu-rdc or OpenMP of LLVM 14: one section for each target, of bitcode.
_PREFIX = "__CLANG_OFFLOAD_BUNDLE__"


class Section(NamedTuple):
    """A section of a host file."""

    name: str
    offset: int
    """From the start of the host file."""
    data: memoryview | None
    """None where they are not in the file."""


def parts(blob: Blob, sections: Iterable[Section]) -> Iterator[Blob | Problem]:
    """The bytes of those for the device."""
    # Sections that share their bytes could multiply them without end.
    budget = bounds.REPETITION * len(blob.data)
    for name, offset, data in sections:
        id = name.removeprefix(_PREFIX) if name.startswith(_PREFIX) else None
        if name not in _NAMES if id is None else not bundle.is_for_amd(id):
            continue
        budget -= 0 if data is None else len(data)
        if data is None:
            yield problem(blob, f"the bytes of {name} are not in this file", at=offset, member=id)
        elif budget < 0:
            yield problem(blob, "sections repeat the same bytes; not read from here on")
            return
        elif after_zeros(data) is not None:
            yield part(blob, "fatbin", data, at=offset, member=id)
