"""Kernels by the name that a user gives, and the error if no kernel has it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kernelinfo.analysis import analyse
from kernelinfo.analysis.options import Options
from kernelinfo.errors import did_you_mean
from kernelinfo.kernel import Kernel, Result
from kernelinfo.kernel.names import base_name
from kernelinfo.kernel.pattern import matches
from kernelinfo.reading.blob import Problem
from kernelinfo.render.names import names_of, printable, short
from kernelinfo.render.words import plural

_MOST_NAMES = 1 << 12  # names kept for a suggestion
_MOST_LISTED = 50


def is_named(name: str, symbol: str, wanted: str) -> bool:
    """True if `wanted` is a kernel's symbol, demangled, short or base name, or a glob of one."""
    return wanted in (short(name), base_name(name)) or matches(wanted, name, symbol)


def base_names(path: str) -> Iterator[tuple[str, str]]:
    """(base name, symbol) of each kernel of a path."""
    for item in analyse([path], Options()):
        if isinstance(item, Result):
            yield base_name(item.kernel.name), item.kernel.symbol


class Choice:
    """The choice of kernels by a name; without a name it takes all."""

    def __init__(self, name: str | None) -> None:
        self._name = name
        self._count = 0
        self._others: set[str] = set()

    def has(self, kernel: Kernel) -> bool:
        """True if the name is the kernel's."""
        return self._name is None or is_named(kernel.name, kernel.symbol, self._name)

    def keeps(self, kernel: Kernel) -> bool:
        """Like `has`, and remembers the names of other kernels for a suggestion."""
        if self.has(kernel):
            return True
        self._count += 1
        if len(self._others) < _MOST_NAMES:
            self._others.add(kernel.name)
        return False

    def problem(self, path: str) -> Problem:
        """The problem that no kernel has the name, with a similar name or how to list all."""
        name = self._name or "*"
        suggestion = did_you_mean(name, map(base_name, self._others))
        mend = suggestion or f"`kernelinfo explain {path}` lists them"
        return Problem(path, f"no kernel is named {name!r} ({self._count} in the file); {mend}")


def listed(results: Sequence[Result], path: str) -> Iterator[str]:
    """A list of short kernel names, to choose one from."""
    names = sorted(set(names_of((result.kernel for result in results), "short").values()))
    yield f"{printable(path)}: {plural(len(names), 'kernel')}; name one after the path\n\n"
    yield from (f" {name}\n" for name in names[:_MOST_LISTED])
    if more := len(names[_MOST_LISTED:]):
        yield f" … {plural(more, 'more kernel')}; a glob is a name, too\n"
