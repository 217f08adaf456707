"""`kernelinfo [report] PATH...` and `kernelinfo check [PATH]...`, answered without typer.

That is what is run most, and to import typer takes longer than to read a file. Other options and
other commands are typer's, which takes formats and spellings from the same lists.
"""

from __future__ import annotations

import os

from kernelinfo.cli import COMMANDS, may_be_misspelled
from kernelinfo.cli.output import make_view
from kernelinfo.render import CHECK_FORMATS, FORMATS

FORMAT_OPTION = ("--format",)
OUTPUT_OPTION = ("-o", "--output")
CONFIG_OPTION = ("--config",)
BASELINE_OPTION = ("--baseline",)
EXIT_ZERO_OPTION = ("--exit-zero",)

_OF_REPORT = {"format": FORMAT_OPTION, "output": OUTPUT_OPTION}
_OF_CHECK = _OF_REPORT | {"config": CONFIG_OPTION, "baseline": BASELINE_OPTION}
_OPTIONS = {"report": _OF_REPORT, "check": _OF_CHECK}
"""The spellings of those that take a value."""
_FORMATS = {"report": FORMATS, "check": CHECK_FORMATS}


def answers(arguments: list[str]) -> bool:
    """True if these arguments were answered here; else nothing was done."""
    needs_typer = os.name != "posix" or "_KERNELINFO_COMPLETE" in os.environ
    call = None if needs_typer else _read(arguments)
    if call is None:
        return False
    command, paths, given = call
    (_check if command == "check" else _report)(paths, given)
    return True


def _report(paths: list[str], given: dict[str, str]) -> None:
    from kernelinfo.analysis.options import Options
    from kernelinfo.cli.write_report import write_report

    options = Options()
    if _may_be_configured():
        from kernelinfo.cli.project import configuration

        project = configuration()
        options = Options(selection=project.selection, workgroup_sizes=project.workgroup_sizes)
    format, output = given.get("format", FORMATS[0]), given.get("output")
    write_report(paths, options, make_view(output=output), format, output)


def _check(paths: list[str], given: dict[str, str]) -> None:
    from kernelinfo.analysis.options import Options
    from kernelinfo.cli.project import configuration
    from kernelinfo.cli.write_check import write_check

    config, baseline, output = map(given.get, ("config", "baseline", "output"))
    own = configuration(config=config)
    project = own._replace(paths=tuple(paths) or own.paths, baseline=baseline or own.baseline)
    view, format, exit_zero = make_view(output=output), given.get("format"), "exit_zero" in given
    write_check(own, project, Options(), view, format, output, exit_zero=exit_zero)


def _read(arguments: list[str]) -> tuple[str, list[str], dict[str, str]] | None:
    """The command, its paths and its options; None where typer is needed."""
    words, command = iter(arguments), "report"
    if arguments and arguments[0] in _OPTIONS:
        command = next(words)
    elif arguments and (arguments[0] in COMMANDS or may_be_misspelled(arguments[0])):
        return None
    paths: list[str] = []
    given: dict[str, str] = {}
    options = {spelling: name for name, all in _OPTIONS[command].items() for spelling in all}
    for word in words:
        if option := options.get(word):
            given[option] = next(words, "")
            if not given[option] or given[option].startswith("-"):
                return None
        elif command == "check" and word in EXIT_ZERO_OPTION:
            given["exit_zero"] = word
        elif word.startswith("-") and word != "-":
            return None
        else:
            paths.append(word)
    if given.get("format", FORMATS[0]) not in _FORMATS[command]:
        return None
    return (command, paths, given) if paths or command == "check" else None


def _may_be_configured() -> bool:
    """True if a file of this folder or one above may configure, by what is cheap to see."""
    from kernelinfo.reading.paths import configurations

    try:
        return any(configurations(os.getcwd()))
    except OSError:  # the current folder was deleted
        return False
