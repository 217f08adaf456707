"""Assembly text against outside truths, and as a whole where it is cut, padded or hostile."""

from __future__ import annotations

import csv
import re
from collections import Counter
from pathlib import Path

import pytest

from kernelinfo import Kernel, Options, Problem, Result, analyse

from ...conftest import FIXTURES, needs_corpus
from ...test_golden import run

SHARED = Path(__file__).resolve().parents[4] / "shared"
COMMENTED = (FIXTURES / "assembly" / "occupancy-clang22-gfx90a.s").read_text()
BARE = re.sub(r"(?m)[ \t]*;.*\n?$", "", COMMENTED)
"""As `-fno-verbose-asm` writes it."""


def read(text: str, folder: Path) -> tuple[list[Kernel], list[str]]:
    """Kernels and messages of a text."""
    (folder / "k.s").write_text(text)
    items = list(analyse([str(folder / "k.s")], Options()))
    messages: list[str] = [item.message for item in items if isinstance(item, Problem)]
    return [item.kernel for item in items if isinstance(item, Result)], messages


TARGETS = {
    "amdgcn-amd-amdhsa--gfx906+sram-ecc": (3, "gfx906", "off", "on"),
    "amdgcn-amd-amdhsa--gfx900+xnack": (3, "gfx900", "on", "off"),
    "amdgcn-amd-amdhsa--gfx90a": (4, "gfx90a", "any", "any"),
    "amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-": (6, "gfx90a", "off", "on"),
    "amdgcn-amd-amdpal--gfx1030": (5, "gfx1030", "unsupported", "unsupported"),
    "amdgpu9.42-amd-amdhsa-unknown-gfx942": (6, "gfx942", "any", "any"),
    "amdgpu9.0a-amd-amdhsa-unknown-": (6, "gfx90a", "any", "any"),
    "amdgpu10.30-amd-amdhsa": (6, "gfx1030", "unsupported", "unsupported"),
    "amdgcn-amd-amdhsa--gfx9-4-generic": (6, "gfx9-4-generic", "any", "any"),
    "amdgpu12.50s-amd-amdhsa-unknown-gfx1250-strict": (6, "gfx1250-strict", None, "any"),
    "amdgcn-amd-amdhsa--gfx1399": (6, "gfx1399", None, None),
}
"""Code object version, target, XNACK and SRAMECC by spelling (AMDGPUUsage, "Target Triples")."""


def test_all_spellings_of_a_target(tmp_path: Path) -> None:
    wrong = {}
    for spelling, (version, *expected) in TARGETS.items():
        begin = f'.amdgcn_target "{spelling}"\n.amdhsa_code_object_version {version}\n'
        [kernel], _ = read(f"{begin}.amdhsa_kernel k\n.end_amdhsa_kernel\n", tmp_path)
        features = kernel.code_object.features
        if [kernel.code_object.target, features.xnack, features.sramecc] != expected:
            wrong[spelling] = kernel.code_object
    assert not wrong


NO_XNACK = ".amdhsa_reserve_flat_scratch 0\n.amdhsa_reserve_xnack_mask 0"
RESERVED = [
    ("", "gfx90a", None, None),
    (".amdhsa_next_free_vgpr 41\n.amdhsa_next_free_sgpr 97", "gfx90a", 48, 104),
    (".amdhsa_next_free_vgpr 0\n.amdhsa_next_free_sgpr 0", "gfx90a", 8, 8),
    (".amdhsa_next_free_sgpr 8\n.amdhsa_reserve_flat_scratch 0", "gfx90a:xnack-", None, 16),
    (".amdhsa_next_free_sgpr 5\n.amdhsa_reserve_flat_scratch 0", "gfx90a", None, 16),
    (".amdhsa_next_free_sgpr 3\n.amdhsa_reserve_vcc 0", "gfx942", None, 16),
    (f".amdhsa_next_free_sgpr 16\n.amdhsa_reserve_vcc 0\n{NO_XNACK}", "gfx942", None, 16),
    (".amdhsa_next_free_vgpr 41\n.amdhsa_next_free_sgpr 9", "gfx1100", 48, None),
    (".amdhsa_next_free_vgpr 41\n.amdhsa_wavefront_size32 0", "gfx1100", 44, None),
    (".amdhsa_next_free_vgpr 41", "gfx1250", 48, None),
    (".amdhsa_next_free_sgpr 5", "gfx802", None, 96),
    (".amdhsa_next_free_vgpr 41\n.amdhsa_next_free_sgpr 9", "gfx1399", None, None),
]
"""VGPRs and SGPRs that llvm-mc encodes for directives."""


def test_reserved_registers_are_rounded_as_the_assembler_encodes_them(tmp_path: Path) -> None:
    wrong = []
    for directives, target, vgprs, sgprs in RESERVED:
        begin = f'.amdgcn_target "amdgcn-amd-amdhsa--{target}"\n.amdhsa_code_object_version 5\n'
        text = f"{begin}.amdhsa_kernel k\n{directives}\n.end_amdhsa_kernel\n"
        [kernel], _ = read(text, tmp_path)
        numbers = kernel.numbers
        if (numbers.reserved_vgprs, numbers.reserved_sgprs) != (vgprs, sgprs):
            wrong.append((directives, target, numbers))
    assert not wrong


NAMES = ("nan", "inf", "n", "yes", "true", "~", "null", "0x10", "010", "1e5", "1_000", "-1")


def test_a_name_is_text_whatever_it_looks_like(tmp_path: Path) -> None:
    for form in ("{}", "'{}'", '"{}"', "!str {}", "!str '{}'"):
        elements = "".join(
            f"  - .name: {form.format(name)}\n    .vgpr_count: 7\n"
            for name in (*NAMES, "2001-01-01")
        )
        text = '.amdgcn_target "amdgcn-amd-amdhsa--gfx90a"\n\t.amdgpu_metadata\n---\n'
        text += f"amdhsa.kernels:\n{elements}...\n.end_amdgpu_metadata\n"
        kernels, _ = read(text, tmp_path)
        assert [kernel.symbol for kernel in kernels] == [*NAMES, "2001-01-01"], form
        assert {kernel.numbers.vgprs for kernel in kernels} == {7}


CODE = {
    "\ts_barrier /* one */ ; two": 1,
    "\ts_barrier /* one\n two */\n\ts_barrier": 2,
    "a: /* one\n */ s_nop 0 /* two\n */\n\ts_barrier": 1,
    "/* one\n s_barrier */ s_barrier": 1,
    "/* /* */ s_barrier // */ /*\n\ts_barrier ; /*\n\ts_barrier": 3,
    '\t.ascii "/*" /* " */, "*/"\n\ts_barrier': 1,
    "  # s_barrier /*\n\ts_barrier": 1,
    "b: # /*\n lost */ lost\n\ts_barrier": 1,
    "# one /*\n\ts_barrier": 1,
    "\ts_barrier /* no end\n\ts_barrier\n": 2,
}
"""How often the instruction is code, as llvm-mc 22 reads each of them."""


def test_comments_hold_no_code(tmp_path: Path) -> None:
    head = '.amdgcn_target "amdgcn-amd-amdhsa--gfx90a"\n.amdhsa_kernel k\n.end_amdhsa_kernel\nk:\n'
    wrong = {}
    for text, count in CODE.items():
        [kernel], _ = read(head + text, tmp_path)
        assert kernel.code
        if kernel.code.barriers != count:
            wrong[text] = kernel.code.barriers
    assert not wrong


def facts(kernels: list[Kernel]) -> list[object]:
    return [(kernel.symbol, kernel.traits, kernel.code) for kernel in kernels]


def test_a_text_is_read_in_parts_as_whole(tmp_path: Path) -> None:
    """Wherever the text stands in it: it is read in windows of some KiB."""
    text = (FIXTURES / "assembly" / "fewsgprs-clang22-gfx802.s").read_text()
    whole, _ = read(text, tmp_path)
    for size in (*range(4097, 8192, 41), (1 << 18) - 500, (1 << 20) - 500):
        assert facts(read(f"/*{' ' * size}\n*/\n{text}", tmp_path)[0]) == facts(whole), size


def passes(text: str, folder: Path) -> bool:
    (folder / "k.s").write_text(text)
    return run("check", "k.s", folder=folder)[2] != 2


@pytest.mark.parametrize("text", [COMMENTED, BARE], ids=["with comments", "without comments"])
def test_a_cut_text_fails_the_gate(text: str, tmp_path: Path) -> None:
    assert passes(text, tmp_path)
    lines = text[: text.index("\n...\n")].splitlines(keepends=True)
    ends = re.compile(r"\.Lfunc_end|\t\.end_amdhsa|\t\.size")
    behind = [at for at, line in enumerate(lines) if ends.match(line)]
    cuts = sorted({*range(1, len(lines), 53), *behind, *(at + 1 for at in behind)})
    assert [at for at in cuts if passes("".join(lines[:at]), tmp_path)] == []


INFO = "; Kernel info:\n; NumVgprs: 4"
TARGET = '.amdgcn_target "amdgcn-amd-amdhsa--gfx90a"\n'
YAML = "\t.amdgpu_metadata\n"
CODE_OF_K = f"{TARGET}.amdhsa_kernel k\n.end_amdhsa_kernel\nk:\n; %bb.0:\n"
SPILLING = f"{CODE_OF_K}\ts_swappc_b64 s[30:31], s[4:5]\n\tv ; 4-byte Folded Spill\n"
HOSTILE = [
    "; NumVgprs: 4 " * 100_000,
    ".set .set " * 100_000,
    f"{TARGET}\t.amdhsa_kernel k{' ' * 1_000_000}x\n",
    f"{TARGET}{INFO}{' ' * 1_000_000}x\n",
    f"{TARGET}{INFO}\n" * 500,
    TARGET + YAML * 10_000,
    f"{TARGET}{YAML}amdhsa.kernels:\n  - .name: k{' ' * 1_000_000}:\n",
    CODE_OF_K + "; %bb.1:   ;   in Loop: Header=BB0_1 Depth=1\n" * 20_000,
    CODE_OF_K + "\t;\n" * 300_000 + "-byte Folded ",
    *(f"{SPILLING}\t.loc 0 ;{part * 300_000}\n" for part in (" ", ":1", ":", "1:1")),
    *(f"{SPILLING}\ts_add_u32 s4,{part * 100_000}\n" for part in (" ", "a@", " @rel32 ")),
]


def test_hostile_text_comes_to_an_end(tmp_path: Path) -> None:
    """Twice the length squared would take longer than a test may."""
    for text in HOSTILE:
        for kernel in read(text, tmp_path)[0]:
            assert not kernel.code or kernel.code.spills == text.count("4-byte Folded Spill")


def _texts(index: str) -> list[dict[str, str]]:
    with (SHARED / index).open(newline="") as rows:
        return list(csv.DictReader(rows))


@needs_corpus
def test_every_kernel_of_the_corpus_is_found_and_its_sources_agree() -> None:
    """LLVM up to 16 states XNACK's SGPRs as reserved and does not count them itself."""
    wrong: list[tuple[str, str, str]] = []
    for row in _texts("corpus/INDEX.csv"):
        if row["kind"] not in ("text", "text bundle"):
            continue
        items = list(analyse([str(SHARED / "corpus" / row["file"])], Options()))
        results = [item for item in items if isinstance(item, Result)]
        found = Counter(result.kernel.code_object.target for result in results)
        expected = Counter[str | None]()
        for target, _, count in (part.rpartition("=") for part in row["targets=kernels"].split()):
            # The index spells features, and XNACK as code object v2 did.
            expected[target.partition(":")[0].replace("gfx901", "gfx900")] += int(count)
        del found[None]
        is_whole = not expected.pop("?", 0)  # else kernels are of one of several targets
        if not expected <= found or (is_whole and found != +expected):
            wrong.append((row["file"], f"{found}, not {expected}", ""))
        wrong += [
            (row["file"], result.kernel.symbol, finding.message)
            for result in results
            for finding in result.findings
            if finding.rule == "KI004" and "SGPRs allocated" not in finding.message
        ]
    assert wrong == []


@needs_corpus
def test_hostile_files_come_to_an_end() -> None:
    for row in _texts("hostile/INDEX.csv"):
        if row["file"].startswith("text/"):
            list(analyse([str(SHARED / "hostile" / row["file"])], Options()))


@needs_corpus
def test_every_compiler_comments_its_spills() -> None:
    """Spill counts of the metadata and comments in the text agree on who spills to scratch."""
    compared, wrong = 0, []
    for path in sorted(SHARED.glob("corpus/core/*.s")):
        for item in analyse([str(path)], Options()):
            kernel = item.kernel if isinstance(item, Result) else None
            if kernel and kernel.numbers.vgpr_spills is not None and kernel.code:
                if kernel.code.spills is None:
                    continue
                moved = kernel.code.spills + (kernel.code.agpr_moves or 0)
                compared += 1
                if (moved > 0) != (kernel.numbers.vgpr_spills > 0):
                    wrong.append((path.name, kernel.symbol))
    assert wrong == []
    assert compared > 500
