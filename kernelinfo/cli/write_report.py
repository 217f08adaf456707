"""A report from reading to writing."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

from kernelinfo.analysis import analyse
from kernelinfo.analysis.options import Options
from kernelinfo.cli.output import Problems, make_view, shown, write
from kernelinfo.errors import OptionError
from kernelinfo.kernel import Item
from kernelinfo.kernel.ordering import sort
from kernelinfo.reading.containers.files import STANDARD_INPUT
from kernelinfo.reading.paths import configurations
from kernelinfo.render import BLOCK_FORMATS, FORMATS, SHOW_INSTRUCTIONS, View, format_module

if TYPE_CHECKING:
    from kernelinfo.analysis.parallel import Rows


def write_report(
    paths: list[str],
    options: Options,
    view: View,
    format: str,
    output: str | None = None,
    *,
    jobs: int = 0,
    verbose: bool = False,
    sort_by: str | None = None,
    run_as: Sequence[str] = (),
) -> None:
    """Write the report of all paths; end the program where something could not be answered.

    `jobs` is the number of processes; 0 for as many as pay. `sort_by` is a column of the table. Of
    several targets to `run_as` each has a block. Raises `OptionError` for a format without blocks.
    """
    problems, module = Problems(verbose=verbose), format_module(format)
    options = options._replace(instructions=format in SHOW_INSTRUCTIONS)
    rows, heading = getattr(module, "rows", None), getattr(module, "HEADING", "")
    if run_as[1:] and format not in BLOCK_FORMATS:
        message = f"--as {','.join(run_as)}: --format {format} has no blocks; give one target"
        raise OptionError(message)
    check_readable_again(paths, run_as)

    def block(options: Options) -> Iterator[str]:
        """The report, without the heading of rows."""
        if rows and not verbose and not sort_by:
            writer = partial(rows, view=view)
            if pieces := read_by_several(paths, options, jobs, writer):
                return problems.reported(pieces)
        found = shown(problems.watch(read(paths, options, jobs)), paths)
        if sort_by:
            found = iter(sort(found, sort_by))
        render = rows or module.render
        return iter(render(found, view._replace(selection=options.selection)))

    first, *others = [options._replace(run_as=one) for one in run_as] or [options]
    between = "" if rows else "\n"
    more = (piece for one in others for piece in chain((between,), block(one)))
    write(chain((heading,), block(first), more), output, color=view.color)
    problems.exit()


def write_plain_report(paths: list[str]) -> None:
    """Write what `kernelinfo PATH...` shows without any option."""
    options = Options()
    if _may_be_configured():
        # A fifth of the report of a small file, which few folders need.
        from kernelinfo.cli.project import configuration

        project = configuration()
        options = Options(selection=project.selection, workgroup_sizes=project.workgroup_sizes)
    write_report(paths, options, make_view(), FORMATS[0])


def _may_be_configured() -> bool:
    """True if this folder or one above has a file that may configure."""
    try:
        return any(configurations(os.getcwd()))
    except OSError:  # the current folder was deleted
        return False


def check_readable_again(paths: Sequence[str], run_as: Sequence[str]) -> None:
    """Raises `OptionError` if several targets ask for standard input, which is read once."""
    if run_as[1:] and STANDARD_INPUT in paths:
        message = f"--as {','.join(run_as)}: standard input is read once; give one target"
        raise OptionError(message)


def read(paths: Sequence[str], options: Options, jobs: int) -> Iterator[Item]:
    """What the paths hold, read by that many processes; by one if 0."""
    return read_by_several(paths, options, jobs or 1) or analyse(paths, options)


def read_by_several(
    paths: Sequence[str], options: Options, jobs: int, rows: Rows | None = None
) -> Iterator[Any] | None:
    """The same by several processes, kernels as text if `rows` writes them.

    None if one process is asked for, or pays.
    """
    if jobs == 1 or options.unique:  # one process alone knows what was read before
        return None
    from kernelinfo.analysis.parallel import processes, spread, tasks

    work = list(tasks(paths))
    count = processes(work, jobs)
    return spread(work, options, count, rows) if count > 1 else None
