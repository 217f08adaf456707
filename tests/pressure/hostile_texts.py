"""Generated assembly that no compiler writes: large graphs, large counts, odd lines."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

from . import texts

ADD = "\tv_add_u32_e32 v0, v1, v2\n"
_BLOCKS = 30_000


def blocks(count: int, ways: Callable[[int], Iterator[int]], body: str = ADD) -> str:
    """A kernel of `count` labelled blocks. `ways` gives the blocks that each may branch to."""
    lines = []
    for number in range(count):
        lines.append(f".LBB0_{number}:\n{body}")
        lines += [f"\ts_cbranch_scc1 .LBB0_{way % count}\n" for way in ways(number)]
    return texts.module("".join(lines))


def nested_loops(count: int) -> str:
    """Nested loops, each with a register of its own."""
    heads = "".join(f".LBB0_{n}:\n\tv_mov_b32_e32 v{n % 256}, v0\n" for n in range(count))
    ends = "".join(f"\ts_cbranch_scc1 .LBB0_{n}\n{ADD}" for n in reversed(range(count)))
    return texts.module(heads + ends)


def _random_ways(seed: int, reach: int) -> Callable[[int], Iterator[int]]:
    chance = random.Random(seed)
    return lambda number: iter([number + chance.randint(-reach, reach)])


def _masks(count: int) -> str:
    """Lanes turned off many times and woken at the end."""
    off = "".join(
        f"\ts_and_saveexec_b64 s[{2 * (n % 40)}:{2 * (n % 40) + 1}], vcc\n{ADD}"
        for n in range(count)
    )
    on = "".join(
        f"\ts_or_b64 exec, exec, s[{2 * (n % 40)}:{2 * (n % 40) + 1}]\n" for n in range(count)
    )
    return texts.module(off + on)


def _instructions(count: int) -> str:
    """`count` different instructions in one block."""
    chance = random.Random(1)
    return texts.module(
        "".join(
            f"\tv_fma_f32 v{chance.randrange(256)}, v{chance.randrange(256)}, "
            f"v{chance.randrange(256)}, 0x{n:x}\n"
            for n in range(count)
        )
    )


def registers_and_loops(count: int) -> str:
    """Blocks that each read a register, write another one and branch far."""
    chance = random.Random(2)
    lines = []
    for number in range(count):
        lines.append(f".LBB0_{number}:\n\tv_mov_b32_e32 v{number % 255}, v{number * 7 % 251}\n")
        lines.append(f"\ts_cbranch_scc1 .LBB0_{chance.randrange(count)}\n")
        lines.append(f"\ts_cbranch_scc0 .LBB0_{number * 7919 % count}\n")
    return texts.module("".join(lines))


def _many_kernels(count: int, order: Callable[[list[str]], list[str]]) -> str:
    """All code, then all descriptors in `order`, as in hand-written files; a `.file` for each."""
    names = [f"k{n}" for n in range(count)]
    files = "".join(f'\t.file {n} "d" "{name}.hip"\n' for n, name in enumerate(names, 1))
    code = "".join(
        f"\t.globl {name}\n{name}:\n\t.loc {n} 1 1\n{ADD}\ts_endpgm\n"
        for n, name in enumerate(names, 1)
    )
    described = "".join(map(texts.descriptor, order(names)))
    return f"{texts.HEAD}\t.text\n{files}{code}{described}{texts.metadata(names)}"


def _blocks_with_lines(count: int) -> str:
    """Blocks that loop, each from a source line of its own."""
    body = "".join(
        f".LBB0_{n}:\n\t.loc 1 {n + 1} 1\n{ADD}\ts_cbranch_scc1 .LBB0_{n}\n" for n in range(count)
    )
    return texts.module(f'\t.file 1 "d" "k.hip"\n{body}')


def _forwards(seed: int, count: int) -> Callable[[int], Iterator[int]]:
    chance = random.Random(seed)
    return lambda number: iter([chance.randint(min(number + 1, count - 1), count - 1)])


_MANY = 300_000
LARGEST: dict[str, Callable[[], str]] = {
    "a million instructions": lambda: texts.module(ADD * 1_000_000),
    "a ladder": lambda: blocks(_MANY, lambda n: iter([max(n - 1, 0)])),
    "self loops": lambda: blocks(_MANY, lambda n: iter([n])),
    "one common exit": lambda: blocks(_MANY, lambda n: iter([_MANY - 1])),
    "random jumps forwards": lambda: blocks(_MANY, _forwards(5, _MANY)),
    "random jumps": lambda: blocks(_MANY, _random_ways(6, _MANY)),
    "source lines": lambda: _blocks_with_lines(_MANY),
    "a million different instructions": lambda: _instructions(1_000_000),
    "registers that travel far": lambda: registers_and_loops(_MANY // 2),
}
"""Name → generator of a text with 1,000,000 instructions or 300,000 blocks."""

LARGE: dict[str, Callable[[], str]] = {
    "nested loops": lambda: nested_loops(20_000),
    "self loops": lambda: blocks(_BLOCKS, lambda n: iter([n])),
    "a chain backwards": lambda: blocks(_BLOCKS, lambda n: iter([n - 1])),
    "ladders with a common exit": lambda: blocks(_BLOCKS, lambda n: iter([n - 1, _BLOCKS - 1])),
    "a ladder from both ends": lambda: blocks(_BLOCKS, lambda n: iter([-n - 1, n + 2])),
    "jumps of a prime": lambda: blocks(_BLOCKS, lambda n: iter([n * 7919])),
    "two jumps of primes": lambda: blocks(_BLOCKS, lambda n: iter([n * 7919, n * 104_729])),
    "random jumps near": lambda: blocks(_BLOCKS, _random_ways(3, 20)),
    "random jumps far": lambda: blocks(_BLOCKS, _random_ways(4, _BLOCKS)),
    "one head of many loops": lambda: blocks(_BLOCKS, lambda n: iter([0])),
    "blocks without code": lambda: blocks(_BLOCKS, lambda n: iter([n // 2]), ""),
    "registers that travel far": lambda: registers_and_loops(_BLOCKS),
    "masks": lambda: _masks(30_000),
    "different instructions": lambda: _instructions(200_000),
    "kernels described at the end": lambda: _many_kernels(3000, list),
    "kernels described in reverse": lambda: _many_kernels(3000, lambda names: names[::-1]),
    "labels on one line": lambda: texts.module("a: " * 100_000 + "\n" + ADD),
    "unknown instructions": lambda: texts.module(
        "".join(f"\tv_odd{n}x v0\n\tODD{n} v1\n" for n in range(50_000))
    ),
    "variables": lambda: texts.module(
        "".join(
            f"\t;DEBUG_VALUE: f:x{n} <- " + " ".join(f"$vgpr{r}" for r in range(99)) + f"\n{ADD}"
            for n in range(5000)
        )
    ),
    "long branches": lambda: texts.module(
        "".join(
            f"\ts_getpc_b64 s[4:5]\n.Lpost_getpc{n}:\n"
            f"\ts_add_u32 s4, s4, (.LBB0_1-.Lpost_getpc{n})&4294967295\n\ts_setpc_b64 s[4:5]\n"
            for n in range(20_000)
        )
        + f".LBB0_1:\n{ADD}"
    ),
}
"""Name → generator of a large text."""

_OPERANDS: tuple[str, ...] = (
    "",
    ",",
    "v",
    "v[",
    "v]",
    "v[:]",
    "v[5:3]",
    "v[0:9999]",
    "v99999",
    "s[0:1023]",
    "((",
    "[[",
)
_OPERANDS += (
    "'",
    '"',
    '"\\"',
    "/*",
    "*/",
    "/* */",
    "//",
    ";",
    "::",
    ":: ::",
    "0x",
    "9" * 5000,
    "-",
)
_OPERANDS += (
    "\x1b]0;P\x07",
    "\x1b[31m",
    "\u202e",
    "\u0661",
    "\0",
    "\r",
    "\x85",
    "\u2028",
    "<b>",
    "&amp;",
)
_MNEMONICS: tuple[str, ...] = (
    "v_mov_b32",
    "s_branch",
    "s_cbranch_vccnz",
    "s_clause",
    "v_dual_mov_b32",
    "s_setpc_b64",
)
_MNEMONICS += (
    "s_mov_b64 exec,",
    "s_and_saveexec_b64",
    "s_or_b64 exec, exec,",
    "exp mrt0",
    "\t.loc 1",
)
_MNEMONICS += (".file 1", ".type", ".size", ";DEBUG_VALUE: f:", "; kill: def", "; implicit-def:")
_MNEMONICS += ("s_set_vgpr_msb", "s_setreg_b32", ".long", "v_wmma", "label")

SMALL: dict[str, str] = {
    f"{mnemonic.strip()} {position}": texts.module(f"{ADD}\t{mnemonic} {operand}\n{ADD}")
    for mnemonic in _MNEMONICS
    for position, operand in enumerate(_OPERANDS)
}
"""Name → text with one odd line."""

CALLS: dict[str, str] = {
    f"{line} before a call": texts.module(
        f"\ts_getpc_b64 s[4:5]\n\t{line}\n\ts_swappc_b64 s[30:31], s[4:5]\n{ADD}"
    )
    for line in (
        "s_getpc_b64 x[4:5]",
        "v_writelane_b32 v1",
        "v_readlane_b32 s4",
        "s_add_u32 s4",
        "s_load_dwordx2 s[4:5], s[4:5]",
    )
}
"""Name → text of a call behind a line without its operands."""
