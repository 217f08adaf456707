"""Kernels by the name that a user gives, and the answers if none or several have it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence

from kernelinfo.analysis import analyse, names
from kernelinfo.analysis.options import Options
from kernelinfo.cli.output import CANNOT_ANSWER, Problems, complain
from kernelinfo.kernel import Item, Kernel, Result, counted
from kernelinfo.kernel.names import KernelName
from kernelinfo.kernel.pattern import is_pattern, matches
from kernelinfo.reading.containers.files import STANDARD_INPUT
from kernelinfo.render.names import attributed, names_of, printable

_MOST_LISTED = 20


def choosing(path: str, name: str | None, options: Options, problems: Problems) -> Options:
    """The options with the choice of the kernels that `name` means; None means all.

    Names are read first, so that only chosen kernels are decoded. A whole name or symbol comes
    before the other spellings of `pattern.matching`. A name other than a glob or a regular
    expression means one kernel; if several have it, they are listed with what tells them apart, and
    the command exits with 2.
    """
    if name is None:
        return options
    if path == STANDARD_INPUT:  # is read once
        return options._replace(named=name, chooses=lambda *of: matches(name, *of))
    known = [one for one in names(path, options) if isinstance(one, KernelName)]
    found = [one for one in known if name in one] or [one for one in known if matches(name, *one)]
    symbols = {one.symbol for one in found}
    options = options._replace(named=name, chooses=lambda _, symbol: symbol in symbols)
    if found[1:] and not is_pattern(name):
        items = problems.watch(analyse([path], options))
        _check_is_one(name, [item.kernel for item in items if isinstance(item, Result)], path)
    return options


def _check_is_one(name: str, kernels: Iterable[Kernel], path: str) -> None:
    """Check that there is one kernel. Otherwise list them and exit with 2."""
    distinct = [*{(kernel.code_object, kernel.symbol): kernel for kernel in kernels}.values()]
    if not distinct[1:]:
        return
    mend = "give more of the name, --target or --member, or a glob for all"
    complain(f"{path}: {counted(len(distinct), 'kernel')} are named {name!r}; {mend}:")
    told = attributed(distinct, names_of(distinct, "short"))
    for one in told[:_MOST_LISTED]:
        complain(f"  {one}")
    if more := len(told[_MOST_LISTED:]):
        complain(f"  … {counted(more, 'more kernel')}")
    sys.exit(CANNOT_ANSWER)


def every_name(
    path: str, options: Options, items: Iterator[Item]
) -> tuple[list[KernelName], Iterator[Item]]:
    """The names of all kernels, and the items. Only of standard input the items are read."""
    if path != STANDARD_INPUT:
        return [one for one in names(path, options) if isinstance(one, KernelName)], items
    every = [*items]
    kernels = [item.kernel for item in every if isinstance(item, Result)]
    return [KernelName(one.name, one.symbol) for one in kernels], iter(every)


def in_order(path: str, kernel: str | None) -> tuple[str, str | None]:
    """(path, kernel), swapped if only the second word is a file."""
    is_swapped = kernel is not None and not os.path.exists(path) and os.path.isfile(kernel)
    return (kernel or path, path) if is_swapped else (path, kernel)


def names_in(paths: Iterable[str], targets: Sequence[str]) -> Iterator[tuple[str, str, str | None]]:
    """(name, symbol, member) of each kernel of the paths for these targets; for none, of all."""
    for item in analyse(paths, Options(targets=tuple(targets))):
        if isinstance(item, Result):
            yield item.kernel.name, item.kernel.symbol, item.kernel.code_object.member


def listed(kernels: Sequence[KernelName], path: str) -> Iterator[str]:
    """A list of short kernel names, to choose one from."""
    names = sorted(set(names_of(kernels, "short").values()))
    yield f"{printable(path)}: {counted(len(names), 'kernel')}; name one after the path\n\n"
    yield from (f" {name}\n" for name in names[:_MOST_LISTED])
    if more := len(names[_MOST_LISTED:]):
        yield f" … {counted(more, 'more kernel')}; a glob is a name, too\n"
