"""The options that several commands share, each declared once, and what they come to."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_type_hints

import typer
from typer.models import ParameterInfo

from kernelinfo.cli import completion, values
from kernelinfo.cli.fast_start import CONFIG_OPTION, FORMAT_OPTION, OUTPUT_OPTION
from kernelinfo.cli.output import make_view
from kernelinfo.reading.budget import Bounds
from kernelinfo.render import FORMATS, RECORD_FORMATS, View
from kernelinfo.render.name_style import NameStyle

if TYPE_CHECKING:
    from kernelinfo.analysis.options import Options
    from kernelinfo.gate.config import Configuration

Command = Callable[..., None]


def target_option(name: str, help: str) -> Any:
    """An option that takes targets and products."""
    return typer.Option(
        None,
        name,
        metavar="GFX|PRODUCT",
        parser=values.parse_target,
        autocompletion=completion.gfx,
        help=help,
    )


def format_option(
    formats: Sequence[str], default: str | None = "text", help: str = "Choose the output format."
) -> Any:
    """`--format` of a command that writes these."""

    def parse(text: str) -> str:
        if text not in formats:
            raise typer.BadParameter(f"{text!r} is not one of {', '.join(formats)}")
        return text

    return typer.Option(
        default,
        *FORMAT_OPTION,
        metavar=f"[{'|'.join(formats)}]",
        parser=parse,
        autocompletion=lambda: [*formats],
        help=help,
    )


PATHS = typer.Argument(metavar="PATH...", help="Files, directories, globs, or - for stdin.")
NAMED_TARGET = typer.Argument(
    None,
    metavar="[GFX|PRODUCT]",
    parser=values.parse_target,
    autocompletion=completion.gfx,
    help="The target: gfx942, MI300X.",
)
FORMAT_OF_RECORDS = format_option(RECORD_FORMATS)


class _Shared:
    """The options by the names of their parameters; each stands where a command takes it."""

    arch: str | None = target_option("--arch", "Set the target of inputs that do not name one.")
    target: list[str] | None = target_option(
        "--target", "Keep kernels compiled for this target. Repeatable."
    )
    run_as: list[str] | None = typer.Option(
        None,
        "--as",
        metavar="GFX|PRODUCT[,...]",
        parser=values.parse_targets,
        autocompletion=completion.gfx,
        help="Ask what if the same registers ran there; several targets, one block each.",
    )
    workgroup_size: int | None = typer.Option(
        None,
        "--workgroup-size",
        "--block",
        metavar="N|XxYxZ",
        parser=values.parse_workgroup,
        help="Set the workitems of a workgroup that the host really launches.",
    )
    dynamic_lds: int | None = typer.Option(
        None,
        metavar="BYTES",
        parser=values.parse_bytes,
        help="Set the LDS per workgroup that the host adds at launch; takes k, KiB and M.",
    )
    device: str | None = typer.Option(
        None,
        metavar="NAME",
        autocompletion=completion.products,
        help="Set a product, such as MI300X, and count what fills its CUs.",
    )
    grid: int | None = typer.Option(
        None, metavar="N", min=1, help="Set the workgroups launched on --device."
    )
    wave: int | None = typer.Option(
        None, metavar="32|64", help="Set the lanes in a wave; the target's own by default."
    )
    cu_mode: bool = typer.Option(
        False, "--cu-mode", help="Use CU mode where WGP mode is the default."
    )
    dynamic_vgpr_block: int = typer.Option(
        0,
        metavar="16|32",
        min=0,
        help="Allocate VGPRs in blocks while waves run (gfx12); count the waves that start.",
    )
    no_trap_handler: bool = typer.Option(
        False, "--no-trap-handler", help="Leave out the 16 SGPRs per wave of ROCm's trap handler."
    )
    kernels: list[str] | None = typer.Option(
        None,
        "-k",
        "--kernel",
        metavar="GLOB",
        help="Keep kernels of this name, demangled or mangled; re:REGEX too. Repeatable.",
    )
    exclude: list[str] | None = typer.Option(
        None, metavar="GLOB", help="Drop kernels of this name. Repeatable."
    )
    all_copies: bool = typer.Option(
        False,
        "--all-copies",
        help="List code objects, too, that state what an assembly next to them does.",
    )
    bound: list[str] | None = typer.Option(
        None,
        metavar="NAME=N",
        parser=values.parse_bound,
        help="Raise a bound: nesting, entries, ratio, memory, members, kernels, fetch. Repeatable.",
    )
    deep: bool = typer.Option(
        False, "--deep", help="Search files of folders for code objects, however large they are."
    )
    select: list[str] | None = typer.Option(
        None,
        metavar="RULE,...",
        autocompletion=completion.rules,
        help="Apply only these rules: KI101, KI2, vgpr-spill.",
    )
    ignore: list[str] | None = typer.Option(
        None, metavar="RULE,...", autocompletion=completion.rules, help="Skip these rules."
    )
    severity: list[str] | None = typer.Option(
        None,
        metavar="RULE=LEVEL",
        autocompletion=completion.levels,
        help="Set note, warning or error for a rule. Repeatable.",
    )
    config: Path | None = typer.Option(
        None,
        *CONFIG_OPTION,
        metavar="FILE",
        help="Read FILE instead of the nearest kernelinfo.toml or pyproject.toml.",
    )
    format: str = format_option(FORMATS)
    output: str | None = typer.Option(
        None, *OUTPUT_OPTION, metavar="FILE", help="Write to FILE, not to standard output."
    )
    names: NameStyle = typer.Option("full", help="Choose how kernel names are written.")
    color: str = typer.Option(
        "auto",
        metavar="auto|always|never",
        autocompletion=lambda: [("auto", "on a terminal"), ("always", ""), ("never", "")],
        help="Choose when to use colour; auto honours NO_COLOR.",
    )
    width: int | None = typer.Option(
        None, metavar="N", min=40, help="Set the width in columns; the terminal's by default."
    )
    top: int = typer.Option(50, metavar="N", min=0, help="Show N kernels; 0 shows all.")
    quiet: bool = typer.Option(False, "-q", "--quiet", help="Show the table alone.")
    verbose: bool = typer.Option(
        False, "-v", "--verbose", help="List on standard error what is read."
    )
    jobs: int = typer.Option(
        0,
        metavar="N",
        min=0,
        help="Read with N processes; by default as many as pay, one but for long jsonl and csv.",
    )


_PARAMETERS = {
    name: Parameter(name, Parameter.KEYWORD_ONLY, annotation=type, default=vars(_Shared)[name])
    for name, type in get_type_hints(_Shared).items()
}


def takes(*names: str) -> Callable[[Command], Command]:
    """A command with these options in this order, which is that of its help.

    Each is a shared one or a parameter of the command's own; own ones that are not named come
    first. The command may ask for any of them, and for `view`, `project` and `wanted`, which
    several of them make together.
    """
    order = " ".join(names).split()

    def decorate(command: Command) -> Command:
        asked = signature(command, eval_str=True).parameters
        own = {
            name: one.replace(kind=Parameter.KEYWORD_ONLY)
            for name, one in asked.items()
            if isinstance(one.default, ParameterInfo)
        }

        def run(**given: Any) -> None:
            made = {name: make(given) for name, make in _MADE.items() if name in asked}
            command(**{name: one for name, one in (given | made).items() if name in asked})

        parameters = {name: one for name, one in own.items() if name not in order}
        parameters |= {name: own.get(name) or _PARAMETERS[name] for name in order}
        run.__signature__ = Signature([*parameters.values()])  # type: ignore[attr-defined]
        run.__doc__ = command.__doc__
        return run

    return decorate


def _view(given: dict[str, Any]) -> View:
    """How the output is to look."""
    names = ("names", "color", "width", "output", "top", "group", "quiet")
    return make_view(**{name: given[name] for name in names if name in given})


def _project(given: dict[str, Any]) -> Configuration:
    """What the project configures, with the rules that the command line chooses."""
    from kernelinfo.cli.project import configuration

    names = ("select", "ignore", "severity", "config")
    return configuration(**{name: given[name] for name in names if name in given})


def _wanted(given: dict[str, Any]) -> Options:
    """Which kernels are read, and how they are launched."""
    from kernelinfo.analysis.options import Options

    bounds = dict(given.get("bound") or ()) | ({"carved": sys.maxsize} if given.get("deep") else {})
    return Options(
        arch=given.get("arch"),
        workgroup_size=given.get("workgroup_size"),
        dynamic_lds_bytes=given.get("dynamic_lds"),
        trap_handler=not given.get("no_trap_handler"),
        kernels=tuple(given.get("kernels") or ()),
        exclude=tuple(given.get("exclude") or ()),
        targets=tuple(given.get("target") or ()),
        all_copies=given.get("all_copies", False),
        bounds=Bounds(**bounds),
    )


_MADE = {"view": _view, "project": _project, "wanted": _wanted}
