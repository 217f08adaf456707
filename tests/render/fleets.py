"""Fleets of any size, out of the kernels of the fixtures under other names."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import cycle, islice
from pathlib import Path

from kernelinfo import Options, analyse
from kernelinfo.kernel import Item, Result
from kernelinfo.render import View

from ..conftest import FIXTURES
from ..outputs import outputs


def fleet(kernels: int) -> Iterator[Item]:
    """So many kernels, each with a name of the length that templates of a library have."""
    found = analyse([str(FIXTURES / "assembly"), str(FIXTURES / "code_object")], Options())
    results = [item for item in found if isinstance(item, Result)]
    for number, result in enumerate(islice(cycle(results), kernels)):
        name = f"void library::detail::{result.kernel.name.partition('(')[0]}<{number}, float, "
        name += "library::detail::config<256u, 4u, float, unsigned int>>(float const*, float*)"
        symbol = f"_ZN7library6detail{result.kernel.symbol}ILi{number}EfNS0_6configILj256ELj4Efjj"
        yield result._replace(kernel=result.kernel._replace(name=name, symbol=symbol))


def renamed(names: list[str]) -> Iterator[Item]:
    """A kernel of each name."""
    for name, result in zip(names, fleet(len(names)), strict=True):
        assert isinstance(result, Result)
        yield result._replace(kernel=result.kernel._replace(name=name, symbol=name))


def page(items: Iterator[Item]) -> str:
    return "".join(outputs("report")["html"](items, View()))


def written(items: Iterator[Item], folder: Path) -> Path:
    path = folder / "fleet.html"
    path.write_text(page(items), "utf-8")
    return path
