"""Random HIP kernels with nests of loops, each statement on a line of its own."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

_BEGIN = """\
#define __shared__ __attribute__((shared))
typedef float float4_t __attribute__((ext_vector_type(4)));
"""
_HEAD = """\
extern "C" __attribute__((global)) void k{number}(
    const float *__restrict__ a, const float *b, float *c, int n, int m) {{
  __shared__ float lds[256];
  int t = __builtin_amdgcn_workitem_id_x(), i = 0;
  unsigned x = t;
  float s = 0;
  float4_t acc = {{}};
"""
_STATEMENTS = (
    "s += a[i * {odd} + t];",
    "s = s * 0.{odd}f + b[(i ^ t) & 255];",
    "lds[(t + i) & 255] = s; __builtin_amdgcn_s_barrier();\ns += lds[(t * {odd} + i) & 255];",
    "if (s > {odd}.0f)\n  c[i + t] = s;",
    "x = x * 1103515245 + {odd}; s += (float)(x & 7);",
    "s += __builtin_sqrtf(a[t + i * n]);",
    "c[(i * 64 + t) & 1023] += s;",
    "acc = __builtin_amdgcn_mfma_f32_4x4x1f32(s, a[i + t], acc, 0, 0, 0);",
)
_BOUNDS = ("n", "m", "n - m", "16", "8", "64", "n / 4")


class _Nest:
    """The loops of one kernel."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._statements = _STATEMENTS if random.random() < 0.4 else _STATEMENTS[:-1]
        self._left = random.randint(2, 6)

    def _body(self) -> Iterator[str]:
        for _ in range(self._random.randint(1, 3)):
            odd = self._random.randrange(3, 99, 2)
            yield from self._random.choice(self._statements).format(odd=odd).splitlines()

    def loops(self, depth: int = 0) -> Iterator[str]:
        """Lines of the loops inside so many others."""
        random, name = self._random, "uvw"[depth]
        for _ in range(random.randint(1, 2 if depth else 3)):
            if not self._left:
                return
            self._left -= 1
            begin, step = random.choice((("0", "1"), ("0", "1"), ("0", "2"), ("t", "64")))
            bound = random.choice(_BOUNDS)
            yield f"for (int {name} = {begin}; {name} < {bound}; {name} += {step}) {{"
            yield f"i = {name} + i * {random.randint(0, 1)};"
            is_outer = depth < 2 and random.random() < 0.45
            yield from self._body() if not is_outer or random.random() < 0.5 else ()
            if is_outer:
                yield from self.loops(depth + 1)
                yield from self._body() if random.random() < 0.5 else ()
            yield "}"


def source(random: Random, kernels: int) -> str:
    """A source with so many kernels."""
    text = _BEGIN
    for number in range(kernels):
        text += _HEAD.format(number=number) + "\n".join(_Nest(random).loops())
        text += "\nc[t] = s + acc[0] + acc[1] + (float)x;\n}\n"
    return text
