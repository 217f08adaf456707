"""Saved reports and rows -> builds."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, cast

from kernelinfo.analysis.inputs import PathCounts
from kernelinfo.analysis.options import Options
from kernelinfo.compare.messages import say
from kernelinfo.compare.saved_kernel import SavedKernel
from kernelinfo.compare.saved_report import read_document, read_lines
from kernelinfo.compare.saved_rows import HEADING, read_row, rows_of_csv
from kernelinfo.compare.summary import Build, common_root, path_under
from kernelinfo.errors import Message, OptionError, ReadError, bug
from kernelinfo.kernel.condition import Where
from kernelinfo.reading.blob import Blob, Problem
from kernelinfo.reading.messages import in_file

WITHOUT_COLUMNS = say("saved-without-rows")
Tell = Callable[[Problem], None]


def accepts(blob: Blob) -> bool:
    """True if the data begin like JSON or like CSV with rows. No code begins like that."""
    return _is_csv(blob) or bytes(blob.data.read(0, 64)).lstrip().startswith(b"{")


def _is_csv(blob: Blob) -> bool:
    return bytes(blob.data.read(0, len(HEADING))) == HEADING


def read_saved(blob: Blob, options: Options, tell: Tell) -> Build:
    """The build of a saved report, with the kernels that `options` choose.

    Problems are told of the report's own problems, of a report without kernels, and of a report for
    another launch than `options` ask. Raises `ReadError` if the file is no report.
    """
    counts, found = PathCounts(blob.path), []
    compilers: set[str] = set()
    try:
        saved, may_be_cut = _saved(blob, tell)
        kernels = list(saved)
    except (KeyError, IndexError, TypeError, ValueError) as error:
        is_key = isinstance(error, KeyError)
        wrong = say("saved-key-missing", key=error) if is_key else error
        kind = "CSV" if _is_csv(blob) else "JSON"
        message = say("saved-not-a-report", kind=kind, error=wrong)
        raise ReadError(in_file(blob.path, message)) from None
    except Exception as error:
        raise ReadError(in_file(blob.path, bug(error))) from error
    root = common_root({kernel.path for kernel in kernels})
    made_otherwise = None
    for kernel in kernels:
        one = kernel.summary
        if not options.asks_for(one.name, one.symbol) or not _holds(options.where, kernel, blob):
            counts.pass_over(one.name)
            continue
        if not options.asks_for_target(one.target):
            counts.leave_out(one.target)
            continue
        if not options.asks_for_member(kernel.member):
            counts.of_other_members += 1
            continue
        code_object = path_under(root, kernel.path, kernel.member)
        found.append(one._replace(code_object=code_object))
        made_otherwise = made_otherwise or _contradiction(kernel, options)
        compilers.update(kernel.compilers)
    if made_otherwise:
        tell(Problem(blob.path, made_otherwise))
    counts.found = len(found)
    if problem := counts.nothing_found(options):
        tell(problem)
    notes = (in_file(blob.path, say("saved-may-be-cut")),) if may_be_cut else ()
    return Build(tuple(found), tuple(sorted(compilers)), notes)


def _holds(where: Where | None, kernel: SavedKernel, blob: Blob) -> bool:
    """True if a condition holds for a saved row. Raises `OptionError` for another report."""
    if where is not None and kernel.row is None:
        raise OptionError(in_file(blob.path, WITHOUT_COLUMNS))
    return where is None or kernel.row is None or where.holds(kernel.row)


def _saved(blob: Blob, tell: Tell) -> tuple[Iterator[SavedKernel], bool]:
    """(kernels, True if a cut file would go unnoticed).

    Raises `KeyError`, `TypeError` or `ValueError` for a file that is no report.
    """
    data = bytes(blob.data)
    if _is_csv(blob):
        return map(read_row, rows_of_csv(data.decode("utf-8", "replace"))), True
    first = _parsed(data.partition(b"\n")[0])
    if isinstance(first, dict) and "Symbol" in first:
        return map(read_row, _objects(data)), True
    if isinstance(first, dict) and "input" in first:
        return read_lines(_objects(data)), True
    document = first if isinstance(first, dict) else _parsed(data)
    if not isinstance(document, dict):
        raise ValueError(say("saved-cut-off"))
    return read_document(document, blob.path, tell), False


def _objects(data: bytes) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(data.splitlines(), 1):
        if line.strip():
            found = _parsed(line)
            if not isinstance(found, dict):
                raise ValueError(say("saved-line", line=number))
            yield found


def _parsed(data: bytes) -> object:
    """The value of a JSON text; None if it is not JSON."""
    try:
        return cast(object, json.loads(data, parse_constant=_refused))
    except (ValueError, RecursionError):
        return None


def _refused(constant: str) -> None:
    raise ValueError(say("saved-constant", constant=constant))


def _contradiction(kernel: SavedKernel, options: Options) -> Message | None:
    """A sentence if the report was saved for another launch than the options ask; else None."""
    trap_sgprs = None if options.trap_handler else 0
    asked = (
        (options.workgroup_size, kernel.summary.numbers.workgroup_size, "workgroups of {}"),
        (options.dynamic_lds_bytes, kernel.dynamic_lds_bytes, "{} B of dynamic LDS"),
        (options.run_as, kernel.run_target, "{}"),
        (trap_sgprs, kernel.trap_sgprs, "{} SGPRs of a trap handler"),
    )
    for now, then, words in asked:
        if now is not None and then not in (None, now):
            saved, given = words.format(then), words.format(now)
            return say("saved-for-other-launch", saved=saved, given=given)
    return None
