"""Saved reports and rows -> builds."""

from __future__ import annotations

from collections.abc import Callable

from kernelinfo.analysis.inputs import Events, RunEvent, add, nothing_found
from kernelinfo.analysis.options import Options
from kernelinfo.compare.messages import say
from kernelinfo.compare.saved_records import (
    HEADING,
    SavedRecords,
    records_of_csv,
    records_of_json,
)
from kernelinfo.compare.summary import Build, common_root, path_under, summary_of
from kernelinfo.errors import Message, ReadError, bug
from kernelinfo.kernel.record import BETWEEN_COMPILERS, Record
from kernelinfo.reading.blob import Blob, Problem
from kernelinfo.reading.messages import in_file

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
    events, kernels = Events(), []
    stamps: set[str] = set()
    try:
        saved, may_be_cut = _records(blob, tell)
        records = list(saved)
    except (KeyError, IndexError, TypeError, ValueError) as error:
        is_key = isinstance(error, KeyError)
        wrong = say("saved-key-missing", key=error) if is_key else error
        kind = "CSV" if _is_csv(blob) else "JSON"
        message = say("saved-not-a-report", kind=kind, error=wrong)
        raise ReadError(in_file(blob.path, message)) from None
    except ReadError:
        raise
    except Exception as error:
        raise ReadError(in_file(blob.path, bug(error))) from error
    root = common_root({record["Path"] for record, _ in records})
    made_otherwise = None
    for record, trap_sgprs in records:
        kernel = summary_of(record)
        if not may_be_cut:  # a document holds whole names, rows those that --names says
            kernel = kernel._replace(name=record["Kernel_Name"])
        is_chosen = options.where is None or options.where.holds(record)
        if not is_chosen or not options.asks_for(kernel.name, kernel.symbol):
            add(events, RunEvent("unchosen", kernel.name))
            continue
        if not options.asks_for_target(kernel.target):
            add(events, RunEvent("other-target", kernel.target))
            continue
        if not options.asks_for_member(record["Member"]):
            add(events, RunEvent("other-member"))
            continue
        code_object = path_under(root, record["Path"], record["Member"])
        kernels.append(kernel._replace(code_object=code_object))
        made_otherwise = made_otherwise or _contradiction(record, trap_sgprs, options)
        stamps.update((record["Compiler"] or "").split(BETWEEN_COMPILERS))
    if made_otherwise:
        tell(Problem(blob.path, made_otherwise))
    add(events, RunEvent("chosen", number=len(kernels)))
    if problem := nothing_found(blob.path, events, options):
        tell(problem)
    notes = (in_file(blob.path, say("saved-may-be-cut")),) if may_be_cut else ()
    return Build(tuple(kernels), tuple(sorted(stamps - {""})), notes)


def _records(blob: Blob, tell: Tell) -> tuple[SavedRecords, bool]:
    """(records, True if a cut file would go unnoticed)."""
    data = bytes(blob.data)
    return (records_of_csv(data), True) if _is_csv(blob) else records_of_json(data, blob.path, tell)


def _contradiction(record: Record, trap_sgprs: int | None, options: Options) -> Message | None:
    """A sentence if the report was saved for another launch than the options ask; else None."""
    run_target = record["Target"] and record["Target"].partition(":")[0]
    asked = (
        (options.workgroup_size, record["Workgroup_Size"], "workgroups of {}"),
        (options.dynamic_lds_bytes, record["Dynamic_LDS"], "{} B of dynamic LDS"),
        (options.run_as, run_target, "{}"),
        (None if options.trap_handler else 0, trap_sgprs, "{} SGPRs of a trap handler"),
    )
    for now, then, words in asked:
        if now is not None and then not in (None, now):
            saved, given = words.format(then), words.format(now)
            return say("saved-for-other-launch", saved=saved, given=given)
    return None
