"""`kernelinfo pressure` as users run it."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import resource
import subprocess
import sys
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

import kernelinfo

from ..conftest import FIXTURES
from ..test_golden import OCCUPANCY, VARIETY, compare, run
from . import disassembler, texts
from .hostile_texts import nested_loops, registers_and_loops

SAMPLE = f"assembly/{OCCUPANCY}.s"
SCHEMA = Path(kernelinfo.__file__).parent / "render" / "pressure" / "pressure-schema.json"
LINES = "assembly/tiny-lines-clang22-gfx90a.s"


def test_what_a_loop_does_with_a_value_is_told() -> None:
    out, _, _ = run("pressure", "lines/attention-clang22-gfx942.s", "attention", "--top", "3")
    assert "5 instructions hold 173; 12 of 784 hold more than 168" in out
    assert "509: not touched in the whole loop\n" in out
    assert "386; only read in the loop\n" in out


@pytest.mark.parametrize("kernel", ["vgprbound", "ldsbound", "sgprbound"])
def test_one_kernel(kernel: str, regenerate: bool) -> None:
    out, err, code = run("pressure", SAMPLE, kernel)
    assert (err, code) == ("", 0)
    compare(f"pressure/{kernel}.txt", out, regenerate)


@pytest.mark.parametrize("name", ["spills-clang22-gfx90a", "variety-clang22-gfx90a"])
def test_all_kernels_of_a_file(name: str, regenerate: bool) -> None:
    out, err, code = run("pressure", f"assembly/{name}.s", "--top", "0")
    assert (err, code) == ("", 0)
    compare(f"pressure/{name}.txt", out, regenerate)


@disassembler.needed
def test_namesakes_bear_their_target() -> None:
    rows = run("pressure", "container/libtwo.so")[0].splitlines()[1:9]
    names = [row.partition("0x")[2].split(maxsplit=1)[1] for row in rows]
    assert names[:2] == ["first_claim(int*) · gfx1030", "first_claim(int*) · gfx90a"]
    assert len({*names}) == 8
    of_one = run("pressure", "container/libtwo.so", "--target", "gfx90a", "--top", "3")[0]
    assert "first_claim(int*)\n" in of_one
    assert of_one.endswith("\n 1 more kernel; --top 0 shows all\n")


def test_the_highest_peak_stands_first() -> None:
    out, _, _ = run("pressure", SAMPLE)
    peaks = [line.split()[0] for line in out.splitlines()[1:5]]
    assert peaks == ["122", "95", "64", "0"]


@pytest.mark.parametrize(("size", "code"), [(0, 0), (4, 2)])
def test_a_kernel_without_instructions(tmp_path: Path, size: int, code: int) -> None:
    """Clang makes such kernels of `__builtin_unreachable()`. A stated size means that some are
    missing."""
    text = (FIXTURES / SAMPLE).read_text().replace("; %bb.0:\n\ts_endpgm\n", "; %bb.0:\n", 1)
    path = tmp_path / "k.s"
    path.write_text(text.replace("; codeLenInByte = 4\n", f"; codeLenInByte = {size}\n", 1))
    missing = "has no instructions" if code == 0 else "its instructions are not found"
    for kernel in ((), ("empty",)):
        out, err, ended = run("pressure", str(path), *kernel)
        assert "_Z5emptyiPd" in err
        assert missing in err
        assert ended == code
        assert ("vgprbound" in out) is (not kernel)


@pytest.mark.parametrize("path", [SAMPLE, LINES, *(f"{name}" for name in VARIETY[:1])])
def test_json_is_what_its_schema_says(path: str) -> None:
    out, _, code = run("pressure", path, "--format", "json")
    document = json.loads(out)
    Draft202012Validator(json.loads(SCHEMA.read_text("utf-8"))).validate(document)
    assert code == 0
    for kernel in document["kernels"]:
        assert len(kernel["curve"]) == kernel["instructions"]
        most = [max(column) for column in zip(*kernel["curve"], strict=True)]
        assert most == [kernel["peak"][name] for name in ("vgprs", "agprs", "sgprs")]
        assert sum(block["instructions"] for block in kernel["blocks"]) == kernel["instructions"]


@pytest.mark.parametrize(
    "path",
    [
        LINES,
        pytest.param("code_object/tiny-lines-clang22-gfx90a.co", marks=disassembler.needed),
    ],
)
def test_source_lines_add_up_to_the_kernel(path: str, tmp_path: Path) -> None:
    """Instructions of line 0 have their own row."""
    given = path
    if path is LINES:
        text = (FIXTURES / LINES).read_text("utf-8")
        first = text.index("v_lshlrev_b32")
        given = str(tmp_path / "zero.s")
        Path(given).write_text(text[:first] + ".loc 1 0 0\n\t" + text[first:])
    out, _, code = run("pressure", given, "--format", "json")
    assert code == 0
    without = 0
    for kernel in json.loads(out)["kernels"]:
        assert sum(line["instructions"] for line in kernel["lines"]) == kernel["instructions"]
        without += sum(line["line"] is None for line in kernel["lines"])
    assert without == (path is LINES)
    if path is LINES:
        out, _, _ = run("pressure", given, "add", "--top", "0")
        assert "no source line" in out


def test_a_group_states_where_its_values_are_written_and_read_first_and_last() -> None:
    out, _, _ = run("pressure", SAMPLE, "vgprbound", "--format", "json")
    (kernel,) = json.loads(out)["kernels"]
    wide = 0
    for group in kernel["live_across"]:
        for name in ("written", "next_read"):
            first, last = group[name], group[f"{name}_last"]
            assert (first is None) is (last is None)
            if first:
                assert first["line"] <= last["line"]
                wide += first["line"] < last["line"]
        assert group["untouched"] <= group["untouched_most"]
    assert wide > 5
    text, _, _ = run("pressure", SAMPLE, "vgprbound")
    assert "v[64:65]" in text
    assert "line 100 – 101" in text


def test_every_key_of_the_schema_is_described() -> None:
    pending = [json.loads(SCHEMA.read_text("utf-8"))]
    while pending:
        node = pending.pop()
        for name, value in node.get("properties", {}).items():
            assert "description" in value or "const" in value, name
        pending += [value for value in node.values() if isinstance(value, dict)]


def test_csv_has_a_row_a_kernel() -> None:
    out, _, _ = run("pressure", SAMPLE, "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert [row["VGPR_Peak"] for row in rows] == ["0", "122", "95", "64"]
    assert rows[1]["Peak_Line"] == "511"


def test_another_line_than_the_peak() -> None:
    out, _, code = run("pressure", SAMPLE, "vgprbound", "--at", "100")
    assert code == 0
    assert "live at line 100" in out
    out, _, code = run("pressure", LINES, "add", "--at", "tiny.hip:15")
    assert code == 0
    assert "live at tiny.hip:15" in out or "live there" in out


@pytest.mark.parametrize("at", ["7", "tiny.hip:9999", "here"])
def test_a_line_without_an_instruction_is_an_error(at: str) -> None:
    _, err, code = run("pressure", SAMPLE, "vgprbound", "--at", at)
    assert code == 2
    assert err.startswith(f"kernelinfo: --at {at}: ")


def test_a_class_of_registers() -> None:
    out, _, _ = run("pressure", SAMPLE, "vgprbound", "--class", "sgpr")
    table = out.partition("live there")[2].partition("\n\n")[0]
    assert " s[" in table
    assert " v[" not in table


def test_a_kernel_that_is_not_there() -> None:
    out, err, code = run("pressure", SAMPLE, "nothing")
    assert (out, code) == ("", 2)
    assert "no kernel is named 'nothing'" in err


def test_no_kernel_at_all() -> None:
    _, err, code = run("pressure", "broken/plain-text.txt")
    assert code == 2
    assert "found; give what the compiler left for the device" in err


def test_what_bounds_the_numbers_is_named() -> None:
    out, _, code = run("pressure", f"{VARIETY[0]}", "indirect")
    assert code == 0
    assert "at least " in out
    assert "calls" in out


def test_hand_written_registers_are_evaluated() -> None:
    out, _, code = run("pressure", "assembly/handwritten.s", "--format", "json")
    (kernel,) = json.loads(out)["kernels"]
    assert code == 0
    assert kernel["used"] == {"vgprs": 70, "agprs": 24, "sgprs": 48}
    assert kernel["exact"]


@pytest.mark.nightly
@disassembler.needed
def test_a_code_object_says_what_its_assembly_says() -> None:
    text, _, _ = run("pressure", SAMPLE, "--format", "csv")
    objects, err, code = run("pressure", f"code_object/{OCCUPANCY}.out", "--format", "csv")
    assert (err, code) == ("", 0)
    kept = ("Kernel_Name", "Instructions", "Vector_Peak", "SGPR_Peak", "Instructions_Above")
    both = [
        [[row[column] for column in kept] for row in csv.DictReader(io.StringIO(out))]
        for out in (text, objects)
    ]
    assert both[0] == both[1]


@pytest.mark.nightly
@disassembler.needed
def test_a_code_object_has_source_lines_by_its_debug_information() -> None:
    out, _, code = run("pressure", "code_object/tiny-lines-clang22-gfx90a.co", "add")
    assert code == 0
    assert "tiny.hip:15" in out


def test_a_code_object_without_a_disassembler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    monkeypatch.setenv("ROCM_PATH", "/nonexistent")
    if os.path.exists("/opt/rocm/llvm/bin/llvm-objdump"):
        pytest.skip("ROCm is installed where it is always found")
    out, err, code = run("pressure", f"code_object/{OCCUPANCY}.out")
    assert (out, code) == ("", 2)
    assert "needs llvm-objdump (LLVM 14 or newer" in err
    assert "the .s of --save-temps needs nothing" in err


@pytest.mark.parametrize(
    "script",
    [
        "import sys; sys.exit(3)",
        "print('garbage')",
        "import time; time.sleep(30)",
    ],
)
def test_a_disassembler_that_fails_is_as_none(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, script: str
) -> None:
    program = tmp_path / "llvm-objdump"
    program.write_text(f"#!{sys.executable}\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("ROCM_PATH", "/nonexistent")
    monkeypatch.setattr("kernelinfo.pressure.disassembly._SECONDS", 0.5)
    _, err, code = run("pressure", f"code_object/{OCCUPANCY}.out")
    assert code == 2
    assert "needs llvm-objdump" in err


@pytest.mark.parametrize(
    "arguments",
    [
        ["report"],
        ["report", "--format", "html"],
        ["report", "--format", "json"],
        ["check"],
        ["check", "--format", "sarif"],
    ],
    ids=" ".join,
)
def test_reports_and_checks_do_not_know_of_it(arguments: list[str], tmp_path: Path) -> None:
    """Start-up, reports and checks import no module that only `pressure` and `explain` need."""
    path = [str(FIXTURES / SAMPLE)]
    program = (
        f"import sys; sys.argv = ['kernelinfo', *{[*arguments, *path]}]\n"
        "from kernelinfo.__main__ import main\n"
        "try:\n    main()\nexcept SystemExit: pass\n"
        "print([name for name in sys.modules if 'pressure' in name], file=sys.stderr)"
    )
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
    assert done.stdout
    assert done.stderr.splitlines()[-1] == "[]"


def seconds(program: str) -> float:
    """CPU time of a run. The modules are already compiled."""
    compiled = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-c", program]
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True, cwd=FIXTURES, env=compiled)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


@pytest.mark.nightly
def test_explain_takes_at_most_half_as_long_again() -> None:
    """A kernel of 913 instructions with and without live registers. The least of 15 alternating
    runs."""
    start = f"import sys; sys.argv = ['kernelinfo', 'explain', '{SAMPLE}', 'vgprbound']\n"
    without = "from kernelinfo.cli import explain; explain._pressure = lambda *_, **__: []\n"
    end = "from kernelinfo.__main__ import main; main()"
    runs = [(seconds(start + end), seconds(start + without + end)) for _ in range(15)]
    whole, rest = map(min, zip(*runs, strict=True))
    assert whole <= 1.5 * rest


@pytest.mark.parametrize("name", ["nested", "far"])
def test_fewer_rows_are_the_first_rows_of_all_loops(name: str, tmp_path: Path) -> None:
    text = {"nested": nested_loops(20), "far": registers_and_loops(60)}[name]
    path = tmp_path / "k.s"
    path.write_text(text)

    def loops(top: int) -> list[list[str]]:
        out, err, code = run("pressure", str(path), "k", "--top", str(top), "--width", "400")
        assert (err, code) == ("", 0)
        return [line.split() for line in out.splitlines() if line.startswith(" .LBB0_")]

    every = loops(0)
    assert len(every) > 3
    for top in range(1, len(every)):
        assert loops(top) == every[:top]


@pytest.mark.parametrize(
    "path",
    [SAMPLE, "lines/attention-clang22-gfx942.s"],
)
def test_registers_that_must_go_add_up(path: str) -> None:
    """In the sentence and in JSON."""
    kernels = json.loads(run("pressure", path, "--format", "json")[0])["kernels"]
    above = [kernel for kernel in kernels if kernel["advice"]]
    assert above
    for kernel in above:
        for step in kernel["advice"]:
            assert sum(step["freed"]) == step["fewer"]
            assert all(
                freed <= value["count"]
                for freed, value in zip(step["freed"], step["idle"], strict=True)
            )
        out, _, _ = run("pressure", path, kernel["symbol"], "--width", "400")
        (said,) = [line for line in out.splitlines() if line.startswith(" to reach ≤ ")]
        fewer, _, parts = said.partition(" fewer at ")
        freed = re.findall(r"(?:: |; )(?:and )?(\d+)(?: of \d+)? (?:\(|more, )", parts)
        assert sum(map(int, freed)) == int(fewer.split()[-1]) == kernel["advice"][0]["fewer"]


def test_each_file_of_vector_registers_must_fit_a_step(tmp_path: Path) -> None:
    """gfx908: 100 VGPRs and 120 AGPRs are live at once; neither makes room for the other."""
    body = "".join(f"\tv_mov_b32_e32 v{n}, v0\n" for n in range(1, 100))
    body += "".join(f"\tv_accvgpr_write_b32 a{n}, v{n % 100}\n" for n in range(120))
    reads = "".join(f"\tglobal_store_dword v0, v{n}, s[0:1]\n" for n in range(1, 100))
    reads += "".join(f"\tglobal_store_dword v0, a{n}, s[0:1]\n" for n in range(120))
    path = tmp_path / "k.s"
    path.write_text(texts.module(body + reads).replace("gfx90a", "gfx908"))
    (kernel,) = json.loads(run("pressure", str(path), "--format", "json")[0])["kernels"]
    step = kernel["advice"][0]
    of_class = {"vgpr": 0, "agpr": 0}
    for freed, value in zip(step["freed"], step["idle"], strict=True):
        of_class[value["class"]] += freed
    assert kernel["peak"]["vector"] == 120
    assert of_class == {"vgpr": 100 - step["at_most"], "agpr": 120 - step["at_most"]}
    out, _, _ = run("pressure", str(path), "k")
    for name, number in of_class.items():
        assert f"{number} {name.upper()}s" in out.partition("to reach")[2].partition(" fewer")[0]
