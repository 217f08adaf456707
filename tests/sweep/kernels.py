"""Random HIP kernels with many registers, and random attributes for each."""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random

from kernelinfo import Target
from kernelinfo.variants import Asked

PRELUDE = """
#define DEVICE __attribute__((device))
#define SHARED __attribute__((shared))
typedef float f32x16 __attribute__((ext_vector_type(16)));
DEVICE __attribute__((noinline)) double far(double x, int n) {
  double y = x;
  for (int i = 0; i < n; i++) y = y * x + i;
  return y;
}
"""


@dataclass(frozen=True, slots=True)
class RandomKernel:
    """A kernel and the attributes in its source."""

    name: str
    body: str
    asked: Asked
    """Attributes in the source; None leaves one out."""

    def source(self) -> str:
        """Source in freestanding HIP."""
        attributes = ["global"]
        if self.asked.launch_bounds is not None:
            attributes.append(f"amdgpu_flat_work_group_size(1, {self.asked.launch_bounds})")
        if self.asked.waves is not None:
            most = "" if self.asked.or_more else f", {self.asked.waves}"
            attributes.append(f"amdgpu_waves_per_eu({self.asked.waves}{most})")
        declared = " ".join(f"__attribute__(({attribute}))" for attribute in attributes)
        return (
            f'extern "C" {declared} void {self.name}'
            f"(const float *in, float *out, int n, int m) {{\n{self.body}}}\n"
        )

    def asking(self, asked: Asked) -> RandomKernel:
        """The kernel with the attributes that are asked for. Others stay."""
        kept = asked if asked.waves else self.asked
        bounds = asked.launch_bounds or self.asked.launch_bounds
        return replace(self, asked=kept._replace(launch_bounds=bounds))


def random_kernel(random: Random, name: str, target: Target) -> RandomKernel:
    """A kernel with a few live values up to more than the target has registers for."""
    kind = random.choice(("float", "float", "double", "int"))
    live = random.choice((3, 12, 30, 60, 90, 130))
    lines = [f"  {kind} v[{live}];", "  int id = __builtin_amdgcn_workitem_id_x();"]
    lines.append(f"  for (int i = 0; i < {live}; i++) v[i] = ({kind})in[i * n + id];")
    lines.append("  for (int r = 0; r < n; r++) {")
    lines += [f"    {_statement(random, live)}" for _ in range(random.randint(live // 2, 2 * live))]
    lines.append("  }")
    lines += _extras(random, kind, live, target)
    lines.append(f"  for (int i = 0; i < {live}; i++) out[i * n + id] = (float)v[i];")
    asked = random_asked(random, target) if random.random() < 0.4 else Asked()
    return RandomKernel(name, "\n".join(lines) + "\n", asked)


def _statement(random: Random, live: int) -> str:
    to, *of = (random.randrange(live) for _ in range(4))
    return f"v[{to}] = v[{of[0]}] {random.choice('*+-')} v[{of[1]}] + v[{of[2]}] * {to + 2};"


def _extras(random: Random, kind: str, live: int, target: Target) -> list[str]:
    """Code of some kernels: LDS, an array in scratch, a call, matrix instructions."""
    lines = []
    if random.random() < 0.3:
        size = random.choice((64, 512, 3000))
        lines += [
            f"  SHARED {kind} pool[{size}];",
            f"  pool[id % {size}] = v[0]; __builtin_amdgcn_s_barrier();",
            f"  v[1] += pool[(id + m) % {size}];",
        ]
    if random.random() < 0.2:
        lines += ["  float own[24];", "  for (int i = 0; i < 24; i++) own[i] = in[i];"]
        lines.append(f"  own[m & 15] = in[m]; v[2] += ({kind})own[(n + m) % 24];")
    if random.random() < 0.2:
        lines.append(f"  v[0] += ({kind})far((double)v[1], m);")
    if target.agprs.file != "none" and random.random() < 0.3:
        lines.append("  f32x16 sum = {0};")
        call = "__builtin_amdgcn_mfma_f32_32x32x2f32(in[i], in[i + m], sum, 0, 0, 0)"
        lines.append(f"  for (int i = 0; i < n; i++) sum = {call};")
        lines.append("  for (int i = 0; i < 16; i++) out[i + m] = sum[i];")
    return lines


def random_asked(random: Random, target: Target) -> Asked:
    """Waves, launch bounds or both. LLVM may ignore them."""
    waves = random.randint(1, target.waves.slots_per_simd)
    bounds = random.choice((64, 128, 256, 512, 1024))
    return random.choice(
        (
            Asked(waves),
            Asked(waves, or_more=True),
            Asked(launch_bounds=bounds),
            Asked(waves, launch_bounds=bounds),
        )
    )
