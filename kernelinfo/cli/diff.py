"""`kernelinfo diff OLD NEW`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Annotated, Literal

import typer

from kernelinfo.analysis import Judgements
from kernelinfo.analysis.inputs import unmatched
from kernelinfo.analysis.options import Options
from kernelinfo.cli import console, options, project
from kernelinfo.cli.messages import CANNOT_ANSWER, complain, say
from kernelinfo.compare import Comparison, compare
from kernelinfo.compare.saved import chosen, read_build
from kernelinfo.compare.summary import Build, KernelSummary, Statements
from kernelinfo.errors import OptionError
from kernelinfo.gate.baseline import is_baseline, read_baseline
from kernelinfo.pressure import with_instructions
from kernelinfo.reading.messages import in_file
from kernelinfo.render import Renderer, rows
from kernelinfo.render.diff import text

FailOn = Literal["regression", "change"]

FAIL_ON = typer.Option(
    None,
    help="Exit with 1 for a regression: waves lost, spills or scratch gained, a kernel gone; or "
    "for any change: a kernel affected, gone or new. Without it, never.",
)
_SIDE = "A file, folder or glob of code, a saved report (JSON, JSON lines, CSV), or a baseline."


OUTPUTS: Mapping[str, Renderer] = {
    "text": text.render,
    "json": console.late("diff.data", "render_json"),
    "jsonl": console.late("diff.data", "render_jsonl"),
    "csv": console.late("diff.data", "render_csv"),
    "markdown": text.render_markdown,
    "html": console.late("diff.data"),
}


def command(
    *,
    old: str = typer.Argument(metavar="OLD", help=_SIDE),
    new: str = typer.Argument(metavar="NEW", help="The other build, in the same forms."),
    across_targets: bool = typer.Option(
        False, "--across-targets", help="Pair kernels by name, even of different targets."
    ),
    loose: bool = typer.Option(
        False,
        "--loose",
        help="Also pair kernels by a unique base name, and mark these pairs.",
    ),
    by: rows.CountedBy | None = typer.Option(
        None, help="Count kernels, spills, scratch, lost waves and code instead of listing kernels."
    ),
    fail_on: FailOn | None = FAIL_ON,
    archs: options.Archs = None,
    target: options.Targets = None,
    member: options.Members = None,
    where: options.Where = None,
    run_as: options.RunAs = None,
    workgroup_size: options.WorkgroupSize = None,
    dynamic_lds: options.DynamicLds = None,
    no_trap_handler: options.NoTrapHandler = False,
    kernels: options.Kernels = None,
    exclude: options.Exclude = None,
    all_copies: options.AllCopies = False,
    compiler: options.Compiler = None,
    compile_commands: options.CompileCommands = None,
    flags: options.Flags = None,
    bound: options.Bound = None,
    deep: options.Deep = False,
    format: Annotated[str, options.format_option(OUTPUTS)] = "text",
    output: options.Output = None,
    names: options.FittingNames = None,
    color: options.Color = "auto",
    width: options.Width = None,
    top: options.Top = 50,
    instructions: options.Instructions = False,
    quiet: options.Quiet = False,
) -> None:
    """Compare two builds: which kernels moved, and why.

    Kernels are paired, also across renames. Affected kernels stand first, each with the numbers
    that moved and the limit that they moved under. A saved report stands for its build.

    Examples:
      kernelinfo diff before.s after.s
      kernelinfo diff before.s after.s --fail-on regression    # for CI
      kernelinfo diff before.s after.s --as gfx90a,MI300X      # side by side
      kernelinfo before.s --format json -o saved.json
      kernelinfo diff saved.json after.s
    """
    query = options.choice(
        kernels, exclude, target, member, where, bound, deep=deep, all_copies=all_copies
    )
    query = options.with_launch(query, workgroup_size, dynamic_lds, no_trap=no_trap_handler)
    if instructions:
        query = with_instructions(query)
    settings = project.settings_of(archs, compiler, compile_commands, flags)
    _, query = project.with_sources([old, new], query, settings, quiet=quiet)
    view = console.make_view(
        names=names, color=color, width=width, output=output, top=top, quiet=quiet
    )
    view = view._replace(instructions=instructions)
    query = query._replace(instructions=False, positions=False)
    targets = options.separate(run_as)
    comparisons = [
        _compare(
            old, new, query._replace(run_as=target), across_targets=across_targets, loose=loose
        )
        for target in (*targets,) or (None,)
    ]
    comparison = comparisons[0]
    for problem in dict.fromkeys(problem for each in comparisons for problem in each.problems):
        console.tell(problem)
    for note in (*comparison.notes, *_unmatched(comparison, query)):
        complain(f"note: {note}")
    if comparison.is_of_other_targets:
        complain(say("diff-without-targets"))
    if by and targets[1:]:
        console.check_has_blocks(format, targets)
        tables = (text.render_counts(each, by, format, view) for each in comparisons)
        console.write(
            console.labelled(zip(targets, tables, strict=True), format), output, color=view.color
        )
    elif targets[1:]:
        console.write(
            text.render_side_by_side(targets, comparisons, format, view),
            output,
            color=view.color,
        )
    elif by:
        console.write(text.render_counts(comparison, by, format, view), output, color=view.color)
    elif comparison.pairs or (comparison.gone and comparison.new):
        console.write(OUTPUTS[format](comparison, view), output, color=view.color)
    if any(each.problems for each in comparisons):
        raise typer.Exit(CANNOT_ANSWER)
    if any(fails(each, fail_on) for each in comparisons):
        raise typer.Exit(console.CLAIM)


def _compare(
    old: str, new: str, query: Options, *, across_targets: bool, loose: bool
) -> Comparison:
    """The comparison of two paths, with the problems of reading them."""
    # Most kernels are equal in both builds.
    equal: dict[KernelSummary, KernelSummary] = {}
    statements: Statements = {}
    judgements: Judgements = {}
    (before, problems), (after, further) = (
        (_of_baseline(path, query), [])
        if is_baseline(path)
        else read_build(
            path, query, partial(console.shown, paths=[path]), equal, statements, judgements
        )
        for path in (old, new)
    )
    equal.clear()
    statements.clear()
    judgements.clear()
    with console.waiting("comparing"):
        comparison = compare(before, after, across_targets=across_targets, loose=loose)
    return comparison._replace(problems=(*problems, *further), names=(old, new))


def _of_baseline(path: str, query: Options) -> Build:
    if query.where is not None:
        raise OptionError(in_file(path, say("where-of-baseline")))
    return chosen(read_baseline(path), query)


def _unmatched(comparison: Comparison, query: Options) -> Iterator[str]:
    """A message for each `-k`, `--target` and `--member` that matches no kernel of either build, if
    another of them matches one."""
    kernels = [kernel for pair in comparison.pairs for kernel in (pair.old, pair.new)]
    kernels += comparison.gone + comparison.new
    met = {m for k in kernels for m in query.met(k.name, k.symbol, k.target, k.code_object)}
    yield from (say("choice-of-either-build", line=line) for line in unmatched(query, met) if met)


def fails(comparison: Comparison, fail_on: FailOn | None) -> bool:
    """True if the comparison has a regression or change that `--fail-on` names."""
    if fail_on == "regression":
        return bool(comparison.gone) or any(pair.regressed for pair in comparison.pairs)
    if fail_on == "change":
        apart = comparison.gone or comparison.new
        return bool(apart) or any(pair.affected for pair in comparison.pairs)
    return False
