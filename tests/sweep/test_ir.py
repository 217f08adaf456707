"""Textual IR: its kernels, and the function attributes that a sweep changes for the compiler."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from ..fuzz.specimens import Specimen, assembly
from ..messages import codes, says
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
    assert "dropped this kernel" in err
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


def spilling(folder: Path, *arguments: str, lds: int = 0) -> tuple[str, str]:
    """The table of a kernel for 1024 workitems that spills, and its source lines."""
    for name, spills in (("plain", 40), ("64", 0), ("256", 0), ("512", 6)):
        answer = assembly(
            [Specimen("first", 128, 0, 8, lds, spills * 4, int(name.replace("plain", "1024")))]
        )
        stated = b".vgpr_spill_count: %d\n    .sgpr_spill_count: 0\n    .vgpr_count" % spills
        (folder / name).write_bytes(answer.replace(b".vgpr_count", stated))
    bound = "$(grep -o 'group-size\"=\"1,[0-9]*' | tail -1 | tr -dc '[0-9,]')"
    which = "1,64) cat 64;; 1,128|1,192|1,256) cat 256;; 1,512) cat 512;; *) cat plain;;"
    compiler = clang(
        folder / "clang",
        f"case $* in *-emit-llvm*) cat; exit;; esac\ncd {folder}; case {bound} in {which} esac",
    )
    (folder / "k.ll").write_text(IR)
    words = ("k.ll", "first", *arguments, "--compiler", compiler)
    out = run("sweep", *words, folder=folder)[0]
    return re.sub(" +", " ", out), "\n".join(re.findall(r"(?m)^ HIP .*", out))


def test_a_kernel_that_spills_gets_smaller_launch_bounds(tmp_path: Path) -> None:
    out, lines = spilling(tmp_path)
    assert re.search(r"(?m)^ launch bounds 64, 128, 256, waves ≥1 128 128 0 16 0 0 ", out)
    assert says(" ".join(out.split()), "sweep-refused 64, 128, 256, 512")
    bounds = (64, 128, 256)
    assert lines.splitlines() == [f" HIP    __launch_bounds__({size}, 1)" for size in bounds]
    out, _ = spilling(tmp_path, "--workgroup-size", "192")
    assert "launch bounds 192, 256, " in out
    assert "launch bounds 64" not in out
    out, _ = spilling(tmp_path, "--waves", "5", "--launch-bounds", "64,512")
    rows = [line.split(" 128")[0] for line in out.splitlines() if "50.0% VGPR" in line]
    assert rows == [
        " as compiled ◄; waves 5; waves ≥5",
        *(" launch bounds 64", " launch bounds 512"),
    ]


def test_a_kernel_that_fails_as_it_is_is_tried_with_smaller_bounds(tmp_path: Path) -> None:
    (tmp_path / "few").write_bytes(assembly([Specimen("first", 64, 0, 8, 0, 0, 64)]))
    fails = "echo 'error: ran out of registers' >&2; exit 1"
    answer = f"case $(grep -c '\"1,64\"') in 1) cat {tmp_path}/few;; *) {fails};; esac"
    compiler = clang(tmp_path / "clang", f"case $* in *-emit-llvm*) cat; exit;; esac\n{answer}")
    (tmp_path / "k.ll").write_text(IR)
    out, _, code = run("sweep", "k.ll", "first", "--compiler", compiler, folder=tmp_path)
    assert code == 0
    assert re.search(r"(?m)^ launch bounds 64 +64 ", out)
    assert re.search(r"(?m)^ as compiled ◄; waves .* error: ran out of registers$", out)


def test_a_larger_bound_has_the_waves_of_the_launch_as_compiled(tmp_path: Path) -> None:
    """LDS allows 3 workgroups: 3 waves/SIMD of 256 workitems, 6 of 512."""
    for size, vgprs in ((256, 128), (512, 96)):
        answer = assembly([Specimen("first", vgprs, 0, 8, 18 * 1024, 0, size)])
        (tmp_path / str(size)).write_bytes(answer)
    which = f"cd {tmp_path}; case $(grep -c '\"1,512\"') in 0) cat 256;; *) cat 512;; esac"
    compiler = clang(tmp_path / "clang", f"case $* in *-emit-llvm*) cat; exit;; esac\n{which}")
    (tmp_path / "k.ll").write_text(IR)
    words = ("--launch-bounds", "512", "--strategy", "default,max-ilp", "--compiler", compiler)
    out, _, code = run("sweep", "k.ll", "first", *words, folder=tmp_path)
    assert code == 0
    assert re.search(r"(?m)^ launch bounds 512; .* 96 .* 3 37\.5% +LDS$", out)
    assert "\n 3 waves/SIMD as compiled\n" in out
    assert "__launch_bounds__" not in out
    out, _, _ = run("sweep", "k.ll", "first", *words, "--workgroup-size", "512", folder=tmp_path)
    assert re.search(r"(?m)^ launch bounds 512; .* 96 .* 4 50\.0% +VGPR$", out)


def test_waves_that_lds_forbids_are_named_once(tmp_path: Path) -> None:
    out, _ = spilling(tmp_path, "--launch-bounds", "64", lds=65536)
    assert " waves: LDS" not in out
    out, _ = spilling(tmp_path, "--waves", "4,5,6,8", lds=65536)
    assert says(out, "sweep-forbidden 5, 6, 8 … 4")
    assert "waves 5" not in out


def test_other_kernels_are_not_compiled(tmp_path: Path) -> None:
    """A kernel that may use what they share stands for them where the numbers may depend on it."""
    _, _, texts = swept(tmp_path / "own", "first", "--waves", "5", "-O", "2")
    assert "-O2" in (tmp_path / "own" / "words").read_text()
    assert all("define internal amdgpu_kernel void @bare()" in text for text in texts)
    assert not any("kernelinfo.others" in text for text in texts)
    shared = IR.replace("ret void", "store i32 1, ptr addrspace(1) @kept\n  ret void")
    shared = shared.replace("call void @llvm.thing(i32 1)", 'call fastcc %"a, b" @"of #"(i32 1)')
    shared = shared.replace("store", 'call fastcc %"a, b" @"of #"(i32 0)\n  store', 1)
    shared += "@kept = internal addrspace(1) global i32 0\nuselistorder i32 1, { 1, 0 }\n"
    shared += "uselistorder ptr addrspace(1) @kept, { 1, 0 }\n"
    shared += '\ndefine internal fastcc noundef %"a, b" @"of #"(i32 %0) #0 {\n  unreachable\n}\n'
    _, _, texts = swept(tmp_path / "a", "first", "--waves", "5", ir=shared)
    assert all("define internal amdgpu_kernel void @bare()" in text for text in texts)
    assert all("define protected amdgpu_kernel void @first(" in text for text in texts)
    (beside,) = (text for text in texts if "kernelinfo.others" in text)
    assert 'call fastcc noundef %"a, b" @"of #"(i32 %0)\n  ret %"a, b" %' in beside
    assert "store volatile ptr addrspace(1) @kept, " in beside
    assert "uselistorder i32 1, " in beside
    assert "uselistorder ptr" not in beside, "its uses are more"


@pytest.mark.parametrize(
    ("cases", "row"),
    [
        ("*others*) cat 72;; *) cat 64;;", " as compiled ◄; waves 5; waves ≥5 72 "),
        ("*others*5,5*) cat 72;; *5,5*) cat 64;; *) cat 128;;", " waves 5 64 "),
    ],
)
def test_numbers_that_may_be_others_in_the_whole_module(
    cases: str, row: str, tmp_path: Path
) -> None:
    """Those of the kernel as compiled, or of a row with a line."""
    for vgprs in (64, 72, 128):
        answer = assembly([Specimen("first", vgprs, 0, 8, 0, 0, 64)])
        (tmp_path / str(vgprs)).write_bytes(answer)
    ir = IR.replace("ret void", "store i32 1, ptr addrspace(1) @kept\n  ret void")
    (tmp_path / "k.ll").write_text(f"{ir}@kept = internal addrspace(1) global i32 0\n")
    compiler = clang(
        tmp_path / "clang",
        f"case $* in *-emit-llvm*) cat; exit;; esac\ncd {tmp_path}; case $(cat) in {cases} esac",
    )
    words = ("k.ll", "first", "--waves", "5", "--compiler", compiler)
    out = re.sub(" +", " ", run("sweep", *words, folder=tmp_path)[0])
    assert row in out
    assert ("HIP __attribute__" in out) == ("5,5" in cases)
    assert says(" ".join(out.split()), "sweep-alone")
    (input,) = json.loads(run("sweep", *words, "--format", "json", folder=tmp_path)[0])["inputs"]
    assert says(" ".join(input["notes"]), "sweep-alone")


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
