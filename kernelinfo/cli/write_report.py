"""A report: reads paths, writes rows."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

from kernelinfo.analysis import analyse
from kernelinfo.analysis.options import Options
from kernelinfo.cli import console
from kernelinfo.cli.messages import say
from kernelinfo.errors import OptionError
from kernelinfo.kernel import Item, Result
from kernelinfo.pressure import code_for_rules
from kernelinfo.reading.blob import Note
from kernelinfo.reading.containers.files import STANDARD_INPUT
from kernelinfo.reading.paths import configurations
from kernelinfo.render import Renderer, View

if TYPE_CHECKING:
    from kernelinfo.analysis.parallel import Rows


ROWS = {"jsonl": console.late("rows", "render_jsonl"), "csv": console.late("rows", "render_csv")}
"""Outputs with one row per kernel, written while several processes read kernels."""
OUTPUTS: Mapping[str, Renderer] = {
    "text": console.late("text"),
    "json": console.late("json"),
    **ROWS,
    "markdown": console.late("rows", "render_markdown"),
    "html": console.late("html"),
}


def write_report(
    paths: list[str],
    options: Options,
    view: View,
    format: str,
    output: str | None = None,
    *,
    jobs: int = 0,
    problems: console.Problems | None = None,
    verbose: bool = False,
    arrange: Callable[[Iterator[Item]], Iterable[Item]] | None = None,
    answer: Callable[[Iterable[Item]], Iterator[str]] | None = None,
    run_as: Sequence[str] = (),
) -> None:
    """Write the report of all paths; exit with 2 if a path could not be read.

    `jobs` is the number of processes; 0 starts as many as are worthwhile. `problems` also receives
    the problems that `answer` reports. `arrange` sorts the kernels. `answer` renders them instead
    of the format's report. The report has one block per target in `run_as`. Raises `OptionError`
    for a format without blocks.
    """
    problems, render = problems or console.Problems(verbose=verbose), OUTPUTS[format]
    is_whole, has_rows = format in console.DOCUMENTS, format in ROWS
    options = options._replace(
        instructions=is_whole, positions=is_whole, read_for_rules=code_for_rules
    )
    console.check_has_blocks(format, run_as)
    check_readable_again(paths, run_as)
    streams = has_rows and output is None and not (arrange or answer)

    def block(options: Options, view: View) -> Iterator[str]:
        """The report of one target."""
        if has_rows and not (verbose or arrange or answer):
            writer = partial(render, view=view._replace(heading=False))
            if pieces := read_by_several(paths, options, jobs, writer):
                rows = problems.reported(console.shown(pieces, (), streams=streams))
                return chain(render((), view), rows)
        items = problems.watch(_with_same_target(read(paths, options, jobs), run_as))
        items = console.shown(items, paths, streams=streams)
        if arrange:
            items = iter(arrange(items))
        if answer:
            return answer(items)
        return render(items, view._replace(selection=options.selection))

    first, *further = [options._replace(run_as=target) for target in run_as] or [options]
    if answer and further:
        blocks = ((each.run_as or "", block(each, view)) for each in (first, *further))
        console.write(console.labelled(blocks, format), output, color=view.color)
    else:
        between, rest = "" if has_rows else "\n", view._replace(heading=False)
        following = (piece for each in further for piece in chain((between,), block(each, rest)))
        console.write(chain(block(first, view), following), output, color=view.color)
    problems.exit()


def _with_same_target(items: Iterable[Item], run_as: Sequence[str]) -> Iterator[Item]:
    """The items, and a note on each path whose code is already for the only target of `run_as`."""
    for item in items:
        yield item
        if isinstance(item, Result) and [item.kernel.code_object.target] == [*run_as]:
            message = say("run-as-same", target=run_as[0])
            yield Note(item.kernel.code_object.path, message)


def write_plain_report(paths: list[str]) -> None:
    """Write the report of `kernelinfo PATH...` without options."""
    options = Options()
    if _may_be_configured():
        # Few folders need it, and it takes a fifth of the report of a small file.
        from kernelinfo.cli.project import configuration, with_project

        options = with_project(options, configuration())
    write_report(paths, options, console.make_view(), "text")


def _may_be_configured() -> bool:
    """True if this folder or one above has a file that could be a configuration."""
    try:
        return any(configurations(os.getcwd()))
    except OSError:  # the current folder was deleted
        return False


def check_readable_again(paths: Sequence[str], run_as: Sequence[str]) -> None:
    """Raise `OptionError` if standard input is a path and several targets are named: it can be read
    only once."""
    if run_as[1:] and STANDARD_INPUT in paths:
        message = say("stdin-once", targets=",".join(run_as))
        raise OptionError(message)


def read(paths: Sequence[str], options: Options, jobs: int) -> Iterator[Item]:
    """Results and problems of the paths, read by `jobs` processes; 0 means one."""
    return read_by_several(paths, options, jobs or 1) or analyse(paths, options)


def read_by_several(
    paths: Sequence[str], options: Options, jobs: int, rows: Rows | None = None
) -> Iterator[Any] | None:
    """Results and problems of the paths, read in parallel; with `rows` the kernels come as text.

    None if the user asks for one process, if one is enough, or if only one can know what `unique`
    or compiled sources need.
    """
    # Only one process knows all that was read before, and what sources are compiled to.
    if jobs == 1 or options.unique or options.compiled:
        return None
    from kernelinfo.analysis.parallel import processes, spread, tasks

    work = list(tasks(paths))
    count = processes(work, jobs)
    return spread(work, options, count, rows) if count > 1 else None
