"""Servers, folders and datasets that mean harm: bounded, and each bad entry a row of problems."""

from __future__ import annotations

import resource
from pathlib import Path

import pytest

from .scans import OBJECTS, kernelinfo, process, rows
from .servers import free_port, wait_for

pytest.importorskip("duckdb", reason="the extra kernelinfo[fleet] is not installed")

HOSTILE_SERVER = Path(__file__).with_name("hostile_server.py")
OBJECT = OBJECTS / "handwritten.co"
MESSAGES = {
    "./a::b.co": "a name with `::`",
    "bomb.co": "more than the 67108864 bytes",
    "control%01\\x1b[31m.co": "cannot be printed",
    "endless.co": "more than the 100000000 bytes",
    "endless/": "more than the 16777216 bytes",
    "gone.co": "404",
    "l" * 300 + ".co": "name too long",
    "local.co": "file:///etc/passwd",
    "longer.co": "changed meanwhile",
    "mute.co": "no answer in time",
    "self/" + "deeper/" * 32: "folders nested more than 32 deep",
    "shorter.co": "not completed",
    "slow.co": "no answer in time",
    "tag.co": "more than 8190 bytes",
}
"""By the name of the entry, a part of the line about it."""


def test_each_bad_entry_of_a_server_is_a_row_and_the_rest_is_there(tmp_path: Path) -> None:
    port = free_port()
    with process(HOSTILE_SERVER, port, OBJECT, quiet=True):
        wait_for(port)
        command = ("scan", f"http://127.0.0.1:{port}/", "--to", tmp_path, "--build", "b")
        bounds = ("--timeout", 6, "--bound", "fetch=100000000")
        _out, err, code = kernelinfo(*command, *bounds)
    told = dict(line.partition(f"127.0.0.1:{port}/")[2].split(": ", 1) for line in err.splitlines())
    assert code == 2
    assert told.keys() == {name.removeprefix("./") for name in MESSAGES}
    for name, message in MESSAGES.items():
        assert message in told[name.removeprefix("./")].lower().replace("file name", "name"), name
    assert {row["Path"] for row in rows(tmp_path)} == {"honest.co", "a", "a/b.co"}
    assert len(rows(tmp_path, table="problems")) == len(MESSAGES)
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss << 10 < 512_000_000
