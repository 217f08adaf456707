"""The gate's contract as a table: what is configured and built, what is asked, what is answered.

Each scenario is a folder `build/` of assembly, a `kernelinfo.toml`, maybe a baseline made of an
earlier build, and the arguments of `kernelinfo check`. The exit code and one line of its output are
what a user is promised.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from kernelinfo.render import CHECK_FORMATS
from tests.test_golden import run

OLD, NEW = "clang version 19.1.7", "clang version 22.1.8"
SAXPY, SCALE = "saxpy", "scale"
GEMM_DOUBLE, GEMM_SHORT = "_Z4gemmIdEvPT_", "_Z4gemmIsEvPT_"
V1_GEMM, V2_GEMM = "_ZN2v14gemmIfEEvPT_", "_ZN2v24gemmIfEEvPT_"
BASELINE = 'baseline = "b.json"\n'
PATHS = 'paths = ["build"]\n'

DESCRIPTOR = """\
{name}:
  s_endpgm
.amdhsa_kernel {name}
  .amdhsa_next_free_vgpr {vgprs}
  .amdhsa_next_free_sgpr 8
  {accum_offset}
  .amdhsa_private_segment_fixed_size {scratch}
.end_amdhsa_kernel
"""
METADATA = """\
  - .name: {name}
    .symbol: {name}.kd
    .private_segment_fixed_size: {scratch}
    .sgpr_spill_count: 0
    .vgpr_count: {vgprs}
    .vgpr_spill_count: {spills}
"""


@dataclass(frozen=True)
class K:
    """A kernel of the build."""

    name: str
    vgprs: int = 64
    spills: int = 0
    scratch: int = 0


def assembly(*kernels: K, target: str = "gfx90a", stamps: tuple[str, ...] = (OLD,)) -> str:
    """Assembly text of these kernels."""
    offset = ".amdhsa_accum_offset 4" if target == "gfx90a" else ""
    values = [vars(kernel) | {"accum_offset": offset} for kernel in kernels]
    return "".join(
        [
            f'.amdgcn_target "amdgcn-amd-amdhsa--{target}"\n',
            *(DESCRIPTOR.format(**one) for one in values),
            *(f'.ident "{stamp}"\n' for stamp in stamps),
            ".amdgpu_metadata\n---\namdhsa.kernels:\n",
            *(METADATA.format(**one) for one in values),
            f"amdhsa.target: amdgcn-amd-amdhsa--{target}\namdhsa.version: [1, 2]\n...\n",
            ".end_amdgpu_metadata\n",
        ]
    )


METADATA_OF_SCALE = METADATA.format(**vars(K(SCALE)))
Files = dict[str, str]


def compiled(text: str) -> str:
    """The text with the marks that the compiler sets before functions."""
    return text.replace(f"{SAXPY}:\n", f"{SAXPY}: ; -- Begin function {SAXPY}\n", 1)


def cut(text: str) -> str:
    """A compiler's text that ends after its first kernel."""
    return compiled(text).partition(f"{SCALE}:\n")[0]


POINTER = f"""\
version https://git-lfs.github.com/spec/v1
oid sha256:{"4d7a2146" * 8}
size 12345
"""
TWO: Files = {"a.s": assembly(K(SAXPY)), "b.s": assembly(K(SCALE))}
BIGGER: Files = {"a.s": assembly(K(SAXPY, vgprs=80)), "b.s": TWO["b.s"]}


@dataclass(frozen=True)
class Scenario:
    """One row."""

    what: str
    code: int
    line: str
    """Stands in standard output or standard error; "" for none."""
    build: Files = field(default_factory=lambda: TWO)
    arguments: str = ""
    config: str = ""
    before: Files | None = None
    """The build that the baseline is made of."""
    prepare: Callable[[Path], object] = lambda _: None
    """A preparation of the folder before the run."""


def emptied(folder: Path, *, whole: bool) -> None:
    """The baseline without kernels, or without the waves, spills and scratch of them."""
    document = json.loads((folder / "b.json").read_text())
    if whole:
        document["kernels"] = {}
    for kernels in document["kernels"].values():
        for kernel in kernels:
            kernel |= dict.fromkeys(("waves", "vgpr-spill", "sgpr-spill", "scratch"))
    (folder / "b.json").write_text(json.dumps(document))


def no_waves(folder: Path) -> None:
    text = (folder / "b.json").read_text()
    (folder / "b.json").write_text(text.replace('"waves":8,', '"waves":null,'))


def replaced_by_link(path: Path) -> None:
    """A link to nothing instead of a file."""
    path.unlink()
    path.symlink_to("nowhere")


SCENARIOS = [
    Scenario("all is well", 0, "kernelinfo check passed: nothing found · 2 kernels"),
    # Expectations of a run
    Scenario(
        "--min-kernels holds for the whole build",
        2,
        "2 kernels found, at least 3 expected; see --min-kernels",
        arguments="--min-kernels 3",
    ),
    Scenario(
        "--min-kernels holds where a path is named",
        2,
        "1 kernel found, at least 2 expected; see --min-kernels",
        arguments="build/a.s --min-kernels 2",
    ),
    Scenario(
        "--min-kernels holds with -k",
        2,
        "1 kernel found, at least 2 expected; see --min-kernels",
        arguments="-k saxpy --min-kernels 2",
    ),
    Scenario(
        "--min-kernels holds with --subset",
        2,
        "1 kernel found, at least 2 expected; see --min-kernels",
        arguments="--subset build/a.s --min-kernels 2",
    ),
    Scenario(
        "the configuration's min-kernels holds for the whole build",
        2,
        "2 kernels found, at least 40 expected; see expect.min-kernels",
        config="expect = { min-kernels = 40 }",
    ),
    Scenario(
        "and where the paths named are the configuration's",
        2,
        "2 kernels found, at least 40 expected; see expect.min-kernels",
        arguments="./build",
        config="expect = { min-kernels = 40 }",
    ),
    Scenario(
        "of a part a line states that it was not checked",
        0,
        "not checked: expect.min-kernels = 40",
        arguments="--subset build/a.s",
        config="expect = { min-kernels = 40 }",
    ),
    Scenario(
        "and the answer says of how much it passed",
        0,
        "passed: nothing found · 1 kernel · only of build/a.s, -k sax*",
        arguments="build/a.s -k sax*",
    ),
    Scenario(
        "of files of many by their number",
        0,
        "passed: nothing found · 1 kernel · only of 1 path",
        arguments="--subset build/a.s",
    ),
    Scenario(
        "a target that nothing was built for",
        2,
        "no kernel is for gfx942, those built are for gfx90a; build it, or remove it from target",
        config='target = ["gfx90a", "gfx942"]',
    ),
    Scenario(
        "by its older name",
        2,
        "no kernel is for gfx942, those built are for gfx90a; build it, or remove it from target",
        config='arch = ["gfx90a", "gfx942"]',
    ),
    Scenario(
        "of a part a line states that",
        0,
        "not checked: target gfx942, which no kernel of this part is for",
        arguments="-k saxpy",
        config='target = ["gfx90a", "gfx942"]',
    ),
    Scenario(
        "no kernel of any target",
        2,
        "none of 2 kernels is for gfx942, but for gfx90a; see target",
        config='target = ["gfx942"]',
    ),
    Scenario(
        "both names of one key",
        2,
        "kernelinfo.toml:3: arch: is the older name of target, which is set too; keep one",
        config='target = ["gfx90a"]\narch = ["gfx942"]',
    ),
    Scenario(
        "no rule is left",
        2,
        "no rule, budget or baseline is selected: nothing is checked",
        arguments="--ignore KI",
    ),
    Scenario(
        "no rule is left for a part, whose kernels are not counted",
        2,
        "no rule, budget or baseline is selected: nothing is checked",
        config="expect = { min-kernels = 40 }",
        arguments="--ignore KI build/a.s",
    ),
    # Choices that no kernel answers
    Scenario(
        "a name without a kernel next to one that has some",
        2,
        "build: -k nope matches no kernel",
        arguments="-k nope -k saxpy",
    ),
    Scenario(
        "with the nearest name",
        2,
        "build: -k scael matches no kernel; did you mean scale?",
        arguments="-k scael -k saxpy",
    ),
    Scenario(
        "a target without a kernel next to one that has some",
        2,
        "build: --target gfx942 matches no kernel",
        arguments="--target gfx942 --target gfx90a",
    ),
    Scenario(
        "a target without a chosen kernel",
        2,
        "build: --target gfx942 matches no kernel",
        build=TWO | {"b.s": assembly(K(SCALE), target="gfx942")},
        arguments="-k saxpy --target gfx942 --target gfx90a",
    ),
    Scenario(
        "pinning is refused, too",
        2,
        "b.json: left unchanged: not all inputs could be read, build: -k nope matches no kernel",
        arguments="-k nope -k saxpy --baseline b.json --update-baseline",
    ),
    Scenario(
        "of files of many it is not checked",
        0,
        "not checked: -k nope, --target gfx942, which no kernel of this part matches",
        arguments="--subset build/a.s -k nope -k saxpy --target gfx942 --target gfx90a",
    ),
    Scenario(
        "a path of the configuration without a file",
        2,
        "build/none/*.s: matches no file; check the pattern",
        config='paths = ["build", "build/none/*.s"]',
    ),
    Scenario(
        "a path of the configuration without a kernel",
        2,
        "host: no AMD GPU kernel found",
        config='paths = ["build", "host"]',
        prepare=lambda folder: (folder / "host").mkdir(),
    ),
    # Budgets and workgroup sizes
    Scenario(
        "a budget is broken",
        1,
        "error KI206 saxpy (gfx90a): 64 VGPRs used, and the budget is vgpr ≤ 32",
        config='[[budget]]\nkernel = "saxpy"\nvgpr = 32',
    ),
    Scenario(
        "a budget behind an earlier one",
        0,
        "kernelinfo.toml:4: note KI206 saxpy: all its kernels belong to an earlier budget (*)",
        config='[[budget]]\nscratch = 64\n[[budget]]\nkernel = "saxpy"\nvgpr = 32',
    ),
    Scenario(
        "a budget for no kernel",
        0,
        "note KI206 gone*: no kernel is named gone*: the budget guards nothing",
        config='[[budget]]\nkernel = "gone*"\nvgpr = 32',
    ),
    Scenario(
        "of a part a line states that",
        0,
        "not checked: [[budget]] scale, which no kernel of this part matches",
        arguments="build/a.s",
        config='[[budget]]\nkernel = "scale"\nvgpr = 32',
    ),
    Scenario(
        "a suppression that excuses nothing",
        0,
        "note KI506 KI101 scale: the suppression of KI101 of scale excuses nothing; remove it",
        config='[[suppress]]\nrule = "KI101"\nkernel = "scale"\nreason = "known"',
    ),
    Scenario(
        "of a part a line states that",
        0,
        "not checked: [[suppress]] KI101 of scale, which excuse nothing in this part",
        arguments="build/a.s --subset",
        config='[[suppress]]\nrule = "KI101"\nkernel = "scale"\nreason = "known"',
    ),
    Scenario(
        "budgets whose rule is ignored",
        0,
        "not checked: [[budget]]; KI206 is not selected",
        arguments="--ignore KI206",
        config="[[budget]]\nvgpr = 32",
    ),
    Scenario(
        "a workgroup size for no kernel",
        0,
        "note: kernelinfo.toml: [workgroup-size] 'gone*' is the first for no kernel; correct it",
        config='[workgroup-size]\n"gone*" = 256',
    ),
    Scenario(
        "a workgroup size behind an earlier one",
        0,
        "note: kernelinfo.toml: [workgroup-size] 'saxpy' is the first for no kernel; correct it",
        config='[workgroup-size]\n"*" = 256\n"saxpy" = 64',
    ),
    Scenario(
        "of a part a line states that",
        0,
        "not checked: [workgroup-size] scale, which no kernel of this part matches",
        arguments="-k saxpy",
        config='[workgroup-size]\n"scale" = 256',
    ),
    Scenario(
        "two configurations",
        0,
        "note: pyproject.toml: [tool.kernelinfo] is ignored next to kernelinfo.toml; keep one",
        prepare=lambda folder: (folder / "pyproject.toml").write_text("[tool.kernelinfo]\n"),
    ),
    Scenario(
        "a budget without a bound",
        2,
        "kernelinfo.toml:2: budget[0]: bounds nothing; write one of vgpr-spill, sgpr-spill,",
        config='[[budget]]\nkernel = "saxpy"',
    ),
    Scenario(
        "an infinite bound",
        2,
        "kernelinfo.toml:3: budget[0].vgpr: inf; write a number, or",
        config="[[budget]]\nvgpr = 1e400",
    ),
    Scenario(
        "an allowance that no number can be",
        2,
        'kernelinfo.toml:3: gate.vgpr: \'inf\'; write "off", a number, "+8" or "+5%"',
        config='[gate]\nvgpr = "inf"',
    ),
    Scenario(
        "an infinite allowance",
        2,
        'kernelinfo.toml:3: gate.vgpr: inf; write "off", a number, "+8" or "+5%"',
        config="[gate]\nvgpr = 1e400",
    ),
    Scenario(
        "an empty pattern of a budget",
        2,
        "kernelinfo.toml:3: budget[0].kernel: ''; write a name, a glob such as",
        config='[[budget]]\nkernel = ""\nvgpr = 32',
    ),
    Scenario(
        "an empty pattern of a suppression",
        2,
        "kernelinfo.toml:4: suppress[0].kernel: 're:'; write a name, a glob such as",
        config='[[suppress]]\nrule = "KI101"\nkernel = "re:"\nreason = "so"',
    ),
    Scenario(
        "an empty pattern of a workgroup size",
        2,
        "kernelinfo.toml:3: workgroup-size.: ''; write a name, a glob such as",
        config='[workgroup-size]\n"" = 64',
    ),
    # The baseline
    Scenario("nothing moved", 0, "passed: nothing found · 2 kernels", before=TWO),
    Scenario(
        "a wave lost",
        1,
        "error KI501 saxpy (gfx90a): lost 4 waves (8 → 4): 80 VGPRs, the step is ≤ 64",
        before=TWO,
        build=BIGGER,
    ),
    Scenario(
        "what got worse is not selected",
        0,
        "not checked: what got worse since b.json; KI501 is not selected",
        before=TWO,
        build=BIGGER,
        arguments="--ignore KI501",
    ),
    Scenario(
        "a kernel gone",
        2,
        "error KI502 scale (gfx90a): in the baseline, from build/b.s, and not in the build",
        before=TWO,
        build={"a.s": TWO["a.s"]},
    ),
    Scenario(
        "whatever is ignored",
        2,
        "error KI502 scale (gfx90a): in the baseline",
        before=TWO,
        build={"a.s": TWO["a.s"]},
        arguments="--ignore KI502 --exit-zero",
    ),
    Scenario(
        "or selected",
        2,
        "error KI502 scale (gfx90a): in the baseline",
        before=TWO,
        build={"a.s": TWO["a.s"]},
        arguments="--select KI1",
    ),
    Scenario(
        "of a part a line states what was not looked for",
        0,
        "not checked: 1 of the baseline's kernels, which are not in this part",
        before=TWO,
        arguments="build/a.s",
    ),
    Scenario(
        "other template arguments are another kernel",
        2,
        "error KI502 void gemm<double>(double*) (gfx90a): in the baseline",
        before={"a.s": assembly(K(GEMM_DOUBLE))},
        build={"a.s": assembly(K(GEMM_SHORT))},
    ),
    Scenario(
        "another namespace is a rename, which a line states",
        0,
        "renamed void v1::gemm<float>(float*) → void v2::gemm<float>(float*) (gfx90a)",
        before={"a.s": assembly(K(V1_GEMM))},
        build={"a.s": assembly(K(V2_GEMM))},
    ),
    Scenario(
        "and judged",
        1,
        "lost 4 waves (8 → 4): 80 VGPRs, the step is ≤ 64 (as void v1::gemm<float>(float*))",
        before={"a.s": assembly(K(V1_GEMM))},
        build={"a.s": assembly(K(V2_GEMM, vgprs=80))},
    ),
    Scenario(
        "an empty baseline",
        2,
        "b.json: pins none of the 2 kernels found: nothing is compared; pin them with",
        before=TWO,
        prepare=lambda folder: emptied(folder, whole=True),
    ),
    Scenario(
        "a baseline without numbers",
        2,
        "b.json: has no comparable number of saxpy and 1 more; pin anew with",
        before=TWO,
        prepare=lambda folder: emptied(folder, whole=False),
    ),
    Scenario(
        "a baseline without the waves",
        0,
        "note KI504 saxpy (gfx90a): the baseline does not have waves: not compared",
        before=TWO,
        prepare=no_waves,
    ),
    Scenario(
        "a baseline that is a pipe",
        2,
        "b.json: is no regular file; give another file",
        prepare=lambda folder: os.mkfifo(folder / "b.json"),
        arguments="--baseline b.json",
    ),
    Scenario(
        "a configuration that is a folder",
        2,
        "own.toml: is no regular file; give another file",
        prepare=lambda folder: (folder / "own.toml").mkdir(),
        arguments="--config own.toml",
    ),
    Scenario(
        "a kernel gone of the paths that a pattern names",
        2,
        "error KI502 scale (gfx90a): in the baseline",
        before=TWO,
        build={"a.s": TWO["a.s"]},
        arguments="build/**/*.s",
    ),
    Scenario(
        "a second copy of a pinned kernel is compared, too",
        1,
        "error KI501 saxpy (gfx90a): lost 4 waves (8 → 4): 80 VGPRs, the step is ≤ 64"
        " (pinned in build/a.s)",
        before=TWO,
        build=TWO | {"copy.s": BIGGER["a.s"]},
    ),
    Scenario(
        "a second copy that did not change is new",
        0,
        "note KI503 saxpy (gfx90a): not in the baseline",
        before=TWO,
        build=TWO | {"copy.s": TWO["a.s"]},
    ),
    Scenario(
        "of several pinned ones a copy is compared with one that it is no worse than",
        0,
        "note KI503 saxpy (gfx90a): not in the baseline",
        before={"a.s": assembly(K(SAXPY)), "b.s": assembly(K(SAXPY, vgprs=80))},
        build={
            "a.s": assembly(K(SAXPY)),
            "b.s": assembly(K(SAXPY, vgprs=80)),
            "c.s": assembly(K(SAXPY, vgprs=72)),
        },
    ),
    # Counts
    Scenario(
        "a file that is named three times counts once",
        2,
        "2 kernels found, at least 3 expected; see expect.min-kernels",
        config='paths = ["build/a.s", "build/a.s", "build/b.s"]\nexpect = { min-kernels = 3 }',
    ),
    Scenario(
        "a link counts as its file",
        2,
        "2 kernels found, at least 3 expected; see expect.min-kernels",
        config='paths = ["build/*.s"]\nexpect = { min-kernels = 3 }',
        prepare=lambda folder: (folder / "build" / "link.s").symlink_to("a.s"),
    ),
    # Unreadable inputs
    Scenario(
        "a pointer of Git LFS",
        2,
        "build/c.co: is a pointer of Git LFS; fetch the file by `git lfs pull`",
        build=TWO | {"c.co": POINTER},
    ),
    Scenario(
        "a pointer of Git LFS instead of a library",
        2,
        "build/libfoo.so.1: is a pointer of Git LFS; fetch the file by `git lfs pull`",
        build=TWO | {"libfoo.so.1": POINTER},
    ),
    Scenario(
        "a pointer of Git LFS among those of pre-commit",
        2,
        "build/c.s: is a pointer of Git LFS; fetch the file by `git lfs pull`",
        build=TWO | {"c.s": POINTER},
        arguments="--subset build/a.s build/c.s",
    ),
    Scenario(
        "a pointer of Git LFS that is no code",
        0,
        "passed: nothing found · 2 kernels",
        build=TWO | {"logo.png": POINTER},
    ),
    Scenario(
        "a link to nothing with the name of code",
        2,
        "build/c.s: is a link to nothing; build again what it leads to",
        prepare=lambda folder: (folder / "build" / "c.s").symlink_to("nowhere"),
    ),
    Scenario(
        "a configuration that is a link to nothing",
        2,
        "kernelinfo.toml: is a link to nothing; mend or remove it",
        arguments="build",
        prepare=lambda folder: replaced_by_link(folder / "kernelinfo.toml"),
    ),
    Scenario(
        "a pyproject.toml that is a link to nothing",
        2,
        "pyproject.toml: is a link to nothing; mend or remove it",
        arguments="build",
        prepare=lambda folder: replaced_by_link(
            (folder / "kernelinfo.toml").rename(folder / "pyproject.toml")
        ),
    ),
    Scenario(
        "assembly of clang cut before its metadata",
        2,
        "build/a.s: no metadata ends the module, as clang writes it: it may be cut off; build it",
        build={"a.s": assembly(K(SAXPY)).partition(".amdgpu_metadata")[0]},
    ),
    Scenario("an empty file", 2, "build/c.s: is empty; build it again", build=TWO | {"c.s": ""}),
    Scenario(
        "an empty file among those of pre-commit",
        2,
        "build/c.s: is empty; build it again",
        build=TWO | {"c.s": ""},
        arguments="--subset build/a.s build/c.s",
    ),
    Scenario(
        "a file of zeros",
        2,
        "build/c.hsaco: is all zero, as after an interrupted write; build it again",
        build=TWO | {"c.hsaco": "\0" * 4096},
    ),
    Scenario(
        "assembly cut between kernels",
        2,
        "build/a.s:10: no metadata ends the module: it is cut off; build it again",
        build={"a.s": cut(assembly(K(SAXPY), K(SCALE)))},
    ),
    Scenario(
        "a kernel that the metadata does not list",
        2,
        "build/a.s:12: kernel 'scale': not in the module's metadata; build it again",
        build={"a.s": compiled(assembly(K(SAXPY), K(SCALE)).replace(METADATA_OF_SCALE, ""))},
    ),
    Scenario(
        "kernels written by hand without metadata",
        0,
        "passed: ",
        build={"a.s": assembly(K(SAXPY)).partition(".ident")[0]},
    ),
    # Another compiler
    Scenario(
        "what the whole moved stands first",
        1,
        "b.json: note KI507 toolchain: built by clang version 22.1.8, the baseline by clang "
        "version 19.1.7: 2 of 3 kernels moved, waves/SIMD −16.7 %, 1 kernel lost waves (1 by "
        "VGPR), 1 kernel with more spills or scratch; worst: saxpy (gfx90a): VGPR: 64 → 80 used, "
        "64 → 80 allocated, 8 → 4 waves/SIMD; scale (gfx90a): spills: 0 → 3 VGPRs; its kernels' "
        "waves",
        before={"a.s": assembly(K(SAXPY), K(SCALE), K("same"))},
        build={"a.s": assembly(K(SAXPY, vgprs=80), K(SCALE, spills=3), K("same"), stamps=(NEW,))},
    ),
    Scenario(
        "another compiler is accepted, with spills and scratch",
        0,
        "; all that moved is accepted",
        before={"a.s": assembly(K(SAXPY), K(SCALE))},
        build={"a.s": assembly(K(SAXPY, vgprs=80), K(SCALE, scratch=16), stamps=(NEW,))},
        config='[gate]\ntoolchain-change = "accept"',
    ),
    Scenario(
        "the same compiler is not",
        1,
        "error KI501 saxpy (gfx90a): lost 4 waves (8 → 4): 80 VGPRs",
        before=TWO,
        build=BIGGER,
        config='[gate]\ntoolchain-change = "accept"',
    ),
    Scenario(
        "a stamp with blanks is the same compiler's",
        1,
        "error KI501 saxpy (gfx90a): lost 4 waves (8 → 4): 80 VGPRs",
        before={"a.s": assembly(K(SAXPY))},
        build={"a.s": assembly(K(SAXPY, vgprs=80), stamps=(f" {OLD} ",))},
    ),
    Scenario(
        "another compiler lost a wave",
        0,
        "note KI501 saxpy (gfx90a): lost 4 waves (8 → 4): 80 VGPRs",
        before={"a.s": assembly(K(SAXPY))},
        build={"a.s": assembly(K(SAXPY, vgprs=80), stamps=(NEW,))},
    ),
    Scenario(
        "another compiler spills",
        1,
        "error KI501 saxpy (gfx90a): 0 → 3 VGPRs spilled since the baseline",
        before={"a.s": assembly(K(SAXPY))},
        build={"a.s": assembly(K(SAXPY, spills=3), stamps=(NEW,))},
    ),
    Scenario(
        "another compiler needs scratch",
        1,
        "error KI501 saxpy (gfx90a): 0 → 16 B of scratch per lane since the baseline",
        before={"a.s": assembly(K(SAXPY))},
        build={"a.s": assembly(K(SAXPY, scratch=16), stamps=(NEW,))},
    ),
    Scenario(
        "a foreign stamp next to the compiler's relaxes nothing",
        1,
        "error KI501 saxpy (gfx90a): lost 4 waves (8 → 4): 80 VGPRs",
        before={"a.s": assembly(K(SAXPY))},
        build={"a.s": assembly(K(SAXPY, vgprs=80), stamps=(OLD, NEW))},
    ),
    Scenario(
        "nor does one in another file",
        1,
        "error KI501 saxpy (gfx90a): lost 4 waves (8 → 4): 80 VGPRs",
        before=TWO,
        build={"a.s": BIGGER["a.s"], "b.s": assembly(K(SCALE), stamps=(NEW,))},
    ),
]


def prepared(scenario: Scenario, folder: Path) -> None:
    """Put the scenario's files where the run looks for them."""
    pinned = scenario.before is not None
    config = (
        (PATHS if "paths" not in scenario.config else "")
        + (BASELINE if pinned else "")
        + scenario.config
    )
    (folder / "kernelinfo.toml").write_text(config)
    if scenario.before is not None:
        written(scenario.before, folder)
        _, err, code = run("check", "--update-baseline", folder=folder)
        assert code == 0, err
        for name in scenario.before:
            (folder / "build" / name).unlink()
    written(scenario.build, folder)
    scenario.prepare(folder)


def written(files: Files, folder: Path) -> None:
    (folder / "build").mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / "build" / name).write_text(text)


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda one: f"{one.what} {one.arguments}")
def test_the_gate(scenario: Scenario, tmp_path: Path) -> None:
    prepared(scenario, tmp_path)
    out, err, code = run("check", *scenario.arguments.split(), folder=tmp_path)
    assert scenario.line in out + err
    assert code == scenario.code, out + err


def test_assembly_of_clang_without_metadata_is_a_note_of_the_report(tmp_path: Path) -> None:
    (tmp_path / "a.s").write_text(assembly(K(SAXPY)).partition(".amdgpu_metadata")[0])
    out, err, code = run("a.s", folder=tmp_path)
    assert ("saxpy" in out, code) == (True, 0)
    assert err.startswith("a.s: no metadata ends the module, as clang writes it: it may be cut off")


def test_blanks_of_a_stamp_in_the_baseline(tmp_path: Path) -> None:
    scenario = Scenario("", 1, "", before=TWO, build=BIGGER, prepare=blank_stamps)
    prepared(scenario, tmp_path)
    assert run("check", folder=tmp_path)[2] == 1


def blank_stamps(folder: Path) -> None:
    text = (folder / "b.json").read_text()
    assert f'"{OLD}"' in text
    (folder / "b.json").write_text(text.replace(f'"{OLD}"', f'" {OLD}"'))


ABSENT = 'paths = ["build/*.s", "lib"]\n'


@pytest.mark.parametrize("prepare", ["nothing", "empty folders"])
def test_if_built_passes_where_nothing_is_built(prepare: str, tmp_path: Path) -> None:
    (tmp_path / "kernelinfo.toml").write_text(ABSENT)
    if prepare != "nothing":
        (tmp_path / "build").mkdir()
        (tmp_path / "lib").mkdir()
    assert run("check", folder=tmp_path)[2] == 2
    out, err, code = run("check", "--if-built", folder=tmp_path)
    assert (out, code) == ("", 0)
    assert err == "not checked: nothing is built, none of build/*.s, lib has a file\n"
    arguments = ("--if-built", "--baseline", "b.json", "--update-baseline")
    assert run("check", *arguments, folder=tmp_path)[2] == 2


@pytest.mark.parametrize(
    ("text", "code"),
    [(assembly(K(SAXPY)), 2), ("", 2), (assembly(K(SAXPY, spills=9)), 2)],
    ids=["one of two paths", "an empty file", "a kernel that spills"],
)
def test_if_built_judges_what_is_there(text: str, code: int, tmp_path: Path) -> None:
    (tmp_path / "kernelinfo.toml").write_text(ABSENT)
    written({"a.s": text}, tmp_path)
    assert run("check", "--if-built", folder=tmp_path)[1:] == run("check", folder=tmp_path)[1:]
    assert run("check", "--if-built", folder=tmp_path)[2] == code


@pytest.mark.parametrize("format", CHECK_FORMATS)
def test_the_verdict_is_on_standard_error_where_a_file_takes_the_report(
    format: str, tmp_path: Path
) -> None:
    config = '[[budget]]\nkernel = "saxpy"\nvgpr = 32'
    prepared(Scenario("", 1, "", config=config), tmp_path)
    out, err, code = run("check", "--format", format, "-o", "report", folder=tmp_path)
    assert (out, code) == ("", 1)
    found, outcome = err.splitlines()
    assert "error KI206 saxpy (gfx90a): 64 VGPRs used, and the budget is vgpr ≤ 32" in found
    assert outcome == "kernelinfo check failed: 1 error · 2 kernels · fails on warning (--fail-on)"
    assert (tmp_path / "report").stat().st_size


def test_github_gets_ten_annotations_and_the_worst_first(tmp_path: Path) -> None:
    kernels = [K(f"k{number:02}") for number in range(20)]
    config = '[[budget]]\nkernel = "k1*"\nvgpr = 32\n[[budget]]\nvgpr = 32\n[severity]\n'
    prepared(Scenario("", 1, "", build={"a.s": assembly(*kernels)}, config=config), tmp_path)
    (tmp_path / "build" / "cut.s").write_text("")
    out, _, code = run("check", "--format", "github", folder=tmp_path)
    lines = out.splitlines()
    assert code == 2
    assert len([line for line in lines if line.startswith("::")]) == 10
    assert lines[0].startswith("::error file=build/cut.s,title=cannot answer::is empty")
    assert all("KI206" in line for line in lines[1:21])
    assert lines[10].startswith("build/a.s:")
    assert len(lines) == 22
    assert lines[21].startswith(
        "kernelinfo: failed, and cannot answer for all: 1 problem, 20 errors"
    )


def test_github_s_first_annotation_is_of_the_kernel_that_lost_most(tmp_path: Path) -> None:
    before, after = (64, 64, 64), (72, 200, 72)
    prepared(
        Scenario(
            *("", 1, ""),
            before={"a.s": assembly(*(K(f"k{n}", vgprs=of) for n, of in enumerate(before)))},
            build={"a.s": assembly(*(K(f"k{n}", vgprs=of) for n, of in enumerate(after)))},
        ),
        tmp_path,
    )
    out, _, code = run("check", "--format", "github", folder=tmp_path)
    assert code == 1
    told = [line.rpartition("regression::")[2] for line in out.splitlines()[:3]]
    assert [line.split()[0] for line in told] == ["k1", "k0", "k2"]


def test_init_writes_a_configuration_that_pins_and_judges(tmp_path: Path) -> None:
    written(
        {
            f"a-hip-amdgcn-amd-amdhsa-gfx90a{end}.s": text
            for end, text in (("", TWO["a.s"]), ("-2", TWO["b.s"]))
        },
        tmp_path,
    )
    out, err, code = run("check", "--init", folder=tmp_path)
    assert (err, code) == ("", 0)
    assert out.startswith("kernelinfo.toml: written for 2 kernels; edit it, then `kernelinfo check")
    text = (tmp_path / "kernelinfo.toml").read_text()
    assert 'paths    = ["build/**/*-hip-amdgcn-*.s"]' in text
    assert 'target   = ["gfx90a"]' in text
    assert "min-kernels = 2" in text
    assert "make it by `kernelinfo check --update-baseline`" in run("check", folder=tmp_path)[1]
    assert run("check", "--update-baseline", folder=tmp_path)[1:] == ("", 0)
    assert run("check", folder=tmp_path)[1:] == ("", 0)
    written({"a-hip-amdgcn-amd-amdhsa-gfx90a.s": BIGGER["a.s"]}, tmp_path)
    assert run("check", folder=tmp_path)[2] == 1
    out, err, code = run("check", "--init", folder=tmp_path)
    assert (out, code) == ("", 2)
    assert err == "kernelinfo: kernelinfo.toml: exists already; remove it, or edit it\n"
    assert (tmp_path / "kernelinfo.toml").read_text() == text


def test_init_of_an_empty_tree_writes_nothing(tmp_path: Path) -> None:
    out, err, code = run("check", "--init", folder=tmp_path)
    assert (out, bool(err), code) == ("", True, 2)
    assert list(tmp_path.iterdir()) == []


def test_a_renamed_and_a_removed_file_are_named(tmp_path: Path) -> None:
    (tmp_path / "kernelinfo.toml").write_text('paths = ["build"]\nbaseline = "b.json"\n')
    written(TWO | {"c.s": assembly(K("other"))}, tmp_path)
    assert run("check", "--update-baseline", folder=tmp_path)[2] == 0
    (tmp_path / "build" / "a.s").rename(tmp_path / "build" / "renamed.s")
    _, err, code = run("check", folder=tmp_path)
    assert "note: 1 kernel of build/a.s found in build/renamed.s; pin the change with" in err
    assert code == 0
    (tmp_path / "build" / "b.s").unlink()
    _, err, code = run("check", folder=tmp_path)
    assert "note: build/b.s: its 1 pinned kernel is gone; build it, or drop it with" in err
    assert code == 2
