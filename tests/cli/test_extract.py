"""`kernelinfo extract`: what is written is what was read, and nothing is left of what fails."""

from __future__ import annotations

import resource
from pathlib import Path

import kernelinfo

from ..conftest import FIXTURES
from ..messages import tells
from ..test_golden import run

LIBRARY = "container/libtwo.so"


def test_what_is_written_is_what_the_report_reads(tmp_path: Path) -> None:
    out, err, code = run("extract", LIBRARY, "-o", str(tmp_path / "new"))
    assert (err, code) == ("", 0)
    names = [line.split("  ")[0] for line in out.splitlines()]
    within = kernelinfo.load(FIXTURES / LIBRARY).kernels
    apart = [kernel for name in names for kernel in kernelinfo.load(name).kernels]
    assert [k.symbol for k in apart] == [k.symbol for k in within]
    assert [k.traits.demand for k in apart] == [k.traits.demand for k in within]


def test_a_folder_that_takes_no_file_is_left_as_it_was(tmp_path: Path) -> None:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    for is_there in (False, True):
        if is_there:
            (tmp_path / "new").mkdir()
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
        try:
            _, err, code = run("extract", LIBRARY, "-o", str(tmp_path / "new"))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
        assert (tells(err, "extract-unwritable File too large"), code) == (True, 2)
        assert (tmp_path / "new").exists() == is_there
