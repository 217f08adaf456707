"""The inputs of a run: the loop that opens them, events of reading, and what they amount to."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial
from itertools import repeat
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from kernelinfo.analysis.messages import say
from kernelinfo.analysis.options import Options
from kernelinfo.errors import BoundError, Message, ReadError, bug, survived
from kernelinfo.kernel import Repeat, counted, grouped
from kernelinfo.kernel.names import nearest_kernels, short
from kernelinfo.model.limits import RESOURCES
from kernelinfo.reading import build_log
from kernelinfo.reading.blob import MISSING, Blob, Elsewhere, File, Note, Problem, SpirV, sum_up
from kernelinfo.reading.containers import open_bytes, open_paths
from kernelinfo.reading.containers.files import Seen
from kernelinfo.reading.containers.formats import problem
from kernelinfo.reading.data import text_of
from kernelinfo.reading.facts import Module
from kernelinfo.reading.target_id import UNKNOWN_TARGET

if TYPE_CHECKING:
    from kernelinfo.reading.blob import Found

_MOST_EVENTS = 1 << 16
"""Most distinct events of one path. A library of 88 137 kernels has 11 431 names."""
_MOST_LISTED = 20
"""Most targets in a message."""
_FEW_NAMES = 4
"""Most names of kernels in a message."""
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


EventKind = Literal[
    "chosen", "hidden", "refused", "elsewhere", "repeated", "unchosen", "other-target",
    "other-member", "met", "note", "spirv", "missing", "leftover", "problem",
]  # fmt: skip
"""Kinds of events: what each counts and, after `by`, the second value of its key in `Events`.

chosen: kernels or code objects, by the folder of their file. hidden: those that `--limited-by`,
`--spilling` or `--where` hides, by the same. refused: chosen kernels that are not compiled for the
workgroup size in question. elsewhere: host files with their code elsewhere. repeated: code objects
that repeat an earlier one, and files that were read already. unchosen: kernels whose name is not
chosen, by name. other-target: kernels or code objects of a target that is not chosen, by its id.
other-member: those of a member that is not chosen. met: options that chose a kernel, by a pair
`("-k", "gemm*")`. note: notes, by the `Note`. spirv: entries with SPIR-V, by their file. missing:
host files without their archives, by the `Problem`. leftover: files that a compiler leaves next to
its output, by the `Problem`. problem: all other problems.
"""


Events = Counter[tuple[EventKind, Any]]
"""(kind, what) of the events of one path, in the order of their first occurrence -> number. Readers
count them; the end of a run may report them."""

_FOUND: tuple[EventKind, ...] = ("chosen", "hidden", "elsewhere")
LEFT_OUT: tuple[EventKind, ...] = ("unchosen", "other-target", "other-member")
_BEYOND = {"unchosen": "", "other-target": UNKNOWN_TARGET}
"""What an event is about if a path has too many distinct ones."""


def add(events: Events, kind: EventKind, what: Any = "", number: int = 1) -> None:
    """Count an event. Once there are 65 536 different events, new names and targets that are not
    chosen are counted together."""
    if kind in _BEYOND and len(events) >= _MOST_EVENTS and (kind, what) not in events:
        what = _BEYOND[kind]
    events[kind, what] += number


def total(events: Events, *kinds: EventKind) -> int:
    """The number of events of some kinds."""
    return sum(count for (kind, _), count in events.items() if kind in kinds)


def chosen(events: Events) -> int:
    """The number of chosen kernels or code objects, and of host files with code elsewhere."""
    return total(events, *_FOUND)


def each(events: Events, kind: EventKind) -> list[Any]:
    """The subjects of all events of a kind, each once, in the order of their first event."""
    return [what for (met, what) in events if met == kind and what]


def noted(events: Events) -> Iterator[Note]:
    """Each note, repeated as often as it occurred."""
    for (kind, note), count in events.items():
        yield from repeat(note, count if kind == "note" else 0)


def nothing_found(
    path: str, events: Events, options: Options, sought: Sought = "kernel"
) -> Problem | None:
    """The problem of a path in which nothing is chosen; None if other problems explain that."""
    left_out, spirv = total(events, *LEFT_OUT), total(events, "spirv")
    is_answered = total(events, "problem", "missing", "repeated")
    if chosen(events) or (is_answered and not left_out):
        return None
    message = compiled_later(spirv) if spirv else _NOTHING[sought]
    if left_out:
        kind = "folder" if os.path.isdir(path) else "file"
        choice, names = " ".join(options.choices), each(events, "unchosen")
        there: str = say("kernels-left-out", count=grouped(left_out), kind=kind)
        if targets := each(events, "other-target"):
            there += say("kernels-for-targets", targets=listed_targets(targets))
        mend = _suggestion(options.kernels, names) or _expanded(options.kernels)
        if options.kernels and not mend:
            mend = _names_there(path, names)
        message = say("choice-of-none", sought=sought, choice=choice, there=there, mend=mend)
        if (passed_over := total(events, "unchosen")) and (name := options.named):
            mend = _suggestion((name,), names) or _names_there(path, names)
            among = grouped(passed_over)
            message = say("kernel-not-named", name=name, among=among, kind=kind, mend=mend)
    return Problem(path, message)


def _suggestion(patterns: Iterable[str], names: Collection[str]) -> str:
    """`; did you mean gemm?` for the first pattern close to a kernel's name; or empty."""
    suggestion = (nearest_kernels(pattern, names) for pattern in patterns)
    return next((f"; {hint}" for hint in suggestion if hint), "")


def _names_there(path: str, names: Collection[str]) -> str:
    """`; there are gemm and copy`, or the command that lists more kernels; empty without names."""
    if len(names) > _FEW_NAMES:
        return say("kernels-explained", path=path)
    *first, last = sorted({short(name) for name in names}) or [""]
    listed = " and ".join(filter(None, (", ".join(first), last)))
    return say("kernels-there", names=listed) if listed else ""


def listed_targets(targets: Iterable[str]) -> str:
    """Target ids in words, sorted: `gfx1030 and gfx90a:xnack+`."""
    ids = sorted({*targets})
    shown = ids[:_MOST_LISTED]
    if unlisted := len(ids[_MOST_LISTED:]):
        shown.append(counted(unlisted, "more target"))
    *first, last = shown or [UNKNOWN_TARGET]
    return " and ".join(filter(None, (", ".join(first), last)))


def compiled_later(count: int) -> Message:
    """The note on SPIR-V entries: `1 SPIR-V entry: compiled at load time, …`."""
    entries = "entry" if count == 1 else "entries"
    return say("spirv", count=grouped(count), entries=entries)


def _expanded(patterns: Sequence[str]) -> str:
    """A hint if the shell may have expanded a glob to a file name; else empty."""
    for pattern in patterns:
        if os.path.isfile(pattern):
            return say("glob-expanded", file=pattern, start=pattern[:1])
    return ""


PathEvents = Sequence[tuple[str, Events]]
"""The events of each path of a run."""


def conclusions(
    run: PathEvents, options: Options, sought: Sought = "kernel", *, required: bool = True
) -> Iterator[Problem | Note]:
    """Notes of a run and, if something is `required`, a problem for each path without a chosen
    kernel or code object.

    A path whose kernels are all filtered out is not a problem if another path has chosen ones.
    """
    yield from _notes(run, required)
    if not required:
        return
    whole = Events()
    for _, events in run:
        whole.update(events)
    for path, events in run:
        is_explained = chosen(whole) and total(events, *LEFT_OUT)
        if not is_explained and (problem := nothing_found(path, events, options, sought)):
            yield problem
    where = place(path for path, _ in run)
    if sought == "kernel":
        yield from _left_out(where, whole, options)
    if chosen(whole):
        met, targets = each(whole, "met"), each(whole, "other-target")
        for message in unmatched(options, met, each(whole, "unchosen"), targets, sought):
            yield (Problem if options.is_gate else Note)(where, message)


def _notes(run: PathEvents, required: bool) -> Iterator[Problem | Note]:
    """Notes of each path, each once, and one problem for all missing device code of a path. A
    problem with a compiler's leftover next to kernels becomes a note.

    If kernels are `required`, SPIR-V alone is reported as a path without kernels.
    """
    folders = {
        folder  # the current one is empty
        for _, events in run
        for (kind, folder), count in events.items()
        if count and kind in ("chosen", "hidden")
    }
    passed_over: list[Note] = []
    for path, events in run:
        yield from once(noted(events))
        if count := total(events, "refused"):
            are = "kernel is" if count == 1 else "kernels are"
            yield Note(path, say("workgroup-size-refused", count=count, are=are))
        if missing := each(events, "missing"):
            yield sum_up(missing)
        files = each(events, "spirv")
        is_told = chosen(events) or total(events, *LEFT_OUT, "problem") or not required
        if files and is_told:
            where = place(files) if len(files) == 1 else path
            yield Note(where, compiled_later(total(events, "spirv")))
        for leftover in each(events, "leftover"):
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
    for message, (first, *repeats) in by_message.items():
        if repeats:
            message = say("notes-more", count=len(repeats), reason=message)
        yield first._replace(message=message)


def _is_left_by_compiler(problem: Problem) -> bool:
    """True if the problem is about a file that hipcc reads or --save-temps leaves, but that never
    has kernels."""
    name = os.path.basename(problem.path)
    is_host = _HOST in name and name.endswith(".s")
    return (is_host or name.endswith(_WITHOUT_KERNELS)) and os.path.isfile(problem.path)


def unmatched(
    options: Options,
    met: Collection[tuple[str, str]],
    unchosen: Collection[str] = (),
    other_targets: Collection[str] = (),
    sought: Sought = "kernel",
) -> Iterator[Message]:
    """One message for each `-k`, `--target` and `--member` that is not in `met`: `-k nope matches
    no kernel`.

    The message suggests the nearest name among `unchosen`, the kernels that were not chosen, or
    lists `other_targets`.
    """
    for option, value in options.unmatched(met):
        near = nearest_kernels(value, unchosen) if option == "-k" else ""
        if option == "--target" and other_targets:
            near = say("targets-others", targets=listed_targets(other_targets))
        mend = f"; {near}" if near else ""
        yield say("choice-unmatched", option=option, value=value, sought=sought, mend=mend)


def place(paths: Iterable[str]) -> str:
    """The path of a run with one path, else the number of paths: `2 paths`."""
    distinct = set(paths)
    return distinct.pop() if len(distinct) == 1 else f"{len(distinct)} paths"


def _left_out(where: str, events: Events, options: Options) -> Iterator[Problem | Note]:
    """Notes on how many kernels the options leave out of a run."""
    kernel_count = chosen(events)
    other_count = total(events, "other-target")
    if other_count and kernel_count:
        are = "is" if other_count == 1 else "are"
        targets = " and ".join(options.targets)
        kernels = counted(other_count, "kernel")
        yield Note(where, say("targets-left-out", kernels=kernels, are=are, chosen=targets))
    if (apart := total(events, "other-member")) and kernel_count:
        are = "is" if apart == 1 else "are"
        members = " and ".join(options.members)
        kernels = counted(apart, "kernel")
        yield Note(where, say("members-left-out", kernels=kernels, are=are, chosen=members))
    if options.is_gate and kernel_count and kernel_count == total(events, "refused"):
        yield Problem(where, say("workgroup-size-of-none"))
    if options.limited_by or options.spilling or options.where is not None:
        shown = kernel_count - total(events, "hidden")
        limiters = " or ".join(RESOURCES[name] for name in options.limited_by)
        conditions = [say("kernels-limited", limiters=limiters)] if limiters else []
        conditions += [say("kernels-spill")] if options.spilling else []
        conditions += [say("kernels-match")] if options.where is not None else []
        kernels = counted(kernel_count, "kernel")
        unchecked = options.is_gate and kernel_count and not shown
        holds = " and ".join(conditions)
        message = say("kernels-shown", shown=shown, kernels=kernels, conditions=holds)
        yield (Problem if unchecked else Note)(where, message)


Subject = TypeVar("Subject")
"""The items that a run reads from a blob: kernels, or code objects to write."""
BlobReader = Callable[[Blob, Events], Iterator[Subject | Problem | Note]]
"""Reads a blob, and adds to the events of its path."""


def run(
    paths: PathEvents, read: BlobReader[Subject], options: Options, *, required: bool = True
) -> Iterator[Subject | Problem]:
    """Subjects and problems of each path, in the order of reading; each file once. Adds to the
    events of the paths."""
    among, seen = tuple(path for path, _ in paths) if required else (), Seen()
    for path, events in paths:
        inputs = opened(path, options, required=required, among=among, seen=seen)
        yield from read_inputs(inputs, events, read, options)


def opened(
    path: str,
    options: Options,
    *,
    required: bool = True,
    among: Sequence[str] = (),
    seen: Seen | None = None,
) -> Iterator[Found]:
    """Code and problems of a path. For a source, these are of the assembly that it was compiled to.

    `among` are the paths of the run, `seen` the files that it has read.
    """
    compiled = [source for source in options.compiled if source.path == path]
    if not compiled:
        yield from open_paths(
            [path], required=required, among=among, within=options.bounds, seen=seen
        )
    for source in compiled:
        if source.error is not None:
            message = Message(source.error.removeprefix(f"{path}: "), source.error.code)
            yield Problem(path, message)
            continue
        for item in open_bytes(source.assembly, path, options.bounds):
            member = source.target if len(compiled) > 1 else None
            if isinstance(item, Blob):
                item = item._replace(member=member, command=source.command)
            yield item


_EVENTS: dict[type, Callable[[Any], tuple[EventKind, Any]]] = {
    Elsewhere: lambda _: ("elsewhere", ""),
    File: lambda _: ("repeated", ""),
    Repeat: lambda _: ("repeated", ""),
    SpirV: lambda entry: ("spirv", entry.path),
    Note: lambda note: ("note", note),
}
"""Items that are not subjects, as events: (kind, what)."""


def read_inputs(
    inputs: Iterable[Found], events: Events, read: BlobReader[Subject], options: Options
) -> Iterator[Subject | Problem]:
    """Subjects and problems of opened inputs of one path. Adds to the events of the path.

    The first 1000 problems of a file are listed; one more says how many others there are.
    """
    sources = {compiled.path for compiled in options.compiled}
    problems: Counter[str] = Counter()
    unlisted: dict[str, Problem] = {}
    for source in inputs:
        items: Iterable[Any] = (source,)
        if isinstance(source, Blob):
            items = survived(read(source, events), partial(problem, source))
        for item in items:
            if isinstance(item, Problem) and item.code == MISSING:
                events["missing", item] += 1
                continue
            if isinstance(item, Problem):
                events["problem", ""] += 1
                problems[item.path] += 1
                if problems[item.path] > _MOST_PROBLEMS:
                    unlisted[item.path] = item
                elif item.path not in sources and _is_left_by_compiler(item):
                    events["leftover", item] += 1
                else:
                    yield item
                continue
            if event_of := _EVENTS.get(type(item)):
                add(events, *event_of(item))
            is_item = isinstance(item, Repeat) or (options.spirv and isinstance(item, SpirV))
            if event_of is None or is_item:
                yield item
    for path, last in unlisted.items():
        unlisted_count = counted(problems[path] - _MOST_PROBLEMS, "more problem")
        yield last._replace(message=say("problems-more", more=unlisted_count, reason=last.message))


def modules(
    blob: Blob, options: Options, is_chosen: Callable[[str], bool] | None = None
) -> Iterator[Module | Problem]:
    """Modules of a blob: one for a code object, one or several for an assembly text or a build log.

    Readers may pass over kernels whose symbol is not chosen. Damage becomes a problem.
    """
    arch, budget = options.arch, blob.budget
    budget.add_code(len(blob.data))
    try:
        if blob.kind == "code-object":
            from kernelinfo.reading import code_object

            yield code_object.read(
                blob.data,
                arch=arch,
                budget=budget,
                is_target=options.asks_for_target if is_chosen else None,
                is_chosen=is_chosen,
                positions=options.positions,
            )
        elif blob.kind == "build-log":
            yield from build_log.read(text_of(blob.data), arch=arch, budget=budget)
        else:
            from kernelinfo.reading import assembly

            text = assembly.assembly_text(blob.data)
            yield from assembly.read(text, arch=arch, budget=budget)
    except (BoundError, ReadError) as error:
        yield problem(blob, error.message)
    except Exception as error:
        yield problem(blob, bug(error))
