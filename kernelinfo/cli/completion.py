"""Values that a shell offers on TAB. They come fast, and an error offers nothing.

typer keeps the values that start with the typed word.
"""

from __future__ import annotations

import os
import shlex
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import pairwise
from typing import Any, get_args

import typer

from kernelinfo.cli.naming import names_in
from kernelinfo.errors import KernelinfoError
from kernelinfo.hardware import targets
from kernelinfo.kernel import Severity
from kernelinfo.kernel.code_object import member_file
from kernelinfo.kernel.columns import HEADINGS
from kernelinfo.kernel.names import base_name
from kernelinfo.manual import topics
from kernelinfo.reading.target_id import named_target_id
from kernelinfo.rules import RULES

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
    return listed(incomplete, _rules())


def levels(incomplete: str) -> Offers:
    """Values of --severity: `KI201=` first, then `KI201=note` and the like."""
    rule, equals, _ = incomplete.partition("=")
    if equals:
        return [(f"{rule}={level}", "") for level in reversed(get_args(Severity))]
    return [(f"{name}=", finds) for name, finds in _rules()]


def subjects(ctx: typer.Context, incomplete: str) -> Offers:
    """Arguments of `explain`: rules, topics and files; commands behind `help`. Empty if no rule or
    topic fits: the shell then offers files."""
    words = [*_rules(), *topics().items()]
    if _words()[1:2] == ["help"] and ctx.parent:
        group: Any = ctx.parent.command
        words += [(name, "") for name in group.list_commands(ctx.parent)]
    if incomplete and any(word.startswith(incomplete) for word, _ in words):
        return [*words, *((path, "") for path in files(incomplete))]
    return []


def kernels(ctx: typer.Context, incomplete: str) -> Offers:
    """Kernels of the files by base name, or by symbol if the typed word starts one."""
    return named(_kernels(paths(ctx)), incomplete)


def named(entries: Iterable[NameAndMember], incomplete: str) -> Offers:
    """Kernels by base name, or by symbol if the typed word starts one."""
    names = (
        symbol if incomplete.startswith("_") else base_name(name) for name, symbol, _ in entries
    )
    return distinct(name for name in names if _is_plain(name))


def columns(incomplete: str) -> Offers:
    """Columns by the table's headings, also behind a comma."""
    return listed(incomplete, ((name, "") for name in HEADINGS))


def members(ctx: typer.Context, incomplete: str) -> Offers:
    """File names of members of the containers."""
    names = (member or "" for _, _, member in _kernels(paths(ctx)))
    parts = (member_file(member).rpartition("/")[2] for member in names)
    return distinct(part for part in parts if part and part.isprintable() and " " not in part)


def _words() -> list[str]:
    """The words of the line, also behind the cursor if the shell tells them (bash).

    typer's scripts put the line into these variables. A line with an open quote has no words.
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
    """(name, symbol, member) of the kernels of paths, for at most a second."""
    until, words = time.monotonic() + _PATIENCE, _words()
    with suppress(KernelinfoError):
        target_names = [word for before, word in pairwise(words) if before == "--target"]
        for kernel in names_in(paths, [named_target_id(name) for name in target_names]):
            yield kernel
            if time.monotonic() > until:
                return


def _is_plain(name: str) -> bool:
    """True for a name without characters that act in a shell."""
    return name.isprintable() and name.replace("$", "_").replace(".", "_").isidentifier()


def distinct(words: Iterable[str]) -> Offers:
    return [(word, "") for word in dict.fromkeys(words)]


def _rules() -> Iterator[tuple[str, str]]:
    yield from ((rule.number, rule.summary) for rule in RULES)
    yield from ((rule.name, "") for rule in RULES)


def listed(incomplete: str, words: Iterable[tuple[str, str]]) -> Offers:
    """Offers for the last word of a list with commas."""
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
