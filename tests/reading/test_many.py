"""Hundreds of thousands of anything end in one line, soon and in little memory.

Each row of the table: a file of 2,000 of them, or of 500 kernels that are read whole, how many
kernels are read where 50 are allowed, or one for each KiB, and the line. What no option bounds is
tried with as many as it takes, and members, of which 3,000 are allowed, with 4,000.
"""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from struct import pack, pack_into
from typing import NamedTuple

import msgpack

from tests.containers import archive, member
from tests.fuzz.specimens import KERNELS, Specimen, code_object, note
from tests.messages import says
from tests.test_golden import run

MANY = range(2000)
TARGET = '\t.amdgcn_target "amdgcn-amd-amdhsa--gfx90a"\n'
BEGIN = f"{TARGET}\t.amdgpu_metadata\n---\namdhsa.kernels:\n"
END = "...\n\t.end_amdgpu_metadata\n"
TOO_MANY = "kernels-too-many kernels"
TOO_MANY_MEMBERS = "members-too-many 3000"
TOO_MANY_STATEMENTS = "kernels-too-many statements"
ALLOWED = -1
"""As many as are allowed."""


def object_with(content: bytes) -> bytes:
    """A code object with that metadata."""
    return code_object(KERNELS, content)


def with_notes(notes: bytes) -> bytes:
    """A code object whose segment of notes is these."""
    data = bytearray(code_object(KERNELS))
    at, size = len(data), len(notes)
    pack_into("<II6Q", data, 64 + 56, 4, 4, at, at, at, size, size, 4)
    return bytes(data) + notes


def read(data: bytes, folder: Path, *options: str) -> tuple[int, list[str]]:
    """How many kernels are found in these bytes, and the problems."""
    (folder / "file").write_bytes(data)
    bounds = (word for option in options for word in ("--bound", option))
    out, err, _ = run("file", "--format", "csv", *bounds, folder=folder)
    return max(out.count("\n") - 1, 0), err.splitlines()


def text(*lines: str, times: int = len(MANY)) -> bytes:
    """Lines for each of the many, `{0}` its number."""
    return (TARGET + "".join("".join(lines).format(number) for number in range(times))).encode()


def metadata_text(lines: str, times: int = len(MANY)) -> bytes:
    """Metadata with lines for each of the many, under a first kernel."""
    return (BEGIN + "".join(lines.format(number) for number in range(times)) + END).encode()


def shared_zip(times: int) -> bytes:
    """A zip whose directory names its one member so often."""
    with zipfile.ZipFile(file := io.BytesIO(), "w") as zipped:
        zipped.writestr("k.co", b"\x7fELF")
    data = file.getvalue()[:-22]
    at = data.index(b"PK\1\2")
    directory = data[at:] * times
    return data[:at] + directory + pack("<4s4H2IH", b"PK\5\6", 0, 0, 1, 1, len(directory), at, 0)


class Case(NamedTuple):
    data: bytes
    kernels: int
    line: str


CASES = {
    "info blocks, each another": Case(
        text("k{0}:\n; Kernel info:\n; NumVgprs: 4\n; ScratchSize: {0}\n", times=500),
        ALLOWED,
        TOO_MANY,
    ),
    "info blocks, all the same": Case(text("; Kernel info:\n; NumVgprs: 4\n\n"), ALLOWED, TOO_MANY),
    "descriptors": Case(
        text("\t.amdhsa_kernel k{0}\n\t.amdhsa_next_free_vgpr 8\n\t.end_amdhsa_kernel\n"),
        ALLOWED,
        TOO_MANY,
    ),
    "modules with a kernel": Case(
        text(TARGET, "k{0}:\n; Kernel info:\n; NumVgprs: 4\n", times=500), ALLOWED, TOO_MANY
    ),
    "kernels of metadata in text": Case(
        metadata_text("  - .name: k{0}\n    .symbol: k{0}.kd\n"), ALLOWED, TOO_MANY
    ),
    "kernels of a note": Case(
        object_with(msgpack.packb({"amdhsa.kernels": [{".name": f"k{n}"} for n in MANY]})),
        0,
        TOO_MANY,
    ),
    "descriptors of a code object": Case(
        code_object([Specimen(f"k{n}", 8, 0, 8, n, 0, 256) for n in range(200)]), 0, TOO_MANY
    ),
    "code objects with two kernels in a KiB": Case(
        archive(*[member(f"{n}.co/", code_object(KERNELS, sections=False)) for n in range(90)]),
        96,
        TOO_MANY,
    ),
    "kernels of a log": Case(
        text(
            "x.hip:{0}:1: remark: Function Name: k{0} [-Rpass-analysis=kernel-resource-usage]\n",
            "x.hip:{0}:1: remark:     LDS Size [bytes/block]: {0}\n",
        ).removeprefix(TARGET.encode()),
        ALLOWED,
        TOO_MANY,
    ),
    "remarks of a log": Case(
        b"a:1:1: Function Name: k\n" + b"a:1:1:     VGPRs: 1\n" * 2000, 1, TOO_MANY_STATEMENTS
    ),
    "what looks like a log": Case(b"Function Name: k\n" * 400_000, 0, TOO_MANY_STATEMENTS),
    "records of an optimization": Case(
        b"--- !Analysis\nPass: kernel-resource-usage\nName: NumVGPR\n...\n" * 2000,
        0,
        TOO_MANY_STATEMENTS,
    ),
    "notes": Case(with_notes(note(b"x", b"AMD\0", 99) * 5000), 2, "notes-too-many 4096"),
    "notes without content": Case(
        with_notes(note(b"", b"AMD\0", 99) * 5000), 2, "notes-too-many 4096"
    ),
    "notes without a name": Case(with_notes(pack("<4I", 0, 4, 3, 0) * 5000), 2, "problems-more"),
    "empty lists in a note": Case(
        object_with(b"\x81\xaeamdhsa.version\xdd" + pack(">I", 5 << 20) + b"\x90" * (5 << 20)),
        2,
        "msgpack-value-large 5242885 … 4194304",
    ),
    "empty lists in text": Case(
        (BEGIN.rstrip() + " [" + "[]," * 600_000 + "]\n" + END).encode(),
        0,
        "yaml-values-many 1000000",
    ),
    "damaged members": Case(
        archive(*[member(f"{n}.co/", b"\x7fELF") for n in MANY]),
        0,
        "problems-more elf-cut-off 1 000 more problems",
    ),
    "damaged members, and more": Case(
        archive(*[member(f"{n}.co/", b"\x7fELF") for n in range(4000)]), 0, TOO_MANY_MEMBERS
    ),
    "members of archives in an archive": Case(
        archive(*[member("a/", archive(*[member("k/", b"\x1f\x8b")] * 50))] * 80),
        0,
        TOO_MANY_MEMBERS,
    ),
    "members of a zip that share their bytes": Case(shared_zip(4000), 0, TOO_MANY_MEMBERS),
    "entries of a zip": Case(shared_zip(400_000), 0, "table-too-large 20000000"),
    "stray magics of compressed bundles": Case(
        b"\1data" + b"CCOB\1\0\0\0" * 4000, 0, TOO_MANY_MEMBERS
    ),
    "stray magics of bundles": Case(
        b"\1data" + b"__CLANG_OFFLOAD_BUNDLE__" * 4000, 0, TOO_MANY_MEMBERS
    ),
    "functions that are linked later": Case(
        text("\t.amdgpu_info k{0}\n\t.amdgpu_num_vgpr 8\n\t.end_amdgpu_info\n"), 0, TOO_MANY
    ),
    "metadata of one kernel again and again": Case(
        metadata_text("  - .name: k\n    .symbol: k.kd\n"), 1, TOO_MANY
    ),
    "assignments": Case(text("a{0} = 1\n"), 0, TOO_MANY_STATEMENTS),
    "definitions in a row": Case(text("\t.set a{0}, 1\n"), 0, TOO_MANY_STATEMENTS),
    "stamps": Case(text('\t.ident "{0}"\n'), 0, TOO_MANY_STATEMENTS),
    "empty metadata": Case(
        text("\t.amdgpu_metadata\n\t.end_amdgpu_metadata\n"), 0, TOO_MANY_STATEMENTS
    ),
}


def test_one_line_for_many(tmp_path: Path) -> None:
    for what, (data, kernels, line) in CASES.items():
        count, problems = read(data, tmp_path, "kernels=50", "members=3000")
        assert any(says(message, line) for message in problems), (what, problems[:5])
        assert len(problems) <= 1001
        assert count == (max(50, len(data) // 1024) if kernels == ALLOWED else kernels), what


def test_more_code_may_hold_more_kernels(tmp_path: Path) -> None:
    """One for each KiB, as honest code has."""
    text = TARGET + "".join(
        f"k{n}:\n{'; code' * 200}\n\ts_endpgm\n; Kernel info:\n; NumVgprs: 4\n" for n in range(100)
    )
    assert read(text.encode(), tmp_path, "kernels=10") == (100, [])
