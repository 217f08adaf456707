"""What the code needs: registers and spill slots alive at once, each value once."""

from __future__ import annotations

import json
import re
import subprocess
from collections import defaultdict
from pathlib import Path

import pytest

from kernelinfo import Story, live_registers

from ..conftest import FIXTURES
from ..test_golden import run
from . import spilling
from .counted_by_walks import counted
from .texts import module

_STORE = "\tscratch_store_dword off, {}, off offset:{} ; 4-byte Folded Spill\n"
_LOAD = "\tscratch_load_dword {}, off, off offset:{} ; 4-byte Folded Reload\n"
_OUT = "\tglobal_store_dword v[0:1], {}, off\n"
_MOVE = "\ts_mov_b32 {}, 0\n"
_FLAT = "\tflat_load_dword v9, v[0:1]\n"


def _measured(body: str, folder: Path) -> Story:
    path = folder / "k.s"
    path.write_text(module(body))
    return live_registers(path, "k")


def _set(*names: str) -> str:
    return "".join(f"\tv_mov_b32_e32 {name}, 0\n" for name in names)


def test_a_slot_counts_as_its_register_did(tmp_path: Path) -> None:
    """v2 goes to memory, v3 takes its place, and both are read: two values besides the address."""
    body = _set("v0", "v1", "v2") + _STORE.format("v2", 4) + _set("v2") + _OUT.format("v2")
    story = _measured(body + _LOAD.format("v2", 4) + _OUT.format("v2"), tmp_path)
    needs = story.needs
    assert needs is not None
    assert (story.peak.pressure.vector, needs.vector, needs.in_memory) == (3, 4, 1)
    assert [live.vgprs for live in story.needs_curve] == [1, 2, 3, 3, 4, 4, 3, 3, 0]


def test_a_value_in_both_counts_once(tmp_path: Path) -> None:
    body = _set("v0", "v1", "v2") + _STORE.format("v2", 4) + _OUT.format("v2")
    story = _measured(body + _LOAD.format("v3", 4) + _OUT.format("v3"), tmp_path)
    assert story.needs is not None
    assert story.needs.vector == 3 == story.peak.pressure.vector


def test_a_value_in_both_on_one_way_counts_twice_behind(tmp_path: Path) -> None:
    """Behind the branch v2 is another value than that of the slot, on one way."""
    body = (
        _set("v0", "v1", "v2")
        + _STORE.format("v2", 4)
        + "\ts_cbranch_scc1 .L1\n"
        + _set("v2")
        + ".L1:\n"
        + _OUT.format("v2")
        + _LOAD.format("v3", 4)
        + _OUT.format("v3")
    )
    story = _measured(body, tmp_path)
    assert story.needs is not None
    assert (story.needs.vector, story.needs.number) == (4, 5)


def test_sgprs_in_lanes_are_sgprs(tmp_path: Path) -> None:
    lanes = "".join(f"\tv_writelane_b32 v9, s{4 + n}, {n}\n" for n in range(3))
    back = "".join(
        f"\tv_readlane_b32 s4, v9, {n}\n\ts_store_dword s4, s[2:3], 0\n" for n in range(3)
    )
    constants = "".join(f"\ts_mov_b32 s{4 + n}, 0\n" for n in range(3))
    story = _measured("\ts_mov_b64 s[2:3], 0\n" + constants + lanes + back, tmp_path)
    assert story.needs is not None
    assert (story.peak.pressure.sgprs, story.needs.sgprs, story.needs.vgprs) == (5, 5, 1)
    assert story.curve[7].sgprs == 3
    assert story.needs_curve[7].sgprs == 5


@pytest.mark.parametrize(
    "line",
    [
        "scratch_store_dword v5, v2, off ; 4-byte Folded Spill",
        "buffer_store_dword v2, v5, s[0:3], 0 offen ; 4-byte Folded Spill",
        "scratch_store_dword off, v2, s7 ; 4-byte Folded Spill",
    ],
)
def test_an_address_that_is_not_constant_proves_nothing(line: str, tmp_path: Path) -> None:
    story = _measured(_set("v2", "v5") + f"\t{line}\n", tmp_path)
    assert story.needs is None
    assert story.needs_unknown


def test_a_clause_without_comments_moves_slots(tmp_path: Path) -> None:
    """LLVM 15 to 19 leave out the comments in a clause. v4's slot was stored by no instruction."""
    stores = "\tscratch_store_dword off, v2, off offset:4\n"
    loads = _LOAD.format("v2", 4) + _LOAD.format("v4", 12) + "\tscratch_load_dword v3, off, off\n"
    body = _set("v0", "v1", "v2", "v3") + stores + _STORE.format("v3", 0) + _set("v2", "v3")
    body += _OUT.format("v[2:3]") + loads
    story = _measured(body + _OUT.format("v[2:4]"), tmp_path)
    assert story.needs is not None
    assert (story.peak.pressure.vector, story.needs.vector, story.needs.in_memory) == (5, 6, 2)


_BUFFER = (
    "\ts_mov_b64 s[6:7], s[2:3]\n\ts_mov_b64 s[4:5], s[0:1]\n"
    "\ts_add_u32 s4, s4, s9\n\ts_addc_u32 s5, s5, 0\n"
)
"""What a kernel makes of s[0:3], by which `buffer_` instructions access its stack."""


@pytest.mark.parametrize(
    ("changed", "is_proven"),
    [("", True), (_MOVE.format("s0"), True), (_MOVE.format("s5"), False), (_FLAT, False)],
    ids=["kept", "origin written", "written", "pointers may reach it"],
)
def test_buffer_slots_without_comments(changed: str, is_proven: bool, tmp_path: Path) -> None:
    """As in code objects. v2 goes to memory, and another value takes its place."""
    store = "\tbuffer_store_dword v2, off, s[4:7], 0 offset:4\n"
    load = "\tbuffer_load_dword v2, off, s[4:7], 0 offset:4\n"
    body = _BUFFER + changed + _set("v0", "v1", "v2") + store + _set("v2") + _OUT.format("v2")
    needs = live_registers(_spilling(body + load + _OUT.format("v2"), tmp_path), "k").needs
    assert (needs.in_memory if needs else None) == (1 if is_proven else None)


def _spilling(body: str, folder: Path) -> Path:
    """The text of a kernel that spills a VGPR and has 256."""
    size, spills = "\t\t.amdhsa_private_segment_fixed_size 8\n", "    .vgpr_spill_count: 1\n"
    text = module(body).replace("\t\t.amdhsa_user", f"{size}\t\t.amdhsa_user")
    (folder / "k.s").write_text(text.replace("    .sgpr_count", f"{spills}    .sgpr_count"))
    return folder / "k.s"


def test_vgprs_near_their_most_spill_beside_free_agprs(tmp_path: Path) -> None:
    names = [f"v{number}" for number in range(250)]
    body = _set(*names) + _STORE.format("v2", 4) + _set("v2") + "".join(map(_OUT.format, names[2:]))
    path = _spilling(body + _LOAD.format("v2", 4) + _OUT.format("v2"), tmp_path)
    out, _, _ = run("pressure", str(path), "k")
    why = "256 are allocated, but VGPRs alone reach 251 and AGPRs 0, of 256 each"
    assert f"the code needs 251 VGPRs at line 259, and {why}" in " ".join(out.split())


def test_the_border_of_a_loop(tmp_path: Path) -> None:
    """Six values go round the loop, of which memory holds three; its one block makes v8."""
    rounds = [f"v{number}" for number in (2, 3, 4)]
    body = _set("v0", "v1", *rounds)
    body += "".join(_STORE.format(name, 4 * n) for n, name in enumerate(rounds)) + _set(*rounds)
    body += ".L1:\n" + _set("v8") + _OUT.format("v8")
    body += "".join(_OUT.format(name) for name in rounds) + "\ts_cbranch_scc1 .L1\n"
    body += "".join(_LOAD.format(name, 4 * n) + _OUT.format(name) for n, name in enumerate(rounds))
    needs = _measured(body, tmp_path).needs
    assert needs is not None
    assert (needs.vector, needs.border, needs.is_loop) == (9, 8, True)
    assert sum(share.crossing for share in needs.shares) == 8
    assert [(share.role, share.crossing) for share in needs.shares if not share.role] == [(None, 3)]


@pytest.mark.parametrize("name", ["variety-clang19-gfx1100", "variety-clang22-gfx942"])
def test_it_is_what_walks_count(name: str) -> None:
    assert _differences(FIXTURES / f"assembly/{name}.s") == []


def _cases(version: int) -> list[spilling.Case]:
    """The kernels that a clang compiles; those of Triton, which brings its own, stand with 22."""
    made = [*spilling.cases((32, 48, 64, 80, 96, 128))]
    if version == 22:
        return made
    made = [case for case in made if case.family != "Triton"]
    if version == 19:
        return made
    made = [c._replace(target="gfx1030") if c.target == "gfx942" else c for c in made]
    missing = ("attention", "WMMA")  # for want of a builtin
    return [c for c in made if c.family not in missing and c[:2] != ("MFMA", "gfx1030")]


def _groups(version: int) -> dict[str, list[spilling.Case]]:
    """The kernels by family; those of Triton, which are the longest, each alone."""
    groups = defaultdict(list)
    for case in _cases(version):
        is_long = case.family == "Triton"
        groups[f"{case.family}{case.size}-{case.waves}" if is_long else case.family].append(case)
    return groups


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("version", "group"),
    [
        pytest.param(
            n, group, marks=pytest.mark.needs("triton" if "Triton" in group else f"clang-{n}")
        )
        for n in (15, 19, 22)
        for group in _groups(n)
    ],
)
def test_it_is_what_walks_count_in_many_texts(
    version: int, group: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The texts of `spilling`, over 500, each of which can be told."""
    assert sum(len(_cases(n)) for n in (15, 19, 22)) > 500
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "cache"))
    for case in _groups(version)[group]:
        path = spilling.compiled(case, case.waves, tmp_path / "k.s", version)
        assert _differences(path, only_spills=True) == [], case


_TOOLS = ("clang-19", "clang-22", "lld-22", "llvm-22")


@pytest.mark.needs(*_TOOLS)
@pytest.mark.parametrize("version", [19, 22])
@pytest.mark.parametrize("target", ["gfx90a", "gfx942"])
def test_an_object_needs_what_its_text_does(version: int, target: str, tmp_path: Path) -> None:
    """gfx90a spills by `buffer_` instructions, gfx942 by `scratch_` instructions."""
    _compare_with_object(spilling.Case("GEMM", target, 96, 8), version, tmp_path)


@pytest.mark.nightly
@pytest.mark.needs(*_TOOLS)
@pytest.mark.parametrize("version", [19, 22])
@pytest.mark.parametrize("family", dict.fromkeys(c.family for c in _cases(19)))
def test_objects_need_what_their_texts_do(version: int, family: str, tmp_path: Path) -> None:
    """108 kernels of each clang."""
    for case in spilling.cases((48, 96, 160)):
        if case.family == family:
            _compare_with_object(case, version, tmp_path)


def _compare_with_object(case: spilling.Case, version: int, folder: Path) -> None:
    """Compare the needs of a kernel's text, less the comments that objects lack, and its object."""
    text = spilling.compiled(case, case.waves, folder / "k.s", version)
    text.write_text(re.sub(r"(?m)^\s*; (kill|implicit-def).*\n", "", text.read_text()))
    code, linked = folder / "k.o", folder / "k.co"
    clang = [f"clang-{version}", "--target=amdgcn-amd-amdhsa", f"-mcpu={case.target}", "-c"]
    subprocess.run([*clang, str(text), "-o", str(code)], check=True)
    subprocess.run(["ld.lld-22", "-shared", str(code), "-o", str(linked)], check=True)
    kernels = [
        json.loads(run("pressure", str(path), "--format", "json")[0])["kernels"][0]
        for path in (text, linked)
    ]
    for kernel in kernels:
        assert kernel["needs"], (case, kernel["needs_unknown"])
        source = kernel["needs"]["source"]
        kernel["needs"] |= {"line": None, "address": None, "source": source and source["line"]}
    of_text, of_object = ([kernel["needs"], kernel["needs_curve"]] for kernel in kernels)
    assert of_object == of_text, case


def _differences(path: Path, *, only_spills: bool = False) -> list[str]:
    """Kernels whose values alive at each instruction are not what walks along the text count.

    With `only_spills`, also why needs cannot be told.
    """
    out, _, _ = run("pressure", str(path), "--format", "json")
    text, different = path.read_text(), list[str]()
    for kernel in json.loads(out)["kernels"]:
        if kernel["needs"] is None:
            different += [kernel["needs_unknown"]] if only_spills else []
            continue
        body = text[text.index(f".amdhsa_kernel {kernel['symbol']}") :]
        ids = re.search(r"system_vgpr_workitem_id (\d)", body)
        at_entry = int(ids[1]) + 1 if ids else 1
        counts = counted(text, kernel["symbol"], at_entry, only_spills=only_spills)
        if [vgprs + agprs for vgprs, agprs, _ in kernel["needs_curve"]] != counts:
            different.append(kernel["symbol"])
    return different
