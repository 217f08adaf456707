"""`kernelinfo [report] PATH...`, maybe with `--format` and `-o`: answered without the parser.

That is what is run most, and to import the parser of options takes longer than to read a file.
Everything else is the parser's: other options and other commands.
"""

from __future__ import annotations

import os

from kernelinfo.analysis.options import Options
from kernelinfo.cli.output import make_view
from kernelinfo.light_typing import TYPE_CHECKING, NamedTuple
from kernelinfo.render import MODULES

if TYPE_CHECKING:
    from kernelinfo.render.formats import FormatName


class _Call(NamedTuple):
    paths: list[str]
    format: FormatName
    output: str | None


def answers(arguments: list[str]) -> bool:
    """Whether these arguments were answered here; else nothing was done."""
    call = _read(arguments)
    if call is None or _is_special():
        return False
    from kernelinfo.cli.telling import tell

    options = Options()
    if _may_be_configured():
        from kernelinfo.cli.project import configuration

        project = configuration()
        options = Options(selection=project.selection, workgroup_sizes=project.workgroup_sizes)
    tell(call.paths, options, make_view(output=call.output), call.format, call.output)
    return True


def _read(arguments: list[str]) -> _Call | None:
    """None for what the parser is needed for."""
    from kernelinfo.cli import COMMANDS

    words = iter(arguments)
    if arguments[:1] == ["report"]:
        next(words)
    elif arguments and arguments[0] in COMMANDS:
        return None
    paths: list[str] = []
    format: FormatName = "text"
    output = None
    for word in words:
        if word == "--format":
            given = next(words, "")
            found = next((name for name in MODULES if name == given), None)
            if found is None:
                return None
            format = found
        elif word in ("-o", "--output"):
            output = next(words, "")
            if not output or output.startswith("-"):
                return None
        elif word.startswith("-") and word != "-":
            return None
        else:
            paths.append(word)
    return _Call(paths, format, output) if paths else None


def _is_special() -> bool:
    """Where the parser heeds more than the arguments: completion, Windows."""
    return os.name != "posix" or "_KERNELINFO_COMPLETE" in os.environ


def _may_be_configured() -> bool:
    """Whether a file of this folder or one above configures, by what is cheap to see."""
    folder, parent = os.getcwd(), ""
    while folder != parent:
        if os.path.exists(os.path.join(folder, "kernelinfo.toml")):
            return True
        shared = os.path.join(folder, "pyproject.toml")
        if os.path.exists(shared) and _may_mention_us(shared):
            return True
        folder, parent = os.path.dirname(folder), folder
    return False


def _may_mention_us(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            return b"kernelinfo" in file.read()
    except OSError:
        return True
