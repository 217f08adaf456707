"""`kernelinfo [report] PATH...`, maybe with `--format` and `-o`: answered without typer.

That is what is run most, and to import typer takes longer than to read a file. Other options and
other commands are typer's, which takes formats and spellings from the same lists.
"""

from __future__ import annotations

import os

from kernelinfo.analysis.options import Options
from kernelinfo.cli.output import make_view
from kernelinfo.light_typing import NamedTuple
from kernelinfo.render import FORMATS

FORMAT_OPTION = ("--format",)
OUTPUT_OPTION = ("-o", "--output")


class _Call(NamedTuple):
    paths: list[str]
    format: str
    output: str | None


def answers(arguments: list[str]) -> bool:
    """True if these arguments were answered here; else nothing was done."""
    call = _read(arguments)
    if call is None or _is_special():
        return False
    from kernelinfo.cli.write_report import write_report

    options = Options()
    if _may_be_configured():
        from kernelinfo.cli.project import configuration

        project = configuration()
        options = Options(selection=project.selection, workgroup_sizes=project.workgroup_sizes)
    write_report(call.paths, options, make_view(output=call.output), call.format, call.output)
    return True


def _read(arguments: list[str]) -> _Call | None:
    """None where typer is needed."""
    from kernelinfo.cli import COMMANDS

    words = iter(arguments)
    if arguments[:1] == ["report"]:
        next(words)
    elif arguments and (arguments[0] in COMMANDS or _may_be_misspelled(arguments[0])):
        return None
    paths: list[str] = []
    format = FORMATS[0]
    output = None
    for word in words:
        if word in FORMAT_OPTION:
            format = next(words, "")
            if format not in FORMATS:
                return None
        elif word in OUTPUT_OPTION:
            output = next(words, "")
            if not output or output.startswith("-"):
                return None
        elif word.startswith("-") and word != "-":
            return None
        else:
            paths.append(word)
    return _Call(paths, format, output) if paths else None


def _may_be_misspelled(word: str) -> bool:
    """True for a word that is no file, and may be a misspelled command."""
    return word.isidentifier() and not os.path.lexists(word)


def _is_special() -> bool:
    """Shell completion or Windows: typer must run."""
    return os.name != "posix" or "_KERNELINFO_COMPLETE" in os.environ


def _may_be_configured() -> bool:
    """Whether a file of this folder or one above configures, by what is cheap to see."""
    try:
        folder, parent = os.getcwd(), ""
    except OSError:  # the current folder was deleted
        return False
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
