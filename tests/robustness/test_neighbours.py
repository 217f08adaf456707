"""One bad member never hides its neighbours."""

from __future__ import annotations

import pytest

from tests.containers import archive, bundle, member

from ..fuzz.promise import answer
from ..fuzz.specimens import CONTAINERS, KERNELS, code_object

MEMBERS = 777
DAMAGED = 400


@pytest.mark.parametrize("damage", ["its magic", "its note", "cut off"])
def test_of_777_code_objects_one_is_damaged(damage: str) -> None:
    whole = code_object(KERNELS[:1])
    bad = bytearray(whole)
    if damage == "its magic":
        bad[4] = 9
    elif damage == "its note":
        note = whole.index(b"AMDGPU\0") - 12
        bad[note + 4 : note + 8] = b"\xff\xff\xff\x7f"
    else:
        del bad[100:]
    # A library's fat binary: bundles that follow each other, each with one code object.
    bundles = [
        bundle(("hipv4-amdgcn-amd-amdhsa--gfx90a", bytes(bad) if n == DAMAGED else whole), align=16)
        for n in range(MEMBERS)
    ]
    padded = [data + bytes(-len(data) % 16) for data in bundles]
    found = answer(b"".join(padded), show=False)
    start = sum(map(len, padded[:DAMAGED]))
    assert found.exit == 2
    healthy = {result.kernel.code_object.offset or 0 for result in found.results}
    healthy = {offset for offset in healthy if not start <= offset < start + len(padded[DAMAGED])}
    assert len(healthy) == MEMBERS - 1
    assert found.problems
    for problem in found.problems:
        assert problem.offset is not None
        assert start <= problem.offset < start + len(padded[DAMAGED])


def test_of_an_archives_members_one_is_no_code() -> None:
    whole = code_object(KERNELS)
    members = [member(f"{n}.co/", b"\x7fELF" if n == 3 else whole) for n in range(20)]
    found = answer(archive(*members), show=False)
    assert len(found.results) == 19 * len(KERNELS)
    [problem] = found.problems
    assert problem.member == "3.co"


@pytest.mark.parametrize("at", [24, 48, 40], ids=["entries", "length of an id", "size"])
def test_a_damaged_bundle_hides_no_other(at: int) -> None:
    """Nothing says where it ends."""
    whole = bundle(("hipv4-amdgcn-amd-amdhsa--gfx90a", code_object(KERNELS)), align=16)
    bad = whole[:at] + b"\xff" * 7 + whole[at + 7 :]
    found = answer(whole + bad + CONTAINERS["ccob-v2"](code_object(KERNELS)), show=False)
    offsets = [result.kernel.code_object.offset for result in found.results]
    assert offsets.count(whole.index(b"\x7fELF")) == len(KERNELS)
    assert offsets.count(None) == len(KERNELS)
    damaged = range(len(whole), 2 * len(whole))
    assert [problem for problem in found.problems if problem.offset in damaged]
