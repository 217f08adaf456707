"""The options that several commands share, and how their values are read."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from kernelinfo.cli import completion
from kernelinfo.cli.fast_start import FORMAT_OPTION, OUTPUT_OPTION
from kernelinfo.errors import OptionError
from kernelinfo.occupancy.devices import target_named
from kernelinfo.reading.budget import BY_DEFAULT, Bounds
from kernelinfo.render import FORMATS, RECORD_FORMATS
from kernelinfo.render.name_style import NameStyle

_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}


def parse_bytes(text: str | int) -> int:
    """Bytes, with `k`, `KiB`, `M` and the like for multiples of 1024."""
    match = re.fullmatch(r"(\d{1,12})\s*([kmg]?)(?:i?b)?", str(text).strip().lower())
    if match is None:
        raise typer.BadParameter(f"{text!r} is no number of bytes; write 4096, 64k or 64KiB")
    return int(match[1]) * _UNITS[match[2]]


def parse_workgroup(text: str | int) -> int:
    """Workitems, as one number or as `XxYxZ`."""
    text = str(text).strip()
    if re.fullmatch(r"\d{1,9}(x\d{1,9}){0,2}", text) is None:
        raise typer.BadParameter(f"{text!r} is no workgroup size; write 256 or 16x16x1")
    size = 1
    for side in text.split("x"):
        size *= int(side)
    if size < 1:
        raise typer.BadParameter("a workgroup has at least one workitem")
    return size


@dataclass(frozen=True, slots=True)
class Sizes:
    """Workgroup sizes in workitems; one size where both are the same."""

    least: int
    most: int


def parse_sizes(text: str | Sizes) -> Sizes:
    """One size, or a range: `64..1024`, `64:1024` or `64-1024`."""
    if isinstance(text, Sizes):
        return text
    first, separator, last = re.sub(r"\.\.|[:-]", " ", text.strip(), count=1).partition(" ")
    sizes = Sizes(parse_workgroup(first), parse_workgroup(last if separator else first))
    if sizes.least > sizes.most:
        raise typer.BadParameter(f"{text!r} ends before it begins; write 64..1024")
    return sizes


def parse_target(text: str) -> str:
    """The gfx name of a target or product. Raises `KernelinfoError` for one that is not known."""
    return target_named(text).name


def target_option(name: str, help: str) -> Any:
    """An option that takes targets and products."""
    return typer.Option(
        name,
        metavar="GFX|PRODUCT",
        parser=parse_target,
        autocompletion=completion.gfx,
        help=help,
    )


Paths = Annotated[
    list[str],
    typer.Argument(metavar="PATH...", help="Files, directories, globs, or - for stdin."),
]
Arch = Annotated[
    str | None,
    target_option("--arch", "Set the target of inputs that do not name one."),
]
AllCopies = Annotated[
    bool,
    typer.Option(
        "--all-copies",
        help="List code objects, too, that state what an assembly next to them does.",
    ),
]
NamedTarget = Annotated[
    str | None,
    typer.Argument(
        metavar="[GFX|PRODUCT]",
        parser=parse_target,
        autocompletion=completion.gfx,
        help="The target: gfx942, MI300X.",
    ),
]
ArchInstead = Annotated[
    str | None,
    target_option("--arch", "Set the target, as the argument does."),
]
Targets = Annotated[
    list[str] | None,
    target_option("--target", "Keep kernels compiled for this target. Repeatable."),
]
ArchOrDevice = Annotated[
    str | None,
    target_option("--arch", "Set the target, unless --device does."),
]
Device = Annotated[
    str | None,
    typer.Option(
        "--device",
        metavar="NAME",
        autocompletion=completion.products,
        help="Set a product, such as MI300X, and count what fills its CUs.",
    ),
]
Grid = Annotated[
    int | None,
    typer.Option("--grid", metavar="N", min=1, help="Set the workgroups launched on --device."),
]
WorkgroupSizes = Annotated[
    Sizes | None,
    typer.Option(
        "--workgroup-size",
        "--block",
        metavar="N|XxYxZ|MIN..MAX",
        parser=parse_sizes,
        help="Set the workitems of a workgroup; for a range, show the best and the worst; 256.",
    ),
]
DynamicVgprBlock = Annotated[
    int,
    typer.Option(
        "--dynamic-vgpr-block",
        metavar="16|32",
        min=0,
        help="Allocate VGPRs in blocks while waves run (gfx12); count the waves that start.",
    ),
]
RunAs = Annotated[
    str | None,
    target_option("--as", "Ask what if the same registers ran on this target."),
]
WorkgroupSize = Annotated[
    int | None,
    typer.Option(
        "--workgroup-size",
        "--block",
        metavar="N|XxYxZ",
        parser=parse_workgroup,
        help="Set the workitems of a workgroup that the host really launches.",
    ),
]
DynamicLds = Annotated[
    int | None,
    typer.Option(
        "--dynamic-lds",
        metavar="BYTES",
        parser=parse_bytes,
        help="Set the LDS per workgroup that the host adds at launch; takes k, KiB and M.",
    ),
]
NoTrapHandler = Annotated[
    bool,
    typer.Option(
        "--no-trap-handler", help="Leave out the 16 SGPRs per wave of ROCm's trap handler."
    ),
]
Kernels = Annotated[
    list[str] | None,
    typer.Option(
        "-k",
        "--kernel",
        metavar="GLOB",
        help="Keep kernels of this name, demangled or mangled; re:REGEX too. Repeatable.",
    ),
]
Exclude = Annotated[
    list[str] | None,
    typer.Option("--exclude", metavar="GLOB", help="Drop kernels of this name. Repeatable."),
]


def named_target(positional: str | None, option: str | None) -> str:
    """The target that is named in one way or the other. Raises `OptionError`."""
    if positional and option and positional != option:
        raise OptionError(f"{positional} is not --arch {option}; name one target")
    if name := positional or option:
        return name
    raise OptionError("no target is named; give one, such as gfx942 or MI300X")


def chosen_bounds(given: list[str] | None, deep: bool = False) -> Bounds:
    """Those of `--bound` and `--deep`."""
    chosen = {}
    for text in given or ():
        name, _, number = text.partition("=")
        if name not in Bounds._fields or not number.isdecimal() or len(number) > 18:
            names = ", ".join(f"{name}={most}" for name, most in BY_DEFAULT._asdict().items())
            raise typer.BadParameter(f"{text!r} is no bound; by default they are {names}")
        chosen[name] = int(number)
    return Bounds(**chosen | ({"carved": sys.maxsize} if deep else {}))


def _checked(given: list[str] | None) -> list[str] | None:
    chosen_bounds(given)
    return given


Bound = Annotated[
    list[str] | None,
    typer.Option(
        "--bound",
        metavar="NAME=N",
        callback=_checked,
        help="Raise a bound (nesting, entries, ratio, memory, members, kernels). Repeatable.",
    ),
]
Deep = Annotated[
    bool,
    typer.Option(
        "--deep", help="Search files of folders for code objects, however large they are."
    ),
]


Jobs = Annotated[
    int,
    typer.Option(
        metavar="N",
        min=0,
        help="Read with N processes; by default as many as pay, one but for long jsonl and csv.",
    ),
]


def format_option(formats: Sequence[str], help: str = "Choose the output format.") -> Any:
    """`--format` of a command that writes these."""

    def parse(text: str) -> str:
        if text not in formats:
            raise typer.BadParameter(f"{text!r} is not one of {', '.join(formats)}")
        return text

    return typer.Option(
        *FORMAT_OPTION,
        metavar=f"[{'|'.join(formats)}]",
        parser=parse,
        autocompletion=lambda incomplete: [n for n in formats if n.startswith(incomplete)],
        help=help,
    )


Format = Annotated[str, format_option(FORMATS)]
FormatOfRecords = Annotated[str, format_option(RECORD_FORMATS)]
Output = Annotated[
    str | None,
    typer.Option(*OUTPUT_OPTION, metavar="FILE", help="Write to FILE, not to standard output."),
]
Names = Annotated[NameStyle, typer.Option("--names", help="Choose how kernel names are written.")]
NamesOrShort = Annotated[
    NameStyle | None,
    typer.Option(
        "--names",
        help="Choose how kernel names are written; full, and short for many on a terminal.",
    ),
]
Color = Annotated[
    str,
    typer.Option(
        "--color",
        metavar="auto|always|never",
        autocompletion=completion.colors,
        help="Choose when to use colour; auto honours NO_COLOR.",
    ),
]
Width = Annotated[
    int | None,
    typer.Option(
        "--width", metavar="N", min=40, help="Set the width in columns; the terminal's by default."
    ),
]
Top = Annotated[int, typer.Option("--top", metavar="N", min=0, help="Show N kernels; 0 shows all.")]
Quiet = Annotated[bool, typer.Option("-q", "--quiet", help="Show the table alone.")]
WaveSize = Annotated[
    int | None,
    typer.Option(
        "--wave", metavar="32|64", help="Set the lanes in a wave; the target's own by default."
    ),
]
CuMode = Annotated[
    bool, typer.Option("--cu-mode", help="Use CU mode where WGP mode is the default.")
]
