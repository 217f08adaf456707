"""Two builds, wherever they come from -> their comparison."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from functools import partial
from glob import has_magic

from kernelinfo.analysis import Analysis, analyse
from kernelinfo.analysis.options import Options
from kernelinfo.compare import Comparison, compare
from kernelinfo.compare.summary import Build, build, common_root, path_under
from kernelinfo.errors import ReadError
from kernelinfo.kernel import CodeObject, Item, Report, Result
from kernelinfo.reading.blob import Blob, Problem
from kernelinfo.rules import Selection

_NO_RULES = Selection(ignore=("KI",))  # findings are not compared

Source = str | os.PathLike[str] | Report
"""A file, folder or glob of code, a report saved as JSON, JSON lines or CSV, or a report."""


def diff(
    old: Source,
    new: Source,
    options: Options | None = None,
    *,
    across_targets: bool = False,
    loose: bool = False,
) -> Comparison:
    """What moved from one build to another.

    `options` concern paths; a `Report` stands as it is. `loose` also pairs kernels by a base name
    that is unique. Raises `KernelinfoError` rather than comparing part of what was asked for.
    """
    builds = []
    for source in (old, new):
        if isinstance(source, Report):
            root = common_root({code_object.path for code_object in source.code_objects})
            found, problems = build(source.results, partial(_location, root)), [*source.problems]
        else:
            found, problems = read_build(os.fspath(source), options or Options())
        for problem in problems:
            raise ReadError(f"{problem.path}: {problem.message}")
        builds.append(found)
    return compare(*builds, across_targets=across_targets, loose=loose)


def read_build(path: str, options: Options) -> tuple[Build, list[Problem]]:
    """The build at a path, and what could not be read of it: to hold no kernel among them.

    Raises `ReadError` for JSON or CSV that is no report that can be read.
    """
    from kernelinfo.compare import saved
    from kernelinfo.reading.containers import files, open_bytes

    options = options._replace(selection=_NO_RULES)
    problems: list[Problem] = []
    is_one = path == files.STANDARD_INPUT or os.path.isfile(path)
    blob = files.load(path, options.bounds) if is_one else None
    if isinstance(blob, Blob) and saved.accepts(blob):
        return saved.read_saved(blob, options, problems.append), problems
    if isinstance(blob, Blob) and path == files.STANDARD_INPUT:
        blobs = open_bytes(bytes(blob.data), blob.path, options.bounds)
        items = Analysis(options).analyse_path(blob.path, blobs)
    else:
        items = analyse([path], options)
    return build(_results(items, problems), partial(_location, root_of(path))), problems


def chosen(found: Build, options: Options) -> Build:
    """The kernels of a build that the options choose, by name and target."""
    kernels = (k for k in found.kernels if options.asks_for(k.name, k.symbol, k.processor))
    return found._replace(kernels=tuple(kernels))


def _location(root: str, code_object: CodeObject) -> str:
    return path_under(root, code_object.path, code_object.member)


def _results(items: Iterable[Item], problems: list[Problem]) -> Iterator[Result]:
    for item in items:
        if isinstance(item, Result):
            yield item
        elif isinstance(item, Problem):
            problems.append(item)


def root_of(path: str) -> str:
    """What the paths of all its files begin with: itself, or what is before a pattern."""
    if os.path.lexists(path):
        return path
    folders = path.split("/")
    plain = next((n for n, folder in enumerate(folders) if has_magic(folder)), len(folders))
    return "/".join(folders[:plain])
