"""A kernel's arguments in words."""

from __future__ import annotations

from kernelinfo.reading.arguments import Argument
from kernelinfo.render.names import printable


def argument_parts(arguments: tuple[Argument, ...]) -> list[str]:
    """Each in words; those that the runtime passes are counted."""
    words = [
        f"{a.offset}: {a.type or a.kind or '?'} {a.name or ''}".rstrip() + f" ({a.size} B)"
        for a in arguments
        if not a.is_hidden
    ]
    hidden = sum(argument.is_hidden for argument in arguments)
    return [printable(word) for word in words] + [f"{hidden} hidden"] * bool(hidden)
