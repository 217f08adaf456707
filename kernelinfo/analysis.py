"""The one path through the house: paths -> code -> kernels -> occupancy -> findings."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache

from kernelinfo import targets
from kernelinfo.errors import OptionError, ReadError, UnknownTargetError
from kernelinfo.facts.combine import combine
from kernelinfo.facts.target_id import parse_target_id
from kernelinfo.kernel import CodeObject, Kernel, Report, Result
from kernelinfo.model import Blob, Module, Problem
from kernelinfo.rules import findings
from kernelinfo.targets import Target


@dataclass(frozen=True, slots=True)
class Options:
    """What the user says that the inputs do not."""

    arch: str | None = None
    """The target of inputs that do not name one."""
    run_as: str | None = None
    """What if the same registers ran on this target."""
    workgroup_size: int | None = None
    """Workitems."""
    dynamic_lds_bytes: int = 0
    trap_handler: bool = True
    kernels: tuple[str, ...] = ()
    """Globs over demangled or mangled names, or regular expressions after `re:`; any may match."""
    exclude: tuple[str, ...] = ()


def analyse(paths: Iterable[str], options: Options) -> Iterator[Result | Problem]:
    """Every kernel of every path, and everything that could not be read, as it is found.

    A path without a kernel is a problem: nothing found is not nothing wrong.
    Raises `UnknownTargetError` for a target of `options` that is not known.
    """
    from kernelinfo import ingest

    for name in (options.arch, options.run_as):
        if name is not None:
            targets.find(name)
    for path in paths:
        yield from _results(path, ingest.open_paths([path]), options)


def load(source: str | os.PathLike[str] | bytes, options: Options | None = None) -> Report:
    """The report of one path, or of the bytes of one code object or assembly text.

    Raises `KernelinfoError` rather than returning part of what was asked for.
    """
    from kernelinfo import ingest

    options = options or Options()
    if isinstance(source, bytes):
        items = _results("<bytes>", ingest.open_bytes(source, "<bytes>"), options)
    else:
        items = analyse([os.fspath(source)], options)
    results = []
    for item in items:
        if isinstance(item, Problem):
            raise ReadError(f"{item.path}: {item.message}")
        results.append(item)
    return Report(tuple(results), ())


def _results(
    path: str, blobs: Iterable[Blob | Problem], options: Options
) -> Iterator[Result | Problem]:
    """The kernels of one path that were asked for; its problems, the lack of kernels among them."""
    found = passed_over = problems = 0
    for blob in blobs:
        items = [blob] if isinstance(blob, Problem) else _kernels(blob, options)
        for item in items:
            if isinstance(item, Problem):
                problems += 1
                yield item
            elif _is_asked_for(item, options):
                found += 1
                yield _judge(item, options)
            else:
                passed_over += 1
    if not found and passed_over:
        yield Problem(path, f"none of its {passed_over} kernels is asked for; see --kernel")
    elif not found and not problems:
        yield Problem(path, "no AMD GPU kernel found; give what the compiler left for the device")


def _kernels(blob: Blob, options: Options) -> Iterator[Kernel | Problem]:
    from kernelinfo import facts

    try:
        modules = facts.read(blob, arch=options.arch)
        for module in modules:
            for remark in module.remarks:
                offset = None if remark.offset is None else (blob.offset or 0) + remark.offset
                yield Problem(blob.path, remark.message, blob.member, offset, remark.line)
            yield from _of_module(module, blob, options)
    except ReadError as error:
        yield Problem(blob.path, str(error), blob.member, blob.offset)


def _of_module(module: Module, blob: Blob, options: Options) -> Iterator[Kernel | Problem]:
    if not module.kernels:
        return
    name = module.target or options.arch
    target: Target | None = None
    if name is None:
        message = "the input names no target; give one by --arch"
        yield Problem(blob.path, message, blob.member, blob.offset)
    elif options.arch not in (None, name):
        message = f"is compiled for {name}, not for {options.arch}; leave --arch out"
        yield Problem(blob.path, message, blob.member, blob.offset)
        return
    else:
        try:
            target = targets.find(name)
        except UnknownTargetError as error:
            yield Problem(blob.path, str(error), blob.member, blob.offset)
    if (entry := parse_target_id(blob.member or "")) and name not in (None, entry.processor):
        message = f"its id says {entry.processor}, the code says {name}; read as the latter"
        yield Problem(blob.path, message, blob.member, blob.offset)
    code_object = CodeObject(
        path=blob.path,
        containers=blob.containers,
        member=blob.member,
        offset=blob.offset,
        size=len(blob.data),
        kind=module.kind,
        target=name,
        features=module.features,
        code_object_version=module.code_object_version,
        compiler=module.compiler,
    )
    for kernel in module.kernels:
        yield combine(kernel, code_object, target)


def _judge(kernel: Kernel, options: Options) -> Result:
    if kernel.target is None:
        return Result(kernel, None)
    if options.run_as is not None:
        kernel = kernel.on(targets.find(options.run_as))
    occupancy = kernel.occupancy(
        workgroup_size=options.workgroup_size,
        dynamic_lds=options.dynamic_lds_bytes,
        trap_handler=options.trap_handler,
    )
    return Result(kernel, occupancy, tuple(findings(kernel, occupancy)))


def _is_asked_for(kernel: Kernel, options: Options) -> bool:
    names = (kernel.name, kernel.symbol)
    wanted = not options.kernels or any(matches(p, names) for p in options.kernels)
    return wanted and not any(matches(p, names) for p in options.exclude)


def matches(pattern: str, names: tuple[str, str]) -> bool:
    """A glob, or after `re:` a regular expression found anywhere, in either name."""
    if pattern.startswith("re:"):
        return any(_compiled(pattern[3:]).search(name) for name in names)
    return any(fnmatchcase(name, pattern) for name in names)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except re.error as error:
        raise OptionError(f"re:{pattern}: {error}; give a Python regular expression") from None
