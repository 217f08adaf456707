"""Kernels by the name that a user gives, and the answers if none or several have it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial
from typing import TypeVar

from kernelinfo.analysis import analyse, names
from kernelinfo.analysis.options import Options
from kernelinfo.cli.messages import CANNOT_ANSWER, complain, say
from kernelinfo.cli.output import Problems, shown
from kernelinfo.kernel import Item, Kernel, Result, counted
from kernelinfo.kernel.names import KernelName, is_pattern, matches
from kernelinfo.reading.containers.files import STANDARD_INPUT
from kernelinfo.render.names import attributed, names_of, printable

_MOST_LISTED = 20
_T = TypeVar("_T")


def choosing(path: str, name: str | None, options: Options, problems: Problems) -> Options:
    """The options with the choice of the kernels that `name` means; None means all.

    Names are read first, so that only chosen kernels are decoded, unless a glob or a regular
    expression can be decided for each name alone. A whole name or symbol comes before the other
    spellings of `pattern.matching`. A name other than a glob or a regular expression means one
    kernel, or one of each target if the user names several targets; if more have it, they are
    listed with what tells them apart, and the command exits with 2.
    """
    if name is None:
        return options
    if path == STANDARD_INPUT or _is_decided_alone(name):  # standard input is read once
        return options._replace(named=name, chooses=partial(matches, name))
    every = shown(names(path, options), ())
    candidates = [item for item in every if isinstance(item, KernelName)]
    named = [candidate for candidate in candidates if name in candidate] or [
        candidate for candidate in candidates if matches(name, *candidate)
    ]
    symbols = {kernel.symbol for kernel in named}
    options = options._replace(named=name, chooses=partial(_is_among, symbols))
    if named[1:] and not is_pattern(name):
        items = shown(problems.watch(analyse([path], options)), [path])
        kernels = [item.kernel for item in items if isinstance(item, Result)]
        _check_is_one(name, kernels, path, options)
    return options


def chosen_when_read(
    path: str,
    name: str | None,
    options: Options,
    items: Iterator[_T],
    kernel_of: Callable[[_T], Kernel | None],
) -> Iterator[_T]:
    """The items with the kernels that `name` means, as `choosing` says. Only items of standard
    input are still to be chosen; all of them are held for that."""
    if path != STANDARD_INPUT or name is None or _is_decided_alone(name):
        return items
    every = [*items]
    kernels = [kernel for kernel in map(kernel_of, every) if kernel]
    if whole := [kernel for kernel in kernels if name in (kernel.name, kernel.symbol)]:
        of_others = {id(kernel) for kernel in kernels} - {id(kernel) for kernel in whole}
        every = [item for item in every if id(kernel_of(item)) not in of_others]
    if not is_pattern(name):
        _check_is_one(name, whole or kernels, path, options)
    return iter(every)


def _is_decided_alone(name: str) -> bool:
    """True for a glob or a regular expression, which no other kernel's name decides.

    A whole name with `*`, `?` or `[` has parameters.
    """
    return is_pattern(name) and "(" not in name


def _is_among(symbols: Collection[str], name: str, symbol: str) -> bool:
    return symbol in symbols


def _check_is_one(name: str, kernels: Iterable[Kernel], path: str, options: Options) -> None:
    """Check that there is one kernel, or one of each target if the user names several targets.
    Otherwise list them, exit with 2."""
    distinct = [*{(kernel.code_object, kernel.symbol): kernel for kernel in kernels}.values()]
    targets = {kernel.code_object.target for kernel in distinct}
    names_targets = bool(options.targets[1:] or options.compiled[1:])
    if len(distinct) <= (len(targets) if names_targets else 1):
        return
    count = counted(len(distinct), "kernel")
    complain(say("kernels-named-alike", path=path, kernels=count, name=name))
    names = attributed(distinct, names_of(distinct, "short"))
    for text in names[:_MOST_LISTED]:
        complain(f"  {text}")
    if hidden := len(names[_MOST_LISTED:]):
        complain(f"  … {counted(hidden, 'more kernel')}")
    sys.exit(CANNOT_ANSWER)


def every_name(
    path: str, options: Options, items: Iterator[Item], problems: Problems
) -> tuple[list[KernelName], Iterator[Item]]:
    """The names of all kernels, and the items. Only standard input takes the names from the items.

    All of the path is read, so that `problems` has its damage.
    """
    if path == STANDARD_INPUT:  # is read once
        every = [*items]
        read, items = iter(every), iter(every)
    else:
        read = shown(problems.watch(analyse([path], options)), [path])
    kernels = (item.kernel for item in read if isinstance(item, Result))
    return [*dict.fromkeys(KernelName(kernel.name, kernel.symbol) for kernel in kernels)], items


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
    if hidden := len(names[_MOST_LISTED:]):
        yield f" … {counted(hidden, 'more kernel')}; a glob is a name, too\n"
