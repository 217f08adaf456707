"""Blobs to kernels."""

from __future__ import annotations

import gc
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from itertools import chain

from kernelinfo.analysis.inputs import Events, add, modules, opened
from kernelinfo.analysis.messages import say
from kernelinfo.analysis.options import Options
from kernelinfo.errors import ReadError, UnknownTargetError, bug
from kernelinfo.hardware import targets
from kernelinfo.kernel import Kernel
from kernelinfo.kernel.code_object import CodeObject, member_file
from kernelinfo.kernel.names import demangle
from kernelinfo.kernel.traits import settled
from kernelinfo.reading.blob import Blob, Note, Problem
from kernelinfo.reading.containers.formats import UNKNOWN_DATA, problem
from kernelinfo.reading.containers.triton import with_launch
from kernelinfo.reading.facts import KernelFacts, Module, SourceLine
from kernelinfo.reading.messages import in_kernel
from kernelinfo.reading.paths import in_repository
from kernelinfo.reading.target_id import compiler_of, parse_target_id, target_id
from kernelinfo.rules import may_ask_for_code

# Source lines of kernels, from the debug information of code objects.


def lines_of(blob: Blob) -> dict[str, SourceLine]:
    """Symbol -> source line of the kernels of one code object. Raises `ReadError`."""
    from kernelinfo.reading.code_object.dwarf import read_source_lines

    with freed():
        lines = read_source_lines(blob.data)
    return {symbol: in_repository(line) for symbol, line in lines.items()}


@contextmanager
def freed() -> Iterator[None]:
    """Free pyelftools' entries at the end. They form reference cycles, and the command line runs
    without a garbage collector; a large code object takes 20 MB."""
    if gc.isenabled():
        yield
        return
    gc.freeze()  # only what is made from here on is searched
    try:
        yield
    finally:
        gc.collect()
        gc.unfreeze()


def opened_again(
    code_objects: Iterable[CodeObject], options: Options
) -> Iterator[tuple[CodeObject, Blob]]:
    """(code object, its bytes) of each code object whose file still exists."""
    origins = {code_object[:4]: code_object for code_object in code_objects}
    paths = [*dict.fromkeys(path for path, *_ in origins)]
    blobs = (opened(path, options, among=paths) for path in paths)
    for blob in chain.from_iterable(blobs):
        if isinstance(blob, Blob):
            origin = blob.path, blob.containers, blob.member, blob.offset
            if code_object := origins.get(origin):  # the first four fields of both
                yield code_object, blob


Entries = dict[tuple[str, str, str], str]
"""(path, library in it, processor) -> id of the first entry for it in a run."""


def read_kernels(
    blob: Blob,
    events: Events,
    options: Options,
    entries: Entries,
    is_chosen: Callable[[str], bool] | None = None,
) -> Iterator[Kernel | Problem | Note]:
    """Kernels of one blob, read lazily, with problems and notes. Those left out add to `events`.

    `entries` are the bundle entries that the run has seen so far. Readers may pass over kernels
    whose symbol is not chosen.
    """
    for module in modules(blob, options, is_chosen):
        if isinstance(module, Problem):
            yield module
            continue
        if UNKNOWN_DATA in blob.containers and module.target is None:
            yield Note(blob.path, say("object-without-target"))
            continue
        yield from (Note(blob.path, note, blob.member) for note in module.notes)
        of_doubt = Problem if options.is_gate else Note
        yield from (of_doubt(blob.path, doubt, blob.member) for doubt in module.doubts)
        for warning in module.warnings:
            offset = None if warning.offset is None else (blob.offset or 0) + warning.offset
            yield Problem(blob.path, warning.message, blob.member, offset, warning.line)
        yield from _of_module(module, blob, events, options, entries)


def _of_module(
    module: Module, blob: Blob, events: Events, options: Options, entries: Entries
) -> Iterator[Kernel | Problem]:
    arch, name = options.arch, module.target or options.arch
    if not (count := len(module.kernels) + len(module.passed_over)):
        return
    named = target_id(name, module.features)
    member = " › ".join(filter(None, (blob.member, module.part))) or None
    if not options.asks_for_target(named):
        add(events, "other-target", named, count)
        return
    if not options.asks_for_member(member):
        add(events, "other-member", number=count)
        return
    if arch not in (None, name):
        yield problem(blob, say("target-other", target=name, arch=arch))
        return
    target = yield from _target(module, blob, name, options)
    kernels = module.kernels
    stated: tuple[tuple[str, str], ...] = ()
    try:
        kernels, stated = with_launch(module, blob, name)
    except ReadError as error:
        yield Problem(blob.path, error.message)
    except Exception as error:
        yield problem(blob, bug(error))
    code_object = CodeObject(
        path=blob.path,
        containers=blob.containers,
        member=member,
        offset=None if blob.offset is None else blob.offset + module.offset,
        size=len(blob.data),
        kind=module.kind,
        target=name,
        features=module.features,
        code_object_version=module.code_object_version,
        compiler=compiler_of(module.stamps),
        stamps=module.stamps,
        conflicting_entry=conflicting_entry(blob, entries),
        kernel_count=count,
        options=stated,
        command=blob.command,
    )
    for symbol in module.passed_over:
        add(events, "unchosen", demangle(symbol))
    for facts in kernels:
        try:
            kernel = combine(facts, code_object, target)
            if facts.read_code and (options.instructions or may_ask_for_code(kernel.traits)):
                kernel = kernel._replace(code=facts.read_code())
        except Exception as error:
            yield problem(blob, in_kernel(facts.symbol, bug(error)))
        else:
            yield kernel


def combine(facts: KernelFacts, code_object: CodeObject, target: targets.Target | None) -> Kernel:
    """One kernel from all its statements, without counts of instructions.

    Conflicts between sources are kept in `Traits.disagreements`.
    """
    return Kernel(
        code_object,
        facts.symbol,
        demangle(facts.symbol),
        settled(facts.stated, target and target.name, code_object.target),
        facts.code_bytes,
        facts.places,
        facts.line,
        None,
        facts.source and in_repository(facts.source),
    )


def _target(
    module: Module, blob: Blob, name: str | None, options: Options
) -> Generator[Problem, None, targets.Target | None]:
    """The target called `name` by the input of a module; None if it is unknown. Yields a problem if
    the name is unknown, contradicts the bundle entry or is missing, but not for a missing name in
    a build log that the gate judges."""
    target: targets.Target | None = None
    if name is not None:
        try:
            target = targets.find(name)
        except UnknownTargetError as error:
            yield problem(blob, error.message)
    elif module.kind != "build-log":
        yield problem(blob, say("input-without-target"))
    elif not options.is_gate:  # the gate judges the rest and says so
        yield problem(blob, say("log-without-target"))
    if (entry := parse_target_id(blob.member or "")) and name not in (None, entry.processor):
        yield problem(blob, say("entry-contradiction", entry=entry.processor, target=name))
    return target


def conflicting_entry(blob: Blob, entries: Entries) -> str | None:
    """Id of the library's first entry for the processor of `blob`, if that entry names other
    features than `blob`; else None.

    Call it for every blob in the order of reading; it adds to `entries`.
    """
    member = blob.member or ""
    entry = parse_target_id(member)
    if entry is None:
        return None
    file = blob.path, member_file(member)  # libraries of one wheel are loaded on their own
    first = entries.setdefault((*file, entry.processor), member)
    named = dict(entry.settings).keys()
    other = parse_target_id(first)
    return first if other and dict(other.settings).keys() != named else None
