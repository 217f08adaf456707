"""Options that several commands share. Each command lists its own."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Collection, Sequence
from math import prod
from pathlib import Path
from typing import Annotated, Any

import typer

from kernelinfo.analysis.options import Options
from kernelinfo.cli import naming
from kernelinfo.cli.messages import say
from kernelinfo.errors import OptionError
from kernelinfo.hardware.products import target_named
from kernelinfo.kernel.columns import condition
from kernelinfo.model.limits import Launch
from kernelinfo.reading.blob import BY_DEFAULT, Bounds
from kernelinfo.reading.target_id import named_target_id
from kernelinfo.render import NameStyle

# Parsers for values of options.

_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}


def parse_bytes(text: str | int) -> int:
    """Number of bytes in `4096`, `64k`, `64KiB` or `1M`; units are multiples of 1024."""
    match = re.fullmatch(r"(\d{1,12})\s*([kmg]?)(?:i?b)?", str(text).strip().lower())
    if match is None:
        raise typer.BadParameter(say("bytes-malformed", text=text))
    return int(match[1]) * _UNITS[match[2]]


def parse_workgroup(text: str | int) -> int:
    """Number of workitems in `256` or `16x16x1`."""
    text = str(text).strip()
    if re.fullmatch(r"\d{1,9}(x\d{1,9}){0,2}", text) is None:
        raise typer.BadParameter(say("workgroup-size-malformed", text=text))
    size = prod(map(int, text.split("x")))
    if size < 1:
        raise typer.BadParameter(say("workgroup-size-zero"))
    return size


def parse_sizes(text: str) -> Launch:
    """The launch for one size or a range of sizes: `256`, `64..1024`, `64:1024`, `64-1024`."""
    first, separator, last = re.sub(r"\.\.|[:-]", " ", text.strip(), count=1).partition(" ")
    least, largest = parse_workgroup(first), parse_workgroup(last if separator else first)
    if least > largest:
        raise typer.BadParameter(say("workgroup-sizes-malformed", text=text))
    return Launch(largest, smallest_size=least if least < largest else None)


def parse_target(text: str) -> str:
    """The gfx name of a target or product. Raises `KernelinfoError` if it is unknown."""
    return target_named(text).name


def parse_targets(text: str) -> str:
    """gfx names, comma-separated, from a comma-separated list of targets and products."""
    return ",".join(parse_target(name.strip()) for name in text.split(","))


def separate(lists: Sequence[str] | None) -> list[str]:
    """The distinct values of a repeatable option whose values are comma-separated lists."""
    return list(dict.fromkeys(value for text in lists or () for value in text.split(",")))


def parse_bound(text: str) -> tuple[str, int]:
    """(field of `Bounds`, its value) from `NAME=NUMBER`."""
    name, _, number = text.partition("=")
    defaults = {
        name: default for name, default in BY_DEFAULT._asdict().items() if isinstance(default, int)
    }
    if name not in defaults or not number.isdecimal() or len(number) > 18:
        names = ", ".join(f"{name}={default}" for name, default in defaults.items())
        raise typer.BadParameter(say("bound-unknown", text=text, names=names))
    return name, int(number)


def parse_labels(lists: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """(name, value) of each label in lists such as `commit=1a2b3c,date=2026-11-22`."""
    labels = dict[str, str]()
    for label in separate(lists):
        name, equals, value = label.partition("=")
        if not (name.strip() and equals):
            raise OptionError(say("label-malformed", label=label))
        labels[name.strip()] = value.strip()
    return tuple(labels.items())


def target_option(name: str, help: str, parser: Callable[[str], str] = parse_target) -> Any:
    """A typer option for a target or product."""
    return typer.Option(
        name,
        metavar="GFX|PRODUCT",
        parser=parser,
        autocompletion=naming.gfx,
        help=help,
    )


def one_target(argument: str | None, option: str | None) -> str | None:
    """The target that an argument or --arch names. Raises `OptionError` if they differ."""
    if argument and option and argument != option:
        raise OptionError(say("target-twice", argument=argument, option=option))
    return argument or option


def format_option(outputs: Collection[str], help: str = "Choose the output format.") -> Any:
    """The option `--format`, whose values are the outputs of the command."""

    def parse(text: str) -> str:
        if text not in outputs:
            raise OptionError(say("format-unknown", text=text, names=", ".join(outputs)))
        return text

    return typer.Option(
        "--format",
        metavar=f"[{'|'.join(outputs)}]",
        parser=parse,
        autocompletion=lambda: [*outputs],
        help=help,
    )


Paths = Annotated[
    list[str], typer.Argument(metavar="PATH...", help="Files, directories, globs, or - for stdin.")
]
NamedTarget = Annotated[
    str | None,
    typer.Argument(
        metavar="[GFX|PRODUCT]",
        parser=parse_target,
        autocompletion=naming.gfx,
        help="The target: gfx942, MI300X.",
    ),
]
SameTarget = Annotated[str | None, target_option("--arch", "Set the target, as the argument does.")]

Arch = Annotated[str | None, target_option("--arch", "The input's, where it does not name one.")]
Archs = Annotated[
    list[str] | None,
    target_option(
        "--arch",
        "The input's: compile sources for it, repeatable; or where the input names none.",
    ),
]
Compiler = Annotated[
    str | None,
    typer.Option(
        "--compiler",
        metavar="PATH",
        help="Compile sources by this program; by default $HIPCC, hipcc, amdclang++ or clang++.",
    ),
]
CompileCommands = Annotated[
    str | None,
    typer.Option(
        "--compile-commands",
        metavar="FILE",
        help="Compile sources with -I, -D and -std of this compile_commands.json.",
    ),
]
Flags = Annotated[
    list[str] | None, typer.Option("--flag", metavar="FLAG", hidden=True, help="A flag after --.")
]
Targets = Annotated[
    list[str] | None,
    target_option(
        "--target",
        "Which: keep kernels that run there, such as gfx942 or gfx906:xnack+. Repeatable.",
        named_target_id,
    ),
]
RunAs = Annotated[
    list[str] | None,
    typer.Option(
        "--as",
        metavar="GFX|PRODUCT[,...]",
        parser=parse_targets,
        autocompletion=naming.gfx,
        help="What if: the same registers there; of several, one block each.",
    ),
]
WorkgroupSize = Annotated[
    int | None,
    typer.Option(
        "--workgroup-size",
        "--block",
        metavar="N|XxYxZ",
        parser=parse_workgroup,
        help="Set the workitems of a workgroup, as the host launches it.",
    ),
]
DynamicLds = Annotated[
    int | None,
    typer.Option(
        metavar="BYTES",
        parser=parse_bytes,
        help="Set the LDS per workgroup that the host adds at launch, such as 4096, 64k or 64KiB.",
    ),
]
Device = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        autocompletion=naming.products,
        help="Set a product, such as MI300X, and count the workgroups that fill its CUs.",
    ),
]
Grid = Annotated[
    int | None, typer.Option(metavar="N", min=1, help="Set the workgroups launched on --device.")
]
Wave = Annotated[
    int | None,
    typer.Option(metavar="32|64", help="Set the lanes of a wave; by default the target's."),
]
CuMode = Annotated[
    bool, typer.Option("--cu-mode", help="Use CU mode where WGP mode is the default.")
]
DynamicVgprBlock = Annotated[
    int,
    typer.Option(
        metavar="16|32",
        min=0,
        help="Allocate VGPRs in blocks while waves run (gfx12); count the waves that start.",
    ),
]
NoTrapHandler = Annotated[
    bool,
    typer.Option(
        "--no-trap-handler", help="Leave out the 16 SGPRs per wave of ROCm's trap handler."
    ),
]


def kernels_option(offered: Callable[..., Any]) -> Any:
    """Option -k; `offered` names kernels for completion."""
    return typer.Option(
        "-k",
        "--kernel",
        metavar="KERNEL",
        autocompletion=offered,
        help="Keep kernels of this name: whole, without template arguments, parameters or "
        "namespace, mangled, a glob or re:REGEX. Repeatable.",
    )


def exclude_option(offered: Callable[..., Any]) -> Any:
    """Option --exclude; `offered` names kernels for completion."""
    return typer.Option(
        metavar="KERNEL", autocompletion=offered, help="Drop kernels of this name. Repeatable."
    )


Kernels = Annotated[list[str] | None, kernels_option(naming.kernels)]
Exclude = Annotated[list[str] | None, exclude_option(naming.kernels)]
Where = Annotated[
    Any,
    typer.Option(
        "--where",
        metavar="CONDITION",
        parser=condition,
        autocompletion=naming.columns,
        help="Keep kernels for which it holds: 'waves < 4 and lds > 32k', 'target = gfx90a'.",
    ),
]
Members = Annotated[
    list[str] | None,
    typer.Option(
        "--member",
        metavar="GLOB",
        autocompletion=naming.members,
        help="Keep kernels of these members of containers, by path or file name. Repeatable.",
    ),
]
AllCopies = Annotated[
    bool,
    typer.Option(
        "--all-copies",
        help="Also list code objects that state the same as the assembly next to them.",
    ),
]
Bound = Annotated[
    list[Any] | None,
    typer.Option(
        metavar="NAME=N",
        parser=parse_bound,
        help="Raise a bound: nesting, entries, ratio, memory, members, kernels, fetch. Repeatable.",
    ),
]
Deep = Annotated[
    bool,
    typer.Option("--deep", help="Search files of any size in folders for code objects."),
]
Select = Annotated[
    list[str] | None,
    typer.Option(
        metavar="RULE,...",
        autocompletion=naming.rules,
        help="Apply only these rules: KI101, KI2, vgpr-spill.",
    ),
]
Ignore = Annotated[
    list[str] | None,
    typer.Option(metavar="RULE,...", autocompletion=naming.rules, help="Skip these rules."),
]
Severity = Annotated[
    list[str] | None,
    typer.Option(
        metavar="RULE=LEVEL",
        autocompletion=naming.levels,
        help="Set note, warning or error for a rule, and turn it on. Repeatable.",
    ),
]
Config = Annotated[
    Path | None,
    typer.Option(
        "--config",
        metavar="FILE",
        help="Read FILE instead of the nearest kernelinfo.toml or pyproject.toml.",
    ),
]
Output = Annotated[
    str | None,
    typer.Option("-o", "--output", metavar="FILE", help="Write to FILE, not to standard output."),
]
Names = Annotated[NameStyle, typer.Option(help="Choose the form of kernel names.")]
FittingNames = Annotated[
    NameStyle | None,
    typer.Option(
        "--names",
        help="Choose the form of kernel names; by default full, or short on a terminal where "
        "whole ones do not fit.",
    ),
]
Color = Annotated[
    str,
    typer.Option(
        metavar="auto|always|never",
        autocompletion=lambda: [("auto", "on a terminal"), ("always", ""), ("never", "")],
        help="Choose when to use colour; auto honours NO_COLOR.",
    ),
]
Width = Annotated[
    int | None,
    typer.Option(metavar="N", min=40, help="Set the width in columns; by default the terminal's."),
]
Top = Annotated[int, typer.Option(metavar="N", min=0, help="Show N kernels; 0 shows all.")]
Instructions = Annotated[
    bool,
    typer.Option(
        "--instructions",
        help="Count instructions by class; code objects need llvm-objdump.",
    ),
]
SourceRoot = Annotated[
    str | None,
    typer.Option("--source-root", metavar="DIR", help="Look for the source text below DIR."),
]
Quiet = Annotated[bool, typer.Option("-q", "--quiet", help="Show only the table.")]
Verbose = Annotated[
    bool, typer.Option("-v", "--verbose", help="List the files that are read, on standard error.")
]
Jobs = Annotated[
    int,
    typer.Option(
        metavar="N",
        min=0,
        help="Read with N processes; by default one, and several for long jsonl and csv.",
    ),
]


def choice(
    kernels: Sequence[str] | None,
    exclude: Sequence[str] | None,
    targets: Sequence[str] | None,
    members: Sequence[str] | None,
    where: Any,
    raised: Sequence[tuple[str, int]] | None = None,
    *,
    deep: bool = False,
    all_copies: bool = False,
    arch: str | None = None,
) -> Options:
    """The kernels that a command line chooses, as options of an analysis.

    `raised` holds the bounds of `--bound`. With `deep`, code is searched in all bytes of files of
    unknown formats.
    """
    return Options(
        arch=arch,
        kernels=tuple(kernels or ()),
        exclude=tuple(exclude or ()),
        targets=tuple(targets or ()),
        members=tuple(members or ()),
        where=where,
        all_copies=all_copies,
        bounds=Bounds(**dict(raised or ()) | ({"carved": sys.maxsize} if deep else {})),
    )


def with_launch(
    query: Options,
    workgroup_size: int | None = None,
    dynamic_lds_bytes: int | None = None,
    *,
    no_trap: bool,
) -> Options:
    """The options, with the launch given on the command line."""
    return query._replace(
        workgroup_size=workgroup_size,
        dynamic_lds_bytes=dynamic_lds_bytes,
        trap_handler=not no_trap,
    )
