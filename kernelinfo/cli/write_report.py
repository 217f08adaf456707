"""A report from reading to writing, for the fast start and for typer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

from kernelinfo.analysis import analyse
from kernelinfo.analysis.options import Options
from kernelinfo.cli.output import Problems, shown, write
from kernelinfo.kernel import Item
from kernelinfo.render import SHOW_INSTRUCTIONS, View, format_module

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
) -> None:
    """Write the report of all paths; end the program where something could not be answered.

    `jobs` is the number of processes; 0 for as many as pay. `sort_by` is a column of the table.
    """
    problems, module = Problems(verbose=verbose), format_module(format)
    options = options._replace(instructions=format in SHOW_INSTRUCTIONS)
    rows = getattr(module, "rows", None)
    if rows and not verbose and not sort_by:
        rows = partial(rows, view=view)
        if pieces := read_by_several(paths, options, jobs, rows):
            write(chain((module.HEADING,), problems.reported(pieces)), output)
            problems.exit()
            return
    found = shown(problems.watch(read(paths, options, jobs)), paths)
    if sort_by:
        from kernelinfo.kernel.ordering import sort

        found = iter(sort(found, sort_by))
    write(
        module.render(found, view._replace(selection=options.selection)), output, color=view.color
    )
    problems.exit()


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
