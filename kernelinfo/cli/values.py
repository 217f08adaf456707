"""Parsers for values of options."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import prod

import typer

from kernelinfo.cli.messages import say
from kernelinfo.errors import OptionError
from kernelinfo.hardware.products import target_named
from kernelinfo.model.limits import Launch
from kernelinfo.reading.budget import BY_DEFAULT

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
    least, most = parse_workgroup(first), parse_workgroup(last if separator else first)
    if least > most:
        raise typer.BadParameter(say("workgroup-sizes-malformed", text=text))
    return Launch(most, smallest_size=least if least < most else None)


def parse_target(text: str) -> str:
    """The gfx name of a target or product. Raises `KernelinfoError` if it is unknown."""
    return target_named(text).name


def parse_targets(text: str) -> str:
    """A list with commas of gfx names, from one of targets and products."""
    return ",".join(parse_target(name.strip()) for name in text.split(","))


def separate(lists: Sequence[str] | None) -> list[str]:
    """Distinct values of a repeatable option whose values are lists with commas."""
    return list(dict.fromkeys(one for text in lists or () for one in text.split(",")))


def parse_bound(text: str) -> tuple[str, int]:
    """(field of `Bounds`, its value) from `NAME=NUMBER`."""
    name, _, number = text.partition("=")
    known = {name: most for name, most in BY_DEFAULT._asdict().items() if isinstance(most, int)}
    if name not in known or not number.isdecimal() or len(number) > 18:
        names = ", ".join(f"{name}={most}" for name, most in known.items())
        raise typer.BadParameter(say("bound-unknown", text=text, names=names))
    return name, int(number)


def parse_labels(lists: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """(name, value) of each label in lists such as `commit=1a2b3c,date=2026-11-22`."""
    labels = dict[str, str]()
    for one in separate(lists):
        name, equals, value = one.partition("=")
        if not (name.strip() and equals):
            raise OptionError(say("label-malformed", label=one))
        labels[name.strip()] = value.strip()
    return tuple(labels.items())
