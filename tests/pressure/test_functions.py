"""Device functions, and what callees need on top of their callers' registers."""

from __future__ import annotations

from pathlib import Path

import pytest

import kernelinfo

from ..messages import refused
from ..test_golden import run
from . import texts
from .compiled import compiled

_SOURCE = """
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
__device__ __attribute__((noinline)) float leaf(float x, float y) {
  float parts[12];
  for (int i = 0; i < 12; ++i) parts[i] = __builtin_sqrtf(x + i) * y;
  asm volatile("" ::: "memory");
  float sum = 0;
  for (int i = 0; i < 12; ++i) sum += parts[i] * parts[11 - i];
  return sum;
}
__device__ __attribute__((noinline)) float middle(float x) { return leaf(x, 2 * x) + x; }
__global__ void caller(float *p) {
  int t = __builtin_amdgcn_workitem_id_x();
  float a = p[t], b = p[t + 64], c = p[t + 128];
  p[t] = middle(a) + b * c + a;
}
"""


def test_a_function_is_measured_by_its_name(tmp_path: Path) -> None:
    body = "\tv_add_f32_e32 v2, v0, v1\n\tv_mul_f32_e32 v0, v2, v2\n\ts_setpc_b64 s[30:31]\n"
    function = texts.function("twice", body)
    (tmp_path / "k.s").write_text(texts.module("\tv_mov_b32_e32 v1, v0\n") + function)
    [found] = texts.kernels(tmp_path / "k.s", "twice")
    assert (found["symbol"], found["kernel"], found["exact"]) == ("twice", False, False)
    assert (found["peak"]["vector"], found["instructions"]) == (2, 4)
    assert kernelinfo.live_registers(tmp_path / "k.s", "twice").peak.pressure.vgprs == 2
    with refused("kernel-not-named", kernelinfo.ReadError):
        kernelinfo.live_registers(tmp_path / "k.s", "thrice")


def calling(function: str, pair: int) -> str:
    return (
        f"\ts_getpc_b64 s[{pair}:{pair + 1}]\n"
        f"\ts_add_u32 s{pair}, s{pair}, {function}@rel32@lo+4\n"
        f"\ts_addc_u32 s{pair + 1}, s{pair + 1}, {function}@rel32@hi+12\n"
        f"\ts_swappc_b64 s[30:31], s[{pair}:{pair + 1}]\n"
    )


def test_callees_need_registers_on_top_of_those_across_the_call(tmp_path: Path) -> None:
    """The kernel holds v0 and v40 to v42 across its call, `outer` v43; `inner` needs 5."""
    kernel = "".join(f"\tv_mov_b32_e32 v{n}, v0\n" for n in (40, 41, 42)) + calling("outer", 4)
    kernel += "".join(f"\tglobal_store_dword v0, v{n}, s[0:1]\n" for n in (40, 41, 42))
    outer = f"\tv_mov_b32_e32 v43, v0\n{calling('inner', 6)}\tv_add_u32_e32 v0, v43, v43\n"
    inner = "".join(f"\tv_mov_b32_e32 v{n}, v0\n" for n in range(1, 6))
    inner += "".join(f"\tglobal_store_dword v{n}, v{n}, s[0:1]\n" for n in range(1, 6))
    returns = "\ts_setpc_b64 s[30:31]\n"
    functions = texts.function("outer", outer + returns) + texts.function("inner", inner + returns)
    (tmp_path / "k.s").write_text(texts.module(kernel) + functions)
    [found] = texts.kernels(tmp_path / "k.s", "k")
    [call] = found["calls"]
    assert (call["function"], call["live"], call["needs"], call["exact"]) == ("outer", 4, 6, True)
    for command in ("pressure", "explain"):
        out, _, _ = run(command, str(tmp_path / "k.s"), "k", "--width", "200")
        assert "needs 6 vector registers, 4 are live across it: 10" in out


@pytest.mark.nightly
@pytest.mark.parametrize("version", [15, 22])
def test_text_and_object_of_a_compiler_agree(version: int, tmp_path: Path) -> None:
    answers = []
    for path in compiled(version, tmp_path, _SOURCE, "-O1"):
        [caller] = texts.kernels(path, "caller*")
        [leaf] = texts.kernels(path, "leaf*")
        assert leaf["kernel"] is False
        [call] = caller["calls"]
        assert call["needs"] >= leaf["peak"]["vector"]
        answers.append([(call["function"], call["live"], call["needs"]), leaf["peak"]["vector"]])
    assert answers[0] == answers[1]
