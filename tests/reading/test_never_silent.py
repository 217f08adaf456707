"""A damaged file gets one line, and all readable kernels are read.

Each row of the table: the file, how many kernels are read of it, and the line.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from struct import pack_into, unpack_from
from typing import Any

import msgpack
import pytest

from kernelinfo import Options, Result, analyse
from tests.containers import archive, member, pe
from tests.fuzz.promise import answer
from tests.fuzz.specimens import CONTAINERS, KERNELS, assembly, code_object, metadata
from tests.messages import says

OBJECT, TEXT = code_object(KERNELS), assembly(KERNELS).decode()
BUNDLE = "# __CLANG_OFFLOAD_BUNDLE____{}__ hip-amdgcn-amd-amdhsa--gfx90a\n"


def with_metadata(**changed: object) -> bytes:
    """A code object whose metadata differ in these keys of the map."""
    keys = {f"amdhsa.{key}": value for key, value in changed.items()}
    return code_object(KERNELS, msgpack.packb(msgpack.unpackb(metadata(KERNELS)) | keys))


def with_kernels(change: Callable[[list[dict[str, Any]]], object]) -> bytes:
    """A code object whose metadata's list of kernels was changed."""
    kernels = msgpack.unpackb(metadata(KERNELS))["amdhsa.kernels"]
    change(kernels)
    return with_metadata(kernels=kernels)


def overlapping() -> bytes:
    """A code object whose segment of notes is a second load segment, of all addresses."""
    data = bytearray(OBJECT)
    pack_into("<I", data, 64 + 56, 1)
    pack_into("<5Q", data, 64 + 56 + 8, *unpack_from("<5Q", data, 64 + 8))
    return bytes(data)


def padded_beyond() -> bytes:
    """A DLL whose section of code is padded to 2 GiB, by its header."""
    data = bytearray(pe((".hip_fat", CONTAINERS["bundle"](OBJECT))))
    at = data.index(b".hip_fat")
    (size,) = unpack_from("<I", data, at + 16)
    pack_into("<III", data, at + 8, size, 0, 1 << 31)
    return bytes(data)


def of_text(*replaced: str) -> bytes:
    """The assembly with some text replaced by other."""
    old, new = replaced
    assert old in TEXT
    return TEXT.replace(old, new).encode()


AGAIN = "  - .name: first\n    .symbol: first.kd\n    .vgpr_count: 64\namdhsa.target"
LISTED = TEXT[TEXT.index("amdhsa.kernels:") : TEXT.index("amdhsa.target")]
LEADS_NOWHERE = "archive-member-unnamed"
SILENT: dict[str, tuple[bytes, int, str]] = {
    "a note without its name": (code_object(KERNELS, owner=b""), 2, "note-without-name"),
    "a note whose name is zeros": (
        code_object(KERNELS, owner=bytes(4)),
        2,
        "note-without-name",
    ),
    "a name that is twice in a note": (
        with_kernels(lambda kernels: kernels.append(kernels[0])),
        2,
        "metadata-repeated 'first'",
    ),
    "a name that is twice in the text": (
        of_text("amdhsa.target", AGAIN),
        2,
        "metadata-repeated 'first'",
    ),
    "a number for a name": (
        with_kernels(lambda kernels: kernels[0].update({".name": 7})),
        2,
        "metadata-not-text 'first': .name … 7",
    ),
    "a number for a symbol": (
        with_kernels(lambda kernels: kernels[0].update({".symbol": 7})),
        2,
        "metadata-not-text 'first': .symbol … 7",
    ),
    "no name at all": (
        with_kernels(lambda kernels: kernels[0].update({".symbol": "", ".name": ""})),
        2,
        "metadata-without-name",
    ),
    "a later version of metadata": (
        with_metadata(version=[1, 3]),
        2,
        "metadata-version [1, 3]",
    ),
    "no version of metadata": (with_metadata(version="new"), 2, "metadata-version 'new'"),
    "a later version in text": (
        of_text("- 1\n  - 2", "- 9\n  - 9"),
        2,
        "metadata-version [9, 9]",
    ),
    "an empty list of kernels": (
        with_metadata(kernels=[]),
        2,
        "kernel-unlisted kernels-named 'first' … 1",
    ),
    "a list that lacks a kernel": (
        with_kernels(lambda kernels: kernels.pop(0)),
        2,
        "kernel-unlisted kernel-named 'first'",
    ),
    "an empty list in text": (
        of_text(LISTED, "amdhsa.kernels: []\n"),
        2,
        "kernel-not-in-metadata 'first'",
    ),
    "a part without an end": (
        (BUNDLE.format("START") + TEXT).encode(),
        2,
        "part-endless 'hip-amdgcn-amd-amdhsa--gfx90a'",
    ),
    "a part that begins within another": (
        (2 * (BUNDLE.format("START") + TEXT) + BUNDLE.format("END")).encode(),
        4,
        "part-endless 'hip-amdgcn-amd-amdhsa--gfx90a'",
    ),
    "load segments that overlap": (overlapping(), 2, "object-segments-overlap"),
    "a section beyond its DLL": (padded_beyond(), 2, "host-section-cut-off .hip_fat"),
    "a long name of no archive": (archive(member("/99", OBJECT)), 2, LEADS_NOWHERE),
    "a long name behind the others": (
        archive(member("//", b"k.co/\n"), member("/6", OBJECT), member("/0", OBJECT)),
        4,
        LEADS_NOWHERE,
    ),
    "a thin archive's long name": (
        b"!<thin>\n" + member("/99", b""),
        0,
        LEADS_NOWHERE,
    ),
    "prose on kernel info": (
        b"LLVM writes\n; Kernel info:\nafter each.\n",
        0,
        "file-without-kernels",
    ),
    "a comment on kernel info": (b"k:\n; Kernel info:\n; see below\n", 0, "file-without-kernels"),
}


def test_one_line() -> None:
    for what, (data, kernels, line) in SILENT.items():
        found = answer(data, show=False)
        assert len(found.results) == kernels, what
        problem = found.problems[0]
        code, *facts = line.split(" ", 1)
        assert problem.code == code, what
        assert says(problem.message, " ".join(facts)), what
        assert len(found.problems) <= 2, what


@pytest.mark.parametrize("total", [8, 500])
def test_a_total_of_vgprs_that_is_not_theirs(total: int, tmp_path: Path) -> None:
    """KI004, of text without metadata or descriptor, too."""
    info = f"; Kernel info:\n; NumVgprs: 56\n; NumAgprs: 8\n; TotalNumVgprs: {total}\n"
    text = f'\t.amdgcn_target "amdgcn-amd-amdhsa--gfx90a"\nk:\n{info}'
    (tmp_path / "k.s").write_text(text)
    [result] = [
        item for item in analyse([str(tmp_path / "k.s")], Options()) if isinstance(item, Result)
    ]
    [message] = [finding.message for finding in result.findings if finding.rule == "KI004"]
    facts = f"kernel-info … VGPRs {total} … 6 … kernel-info … arch VGPRs 56 … 4"
    assert says(message, f"KI004 KI004-value KI004-line {facts}")
