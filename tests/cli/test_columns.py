"""Tables of rows and counts: what formats, processes, targets and two builds have in common."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import kernelinfo

from ..browser.wheels import wheel
from ..conftest import FIXTURES
from ..contract.rows import read_document
from ..messages import codes
from ..test_golden import run

TEXT = "assembly/occupancy-hip-amdgcn-amd-amdhsa-gfx90a.s"
MANY = "assembly/variety-clang22-gfx90a.s"


def rows(*arguments: str, format: str = "csv") -> list[dict[str, Any]]:
    out, err, code = run(*arguments, "--format", format)
    assert (err, code) == ("", 0)
    return list(read_document(f"--format {format}", out))


def test_where_chooses_alike_by_several_processes_and_in_python() -> None:
    asked = ("code_object", "--where", "waves < 4", "--format", "csv", "--jobs")
    (one, *_), (two, *_) = run(*asked, "1"), run(*asked, "2")
    assert sorted(one.splitlines()) == sorted(two.splitlines())
    assert len(one.splitlines()) > 9
    wanted = kernelinfo.Options(where=kernelinfo.condition("waves < 4 and lds > 32k"))
    chosen = kernelinfo.load(FIXTURES / MANY, wanted)
    assert {kernel.name for kernel in chosen} == {"lds_40k(int*)", "lds_64k(int*)"}


def test_counts_of_a_build_are_those_of_its_comparison() -> None:
    """Also of scratch: that of kernels with a dynamic stack is known in neither."""
    dynamic = [row for row in rows(MANY) if row["Dynamic_Stack"].casefold() == "true"]
    assert any(int(row["Scratch_Size"]) for row in dynamic)
    for by in ("target", "library", "waves"):
        counts = rows(MANY, "--by", by, format="jsonl")
        compared = rows("diff", MANY, MANY, "--by", by, format="jsonl")
        old = [{k.removeprefix("old_"): one[k] for k in one if k[:4] != "new_"} for one in compared]
        assert sorted(old, key=str) == sorted(counts, key=str)


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


def test_tables_of_several_targets_are_those_of_each() -> None:
    targets = ("gfx942", "gfx950")
    for words in (
        (MANY, "--by", "waves"),
        (MANY, "--columns", "kernel,waves"),
        ("diff", TEXT, MANY, "--by", "waves"),
    ):
        several = (*words, "--as", ",".join(targets))
        for format in ("csv", "jsonl"):
            expected = [
                {"as": target, **row}
                for target in targets
                for row in rows(*words, "--as", target, format=format)
            ]
            assert rows(*several, format=format) == expected
        blocks = (f"as {one}\n{run(*words, '--as', one)[0]}" for one in targets)
        assert run(*several)[0] == "\n".join(blocks)
        _, err, code = run(*several, "--format", "json")
        assert (code, codes(err)) == (2, ["format-without-blocks"])


def test_reports_of_several_targets_are_those_of_each() -> None:
    blocks = [run(MANY, "--as", target)[0] for target in ("gfx942", "gfx908")]
    assert run(MANY, "--as", "gfx942,MI100")[0] == "\n".join(blocks)
    tables = [rows(MANY, "--as", target) for target in ("gfx942", "gfx908")]
    assert rows(MANY, "--as", "gfx942,MI100") == tables[0] + tables[1]


def test_a_column_of_sums_has_one_unit() -> None:
    for words in ((MANY, "--by", "waves"), ("diff", MANY, TEXT, "--by", "target")):
        lines = [line for line in run(*words)[0].splitlines() if re.search(r"\d (Ki)?B\b", line)]
        table = [re.split(r"  +", line.strip()) for line in lines]
        assert table
        for column in (4, 6):
            units = re.findall(r"\d (Ki?B|B)", " ".join(row[column] for row in table))
            assert len({*units}) == 1, table
