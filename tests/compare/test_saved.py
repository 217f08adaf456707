"""A saved report is the build that it was made of."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kernelinfo import Options, ReadError, __version__, diff
from kernelinfo.compare import compare
from kernelinfo.compare.builds import read_build
from kernelinfo.compare.summary import KernelSummary
from tests.conftest import FIXTURES
from tests.test_golden import INPUTS, run

NAME = "assembly/occupancy-hip-amdgcn-amd-amdhsa-gfx90a.s"


def saved(path: str, folder: Path, *options: str, format: str = "json") -> str:
    file = folder / f"saved.{format}"
    run(path, "--format", format, "-o", str(file), *options, folder=FIXTURES)
    return str(file)


def with_source(found: tuple[KernelSummary, ...]) -> list[tuple[KernelSummary, object]]:
    """The summaries with their source lines, which equality leaves out."""
    return [(one, one.source) for one in found]


def as_0_1_0_wrote_lines(document: str, folder: Path) -> str:
    """Each kernel of a document in a line, its input inside."""
    report = json.loads(Path(document).read_text())
    kernels = [{**one, "input": report["inputs"][one["input"]]} for one in report["kernels"]]
    path = folder / "saved.jsonl"
    path.write_text("".join(f"{json.dumps(kernel)}\n" for kernel in kernels))
    return str(path)


WHOLE = [name for name in INPUTS if not name.startswith("broken/")]


@pytest.mark.parametrize("name", WHOLE)
def test_a_saved_report_is_the_same_build(name: str, tmp_path: Path) -> None:
    made, problems = read_build(str(FIXTURES / name), Options())
    path = saved(name, tmp_path)
    read, complaints = read_build(path, Options())
    assert [problem.message for problem in complaints] == [problem.message for problem in problems]
    lines, _ = read_build(as_0_1_0_wrote_lines(path, tmp_path), Options())
    for build in (read, lines):
        assert with_source(build.kernels) == with_source(made.kernels)
        assert build.compilers == made.compilers


@pytest.mark.parametrize("format", ["jsonl", "csv"])
@pytest.mark.parametrize(
    "name",
    [
        name if number % 4 == 0 else pytest.param(name, marks=pytest.mark.nightly)
        for number, name in enumerate(WHOLE)
    ],
)
def test_saved_rows_are_the_same_build(name: str, format: str, tmp_path: Path) -> None:
    """But for the LDS that is used: rows have what is allocated."""
    made, _ = read_build(str(FIXTURES / name), Options())
    path = saved(name, tmp_path, "--names", "short", format=format)
    read, problems = read_build(path, Options())
    without = tuple(
        one._replace(numbers=one.numbers._replace(lds_bytes=None)) for one in made.kernels
    )
    assert with_source(read.kernels) == with_source(without)
    assert read.compilers == made.compilers
    assert problems == []
    found = compare(read, made)
    assert {pair.effect for pair in found.pairs} == {"same"}
    assert (found.gone, found.new) == ((), ())


@pytest.mark.parametrize("format", ["jsonl", "csv"])
def test_rows_may_be_cut_and_diff_says_so(format: str, tmp_path: Path) -> None:
    path = Path(saved(NAME, tmp_path, format=format))
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:-1]))
    out, err, code = run("diff", str(path), NAME)
    assert "1 new" in out
    assert (err, code) == (
        f"note: {path}: rows do not tell whether all was read and written; "
        "a report of --format json does\n",
        0,
    )
    assert "note:" not in run("diff", NAME, NAME)[1]


def test_rows_are_damaged(tmp_path: Path) -> None:
    path = Path(saved(NAME, tmp_path, format="csv"))
    lines = path.read_text().splitlines()
    for text, message in (
        ("\n".join([lines[0], lines[1][:-60]]), "line 2 has not one cell a column"),
        ("\n".join(lines).replace(",256,", ",-1,"), "Workgroup_Size is -1"),
        ("\n".join(lines).replace("Code_Size", "Size"), "has no 'Code_Size'"),
    ):
        path.write_text(text)
        with pytest.raises(ReadError, match=f"is CSV, but no report of kernelinfo: .*{message}"):
            diff(path, FIXTURES / NAME)


def test_a_saved_folder_lines_up_with_the_folder(tmp_path: Path) -> None:
    made, _ = read_build(str(FIXTURES / "assembly"), Options())
    read, _ = read_build(saved("assembly", tmp_path), Options())
    assert read.kernels == made.kernels
    globbed, _ = read_build(str(FIXTURES / "assembly" / "*.s"), Options())
    assert globbed.kernels == made.kernels


def test_kernels_are_chosen_from_it_by_name(tmp_path: Path) -> None:
    path = saved(NAME, tmp_path)
    found, problems = read_build(path, Options(kernels=("vgpr*",)))
    assert [one.name for one in found.kernels] == ["vgprbound(int, double*)"]
    assert not problems
    _, (problem,) = read_build(path, Options(kernels=("nobody",)))
    assert "no kernel matches -k nobody (4 in the file)" in problem.message


def test_kernels_are_chosen_from_it_by_member(tmp_path: Path) -> None:
    path = saved("container/tiny.whl", tmp_path)
    every, _ = read_build(path, Options())
    found, problems = read_build(path, Options(members=("*.co",)))
    assert 0 < len(found.kernels) < len(every.kernels)
    assert all(one.code_object.endswith(".co") for one in found.kernels)
    assert not any("matches" in one.message for one in problems)
    _, (problem,) = read_build(path, Options(members=("nope",)))
    assert "no kernel matches --member nope" in problem.message


@pytest.mark.parametrize(
    ("made", "asked", "message"),
    [
        (
            ["--block", "128"],
            Options(workgroup_size=256),
            "workgroups of 128, not workgroups of 256",
        ),
        ([], Options(dynamic_lds_bytes=1024), "0 B of dynamic LDS, not 1024 B"),
        (["--as", "gfx942"], Options(run_as="gfx950"), "gfx942, not gfx950"),
        ([], Options(trap_handler=False), "16 SGPRs of a trap handler, not 0"),
    ],
)
def test_it_stands_as_it_was_made(
    made: list[str], asked: Options, message: str, tmp_path: Path
) -> None:
    _, (problem,) = read_build(saved(NAME, tmp_path, *made), asked)
    assert message in problem.message


def test_it_was_made_as_is_asked_for(tmp_path: Path) -> None:
    path = saved(NAME, tmp_path, "--block", "128", "--no-trap-handler")
    options = Options(workgroup_size=128, trap_handler=False)
    assert all(pair.effect == "same" for pair in diff(path, FIXTURES / NAME, options).pairs)


def without(*keys: str) -> Callable[[Any], None]:
    def change(document: Any) -> None:
        of = document["kernels"][0]
        for key in keys[:-1]:
            of = of[key]
        del of[keys[-1]]

    return change


def with_value(value: object, *keys: str | int) -> Callable[[Any], None]:
    def change(document: Any) -> None:
        for key in keys[:-1]:
            document = document[key]
        document[keys[-1]] = value

    return change


@pytest.mark.parametrize("number", ["1e999", "-1e999", "9" * 4000, "1.0e400"])
def test_numbers_beyond_any_float(number: str, tmp_path: Path) -> None:
    path = Path(saved(NAME, tmp_path))
    document = json.loads(path.read_text())
    document["kernels"][0]["occupancy"]["percent"] = "HERE"
    path.write_text(json.dumps(document).replace('"HERE"', number))
    with pytest.raises(ReadError, match="percent is no number of 64 bits"):
        diff(path, FIXTURES / NAME)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            with_value("kernelinfo/2", "schema"),
            f"is kernelinfo/2, made by kernelinfo {__version__}; this",
        ),
        (with_value("other/1", "schema"), "its schema is 'other/1'"),
        (without("used", "vgprs"), "has no 'vgprs'"),
        (with_value("many", "kernels", 0, "used", "vgprs"), "used.vgprs is 'many'"),
        (with_value(-1, "kernels", 0, "used", "sgprs"), "used.sgprs is -1"),
        (with_value(True, "kernels", 0, "code_bytes"), "code_bytes is True"),
        (with_value(None, "kernels", 0, "name"), "name is null"),
        (with_value(99, "kernels", 0, "input"), "list index out of range"),
        (
            with_value([["x"]], "kernels", 0, "occupancy", "limiters"),
            "occupancy.limiters has ['x']",
        ),
        (
            with_value(float("nan"), "kernels", 0, "occupancy", "percent"),
            "it is cut off or damaged",
        ),
        (with_value(-1, "kernels", 0, "input"), "input is -1"),
        (with_value(10**4000, "kernels", 0, "code_bytes"), "code_bytes is no number of 64 bits"),
        (with_value(10**4000, "kernels", 0, "occupancy", "percent"), "percent is no number of 64"),
        (with_value(-1.0, "kernels", 0, "occupancy", "percent"), "percent is -1.0"),
        (with_value(1 << 64, "kernels", 0, "used", "vgprs"), "used.vgprs is no number of 64 bits"),
        (with_value(7, "kernels"), "not iterable"),
    ],
)
def test_damage_is_one_clear_line(
    change: Callable[[Any], None], message: str, tmp_path: Path
) -> None:
    path = Path(saved(NAME, tmp_path))
    document = json.loads(path.read_text())
    change(document)
    path.write_text(json.dumps(document))
    with pytest.raises(ReadError) as caught:
        diff(path, FIXTURES / NAME)
    assert str(caught.value).startswith(f"{path}: ")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        *("{", '{"a": 1}', '{"schema": 7}', "{}\n{}", '{"input": {}}', '{"input": 1, "symbol": 2}'),
        *('{"a":' * 100_000, '{"schema": "kernelinfo/1"}', '{"hash": "x", "target": {}}'),
    ],
    ids=lambda text: text[:30],
)
def test_json_that_is_none_of_ours(text: str, tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text(text)
    out, err, code = run("diff", "x.json", str(FIXTURES / NAME), folder=tmp_path)
    assert (out, code) == ("", 2)
    assert len(err.splitlines()) == 1
    assert "x.json: is JSON, but no report of kernelinfo" in err
