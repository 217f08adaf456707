"""Answers to agents: the numbers of the command line, from below one folder, within a bound.

Each request with an id gets one, also one that cannot be read.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import socket
import zipfile
from pathlib import Path
from typing import Any

import pytest

import kernelinfo.agents as agents
from kernelinfo.agents import TOOLS, read_request
from kernelinfo.agents.answers import ANSWER_BYTES, ANSWERS, Answer, answer, bounded

from ..conftest import FIXTURES
from ..messages import says
from ..test_golden import run

OCCUPANCY = FIXTURES / "assembly" / "occupancy-hip-amdgcn-amd-amdhsa-gfx90a.s"
LIBRARY = FIXTURES / "container" / "libtwo.so"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with an assembly and a wheel; the current folder comes back after the test."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "root"
    folder.mkdir()
    shutil.copy(OCCUPANCY, folder / "k.s")
    shutil.copy(OCCUPANCY, tmp_path / "outside.s")
    with zipfile.ZipFile(folder / "demo-1.0-py3-none-any.whl", "w") as wheel:
        wheel.write(LIBRARY, "demo/libtwo.so")
    return folder


def asked(name: str, root: Path, **arguments: Any) -> Answer:
    found = answer(name, arguments, str(root))
    assert size(found) <= ANSWER_BYTES
    return found


def size(found: Answer) -> int:
    """Bytes of an answer as JSON."""
    whole = {"text": found.text, "structuredContent": found.document}
    return len(json.dumps(whole, ensure_ascii=False, separators=(",", ":")).encode())


def test_report_has_the_rows_of_the_command_line(root: Path) -> None:
    found = asked("report", root, path="k.s")
    text, _, _ = run("k.s", "--format", "jsonl", folder=root)
    by_name = {row["Symbol"]: row for row in map(json.loads, text.splitlines())}
    assert [row["Waves_Per_SIMD"] for row in found.document["kernels"]] == [1, 4, 8, 8]
    for row in found.document["kernels"]:
        known = {name: value for name, value in by_name[row["Symbol"]].items() if value is not None}
        assert row == known
    assert found.document["summary"] == {
        "kernels": 4, "spilling": 1, "findings": {"KI106": 1, "KI302": 1},
    }  # fmt: skip
    assert "vgprbound  next  ≤ 96 VGPRs" in found.text


def test_a_wheel_is_read(root: Path) -> None:
    found = asked("report", root, path="demo-1.0-py3-none-any.whl")
    members = {row["Member"].split("/")[1] for row in found.document["kernels"]}
    assert not found.is_error
    assert members == {"libtwo.so"}


def test_explain_is_the_text_of_the_command_line(root: Path) -> None:
    found = asked("explain", root, path="k.s", kernel="vgprbound")
    text, _, _ = run("explain", "k.s", "vgprbound", "--names", "short", folder=root)
    assert found.text == text.rstrip("\n")
    (kernel,) = found.document["kernels"]
    assert kernel["used"]["vgprs"] == 122
    assert kernel["occupancy"]["limiters"] == ["vgpr"]


def test_pressure_of_one_kernel_and_of_all(root: Path) -> None:
    one = asked("pressure", root, path="k.s", kernel="vgprbound")
    assert one.document["kernels"][0]["peak"]["vector"] == 122
    assert one.document["kernels"][0]["peak"]["line"] == 511
    every = asked("pressure", root, path="k.s")
    assert [kernel["peak"]["vector"] for kernel in every.document["kernels"]] == [122, 95, 64, 0]


def test_diff_names_what_moved(root: Path) -> None:
    shutil.copy(FIXTURES / "assembly" / "occupancy-clang22-gfx90a.s", root / "new.s")
    found = asked("diff", root, old="k.s", new="new.s")
    text, _, _ = run("diff", "k.s", "new.s", "--names", "short", folder=root)
    assert found.text == text.rstrip("\n")
    moved = {row["new"]["name"] for row in found.document["kernels"] if row["new"]}
    assert found.document["summary"]["affected"] <= len(moved)


def test_hardware_and_rules(root: Path) -> None:
    calculated = asked("calc", root, target="MI300X", vgprs=122)
    assert calculated.document["waves_per_simd"] == 4
    steps = asked("limits", root, target="gfx942").document["steps"]
    assert {name: steps[3][name] for name in ("waves_per_simd", "vgprs")} == {
        "waves_per_simd": 5.0,
        "vgprs": 96,
    }
    constants = asked("arch", root, target="MI300X").document["target"]
    assert (constants["name"], constants["waves"]["slots_per_simd"]) == ("gfx942", 8)
    assert "gfx90a" in {one["name"] for one in asked("arch", root).document["targets"]}
    rule = asked("rules", root, rule="spill-in-loop")
    assert rule.document["rule"] == "KI106"
    assert rule.document["documentation"] == rule.text
    assert "left_out" not in rule.document
    assert len(asked("rules", root).document["rules"]) > 20


def test_a_request_without_an_answer_says_why(root: Path) -> None:
    refused: list[tuple[str, dict[str, Any], str]] = [
        ("report", {"path": "../outside.s"}, "path-outside"),
        ("report", {"path": "k.s\0"}, "path-outside"),
        ("report", {"path": "nothing.s"}, "no such file"),
        ("report", {"path": "*.s"}, "path-missing"),
        ("report", {"path": "-"}, "no such file"),
        ("report", {"path": "k.s", "where": "waves <"}, "condition-malformed --where"),
        ("report", {"path": "k.s", "target": "gfx9999"}, "target-unknown gfx9999"),
        (
            "explain",
            {"path": "k.s", "kernel": "vgprbond"},
            "choice-of-none did-you-mean vgprbound",
        ),
        ("diff", {"old": "k.s", "new": "../outside.s"}, "path-outside"),
        ("calc", {"target": "gfx942", "wave_size": 32}, "launch-wave-size gfx942 … 32 … 64"),
        ("rules", {"rule": "KI999"}, "rule-not-there"),
    ]
    for name, arguments, message in refused:
        answered = asked(name, root, **arguments)
        assert (answered.is_error, says(answered.text, message)) == (True, True), answered.text
        assert answered.document["problems"][0] in answered.text


def test_links_out_of_the_root_are_not_followed(root: Path) -> None:
    (root / "link.s").symlink_to(root.parent / "outside.s")
    secret = root.parent / "secret"
    secret.mkdir()
    shutil.copy(OCCUPANCY, secret / "hidden.s")
    (root / "folder").symlink_to(secret)
    (root / "inside.s").symlink_to(root / "k.s")
    for path in ("link.s", "folder", "folder/hidden.s", "folder/../outside.s"):
        found = asked("report", root, path=path)
        assert found.is_error, path
        assert "outside" in found.text
    every = asked("report", root, path=".")
    assert every.document["summary"]["kernels"] >= 4
    assert "hidden" not in json.dumps(every.document)
    assert sum("outside of" in line for line in every.document["problems"]) == 2
    assert asked("report", root, path="inside.s").document["summary"]["kernels"] == 4


def test_a_sidecar_that_is_a_link_out_of_the_root_is_not_read(root: Path) -> None:
    """Triton's JSON next to a code object states its LDS."""
    code = FIXTURES / "code_object" / "occupancy-hip-amdgcn-amd-amdhsa-gfx90a.out"
    shutil.copy(code, root / "k.hsaco")
    stated = {"name": "_Z9vgprboundiPd", "shared": 4096, "num_warps": 4, "arch": "gfx90a"}
    (root.parent / "secret.json").write_text(json.dumps(stated))
    (root / "k.json").symlink_to(root.parent / "secret.json")
    rows = asked("report", root, path="k.hsaco", kernel="vgprbound").document["kernels"]
    assert [row["Dynamic_LDS"] for row in rows] == [0]
    (root / "k.json").unlink()
    (root / "k.json").write_text(json.dumps(stated))
    rows = asked("report", root, path="k.hsaco", kernel="vgprbound").document["kernels"]
    assert [row["Dynamic_LDS"] for row in rows] == [4096]


def test_fifos_sockets_and_devices_are_refused(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(root / "fifo.s")
    with socket.socket(socket.AF_UNIX) as opened:
        monkeypatch.chdir(root)
        opened.bind("socket.s")
    for path in ("fifo.s", "socket.s"):
        found = asked("pressure", root, path=path)
        assert found.is_error
        assert says(found.text, "file-not-regular")
    found = answer("report", {"path": "zero"}, "/dev")
    assert found.is_error
    assert says(found.text, "file-not-regular")


def test_an_answer_of_200_mb_is_cut_and_counted() -> None:
    rows = [{"name": "k" * 1000, "waves": 4, "unknown": None}] * 200_000
    line = "a kernel and its numbers\n"
    cut = bounded(Answer(line * (200_000_000 // len(line)), {"kernels": rows}, {"kernels": 5}))
    assert size(cut) <= ANSWER_BYTES
    shown = cut.document["kernels"]
    length = len(shown[0]["name"])
    assert shown == [{"name": "k" * length, "waves": 4}] * len(shown)
    left = cut.document["left_out"]
    assert left["kernels"] == 200_000 - len(shown) + 5
    assert left["kernels[].name (characters)"] == (1000 - length) * len(shown)
    assert says(cut.text.splitlines()[-1], "answer-cut-off 8000000")


def test_one_endless_line_is_cut() -> None:
    cut = bounded(Answer("x" * 50_000_000, {"kernels": [["\x1b"] * 99_999] * 99_999}))
    assert size(cut) <= ANSWER_BYTES
    assert "truncated" in cut.text


def test_control_characters_do_not_reach_a_terminal() -> None:
    text = bounded(Answer("a\x1b[2Jb\n\udcff", {})).text
    assert "\x1b" not in text
    assert text.encode()


def test_each_tool_has_a_function_and_describes_its_arguments() -> None:
    assert [tool.name for tool in TOOLS] == [*ANSWERS]
    for tool in TOOLS:
        assert "left_out" in tool.description
        for name, schema in tool.schema["properties"].items():
            assert schema["description"].endswith("."), name


def is_readable(line: str) -> bool:
    """Like the SDK: UTF-8, and a protocol."""
    try:
        json.dumps(json.loads(line), ensure_ascii=False).encode()
        return "jsonrpc" in json.loads(line)
    except (ValueError, RecursionError, TypeError):
        return False


def replaced(line: bytes) -> object:
    """The id of the request in place of a line; None for a blank line."""
    text = read_request(io.BytesIO(line + b"\n"), is_readable)
    if text == "\n":
        return None
    found = json.loads(text)
    assert found.pop("method") == "(a request that cannot be read)"
    assert found.pop("jsonrpc") == "2.0"
    return found.pop("id")


UNREADABLE = [
    (rb'{"jsonrpc":"2.0","id":7,"params":{"path":"\ud800"}}', 7),
    (rb'{"jsonrpc":"2.0","params":{"path":"\udc00","id":3},"id":7}', 7),
    (rb'{"jsonrpc":"2.0","params":{"id":3,"path":"\udc00"}}', None),
    (rb'{"jsonrpc":"2.0","id":"a-1","params":{"path":"\ud800"}}', "a-1"),
    (rb'{"jsonrpc":"2.0","id":"\ud800"}', None),
    (rb'{"jsonrpc":"2.0","id":true,"x":"\ud800"}', None),
    (rb'{"jsonrpc":"2.0","id":1.5,"x":"\ud800"}', None),
    (rb'{"jsonrpc":"2.0","id":null,"x":"\ud800"}', None),
    (rb'{"jsonrpc":"2.0","id":7,"params":', 7),
    (rb'{"jsonrpc":"2.0","id":007,"params":', None),
    (rb'{"jsonrpc":"2.0","id":7x,"params":', None),
    (rb'{"jsonrpc":"2.0","params":{"id":7', None),
    (b'{"jsonrpc":"2.0","id":8,"params":' + b"[" * 5000 + b"]" * 5000 + b"}", 8),
    (b'{"jsonrpc":"2.0","id":8,"params":' + b"9" * 5000 + b"}", 8),
    (b'{"jsonrpc":"2.0","id":' + b"9" * 5000 + b"}", None),
    (b"[" * 5000, None),
    (b"\xff\xfe", None),
    (b"[1]", None),
    (b"{}", None),
]
"""A request, and the id of its answer."""


def test_an_unreadable_request_keeps_its_id() -> None:
    wrong = [(line[:60], id) for line, id in UNREADABLE if replaced(line) != id]
    assert wrong == []


def test_a_long_request_keeps_its_id_and_the_next_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agents, "_LONGEST_REQUEST", 100)
    good = b'{"jsonrpc":"2.0","id":2}\n'
    stream = io.BytesIO(b'{"jsonrpc":"2.0","id":1,"params":"' + b"x" * 1000 + b'"}\n' + good)
    assert json.loads(read_request(stream, is_readable))["id"] == 1
    assert [read_request(stream, is_readable) for _ in range(2)] == [good.decode(), ""]
