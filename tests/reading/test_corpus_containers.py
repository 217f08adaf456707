"""Containers of all compilers against an independent count, and hostile ones within limits."""

from __future__ import annotations

import csv
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from kernelinfo import Options, Problem, Result, analyse
from tests.conftest import CORPUS, HOSTILE, TESTS, needs_corpus

pytestmark = needs_corpus

NO_CONTAINERS = ("text", "code object", "triton sidecar")
COUNTED_HERE = {
    # The index could not look into it, but says what it holds.
    "containers/libthree-no-sections.so": {"gfx1030": 6, "gfx90a": 6},
    # One member is in a neighbouring folder: not read, but named.
    "archives/libthin.a": {"gfx1030": 2, "gfx90a": 2},
}
SILENT = ("archive-member-outside", "entry-contradiction")
FOLDERS = ("bundle/", "ccob/", "offloadbinary/", "archive/", "compressed/", "pe/", "triton/")
LIMIT_BYTES = 768 << 20
"""Of address space: the interpreter and its libraries take the first 100 MiB."""
CPU_SECONDS = 5


def rows(index: Path) -> list[dict[str, str]]:
    lines = index.read_text("utf-8").splitlines() if index.exists() else []
    return list(csv.DictReader(lines))


FILES = [
    row
    for row in rows(CORPUS / "INDEX.csv")
    if row["kind"] == "text bundle" or not row["kind"].startswith(NO_CONTAINERS)
    if not row["file"].startswith("more/")  # formats that are not read yet
]


@pytest.mark.parametrize("row", FILES, ids=lambda row: row["file"])
def test_kernels_of_each_target(row: dict[str, str]) -> None:
    expected = Counter(COUNTED_HERE.get(row["file"], {}))
    if not expected:
        for pair in row["targets=kernels"].split():
            target, count = pair.rsplit("=", 1)
            expected[target] += int(count)
    found, problems = Counter[str](), list[Problem]()
    for item in analyse([str(CORPUS / row["file"])], Options()):
        if isinstance(item, Problem):
            problems.append(item)
        elif isinstance(item, Result):
            found[item.kernel.code_object.target or ""] += 1
    assert found == expected
    if expected:
        left = [one for one in problems if "hipv4-spirv64" not in str(one.member)]
        assert [one for one in left if one.code not in SILENT] == []
    elif "bitcode" in row["kind"] or "bitcode" in row["special"]:
        assert {problem.code for problem in problems} <= {"bitcode"}
    else:
        assert problems


PROGRAM = f"""
import os, resource, sys
from kernelinfo import Options, analyse

for path in sys.argv[1:]:
    child = os.fork()
    if not child:  # its limits end this file alone
        resource.setrlimit(resource.RLIMIT_CPU, ({CPU_SECONDS}, {CPU_SECONDS}))
        resource.setrlimit(resource.RLIMIT_AS, ({LIMIT_BYTES}, {LIMIT_BYTES}))
        messages = [getattr(item, "message", "") for item in analyse([path], Options())]
        is_told = messages and not any("\\n" in message for message in messages)
        os._exit(0 if is_told else 3)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code:
        print(code, path)
"""


DANGERS = [row["file"] for row in rows(HOSTILE / "INDEX.csv") if row["file"].startswith(FOLDERS)]


def test_hostile_files_end_soon_and_stay_small() -> None:
    command = [sys.executable, "-c", PROGRAM, *(str(HOSTILE / name) for name in DANGERS)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=TESTS.parent, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
