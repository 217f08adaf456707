"""Kernels by the name that a user gives, and the answers if none or several have it."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import Protocol, TypeVar

from kernelinfo.cli.output import CANNOT_ANSWER, complain
from kernelinfo.kernel import Kernel, Result
from kernelinfo.kernel.names import stem
from kernelinfo.kernel.pattern import is_pattern, matches, nearest_kernels
from kernelinfo.reading.blob import Problem
from kernelinfo.render.attribution import attributed
from kernelinfo.render.names import names_of, printable
from kernelinfo.rules.remark import counted

_MOST_NAMES = 1 << 16  # names kept for a suggestion
_MOST_LISTED = 50
_MOST_NAMESAKES = 20  # kernels listed of one name


class HasKernel(Protocol):
    """A result on one kernel."""

    @property
    def kernel(self) -> Kernel: ...


Named = TypeVar("Named", bound=HasKernel)


class Choice:
    """The choice of kernels by a name; without a name it takes all."""

    def __init__(self, name: str | None) -> None:
        self._name = name
        self._count = 0
        self._others: set[str] = set()

    def has(self, kernel: Kernel) -> bool:
        """True if the name is the kernel's; see `pattern.matching`."""
        return self._name is None or matches(self._name, kernel.name, kernel.symbol)

    def keeps(self, kernel: Kernel) -> bool:
        """Like `has`, and remembers the names of other kernels for a suggestion."""
        if self.has(kernel):
            return True
        self._count += 1
        if len(self._others) < _MOST_NAMES:
            self._others.add(stem(kernel.name))
        return False

    def best(self, found: Sequence[Named]) -> list[Named]:
        """The results with this whole name or symbol, if there are any, else all of them."""
        whole = [one for one in found if self._name in (one.kernel.name, one.kernel.symbol)]
        return whole or [*found]

    def problem(self, path: str) -> Problem:
        """The problem that no kernel has the name, with the nearest names or how to list all."""
        name = self._name or "*"
        suggestion = nearest_kernels(name, self._others)
        mend = suggestion or f"`kernelinfo explain {path}` lists them"
        return Problem(path, f"no kernel is named {name!r} ({self._count} in the file); {mend}")

    def check_is_one(self, found: Sequence[Named], path: str) -> None:
        """Check that the name means one kernel; a glob or regular expression may mean several.

        Otherwise lists the kernels with what tells them apart, and exits with 2.
        """
        kernels = (one.kernel for one in found)
        distinct = [*{(kernel.code_object, kernel.symbol): kernel for kernel in kernels}.values()]
        if self._name is None or is_pattern(self._name) or not distinct[1:]:
            return
        mend = "give more of the name, --target or --member, or a glob for all"
        complain(f"{path}: {counted(len(distinct), 'kernel')} are named {self._name!r}; {mend}:")
        names = attributed(distinct, names_of(distinct, "short"))
        for name in names[:_MOST_NAMESAKES]:
            complain(f"  {name}")
        if more := len(names[_MOST_NAMESAKES:]):
            complain(f"  … {counted(more, 'more kernel')}")
        sys.exit(CANNOT_ANSWER)


def listed(results: Sequence[Result], path: str) -> Iterator[str]:
    """A list of short kernel names, to choose one from."""
    names = sorted(set(names_of((result.kernel for result in results), "short").values()))
    yield f"{printable(path)}: {counted(len(names), 'kernel')}; name one after the path\n\n"
    yield from (f" {name}\n" for name in names[:_MOST_LISTED])
    if more := len(names[_MOST_LISTED:]):
        yield f" … {counted(more, 'more kernel')}; a glob is a name, too\n"
