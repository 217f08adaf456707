"""The inputs of a run: the loop that opens them, and counts of chosen and missing kernels."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial
from typing import Literal, TypeVar

from kernelinfo.analysis.messages import say
from kernelinfo.analysis.options import Options
from kernelinfo.errors import Message, ReadError, bug, survived
from kernelinfo.kernel import Repeat, counted, grouped
from kernelinfo.kernel.pattern import nearest_kernels
from kernelinfo.model.limits import RESOURCES
from kernelinfo.reading import build_log
from kernelinfo.reading.blob import Again, Blob, Elsewhere, Found, Missing, Note, Problem, SpirV
from kernelinfo.reading.containers import open_bytes, open_paths
from kernelinfo.reading.containers.files import Seen
from kernelinfo.reading.containers.parts import problem
from kernelinfo.reading.data import text_of
from kernelinfo.reading.facts import Module, ReadFilter
from kernelinfo.reading.target_id import UNKNOWN_TARGET

_MOST_NAMES = 1 << 16
"""Most names to keep for a suggestion. A library of 88 137 kernels has 11 431."""
_MOST_TARGETS = 1 << 10
"""Most targets to tell apart; LLVM has a hundred with their features."""
_MOST_LISTED = 20
"""Most targets in a message."""
_MOST_PROBLEMS = 1000
"""Most problems to list of one file: an archive could have one in every member."""


_HOST = "-host-"
_WITHOUT_KERNELS = (
    ".hip", ".cu", ".cpp", ".cc", ".cxx", ".h", ".hpp",
    ".cui", ".hipi", ".i", ".ii", ".bc", ".ll", ".out.resolution.txt",
)  # fmt: skip
"""Suffixes of sources, preprocessed sources, LLVM IR and linker leftovers."""

Sought = Literal["kernel", "code object"]
NO_KERNEL = say("file-without-kernels")
_NOTHING: dict[Sought, Message] = {
    "kernel": NO_KERNEL,
    "code object": say("file-without-code-objects"),
}


class PathCounts:
    """Counts for one input path."""

    def __init__(self, path: str, *, is_compiled: bool = False) -> None:
        self.path = path
        self.is_compiled = is_compiled
        """True for a source that the analysis reads compiled: its problems are no leftovers."""
        self.found = 0
        """Number of chosen kernels or code objects, and of host files with code elsewhere."""
        self.folders: set[str] = set()
        """Folders of files with chosen kernels."""
        self.repeated = 0
        """Number of code objects that repeat an earlier one, and of files that are read already."""
        self.leftovers: list[Problem] = []
        """Problems of files that a compiler leaves next to its output."""
        self.missing: list[Missing] = []
        """Host files whose device code is missing."""
        self.not_shown = 0
        """Number of chosen kernels that --limited-by, --spilling or --where hides."""
        self.notes: list[Note] = []
        self.of_other_sizes = 0
        """Number of chosen kernels that are not compiled for the workgroup size in question."""
        self.other_targets: Counter[str] = Counter()
        """Id of a target that is not chosen -> number of its kernels or code objects."""
        self.spirv: Counter[str] = Counter()
        """File -> number of its entries with SPIR-V."""
        self.of_other_members = 0
        """Number of kernels in members that are not chosen."""
        self.passed_over = 0
        """Number of kernels whose name is not chosen."""
        self.unchosen: set[str] = set()
        """Names of kernels that are not chosen; at most 65 536."""
        self.met: set[tuple[str, str]] = set()
        """Options that chose a kernel, as pairs: `("-k", "gemm*")`."""
        self.problems: Counter[str] = Counter()
        """File -> number of problems."""
        self.unlisted: Counter[str] = Counter()
        """File -> number of problems beyond the first 1000, which are not listed."""
        self.last_unlisted: dict[str, Problem] = {}
        """File -> its last unlisted problem. It names the bound if a bound ended the reading."""

    def add(self, more: PathCounts) -> None:
        """Add the counts of another process for this path."""
        self.folders |= more.folders
        self.found += more.found
        self.leftovers += more.leftovers
        self.missing += more.missing
        self.repeated += more.repeated
        self.not_shown += more.not_shown
        self.of_other_sizes += more.of_other_sizes
        self.other_targets += more.other_targets
        self.spirv += more.spirv
        self.of_other_members += more.of_other_members
        self.passed_over += more.passed_over
        self.problems += more.problems
        self.notes += more.notes
        self.unchosen |= more.unchosen
        self.met |= more.met
        self.unlisted += more.unlisted
        self.last_unlisted |= more.last_unlisted

    def lists(self, problem: Problem) -> bool:
        """Count a problem. True if it is listed now; False if at the end of the run or never."""
        self.problems[problem.path] += 1
        if self.problems[problem.path] > _MOST_PROBLEMS:
            self.unlisted[problem.path] += 1
            self.last_unlisted[problem.path] = problem
            return False
        if not self.is_compiled and _is_left_by_compiler(problem):
            self.leftovers.append(problem)
            return False
        return True

    def leave_out(self, target: str, count: int = 1) -> None:
        """Count kernels or code objects of a target that is not chosen."""
        if target in self.other_targets or len(self.other_targets) < _MOST_TARGETS:
            self.other_targets[target] += count
        else:
            self.other_targets[UNKNOWN_TARGET] += count

    def pass_over(self, name: str) -> None:
        """Count a kernel whose name is not chosen."""
        self.passed_over += 1
        if len(self.unchosen) < _MOST_NAMES:
            self.unchosen.add(name)

    @property
    def left_out(self) -> int:
        """Number of kernels that were not chosen."""
        return self.passed_over + self.other_targets.total() + self.of_other_members

    def summaries(self) -> Iterator[Problem | Note]:
        """Notes without repetition, one problem for all missing device code, and one per file with
        too many problems."""
        yield from once(self.notes)
        if count := self.of_other_sizes:
            are = "kernel is" if count == 1 else "kernels are"
            yield Note(self.path, say("workgroup-size-refused", count=count, are=are))
        if self.missing:
            yield Missing.problem(self.missing)
        for path, count in self.unlisted.items():
            last = self.last_unlisted[path]
            more = counted(count, "more problem")
            yield last._replace(message=say("problems-more", more=more, reason=last.message))

    def nothing_found(self, options: Options, sought: Sought = "kernel") -> Problem | None:
        """The problem that the path has nothing chosen; None if other problems explain it."""
        is_answered = self.problems or self.missing or self.repeated
        if self.found or (is_answered and not self.left_out):
            return None
        message = compiled_later(self.spirv.total()) if self.spirv else _NOTHING[sought]
        if self.left_out:
            kind = "folder" if os.path.isdir(self.path) else "file"
            choice = " ".join(options.choices)
            there: str = say("kernels-left-out", count=grouped(self.left_out), kind=kind)
            if self.other_targets:
                there += say("kernels-for-targets", targets=listed_targets(self.other_targets))
            mend = self._suggestion(options.kernels) or _expanded(options.kernels)
            message = say("choice-of-none", sought=sought, choice=choice, there=there, mend=mend)
            if self.passed_over and (name := options.named):
                mend = self._suggestion((name,)) or say("kernels-explained", path=self.path)
                among = grouped(self.passed_over)
                message = say("kernel-not-named", name=name, among=among, kind=kind, mend=mend)
        return Problem(self.path, message)

    def _suggestion(self, patterns: tuple[str, ...]) -> str:
        """`; did you mean gemm?` for the first pattern close to a kernel's name; or empty."""
        suggestion = (nearest_kernels(pattern, self.unchosen) for pattern in patterns)
        return next((f"; {one}" for one in suggestion if one), "")


def listed_targets(targets: Iterable[str]) -> str:
    """Target ids in words, sorted: `gfx1030 and gfx90a:xnack+`."""
    found = sorted({*targets})
    shown = found[:_MOST_LISTED]
    if more := len(found[_MOST_LISTED:]):
        shown.append(counted(more, "more target"))
    *first, last = shown or [UNKNOWN_TARGET]
    return " and ".join(filter(None, (", ".join(first), last)))


def compiled_later(count: int) -> Message:
    """What is said of entries with SPIR-V: `1 SPIR-V entry: compiled when loaded, …`."""
    entries = "entry" if count == 1 else "entries"
    return say("spirv", count=grouped(count), entries=entries)


def counts_of(path: str, options: Options) -> PathCounts:
    """The counts of a path that nothing is read of yet."""
    return PathCounts(path, is_compiled=any(one.path == path for one in options.compiled))


def _expanded(patterns: Sequence[str]) -> str:
    """A hint if a shell may have replaced a glob by the name of a file; else empty."""
    for one in patterns:
        if os.path.isfile(one):
            return say("glob-expanded", file=one, start=one[:1])
    return ""


def conclusions(
    counts: Collection[PathCounts], options: Options, sought: Sought = "kernel"
) -> Iterator[Problem | Note]:
    """Notes of a run, and a problem for each path without a chosen kernel or code object.

    A path where all are filtered out is no problem if another path has chosen ones.
    """
    yield from notes(counts, required=True)
    any_found = any(one.found for one in counts)
    for one in counts:
        if not (any_found and one.left_out) and (problem := one.nothing_found(options, sought)):
            yield problem
    if sought == "kernel":
        yield from _left_out(counts, options)
    if any_found:
        met = set().union(*(one.met for one in counts))
        unchosen = set().union(*(one.unchosen for one in counts))
        others = set().union(*(one.other_targets for one in counts))
        for message in unmatched(options, met, unchosen, others, sought):
            yield (Problem if options.is_gate else Note)(place(one.path for one in counts), message)


def notes(counts: Collection[PathCounts], *, required: bool = False) -> Iterator[Problem | Note]:
    """Notes of each path. Problems of compiler leftovers next to kernels become notes.

    If kernels are `required`, SPIR-V alone is told as their lack."""
    folders = set().union(*(one.folders for one in counts))
    passed_over: list[Note] = []
    for one in counts:
        yield from one.summaries()
        if one.spirv and (one.found or one.left_out or one.problems or not required):
            yield Note(
                place(one.spirv) if len(one.spirv) == 1 else one.path,
                compiled_later(one.spirv.total()),
            )
        for leftover in one.leftovers:
            if os.path.dirname(leftover.path) in folders:
                passed_over.append(Note(leftover.path, leftover.message))
            else:
                yield leftover
    yield from once(passed_over)


def once(notes: Iterable[Note]) -> Iterator[Note]:
    """The first note of each message, with the number of its repetitions."""
    by_message: dict[Message, list[Note]] = {}
    for note in notes:
        by_message.setdefault(note.message, []).append(note)
    for message, (first, *others) in by_message.items():
        if others:
            message = say("notes-more", count=len(others), reason=message)
        yield first._replace(message=message)


def _is_left_by_compiler(problem: Problem) -> bool:
    """True if hipcc reads such a file or leaves it with --save-temps: it has no kernels."""
    name = os.path.basename(problem.path)
    is_host = _HOST in name and name.endswith(".s")
    return (is_host or name.endswith(_WITHOUT_KERNELS)) and os.path.isfile(problem.path)


def unmatched(
    options: Options,
    met: Collection[tuple[str, str]],
    unchosen: Collection[str] = (),
    others: Collection[str] = (),
    sought: Sought = "kernel",
) -> Iterator[Message]:
    """`-k nope matches no kernel` for each `-k`, `--target` and `--member` that is not in `met`.

    `unchosen` are names of kernels; the message suggests the nearest. `others` are the targets
    that are not chosen; the message lists them.
    """
    for option, value in options.unmatched(met):
        near = nearest_kernels(value, unchosen) if option == "-k" else ""
        if option == "--target" and others:
            near = say("targets-others", targets=listed_targets(others))
        mend = f"; {near}" if near else ""
        yield say("choice-unmatched", option=option, value=value, sought=sought, mend=mend)


def place(paths: Iterable[str]) -> str:
    """The path of a run, or the number of its paths: `2 paths`."""
    distinct = set(paths)
    return distinct.pop() if len(distinct) == 1 else f"{len(distinct)} paths"


def _left_out(counts: Collection[PathCounts], options: Options) -> Iterator[Problem | Note]:
    """Notes on how many kernels the options leave out."""
    where = place(one.path for one in counts)
    found = sum(one.found for one in counts)
    others = sum(one.other_targets.total() for one in counts)
    if others and found:
        are = "is" if others == 1 else "are"
        chosen = " and ".join(options.targets)
        kernels = counted(others, "kernel")
        yield Note(where, say("targets-left-out", kernels=kernels, are=are, chosen=chosen))
    if (apart := sum(one.of_other_members for one in counts)) and found:
        are = "is" if apart == 1 else "are"
        chosen = " and ".join(options.members)
        kernels = counted(apart, "kernel")
        yield Note(where, say("members-left-out", kernels=kernels, are=are, chosen=chosen))
    if options.is_gate and found and found == sum(one.of_other_sizes for one in counts):
        yield Problem(where, say("workgroup-size-of-none"))
    if options.limited_by or options.spilling or options.where is not None:
        shown = found - sum(one.not_shown for one in counts)
        limiters = " or ".join(RESOURCES[name] for name in options.limited_by)
        conditions = [say("kernels-limited", limiters=limiters)] if limiters else []
        conditions += [say("kernels-spill")] if options.spilling else []
        conditions += [say("kernels-match")] if options.where is not None else []
        kernels = counted(found, "kernel")
        unchecked = options.is_gate and found and not shown
        holds = " and ".join(conditions)
        message = say("kernels-shown", shown=shown, kernels=kernels, conditions=holds)
        yield (Problem if unchecked else Note)(where, message)


Subject = TypeVar("Subject")
"""The items that a run reads from a blob: kernels, or code objects to write."""
BlobReader = Callable[[Blob, PathCounts], Iterator[Subject | Problem]]


def run(
    counts: Sequence[PathCounts],
    read: BlobReader[Subject],
    options: Options,
    *,
    required: bool = True,
) -> Iterator[Subject | Problem]:
    """Subjects and problems of each path, in the order of reading; each file once. Updates
    `counts`."""
    among, seen = tuple(one.path for one in counts) if required else (), Seen()
    for one in counts:
        for found in opened(one.path, options, required=required, among=among, seen=seen):
            yield from read_found(found, one, read)


def opened(
    path: str,
    options: Options,
    *,
    required: bool = True,
    among: Sequence[str] = (),
    seen: Seen | None = None,
) -> Iterator[Found]:
    """Code and problems of a path; of a source the assembly that it is compiled to.

    `among` are the paths of the run, `seen` the files that it has read."""
    compiled = [one for one in options.compiled if one.path == path]
    if not compiled:
        yield from open_paths(
            [path], required=required, among=among, within=options.bounds, seen=seen
        )
    for one in compiled:
        if one.error is not None:
            message = Message(one.error.removeprefix(f"{path}: "), one.error.code)
            yield Problem(path, message)
            continue
        for found in open_bytes(one.assembly, path, options.bounds):
            member = one.target if len(compiled) > 1 else None
            if isinstance(found, Blob):
                found = found._replace(member=member, command=one.command)
            yield found


def read_found(
    found: Found, counts: PathCounts, read: BlobReader[Subject]
) -> Iterator[Subject | Problem]:
    """Subjects and listed problems of one opened input. Updates `counts`."""
    before = counts.found
    if isinstance(found, Elsewhere):
        counts.found += 1
        return
    if isinstance(found, Again):
        counts.repeated += 1
        return
    if isinstance(found, SpirV):
        counts.spirv[found.path] += 1
        return
    if isinstance(found, Missing):
        counts.missing.append(found)
        return
    if isinstance(found, Note):
        counts.notes.append(found)
        return
    if isinstance(found, Problem):
        items: Iterator[Subject | Problem] = iter((found,))
    else:
        items = survived(read(found, counts), partial(problem, found))
    for item in items:
        counts.repeated += isinstance(item, Repeat)
        if not isinstance(item, Problem) or counts.lists(item):
            yield item
    if counts.found > before:
        counts.folders.add(os.path.dirname(found.path))


def modules(
    blob: Blob, options: Options, asked: ReadFilter | None = None
) -> Iterator[Module | Problem]:
    """Modules of a blob: one for a code object, one or several for an assembly text or a build log.

    Readers may pass over kernels that are not `asked` for. Damage becomes a problem.
    """
    arch = options.arch
    blob.kernels.add_code(len(blob.data))
    try:
        if blob.kind == "code-object":
            from kernelinfo.reading import code_object

            yield code_object.read(
                blob.data, arch=arch, budget=blob.kernels, asked=asked, positions=options.positions
            )
        elif blob.kind == "build-log":
            yield from build_log.read(text_of(blob.data), arch=arch, budget=blob.kernels)
        else:
            from kernelinfo.reading import assembly

            text = assembly.assembly_text(blob.data)
            yield from assembly.read(text, arch=arch, budget=blob.kernels)
    except ReadError as error:
        yield problem(blob, error.message)
    except Exception as error:
        yield problem(blob, bug(error))
