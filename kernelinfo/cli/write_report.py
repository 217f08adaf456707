"""A report: reads paths, writes rows."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

from kernelinfo.analysis import analyse
from kernelinfo.analysis.options import Options
from kernelinfo.cli.messages import say
from kernelinfo.cli.output import Problems, check_has_blocks, labelled, make_view, shown, write
from kernelinfo.errors import OptionError
from kernelinfo.kernel import Item
from kernelinfo.reading.containers.files import STANDARD_INPUT
from kernelinfo.reading.paths import configurations
from kernelinfo.render import FORMATS, SHOW_INSTRUCTIONS, View, format_module

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
    problems: Problems | None = None,
    verbose: bool = False,
    arrange: Callable[[Iterator[Item]], Iterable[Item]] | None = None,
    answer: Callable[[Iterable[Item]], Iterator[str]] | None = None,
    run_as: Sequence[str] = (),
) -> None:
    """Write the report of all paths; exit with 2 if a path could not be read.

    `jobs` is the number of processes; 0 starts as many as pay. `problems` are those that `answer`
    tells, too. `arrange` sorts the kernels.
    `answer` renders them in the place of the format's report. The report has one block per target
    in `run_as`. Raises `OptionError` for a format without blocks.
    """
    problems, module = problems or Problems(verbose=verbose), format_module(format)
    is_whole = format in SHOW_INSTRUCTIONS
    options = options._replace(instructions=is_whole, positions=is_whole)
    rows = getattr(module, "rows", None)
    first_line = module.first_line(view) if hasattr(module, "first_line") and not answer else ""
    check_has_blocks(format, run_as)
    check_readable_again(paths, run_as)
    streams = bool(rows) and output is None and not (arrange or answer)

    def block(options: Options) -> Iterator[str]:
        """The report, without the heading of CSV rows."""
        if rows and not (verbose or arrange or answer):
            writer = partial(rows, view=view)
            if pieces := read_by_several(paths, options, jobs, writer):
                return problems.reported(shown(pieces, (), streams=streams))
        found = shown(problems.watch(read(paths, options, jobs)), paths, streams=streams)
        if arrange:
            found = iter(arrange(found))
        if answer:
            return answer(found)
        render = rows or module.render
        return iter(render(found, view._replace(selection=options.selection)))

    first, *others = [options._replace(run_as=one) for one in run_as] or [options]
    if answer and others:
        blocks = ((one.run_as or "", block(one)) for one in (first, *others))
        write(labelled(blocks, format), output, color=view.color)
    else:
        between = "" if rows else "\n"
        more = (piece for one in others for piece in chain((between,), block(one)))
        write(chain((first_line,), block(first), more), output, color=view.color)
    problems.exit()


def write_plain_report(paths: list[str]) -> None:
    """Write the report of `kernelinfo PATH...` without options."""
    options = Options()
    if _may_be_configured():
        # Few folders need it, and it takes a fifth of the report of a small file.
        from kernelinfo.cli.project import configuration

        project = configuration()
        options = Options(selection=project.selection, workgroup_sizes=project.workgroup_sizes)
    write_report(paths, options, make_view(), FORMATS[0])


def _may_be_configured() -> bool:
    """True if this folder or one above has a file that could be a configuration."""
    try:
        return any(configurations(os.getcwd()))
    except OSError:  # the current folder was deleted
        return False


def check_readable_again(paths: Sequence[str], run_as: Sequence[str]) -> None:
    """Check that several targets do not ask for standard input: it can be read only once.

    Raises `OptionError`.
    """
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

    None if one process is asked for, or is enough.
    """
    # Only one process knows all that was read before, and what sources are compiled to.
    if jobs == 1 or options.unique or options.compiled:
        return None
    from kernelinfo.analysis.parallel import processes, spread, tasks

    work = list(tasks(paths))
    count = processes(work, jobs)
    return spread(work, options, count, rows) if count > 1 else None
