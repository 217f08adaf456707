"""What users name: kernels by name, and the words that a shell offers on TAB."""

from __future__ import annotations

import os
import shlex
import sys
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import pairwise
from typing import Any, TypeVar, get_args

import typer

from kernelinfo.analysis import analyse, names
from kernelinfo.analysis.options import Options
from kernelinfo.cli.console import Problems, shown
from kernelinfo.cli.messages import CANNOT_ANSWER, complain, say
from kernelinfo.errors import KernelinfoError
from kernelinfo.hardware import targets
from kernelinfo.kernel import Item, Kernel, Result, Severity, counted
from kernelinfo.kernel.code_object import member_file
from kernelinfo.kernel.columns import HEADINGS
from kernelinfo.kernel.names import KernelName, base_name, is_pattern, matches
from kernelinfo.manual import sections, topics
from kernelinfo.reading.containers.files import STANDARD_INPUT
from kernelinfo.reading.target_id import named_target_id
from kernelinfo.render.names import attributed, names_of, printable
from kernelinfo.rules import RULES

_MOST_LISTED = 20
_T = TypeVar("_T")


def choosing(path: str, name: str | None, options: Options, problems: Problems) -> Options:
    """The options, narrowed to the kernels that `name` means; None means all kernels.

    A glob or a regular expression is matched against each kernel as it is read. Any other name is
    first looked up among all names, so that only chosen kernels are decoded; a whole name or symbol
    takes precedence over the other spellings of `names.matching`. It has to mean one kernel, or
    one per target if the user names several targets. If it means several, the command lists them
    with what tells them apart and exits with 2.
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
    """The items of the kernels that `name` means, as in `choosing`. Standard input can be read only
    once: its items are held in memory and filtered here."""
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
    """True for a glob or a regular expression: other kernels do not affect its match. A name with
    parameters that contains `*`, `?` or `[` is a whole name."""
    return is_pattern(name) and "(" not in name


def _is_among(symbols: Collection[str], name: str, symbol: str) -> bool:
    return symbol in symbols


def _check_is_one(name: str, kernels: Iterable[Kernel], path: str, options: Options) -> None:
    """Check that there is one kernel, or one of each target if the user names several targets.
    Otherwise list the kernels and exit with 2."""
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
    """(all kernel names, the items). The whole path is read, so that `problems` gets all damage.
    For standard input the names come from the items."""
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
    """(name, symbol, member) of each kernel of the paths for these targets; without targets, of all
    kernels."""
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


# Values that a shell offers on TAB. They come fast, and an error offers nothing.
#
# typer keeps the values that start with the typed word.

Offers = list[tuple[str, str]]  # (word, description)

NameAndMember = tuple[str, str, str | None]
"""Name, symbol and member of a kernel."""

_PATIENCE = 1.0  # seconds to search a file for kernels


def gfx() -> Offers:
    every = map(targets.find, targets.known())
    return [(target.name, target.family) for target in every]


def products() -> Offers:
    """Names of products with their targets; a die of a product goes by the product's name."""
    every = map(targets.find, targets.known())
    names = {device.name: target.name for target in every for device in target.devices}
    return [(name.removesuffix(" GCD"), target) for name, target in names.items()]


def rules(incomplete: str) -> Offers:
    """Rules: numbers with titles, then names."""
    return offer_list(incomplete, _rules())


def levels(incomplete: str) -> Offers:
    """Completions of --severity: rules such as `KI201=`; after the `=`, values such as
    `KI201=note`."""
    rule, equals, _ = incomplete.partition("=")
    if equals:
        return [(f"{rule}={level}", "") for level in reversed(get_args(Severity))]
    return [(f"{name}=", finds) for name, finds in _rules()]


def subjects(ctx: typer.Context, incomplete: str) -> Offers:
    """Arguments of `explain`: rules, topics and files; commands after `help`. Empty if no rule or
    topic fits: the shell then offers files."""
    words = [*_rules(), *topics().items(), *((section, "") for section in sections())]
    if _words()[1:2] == ["help"] and ctx.parent:
        group: Any = ctx.parent.command
        words += [(name, "") for name in group.list_commands(ctx.parent)]
    if incomplete and any(word.startswith(incomplete) for word, _ in words):
        return [*words, *((path, "") for path in files(incomplete))]
    return []


def kernels(ctx: typer.Context, incomplete: str) -> Offers:
    """Kernels of the files by base name, or by symbol if the typed word starts with `_`."""
    return named(_kernels(paths(ctx)), incomplete)


def named(entries: Iterable[NameAndMember], incomplete: str) -> Offers:
    """Kernels by base name, or by symbol if the typed word starts with `_`."""
    names = (
        symbol if incomplete.startswith("_") else base_name(name) for name, symbol, _ in entries
    )
    return distinct(name for name in names if _is_plain(name))


def columns(incomplete: str) -> Offers:
    """Columns by the table's headings, also after a comma."""
    return offer_list(incomplete, ((name, "") for name in HEADINGS))


def members(ctx: typer.Context, incomplete: str) -> Offers:
    """File names of members of the containers."""
    names = (member or "" for _, _, member in _kernels(paths(ctx)))
    parts = (member_file(member).rpartition("/")[2] for member in names)
    return distinct(part for part in parts if part and part.isprintable() and " " not in part)


def _words() -> list[str]:
    """The words of the command line, including those after the cursor if the shell passes them
    (bash).

    typer's scripts put the line into these variables. A line with an unclosed quote gives no words.
    """
    words = os.environ.get("COMP_WORDS", "").split("\n")
    with suppress(ValueError):
        words += shlex.split(os.environ.get("_TYPER_COMPLETE_ARGS", ""))
    return words


def paths(ctx: typer.Context) -> list[str]:
    """Files among the words of the line."""
    words = _words()
    given = ctx.params.get("path")
    return [word for word in dict.fromkeys([given or "", *words[1:]]) if os.path.exists(word)]


def _kernels(paths: Iterable[str]) -> Iterator[NameAndMember]:
    """(name, symbol, member) of the kernels of the paths, reading for at most a second."""
    until, words = time.monotonic() + _PATIENCE, _words()
    with suppress(KernelinfoError):
        target_names = [word for before, word in pairwise(words) if before == "--target"]
        for kernel in names_in(paths, [named_target_id(name) for name in target_names]):
            yield kernel
            if time.monotonic() > until:
                return


def _is_plain(name: str) -> bool:
    """True for a name without characters that are special to a shell."""
    return name.isprintable() and name.replace("$", "_").replace(".", "_").isidentifier()


def distinct(words: Iterable[str]) -> Offers:
    return [(word, "") for word in dict.fromkeys(words)]


def _rules() -> Iterator[tuple[str, str]]:
    yield from ((rule.number, rule.summary) for rule in RULES)
    yield from ((rule.name, "") for rule in RULES)


def offer_list(incomplete: str, words: Iterable[tuple[str, str]]) -> Offers:
    """Completions for the last word of a comma-separated list."""
    before = incomplete[: incomplete.rfind(",") + 1]
    return [(before + word, meaning) for word, meaning in words]


def files(incomplete: str) -> Iterator[str]:
    """Paths that start with the typed word. Hidden files come only after a typed dot."""
    folder, name = os.path.split(incomplete)
    try:
        entries = sorted(os.scandir(folder or "."), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        if entry.name.startswith(name) and (name or not entry.name.startswith(".")):
            yield os.path.join(folder, entry.name) + "/" * entry.is_dir()
