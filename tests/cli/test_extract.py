"""`kernelinfo extract`: files with safe names, nothing overwritten unasked."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

import kernelinfo

from ..conftest import FIXTURES
from ..test_golden import run

LIBRARY = "container/libtwo.so"


def test_what_is_written_is_what_the_report_reads(tmp_path: Path) -> None:
    out, err, code = run("extract", LIBRARY, "-o", str(tmp_path / "new"))
    assert (err, code) == ("", 0)
    names = [line.split("  ")[0] for line in out.splitlines()]
    assert [Path(name).name for name in names] == [
        "libtwo.so-001-gfx1030.co",
        "libtwo.so-002-gfx90a.co",
        "libtwo.so-003-gfx1030.co",
        "libtwo.so-004-gfx90a.co",
    ]
    within = kernelinfo.load(FIXTURES / LIBRARY).kernels
    apart = [kernel for name in names for kernel in kernelinfo.load(name).kernels]
    assert [k.symbol for k in apart] == [k.symbol for k in within]
    assert [k.traits.demand for k in apart] == [k.traits.demand for k in within]


def test_one_target_alone(tmp_path: Path) -> None:
    out, _, code = run("extract", LIBRARY, "-o", str(tmp_path), "--target", "gfx90a")
    assert code == 0
    assert len(out.splitlines()) == len(list(tmp_path.iterdir())) == 2
    assert "gfx1030" not in out


def test_features_are_in_the_name(tmp_path: Path) -> None:
    run("extract", "code_object/tiny-v5-clang19-gfx90a-features.co", "-o", str(tmp_path))
    (path,) = tmp_path.iterdir()
    assert path.name.endswith("-001-gfx90a-sramecc+-xnack-.co")


def test_files_are_named_by_member(tmp_path: Path) -> None:
    out, _, code = run("extract", "container/tiny.whl", "-o", str(tmp_path))
    assert code == 0
    assert [Path(line.split("  ")[0]).name for line in out.splitlines()] == [
        "tiny-fat-compressed.o-001-gfx1030.co",
        "tiny-fat-compressed.o-002-gfx90a.co",
        "tiny-v6-clang22-gfx90a.co-003-gfx90a.co",
    ]


@pytest.mark.parametrize(
    ("chosen", "symbols"),
    [
        (("-k", "first_add"), {"first_add", "first_claim"}),
        (
            ("-k", "first_*", "--exclude", "*_add", "--target", "gfx90a"),
            {"first_add", "first_claim"},
        ),
        (("--where", "kernel = first_add and target = MI250X"), {"first_add", "first_claim"}),
        (("--exclude", "first_*"), {"second_add", "second_claim"}),
    ],
)
def test_code_objects_with_chosen_kernels(
    chosen: tuple[str, ...], symbols: set[str], tmp_path: Path
) -> None:
    """A code object is written whole, with its other kernels."""
    _, err, code = run("extract", LIBRARY, "-o", str(tmp_path), *chosen)
    assert code == 0, err
    found = [kernelinfo.load(path) for path in tmp_path.iterdir()]
    assert {kernel.name.partition("(")[0] for report in found for kernel in report} == symbols
    assert len(found) == (1 if "MI250X" in str(chosen) or "--target" in chosen else 2)


def test_members(tmp_path: Path) -> None:
    given = ("extract", "container/tiny.whl", "-o", str(tmp_path), "--member")
    out, err, code = run(*given, "*.co", "--member", "nope")
    assert (len(out.splitlines()), code) == (1, 0)
    assert err.splitlines() == ["container/tiny.whl: --member nope matches no code object"]
    _, err, code = run(*given, "nope")
    assert (err, code) == (
        "container/tiny.whl: no code object matches --member nope (3 in the file)\n", 2,
    )  # fmt: skip


def test_a_name_without_a_kernel_has_the_nearest(tmp_path: Path) -> None:
    _, err, code = run("extract", LIBRARY, "-o", str(tmp_path), "-k", "first_ad")
    assert code == 2
    assert "no code object matches -k first_ad (4 in the file); did you mean first_add" in err


def test_a_file_that_is_there_stays_without_force(tmp_path: Path) -> None:
    there = tmp_path / "libtwo.so-001-gfx1030.co"
    there.write_text("mine")
    out, err, code = run("extract", LIBRARY, "-o", str(tmp_path))
    assert code == 2
    assert "exists already" in err
    assert there.read_text() == "mine"
    assert len(out.splitlines()) == 3
    _, _, code = run("extract", LIBRARY, "-o", str(tmp_path), "--force")
    assert code == 0
    assert there.read_bytes()[:4] == b"\x7fELF"


def test_force_does_not_write_through_a_link(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text("mine")
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "libtwo.so-001-gfx1030.co").symlink_to(elsewhere)
    run("extract", LIBRARY, "-o", str(folder), "--force")
    assert elsewhere.read_text() == "mine"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            [LIBRARY, "--target", "gfx942"],
            "no code object matches --target gfx942 (4 in the file, for gfx1030 and gfx90a)",
        ),
        (["broken/x86.o"], "no AMD GPU code"),
        (["assembly/handwritten.s"], "no code object found"),
    ],
)
def test_nothing_to_extract_is_exit_2(arguments: list[str], message: str, tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "new"):
        out, err, code = run("extract", *arguments, "-o", str(folder))
        assert (out, code) == ("", 2)
        assert message in err
        assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("is_there", [True, False])
def test_a_folder_that_takes_no_file_is_left_as_it_was(
    is_there: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    if is_there:
        (tmp_path / "new").mkdir()
    monkeypatch.setattr("kernelinfo.cli.extract.atomic_write", refused)
    _, err, code = run("extract", LIBRARY, "-o", str(tmp_path / "new"))
    assert ("No space left on device; give another folder" in err, code) == (True, 2)
    assert (tmp_path / "new").exists() == is_there


def test_a_file_instead_of_a_folder_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    out, err, code = run("extract", LIBRARY, "-o", str(tmp_path / "file"))
    assert (out, code) == ("", 2)
    assert err == f"kernelinfo: {tmp_path / 'file'}: File exists; give another folder\n"
