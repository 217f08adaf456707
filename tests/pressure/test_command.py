"""`kernelinfo pressure`: one whole text, and what holds of every kernel."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import kernelinfo

from ..calls import count_calls
from ..conftest import CORPUS, FIXTURES, needs_corpus
from ..messages import refused
from ..test_golden import OCCUPANCY, compare, run
from . import texts
from .hostile_texts import nested_loops, registers_and_loops

SAMPLE = f"assembly/{OCCUPANCY}.s"
SCHEMA = Path(kernelinfo.__path__[0]) / "render" / "pressure" / "pressure-schema.json"
CLASSES = (
    *("vector", "matrix", "scalar", "lds", "loads", "stores", "atomics", "scalar_loads"),
    *("scratch", "branches", "waits", "barriers", "copies", "other"),
)


def test_one_kernel(regenerate: bool) -> None:
    out, err, code = run("pressure", SAMPLE, "vgprbound")
    assert (err, code) == ("", 0)
    compare("pressure/vgprbound.txt", out, regenerate)


def faults(kernel: dict[str, Any]) -> list[str]:
    """What does not add up in a kernel of the JSON."""
    peak, code, count = kernel["peak"], kernel["code"], kernel["instructions"]
    most = [max(column) for column in zip(*kernel["curve"], strict=True)]
    parts = [code, *kernel["loops"], *kernel["lines"]]
    groups = kernel["live_across"]
    spans = [
        (one[name], one[f"{name}_last"]) for one in groups for name in ("written", "next_read")
    ]
    holds = {
        "a point for each instruction": len(kernel["curve"]) == count,
        "the peak": most == [peak[name] for name in ("vgprs", "agprs", "sgprs")],
        "no more live than used": all(
            peak[name] <= kernel["used"][name] for name in kernel["used"]
        ),
        "reasons": kernel["exact"] is not bool(kernel["reasons"]),
        "blocks": sum(block["instructions"] for block in kernel["blocks"]) == count,
        "lines": not kernel["lines"]
        or sum(one["instructions"] for one in kernel["lines"]) == count,
        "classes": all(sum(one[name] for name in CLASSES) == one["instructions"] for one in parts),
        "loops": all(one["instructions"] <= count for one in kernel["loops"]),
        "places": all((a is None) is (b is None) for a, b in spans),
        "order": all(a is None or a["index"] <= b["index"] for a, b in spans),
        "untouched": all((one["untouched"] or 0) <= (one["untouched_most"] or 0) for one in groups),
        "bill": sum(one["count"] for one in kernel["bill"])
        == sum(kernel["curve"][kernel["at"]["index"]][:2]),
        "advice": all(sum(step["freed"]) == step["fewer"] for step in kernel["advice"]),
        "freed": all(
            freed <= value["count"]
            for step in kernel["advice"]
            for freed, value in zip(step["freed"], step["idle"], strict=True)
        ),
    }
    return [f"{kernel['symbol']}: {what}" for what, is_true in holds.items() if not is_true]


def test_numbers_add_up() -> None:
    for folder in ("assembly", "lines"):
        kernels = texts.kernels(FIXTURES / folder)
        assert [fault for kernel in kernels for fault in faults(kernel)] == []


@needs_corpus
@pytest.mark.nightly
def test_numbers_of_the_corpus_add_up() -> None:
    paths = sorted(CORPUS.rglob("*.s"))
    kernels = [kernel for path in paths for kernel in texts.kernels(path)]
    assert [fault for kernel in kernels for fault in faults(kernel)] == []
    assert len(kernels) > 1000


def test_registers_that_must_go_add_up() -> None:
    for kernel in texts.kernels(FIXTURES / SAMPLE):
        if not kernel["advice"]:
            continue
        out, _, _ = run("pressure", SAMPLE, kernel["symbol"], "--width", "400")
        (said,) = [line for line in out.splitlines() if line.startswith(" to reach ≤ ")]
        fewer, _, parts = said.partition(" fewer live at ")
        freed = re.findall(r"(?:: |; )(?:and )?(\d+)(?: of \d+)? (?:\(|more, )", parts)
        assert sum(map(int, freed)) == int(fewer.split()[-1]) == kernel["advice"][0]["fewer"]


def test_steps_say_what_else_limits_and_places_which_lines_they_count() -> None:
    text = "assembly/occupancy-clang22-gfx90a.s"
    out, _, _ = run("pressure", text, "ldsbound", "--width", "400")
    assert " to reach ≤ 168 (3 waves/SIMD; LDS allows 1), 41 fewer live" in out
    out, _, _ = run("pressure", text, "vgprbound", "--width", "400")
    assert " to reach ≤ 96 (5 waves/SIMD), " in out
    for command in ("pressure", "explain"):
        out, _, _ = run(command, "lines/in-flight-clang22-gfx942.s", "chase")
        assert re.search(r"\.LBB0_2 +(at )?asm line 43", out)
        assert not re.search(r"\.LBB0_2 +(at )?line 43", out)


def test_the_next_step_of_a_spilling_kernel_says_that_it_is_not_advised() -> None:
    text = "assembly/spills-clang22-gfx90a.s"
    out, _, _ = run("explain", SAMPLE, "vgprbound", "--width", "400")
    assert "\n next     ≤ 96 VGPRs (uses 122, −26) → 5 waves/SIMD, 62.5 %\n" in out
    out, _, _ = run("explain", text, "without_bound*", "-v", "--width", "400")
    assert re.search(r"^ next +≤ .* waves/SIMD, .* %; not advised: it spills already$", out, re.M)


def test_each_file_of_vector_registers_must_fit_a_step(tmp_path: Path) -> None:
    """gfx908: 100 VGPRs and 120 AGPRs are live at once; neither makes room for the other."""
    body = "".join(f"\tv_mov_b32_e32 v{n}, v0\n" for n in range(1, 100))
    body += "".join(f"\tv_accvgpr_write_b32 a{n}, v{n % 100}\n" for n in range(120))
    body += "".join(f"\tglobal_store_dword v0, v{n}, s[0:1]\n" for n in range(1, 100))
    body += "".join(f"\tglobal_store_dword v0, a{n}, s[0:1]\n" for n in range(120))
    [kernel] = texts.measured(tmp_path, body, target="gfx908")
    step = kernel["advice"][0]
    of_class = {"vgpr": 0, "agpr": 0}
    for freed, value in zip(step["freed"], step["idle"], strict=True):
        of_class[value["class"]] += freed
    assert kernel["peak"]["vector"] == 120
    assert of_class == {"vgpr": 100 - step["at_most"], "agpr": 120 - step["at_most"]}
    out, _, _ = run("pressure", str(tmp_path / "many.s"), "k0")
    for name, number in of_class.items():
        assert f"{number} {name.upper()}s" in out.partition("to reach")[2].partition(" fewer")[0]


def test_fewer_rows_are_the_first_rows_of_all_loops(tmp_path: Path) -> None:
    path = tmp_path / "k.s"

    def loops(top: int) -> list[list[str]]:
        out, err, code = run("pressure", str(path), "k", "--top", str(top), "--width", "400")
        assert (err, code) == ("", 0)
        return [line.split() for line in out.splitlines() if line.startswith(" .LBB0_")]

    for text in (nested_loops(20), registers_and_loops(60)):
        path.write_text(text)
        every = loops(0)
        assert len(every) > 3
        assert all(loops(top) == every[:top] for top in range(1, len(every)))


def test_code_and_descriptors_apart(tmp_path: Path) -> None:
    """Two kernels without `.type` and `.size`, then both descriptors in any order."""
    add, path = "\tv_add_u32_e32 v0, v1, v2\n", tmp_path / "k.s"

    def measured(first: str, second: str, *order: str) -> dict[str, tuple[int, list[str]]]:
        code = f"\t.globl first\nfirst:\n{first}\t.globl second\nsecond:\n{second}\ts_endpgm\n"
        described = "".join(map(texts.descriptor, order))
        path.write_text(f"{texts.HEAD}\t.text\n{code}{described}{texts.metadata(order)}")
        return {one["symbol"]: (one["instructions"], one["reasons"]) for one in texts.kernels(path)}

    for fill in ("", "\ts_nop 0\n" * 20_000):  # more than 64 KiB
        for order in (("first", "second"), ("second", "first")):
            found = measured(f"{add}\ts_endpgm\n", f"{add}{add}{fill}", *order)
            assert found == {"first": (2, []), "second": (3 + fill.count("\n"), [])}
            lines = {one.symbol: one.line for one in kernelinfo.load(path).kernels}
            text = path.read_text()
            assert lines == {
                name: text[: text.index(f"\n{name}:")].count("\n") + 2 for name in order
            }
    found = measured(add, add, "first", "second")
    assert found == {"first": (1, ["its code runs on into second"]), "second": (2, [])}


def test_reports_and_checks_do_not_know_of_it(tmp_path: Path) -> None:
    """Start-up, reports and checks import no module that only `pressure` and `explain` need."""
    commands = (["report"], ["report", "--format", "html"], ["check", "--format", "sarif"])
    program = (
        f"import sys\nfrom kernelinfo.__main__ import main\nfor words in {commands}:\n"
        f"    sys.argv = ['kernelinfo', *words, {str(FIXTURES / SAMPLE)!r}]\n"
        "    try:\n        main()\n    except SystemExit: pass\n"
        "print([name for name in sys.modules if 'pressure.' in name], file=sys.stderr)"
    )
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
    assert done.stdout
    assert done.stderr.splitlines()[-1] == "[]"


def test_one_kernel_from_python() -> None:
    path = FIXTURES / SAMPLE
    for name in ("vgprbound", "_Z9vgprboundiPd", "vgprbound(int, double*)", "vg*"):
        peak = kernelinfo.live_registers(path, name).peak
        assert peak
        assert (peak.pressure.vgprs, peak.at.line, peak.loop) == (122, 511, ".LBB1_2")
    for name, message in (("*bound", "kernels-of-one-name 3"), ("nothing", "kernel-not-named")):
        with refused(message, kernelinfo.ReadError):
            kernelinfo.live_registers(path, name)


def test_work_grows_with_the_code(tmp_path: Path) -> None:
    """The loop of `vgprbound` unrolled."""
    lines = (FIXTURES / SAMPLE).read_text("utf-8").split("\n")
    begin = next(i for i, line in enumerate(lines) if line.startswith(".LBB1_2")) + 2
    end = next(i for i, line in enumerate(lines) if i > begin and "s_cbranch" in line)
    path, work = tmp_path / "k.s", []
    for times in (3, 3, 12):  # the first fills caches
        path.write_text("\n".join([*lines[:begin], *lines[begin:end] * times, *lines[end:]]))
        work.append(count_calls(lambda: kernelinfo.live_registers(path, "vgprbound")))
    assert kernelinfo.live_registers(path, "vgprbound").instructions > 6_000
    assert work[2] <= 4.4 * work[1]
