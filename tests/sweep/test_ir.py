"""Textual IR: its kernels, and the function attributes that a sweep changes for the compiler."""

from __future__ import annotations

import json
import re
from pathlib import Path

from ..fuzz.specimens import Specimen, assembly
from ..messages import codes
from ..test_golden import run
from .compilers import IR, clang, recorder


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
        assert (out, texts, codes(err)) == ("", [], ["module-without-kernels"])


def answered(folder: Path, size: int, *arguments: str) -> str:
    """The table of a kernel for workgroups of `size`, which more or fewer waves than its 4
    change: 2 save its 16 B of scratch, 5 cost 48 B."""
    for name, vgprs, scratch in (("4", 128, 16), ("2", 256, 0), ("5", 96, 64)):
        answer = assembly([Specimen("first", vgprs, 0, 8, 0, scratch, size)])
        (folder / name).write_bytes(answer)
    which = "2) cat 2;; *5) cat 5;; *) cat 4;;"
    compiler = clang(
        folder / "clang",
        "case $* in *-emit-llvm*) cat; exit;; esac\n"
        f"cd {folder}; case $(grep -o 'waves-per-eu\"=\"[25]') in *{which} esac",
    )
    (folder / "k.ll").write_text(IR)
    out, err, code = run(
        "sweep", "k.ll", "first", *arguments, "--compiler", compiler, folder=folder
    )
    assert code == 0
    assert {*codes(err)} <= {"sweep-progress"}
    return re.sub(" +", " ", out)


def test_rows_and_what_they_cost(tmp_path: Path) -> None:
    out = answered(tmp_path, 64)
    assert " as compiled ◄; waves 4, 6–8; waves ≥4, 6–8 128 128 0 16 ? 16 B 0 " in out
    assert " waves 2; waves ≥2 256 256 0 16 ? 0 0 0 4 B 2 25.0% VGPR\n" in out
    assert " 4 waves/SIMD as compiled; 5 cost 48 B of scratch; 2 save 16 B of scratch\n" in out
    out = answered(tmp_path, 512, "--waves", "1,3,4")
    assert " as compiled ◄; waves 3, 4; waves ≥3, 4; waves 1 ignored; waves ≥1 ignored 128 " in out


def test_a_module_of_opencl_is_compiled_as_clang_does(tmp_path: Path) -> None:
    """Without what its driver adds for HIP."""
    for number, metadata in enumerate(("", "!kernel_arg_type !1 ")):
        folder = tmp_path / str(number)
        ir = IR.replace("#0 comdat {", f"#0 comdat {metadata}{{")
        _, _, texts = swept(folder, "first", "--waves", "5", ir=ir)
        words = (folder / "words").read_text()
        assert texts
        assert ("-amdgpu-internalize-symbols" in words) == (not metadata)


def test_a_variant_without_mistake_has_no_code(tmp_path: Path) -> None:
    out, _, _ = swept(tmp_path / "a", "first", "--waves", "5", "--format", "json")
    (kernel,) = json.loads(out)["inputs"][0]["kernels"]
    assert {(one["error"], one["code"]) for one in kernel["variants"]} == {(None, None)}
