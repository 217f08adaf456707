"""Small mutations of the product, each against the tests that reach it: `python -m tests.mutants`.

A mutant flips a comparison, adds one to a number, drops a branch, changes a string, or swaps a
result. It is killed if a test fails that passes without it, or if the tests do not end within 60 s
of CPU time. It survives a minute of the default tier's tests that enter its function, the
likeliest first. `--record` finds out which these are, in a run of the whole tier (into
build/mutants.json); what is not recorded is taken to enter its room and what it imports. Survivors
are printed by file, line, old and new text. The score is killed ÷ (all − equivalent), where
equivalents.toml says what is equivalent, and why. The exit code is 1 below 85 %.

    python -m tests.mutants --record                  # also each test file that has changed
    python -m tests.mutants --seed 1 --count 120 --room reading
    python -m tests.mutants --save before.json        # the mutants, to be run again
    python -m tests.mutants --list before.json        # before and after a rewrite of tests

The checkout stays as it is: mutants are made in copies of it.
"""

from __future__ import annotations

import argparse
import os
import queue
import sys
import tomllib
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

from .copies import ROOT, Copy, Verdict
from .mutations import Mutant, choose, load, save
from .reach import Reach
from .server import Answer

EQUIVALENTS = Path(__file__).with_name("equivalents.toml")
_LEAST = 85  # percent
_Item = TypeVar("_Item")
_Outcome = TypeVar("_Outcome")


def main() -> int:
    """The exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.mutants",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--room", help="mutate only this folder of kernelinfo")
    parser.add_argument("--list", type=Path, help="run the mutants of this file")
    parser.add_argument("--save", type=Path, help="write the mutants to this file first")
    parser.add_argument("--record", action="store_true", help="record what tests enter, first")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    mutants = load(options.list) if options.list else choose(ROOT, *_asked(options))
    if options.save:
        save(options.save, mutants)
    equivalent = {_key(mutant): reason for mutant, reason in equivalents()}
    chosen = [mutant for mutant in mutants if _is_there(mutant)]
    tried = [mutant for mutant in chosen if _key(mutant) not in equivalent]
    reach = Reach(ROOT)
    with _copies(options.jobs) as each:
        if options.record:
            for name, (answer, entered) in each(_recorded, reach.unrecorded):
                print(f"recorded in {answer.seconds} s: {name}", flush=True)
                reach.add(name, answer.code, answer.seconds, entered)
        verdicts = [*each(lambda copy, mutant: _told(copy.verdict(mutant, reach)), tried)]
    survivors = [verdict for verdict in verdicts if not verdict.killer]
    for verdict in sorted(survivors, key=lambda verdict: verdict[:2]):
        print(f"\nsurvives {verdict.files} test files: {_changed(verdict.mutant, verdict.line)}")
    for mutant in chosen:
        if mutant not in tried:
            print(f"\nequivalent: {_changed(mutant, _line(mutant))}\n  {equivalent[_key(mutant)]}")
    for mutant in mutants:
        if mutant not in chosen:
            print(f"\nno longer there: {_changed(mutant, 0)}")
    killed = len(verdicts) - len(survivors)
    score = 100 * killed / max(len(verdicts), 1)
    print(f"\n{len(chosen)} mutants: {killed} killed, {len(survivors)} survive,", end=" ")
    print(f"{len(chosen) - len(tried)} equivalent: {score:.0f} %")
    return 1 if score < _LEAST else 0


def equivalents() -> Iterator[tuple[Mutant, str]]:
    """Mutants that nobody can notice, with the reason."""
    for entry in tomllib.loads(EQUIVALENTS.read_text("utf-8"))["equivalent"]:
        mutant = Mutant(entry["file"], entry["old"], entry["new"], entry.get("nth", 0))
        yield mutant, entry["reason"]


def _asked(options: argparse.Namespace) -> tuple[list[str], int, int]:
    """Files to choose from, the number of mutants, and the seed."""
    below = ROOT / "kernelinfo" / (options.room or "")
    paths = sorted(below.rglob("*.py")) or sys.exit(f"{below}: no such room")
    return [path.relative_to(ROOT).as_posix() for path in paths], options.count, options.seed


@contextmanager
def _copies(jobs: int) -> Iterator[Callable[..., Iterator[Any]]]:
    """A function that does some work with each item in one of so many copies, in order."""
    with TemporaryDirectory(prefix="mutants-") as folder, ExitStack() as stack:
        idle: queue.SimpleQueue[Copy] = queue.SimpleQueue()
        pool = stack.enter_context(ThreadPoolExecutor(jobs))
        for number in range(jobs):
            idle.put(stack.enter_context(Copy(Path(folder, str(number)))))

        def each(
            work: Callable[[Copy, _Item], _Outcome], items: Iterable[_Item]
        ) -> Iterator[_Outcome]:
            def do(item: _Item) -> _Outcome:
                copy = idle.get()
                try:
                    return work(copy, item)
                finally:
                    idle.put(copy)

            return pool.map(do, items)

        yield each


def _told(verdict: Verdict) -> Verdict:
    place = f"{verdict.mutant.file}:{verdict.line}"
    print(f"{place}: {verdict.killer or 'survives'}", flush=True)
    return verdict


def _recorded(copy: Copy, test: str) -> tuple[str, tuple[Answer, list[str]]]:
    return test, copy.record(test)


def _is_there(mutant: Mutant) -> bool:
    return _line(mutant) > 0


def _line(mutant: Mutant) -> int:
    path = ROOT / mutant.file
    return mutant.line(path.read_text("utf-8")) if path.is_file() else 0


def _key(mutant: Mutant) -> tuple[str, str, str, int]:
    """The same for equal changes of equal lines, however they are indented."""
    return mutant.file, mutant.old.strip(), mutant.new.strip(), mutant.nth


def _changed(mutant: Mutant, line: int) -> str:
    """Place, old and new text."""
    texts = [f"\n  {sign} {text.strip()}" for sign, text in (("-", mutant.old), ("+", mutant.new))]
    return f"{mutant.file}:{line}{''.join(texts)}"


if __name__ == "__main__":
    sys.exit(main())
