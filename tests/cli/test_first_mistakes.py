"""Wrong and unusual command lines: each is answered by what was meant, or by what to do."""

from __future__ import annotations

import shlex
from importlib.util import find_spec
from pathlib import Path
from zipfile import ZipFile

import pytest

from ..conftest import FIXTURES
from ..test_golden import run

T = "assembly/occupancy-hip-amdgcn-amd-amdhsa-gfx90a.s"
V = "assembly/variety-clang22-gfx90a.s"
TWO = "container/libtwo.so"
RUN = "profile/kernel_trace.csv"

LINES = [
    # words of other tools
    ("help", 0, "Usage: kernelinfo [OPTIONS] COMMAND"),
    ("help diff", 0, "Usage: kernelinfo diff"),
    ("help gate", 0, "# The gate: budgets, rules and a baseline"),
    ("help KI106", 0, "KI106 spill-in-loop"),
    ("-V", 0, "kernelinfo "),
    ("--version", 0, "kernelinfo "),
    ("-h", 0, "Usage: kernelinfo [OPTIONS] COMMAND"),
    (f"{T} --json", 0, '"schema": "kernelinfo/'),
    (f"{T} --csv", 0, "Kernel_Name,Symbol,"),
    (f"diff {T} {T} --markdown", 0, "**kernelinfo diff"),
    (f"{T} --format xml", 2, "'xml' is not one of text, json"),
    (f"{T} -f json", 2, "No such option: -f"),
    (f"{T} --formt json", 2, "--format"),
    # rules, topics and targets by themselves
    ("KI302", 0, "KI302 at-cap-and-spilling"),
    ("explain ki302", 0, "KI302 at-cap-and-spilling"),
    ("explain KI106 KI302", 0, "KI302 at-cap-and-spilling"),
    ("explain KI999", 2, "neither a file nor a rule nor a topic"),
    ("explain VGPR-SPILL", 0, "KI101 vgpr-spill"),
    ("explain occupncy", 2, "did you mean occupancy?"),
    ("gfx942", 0, "gfx942 (CDNA3)"),
    ("arch --arch gfx942", 0, "gfx942 (CDNA3)"),
    ("arch gfx90", 2, "unknown target 'gfx90'; did you mean gfx900?"),
    ("limits MI300X", 0, "gfx942 (CDNA3), workgroups of 256"),
    ("limits", 2, "no target is named; give one, such as gfx942 or MI300X"),
    ("limits gfx90a:xnack+", 2, "gfx90a:xnack+ is a target with features; give gfx90a. "),
    (f"{T} --arch gfx90a:xnack-", 2, "--target gfx90a:xnack- chooses kernels by features"),
    (f"{T} --target gfx1030:xnack-", 2, "gfx1030:xnack- is no target: gfx1030 has no feature"),
    (f"{T} --target gfx90a:xnak-", 2, "gfx90a has sramecc+ or sramecc- and xnack+ or xnack-"),
    ("limits sm_80", 2, "sm_80 is an NVIDIA target; name an AMD one"),
    (f"{T} --target sm_90a", 2, "sm_90a is an NVIDIA target; name an AMD one"),
    ("limits gfx942 --arch gfx90a", 2, "gfx942 is not --arch gfx90a; name one target"),
    ("calc gfx942 --vgpr 96", 0, "5 waves/SIMD"),
    ("calc MI210 --vgpr 96", 0, "5 waves/SIMD"),
    ("calc --vgpr 96", 2, "no target is named; give --arch or --device"),
    ("calc gfx942 --lds much", 2, "'much' is not a number of bytes; write 4096, 64k or 64KiB"),
    # commands and files
    (f"explian {T}", 2, "no such file or command; did you mean explain?"),
    (T.replace("hip", "hib", 1), 2, f"did you mean {T}?"),
    ("no-such-folder", 2, "no such file or directory"),
    ("'assembly/*.nothing'", 2, "matches no file; check the pattern"),
    ("../grammars", 2, "no AMD GPU kernel found; give what the compiler left for the device"),
    ("container/occupancy-host-x86_64-pc-linux-gnu.o --target gfx942", 2, "no kernel matches"),
    ("broken/x86.o", 2, "no AMD GPU code"),
    ("broken/empty.s", 2, "empty"),
    ("report", 2, "Missing argument 'PATH...'"),
    (f"diff {T}", 2, "Missing argument 'NEW'"),
    (f"sweep {T}", 2, "give the .bc of --save-temps or Triton's .llir"),
    # swapped words
    (f"explain vgprbound {T}", 0, "vgprbound(int, double*)   gfx90a"),
    (f"pressure vgprbound {T}", 0, "122 live"),
    (f"compare-profile {T} {RUN}", 0, "predicted"),
    # names of kernels
    (f"explain {T} vgprbond", 2, "no kernel is named 'vgprbond' (4 in the file); did you mean"),
    (f"{T} -k vgprbuond", 2, "did you mean vgprbound"),
    (f"{T} -k bound", 2, "did you mean ldsbound, sgprbound or vgprbound?"),
    (f"explain {V} stride", 2, "2 kernels are named 'stride'"),
    (f"explain {V} 'stride<float,4>'", 0, "stride<float, 4>"),
    (f"explain {TWO} first_add", 2, "first_add · gfx90a"),
    (f"{T} -k 're:('", 2, "give a regular expression as RE2 reads them"),
    (f"{TWO} --member nope", 2, "no kernel matches --member nope"),
    (f"{TWO} --target gfx942", 2, "no kernel matches --target gfx942"),
    (f"check {TWO} -k nope -k first_add", 2, "-k nope matches no kernel"),
    # values
    (f"{T} --arch gfx942", 2, "leave --arch out; --as gfx942 asks what if"),
    (f"{T} --where 'wavs < 4'", 2, "no column 'wavs'; did you mean waves?"),
    (f"{T} --where 'waves < many'", 2, "waves is a number, and 'many' is none"),
    (f"{T} --sort vgprs", 2, "no column 'vgprs'; did you mean vgpr?"),
    (f"{T} --columns kernel,wave", 2, "no column 'wave'; did you mean waves?"),
    (f"{T} --by kernel", 2, "'kernel' is not one of"),
    (f"{T} --top all", 2, "Invalid value for '--top'"),
    (f"{T} --block 0", 2, "a workgroup has at least one workitem"),
    (f"{T} --limited-by vgprs", 2, "'vgprs' is not one of slots, vgpr"),
    (f"{T} --severity KI302", 2, "write RULE=error, RULE=warning or RULE=note"),
    (f"{T} --color yes", 2, "give auto, always or never"),
    (f"{T} -o report.html --format json", 2, "-o report.html means html, not --format json"),
    (f"{T} -o no/such/folder/report.txt", 2, "no/such/folder/report.txt: No such file"),
    (
        f"pressure {T} vgprbound --at 3",
        2,
        "--at 3: no instruction of the kernel is there; the ne",
    ),
    # globs that the shell expands
    (f"explain {T} {V} vgprbound", 2, "the shell may have expanded a glob: quote it"),
    (f"{T} -k make.sh", 2, "make.sh is a file here: quote a glob, as in -k 'm*'"),
    # damage, several targets, narrow screens
    ("explain broken/truncated.co", 2, "bytes: not read"),
    (
        f"explain {TWO} first_add --target gfx90a --target gfx1030",
        0,
        "first_add(int*, int)   gfx90a",
    ),
    (f"{T} --member nope --member no", 2, "no kernel matches --member nope --member no"),
    (f"{T} --width 20", 2, "20 is not in the range x>=40"),
    (f"{T} --names long", 2, "'long' is not one of"),
    (f"{T} --top 1 --columns kernel", 0, "ldsbound(int, double*) … 3 more kernels"),
    (f"{T} --by library --format html", 2, "has no counts; give text, json or csv"),
    (f"{T} --as gfx9999", 2, "unknown target 'gfx9999'"),
    ("sweep broken/bitcode.o", 2, "neither LLVM bitcode nor textual IR"),
    (f"pressure {T} nothing", 2, "no kernel is named 'nothing'"),
    (f"extract {TWO}", 2, "Missing option '-o'"),
    # products
    ("limits 'RX 7900 XTX'", 0, "gfx1100 (RDNA3), workgroups of 256"),
    (f"{T} --target 'RX 7900'", 2, "did you mean RX 7900 XTX, RX 7900 XT or RX 7900 GRE?"),
    (f"{T} --as w7900", 0, "what if on gfx1100 (RDNA3)"),
    (f"sweep {T} nothing", 2, "give the .bc of --save-temps or Triton's .llir"),
    (f"pressure {T} vgprbound --at here", 2, "give a line of the assembly, or FILE:LINE"),
]


@pytest.mark.parametrize(("line", "code", "answer"), LINES, ids=[line for line, *_ in LINES])
def test_a_line_is_answered(line: str, code: int, answer: str) -> None:
    out, err, ended = run(*shlex.split(line))
    said = " ".join(f"{out}\n{err}".split())
    assert " ".join(answer.split()) in said
    assert ended == code
    assert "Traceback" not in err


def host_library(section: bytes = b"") -> bytes:
    """The start of an x86-64 library of 64 bits, and the name of a section."""
    identity = b"\x7fELF\x02\x01\x01".ljust(16, b"\0")
    return identity + b"\3\0" + (62).to_bytes(2, "little") + b"\0" * 44 + section


@pytest.mark.parametrize(
    ("name", "content", "answer"),
    [
        ("libtorch_cuda.so", host_library(b".nv_fatbin\0"), "NVIDIA GPU code (CUDA)"),
        ("k.cubin", host_library()[:18] + (190).to_bytes(2, "little"), "NVIDIA GPU code (CUDA)"),
        ("k.ptx", b".version 8.0\n.target sm_80\n.entry k() { ret; }\n", "PTX, for NVIDIA GPUs"),
        ("libhost.so", host_library(), "no AMD GPU code found"),
    ],
)
def test_code_for_nvidia_is_named(name: str, content: bytes, answer: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    out, err, code = run(name, folder=tmp_path)
    assert (out, code) == ("", 2)
    assert err.startswith(f"{name}: ")
    assert answer in err
    assert "; give " in err


def test_a_cuda_wheel_is_named(tmp_path: Path) -> None:
    name = "torch-2.9.1+cu128-cp311-cp311-linux_x86_64.whl"
    with ZipFile(tmp_path / name, "w") as wheel:
        wheel.writestr("torch/lib/libtorch_cuda.so", host_library(b".nv_fatbin\0"))
    _, err, code = run(name, folder=tmp_path)
    told = f"{name}: NVIDIA GPU code (CUDA); give a build for AMD GPUs (ROCm)\n"
    assert (err, code) == (told, 2)


@pytest.mark.parametrize(
    ("line", "missing", "answer"),
    [
        ("trend fleet", "duckdb", "duckdb not installed; run pip install 'kernelinfo[fleet]'"),
        (f"scan {T} --to fleet --build 1", "fsspec", "run pip install 'kernelinfo[fleet]'"),
        (
            f"scan {T} --to fleet --build 1 --scheduler tcp://there:8786",
            "distributed",
            "distributed not installed; run pip install 'kernelinfo[cluster]'",
        ),
        (
            f"scan {T} --to fleet --build 1 --scheduler tcp://there:8786",
            "duckdb distributed",
            "duckdb, distributed not installed; run pip install 'kernelinfo[fleet,cluster]'",
        ),
        ("mcp", "mcp", "mcp not installed; run pip install 'kernelinfo[mcp]'"),
        (
            "sweep src/required.ll --arch gfx90a --compiler llvmlite",
            "llvmlite",
            "llvmlite is not installed; pip install 'kernelinfo[compile]'",
        ),
    ],
)
def test_a_missing_extra_is_named(
    line: str, missing: str, answer: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def found(name: str) -> object:
        return None if name in missing.split() else find_spec("json")

    for module in ("fleet.extras", "cli.mcp", "compile.compilers"):
        monkeypatch.setattr(f"kernelinfo.{module}.find_spec", found)
    out, err, code = run(*shlex.split(line))
    assert (out, code) == ("", 2)
    assert answer in err


def test_there_are_sixty_lines() -> None:
    assert len(LINES) >= 60


@pytest.mark.parametrize(
    ("command", "name", "begins"),
    [
        ((T,), "report.html", "<!doctype html>"),
        ((T,), "report.json", '{\n "schema": "kernelinfo/'),
        ((T,), "rows.jsonl", '{"Kernel_Name"'),
        ((T,), "rows.CSV", "Kernel_Name,"),
        ((T,), "report.md", "**kernelinfo"),
        (("check", T, "--exit-zero"), "found.sarif", '{\n "$schema"'),
        (("check", T, "--exit-zero"), "found.xml", "<?xml"),
        (("diff", T, T), "diff.md", "**kernelinfo diff"),
        (("limits", "gfx942"), "limits.csv", "waves_per_simd,"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_file_s_suffix_names_the_format(
    command: tuple[str, ...], name: str, begins: str, tmp_path: Path
) -> None:
    file = tmp_path / name
    _, err, code = run(*command, "-o", str(file))
    assert (err if "check" not in command else "", code) == ("", 0)
    assert file.read_text("utf-8").startswith(begins)


def test_a_file_called_like_a_word_is_read(tmp_path: Path) -> None:
    (tmp_path / "help").write_text((FIXTURES / T).read_text("utf-8"))
    assert "4 kernels" in run("help", folder=tmp_path)[0]


def test_colour_may_be_forced(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "\x1b[" not in run(T)[0]
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[" in run(T)[0]
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[" not in run(T)[0]
