"""Fixtures for pytest: reports of kernels, and the gate as a test.

pytest imports this module wherever kernelinfo is installed. It loads the rest when a test asks.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

import pytest

import kernelinfo

if TYPE_CHECKING:
    from kernelinfo import Report


LoadReport = Callable[..., "Report"]
"""The fixture `kernelinfo_report`: (path, or bytes of a code object, fields of `Options` as
keywords) → the report."""
RunCheck = Callable[..., None]
"""The fixture `kernelinfo_check`: (configuration, further arguments of `check`) → None. It fails
the test unless the gate passes."""


@pytest.fixture(scope="session")
def kernelinfo_report() -> LoadReport:
    """A function that returns the report of a path or of the bytes of a code object.

    Keyword arguments are the fields of `kernelinfo.Options`, such as `workgroup_size=256`. The
    function raises `KernelinfoError` rather than return a partial report.
    """

    def load_report(source: str | PathLike[str] | bytes, **options: Any) -> Report:
        return kernelinfo.load(source, kernelinfo.Options(**options))

    return load_report


@pytest.fixture(scope="session")
def kernelinfo_check() -> RunCheck:
    """A function that runs `kernelinfo check --config FILE` and fails the test unless the gate
    passes.

    The message has one line for each finding and problem. Paths of the configuration are relative
    to the current folder, as on the command line.
    """

    def run_check(config: str | PathLike[str], *arguments: str) -> None:
        __tracebackhide__ = True
        command = [sys.executable, "-P", "-m", "kernelinfo", "check", "--format", "text"]
        done = subprocess.run(
            [*command, "--config", fspath(config), *arguments],
            capture_output=True,
            encoding="utf-8",
            env={**os.environ, "PYTHONIOENCODING": "utf-8"},
            check=False,
        )
        said = f"{done.stdout}{done.stderr}".strip()
        if done.returncode:
            pytest.fail(said, pytrace=False)
        if not re.search(r"^kernelinfo check (?:passed|failed)\b", said, re.M):  # --help
            words = " ".join(arguments)
            pytest.fail(f"kernelinfo check {words}: checks nothing; leave it out", pytrace=False)

    return run_check
