"""Kernels compiled without the others of their module, against the whole module."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random

from kernelinfo import CompilerError, arch
from kernelinfo.variants import Request, leave_out_others, measures

from .kernels import RandomKernel, random_kernel
from .proof import compile_source, opened

TARGETS = {
    15: ("gfx90a", "gfx1030"),
    19: ("gfx90a", "gfx942", "gfx1100", "gfx1201"),
    22: ("gfx90a", "gfx942", "gfx1100", "gfx1201"),
}
KERNELS_OF_A_MODULE = 5
HELPERS = """
#define FORCED DEVICE __attribute__((always_inline))
static FORCED float pick(float x, int kind, int n) {
  if (kind == 0) { for (int i = 0; i < n; i++) x = x * x + i; return x; }
  if (kind == 1) return x * n;
  return kind > n ? x : -x;
}
static DEVICE float small(float x, int n) { return x * 2 + n; }
template <int N> DEVICE float mixed(const float *in, float x, int n) {
  float t[N];
  for (int i = 0; i < N; i++) t[i] = in[i * n] * x;
  for (int r = 0; r < n; r++) for (int i = 0; i < N; i++) t[i] = t[(i * 7 + 1) % N] * x + t[i];
  float sum = 0;
  for (int i = 0; i < N; i++) sum += t[i];
  return sum;
}
static const float numbers[8] = {1, 3, 5, 7, 11, 13, 17, 19};
static FORCED float looked_up(int n) { return numbers[n & 7]; }
FORCED float rotated(float x, int id, int n) {
  SHARED float pool[64];
  pool[id & 63] = x;
  __builtin_amdgcn_s_barrier();
  return pool[(id + n) & 63];
}
static DEVICE float kept;
static FORCED float stored(float x) { float before = kept; kept = x; return before; }
static FORCED float moved(float x) {
  float y;
  asm("v_mov_b32 %0, %1" : "=v"(y) : "v"(x));
  return y;
}
static DEVICE __attribute__((noinline)) float twice(float x, int n) { return x * x + n; }
static DEVICE float through_pointer(float x, int n, int m) {
  float (*function)(float, int) = m > 3 ? small : twice;
  return function(x, n);
}
"""
_CALLS = (
    *("pick(in[id], 0, n)", "pick(in[id], 1, m)", "pick(in[id], m, n)", "small(in[id], m)"),
    *("mixed<4>(in, in[id], n)", "mixed<40>(in, in[id], m)", "looked_up(m)"),
    *("rotated(in[id], id, m)", "stored(in[id])", "moved(in[id])", "twice(in[id], m)"),
    "through_pointer(in[id], n, m)",
)


@dataclass
class Alone:
    """Numbers of kernels."""

    kernels: int = 0
    said: int = 0  # those that a note says may differ from the whole module
    moved: int = 0  # of these, those whose first row differs from it
    spilling: int = 0  # of the others
    differences: list[str] = field(default_factory=list)  # of the others


def kernel_with_calls(random: Random, name: str, target: str) -> RandomKernel:
    """A random kernel, most of which call helpers that others call, too."""
    kernel = random_kernel(random, name, arch(target).target)
    calls = random.sample(_CALLS, random.choice((0, 0, 1, 1, 2, 3)))
    lines = [f"  out[{i} * n + id] = {call};\n" for i, call in enumerate(calls)]
    return replace(kernel, body=kernel.body + "".join(lines))


def run(version: int, target: str, modules: int, random: Random, folder: Path) -> Alone:
    """Each kernel of random modules alone and among the others, as clang and as hipcc do it."""
    tally = Alone()
    for number in range(modules):
        kernels = [kernel_with_calls(random, f"k{i}", target) for i in range(KERNELS_OF_A_MODULE)]
        driver = random.choice(("clang", "clang", "hipcc"))
        where = folder / f"{version}-{target}-{number}"
        tally.differences += _compare(version, target, kernels, driver, where, tally)
    return tally


def _compare(
    version: int,
    target: str,
    kernels: list[RandomKernel],
    driver: str,
    folder: Path,
    tally: Alone,
) -> Iterator[str]:
    path = compile_source(version, target, "3", kernels, folder, to_assembly=False, prelude=HELPERS)
    with opened(path, version) as module:
        options = module.drivers[driver]
        try:
            whole = module.compile({}, "3", options)
        except CompilerError:
            return  # refused
        request = Request(level="3", options=options[len(module.drivers["clang"]) :])
        for kernel in kernels:
            symbol = kernel.name
            base, notes = leave_out_others(module, request, {}, [symbol])
            first = base.compiled[symbol].result
            is_same = first is not None and measures(first) == measures(whole[symbol])
            tally.kernels += 1
            if notes:
                tally.said += 1
                tally.moved += not is_same
                continue
            tally.spilling += bool(whole[symbol].kernel.numbers.vgpr_spills)
            if not is_same:
                yield f"clang {version} as {driver}, {target}, {symbol}: {folder}"
