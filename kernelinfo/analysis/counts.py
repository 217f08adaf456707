"""What was found of each path of a run, what was left out, and whether that is a problem."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Iterable, Iterator

from kernelinfo.analysis.options import Options
from kernelinfo.errors import did_you_mean
from kernelinfo.kernel.names import base_name
from kernelinfo.occupancy.limits import RESOURCES
from kernelinfo.reading.blob import Missing, Note, Problem
from kernelinfo.rules.remark import counted

_MOST_NAMES = 1 << 12
"""Kernel names that are kept for a suggestion."""
_MOST_PROBLEMS = 1000
"""Of one file: an archive could have one in every member."""


_HOST = "-host-"
_WITHOUT_KERNELS = (
    ".hip", ".cu", ".cpp", ".cc", ".cxx", ".h", ".hpp",
    ".cui", ".hipi", ".i", ".ii", ".bc", ".ll", ".out.resolution.txt",
)  # fmt: skip
"""Sources, preprocessed ones, LLVM IR, and what the linker leaves."""


class PathCounts:
    """Counts for one input path."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.found = 0
        """Chosen kernels, and host files whose code is in another input."""
        self.folders: set[str] = set()
        """Of the files that hold chosen kernels."""
        self.repeated = 0
        """Code objects that count once, with another."""
        self.leftovers: list[Problem] = []
        """Of files that a compiler leaves next to those that hold kernels."""
        self.missing: list[Missing] = []
        """Host files whose code is not there."""
        self.not_shown = 0
        """Of them, kernels that --limited-by or --spilling leaves out."""
        self.notes: list[Note] = []
        self.of_other_sizes = 0
        """Kernels compiled for none of the workgroup sizes that the options ask about."""
        self.of_other_targets = 0
        """Kernels of targets that are not chosen."""
        self.passed_over = 0
        """Kernels of names that are not chosen."""
        self.unchosen: set[str] = set()
        """Some of their names, demangled."""
        self.met: set[tuple[str, str]] = set()
        """Pairs of an option and its value, `("-k", "gemm*")`, that chose a kernel."""
        self.problems: Counter[str] = Counter()
        """By file."""
        self.unlisted: Counter[str] = Counter()
        """By file, problems that are not listed, because they are too many."""
        self.last_unlisted: dict[str, Problem] = {}
        """By file, the last of them; where a bound ended the reading, it names the bound."""

    def add(self, more: PathCounts) -> None:
        """Add the counts of another process for the same path."""
        self.folders |= more.folders
        self.found += more.found
        self.leftovers += more.leftovers
        self.missing += more.missing
        self.repeated += more.repeated
        self.not_shown += more.not_shown
        self.of_other_sizes += more.of_other_sizes
        self.of_other_targets += more.of_other_targets
        self.passed_over += more.passed_over
        self.problems += more.problems
        self.notes += more.notes
        self.unchosen |= more.unchosen
        self.met |= more.met
        self.unlisted += more.unlisted
        self.last_unlisted |= more.last_unlisted

    def lists(self, problem: Problem) -> bool:
        """Count a problem; False if it is listed at the end of the run, if at all."""
        self.problems[problem.path] += 1
        if self.problems[problem.path] > _MOST_PROBLEMS:
            self.unlisted[problem.path] += 1
            self.last_unlisted[problem.path] = problem
            return False
        if _is_left_by_compiler(problem):
            self.leftovers.append(problem)
            return False
        return True

    def pass_over(self, name: str) -> None:
        """Count a kernel whose name is not chosen."""
        self.passed_over += 1
        if len(self.unchosen) < _MOST_NAMES:
            self.unchosen.add(name)

    @property
    def left_out(self) -> int:
        """Kernels that were not chosen."""
        return self.passed_over + self.of_other_targets

    def summaries(self) -> Iterator[Problem | Note]:
        """The notes, each once, and one `Problem` for all host files whose code is not there, and
        for each file with too many problems."""
        yield from once(self.notes)
        if count := self.of_other_sizes:
            many = "kernel is" if count == 1 else "kernels are"
            message = f"{count} {many} compiled for other workgroup sizes: no occupancy is claimed"
            yield Note(self.path, f"{message}; name one by -k to judge it")
        if self.missing:
            yield Missing.problem(self.missing)
        for path, count in self.unlisted.items():
            last = self.last_unlisted[path]
            message = f"{count} more problems are not listed, of which this is the last: "
            yield last._replace(message=message + last.message)

    def no_kernel_problem(self, options: Options) -> Problem | None:
        """A `Problem` if no chosen kernel was found."""
        is_answered = self.problems or self.missing or self.repeated
        if self.found or (is_answered and not self.left_out):
            return None
        message = "no AMD GPU kernel found; give what the compiler left for the device"
        if self.left_out:
            kind = "folder" if os.path.isdir(self.path) else "file"
            choice = " ".join(options.choices)
            message = f"no kernel matches {choice} ({self.left_out} in the {kind})"
            message += self._suggestion(options.kernels)
        return Problem(self.path, message)

    def _suggestion(self, patterns: tuple[str, ...]) -> str:
        """`; did you mean gemm?`, of the first kernel name that is most like a pattern."""
        suggestion = (did_you_mean(pattern, map(base_name, self.unchosen)) for pattern in patterns)
        return next((f"; {one}" for one in suggestion if one), "")


def conclusions(counts: Collection[PathCounts], options: Options) -> Iterator[Problem | Note]:
    """The notes of a run, and a `Problem` for each path without a chosen kernel.

    Kernels that are not chosen are no problem where another path has chosen ones.
    """
    yield from notes(counts)
    any_found = any(one.found for one in counts)
    for one in counts:
        if not (any_found and one.left_out) and (problem := one.no_kernel_problem(options)):
            yield problem
    yield from _left_out(counts, options)
    if any_found:
        met = set().union(*(one.met for one in counts))
        names = [name for one in counts for name in one.unchosen]
        for message in unmatched(options, met, names):
            yield (Problem if options.is_gate else Note)(place(one.path for one in counts), message)


def notes(counts: Collection[PathCounts]) -> Iterator[Problem | Note]:
    """The notes of each path; what a compiler left is no problem next to kernels."""
    folders = set().union(*(one.folders for one in counts))
    passed_over: list[Note] = []
    for one in counts:
        yield from one.summaries()
        for problem in one.leftovers:
            if os.path.dirname(problem.path) in folders:
                passed_over.append(Note(problem.path, problem.message))
            else:
                yield problem
    yield from once(passed_over)


def once(notes: Iterable[Note]) -> Iterator[Note]:
    """The first note of each message, with how many others have the same."""
    by_message: dict[str, list[Note]] = {}
    for note in notes:
        by_message.setdefault(note.message, []).append(note)
    for message, (first, *others) in by_message.items():
        so = f" (so {len(others)} more)" if others else ""
        yield first._replace(message=message + so)


def _is_left_by_compiler(problem: Problem) -> bool:
    """True if a file without kernels is one that hipcc reads, or leaves with --save-temps."""
    name = os.path.basename(problem.path)
    is_host = _HOST in name and name.endswith(".s")
    return (is_host or name.endswith(_WITHOUT_KERNELS)) and os.path.isfile(problem.path)


def unmatched(
    options: Options, met: Collection[tuple[str, str]], names: Iterable[str] = ()
) -> Iterator[str]:
    """`-k nope matches no kernel` for each `-k` and `--target` that is not in `met`.

    `names` are demangled names of kernels that were not chosen; the message suggests the nearest.
    """
    bases = {base_name(name) for name in names}
    for option, value in options.unmatched(met):
        near = did_you_mean(value, bases) if option == "-k" else ""
        yield f"{option} {value} matches no kernel" + (f"; {near}" if near else "")


def place(paths: Iterable[str]) -> str:
    """The path of a run, or the number of its paths: `2 paths`."""
    distinct = set(paths)
    return distinct.pop() if len(distinct) == 1 else f"{len(distinct)} paths"


def _left_out(counts: Collection[PathCounts], options: Options) -> Iterator[Note]:
    """How many kernels the run leaves out."""
    where = place(one.path for one in counts)
    found = sum(one.found for one in counts)
    others = sum(one.of_other_targets for one in counts)
    if others and found:
        are = "kernel is" if others == 1 else "kernels are"
        yield Note(where, f"{others} {are} for other targets than {' and '.join(options.targets)}")
    if options.limited_by or options.spilling:
        shown = found - sum(one.not_shown for one in counts)
        limiters = " or ".join(RESOURCES[name] for name in options.limited_by)
        conditions = [f"are limited by {limiters}"] if limiters else []
        conditions += ["spill"] if options.spilling else []
        kernels = counted(found, "kernel")
        yield Note(where, f"{shown} of {kernels} {' and '.join(conditions)}")
