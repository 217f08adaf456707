"""Large files that others shorten while they are read: the process goes on and names the loss."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.conftest import FIXTURES

from .opening import OBJECT

LARGE = 70 << 20
"""Bytes; a smaller file is read at once."""
FIRST_GOES = """
import json, os, sys
from kernelinfo import analysis
path, kept = sys.argv[1], int(sys.argv[2])
found, messages = [], []
for item in analysis.analyse([path], analysis.Options()):
    if hasattr(item, "kernel"):
        found.append(item.kernel.code_object.offset)
        os.truncate(path, kept)
    else:
        messages.append(item.message)
print(json.dumps([found, messages]))
"""


def bundle(*offsets: int) -> bytes:
    """A bundle of copies of one code object at these offsets."""
    table = b"__CLANG_OFFLOAD_BUNDLE__" + len(offsets).to_bytes(8, "little")
    for number, offset in enumerate(offsets):
        id = b"hip%d-amdgcn-amd-amdhsa--gfx90a" % number
        table += b"".join(n.to_bytes(8, "little") for n in (offset, len(OBJECT), len(id))) + id
    whole = bytearray(table.ljust(max(offsets) + len(OBJECT), b"\0"))
    for offset in offsets:
        whole[offset : offset + len(OBJECT)] = OBJECT
    return bytes(whole)


def read_while_it_shrinks(path: Path, kept: int) -> tuple[list[int], list[str]]:
    """Offsets of the code objects whose kernels were reported, and problems' messages."""
    command = [sys.executable, "-c", FIRST_GOES, str(path), str(kept)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (ended.returncode, ended.stderr) == (0, "")
    found, messages = json.loads(ended.stdout)
    return sorted(set(found)), messages


def test_what_is_left_is_reported_and_the_loss_named(tmp_path: Path) -> None:
    path = tmp_path / "large.hipfb"
    offsets = [4096, 8 << 20, LARGE]
    path.write_bytes(bundle(*offsets))
    found, messages = read_while_it_shrinks(path, 10 << 20)
    assert found == offsets[:2]
    assert messages[-1] == "shrank while it was read; read it again when it is complete"


def test_a_text_that_shrinks_keeps_its_first_kernels_and_names_the_loss(tmp_path: Path) -> None:
    path = tmp_path / "large.s"
    module = (FIXTURES / "assembly" / "tiny-v6-clang22-gfx90a.s").read_bytes()
    path.write_bytes(module * (LARGE // len(module) + 1))
    found, messages = read_while_it_shrinks(path, 1 << 20)
    assert len(found) > 1
    assert messages[-1] == "shrank while it was read; read it again when it is complete"


def test_small_files_are_read_as_they_were(tmp_path: Path) -> None:
    path = tmp_path / "small.hipfb"
    path.write_bytes(bundle(4096, 1 << 20))
    assert read_while_it_shrinks(path, 0) == ([4096, 1 << 20], [])
