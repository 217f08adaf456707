"""The command line as a user meets it: streams, exit codes, options."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from ..conftest import FIXTURES
from ..test_golden import run

NAME = "occupancy-hip-amdgcn-amd-amdhsa-gfx90a"
TEXT, OBJECT = f"assembly/{NAME}.s", f"code_object/{NAME}.out"


def kernels(*arguments: str) -> list[dict[str, object]]:
    out, err, code = run(*arguments, "--format", "json")
    assert (err, code) == ("", 0)
    return list(json.loads(out)["kernels"])


def test_report_is_the_default_command() -> None:
    assert run(TEXT) == run("report", TEXT)


def test_options_may_stand_before_the_path() -> None:
    assert run("--block", "256", TEXT) == run(TEXT, "--block", "256")


def test_a_file_named_like_a_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "limits").write_bytes((FIXTURES / TEXT).read_bytes())
    out, _, code = run("./limits", folder=tmp_path)
    assert code == 0
    assert "vgprbound" in out


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("broken/empty.s", "empty"),
        ("broken/plain-text.txt", "no AMDGPU assembly"),
        ("broken/x86.s", "no AMDGPU assembly"),
        ("broken/x86.o", "no AMD GPU code"),
        ("broken/truncated.co", ""),
        ("no/such/file.s", "no such file"),
        ("../grammars", "no AMD GPU kernel found"),
    ],
)
def test_bad_input_is_one_line_and_exit_2(name: str, message: str) -> None:
    out, err, code = run(name)
    assert code == 2
    assert out == ""
    assert len(err.splitlines()) == 1
    assert err.startswith(name)
    assert message in err


def test_bad_input_costs_nothing_of_the_rest() -> None:
    out, err, code = run("broken/empty.s", TEXT, "broken/x86.o")
    assert code == 2
    assert "vgprbound" in out
    assert "not all was read" in out
    assert len(err.splitlines()) == 2


@pytest.mark.parametrize(
    "arguments",
    [
        ["calc"],
        ["calc", "--arch", "gfx90a", "--lds", "much"],
        ["calc", "--arch", "gfx90a", "--block", "0"],
        ["calc", "--arch", "gfx90b"],
        ["calc", "--arch", "gfx90a", "--wave", "32"],
        ["limits", "--arch", "gfx90a", "--cu-mode"],
        ["arch", "gfx9999"],
        ["explain", "KI999"],
        ["explain", TEXT, "nobody"],
        [TEXT, "--format", "yaml"],
        [TEXT, "--as", "gfx1"],
        [TEXT, "-k", "re:("],
        [TEXT, "--color", "sometimes"],
        [TEXT, "-o", "no/such/folder/report.txt"],
        [],
    ],
    ids=lambda arguments: " ".join(arguments) or "nothing",
)
def test_wrong_usage_is_exit_2(arguments: list[str]) -> None:
    _, _, code = run(*arguments)
    assert code == 2


def test_arch_of_an_input_is_not_overruled() -> None:
    out, err, code = run(TEXT, "--arch", "gfx942")
    assert (out, code) == ("", 2)
    assert "gfx90a" in err


def test_arch_serves_inputs_that_name_none(tmp_path: Path) -> None:
    lines = (FIXTURES / TEXT).read_text().splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("; Kernel info:"))
    (tmp_path / "pasted.txt").write_text("\n".join(lines[start : start + 27]))
    _, err, code = run("pasted.txt", folder=tmp_path)
    assert code == 2
    assert "--arch" in err
    out, err, code = run("pasted.txt", "--arch", "gfx90a", folder=tmp_path)
    assert (err, code) == ("", 0)
    assert "1 kernel" in out


def test_what_if_is_labelled() -> None:
    out, _, code = run(OBJECT, "--as", "gfx1100", "-k", "vgprbound*")
    assert code == 0
    assert "gfx90a, what if on gfx1100" in out
    (kernel,) = kernels(OBJECT, "--as", "gfx942", "-k", "vgprbound*")
    assert kernel["target"] == "gfx942"


def test_what_if_needs_waves_of_the_same_size() -> None:
    _, err, code = run("code_object/tiny-v6-clang22-gfx1030.co", "--as", "gfx90a")
    assert code == 2
    assert "no waves of 32 lanes" in err


@pytest.mark.parametrize(
    ("options", "names"),
    [
        (["-k", "vgpr*"], ["vgprbound"]),
        (["-k", "_Z9vgprboundiPd"], ["vgprbound"]),
        (["-k", "re:^(lds|sgpr)"], ["ldsbound", "sgprbound"]),
        (["-k", "vgpr*", "-k", "lds*"], ["vgprbound", "ldsbound"]),
        (["--exclude", "*bound*"], ["empty"]),
    ],
)
def test_kernels_are_chosen_by_name(options: list[str], names: list[str]) -> None:
    found = [str(kernel["name"]).split("(")[0] for kernel in kernels(TEXT, *options)]
    assert found == names


def test_no_kernel_of_that_name_is_exit_2() -> None:
    out, err, code = run(TEXT, "-k", "nobody")
    assert (out, code) == ("", 2)
    assert "no kernel matches -k nobody (4 in the file)" in err


def test_dynamic_lds_and_the_trap_handler() -> None:
    (kernel,) = kernels(TEXT, "-k", "empty*", "--block", "256", "--dynamic-lds", "32KiB")
    occupancy = kernel["occupancy"]
    assert isinstance(occupancy, dict)
    assert occupancy["percent"] == 25
    (kernel,) = kernels(TEXT, "-k", "sgprbound*", "--block", "256", "--no-trap-handler")
    occupancy = kernel["occupancy"]
    assert isinstance(occupancy, dict)
    assert occupancy["limiters"] == ["slots", "vgpr", "scratch"]


def test_jsonl_is_one_kernel_a_line() -> None:
    out, _, _ = run(TEXT, "--format", "jsonl")
    lines = [json.loads(line) for line in out.splitlines()]
    assert [line["Symbol"] for line in lines] == [k["symbol"] for k in kernels(TEXT)]
    assert lines[0]["Target"] == "gfx90a"


def test_csv_joins_with_rocprofv3() -> None:
    out, _, _ = run(TEXT, "--format", "csv")
    heading, _, row, *_ = out.splitlines()
    cells = dict(zip(heading.split(","), row.replace("(int, double*)", "").split(","), strict=True))
    assert cells["Kernel_Name"].strip('"') == "vgprbound"
    assert (cells["VGPR_Count"], cells["Accum_VGPR_Count"], cells["SGPR_Count"]) == (
        "124",
        "4",
        "80",
    )


def test_output_goes_to_a_file(tmp_path: Path) -> None:
    out, _, code = run(TEXT, "-o", str(tmp_path / "report.txt"))
    assert (out, code) == ("", 0)
    assert "vgprbound" in (tmp_path / "report.txt").read_text("utf-8")


def test_piped_text_has_neither_colour_nor_shortened_names() -> None:
    out, _, _ = run("assembly/variety-clang22-gfx942.s")
    assert "\x1b" not in out
    assert "void stride<unsigned long, -2>(unsigned long*)" in out


def test_colour_on_demand() -> None:
    assert "\x1b[" in run(TEXT, "--color", "always")[0]


def start(*arguments: str, **streams: object) -> subprocess.CompletedProcess[bytes]:
    """The module as a process of its own."""
    command = [sys.executable, "-m", "kernelinfo", *arguments]
    return subprocess.run(command, cwd=FIXTURES, capture_output=True, check=False, **streams)  # type: ignore[call-overload, no-any-return]


def test_standard_input() -> None:
    with (FIXTURES / OBJECT).open("rb") as file:
        ended = start("-", stdin=file)
    assert ended.returncode == 0
    assert b"vgprbound" in ended.stdout


def test_a_reader_that_stops_listening_ends_it_quietly() -> None:
    shell = f"{sys.executable} -m kernelinfo code_object --top 0 | head -1"
    ended = subprocess.run(shell, shell=True, cwd=FIXTURES, capture_output=True, check=False)
    assert ended.stderr == b""


def test_output_that_cannot_show_a_character(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    ended = start(TEXT)
    assert ended.returncode == 0
    assert b"vgprbound" in ended.stdout


def test_rules_explain_themselves() -> None:
    out, _, code = run("explain", "vgpr-spill")
    assert code == 0
    assert out.startswith("KI101 vgpr-spill (warning)")
    assert "What to do:" in out


def test_ctrl_c_leaves_without_a_word(tmp_path: Path) -> None:
    text = (FIXTURES / "assembly" / "variety-clang22-gfx942.s").read_bytes()
    (tmp_path / "long.s").write_bytes(text * 400)
    command = [sys.executable, "-m", "kernelinfo", "long.s", "--format", "jsonl"]
    process = subprocess.Popen(
        command,
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(FIXTURES.parent)},
    )
    assert process.stdout is not None
    assert process.stdout.readline().startswith(b'{"Kernel_Name":'), "the first line is there early"
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=20)
    assert process.returncode == 130
    assert err == b""
