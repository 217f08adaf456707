"""Coverage-guided fuzzing of every reader: `python -m tests.fuzz --seconds 60`.

Every reader runs in a process of its own, from its seeds, what is kept in tests/fuzz/corpus, and
what earlier runs left in `--corpus`; `--keep` keeps what is worth it. An input that breaks the
promise ends the run of its reader and is kept in tests/fuzz/regressions. pytest tries both ever
after. `--runs` tries so many inputs of each reader, from one seed, as CI must. Each reader's result
is printed when it ends.
"""

from __future__ import annotations

import argparse
import ctypes
import hashlib
import io
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import redirect_stderr
from functools import partial
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from .corpus import keep, lay_out

if TYPE_CHECKING:
    from .readers import Reader

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


def started(reader: str, arguments: list[str]) -> tuple[int, str]:
    """Exit code and output of libFuzzer in a new process, which instruments the code first."""
    command = [sys.executable, "-m", "tests.fuzz", "--reader", reader, "--", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace")
    return done.returncode, done.stderr


def _forked(reader: str, arguments: list[str]) -> tuple[int, str]:
    """The same in a copy of this process, whose code is instrumented: 5 s less for each reader."""
    with tempfile.TemporaryFile() as log:
        if child := os.fork():
            _, status = os.waitpid(child, 0)
        else:
            try:
                os.dup2(log.fileno(), 1)
                os.dup2(log.fileno(), 2)
                _fuzz_here(reader, arguments)
            finally:  # libFuzzer keeps the input; the parent's folders stay, unlike at `sys.exit`
                ctypes.CDLL(None).exit(1)
        log.seek(0)
        return os.waitstatus_to_exitcode(status), log.read().decode(errors="replace")


def fuzz(
    reader: str,
    seconds: int,
    corpus: Path,
    runs: int | None = None,
    run: Callable[[str, list[str]], tuple[int, str]] = started,
) -> Run:
    """Fuzz one reader for so long, or with so many inputs, in a process of its own."""
    from .readers import READERS

    folder = corpus / reader
    lay_out(reader, READERS[reader].seeds, folder)
    with tempfile.TemporaryDirectory() as found:
        arguments = [
            str(folder),
            *([f"-runs={runs}", "-seed=1"] if runs else [f"-max_total_time={seconds}"]),
            # Slow inputs are told by their CPU time: a clock counts what else the machine does.
            *(f"-timeout={_SECONDS_EACH}", "-report_slow_units=1000000"),
            *(f"-rss_limit_mb={_MEGABYTES}", "-max_len=65536", "-print_final_stats=1"),
            f"-artifact_prefix={found}/",
        ]
        code, log = run(reader, arguments)
        crashes = tuple(_keep(reader, path) for path in sorted(Path(found).iterdir()))
    count = _DONE.search(log)
    executions = int(count[1] or count[2]) if count else 0
    if code and not crashes:
        raise SystemExit(f"{reader}: the fuzzer itself failed\n{log[-2000:]}")
    slowest = max(map(float, _SLOWEST.findall(log)), default=0.0)
    peak = _PEAK.search(log)
    megabytes = int(peak[1]) if peak else 0
    return Run(reader, executions, crashes, slowest, megabytes, log[-3000:])


def _keep(reader: str, path: Path) -> Path:
    data = path.read_bytes()
    kept = REGRESSIONS / f"{reader}.{hashlib.sha1(data).hexdigest()[:12]}"
    kept.write_bytes(data)
    return kept


def _in_time(read: Callable[[bytes], object]) -> Callable[[bytes], None]:
    """The same reader, which fails if an input takes more than `promise.SECONDS` of CPU time.

    Each input slower than all before is told on standard error.
    """
    from .promise import SECONDS  # it imports the readers, which are instrumented first

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


def _instrumented() -> dict[str, Reader]:
    """The readers, with their code instrumented if this process has not imported it before."""
    import atheris

    # A line for each module would hide the results.
    with (
        redirect_stderr(io.StringIO()),
        atheris.instrument_imports(include=["kernelinfo", "elftools.dwarf"]),
    ):
        from .readers import READERS
    return READERS


def _fuzz_here(name: str, arguments: list[str]) -> None:
    """Never returns."""
    import atheris

    reader = _instrumented()[name]
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
    if given.runs and os.environ.get("PYTHONHASHSEED") != "0":
        again = [sys.executable, "-m", "tests.fuzz", *sys.argv[1:]]
        os.execve(sys.executable, again, os.environ | {"PYTHONHASHSEED": "0"})
    if given.libfuzzer:
        _fuzz_here(given.reader[0], given.libfuzzer)
    readers = _instrumented()
    names = given.reader or list(readers)
    each = max(1, given.seconds * given.jobs // len(names))
    runs = []
    with tempfile.TemporaryDirectory() as nowhere, get_context("fork").Pool(given.jobs) as pool:
        corpus = given.corpus or Path(nowhere)
        one = partial(fuzz, seconds=each, corpus=corpus, runs=given.runs, run=_forked)
        for run in pool.imap(one, names):
            runs.append(run)
            print(_line(run), flush=True)
        for name in names if given.keep else ():
            keep(name, readers[name].seeds, corpus / name)
    print(f"{'all':<18}{sum(run.executions for run in runs):>10,} executions")
    sys.exit(any(run.crashes for run in runs))


def _line(run: Run) -> str:
    most = f"{run.seconds:.2f} s and {run.megabytes} MB at most"
    crashes = [f"\n{run.log}\n{path}" for path in run.crashes]
    head = f"{run.reader:<18}{run.executions:>10,} executions  {len(crashes)} crashes, {most}"
    return head + "".join(crashes)


if __name__ == "__main__":
    main()
