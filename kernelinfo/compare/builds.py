"""Paths or reports of two builds -> their comparison."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from glob import has_magic

from kernelinfo.analysis import Analysis, analyse
from kernelinfo.analysis.options import Options
from kernelinfo.compare import Comparison, compare, saved
from kernelinfo.compare.summary import Build, KernelSummary, build, common_root, place_under
from kernelinfo.errors import ReadError
from kernelinfo.kernel import Item, Result
from kernelinfo.kernel.report import Report
from kernelinfo.reading.blob import Blob, Problem
from kernelinfo.reading.containers import files, open_bytes
from kernelinfo.rules import Selection

_NO_RULES = Selection(ignore=("KI",))  # a comparison does not use findings

BuildSource = str | os.PathLike[str] | Report
"""A file, folder or glob of code; a saved report (JSON, JSON lines, CSV); or a `Report`."""


def diff(
    old: BuildSource,
    new: BuildSource,
    options: Options | None = None,
    *,
    across_targets: bool = False,
    loose: bool = False,
) -> Comparison:
    """The comparison of two builds.

    `options` apply to paths, not to a `Report`. `loose` also pairs kernels by a unique base name.
    Raises `KernelinfoError` if a build cannot be read whole.
    """
    builds = []
    for source in (old, new):
        if isinstance(source, Report):
            root = common_root({code_object.path for code_object in source.code_objects})
            found, problems = build(source.results, partial(place_under, root)), [*source.problems]
        else:
            found, problems = read_build(os.fspath(source), options or Options())
        for problem in problems:
            raise ReadError(problem.located)
        builds.append(found)
    return compare(*builds, across_targets=across_targets, loose=loose)


def read_build(
    path: str,
    options: Options,
    shown: Callable[[Iterable[Item]], Iterable[Item]] = iter,
    known: dict[KernelSummary, KernelSummary] | None = None,
) -> tuple[Build, list[Problem]]:
    """The build at a path, and its problems. A path without kernels is a problem.

    `shown` returns the items that it gets, and may show how many are read; for `known` see `build`.
    Raises `ReadError` for
    JSON or CSV that is not a readable report.
    """
    options = options._replace(selection=_NO_RULES)
    problems: list[Problem] = []
    is_one = path == files.STANDARD_INPUT or os.path.isfile(path)
    is_compiled = any(one.path == path for one in options.compiled)
    blob = files.load(path, options.bounds) if is_one and not is_compiled else None
    if isinstance(blob, Blob) and saved.accepts(blob):
        return saved.read_saved(blob, options, problems.append), problems
    if isinstance(blob, Blob) and path == files.STANDARD_INPUT:
        blobs = open_bytes(bytes(blob.data), blob.path, options.bounds)
        items = Analysis(options).analyse_path(blob.path, blobs)
    else:
        items = analyse([path], options)
    results, name_of = _results(shown(items), problems), partial(place_under, root_of(path))
    return build(results, name_of, known), problems


def chosen(found: Build, options: Options) -> Build:
    """The build with only the kernels that the options choose by name, target and member."""
    kernels = tuple(
        kernel
        for kernel in found.kernels
        if options.asks_for(kernel.name, kernel.symbol, kernel.target)
        and options.asks_for_member(kernel.code_object)
    )
    return found._replace(kernels=kernels)


def _results(items: Iterable[Item], problems: list[Problem]) -> Iterator[Result]:
    for item in items:
        if isinstance(item, Result):
            yield item
        elif isinstance(item, Problem):
            problems.append(item)


def root_of(path: str) -> str:
    """The common start of the paths of a build's files: the path, or the part before a glob."""
    if os.path.lexists(path):
        return path
    folders = path.split("/")
    plain = next((n for n, folder in enumerate(folders) if has_magic(folder)), len(folders))
    return "/".join(folders[:plain])
