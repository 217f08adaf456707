"""All that takes longer than a push may: `python -m tests.nightly [STEP...]`.

It needs what `.ci/run` leaves: `.venv` with everything. Each step runs whatever came of those
before it; the table at the end has their times, and the exit code is 1 if one failed. `--list`
prints the steps.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from .tools import TOOLS, missing

ROOT = Path(__file__).parent.parent
SEED = str(datetime.now(UTC).toordinal())
"""Another one each day."""
PYTEST = f"{sys.executable} -m pytest -q"
SHORT = "tests/reading tests/cli tests/rules tests/test_golden.py"
"""What other Pythons and other versions of what we depend on are tried with."""
STEPS = {
    "nightly": f"{PYTEST} -m nightly",
    "tools": f"{PYTEST} -m tools",
    "properties": f"env HYPOTHESIS_PROFILE=nightly {PYTEST} tests/render tests/reading tests/gate",
    "order": f"{PYTEST} --order {SEED}",
    "busy": PYTEST,
    "fuzz": f"{sys.executable} -m tests.fuzz --seconds 300 --corpus build/fuzz",
    "differential": f"{sys.executable} -m tests.differential --seed {SEED}",
    "robustness": f"{sys.executable} -m tests.robustness --one-in 20 --fuzz-seconds 120",
    "pressure": f"{sys.executable} -m tests.pressure",
    "sweep": f"{sys.executable} -m tests.sweep --kernels 48 --interrupts 20 --seed {SEED}",
    "fleet": f"{sys.executable} -m tests.fleet --seed {SEED}",
    "benchmarks": f"{sys.executable} -m tests.benchmarks --short --python {sys.executable}",
    "mutants": f"{sys.executable} -m tests.mutants --seed {SEED} --count 60",
    "python3.12": "python3.12",
    "python3.13": "python3.13",
    "python3.14": "python3.14",
    "lowest": "python3.11 -c .ci/lowest.txt",
    "newest": "python3.11 --upgrade --upgrade-strategy eager",
}


def run_step(name: str) -> int:
    """Run a step. Returns its exit code."""
    command = STEPS[name]
    if command.startswith("python3"):
        return _try_elsewhere(*command.split())
    with _busy_loops(4 if name == "busy" else 0):
        return subprocess.run(command.split(), cwd=ROOT, check=False).returncode


def _try_elsewhere(python: str, *options: str) -> int:
    """Exit code of the tests in an environment of this Python with these options of pip."""
    program = shutil.which(python)
    if program is None:
        print(f"{python} is not installed")
        return 1
    with TemporaryDirectory() as folder:
        own = f"{folder}/bin/python"
        commands = [
            [program, "-m", "venv", folder],
            [own, "-m", "pip", "install", "-q", *options, "-e", ".[test]"],
            [own, "-m", "pytest", "-q", *SHORT.split()],
        ]
        for command in commands:
            if code := subprocess.run(command, cwd=ROOT, check=False).returncode:
                return code
    return 0


@contextmanager
def _busy_loops(count: int) -> Iterator[None]:
    """So many processes that take all the time they get, while the block runs."""
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.nightly", description=__doc__)
    parser.add_argument("steps", nargs="*", metavar="STEP", help="all, if none is given")
    parser.add_argument("--list", action="store_true", help="print the steps")
    given = parser.parse_args()
    if given.list:
        print(*(f"{name:<13} {command}" for name, command in STEPS.items()), sep="\n")
        return 0
    if unknown := set(given.steps) - STEPS.keys():
        parser.error(f"no steps: {', '.join(sorted(unknown))}; --list prints them")
    if absent := missing(*TOOLS):
        print(f"not installed, so that tests are skipped: {', '.join(absent)}")
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    rows, failed = [], False
    for name in given.steps or STEPS:
        print(f"+ {name}: {STEPS[name]}", flush=True)
        began = time.monotonic()
        code = run_step(name)
        failed |= code != 0
        rows.append(f"{time.monotonic() - began:6.0f} s  {name}" + ("  FAILED" if code else ""))
    print(*rows, sep="\n")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
