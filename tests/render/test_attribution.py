"""Text that tells kernels of one name apart: target, library or member, options of Triton."""

from __future__ import annotations

import io
import json
import shutil
import zipfile
from pathlib import Path

import pytest

from kernelinfo.render.paint import cells

from ..conftest import FIXTURES
from ..fleet.scans import scan
from ..test_golden import run

TWO = FIXTURES / "container/libtwo.so"  # gfx1030 and gfx90a, four kernels each
TRITON = FIXTURES / "code_object"


@pytest.fixture
def wheel(tmp_path: Path) -> str:
    """A wheel of two libraries with the same kernels."""
    path = tmp_path / "demo-1.2-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as file:
        for name in ("libone.so.1", "libtwo.so.1"):
            file.write(TWO, f"demo/lib/{name}")
    return str(path)


def names(error: str) -> list[str]:
    return [line.strip() for line in error.splitlines()[1:]]


def test_namesakes_bear_their_target_and_member(wheel: str) -> None:
    out, err, code = run("explain", wheel, "first_add")
    assert (out, code) == ("", 2)
    assert err.startswith(f"{wheel}: 4 kernels are named 'first_add'; ")
    assert sorted(names(err)) == [
        "first_add · gfx1030 · libone.so.1",
        "first_add · gfx1030 · libtwo.so.1",
        "first_add · gfx90a · libone.so.1",
        "first_add · gfx90a · libtwo.so.1",
    ]


@pytest.mark.parametrize("command", ["explain", "pressure"])
def test_namesakes_in_one_text_are_told_apart(command: str, tmp_path: Path) -> None:
    """Two compilations in one file are two modules, as in a build log."""
    texts = [FIXTURES / f"assembly/variety-clang22-{one}.s" for one in ("gfx90a", "gfx942")]
    (tmp_path / "both.s").write_bytes(b"".join(text.read_bytes() for text in texts))
    out, err, code = run(command, "both.s", "vgpr_heavy", folder=tmp_path)
    assert (out, code) == ("", 2)
    assert names(err) == ["vgpr_heavy · gfx90a", "vgpr_heavy · gfx942"]
    assert run(command, "both.s", "vgpr_heavy", "--target", "gfx942", folder=tmp_path)[2] == 0
    _, err, code = run(command, "both.s", "vgpr_*", folder=tmp_path)
    assert (err, code) == ("", 0)


@pytest.mark.parametrize("command", ["explain", "pressure"])
def test_a_name_means_the_same_on_standard_input(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (FIXTURES / "assembly/variety-clang22-gfx90a.s").read_bytes()
    text = text.replace(b"_Z9any_blockPi", b"_Z3addi").replace(
        b"_Z11exact_blockPi", b"_ZN2ns3addEi"
    )
    (tmp_path / "k.s").write_bytes(text)
    for name in ("stride", "add(int)", "add", "ns::add", "plain_c", "re:^add"):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text)))
        out, err, code = run(command, "-", name, "--format", "json")
        _, of_file, code_of_file = run(command, "k.s", name, "--format", "json", folder=tmp_path)
        assert (err, code) == (of_file.replace("k.s", "-"), code_of_file), name
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text)))
    out, _, code = run(command, "-", "add(int)", "--format", "json")
    assert (out.count("ns::add"), code) == (0, 0)


def test_only_what_is_needed_is_added(wheel: str) -> None:
    of_one = run("explain", wheel, "first_add", "--member", "libone.so.1")[1]
    assert names(of_one)[1:] == ["first_add · gfx1030", "first_add · gfx90a"]
    of_target = run("explain", wheel, "first_add", "--target", "gfx90a")[1]
    assert sorted(names(of_target)[1:]) == ["first_add · libone.so.1", "first_add · libtwo.so.1"]
    both = ("--target", "gfx90a", "--member", "demo/lib/libone.so.1")
    assert run("explain", wheel, "first_add", *both)[2] == 0


@pytest.mark.parametrize("format", ["text", "markdown", "github", "gitlab", "sarif"])
def test_a_check_names_the_library_of_namesakes_in_a_wheel(wheel: str, format: str) -> None:
    gate = Path(wheel).with_name("kernelinfo.toml")
    gate.write_text('[[budget]]\nkernel = "first_add"\nvgpr = 1\n')
    asked = ("--config", str(gate), "--format", format, "--target", "gfx90a")
    out, _, code = run("check", wheel, "-k", "first_*", *asked)
    assert code == 1
    for library in ("libone.so.1", "libtwo.so.1"):
        told = f"` · {library} |" if format == "markdown" else f"(gfx90a) · {library}: "
        assert told in out.replace("\\u00b7", "·")


@pytest.mark.parametrize("glob", ["libone.so.1", "demo/lib/libone*", "*libone*", "re:libone"])
def test_a_member_is_chosen_by_any_part_of_its_path(wheel: str, glob: str) -> None:
    out, err, code = run(wheel, "--member", glob, "--format", "jsonl")
    assert (err, code) == (f"{wheel}: 8 kernels are in other members than {glob}\n", 0)
    members = {json.loads(line)["Member"] for line in out.splitlines()}
    assert len(members) == 2
    assert len(out.splitlines()) == 8
    assert all("libone" in member for member in members)


def test_a_member_that_is_not_there_is_named(wheel: str) -> None:
    assert run(wheel, "--member", "nope")[1:] == (
        f"{wheel}: no kernel matches --member nope (16 in the file)\n",
        2,
    )
    assert run(wheel, "--member", "nope", "--member", "libone*")[1:] == (
        f"{wheel}: 8 kernels are in other members than nope and libone*\n"
        f"{wheel}: --member nope matches no kernel\n",
        0,
    )
    assert run("check", wheel, "--member", "nope", "--member", "libone*")[2] == 2


@pytest.mark.parametrize("words", [(), ("--sort", "vgpr")], ids=str)
def test_the_column_of_targets_has_features_where_only_they_differ(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    for library in ("one", "two"):
        shutil.copy(FIXTURES / "container/mixed-features.hipfb", tmp_path / f"{library}.hipfb")
    shutil.copy(FIXTURES / "code_object/tiny-v6-clang22-gfx1030.co", tmp_path)
    table = run(str(tmp_path), *words)[0].partition(" registers =")[0]
    assert "3 files   3 targets · " in table
    targets = [line.split()[0] for line in table.splitlines() if "add(int*, int)" in line]
    assert sorted(targets) == ["gfx1030", "gfx90a", "gfx90a:sramecc+:xnack-"]


def test_triton_s_kernels_bear_the_options_that_differ(tmp_path: Path) -> None:
    for number, block in enumerate((64, 128)):
        folder = tmp_path / f"HASH{number}"
        folder.mkdir()
        shutil.copy(FIXTURES / "code_object/tiny-v6-clang22-gfx90a.co", folder / "add.hsaco")
        stated = {"name": "_Z5claimPi", "num_warps": 4, "constants": {"BLOCK_M": block}}
        (folder / "add.json").write_text(json.dumps(stated))
    out, err, code = run("explain", str(tmp_path), "_Z5claimPi")
    assert (out, code) == ("", 2)
    assert sorted(names(err)) == [
        "claim · BLOCK_M=128",
        "claim · BLOCK_M=64",
    ]


CONSTANTS = {"GROUP": 8, "STAGES_OF_THE_PIPELINE": 2, "NAME_OF_THE_ACTIVATION": "leaky_relu"}


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    """Two configurations of one kernel, as Triton's cache holds them."""
    for number, block in enumerate((64, 128)):
        folder = tmp_path / f"cache/HASH{number}"
        folder.mkdir(parents=True)
        shutil.copy(FIXTURES / "code_object/tiny-v6-clang22-gfx90a.co", folder / "add.hsaco")
        long = {f"LONG_NAME_OF_A_CONSTANT_{one}": block + one for one in range(6)}
        stated = {"name": "_Z5claimPi", "num_warps": 4 * number + 4, "shared": 512 * block}
        (folder / "add.json").write_text(
            json.dumps(stated | {"constants": {"BLOCK_M": block, **CONSTANTS, **long}})
        )
    return tmp_path / "cache"


def test_a_cache_of_few_files_has_options_in_its_headings(cache: Path) -> None:
    out, err, code = run("cache", folder=cache.parent)
    assert (err, code) == ("", 0)
    headings = [line for line in out.splitlines() if line.startswith("cache/HASH")]
    assert [line.partition(" · BLOCK_M=")[2].partition(" ")[0] for line in headings] == [
        "64",
        "128",
    ]
    assert " num_warps=4 · " in headings[0]
    assert "GROUP" not in out


def test_explanations_of_namesakes_say_which_is_which(cache: Path, wheel: str) -> None:
    out = run("explain", "cache", "claim*", folder=cache.parent)[0]
    options = [line.split() for line in out.splitlines() if line.startswith(" options ")]
    assert [one[1] for one in options] == ["BLOCK_M=64", "BLOCK_M=128"]
    assert all("GROUP=8" in one for one in options)
    out = run("explain", wheel, "first_add*", "--width", "300")[0]
    places = [line.split(None, 1)[1] for line in out.splitlines() if line.startswith(" in ")]
    assert len({*places}) == len(places) == 4
    assert all(place.startswith(f"{wheel} › demo/lib/lib") for place in places)


@pytest.mark.parametrize("width", [60, 80])
@pytest.mark.parametrize(
    "words", [(), ("--all-copies",), ("--names", "full"), ("--sort", "kernel")], ids=str
)
def test_long_options_stay_within_the_width(
    cache: Path, width: int, words: tuple[str, ...]
) -> None:
    out = run("cache", *words, "--width", str(width), folder=cache.parent)[0]
    assert "BLOCK_M=128" in out
    assert [line for line in out.splitlines() if cells(line) > width] == []


def test_a_diff_tells_the_configurations_of_a_kernel_apart(cache: Path) -> None:
    after = cache.parent / "after"
    shutil.copytree(cache, after)
    for sidecar in after.glob("*/add.json"):
        stated = json.loads(sidecar.read_text())
        sidecar.write_text(json.dumps(stated | {"shared": 48 * 1024 + stated["num_warps"] * 512}))
    out, err, code = run("diff", "cache", "after", folder=cache.parent)
    assert (err, code) == ("", 0)
    moved = [
        line.split("  ")[1] for line in out.splitlines() if line.startswith((" worse ", " moved "))
    ]
    assert [name.partition(" · ")[2].split()[0] for name in moved] == [
        "BLOCK_M=64",
        "BLOCK_M=128",
    ], out


@pytest.fixture(scope="module")
def caches(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two caches of three configurations, in folders of other hashes; one of them moved."""
    folder = tmp_path_factory.mktemp("caches")
    for build, hashes in (("old", "ABC"), ("new", "ZYX")):
        for name, (block, warps) in zip(hashes, ((64, 4), (128, 8), (128, 4)), strict=True):
            version = 22 if (build, warps) == ("new", 8) else 19
            own = folder / build / name
            own.mkdir(parents=True)
            shutil.copy(
                FIXTURES / f"code_object/spills-clang{version}-gfx90a.co", own / "attention.hsaco"
            )
            stated = {"name": "_Z12hint_reachedPd", "num_warps": warps}
            constants = {"constants": {"BLOCK_M": block, "GROUP": 8}}
            (own / "attention.json").write_text(json.dumps(stated | constants))
    return folder


MOVED = "hint_reached(double*) · BLOCK_M=128 num_warps=8  spills: 27 → 26 VGPRs"


@pytest.mark.parametrize("saved", ["old", "old.jsonl", "old.json", "b.json"])
def test_a_diff_pairs_configurations_and_names_the_one_that_moved(caches: Path, saved: str) -> None:
    for format in ("json", "jsonl"):
        run("old", "--format", format, "-o", f"old.{format}", folder=caches)
    run("check", "old", "--baseline", "b.json", "--update-baseline", folder=caches)
    out, _, code = run("diff", saved, "new", folder=caches)
    assert code == 0
    assert f" better  {MOVED}" in out
    assert "affected: 3 better · 1 moved within their steps" in out
    markdown = run("diff", saved, "new", "--format", "markdown", folder=caches)[0]
    assert "| better | `hint_reached(double*)` · BLOCK\\_M=128 num\\_warps=8 |" in markdown


@pytest.mark.needs("duckdb")
def test_a_trend_names_the_configuration_that_moved(caches: Path) -> None:
    for build in ("old", "new"):
        scan(caches / build, to=caches / "fleet", build=build)
    asked = ("trend", "fleet", "--builds", "old,new")
    assert MOVED in run(*asked, folder=caches)[0]
    markdown = run(*asked, "--format", "markdown", folder=caches)[0]
    assert "| `hint_reached(double*)` · BLOCK\\_M=128 num\\_warps=8 |" in markdown


@pytest.mark.needs("duckdb")
def test_top_of_a_diff_and_a_trend_counts_folded_rows(tmp_path: Path) -> None:
    """A row that four libraries share counts once."""
    for build, version in (("old", 19), ("new", 22)):
        (tmp_path / build).mkdir()
        for number in range(4):
            spills = FIXTURES / f"code_object/spills-clang{version}-gfx90a.co"
            shutil.copy(spills, tmp_path / build / f"libk{number}.so")
        scan(tmp_path / build, to=tmp_path / "fleet", build=build)
    trend = ("trend", "fleet", "--builds", "old,new", "--moved")
    for words in (("diff", "old", "new"), trend):
        out = run(*words, "--top", "2", folder=tmp_path)[0]
        rows = [line for line in out.splitlines() if line.startswith(" better ")]
        assert len(rows) == 2, words
        assert all(" × 4  " in row for row in rows), words
        assert "\n … 8 more kernels; --top 0 shows all\n" in out


def test_equal_rows_fold_and_are_counted(wheel: str) -> None:
    out, _, _ = run(wheel)
    folded = [line for line in out.splitlines() if line.endswith(" × 2") and "gfx90a " in line]
    assert len(folded) == 4
    assert " × N = N kernels with equal numbers share a row; 8 folded\n" in out
    assert " first_claim · gfx90a × 2    next " in out
    markdown, _, _ = run(wheel, "--format", "markdown")
    assert "| `first_claim(int*) × 2` | `gfx90a` |" in markdown
    assert "× N: N kernels with equal numbers share a row; 8 folded" in markdown


def test_rows_of_one_name_with_other_numbers_bear_their_library(tmp_path: Path) -> None:
    """The same symbols, compiled by two compilers, in a folder of five files."""
    for number, compiler in enumerate(("clang15", "clang22")):
        name = f"code_object/variety-{compiler}-gfx90a.co"
        shutil.copy(FIXTURES / name, tmp_path / f"lib{number}.co")
    for number in range(3):
        shutil.copy(FIXTURES / "code_object/tiny-v6-clang22-gfx90a.co", tmp_path / f"t{number}.co")
    out, _, _ = run(str(tmp_path), "--sort", "kernel")
    table = [line for line in out.splitlines() if "%" in line and "  next  " not in line]
    rows = [line.split("  ")[-1].strip() for line in table]
    assert "add(int*, int) × 3" in rows
    apart = [row for row in rows if " · lib" in row]
    assert apart
    assert len({*rows}) == len(rows)


def test_a_diff_names_library_and_target_and_folds(tmp_path: Path) -> None:
    for side, compiler in (("old", "clang15"), ("new", "clang22")):
        (tmp_path / side).mkdir()
        for library in ("liba.so.1", "libb.so.2"):
            text = FIXTURES / f"assembly/variety-{compiler}-gfx90a.s"
            shutil.copy(text, tmp_path / side / f"{library}.s")
    out, _, _ = run("diff", "old", "new", folder=tmp_path)
    assert "waves/SIMD summed over 52 kernels" in out
    assert "clang 15.0.6 → clang 22.1.8: 52 of 52 kernels moved" in out
    moved = [line for line in out.splitlines() if line.startswith(" worse ")]
    assert moved
    assert all(" · liba.so.1.s + 1 more × 2  " in line for line in moved)
    (tmp_path / "old/libb.so.2.s").unlink()
    (tmp_path / "new/libb.so.2.s").rename(tmp_path / "new/other.s")
    out, _, _ = run("diff", "old", "new", folder=tmp_path)
    assert any("sgpr_heavy(int*) · liba.so.1.s  " in line for line in out.splitlines())
    assert any("sgpr_heavy(int*) · other.s  " in line for line in out.splitlines())


def test_kernels_of_one_name_are_compared_on_each_of_several_targets(tmp_path: Path) -> None:
    for side, compiler in (("old", "clang15"), ("new", "clang22")):
        for library in ("liba.so.s", "libb.so.s"):
            (tmp_path / side).mkdir(exist_ok=True)
            text = FIXTURES / f"assembly/variety-{compiler}-gfx90a.s"
            shutil.copy(text, tmp_path / side / library)
    out, err, code = run("diff", "old", "new", "--as", "gfx90a,gfx942", folder=tmp_path)
    assert (err, code) == ("", 0)
    rows = [line for line in out.splitlines() if " → " in line and "*" in line]
    assert rows
    assert {row.rpartition(" · ")[2] for row in rows} == {"liba.so.s + 1 more × 2"}
    assert out.endswith(f" {2 * len(rows)} of 52 kernels moved\n")
