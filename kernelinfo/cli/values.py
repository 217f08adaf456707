"""How the values of options are read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import prod

import typer

from kernelinfo.occupancy.devices import target_named
from kernelinfo.occupancy.placement import Launch
from kernelinfo.reading.budget import BY_DEFAULT, Bounds

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
    size = prod(map(int, text.split("x")))
    if size < 1:
        raise typer.BadParameter("a workgroup has at least one workitem")
    return size


def parse_sizes(text: str) -> Launch:
    """The launch of one size, or of a range: `64..1024`, `64:1024` or `64-1024`."""
    first, separator, last = re.sub(r"\.\.|[:-]", " ", text.strip(), count=1).partition(" ")
    least, most = parse_workgroup(first), parse_workgroup(last if separator else first)
    if least > most:
        raise typer.BadParameter(f"{text!r} ends before it begins; write 64..1024")
    return Launch(most, smallest_size=least if least < most else None)


def parse_target(text: str) -> str:
    """The gfx name of a target or product. Raises `KernelinfoError` for one that is not known."""
    return target_named(text).name


def parse_targets(text: str) -> str:
    """The gfx names of targets or products in a list with commas, as such a list."""
    return ",".join(parse_target(name.strip()) for name in text.split(","))


def separate(lists: Sequence[str] | None) -> list[str]:
    """The distinct values of an option that is repeatable and takes lists with commas."""
    return list(dict.fromkeys(one for text in lists or () for one in text.split(",")))


def parse_bound(text: str) -> tuple[str, int]:
    """The name and the number of a field of `Bounds`, from `NAME=NUMBER`."""
    name, _, number = text.partition("=")
    if name not in Bounds._fields or not number.isdecimal() or len(number) > 18:
        names = ", ".join(f"{name}={most}" for name, most in BY_DEFAULT._asdict().items())
        raise typer.BadParameter(f"{text!r} is no bound; by default they are {names}")
    return name, int(number)
