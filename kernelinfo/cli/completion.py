"""Values that a shell offers on TAB. They come fast, and an error offers nothing.

typer keeps the values that start with the typed word.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from typing import get_args

import typer

from kernelinfo.errors import KernelinfoError
from kernelinfo.hardware import targets
from kernelinfo.manual import topics
from kernelinfo.rules import RULES
from kernelinfo.rules.severity import Severity

Offers = list[tuple[str, str]]  # (word, description)

_PATIENCE = 1.0  # seconds to search a file for kernels


def gfx() -> Offers:
    found = map(targets.find, targets.known())
    return [(target.name, target.family) for target in found]


def products() -> Offers:
    """Names of products with their targets; a die of a product goes by the product's name."""
    found = map(targets.find, targets.known())
    names = {device.name: target.name for target in found for device in target.devices}
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


def subjects(incomplete: str) -> Offers:
    """Arguments of `explain`: rules, topics and files. Empty if no rule or topic fits: the shell
    then offers files."""
    words = [*_rules(), *topics().items()]
    if incomplete and any(word.startswith(incomplete) for word, _ in words):
        return [*words, *((path, "") for path in files(incomplete))]
    return []


def kernels(ctx: typer.Context, incomplete: str) -> Offers:
    """Kernels of the file by base name, or by symbol if the typed word starts one."""
    from kernelinfo.cli.naming import base_names  # only this offer needs it

    path = ctx.params.get("path")
    if not path or path == "-":
        return []
    found: dict[str, str] = {}
    until = time.monotonic() + _PATIENCE
    try:
        for name, symbol in base_names(path):
            name = symbol if incomplete.startswith("_") else name
            if name.isprintable() and name.replace("$", "_").replace(".", "_").isidentifier():
                found[name] = ""
            if time.monotonic() > until:
                break
    except KernelinfoError:
        return []
    return [*found.items()]


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
