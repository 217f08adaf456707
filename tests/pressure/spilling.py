"""Kernels that spill, and what becomes of them at the step that holds what their code needs:
`python -m tests.pressure.spilling` prints the table of the manual."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from statistics import median
from typing import NamedTuple

from kernelinfo import Options, Result, analyse, live_registers

_CLANG = (
    *("-x", "hip", "--cuda-device-only", "-nogpuinc", "-nogpulib", "-fuse-cuid=none"),
    *("-std=c++17", "-O3", "-w", "-S", "-gline-tables-only"),
)
_BEGIN = """
#define GLOBAL extern "C" __attribute__((global, amdgpu_flat_work_group_size(1, 256), \
amdgpu_waves_per_eu(WAVES, WAVES)))
#define U _Pragma("unroll")
static __attribute__((device)) int lane() {
  return __builtin_amdgcn_workgroup_id_x() * 256 + __builtin_amdgcn_workitem_id_x();
}
typedef float v4 __attribute__((ext_vector_type(4)));
typedef float v16 __attribute__((ext_vector_type(16)));
typedef _Float16 h4 __attribute__((ext_vector_type(4)));
typedef float v8 __attribute__((ext_vector_type(8)));
typedef _Float16 h16 __attribute__((ext_vector_type(16)));
"""
_FAMILIES = {
    "stencil": """
GLOBAL void k(const float* __restrict__ a, float* __restrict__ o, int n) {
  int i = lane(); float w[N];
  U for (int k = 0; k < N; k++) w[k] = a[i + k * n];
  for (int t = 0; t < n; t++) {
    float next = a[i + t * n + N * n], sum = 0;
    U for (int k = 0; k < N; k++) sum += w[k] * w[(k * 5 + 2) % N];
    U for (int k = 0; k < N - 1; k++) w[k] = w[k + 1] * 0.5f + w[k];
    w[N - 1] = next; o[i + t * n] = sum;
  }
}""",
    "reduction": """
GLOBAL void k(const float* __restrict__ a, float* __restrict__ o, int n) {
  int i = lane(); float s[N];
  U for (int k = 0; k < N; k++) s[k] = 0;
  for (int t = 0; t < n; t++) {
    float x = a[i + t * n];
    U for (int k = 0; k < N; k++) s[k] = s[k] * x + a[t * N + k + i];
  }
  U for (int k = 0; k < N; k++) o[i + k * n] = s[k];
}""",
    "GEMM": """
GLOBAL void k(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ o,
              int n) {
  int i = lane(); float c[N / 8][8];
  U for (int y = 0; y < N / 8; y++) U for (int x = 0; x < 8; x++) c[y][x] = 0;
  for (int t = 0; t < n; t++) {
    float p[N / 8], q[8];
    U for (int y = 0; y < N / 8; y++) p[y] = a[i + y * n + t];
    U for (int x = 0; x < 8; x++) q[x] = b[i + x + t * n];
    U for (int y = 0; y < N / 8; y++) U for (int x = 0; x < 8; x++) c[y][x] += p[y] * q[x];
  }
  U for (int y = 0; y < N / 8; y++) U for (int x = 0; x < 8; x++) o[i + y * n + x] = c[y][x];
}""",
    "butterfly": """
GLOBAL void k(const float* __restrict__ a, float* __restrict__ o, int n) {
  const int M = N / 4;
  int i = lane(); float r[M], s[M];
  U for (int k = 0; k < M; k++) { r[k] = a[i + k * n]; s[k] = a[i + k * n + 1]; }
  U for (int d = 1; d < 8; d *= 2)
    U for (int k = 0; k + d < M; k += 2 * d) {
      float x = r[k] - r[k + d], y = s[k] - s[k + d];
      r[k] += r[k + d]; s[k] += s[k + d]; r[k + d] = x * s[k] - y; s[k + d] = x + y * r[k];
    }
  U for (int k = 0; k < M; k++) { o[i + k * n] = r[(k * 7) % M]; o[i + k * n + 1] = s[k]; }
}""",
    "attention": """
GLOBAL void k(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ o,
              int n) {
  int i = lane(); float q[N / 2], c[N / 2], m = -1e30f, l = 0;
  U for (int k = 0; k < N / 2; k++) { q[k] = a[i + k * n]; c[k] = 0; }
  for (int t = 0; t < n; t++) {
    float s = 0;
    U for (int k = 0; k < N / 2; k++) s += q[k] * b[i + t * N + k];
    float top = s > m ? s : m, e = __builtin_amdgcn_exp2f(m - top),
          p = __builtin_amdgcn_exp2f(s - top);
    U for (int k = 0; k < N / 2; k++) c[k] = c[k] * e + p * b[i + t * N + k + n];
    l = l * e + p; m = top;
  }
  U for (int k = 0; k < N / 2; k++) o[i + k * n] = c[k] / l;
}""",
    "MFMA": """
GLOBAL void k(const h4* __restrict__ a, const h4* __restrict__ b, v4* __restrict__ o, int n) {
  int i = lane(); v4 c[N / 4];
  U for (int k = 0; k < N / 4; k++) c[k] = 0;
  for (int t = 0; t < n; t++) {
    h4 p[4], q[N / 16];
    U for (int y = 0; y < 4; y++) p[y] = a[i + y * n + t];
    U for (int x = 0; x < N / 16; x++) q[x] = b[i + x * n + t];
    U for (int x = 0; x < N / 16; x++) U for (int y = 0; y < 4; y++)
      c[4 * x + y] = __builtin_amdgcn_mfma_f32_16x16x16f16(p[y], q[x], c[4 * x + y], 0, 0, 0);
  }
  U for (int k = 0; k < N / 4; k++) o[i + k * n] = c[k] * 2.0f + c[(k + 1) % (N / 4)];
}""",
    "WMMA": """
GLOBAL void k(const h16* __restrict__ a, const h16* __restrict__ b, v8* __restrict__ o, int n) {
  int i = lane(); v8 c[N / 8];
  U for (int k = 0; k < N / 8; k++) c[k] = 0;
  for (int t = 0; t < n; t++) {
    h16 p[2], q[N / 16];
    U for (int y = 0; y < 2; y++) p[y] = a[i + y * n + t];
    U for (int x = 0; x < N / 16; x++) q[x] = b[i + x * n + t];
    U for (int x = 0; x < N / 16; x++) U for (int y = 0; y < 2; y++)
      c[2 * x + y] = __builtin_amdgcn_wmma_f32_16x16x16_f16_w32(p[y], q[x], c[2 * x + y]);
  }
  U for (int k = 0; k < N / 8; k++) o[i + k * n] = c[k] * 2.0f + c[(k + 1) % (N / 8)];
}""",
}
_TILES = ((128, 128), (256, 128), (128, 256), (256, 256))
"""Tiles of Triton's matrix product; its size is the number of a tile."""
_TARGETS = {"MFMA": ("gfx90a", "gfx942"), "WMMA": ("gfx1100",)}
_SIZES = (64, 96, 128, 160)
_WAVES = {"gfx90a": (5, 8), "gfx942": (4, 8), "gfx1100": (10, 16)}


class Case(NamedTuple):
    """A kernel, and the waves that its compiler is asked for."""

    family: str
    target: str
    size: int
    waves: int


class Outcome(NamedTuple):
    """A kernel that spills, before and at the step that its needs name."""

    case: Case
    needs: int | None
    held: bool  # the registers as compiled hold the needs
    step: int | None
    spills: int
    after: int | None  # spills at the step


def cases(sizes: Iterable[int] = _SIZES) -> Iterator[Case]:
    """The kernels that are tried; not all spill."""
    for family in _FAMILIES:
        for target in _TARGETS.get(family, ("gfx90a", "gfx942", "gfx1100")):
            for waves in _WAVES[target]:
                for size in sizes:
                    yield Case(family, target, size, waves)

    for size in range(len(_TILES)):
        for waves in (2, 3, 4):
            yield Case("Triton", "gfx942", size, waves)


def _compiled_by_triton(case: Case, waves: int) -> str:
    import triton  # the only family that needs it

    from ..triton.kernels import MATMUL, SIGNATURE, TARGETS

    types = {name: type.partition(":")[0] for name, type in SIGNATURE.items()}
    rows, columns = _TILES[case.size]
    constants = {"BLOCK_M": rows, "BLOCK_N": columns, "BLOCK_K": 32}
    source = triton.compiler.ASTSource(
        MATMUL, types | dict.fromkeys(constants, "constexpr"), constants
    )
    options = {"num_warps": 4, "waves_per_eu": waves, "enable_fp_fusion": True}
    made = triton.compile(source, target=TARGETS[case.target], options=options)
    return str(made.asm["amdgcn"])


def compiled(case: Case, waves: int, path: Path, version: int = 22) -> Path:
    """The assembly of a kernel at some waves/SIMD."""
    if case.family == "Triton":
        path.write_text(_compiled_by_triton(case, waves))
        return path
    defined = f"-DN={case.size}", f"-DWAVES={waves}"
    command = [
        f"clang-{version}",
        *_CLANG,
        *defined,
        f"--offload-arch={case.target}",
        "-",
        "-o",
        str(path),
    ]
    subprocess.run(command, input=_BEGIN + _FAMILIES[case.family], text=True, check=True)
    return path


def _spills(path: Path) -> tuple[int, int]:
    """Spilled VGPRs and VGPRs of the only kernel."""
    (result,) = (item for item in analyse([str(path)], Options()) if isinstance(item, Result))
    assert result.occupancy is not None
    return result.kernel.numbers.vgpr_spills or 0, result.occupancy.demand.unpadded.vgprs or 0


def outcome(case: Case, folder: Path) -> Outcome | None:
    """What becomes of a kernel; None if it does not spill."""
    name = "-".join(map(str, case))
    path = compiled(case, case.waves, folder / f"{name}.s")
    spills, given = _spills(path)
    if not spills:
        return None
    story = live_registers(path, "matmul" if case.family == "Triton" else "k")
    if story.needs is None:
        return Outcome(case, None, False, None, spills, None)
    step = story.needs.step(story.steps)
    if story.needs.vector <= given or step is None:
        fits = story.needs.vector <= given
        return Outcome(case, story.needs.vector, fits, None, spills, None)
    after, _ = _spills(compiled(case, int(step.waves_per_simd), folder / f"{name}-at.s"))
    return Outcome(case, story.needs.vector, False, step.vgprs, spills, after)


def _row(family: str, target: str, outcomes: list[Outcome]) -> str:
    stepped = [each for each in outcomes if each.after is not None]
    none = sum(each.after == 0 for each in stepped)
    few = sum(0 < (each.after or 0) <= each.spills / 10 for each in stepped)
    others = [each for each in stepped if (each.after or 0) > each.spills / 10]
    named = ", ".join(f"{each.spills} → {each.after}" for each in others)
    cells = family, target, len(outcomes), len(stepped), none, few, named or "none"
    return f"| {' | '.join(map(str, cells))} |"


def main() -> None:
    """Print the table, and each kernel to standard error."""
    folder = Path(sys.argv[1] if sys.argv[1:] else tempfile.mkdtemp())
    os.makedirs(folder, exist_ok=True)
    made: dict[tuple[str, str], list[Outcome]] = defaultdict(list)
    for case in cases():
        if each := outcome(case, folder):
            made[case.family, case.target].append(each)
            print(*case, *each[1:], file=sys.stderr)
    print("| kernels | target | spill | with a step | none after | a tenth or less | others |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for (family, target), outcomes in made.items():
        print(_row(family, target, outcomes))
    every = [each for outcomes in made.values() for each in outcomes]
    print(_row("all", "", every))
    stepped = [each for each in every if each.after is not None]
    before, after = median(e.spills for e in stepped), median(e.after or 0 for e in stepped)
    held = sum(each.held for each in every)
    print(f"median {before:g} → {after:g}; held as compiled: {held}")


if __name__ == "__main__":
    main()
