"""Random kernels with divergent control flow."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

_BEGIN = """\
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define LAUNCH(n, w) __attribute__((amdgpu_flat_work_group_size(1, n), amdgpu_waves_per_eu(w)))
typedef unsigned long long u64;
typedef _Float16 half;
"""
_TYPES = {"int": "i", "float": "f", "double": "d", "u64": "u", "half": "h", "short": "s"}
_INT = ("{0} + {1}", "{0} * {1}", "{0} ^ {1}", "{0} - {1}", "({0} >> 3) | ({1} << 5)")
_REAL = ("{0} + {1}", "{0} * {1}", "{0} - {1}", "{0} * {1} + {0}", "({0} < {1} ? {0} : {1})")
_COMPARISONS = ("<", ">", "==", "!=")


class _Kernel:
    def __init__(self, random: Random) -> None:
        self.random = random
        self.names: dict[str, list[str]] = {
            kind: [f"{letter}{n}" for n in range(random.randint(1, 6))]
            for kind, letter in _TYPES.items()
        }
        self.loops = 0
        self.left = random.randint(6, 40)

    def text(self, number: int) -> str:
        bound = self.random.choice((64, 256, 512, 1024))
        waves = self.random.choice((1, 2, 4, 8))
        waves = max(waves, -(-bound // 256))
        body = "\n".join(self.block(1))
        begins = "".join(self.begin(kind) for kind in _TYPES)
        ends = "".join(self.end(kind) for kind in _TYPES)
        return f"""
__global__ void LAUNCH({bound}, {waves}) kernel{number}(
    int *I, float *F, double *D, u64 *U, half *H, short *S, int n, int m) {{
  __shared__ int L[{self.random.choice((64, 256, 4096, 8192))}];
  int t = __builtin_amdgcn_workitem_id_x(), g = __builtin_amdgcn_workgroup_id_x();
  {begins}
{body}
  {ends}
}}
"""

    def begin(self, kind: str) -> str:
        array = kind[0].upper()
        return "".join(
            f"{kind} {name} = {array}[t + {17 * n} + g];\n  "
            for n, name in enumerate(self.names[kind])
        )

    def end(self, kind: str) -> str:
        array = kind[0].upper()
        return "".join(
            f"{array}[t + {97 * n}] = {name};\n  " for n, name in enumerate(self.names[kind])
        )

    def value(self, kind: str) -> str:
        return self.random.choice(self.names[kind])

    def condition(self) -> str:
        kind = self.random.choice(("int", "int", "float", "double", "u64", "half", "short"))
        compare = f"{self.value(kind)} {self.random.choice(_COMPARISONS)} {self.value(kind)}"
        return self.random.choice(
            (compare, compare, "n > m", "(t & 5) == 1", f"{compare} && t > m")
        )

    def block(self, depth: int) -> Iterator[str]:
        pad = "  " * depth
        for _ in range(self.random.randint(1, 5)):
            self.left -= 1
            if self.left < 0:
                break
            yield from (pad + line for line in self.statement(depth))
        yield pad + ";"

    def statement(self, depth: int) -> list[str]:
        kinds = [self.assign, self.assign, self.memory, self.memory, self.special]
        if depth < 5:
            kinds += [self.branch, self.branch, self.loop]
        return self.random.choice(kinds)(depth)

    def assign(self, depth: int) -> list[str]:
        kind = self.random.choice(list(_TYPES))
        form = self.random.choice(_INT if kind in ("int", "u64", "short") else _REAL)
        return [f"{self.value(kind)} = {form.format(self.value(kind), self.value(kind))};"]

    def memory(self, depth: int) -> list[str]:
        kind = self.random.choice(list(_TYPES))
        array, name, index = kind[0].upper(), self.value(kind), self.value("int")
        return [
            self.random.choice(
                (
                    f"{name} = {array}[{index} & 1023];",
                    f"{array}[({index} & 1023) + t] = {name};",
                    f"L[{index} & 63] = {self.value('int')};",
                    f"{self.value('int')} = L[{index} & 63];",
                    f"{name} += {array}[n + {self.random.randint(0, 99)}];",
                )
            )
        ]

    def special(self, depth: int) -> list[str]:
        name, other = self.value("int"), self.value("int")
        return [
            self.random.choice(
                (
                    f"{name} = __builtin_amdgcn_readfirstlane({other});",
                    f"__atomic_fetch_add(I + ({other} & 63), {name}, __ATOMIC_RELAXED);",
                    f"{name} = __atomic_fetch_add(I + {other}, 1, __ATOMIC_RELAXED);",
                    "__builtin_amdgcn_s_barrier();",
                    f"{name} = __builtin_popcount({other});",
                    f"{self.value('double')} += (double){self.value('float')};",
                )
            )
        ]

    def branch(self, depth: int) -> list[str]:
        lines = [f"if ({self.condition()}) {{", *self.block(depth), "}"]
        if self.random.random() < 0.5:
            lines += ["else {", *self.block(depth), "}"]
        return lines

    def loop(self, depth: int) -> list[str]:
        self.loops += 1
        counter = f"k{self.loops}"
        bound = self.random.choice(("n", "t & 7", "m", f"{self.value('int')} & 15"))
        leave = self.random.choice(
            ("", f"if ({self.condition()}) break;", f"if ({self.condition()}) continue;")
        )
        body = [*self.block(depth), leave, *self.block(depth)]
        return [f"for (int {counter} = 0; {counter} < ({bound}); ++{counter}) {{", *body, "}"]


def source(random: Random, kernels: int) -> str:
    """A freestanding HIP source with `kernels` kernels: `kernel0`, `kernel1`, …"""
    return _BEGIN + "".join(_Kernel(random).text(number) for number in range(kernels))
