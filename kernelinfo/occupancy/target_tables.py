"""The tables of targets.toml, one target's at a time: parsed by the wheel's build, or here."""

from __future__ import annotations

import marshal
import re
import sys
from functools import cache
from os.path import dirname, join
from zlib import crc32

from kernelinfo.light_typing import Any

_HEADING = r"(?m)^\[(gfx[0-9a-z-]+)\]$"


def are_parsed() -> bool:
    """Whether the wheel's build has parsed them, and refused what contradicts itself."""
    return bool(_parsed())


def names() -> tuple[str, ...]:
    """Of all targets, in the order of the file."""
    return tuple(_parsed()) or tuple(re.findall(_HEADING, _text()))


def table(name: str) -> dict[str, Any] | None:
    """The values of one target; None where it has no table.

    Only its own tables are parsed: the whole file would take longer than a small report.
    """
    if parsed := _parsed():
        found: dict[str, Any] | None = marshal.loads(parsed[name][1]) if name in parsed else None
        return found
    import tomllib

    text = _text()
    headings = re.compile(_HEADING)
    for heading in headings.finditer(text):
        if heading[1] == name:
            following = headings.search(text, heading.end())
            own: dict[str, Any] = tomllib.loads(
                text[heading.start() : following.start() if following else None]
            )[name]
            return own
    return None


def name_by_elf_mach(mach: int) -> str | None:
    """The target with that number; None if unknown."""
    if parsed := _parsed():
        return next((name for name, (number, _) in parsed.items() if number == mach), None)
    text = _text()
    line = re.search(rf"^elf_mach = 0x{mach:02x}$", text, re.MULTILINE)
    if line is None:
        return None
    *_, heading = re.finditer(_HEADING, text[: line.start()])
    return heading[1]


def parse(toml: bytes) -> bytes:
    """All tables, as `marshal` has them; each can be read alone."""
    import tomllib

    tables = tomllib.loads(toml.decode())
    # The format's last version without references, which are not the same in every build.
    parsed = {name: (t["elf_mach"], marshal.dumps(t, 2)) for name, t in tables.items()}
    return marshal.dumps(parsed, 2)


def parsed_name(toml: bytes) -> str:
    """The file with the tables of just this text."""
    return f"targets-{crc32(toml):08x}.tables"


@cache
def _parsed() -> dict[str, tuple[int, bytes]]:
    """By the name of each target its number and its table; empty in a checkout."""
    try:
        parsed: dict[str, tuple[int, bytes]] = marshal.loads(_data(parsed_name(_toml())))
    except OSError:
        return {}
    return parsed


@cache
def _text() -> str:
    return _toml().decode()


@cache
def _toml() -> bytes:
    return _data("targets.toml")


def _data(name: str) -> bytes:
    """A file of the package, zipped or not: importlib.resources takes 8 ms to import."""
    loader: Any = sys.modules[__name__].__spec__.loader  # type: ignore[union-attr]
    data: bytes = loader.get_data(join(dirname(__file__), name))
    return data
