"""Variables in LDS, by debug information of real compilers in text and object."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..test_golden import run
from . import texts
from .compiled import compiled

pytestmark = pytest.mark.nightly

_SOURCE = """
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
typedef float float4 __attribute__((ext_vector_type(4)));
struct Cell { double value; char mark; };
__global__ void named(int *p, double *q) {
  __shared__ int tile[16][17]; __shared__ Cell part[64]; __shared__ char flag; __shared__ float4 f;
  int t = __builtin_amdgcn_workitem_id_x();
  tile[t & 15][t & 3] = p[t]; part[t & 63].value = q[t];
  if (t == 0) { flag = p[1000]; f.x = q[3]; }
  __builtin_amdgcn_s_barrier();
  p[t] = tile[t & 7][t & 15] + flag; q[t] = part[63 - (t & 63)].value + f.x;
}
__device__ __shared__ int outside[32];
__global__ void unnamed(int *p) {
  int t = __builtin_amdgcn_workitem_id_x();
  outside[t] = p[t];
  __builtin_amdgcn_s_barrier();
  p[t] = outside[31 - t];
}
"""


@pytest.mark.parametrize("version", [15, 19, 22])
def test_variables_are_named_with_size_and_line(version: int, tmp_path: Path) -> None:
    expected = {"tile": 4 * 16 * 17, "part": 16 * 64, "flag": 1, "f": 16}
    for path in compiled(version, tmp_path, _SOURCE, "-g"):
        for name, variables in (("named", expected), ("unnamed", {})):
            [lds] = [kernel["lds"] for kernel in texts.kernels(path, f"{name}*")]
            assert {one["name"]: one["bytes"] for one in lds["variables"]} == variables
            assert all(one["source"]["line"] == 8 for one in lds["variables"])


def test_explain_and_pressure_list_them(tmp_path: Path) -> None:
    text, _ = compiled(22, tmp_path, _SOURCE, "-g")
    for command in ("explain", "pressure"):
        out, err, code = run(command, str(text), "named")
        assert (err, code) == ("", 0)
        assert " LDS      tile 1088 B k.hip:8 · part 1 KiB :8 · f 16 B :8 · flag 1 B :8\n" in out
    out, _, _ = run("pressure", str(text), "unnamed")
    assert "128 B, not all of which debug information names" in out


_CALLEES = """
template <int N, class T> __device__ inline T sum(T x) {
  __shared__ T part[N];
  int t = __builtin_amdgcn_workitem_id_x();
  part[t & (N - 1)] = x;
  __builtin_amdgcn_s_barrier();
  T found = 0;
  for (int i = 0; i < N; ++i) found += part[i];
  return found;
}
struct Op {
  template <int N> static __device__ int run(int x) {
    __shared__ int whole[N];
    { __shared__ char half[N][3]; half[x & (N - 1)][x & 1] = x; x += half[0][0]; }
    whole[x & (N - 1)] = x;
    __builtin_amdgcn_s_barrier();
    return whole[(x + 3) & (N - 1)] + sum<2 * N>(x);
  }
};
template <int N> __device__ int none() {
  __shared__ int only[N];
  int t = __builtin_amdgcn_workitem_id_x(), u = t * 7;
  only[t & (N - 1)] = u;
  __builtin_amdgcn_s_barrier();
  return only[(u + 5) & (N - 1)];
}
__global__ void inlined(int *p, float *q) {
  __shared__ int own[32];
  int t = __builtin_amdgcn_workitem_id_x();
  own[t & 31] = p[t];
  q[t] = sum<64, float>(q[t]);
  p[t] = sum<64, int>(p[t]) + own[(t + 1) & 31];
}
__global__ void member(int *p) { *p = Op::run<64>(p[1]) + Op::run<64>(p[5]); }
__global__ void bare(int *p) { *p = none<64>(); }
template <int N> __global__ void instance(int *p) {
  __shared__ int own[N];
  int t = __builtin_amdgcn_workitem_id_x();
  own[t & (N - 1)] = p[t];
  __builtin_amdgcn_s_barrier();
  p[t] = own[(t + 1) & (N - 1)] + sum<N>(t);
}
template __global__ void instance<128>(int *);
"""


@pytest.mark.parametrize("version", [15, 19, 22])
def test_variables_of_inlined_templates_are_named(version: int, tmp_path: Path) -> None:
    """Clang 22 lists them under the inlined function, earlier ones under a nameless one."""
    source = _SOURCE.partition("typedef")[0] + _CALLEES
    expected = {
        "inlined": {("own", 128), ("part", 256)},
        "member": {("whole", 256), ("half", 192), ("part", 512)},
        "bare": {("only", 256)},
        "instance": {("own", 512), ("part", 512)},
    }
    for path in compiled(version, tmp_path, source, "-g"):
        for kernel, variables in expected.items():
            [lds] = [one["lds"] for one in texts.kernels(path, f"*{kernel}*")]
            assert {(one["name"], one["bytes"]) for one in lds["variables"]} == variables
            lines = source.splitlines()
            assert all(one["name"] in lines[one["source"]["line"] - 1] for one in lds["variables"])
