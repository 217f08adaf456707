"""`kernelinfo PATH...`, as text or JSON lines: answered without the parser of options.

That is what is run most, and to import the parser takes longer than to read a file. Everything
else is the parser's: other options, commands, a project with a configuration.
"""

from __future__ import annotations

import os

from kernelinfo.cli.output import make_view
from kernelinfo.light_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kernelinfo.render.formats import FormatName

_JSON_LINES = ["--format", "jsonl"]
_CONFIGURATIONS = ("kernelinfo.toml", "pyproject.toml")


def answers(arguments: list[str]) -> bool:
    """Whether these arguments were answered here; else nothing was done."""
    from kernelinfo.cli import COMMANDS

    paths = list(arguments)
    format: FormatName = "text"
    for at in (0, len(paths) - 2):
        if paths[at : at + 2] == _JSON_LINES:
            del paths[at : at + 2]
            format = "jsonl"
            break
    if not paths or paths[0] in COMMANDS or any(map(_is_option, paths)) or _is_special():
        return False
    from kernelinfo.cli.telling import tell
    from kernelinfo.options import Options

    tell(paths, Options(), make_view(), format)
    return True


def _is_option(argument: str) -> bool:
    return argument.startswith("-") and argument != "-"


def _is_special() -> bool:
    """Where the parser heeds more than the arguments: a configuration, completion, Windows."""
    if os.name != "posix" or "_KERNELINFO_COMPLETE" in os.environ:
        return True
    folder, parent = os.getcwd(), ""
    while folder != parent:
        if any(os.path.exists(os.path.join(folder, name)) for name in _CONFIGURATIONS):
            return True
        folder, parent = os.path.dirname(folder), folder
    return False
