"""Changes between the builds of two compilers, and their words."""

from __future__ import annotations

from pathlib import Path

import pytest

from kernelinfo import Pair, diff
from tests.compiling import assembly, needs_clang
from tests.conftest import FIXTURES

from ..messages import says
from .test_compare import kernel

ASSEMBLY = FIXTURES / "assembly"


def compiled(folder: Path, old: str, new: str) -> Pair:
    """The one kernel that both sources have."""
    (pair,) = diff(assembly(old, folder / "old.s"), assembly(new, folder / "new.s")).pairs
    return pair


def claims(registers: int) -> str:
    return f"""__global__ __attribute__((amdgpu_flat_work_group_size(1, 256)))
    void f(int *out) {{ CLAIM("v{registers - 1}"); *out = 1; }}"""


@needs_clang
@pytest.mark.parametrize(
    ("old", "new", "effect", "why"),
    [
        (94, 94, "same", ""),
        (93, 95, "moved", "VGPR: 93 → 95 used"),
        (
            94,
            98,
            "worse",
            "VGPR: 96 → 104 allocated, 0 → 4 AGPRs allocated, 94 → 98 used, 5 → 4 waves/SIMD",
        ),
        (
            98,
            94,
            "better",
            "VGPR: 104 → 96 allocated, 4 → 0 AGPRs allocated, 98 → 94 used, 4 → 5 waves/SIMD",
        ),
        (98, 106, "moved", "VGPR: 104 → 112 allocated, 98 → 106 used"),
    ],
)
def test_registers_count_by_the_steps_of_the_hardware(
    tmp_path: Path, old: int, new: int, effect: str, why: str
) -> None:
    pair = compiled(tmp_path, claims(old), claims(new))
    assert (pair.effect, pair.why) == (effect, why)
    assert pair.affected == (effect in ("worse", "better"))


SPILLING = """__global__ __attribute__((amdgpu_flat_work_group_size(1, 256), amdgpu_num_vgpr(%d)))
void f(float *out, int n) {
  float a[48];
  out += __builtin_amdgcn_workitem_id_x();
  for (int i = 0; i < 48; ++i) a[i] = out[i * n];
  for (int k = 0; k < n; ++k)
    for (int i = 0; i < 48; ++i) a[i] = a[i] * a[(i + 7) %% 48] + out[k + i];
  for (int i = 0; i < 48; ++i) out[i * n] = a[i];
}"""


@needs_clang
def test_a_kernel_that_starts_to_spill_got_worse(tmp_path: Path) -> None:
    pair = compiled(tmp_path, SPILLING % 128, SPILLING % 32)
    assert (pair.old.vgpr_spills, pair.old.scratch_bytes_per_lane) == (0, 0)
    assert pair.new.vgpr_spills
    assert pair.effect in ("worse", "mixed")
    assert f"spills: 0 → {pair.new.vgpr_spills} VGPRs" in pair.why
    assert f"scratch: 0 → {pair.new.scratch_bytes_per_lane} B a lane" in pair.why


@needs_clang
def test_a_renamed_namespace_and_a_drifted_template_are_matched(tmp_path: Path) -> None:
    text = """
    template <class T, int N> __global__ void gemm(T *out) { *out = N; }
    namespace %s { __global__ void sort(int *out) { *out = 1; } }
    template __global__ void gemm<%s>(float *);
    __global__ void %s(int *out) { *out = 2; }
    """
    old = assembly(text % ("v1", "float, 4", "lonely"), tmp_path / "old.s")
    new = assembly(text % ("v2", "float, 8", "another"), tmp_path / "new.s")
    sort = ("v1::sort(int*)", "v2::sort(int*)")
    gemm = ("void gemm<float, 4>(float*)", "void gemm<float, 8>(float*)")
    strict, found = diff(old, new), diff(old, new, loose=True)
    assert {(pair.old.name, pair.new.name) for pair in strict.pairs} == {sort}
    assert {(pair.old.name, pair.new.name) for pair in found.pairs} == {sort, gemm}
    assert all(pair.renamed for pair in found.pairs)
    assert [one.name for one in found.gone] == ["lonely(int*)"]
    assert [one.name for one in found.new] == ["another(int*)"]


def test_scratch_that_grows_at_run_time_is_not_compared() -> None:
    """clang 15 guesses 16 KiB for it, clang 22 counts the known part: neither is less."""
    old, new = (ASSEMBLY / f"variety-clang{version}-gfx90a.s" for version in (15, 22))
    found = [pair for pair in diff(old, new).pairs if pair.old.name.startswith(("rec", "ind"))]
    assert len(found) == 2
    assert {pair.effect for pair in found} == {"moved"}
    assert {pair.new.scratch_bytes_per_lane for pair in found} == {None}


def test_another_compiler_s_sgprs_cost_a_wave() -> None:
    old, new = (ASSEMBLY / f"variety-clang{version}-gfx90a.s" for version in (15, 22))
    found = diff(old, new)
    (pair,) = (pair for pair in found.pairs if pair.effect == "worse")
    assert pair.old.name == "sgpr_heavy(int*)"
    assert pair.why == "SGPR: 96 → 112 allocated, 96 → 100 used, 7 → 6 waves/SIMD"
    before, after = found.totals
    assert before.waves_per_simd - after.waves_per_simd == 1


MOVES: list[tuple[dict[str, object], dict[str, object], str, str]] = [
    (
        {"workgroup_size": 256, "waves_per_simd": 8.0, "limiters": ("slots",)},
        {"workgroup_size": 704, "waves_per_simd": 5.5, "limiters": ("slots",)},
        "worse",
        "launch: 256 → 704 workitems in a workgroup; slots: 8 → 5.5 waves/SIMD",
    ),
    (
        {"workgroup_size": 256},
        {"workgroup_size": 128},
        "changed",
        "launch: 256 → 128 workitems in a workgroup",
    ),
    (
        {"waves_per_simd": 4.0, "limiters": ("vgpr",)},
        {"waves_per_simd": 0.0, "limiters": ("vgpr",), "vgprs": 200, "reserved_vgprs": 200},
        "worse",
        "moved-to-no-launch VGPR: 128 → 200 allocated, 122 → 200 used",
    ),
    (
        {"waves_per_simd": 4.0, "limiters": ("vgpr",)},
        {"waves_per_simd": 6.0, "limiters": ("lds",), "vgprs": 80, "reserved_vgprs": 80},
        "better",
        "moved-to-limit VGPR: 128 → 80 allocated, 122 → 80 used, 4 → 6 waves/SIMD … LDS",
    ),
    (
        {"waves_per_simd": 4.0},
        {"waves_per_simd": 8.0, "limiters": ("slots",), "vgpr_spills": 14, "exact": False},
        "mixed",
        "moved-to-limit VGPR: 4 → ≤8 waves/SIMD … slots … spills: 0 → 14 VGPRs",
    ),
    (
        {"target": "gfx90a", "waves_per_simd": 8.0, "percent": 100.0, "wave_size": 64},
        {"target": "gfx1100", "waves_per_simd": 16.0, "percent": 100.0, "wave_size": 32},
        "same",
        "",
    ),
    (
        {"target": "gfx1100", "waves_per_simd": 16.0, "percent": 100.0},
        {"target": "gfx90a", "waves_per_simd": 7.0, "percent": 87.5},
        "worse",
        "VGPR: 100 → 87.5 % of the wave slots",
    ),
    (
        {"scratch_bytes_per_lane": 16384},
        {"scratch_bytes_per_lane": None},
        "changed",
        "scratch: 16384 → ? B a lane",
    ),
    ({"vgpr_spills": None}, {"vgpr_spills": 0}, "moved", "spills: ? → 0 VGPRs"),
    ({"vgpr_spills": None}, {"vgpr_spills": 3}, "changed", "spills: ? → 3 VGPRs"),
    ({"lds_bytes": 0}, {"lds_bytes": 512}, "moved", "LDS: 0 → 512 B"),
]


def test_what_is_said_of_a_move() -> None:
    for old, new, effect, why in MOVES:
        pair = Pair(kernel("f", **old), kernel("f", **new))
        is_said = says(pair.why, why) if why.startswith("moved-to") else pair.why == why
        assert (pair.effect, is_said) == (effect, True), pair.why
