"""Commands, options and help, as typer parses and prints them."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib import import_module
from inspect import cleandoc
from typing import Any

import typer
import typer.main
from typer.core import TyperCommand, TyperGroup

from kernelinfo import __version__
from kernelinfo.cli.messages import say
from kernelinfo.cli.naming import files
from kernelinfo.errors import OptionError
from kernelinfo.opening import only_below
from kernelinfo.render.paint import printable, wrap

_EPILOG = """
Exit codes:
  0  an answer, and nothing to report
  1  a claim about the kernels: a finding that the gate fails for
  2  no full answer: wrong usage, unreadable or partly read input,
     unknown target, no kernel found

Targets, by name or product:
  --arch gfx942    the input's: a source is compiled for it, and code that
                   names no target is read for it
  --as gfx942      what if: the same registers on that target
  --target gfx942  which: only kernels that run there

Examples:
  kernelinfo kernels.s                        # what limits each kernel
  kernelinfo explain kernels.s vgprbound      # one of them, number by number
  kernelinfo limits --arch gfx942             # the steps of a target
  kernelinfo calc --arch gfx942 --vgpr 96 --vary lds
  kernelinfo --show-completion                # for TAB, as a script
"""


_DEFAULT_COMMAND = "report"

_SECTIONS = {
    "Targets": ("arch", "archs", "run_as", "target"),
    "Kernels": (
        "kernels", "exclude", "member", "where", "limited_by", "spilling",
        "unique", "all_copies", "source_lines",
    ),
    "Registers and memory": ("vgpr", "agpr", "sgpr", "lds", "scratch"),
    "Hardware and launch": (
        "device", "workgroup_size", "dynamic_lds", "grid", "wave",
        "cu_mode", "dynamic_vgpr_block", "no_trap_handler",
    ),
    "Questions": ("vary", "best", "as_llvm", "as_hip", "waves", "launch_bounds", "strategy"),
    "Compiler": ("compiler", "compile_commands", "level", "mllvm", "timeout"),
    "Rules": ("select", "ignore", "severity", "config"),
    "Comparison": ("across_targets",),
    "Gate": (
        "baseline", "update_baseline", "strict_baseline", "fail_on", "exit_zero", "min_kernels",
        "subset", "if_built", "init", "show_config",
    ),
    "Output": (
        "format", "output", "names", "color", "width", "top", "sort", "group", "quiet", "verbose",
        "jobs", "columns", "by",
    ),
}  # fmt: skip
"""Section of the help -> its parameters, of any command. Other parameters are under Options."""


def _keep_below(ctx: typer.Context, folder: str | None) -> None:
    """Read and write files below the folder only, until the command ends."""
    if folder is None or ctx.resilient_parsing:
        return
    if not os.path.isdir(folder):
        raise OptionError(say("only-below-no-folder", folder=folder))
    ctx.with_resource(only_below(folder))


def _only_below(
    folder: str | None = typer.Option(
        None,
        "--only-below",
        metavar="DIR",
        help="Read and write files below DIR only, links resolved. No compiler runs.",
        is_eager=True,
        expose_value=False,
        callback=_keep_below,
    ),
) -> None:
    """The option that each command has."""


_UNBROKEN = "\u2011"
"""A hyphen that does not end a line of help: `--update-baseline` stays whole."""


class _Command(TyperCommand):
    """A command whose help groups options by section and prints examples unchanged."""

    def get_help(self, ctx: Any) -> str:
        return str(super().get_help(ctx)).replace(_UNBROKEN, "-")

    def format_options(self, ctx: typer.Context, formatter: Any) -> None:  # type: ignore[override]
        section_of = {name: section for section, names in _SECTIONS.items() for name in names}
        sections: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": []}
        sections |= {section: [] for section in _SECTIONS}
        for param in self.get_params(ctx):
            if record := param.get_help_record(ctx):
                record = record[0], record[1].replace("-", _UNBROKEN)
                is_argument = param.param_type_name == "argument"
                section = section_of.get(param.name or "", "Options")
                sections["Arguments" if is_argument else section].append(record)
        sections["Options"] = sections.pop("Options")
        for section, records in sections.items():
            if records:
                with formatter.section(section):
                    formatter.write_dl(records)

    def format_epilog(self, ctx: typer.Context, formatter: Any) -> None:  # type: ignore[override]
        _write(self.epilog, formatter)


_GROUPS = {
    "Look": (
        "report", "explain", "pressure", "diff", "watch", "calc", "limits", "sweep", "arch",
        "compare-profile",
    ),
    "Gate": ("check", "cmake-dir"),
    "Fleet": ("scan", "trend"),
    "Plumbing": ("extract", "vectors", "mcp"),
}  # fmt: skip
"""Group of the list of commands -> its commands."""

_UsageError: Any = typer.BadParameter.__bases__[0]
"""The base class of usage errors. typer hides its copy of click under a private name."""


class _CommandLine(TyperGroup):
    """The group of commands. A first word that is not a command is a path for `report`, also in
    shell completion."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except _UsageError as error:
            error.message = printable(error.message)
            if mend := _mend(error):
                error.message = error.message.rstrip(".") + mend
            raise

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """The list of commands, grouped by what they are for."""
        for group, names in _GROUPS.items():
            listed = [(name, self.commands[name]) for name in names if name in self.commands]
            with formatter.section(group):
                formatter.write_dl([(name, command.help or "") for name, command in listed])

    def format_epilog(self, ctx: typer.Context, formatter: Any) -> None:  # type: ignore[override]
        _write(self.epilog, formatter)

    def parse_args(self, ctx: Any, args: list[str]) -> Any:
        """Parse the words. In shell completion, an option before any command is completed as an
        option of `report`."""
        names = {name for option in self.get_params(ctx) for name in option.opts}
        if ctx.resilient_parsing and args and args[0].startswith("-") and args[0] not in names:
            args = [_DEFAULT_COMMAND, *args]
        return super().parse_args(ctx, args)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if ctx.resilient_parsing and args[0] == "help":
            args = ["explain", *args[1:]]
        is_named = args[0] in self.commands or _DEFAULT_COMMAND not in self.commands
        return super().resolve_command(ctx, args if is_named else [_DEFAULT_COMMAND, *args])

    def shell_complete(self, ctx: Any, incomplete: str) -> Any:
        offers = super().shell_complete(ctx, incomplete)
        if incomplete.startswith("-"):
            default = self.commands[_DEFAULT_COMMAND]
            with default.make_context(_DEFAULT_COMMAND, [], ctx, resilient_parsing=True) as context:
                return [*offers, *default.shell_complete(context, incomplete)]
        # Shells add files only if no other offer comes.
        return [*offers, *(type(offers[0])(path) for path in files(incomplete))] if offers else []


def _mend(error: Any) -> str:
    """Advice on words that typer refuses, appended to its message; often empty."""
    params = error.ctx.command.params if error.ctx else ()
    names = {param.name for param in params}
    if "unexpected extra argument" in error.message:
        files = [param for param in params if param.param_type_name == "argument"]
        if any(param.name != "gfx" for param in files):
            return say("glob-unquoted")
        number = re.search(r"\((\d+)[ )]", error.message)
        if "gfx" in names and number:
            return say("argument-is-number", number=number[1])
        return say("argument-leave-out")
    if getattr(error, "param", None) is not None and error.param.name == "fail_on":
        return say(
            "never-fail", mend="give --exit-zero" if "exit_zero" in names else "leave it out"
        )
    return ""


def _write(text: str | None, formatter: Any) -> None:
    """Write an epilog, unchanged or wrapped for a narrow terminal."""
    lines = (text or "").strip().split("\n")
    if max(map(len, lines)) > formatter.width:
        lines = [*_narrow(lines, formatter.width)]
    formatter.write("\n" + "\n".join(lines) + "\n" if text else "")


def _narrow(lines: Iterable[str], width: int) -> Iterator[str]:
    """Entries wrapped between words and indented like their texts; comments go above commands."""
    entries: list[str] = []
    for line in lines:
        if line.startswith("   ") and entries:
            entries[-1] += f" {line.strip()}"
        else:
            entries.append(line)
    for entry in entries:
        entry, _, comment = entry.partition("  # ")
        entry = entry.rstrip()
        column = re.match(r"  \S+(?: \S+)*  +|", entry)
        texts = [(entry, (column.end() if column else 0) or 6)]
        if comment:
            texts.insert(0, (f"  # {comment}", 4))
        for text, indent in texts:
            for spans in wrap([(text, "")], width, indent):
                yield "".join(part for part, _ in spans).rstrip()


def _version(is_set: bool) -> None:
    if is_set:
        print(f"kernelinfo {__version__}")
        raise typer.Exit


def _root(
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Show the version."
    ),
) -> None:
    pass


def command_list(commands: Mapping[str, str]) -> Callable[..., Any]:
    """The command line that lists commands, each with its line of help."""
    line = _line()
    for name, summary in commands.items():
        line.command(name, help=summary, hidden=name in _HIDDEN)(_root)
    return line


def command_line(commands: Iterable[str]) -> Callable[..., Any]:
    """The command line with these commands; imports their modules."""
    line = _line()
    for name in commands:
        function = _function_of(name)
        text, _, examples = cleandoc(function.__doc__ or "").partition("\nExamples:\n")
        settings: dict[str, Any] = {"help": text, "epilog": f"Examples:\n{examples}"}
        line.command(name, cls=_Command, hidden=name in _HIDDEN, **settings)(function)
    # typer makes parameters of a function alone: a command lends its own to the others.
    lender = typer.Typer(add_completion=False)
    lender.command()(_only_below)
    (only_below,) = typer.main.get_command(lender).params
    group = typer.main.get_command(line)
    assert isinstance(group, TyperGroup)
    for command in group.commands.values():
        command.params.append(only_below)
    return group


_HOMES = {
    **dict.fromkeys(("arch", "limits", "rules", "vectors", "cmake-dir", "mcp"), "reference"),
    **dict.fromkeys(("scan", "trend"), "fleet"),
    "extract": "report",
}
"""Command -> the module that defines it, as a function named after the command. Every other command
is the function `command` of the module named after it."""


def _function_of(name: str) -> Callable[..., None]:
    """The function of a command: its parameters are the options, its docstring is the help."""
    word = name.replace("-", "_")
    module = import_module(f"kernelinfo.cli.{_HOMES.get(name, word)}")
    function: Callable[..., None] = getattr(module, word if name in _HOMES else "command")
    return function


_HIDDEN = ("rules",)  # `explain rules` tells more


def _line() -> typer.Typer:
    line = typer.Typer(
        name="kernelinfo",
        cls=_CommandLine,
        help="Show what limits each AMD GPU kernel's occupancy, from the compiler's output: "
        "assembly, code objects, and programs, libraries and archives that contain them. "
        "`kernelinfo PATH...` is `kernelinfo report PATH...`.",
        epilog=_EPILOG,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    )
    line.callback()(_root)
    return line
