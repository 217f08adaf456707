"""`--target`, `--limited-by`, `--spilling`, `--sort`: which kernels are shown, in which order."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ..conftest import FIXTURES
from ..test_golden import run

TWO = "container/libtwo.so"  # gfx1030 and gfx90a, four kernels each
MANY = "assembly/variety-clang22-gfx90a.s"
SPILLS = "assembly/spills-clang22-gfx90a.s"


def rows(*arguments: str) -> list[dict[str, object]]:
    out, _, code = run(*arguments, "--format", "jsonl")
    assert code == 0
    return [json.loads(line) for line in out.splitlines()]


GENERIC = "code_object/tiny-v6-clang22-gfx9-4-generic.co"
FEATURES = "code_object/tiny-v5-clang19-gfx90a-features.co"  # gfx90a:sramecc+:xnack-


@pytest.mark.parametrize(
    ("file", "target", "runs"),
    [
        (GENERIC, "gfx942", True),
        (GENERIC, "MI355X", True),
        (GENERIC, "gfx950:xnack+", True),
        (GENERIC, "gfx9-4-generic", True),
        (GENERIC, "gfx90a", False),
        ("code_object/variety-clang22-gfx942.co", "gfx9-4-generic", False),
        (FEATURES, "gfx90a", True),
        (FEATURES, "gfx90a:xnack-", True),
        (FEATURES, "MI210:sramecc+:XNACK-", True),
        (FEATURES, "gfx90a:xnack+", False),
        ("code_object/tiny-v6-clang22-gfx90a.co", "gfx90a:xnack+", True),
        ("code_object/tiny-v3-clang15-gfx90a.co", "gfx90a:xnack-", False),
    ],
)
def test_code_that_runs_on_a_target(file: str, target: str, runs: bool, tmp_path: Path) -> None:
    """As the loader of ROCr decides; code objects before version 4 state every feature."""
    to = str(tmp_path)
    for command in (("report", file), ("extract", file, "-o", to), ("diff", file, file)):
        _, err, code = run(*command, "--target", target)
        assert (code, "matches --target" in err) == ((0, False) if runs else (2, True)), command


def test_a_target_without_code_is_answered_by_those_that_have_some() -> None:
    _, err, _ = run(FEATURES, "--target", "gfx90a:xnack+")
    assert err == (
        f"{FEATURES}: no kernel matches --target gfx90a:xnack+ "
        "(2 in the file, for gfx90a:sramecc+:xnack-)\n"
    )


@pytest.mark.parametrize("name", ["gfx90a", "MI250X", "mi210"])
def test_kernels_of_a_target(name: str) -> None:
    assert {row["Compiled_For"] for row in rows(TWO, "--target", name)} == {"gfx90a"}
    _, err, _ = run(TWO, "--target", name)
    assert err == f"{TWO}: 4 kernels are for other targets than gfx90a\n"


def test_several_targets() -> None:
    assert len(rows(TWO, "--target", "gfx90a", "--target", "gfx1030")) == 8


def test_no_kernel_of_a_target_is_exit_2() -> None:
    out, err, code = run(TWO, "--target", "MI300X")
    assert (out, code) == ("", 2)
    assert (
        err == f"{TWO}: no kernel matches --target gfx942 (8 in the file, for gfx1030 and gfx90a)\n"
    )


def test_a_file_of_another_target_next_to_one_that_has_it_is_no_problem() -> None:
    out, err, code = run(TWO, "assembly/tiny-v6-clang22-gfx1030.s", "--target", "gfx90a")
    assert ("first_add" in out, code) == (True, 0)
    assert err.startswith("2 paths: ")


@pytest.mark.parametrize(
    ("command", "lines"),
    [
        (
            ("report", TWO, "-k", "nope", "-k", "first_add"),
            [f"{TWO}: -k nope matches no kernel"],
        ),
        (
            (
                "report",
                TWO,
                MANY,
                "--target",
                "gfx942",
                "--target",
                "gfx90a",
                "--target",
                "gfx1030",
            ),
            ["2 paths: --target gfx942 matches no kernel"],
        ),
        (("pressure", MANY, "-k", "nope", "-k", "*"), [f"{MANY}: -k nope matches no kernel"]),
        (
            ("diff", TWO, TWO, "-k", "nope", "-k", "*"),
            ["note: -k nope matches no kernel of either build"],
        ),
    ],
    ids=lambda value: value[0],
)
def test_a_choice_without_a_kernel_is_named(command: tuple[str, ...], lines: list[str]) -> None:
    out, err, code = run(*command)
    assert (bool(out), err.splitlines(), code) == (True, lines, 0)


def test_a_target_without_a_code_object_is_named(tmp_path: Path) -> None:
    targets = ("--target", "gfx942", "--target", "gfx90a")
    out, err, code = run("extract", TWO, "-o", str(tmp_path / "objects"), *targets)
    assert (bool(out), code) == (True, 0)
    assert err == f"{TWO}: --target gfx942 matches no code object; others are for gfx1030\n"


@pytest.mark.parametrize(
    "command",
    [
        ("explain", TWO, "first_add*", "--target", "gfx90a"),
        ("diff", TWO, TWO, "--target", "gfx90a"),
        ("check", TWO, "--target", "gfx90a"),
        ("pressure", MANY, "--target", "gfx90a"),
    ],
    ids=lambda command: command[0],
)
def test_every_command_that_reads_takes_it(command: tuple[str, ...]) -> None:
    out, _, code = run(*command)
    assert code == 0
    assert "gfx1030" not in out
    assert run(*command[:-1], "gfx942")[2] == 2


def test_a_check_of_one_target_says_so() -> None:
    out, _, _ = run("check", TWO, "--target", "gfx90a")
    assert "--target gfx90a" in out


def test_a_misspelled_target() -> None:
    _, err, code = run(TWO, "--target", "MI300XX")
    assert (err, code) == ("kernelinfo: unknown device 'MI300XX'; did you mean MI300X?\n", 2)


def test_limited_by_and_spilling() -> None:
    every = rows(MANY)
    by_sgprs = [row for row in every if "sgpr" in row["Limiters"]]  # type: ignore[operator]
    assert rows(MANY, "--limited-by", "SGPR") == by_sgprs
    spilling = [row for row in rows(SPILLS) if row["VGPR_Spills"] or row["SGPR_Spills"]]
    assert 0 < len(spilling) < len(rows(SPILLS))
    assert rows(SPILLS, "--spilling") == spilling
    _, err, _ = run(MANY, "--limited-by", "sgpr")
    assert err == f"{MANY}: {len(by_sgprs)} of {len(every)} kernels are limited by SGPR\n"


def test_none_that_spills_is_an_answer() -> None:
    out, err, code = run(MANY, "--spilling")
    assert (out, err, code) == ("", f"{MANY}: 0 of 26 kernels spill\n", 0)


@pytest.mark.parametrize(
    ("column", "key", "sign"),
    [
        ("agpr", "Accum_VGPR_Count", -1),
        ("lds", "LDS_Block_Size", -1),
        ("waves", "Waves_Per_SIMD", 1),
    ],
)
def test_rows_in_the_order_of_a_column(column: str, key: str, sign: int) -> None:
    found = [sign * row[key] for row in rows(MANY, "--sort", column)]  # type: ignore[operator]
    assert found == sorted(found)


def test_a_misspelled_column_is_refused_before_anything_is_read() -> None:
    _, err, code = run("missing.s", "--sort", "vgprs")
    assert (err, code) == ("kernelinfo: --sort vgprs: no column 'vgprs'; did you mean vgpr?\n", 2)


def test_a_saved_report_is_read_by_target(tmp_path: Path) -> None:
    saved = tmp_path / "saved.json"
    assert run(TWO, "--format", "json", "-o", str(saved))[2] == 0
    out, _, code = run("diff", str(saved), TWO, "--target", "gfx90a", folder=FIXTURES)
    assert code == 0
    assert "4 kernels" in out or "kernels 4" in out


@pytest.mark.parametrize("given", ["--as gfx942,MI210", "--as gfx942 --as MI210 --as gfx942"])
def test_several_targets_of_as_are_one_block_each(given: str) -> None:
    blocks = [run(MANY, "--as", target)[0] for target in ("gfx942", "gfx90a")]
    assert run(MANY, *given.split())[0] == "\n".join(blocks)
    heading, *lines = run(MANY, *given.split(), "--format", "csv")[0].splitlines(keepends=True)
    tables = [
        run(MANY, "--as", target, "--format", "csv")[0].splitlines(keepends=True)
        for target in ("gfx942", "gfx90a")
    ]
    assert [heading] == tables[0][:1]
    assert lines == [line for table in tables for line in table[1:]]


def test_explain_has_a_block_for_each_target_of_as() -> None:
    out, _, code = run("explain", MANY, "plain_c", "--as", "gfx942,gfx90a")
    assert code == 0
    one, two = out.split("\n\nplain_c")
    assert one.startswith("plain_c   gfx90a, what if on gfx942")
    assert "what if" not in two.splitlines()[0]


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (("report", MANY, "--format", "json"), "--format json has no blocks; give one target"),
        (("report", "-"), "standard input is read once; give one target"),
        (("explain", "-", "k"), "standard input is read once; give one target"),
        (
            ("explain", MANY, "plain_c", "--device", "MI250"),
            "--device names one target; give one --as",
        ),
    ],
)
def test_where_several_targets_of_as_are_refused(command: tuple[str, ...], message: str) -> None:
    out, err, code = run(*command, "--as", "gfx942,gfx90a")
    assert (out, code, len(err.splitlines())) == ("", 2, 1)
    assert message in err


@pytest.fixture
def twice(tmp_path: Path) -> Path:
    """Two equal assemblies, and a folder without kernels."""
    for name in ("a.s", "b.s"):
        (tmp_path / name).write_bytes((FIXTURES / MANY).read_bytes())
    (tmp_path / "empty").mkdir()
    return tmp_path


def test_equal_assemblies_count_once_where_that_is_asked(twice: Path) -> None:
    def paths(*arguments: str) -> list[str]:
        out, err, code = run("a.s", "b.s", *arguments, "--format", "jsonl", folder=twice)
        assert (err, code) == ("", 0)
        return [json.loads(line)["Path"] for line in out.splitlines()]

    assert paths().count("b.s") == paths().count("a.s") > 0
    assert set(paths("--unique")) == {"a.s"}
    out, _, _ = run("a.s", "b.s", "--unique", "--format", "json", folder=twice)
    (first,) = json.loads(out)["inputs"]
    assert [copy["path"] for copy in first["also"]] == ["b.s"]


@pytest.mark.parametrize("arguments", [("a.s", "empty"), ("empty", "a.s"), ("a.s", "empty", "b.s")])
def test_a_path_without_a_kernel_is_a_problem_next_to_one_that_has_some(
    arguments: tuple[str, ...], twice: Path
) -> None:
    for more in ((), ("-k", "plain_c"), ("--target", "gfx90a"), ("--jobs", "2")):
        out, err, code = run(*arguments, *more, folder=twice)
        assert ("plain_c" in out, code) == (True, 2)
        assert err == "empty: no AMD GPU kernel found; give what the compiler left for the device\n"


@pytest.mark.parametrize("command", ["report", "check"])
@pytest.mark.parametrize("value", ["-x", "--format", "-"])
def test_an_option_is_no_file_to_write_to(command: str, value: str, twice: Path) -> None:
    out, err, code = run(command, "a.s", "-o", value, folder=twice)
    assert (out, code) == ("", 2)
    assert err.splitlines()[-1].startswith(f"kernelinfo: -o {value}: is an option; give a file")
    assert {path.name for path in twice.iterdir()} == {"a.s", "b.s", "empty"}
    assert run(command, "a.s", "-o", f"./{value}", folder=twice)[0] == ""
    assert (twice / value).stat().st_size
