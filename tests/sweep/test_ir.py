"""Textual IR: its kernels, and the function attributes that a sweep changes for the compiler."""

from __future__ import annotations

from pathlib import Path

from ..test_golden import run
from .compilers import IR, recorder


def swept(folder: Path, *arguments: str, ir: str = IR) -> tuple[str, str, list[str]]:
    """Standard output and error of a sweep, and each text that was compiled."""
    folder.mkdir()
    compiler = recorder(folder, "first", "bare")
    (folder / "k.ll").write_text(ir)
    out, err, _ = run("sweep", "k.ll", *arguments, "--compiler", compiler, folder=folder)
    return out, err, [path.read_text() for path in (folder / "seen").iterdir()]


def test_only_the_kernel_asked_for_changes(tmp_path: Path) -> None:
    out, _, texts = swept(tmp_path / "a", "first", "--waves", "5")
    assert out.startswith("k.ll   gfx90a:sramecc+:xnack-\n")
    (edited,) = (text for text in texts if '"amdgpu-waves-per-eu"="5,5"' in text)
    assert "%1) local_unnamed_addr #2 comdat {" in edited
    assert "@helper() #0 {" in edited
    assert '(ptr %0) #0 section "a #1" {' in edited
    group = edited.splitlines()[-1]
    assert group.startswith("attributes #2 = { cold ")
    assert '"amdgpu-waves-per-eu"="8"' not in group
    assert '"target-cpu"="gfx90a"' in group
    assert any("local_unnamed_addr #0 comdat" in text for text in texts), "as it was compiled"


def test_names_sections_and_missing_attributes_do_not_mislead(tmp_path: Path) -> None:
    _, err, texts = swept(tmp_path / "a", "-k", "se*", "--waves", "5")
    assert "left this kernel out" in err
    assert any('@"se\\22cond #7"(ptr %0) #2 section "a #1" {' in text for text in texts)
    _, _, texts = swept(tmp_path / "b", "bare", "--launch-bounds", "64")
    (edited,) = (text for text in texts if '="1,64"' in text)
    assert "@bare() unnamed_addr addrspace(4) #2 align 256 {" in edited
    assert edited.endswith('attributes #2 = { "amdgpu-flat-work-group-size"="1,64" }\n')


def test_equal_variants_are_one_row(tmp_path: Path) -> None:
    out, _, _ = swept(tmp_path / "a", "first", "--waves", "2,4,5,6")
    assert " as compiled ◄; waves 2, 4–6; waves ≥2, 4–6  " in out


def test_functions_and_damaged_text_are_no_kernels(tmp_path: Path) -> None:
    out, _, _ = swept(tmp_path / "a")
    assert [line for line in out.splitlines() if line in ("first", 'se"cond #7', "bare")] == [
        *("first", 'se"cond #7', "bare"),
    ]
    for number, damaged in enumerate(("define amdgpu_kernel void", "attributes #0 = {")):
        ir = f'target triple = "amdgcn-amd-amdhsa"\n{damaged}'
        out, err, texts = swept(tmp_path / str(number), ir=ir)
        assert (out, texts, len(err.splitlines())) == ("", [], 1)
