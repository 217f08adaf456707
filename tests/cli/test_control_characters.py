"""Nothing of an input acts on a terminal: every field of every output, in every format.

Each input has the same hostile text wherever an input may have text: names, paths, stamps, targets,
source files, mnemonics, members, patterns and reasons of the configuration.
"""

from __future__ import annotations

import csv
import io
import json
import os
import re
import tarfile
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path
from xml.etree import ElementTree

import pytest

from ..conftest import FIXTURES
from ..outputs import outputs
from ..test_golden import run

PLANTED = "PLANTED"
LINE = f"\x1b[31m\x1b]0;x\x07\x85\x9b2J\u202e\u2066\u2028{PLANTED}"
"""ESC, BEL, NEL, CSI, two bidirectional controls and a separator of lines."""
EVIL = f"\r\n{LINE}"
ACTIVE = re.compile(r"[\0-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
OBJECT = FIXTURES / "code_object" / "tiny-lines-clang22-gfx90a.co"
TEXT = FIXTURES / "assembly" / "tiny-lines-clang22-gfx90a.s"
SYMBOL = b"_Z3addPii"


def quoted(text: str) -> str:
    """A string of YAML, TOML or JSON, with escapes."""
    return json.dumps(text)


def hostile_text() -> str:
    """Assembly with hostile text in a symbol, a mnemonic, a file, a stamp and arguments."""
    text, name = TEXT.read_text("utf-8"), SYMBOL.decode()
    before, metadata, behind = re.split(r"(?m)^(\s+\.amdgpu_metadata\n)", text)
    metadata += behind.replace(f"{name}.kd", quoted(f"{name}{LINE}.kd"))
    metadata = metadata.replace(f"    .name:           {name}", f"    .name: {quoted(name + LINE)}")
    metadata = metadata.replace(
        "- .address_space:", f"- .name: {quoted(EVIL)}\n        .address_space:"
    )
    begun = f"Begin function {name}"
    parts = [part.replace(name, f'"{name}{LINE}"') for part in before.split(begun)]
    before = f"{begun}{LINE}".join(parts).replace("src/tiny.hip", f"src{LINE}/tiny.hip")
    before = before.replace("s_endpgm", f"s_bogus{LINE} s0\n\ts_endpgm", 1)
    return before.replace("clang version 22", f"clang version {LINE} 22") + metadata


def hostile_object() -> bytes:
    """A code object with controls in a symbol, which is as long as before."""
    return OBJECT.read_bytes().replace(SYMBOL, b"\x1b[2J\x07\r\nP")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    top = tmp_path_factory.mktemp("hostile")
    build = top / f"build{EVIL}"
    build.mkdir()
    (build / f"text{EVIL}.s").write_text(hostile_text(), "utf-8")
    (build / f"object{EVIL}.co").write_bytes(hostile_object())
    with tarfile.open(build / f"pack{EVIL}.tar", "w") as archive:
        archive.add(OBJECT, f"member{EVIL}.co")
    (build / f"target{EVIL}.s").write_text(
        TEXT.read_text("utf-8").replace("gfx90a", f"gfx90a{LINE}", 1), "utf-8"
    )
    (build / f"cut{EVIL}.co").write_bytes(OBJECT.read_bytes()[:700])
    log = (FIXTURES / "log" / "variety-clang22-gfx90a.log").read_text("utf-8")
    (build / f"log{EVIL}.log").write_text(log.replace("src/", f"src{LINE[:-1]}/"), "utf-8")
    (top / "plain.s").write_bytes(TEXT.read_bytes())
    (top / "kernelinfo.toml").write_text(configuration(), "utf-8")
    profile = (FIXTURES / "profile" / "kernel_trace.csv").read_text("utf-8")
    rows = list(csv.DictReader(io.StringIO(profile)))
    for row in rows[::2]:
        row["Kernel_Name"] = f"{row['Kernel_Name']}{EVIL}"
        row["Agent_Id"] = f"Agent{EVIL}"
    with (top / "run.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    return top


def configuration() -> str:
    evil = quoted(EVIL).replace("\\u2028", "\u2028")
    return f"""\
fail-on = "note"
[workgroup-size]
{evil} = 64
[[budget]]
kernel = {evil}
vgpr = 1
[[budget]]
vgpr = 1
waves = 20
[[suppress]]
rule = "KI208"
kernel = "*"
reason = {evil}
[[suppress]]
rule = "KI101"
kernel = {evil}
reason = {evil}
until = "2020-01-01"
"""


def commands() -> Iterator[list[str]]:
    """Each path of each kind of output, with hostile text wherever it may stand."""
    build, one = f"build{EVIL}", f"build{EVIL}/text{EVIL}.s"
    packed = f"build{EVIL}/pack{EVIL}.tar"
    color = ["--color", "always", "--width", "60"]
    names = cycle(("full", "short", "mangled"))
    for format in outputs("report"):
        yield ["report", build, "plain.s", "--format", format, "--names", next(names)]
        yield ["explain", one, f"*{PLANTED}*", "--format", format]
        yield ["diff", packed, one, "--format", format]
        yield ["diff", one, "plain.s", "--format", format, "--as", "gfx942,gfx90a"]
    for path in (build, packed):
        yield ["report", path, *color, "--top", "0", "-v", "--all-copies"]
        yield ["report", path, "--group", "--sort", "name", "--names", "short"]
    yield ["report", f"no{EVIL}"]
    yield ["report", build, "-k", EVIL, "-k", "*"]
    yield ["explain", one, f"no{EVIL}"]
    yield ["explain", one, "*", *color]
    yield ["explain", one]
    for format in outputs("check"):
        yield ["check", build, "--format", format, "--baseline", "base.json"]
    yield ["check", build, *color, "--baseline", "base.json"]
    yield ["check", "--show-config"]
    yield ["check", "plain.s", "--update-baseline", "--baseline", f"new{EVIL}.json"]
    yield ["check", one, "--update-baseline", "--baseline", f"own{EVIL}.json"]
    yield ["diff", "plain.s", one, *color]
    yield ["diff", "base.json", one]
    for format in outputs("pressure"):
        yield ["pressure", one, f"*{PLANTED}*", "--format", format]
    yield ["pressure", one, "*", *color, "--top", "0"]
    yield ["pressure", one, f"no{EVIL}"]
    yield ["pressure", f"build{EVIL}/object{EVIL}.co"]
    for format in outputs("compare_profile"):
        yield ["compare-profile", "run.csv", build, "plain.s", "--format", format]
    yield ["extract", build, "-o", f"objects{EVIL}"]
    yield ["calc", "--arch", "gfx90a", "--vgpr", EVIL]
    yield ["limits", "--arch", EVIL]
    yield ["arch", EVIL]
    yield ["explain", EVIL]
    yield ["report", "plain.s", f"--{EVIL}"]
    yield ["report", "plain.s", "--format", EVIL]
    yield ["report", "plain.s", "--config", f"no{EVIL}.toml"]
    yield [EVIL]


@pytest.fixture(scope="module")
def baseline(folder: Path) -> Path:
    """A baseline with hostile names, code objects and stamps."""
    path = folder / "base.json"
    run("check", "plain.s", "--update-baseline", "--baseline", "base.json", folder=folder)
    document = json.loads(path.read_text("utf-8"))
    ((unit, kernels),) = document["kernels"].items()
    for kernel in kernels[::2]:
        kernel["name"] = f"{kernel['symbol']}{EVIL}"
    document["kernels"] = {unit + EVIL: kernels[::2], unit: kernels[1::2]}
    document["toolchain"] = [f"clang version 1.0{EVIL}"]
    path.write_text(json.dumps(document), "utf-8")
    return path


def test_nothing_acts_on_a_terminal(folder: Path, baseline: Path) -> None:
    for command in commands():
        out, err, _ = run(*command, folder=folder)
        assert out or err
        is_colored = "--color" in command
        assert_harmless(out, is_colored=is_colored)
        assert_harmless(err, is_colored=False)
        assert_valid(out, command[command.index("--format") + 1] if "--format" in command else "")


def test_nothing_in_a_file_acts_on_a_terminal(folder: Path, baseline: Path) -> None:
    """Those that are written as they are made, and one that is sorted first."""
    one = f"build{EVIL}/text{EVIL}.s"
    for command in (
        ["report", one, "--format", "csv"],
        ["check", one, "--format", "sarif"],
        ["diff", "plain.s", one],
        ["pressure", one],
    ):
        _, err, _ = run(*command, "-o", "output", folder=folder)
        assert_harmless(err, is_colored=False)
        assert_harmless((folder / "output").read_bytes().decode(), is_colored=False)


def assert_harmless(text: str, *, is_colored: bool) -> None:
    if is_colored:
        assert "\x1b[31m\x1b]" not in text
        text = re.sub(r"\x1b\[[\d;]*m", "", text)
    found = ACTIVE.search(text)
    assert not found, ascii(text[max(0, found.start() - 80) : found.end() + 80])
    assert not any(line.startswith(PLANTED) for line in text.splitlines())


def assert_valid(text: str, format: str) -> None:
    """The format's own reader takes it."""
    if not text:
        return
    match format:
        case "json" | "sarif" | "gitlab":
            json.loads(text)
        case "jsonl":
            for line in text.splitlines():
                json.loads(line)
        case "csv":
            heading, *rows = csv.reader(io.StringIO(text))
            assert {len(row) for row in rows} <= {len(heading)}
        case "junit":
            ElementTree.fromstring(text)


def test_the_inputs_hold_what_is_planted(folder: Path, baseline: Path) -> None:
    """Else the test above would see nothing."""
    out, err, _ = run("report", f"build{EVIL}", "--format", "json", folder=folder)
    document = json.loads(out)
    names = [kernel["name"] for kernel in document["kernels"]]
    assert any(PLANTED in name and "\x1b" in name for name in names)
    assert any("\n" in name for name in names)
    assert any(PLANTED in str(one["compiler"]) for one in document["inputs"])
    assert any("\n" in str(one["member"]) for one in document["inputs"])
    assert any(
        PLANTED in kernel["source"]["file"] for kernel in document["kernels"] if kernel["source"]
    )
    assert "\\x85" in err
    out, _, _ = run("check", f"build{EVIL}", "--baseline", "base.json", folder=folder)
    assert PLANTED in out


@pytest.mark.needs("duckdb")
def test_a_trend(tmp_path: Path) -> None:
    from ..fleet.nights import add, kernels, worse

    first, second, *others = (
        row | {"Kernel_Name": f"{row['Kernel_Name']}{EVIL}"} for row in kernels()
    )
    stamped = {"Compiler": f"clang version 1.0{EVIL}", "Member": f"member{EVIL}"}
    add(tmp_path / "fleet", f"a{LINE}", [first, second, *others])
    add(tmp_path / "fleet", f"b{LINE}", [worse(first) | stamped, *others])
    for format, *more in [[one] for one in outputs("trend")] + [["text", "--color", "always"]]:
        out, err, _ = run("trend", "fleet", "--format", format, *more, folder=tmp_path)
        assert PLANTED in out
        assert_harmless(out, is_colored=bool(more))
        assert_harmless(err, is_colored=False)
        assert_valid(out, format)
    out, err, code = run("trend", "fleet", "--builds", f"no{EVIL}", folder=tmp_path)
    assert code == 2
    assert_harmless(out + err, is_colored=False)


IR = """\
target triple = "amdgcn-amd-amdhsa"
define amdgpu_kernel void @"k{name}"(ptr addrspace(1) %p) #0 {{
  store i32 1, ptr addrspace(1) %p
  ret void
}}
attributes #0 = {{ "target-cpu"="gfx90a" }}
"""


@pytest.mark.needs("llvmlite")
def test_a_sweep(tmp_path: Path) -> None:
    name = "".join(f"\\{byte:02x}" for byte in EVIL.encode())
    (tmp_path / f"k{EVIL}.ll").write_text(IR.format(name=name))
    command = ["sweep", f"k{EVIL}.ll", "--waves", "1,2", "--compiler", "llvmlite"]
    formats = [[format] for format in outputs("sweep")]
    for format, *more in [*formats, ["text", "--color", "always"], ["text", "--level", EVIL]]:
        out, err, _ = run(*command, "--format", format, *more, folder=tmp_path)
        assert out or err
        assert_harmless(out, is_colored="--color" in more)
        assert_harmless(err, is_colored=False)
        assert_valid(out, format)


def test_a_scan_that_lists(tmp_path: Path) -> None:
    build = tmp_path / f"build{EVIL}"
    build.mkdir()
    (build / f"object{EVIL}.co").write_bytes(hostile_object())
    out, err, _ = run("scan", str(build), "--to", "fleet", "--build", f"b{LINE}", folder=tmp_path)
    assert out or err
    assert_harmless(out + err, is_colored=False)


def test_a_log_of_a_ci_service_sees_no_command(folder: Path) -> None:
    """The same place keeps names from being commands of a CI service."""
    path = folder / "::error::x.s"
    path.write_bytes(TEXT.read_bytes()[: os.path.getsize(TEXT) // 2])
    out, err, _ = run("report", path.name, folder=folder)
    path.unlink()
    assert not any(line.startswith("::") for line in (out + err).splitlines())


def test_a_key_of_the_configuration_is_one_line(folder: Path) -> None:
    (folder / "own.toml").write_text(f"{quoted(EVIL)} = 1\nfail-on = {quoted(EVIL)}\n", "utf-8")
    out, err, code = run("check", "plain.s", "--config", "own.toml", folder=folder)
    assert (out, code, len(err.splitlines())) == ("", 2, 2)
    assert_harmless(err, is_colored=False)
