"""Output formats of live registers: one module each, as for reports."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from typing import cast

from kernelinfo.light_typing import NamedTuple
from kernelinfo.pressure.measure import Found
from kernelinfo.pressure.registers import RegisterClass
from kernelinfo.render import View


class Detail(NamedTuple):
    """What of the kernels is shown."""

    one: bool = False
    """Whether one kernel was asked for, which is then shown whole."""
    register_class: RegisterClass | None = None
    """Only values of this class; None for vector registers."""


Renderer = Callable[[Iterable[Found], View, Detail], Iterator[str]]


def renderer(name: str) -> Renderer:
    """The `render` function of a format of `PRESSURE_FORMATS`; its module is imported only now."""
    return cast(Renderer, import_module(f"kernelinfo.render.pressure.{name}").render)
