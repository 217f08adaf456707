"""Random texts as people write them: macros, repetitions, conditions, files, comments, words."""

from __future__ import annotations

from random import Random
from typing import NamedTuple

TARGETS = ("gfx90a", "gfx942", "gfx1100", "gfx1201")
INCLUDED = "part.inc"
_MACROS = """\
.macro .clear first, count
    _v = \\first
    .rept \\count
        v_mov_b32 v[_v], 0 // one more
        _v = _v + 1
    .endr
.endm
.macro v_twice at /* the register */
    v_xor_b32 v\\at, v\\at, v60
    v_xor_b32 v\\at, v\\at, v61
.endmacro
.macro OUTER at
  .macro INNER
    v_mov_b32 v62, v63
  .endm
    v_twice \\at
    .purgem INNER
.endm
"""
_SETTING = """\
.macro number name, value
    .set \\name, \\value
.endm
"""
_FILE = """\
.macro .included at
    v_mov_b32 v\\at, v70
.endm
.macro v_hidden at
    v_mov_b32 v\\at, v71
.endm
"""
_COMMENTS = (
    "/* one line */",
    "/* v_mov_b32 v99, v98\n   s_endpgm */",
    "/*\n\t.amdhsa_kernel ghost\n\t\t.amdhsa_next_free_vgpr 512\n\t.end_amdhsa_kernel\n*/",
    '/* " an open string, ; and // */',
    "; v_mov_b32 v99, v98 /* not open",
    "// v_mov_b32 v99, v98 /* not open",
    "# v_mov_b32 v99, v98 /* not open",
    "#define /* not open",
)
_BEFORE_ENDS = ("", "", "", " // last", " ; /* last", " /* last */", " /* last\n  of two */")
_VALUES = ("0", "7", "-3", "0x7fff1234")


class HandWritten(NamedTuple):
    """A text, the kinds of its parts that are hard to read, and the file that it includes."""

    text: str
    kinds: frozenset[str]
    included: str


class _Writer:
    def __init__(self, random: Random, target: str) -> None:
        self.random = random
        self.target = target
        self.is_true16 = target in ("gfx1100", "gfx1201")
        self.kinds: set[str] = set()
        self.labels = 0
        self.hard = random.random() < 0.7
        self.sets = random.random() < 0.2

    def vgpr(self) -> str:
        number = self.random.randint(0, 40)
        return self.random.choice((f"v{number}", f"v{number}", f"v[BASE+{number}]", f"v[{number}]"))

    def instruction(self) -> str:
        v, pick = self.vgpr, self.random.choice
        add = "v_add_nc_u32" if self.is_true16 else "v_add_u32"
        load, store = ("b32", "b32") if self.is_true16 else ("dword", "dword")
        number = self.random.randint(2, 30)
        forms = [
            f"v_mov_b32 {v()}, {pick((v(), *_VALUES))}",
            f"{add} {v()}, {v()}, {v()}",
            f"v_fma_f32 {v()}, {v()}, {v()}, {v()}",
            f"global_load_{load} {v()}, {v()}, s[0:1]",
            f"global_store_{store} {v()}, {v()}, s[0:1]",
            f"s_add_u32 s{number}, s{number + 1}, {pick(_VALUES)}",
            f"s_mov_b32 s[{number}], s{number + 2}",
            f"v_cmp_gt_u32 vcc{'_lo' if self.is_true16 else ''}, {v()}, {v()}",
            f"v_mov_b32 {v()}, /* split\n in two */ {v()}",
        ]
        if self.is_true16:
            half = [f"v{self.random.randint(0, 40)}.{pick('lh')}" for _ in range(3)]
            forms += [f"v_add_f16 {', '.join(half)}"] * 4
        return pick(forms)

    def line(self) -> str:
        return f"\t{self.instruction()}{self.random.choice(_BEFORE_ENDS)}"

    def hard_part(self) -> list[str]:
        """Lines that need an assembler, or that leave registers open."""
        v, number = self.vgpr, self.random.randint(0, 40)
        parts: dict[str, list[str]] = {
            "macro": [f"\t.clear {number}, {self.random.randint(1, 9)}"],
            "macro ": [f"\tv_twice {number}"],
            "macro  ": [f"\tOUTER {number} /* nested */"],
            "setting": ["\tnumber BASE, 2", f"\tv_mov_b32 v[BASE + {number}], 1", "\tBASE = 0"],
            "include": [f'\t.include "{INCLUDED}"', f"\t.included {number}"],
            "repeat": ["\t.rept 3", self.line(), "\t.endr"],
            "repeat ": ["\t.irp reg, 3, 4, 5", "\tv_mov_b32 v\\reg, v50", "\t.endr"],
            "condition": ["\t.if BASE == 1", self.line(), "\t.else", self.line(), "\t.endif"],
            "condition ": ["\t.ifdef NOTHING", self.line(), "\t.endif"],
            "word": ["\t.long 0x7e0e0301"],
            "branch word": ["\t.long 0xbf820001", "\t.long 0x7e0e0301", "\t.long 0x7e100301"]
            if not self.is_true16
            else ["\t.long 0xbfa00001", "\t.long 0x7e0e0301", "\t.long 0x7e100301"],
            "far word": [
                "\t.long 0xbfa10001" if self.is_true16 else "\t.long 0xbf840001",
                f"\tv_mov_b32 {v()}, 0",
                "\ts_nop 0",
            ],
            "index": [
                "\ts_setreg_imm32_b32 hwreg(HW_REG_MODE, 27, 1), 1",
                f"\tv_mov_b32 {v()}, {v()}",
            ],
            "number": ["\tBASE = BASE + 1", self.line(), "\tBASE = BASE - 1"],
            "fill": ["\t.p2align 4, 0x7e"],
            "gap": ["\t. = . + 8"],
        }
        if not self.sets:
            del parts["setting"]
        if self.is_true16:
            del parts["index"], parts["fill"], parts["gap"]
        if "include" in self.kinds:
            del parts["include"]  # a macro may be defined once
        kind = self.random.choice(list(parts))
        self.kinds.add(kind.strip())
        return parts[kind]

    def block(self, depth: int) -> list[str]:
        lines: list[str] = []
        for _ in range(self.random.randint(1, 6)):
            chance = self.random.random()
            if chance < 0.15:
                lines.append(self.random.choice(_COMMENTS))
            elif chance < 0.25 and self.hard:
                lines += self.hard_part()
            elif chance < 0.4 and depth < 3:
                self.labels += 1
                name = f"L{self.labels}"
                back = self.random.random() < 0.5
                inside = self.block(depth + 1)
                jump = f"\ts_cbranch_scc1 {name}"
                place = self.random.choice((f"{name}: # here", f"{name}:", f"{name}: s_nop 0"))
                lines += [place, *inside, jump] if back else [jump, *inside, place]
            else:
                lines.append(self.line())
        return lines

    def kernel(self, name: str) -> tuple[str, str]:
        """Code and descriptor."""
        pick = self.random.choice
        lines = [f"\t.globl {name}", "\t.p2align 8", f"\t.type {name},@function", f"{name}:"]
        lines += self.block(0) + self.block(0)
        ends = pick(("s_endpgm",) * 8 + ("", "s_rfe_b64 s[2:3]", "s_setpc_b64 s[30:31]"))
        lines += [f"\t{ends}" if ends else pick(("\tv_mov_b32 v1, v2", "\ts_cbranch_scc0 " + name))]
        lines += [f".L{name}_end:", f"\t.size {name}, .L{name}_end-{name}"]
        return "\n".join(lines) + "\n", self.descriptor(name)

    def descriptor(self, name: str) -> str:
        pick = self.random.choice
        fields = [("next_free_vgpr", "96"), ("next_free_sgpr", "40")]
        if not self.is_true16:
            fields.append(("accum_offset", "96"))
        stated = (
            ("user_sgpr_kernarg_segment_ptr", "1"),
            ("user_sgpr_count", pick(("2", "0x8", "BASE + 4", "12 // not 3"))),
            ("system_vgpr_workitem_id", pick(("1", "2", "BASE + 1"))),
            ("group_segment_fixed_size", "1024"),
        )
        fields += [one for one in stated if self.random.random() < 0.5]
        lines = [f"\t.amdhsa_{field} {value}" for field, value in fields]
        lines.insert(
            1, pick(("", "/*\n\t.amdhsa_next_free_vgpr 300\n*/", "# .amdhsa_next_free_vgpr 9"))
        )
        return "\n".join(
            ("\t.section .rodata", f"\t.amdhsa_kernel {name}", *lines, "\t.end_amdhsa_kernel\n")
        )


def hand_written(seed: int) -> tuple[str, HandWritten]:
    """The target and a text that llvm-mc accepts."""
    random = Random(f"hand-written {seed}")
    target = TARGETS[seed % len(TARGETS)]
    writer = _Writer(random, target)
    head = [f'\t.amdgcn_target "amdgcn-amd-amdhsa--{target}"', random.choice(_COMMENTS), "BASE = 0"]
    if writer.hard:
        head += [_MACROS, _SETTING * writer.sets]
        if random.random() < 0.3:
            writer.kinds.add("include")
            head += [f'\t.include "{INCLUDED}"']
    made = [writer.kernel(f"k{number}") for number in range(random.randint(1, 3))]
    if random.random() < 0.2:
        made[0] = (f".if BASE == 0\n{made[0][0]}.endif\n", made[0][1])
        writer.kinds.add("condition")
    descriptors = [descriptor for _, descriptor in made]
    text = "\n".join([*head, "\t.text\n"]) + "".join(code for code, _ in made)
    text += "".join(f"{random.choice(_COMMENTS)}\n{one}" for one in descriptors)
    return target, HandWritten(text, frozenset(writer.kinds), _FILE)
