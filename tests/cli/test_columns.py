"""`--where`, `--sort`, `--columns`, `--top`, `--by`: rows and columns as the user asks."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
from pathlib import Path

import pytest

import kernelinfo
from kernelinfo.render.counts import KernelSums, sums_in_words

from ..browser.wheels import wheel
from ..conftest import FIXTURES
from ..test_golden import run

TEXT = "assembly/occupancy-hip-amdgcn-amd-amdhsa-gfx90a.s"
MANY = "assembly/variety-clang22-gfx90a.s"
TWO = "container/libtwo.so"


def rows(*arguments: str) -> list[dict[str, str]]:
    out, _, code = run(*arguments, "--format", "csv")
    assert code == 0
    return [*csv.DictReader(io.StringIO(out))]


def test_where_filters_every_format_and_says_how_many() -> None:
    out, err, code = run(MANY, "--where", "waves < 4 and lds > 32k")
    assert (err, code) == (f"{MANY}: 2 of 26 kernels match --where\n", 0)
    assert "lds_40k(int*)" in out
    assert "vgpr_heavy" not in out
    assert {row["Kernel_Name"] for row in rows(MANY, "--where", "waves < 4 and lds > 32k")} == {
        "lds_40k(int*)", "lds_64k(int*)",
    }  # fmt: skip
    assert run(MANY, "--where", "waves > 99")[1:] == (
        f"{MANY}: 0 of 26 kernels match --where\n",
        0,
    )


def test_where_chooses_alike_by_several_processes() -> None:
    asked = ("code_object", "--where", "waves < 4", "--format", "csv", "--jobs")
    (one, *_), (two, *_) = run(*asked, "1"), run(*asked, "2")
    assert sorted(one.splitlines()) == sorted(two.splitlines())
    assert len(one.splitlines()) > 9


def test_a_mistake_in_where_is_shown() -> None:
    out, err, code = run(MANY, "--where", "wavs < 4")
    assert (out, code) == ("", 2)
    assert err.splitlines() == [
        "kernelinfo: --where: no column 'wavs'; did you mean waves?",
        "kernelinfo:   wavs < 4",
        "kernelinfo:   ^",
    ]


def test_where_by_a_constant_of_triton(tmp_path: Path) -> None:
    for block in (64, 128):
        folder = tmp_path / f"HASH{block}"
        folder.mkdir()
        shutil.copy(FIXTURES / "code_object/tiny-v6-clang22-gfx90a.co", folder / "add.hsaco")
        stated = {"name": "_Z5claimPi", "num_warps": 4, "constants": {"BLOCK_M": block}}
        (folder / "add.json").write_text(json.dumps(stated))
    found = rows(str(tmp_path), "--where", "BLOCK_M >= 128 and num_warps = 4")
    assert {row["Path"] for row in found} == {str(tmp_path / "HASH128/add.hsaco")}
    assert {row["Options"] for row in found} == {"BLOCK_M=128 num_warps=4"}
    assert rows(str(tmp_path), "--where", "BLOCK_N = 128") == []
    saved = tmp_path / "rows.jsonl"
    assert run(str(tmp_path), "-o", str(saved))[1:] == ("", 0)
    out, _, code = run("diff", str(saved), str(tmp_path), "--where", "BLOCK_M = 64")
    assert ("kernels 2 ·" in out, code) == (True, 0), out


@pytest.mark.parametrize(
    "command",
    [
        ("report", MANY),
        ("explain", MANY),
        ("diff", MANY, MANY),
        ("check", MANY, "--exit-zero"),
        ("pressure", MANY),
    ],
    ids=lambda command: command[0],
)
def test_every_command_that_reads_takes_where(command: tuple[str, ...]) -> None:
    out, err, code = run(*command, "--where", "waves < 4 and lds > 32k")
    assert code == 0
    assert "vgpr_heavy" not in out
    assert "lds_40k" in out or command[0] in ("diff", "check")
    assert "2 of 26 kernels match --where" in err or "kernels 2 ·" in out
    out, err, code = run(*command, "--where", "wavs < 4")
    assert (out, code) == ("", 2)
    assert "did you mean waves?" in err


def test_a_check_of_no_kernel_has_not_passed() -> None:
    out, err, code = run("check", MANY, "--where", "waves > 99")
    assert "passed" not in out
    assert (err.splitlines()[0], code) == (f"{MANY}: 0 of 26 kernels match --where", 2)


def test_saved_reports_without_rows_refuse_where(tmp_path: Path) -> None:
    saved, baseline = tmp_path / "saved.json", tmp_path / "baseline.json"
    run(MANY, "-o", str(saved))
    run("check", MANY, "--baseline", str(baseline), "--update-baseline")
    for one in (saved, baseline):
        out, err, code = run("diff", str(one), MANY, "--where", "waves < 4")
        assert (out, code) == ("", 2)
        assert (
            err
            == f"kernelinfo: {one}: has no rows for --where; give the build, or its csv or jsonl\n"
        )


def test_kernels_outside_of_where_are_not_gone_from_a_baseline(tmp_path: Path) -> None:
    baseline = tmp_path / "baseline.json"
    run("check", MANY, "--baseline", str(baseline), "--update-baseline")
    out, _, code = run("check", MANY, "--baseline", str(baseline), "--where", "waves < 4")
    assert ("passed" in out, "KI502" in out, code) == (True, False, 0)


def test_where_in_python() -> None:
    wanted = kernelinfo.Options(where=kernelinfo.condition("waves < 4 and lds > 32k"))
    found = kernelinfo.load(FIXTURES / MANY, wanted)
    assert {kernel.name for kernel in found} == {"lds_40k(int*)", "lds_64k(int*)"}


def test_a_sort_shows_its_column_and_sorts_ties_by_the_next() -> None:
    out, _, _ = run(MANY, "--sort", "waves,code", "--top", "0", "-q")
    heading, *table = out.splitlines()[2:]
    assert " code  limited by" in heading
    found = rows(MANY, "--sort", "waves,Code_Size")
    keys = [(float(row["Waves_Per_SIMD"]), int(row["Code_Size"])) for row in found]
    assert [waves for waves, _ in keys] == sorted(waves for waves, _ in keys)
    by_code = rows(MANY, "--sort", "waves,code")
    codes = [int(row["Code_Size"]) for row in by_code if float(row["Waves_Per_SIMD"]) == 8]
    assert codes == sorted(codes, reverse=True)
    assert [line.split("  ")[-1].strip() for line in table] == [
        row["Kernel_Name"] for row in by_code
    ]


def test_columns_by_headings_and_by_names_of_rows() -> None:
    out, _, _ = run(MANY, "--columns", "Kernel,waves/SIMD,VGPR_Used,limited by", "--top", "2")
    heading, *table = out.splitlines()
    assert heading.split() == ["kernel", "waves", "VGPR_Used", "limiters"]
    assert len(table) == 3
    assert table[-1] == " … 24 more kernels; --top 0 shows all"
    found = rows(MANY, "--columns", "kernel,VGPR_Used")
    every = rows(MANY)
    assert [row["VGPR_Used"] for row in found] == [row["VGPR_Used"] for row in every]
    lines = run(MANY, "--columns", "symbol,lds", "--format", "jsonl")[0].splitlines()
    assert json.loads(lines[0]) == {"Symbol": every[0]["Symbol"], "lds": 0}


@pytest.mark.parametrize("option", ["--sort", "--columns"])
def test_an_unknown_column_is_named(option: str) -> None:
    _, err, code = run(MANY, option, "waves,vgprs2")
    assert code == 2
    assert err.startswith(f"kernelinfo: {option} waves,vgprs2: no column 'vgprs2'; did you mean ")


@pytest.mark.parametrize("option", ["--sort", "--columns"])
def test_counts_have_neither_order_nor_columns(option: str) -> None:
    out, err, code = run(MANY, "--by", "waves", option, "code")
    lists = f"--by waves counts kernels instead of listing them; leave out {option}"
    assert (out, err, code) == ("", f"kernelinfo: {lists}\n", 2)


@pytest.mark.parametrize("by", ["library", "member", "target", "file", "limiter", "waves"])
def test_counts_add_up(by: str) -> None:
    every = rows(TWO, MANY)
    lines = run(TWO, MANY, "--by", by, "--format", "jsonl")[0].splitlines()
    counts = [json.loads(line) for line in lines]
    if by != "limiter":
        assert sum(one["kernels"] for one in counts) == len(every)
        assert sum(one["code_bytes"] for one in counts) == sum(int(r["Code_Size"]) for r in every)
    assert {one[by] for one in counts} > set()
    text, _, code = run(TWO, MANY, "--by", by)
    assert code == 0
    assert text.split()[:6] == [by, "kernels", "spilling", "scratch", "waves", "lost"]


def test_large_sums_have_their_thousands_apart() -> None:
    sums = KernelSums(kernels=88137, spilling=490, waves_lost=174825.5)
    assert sums_in_words([sums]) == [("88 137", "490", "0", "174 825.5", "0")]


@pytest.mark.parametrize("by", ["target", "library", "waves"])
def test_counts_of_a_build_are_those_of_its_comparison(by: str) -> None:
    """Also of scratch: that of kernels with a dynamic stack is known in neither."""
    dynamic = [row for row in rows(MANY) if row["Dynamic_Stack"].casefold() == "true"]
    assert any(int(row["Scratch_Size"]) for row in dynamic)
    counts = json.loads(run(MANY, "--by", by, "--format", "json")[0])["counts"]
    compared = json.loads(run("diff", MANY, MANY, "--by", by, "--format", "json")[0])["counts"]
    old = [
        {key.removeprefix("old_"): one[key] for key in one if key[:4] != "new_"} for one in compared
    ]
    assert sorted(old, key=str) == sorted(counts, key=str)


def test_counts_of_two_builds() -> None:
    old, new = "assembly/variety-clang15-gfx90a.s", MANY
    (counts,) = json.loads(run("diff", old, new, "--by", "target", "--format", "json")[0])["counts"]
    assert counts["target"] == "gfx90a"
    assert (counts["old_kernels"], counts["new_kernels"]) == (26, 26)
    assert counts["new_waves_lost"] == counts["old_waves_lost"] + 1
    assert "35.5 → 36.5" in run("diff", old, new, "--by", "target")[0]


def test_a_comparison_of_two_wheels_counts_by_library_and_member(tmp_path: Path) -> None:
    """Not by the entries of bundles, which name targets."""
    old, new = (str(wheel(tmp_path, version)) for version in ("1.0", "2.0"))

    def names(by: str) -> list[str]:
        out, _, _ = run("diff", old, new, "--by", by)
        return [line.split()[0] for line in out.splitlines()[1:]]

    assert names("library") == ["tensor_kernels"]
    assert "tensor_kernels/lib/libspills.so" in names("member")
    assert names("file") == [Path(old).name, Path(new).name]
    out, _, _ = run("diff", old, new)
    assert " better  hint_reached(double*) · gfx90a · libspills.so " in out
    assert "hipv4-" not in out


@pytest.mark.parametrize(
    "words",
    [
        (MANY, "--by", "waves"),
        (MANY, "--columns", "kernel,waves"),
        ("diff", TEXT, MANY, "--by", "waves"),
    ],
)
def test_tables_of_several_targets_name_them(words: tuple[str, ...]) -> None:
    targets = ("gfx942", "gfx950")
    several = (*words, "--as", ",".join(targets))
    alone = {one: (*words, "--as", one) for one in targets}

    out, err, code = run(*several, "--format", "csv")
    assert (err, code) == ("", 0)
    found = [*csv.DictReader(io.StringIO(out))]
    expected = []
    for target, arguments in alone.items():
        table = csv.DictReader(io.StringIO(run(*arguments, "--format", "csv")[0]))
        expected += [{"as": target, **row} for row in table]
    assert found == expected

    lines = [json.loads(line) for line in run(*several, "--format", "jsonl")[0].splitlines()]
    expected = []
    for target, arguments in alone.items():
        rows = run(*arguments, "--format", "jsonl")[0].splitlines()
        expected += [{"as": target, **json.loads(line)} for line in rows]
    assert lines == expected

    blocks = (f"as {one}\n{run(*arguments)[0]}" for one, arguments in alone.items())
    assert run(*several)[0] == "\n".join(blocks)
    _, err, code = run(*several, "--format", "json")
    assert (code, "json has no blocks; give one target" in err) == (2, True)


@pytest.mark.parametrize("options", [["--by", "target"], ["--columns", "kernel"]])
def test_a_page_has_neither(options: list[str]) -> None:
    _, err, code = run(MANY, *options, "--format", "html")
    assert code == 2
    assert "--format html has no" in err


@pytest.mark.parametrize("sort", [(), ("--sort", "scratch")])
def test_top_takes_the_worst_or_the_first_by_sort(sort: tuple[str, ...]) -> None:
    worst = "sgprbound" if sort else "ldsbound"
    table = run(TEXT, "--top", "1", "-q", *sort)[0]
    names = [line.rpartition("  ")[2] for line in table.splitlines() if "% " in line]
    assert names == [f"{worst}(int, double*)"]
    chosen = run(TEXT, "--top", "1", "--columns", "kernel,waves", *sort)[0].splitlines()
    assert chosen[1].startswith(f" {worst}(")
    assert chosen[2] == " … 3 more kernels; --top 0 shows all"


@pytest.mark.parametrize("words", [(MANY, "--by", "waves"), ("diff", MANY, TEXT, "--by", "target")])
def test_a_column_of_sums_has_one_unit(words: tuple[str, ...]) -> None:
    lines = [line for line in run(*words)[0].splitlines() if re.search(r"\d (Ki)?B\b", line)]
    table = [re.split(r"  +", line.strip()) for line in lines]
    assert table
    for column in (3, 5):
        units = re.findall(r"\d (Ki?B|B)", " ".join(row[column] for row in table))
        assert len({*units}) == 1, table


def test_markdown_folds_the_rows_beyond_top() -> None:
    arguments = (MANY, "--columns", "kernel,waves", "--format", "markdown", "--top", "3")
    out, err, code = run(*arguments)
    assert (err, code) == ("", 0)
    before, _, after = out.partition("<details><summary>23 more kernels</summary>")
    assert [part.count("\n| ") for part in (before, after)] == [2 + 3, 2 + 23]
