"""Coverage-guided fuzzing of every reader: `python -m tests.fuzz --seconds 60`.

Every reader runs in a process of its own, from its seeds, what is kept in tests/fuzz/corpus, and
what earlier runs left in `--corpus`; `--keep` keeps what is worth it. An input that breaks the
promise ends the run of its reader and is kept in tests/fuzz/regressions. pytest tries both ever
after. `--runs` tries so many inputs of each reader, the same every time, as CI must.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from .corpus import keep, lay_out
from .promise import SECONDS

REGRESSIONS = Path(__file__).with_name("regressions")
_DONE = re.compile(r"^Done (\d+) runs|^stat::number_of_executed_units: (\d+)", re.MULTILINE)
_PEAK = re.compile(r"^stat::peak_rss_mb:\s+(\d+)", re.MULTILINE)
_SLOWEST = re.compile(r"^slowest input: ([\d.]+) s", re.MULTILINE)
_SECONDS_EACH = 120
"""Seconds by the clock after which an input counts as hanging, on a busy machine."""
_MEGABYTES = 512


class Run(NamedTuple):
    """Results of fuzzing one reader."""

    reader: str
    executions: int
    crashes: tuple[Path, ...]
    seconds: float
    """CPU time of the slowest input, with the code instrumented."""
    megabytes: int
    """Peak memory of the process, fuzzer included."""
    log: str


def fuzz(reader: str, seconds: int, corpus: Path, runs: int | None = None) -> Run:
    """Fuzz one reader for so long, or with so many inputs, in a process of its own."""
    from .readers import READERS

    folder = corpus / reader
    lay_out(reader, READERS[reader].seeds, folder)
    with tempfile.TemporaryDirectory() as found:
        command = [
            *(sys.executable, "-m", "tests.fuzz", "--reader", reader, "--", str(folder)),
            *([f"-runs={runs}", "-seed=1"] if runs else [f"-max_total_time={seconds}"]),
            # Slow inputs are told by their CPU time: a clock counts what else the machine does.
            *(f"-timeout={_SECONDS_EACH}", "-report_slow_units=1000000"),
            *(f"-rss_limit_mb={_MEGABYTES}", "-max_len=65536", "-print_final_stats=1"),
            f"-artifact_prefix={found}/",
        ]
        environment = os.environ | ({"PYTHONHASHSEED": "0"} if runs else {})
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", env=environment
        )
        crashes = tuple(_keep(reader, path) for path in sorted(Path(found).iterdir()))
    count = _DONE.search(done.stderr)
    executions = int(count[1] or count[2]) if count else 0
    if done.returncode and not crashes:
        raise SystemExit(f"{reader}: the fuzzer itself failed\n{done.stderr[-2000:]}")
    slowest = max(map(float, _SLOWEST.findall(done.stderr)), default=0.0)
    peak = _PEAK.search(done.stderr)
    megabytes = int(peak[1]) if peak else 0
    return Run(reader, executions, crashes, slowest, megabytes, done.stderr[-3000:])


def _keep(reader: str, path: Path) -> Path:
    data = path.read_bytes()
    kept = REGRESSIONS / f"{reader}.{hashlib.sha1(data).hexdigest()[:12]}"
    kept.write_bytes(data)
    return kept


def _in_time(read: Callable[[bytes], object]) -> Callable[[bytes], None]:
    """The same reader, which fails if an input takes more than `SECONDS` of CPU time.

    Each input slower than all before is told on standard error.
    """
    slowest = 0.0

    def timed(data: bytes) -> None:
        nonlocal slowest
        began = time.process_time()
        read(data)
        took = time.process_time() - began
        assert took <= SECONDS, f"{took} s"
        if took > slowest:
            slowest = took
            print(f"slowest input: {took:.3f} s", file=sys.stderr)

    return timed


def _fuzz_here(name: str, arguments: list[str]) -> None:
    """Never returns."""
    import atheris

    with atheris.instrument_imports(include=["kernelinfo", "elftools.dwarf"]):
        from .readers import READERS
    reader = READERS[name]
    # libFuzzer starts itself again through a shell to merge inputs.
    itself = f"{sys.executable} -m tests.fuzz --reader {name} --"
    atheris.Setup([itself, *arguments], _in_time(reader.read))
    atheris.Fuzz()


def main() -> None:
    """Fuzz every reader, or the given ones, and say what came of it."""
    options = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    options.add_argument("--seconds", type=int, default=60, help="for all readers together")
    options.add_argument(
        "--runs", type=int, metavar="N", help="inputs for each, instead of seconds"
    )
    options.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options.add_argument("--corpus", type=Path, help="kept between runs; else nowhere")
    options.add_argument("--keep", action="store_true", help="what was found, in tests/fuzz/corpus")
    options.add_argument("--reader", action="append", help="only this one; repeatable")
    options.add_argument("libfuzzer", nargs="*", help=argparse.SUPPRESS)
    given = options.parse_args()
    if find_spec("atheris") is None:
        raise SystemExit("atheris is not installed; `pip install atheris` (CPython to 3.13)")
    if given.libfuzzer:
        _fuzz_here(given.reader[0], given.libfuzzer)
    from .readers import READERS

    names = given.reader or list(READERS)
    each = max(1, given.seconds * given.jobs // len(names))
    with tempfile.TemporaryDirectory() as nowhere, ThreadPoolExecutor(given.jobs) as pool:
        corpus = given.corpus or Path(nowhere)
        runs = list(pool.map(lambda name: fuzz(name, each, corpus, given.runs), names))
        if given.keep:
            list(pool.map(lambda name: keep(name, READERS[name].seeds, corpus / name), names))
    for run in runs:
        most = f"{run.seconds:.2f} s and {run.megabytes} MB at most"
        print(
            f"{run.reader:<18}{run.executions:>10,} executions  {len(run.crashes)} crashes, {most}"
        )
        for path in run.crashes:
            print(f"{run.log}\n{path}")
    print(f"{'all':<18}{sum(run.executions for run in runs):>10,} executions")
    sys.exit(any(run.crashes for run in runs))


if __name__ == "__main__":
    main()
