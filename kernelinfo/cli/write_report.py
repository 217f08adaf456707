"""A report from reading to writing, for the fast start and for typer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kernelinfo.analysis import analyse
from kernelinfo.analysis.options import Options
from kernelinfo.cli import progress
from kernelinfo.cli.output import Problems, write
from kernelinfo.kernel import Item
from kernelinfo.render import View, renderer


def write_report(
    paths: list[str],
    options: Options,
    view: View,
    format: str,
    output: str | None = None,
    *,
    jobs: int = 0,
    verbose: bool = False,
) -> None:
    """Write the report of all paths; end the program where something could not be answered.

    `jobs` is the number of processes for JSON lines; 0 for as many as pay. One alone counts what is
    unique and is verbose.
    """
    problems = Problems(verbose=verbose)
    if format == "jsonl" and jobs != 1 and not (options.unique or verbose):
        from kernelinfo.analysis.parallel import batches, processes, spread

        work = list(batches(paths))
        if (parts := processes(work, jobs)) > 1:

            def render(items: Iterable[Item]) -> Iterator[str]:
                return renderer(format)(items, view)

            write(problems.heard(spread(work, options, render, parts)), output)
            problems.exit()
            return
    items = progress.shown(problems.watch(analyse(paths, options)), paths)
    write(renderer(format)(items, view), output)
    problems.exit()
