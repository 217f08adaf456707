"""Saved reports and rows -> builds."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from glob import has_magic
from operator import attrgetter
from typing import Any, cast

from kernelinfo.analysis import Analysis, Judgements, analyse
from kernelinfo.analysis.inputs import Events, add, nothing_found
from kernelinfo.analysis.options import Options
from kernelinfo.compare import Comparison, compare, saved, summary
from kernelinfo.compare.messages import say
from kernelinfo.errors import Message, ReadError, bug
from kernelinfo.kernel import Item, Result
from kernelinfo.kernel.code_object import (
    InstructionCounts,
    LoopCounts,
    library_of,
    matrix_loop_copies,
)
from kernelinfo.kernel.column import unguarded
from kernelinfo.kernel.record import (
    BETWEEN_COMPILERS,
    BY_NAME,
    COLUMNS,
    INSTRUCTIONS,
    NAMES,
    Column,
    Record,
)
from kernelinfo.kernel.report import Report
from kernelinfo.reading.blob import Blob, Problem
from kernelinfo.reading.containers import files, open_bytes
from kernelinfo.reading.facts import Features, SourceLine
from kernelinfo.reading.messages import in_file
from kernelinfo.reading.target_id import compilers, target_id
from kernelinfo.rules import Selection

# JSON documents, JSON lines and CSV -> the records of their kernels.

HEADING = ",".join(NAMES[:2]).encode()
"""The first bytes of CSV with rows."""
_SCHEMA, _VERSION = "kernelinfo/report", "1"
_OLDER_SCHEMA = "kernelinfo"
"""The name in reports of 0.2.0."""
_KINDS: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (float, int),
    "boolean": (bool,),
    "array": (list, tuple),
}
"""Type of a column → types of its values; a bool is no int."""
_WORDS = {"": None, "True": True, "False": False}

SavedRecords = Iterator[tuple[Record, int | None]]
"""Records, with the SGPRs of the trap handler where the file states them."""
_Object = Mapping[str, Any]
Tell = Callable[[Problem], None]
"""Takes the problems of a saved report."""


def records_of_csv(data: bytes) -> SavedRecords:
    """The rows of CSV with typed values. Raises `ValueError` for a malformed row."""
    lines = data.decode("utf-8", "replace").splitlines()
    for number, cells in enumerate(csv.DictReader(lines), 2):
        if None in cells or None in cells.values():
            raise ValueError(say("saved-cells", line=number))
        yield checked({name: _value_of_cell(name, cell) for name, cell in cells.items()}), None


def records_of_json(data: bytes, tell: Tell) -> tuple[SavedRecords, bool]:
    """(records, True if truncation would go unnoticed) of a document or of JSON lines.

    The problems of a document go to `tell`. Raises `KeyError`, `TypeError` or `ValueError` for a
    file that is not a report, and `ReadError` for one of another version.
    """
    first = _parsed(data.partition(b"\n")[0])
    if isinstance(first, dict) and "Symbol" in first:
        return ((checked(row), None) for row in _objects(data)), True
    if isinstance(first, dict) and "input" in first:
        raise ReadError(say("saved-older", made="JSON lines of 0.1.0"))
    document = first if isinstance(first, dict) else _parsed(data)
    if not isinstance(document, dict):
        raise ValueError(say("saved-cut-off"))
    return _records_of_document(document, tell), False


def checked(
    record: Record,
    columns: Iterable[Column] = COLUMNS,
    key_of: Callable[[Column], str] = attrgetter("name"),
) -> Record:
    """The record, unchanged. Raises `KeyError` for a missing column, and `ValueError` for a value
    that its column cannot have; the message names the key in the file."""
    counted = INSTRUCTIONS if INSTRUCTIONS[0].name in record else ()
    for column in (*columns, *counted):
        value = record[column.name]
        if value is None:
            if column.is_stated:
                raise ValueError(say("saved-value-null", key=key_of(column)))
        elif type(value) not in _KINDS[column.type] or (column.field and value < 0):
            raise ValueError(say("saved-value", key=key_of(column), value=f"{value!r:.40}"))
        elif isinstance(value, int | float) and not -1 << 64 < value < 1 << 64:  # NaN, too
            raise ValueError(say("saved-value-number", key=key_of(column)))
        elif isinstance(value, list | tuple):
            for item in value:
                if type(item) is not str or (column.choices and item not in column.choices):
                    raise ValueError(say("saved-value-item", key=key_of(column), value=item))
    return record


def _records_of_document(document: _Object, tell: Tell) -> SavedRecords:
    schema, _, version = str(document["schema"]).rpartition("/")
    if schema == _OLDER_SCHEMA:
        raise ReadError(say("saved-older", made=document["schema"]))
    if schema != _SCHEMA:
        raise ValueError(say("saved-schema", schema=document["schema"]))
    if version != _VERSION:
        made, read = document.get("version", "?"), f"{_SCHEMA}/{_VERSION}"
        raise ReadError(say("saved-version", schema=document["schema"], version=made, read=read))
    if any("kernel_count" not in code_object for code_object in document["inputs"]):  # before 0.4
        made = f"kernelinfo {document.get('version', '?')}"
        raise ReadError(say("saved-older", made=made))
    for problem in document["problems"]:
        message = Message(str(problem["message"]), str(problem["code"]))
        where, member, offset = str(problem["path"]), problem["member"], problem["offset"]
        tell(Problem(where, message, member and str(member), offset and int(offset)))
    for kernel in document["kernels"]:
        code_object = document["inputs"][_place(kernel["input"])]
        allocated = kernel["allocated"]
        trap_sgprs = allocated and allocated["trap_sgprs"]
        yield checked(_record(code_object, kernel), key_of=_document_key), trap_sgprs


def _document_key(column: Column) -> str:
    return column.document or column.name


def _place(index: object) -> int:
    """The place of a code object among the inputs. Raises `ValueError` for a negative number."""
    if type(index) is not int or index < 0:
        raise ValueError(say("saved-value", key="input", value=f"{index!r:.40}"))
    return index


def _record(code_object: _Object, kernel: _Object) -> Record:
    """The record of a kernel's object in a document."""
    whole = {**kernel, "input": code_object}
    record = {
        column.name: _value_at(whole, column.document) if column.document else None
        for column in COLUMNS
    }
    for column in COLUMNS:
        if column.type == "string" and isinstance(reasons := record[column.name], list):
            record[column.name] = "; ".join(reasons) or None
    features = Features(
        xnack=code_object["features"]["xnack"], sramecc=code_object["features"]["sramecc"]
    )
    if (target := code_object["target"]) is not None:
        record["Compiled_For"] = target_id(target, features)
    is_run_elsewhere = kernel["target"] != target
    record["Target"] = kernel["target"] if is_run_elsewhere else record["Compiled_For"]
    record["Library"] = library_of(str(record["Path"]))
    stamps = compilers(code_object["stamps"])
    first = [code_object["compiler"]] if code_object["compiler"] else []
    record["Compiler"] = BETWEEN_COMPILERS.join(dict.fromkeys((*first, *stamps))) or None
    if record["LDS_Used"] is not None:
        record["LDS_Used"] += record["Dynamic_LDS"] or 0
    if counts := kernel.get("instructions"):  # reports before 0.4 do not have the key
        stated = kernel.get("loops")
        loops = None if stated is None else tuple(map(_loop, stated))
        record |= zip([column.name for column in INSTRUCTIONS], _counts(counts), strict=False)
        flights = [loop.in_flight for loop in loops or () if loop.in_flight is not None]
        waits = [loop.wait_distance for loop in loops or () if loop.wait_distance is not None]
        record["Matrix_Loop_Copies"] = None if loops is None else matrix_loop_copies(loops)
        record["Max_In_Flight"] = max(flights, default=None)
        record["Min_Wait_Distance"] = min(waits, default=None)
        needs = kernel.get("needs")
        record["Needs"] = needs["vector"] if needs and needs["exact"] else None
        record[summary.LOOPS] = loops
    return record


def _loop(loop: _Object) -> LoopCounts:
    source = loop["source"] and SourceLine(str(loop["source"]["file"]), int(loop["source"]["line"]))
    copies, size = int(loop["agpr_copies"]), int(loop["code_bytes"])
    label, depth, counts = loop["label"], int(loop["depth"]), _counts(loop["counts"])
    flight = [None if loop[k] is None else int(loop[k]) for k in ("in_flight", "wait_distance")]
    return LoopCounts(label and str(label), source, None, depth, counts, copies, size, *flight)


def _counts(counts: _Object) -> InstructionCounts:
    """The counts of an object. Raises `ValueError` for a value that is not a count."""
    numbers = [counts[name] for name in InstructionCounts._fields]
    for name, number in zip(InstructionCounts._fields, numbers, strict=True):
        is_count = type(number) is int and 0 <= number < 1 << 64
        if not (is_count or (number is None and name.endswith("_bytes"))):
            raise ValueError(say("saved-value", key=name, value=f"{number!r:.40}"))
    return InstructionCounts._make(numbers)


def _value_at(value: Any, path: str) -> Any:
    """The value at a path of keys, `a.b.0`; None if a value on the way is null. A number indexes a
    list (None past its end); any other key is read from each member of a list."""
    key, _, rest = path.partition(".")
    if not key or value is None:
        return value
    if not isinstance(value, list):
        return _value_at(value[key], rest)
    if not key.isdigit():
        return [_value_at(member, path) for member in value]
    return _value_at(value[int(key)], rest) if int(key) < len(value) else None


def _value_of_cell(name: str, cell: str) -> object:
    type = BY_NAME[name].type if name in BY_NAME else "string"
    if type == "array":
        return cell.split()
    if type == "string":
        return unguarded(cell) or None
    if cell in _WORDS:
        return _WORDS[cell]
    return float(cell) if "." in cell else int(cell)


def _objects(data: bytes) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(data.splitlines(), 1):
        if line.strip():
            row = _parsed(line)
            if not isinstance(row, dict):
                raise ValueError(say("saved-line", line=number))
            yield row


def _parsed(data: bytes) -> object:
    """The value of a JSON text; None if it is not JSON."""
    try:
        return cast(object, json.loads(data, parse_constant=_refuse))
    except (ValueError, RecursionError):
        return None


def _refuse(constant: str) -> None:
    raise ValueError(say("saved-constant", constant=constant))


# Paths or reports of two builds -> their comparison.

NO_RULES = Selection(ignore=("KI",))  # a comparison does not use findings

BuildSource = str | os.PathLike[str] | Report
"""A file, folder or glob of code; a saved report (JSON, JSON lines, CSV); or a `Report`."""


def diff(
    old: BuildSource,
    new: BuildSource,
    options: Options | None = None,
    *,
    across_targets: bool = False,
    loose: bool = False,
) -> Comparison:
    """The comparison of two builds.

    `options` apply to paths, not to a `Report`. `loose` also pairs kernels by a unique base name.
    Raises `KernelinfoError` if a build cannot be read whole.
    """
    builds = []
    for source in (old, new):
        if isinstance(source, Report):
            root = summary.common_root({code_object.path for code_object in source.code_objects})
            source_build = summary.build(source.results, partial(summary.place_under, root))
            problems = [*source.problems]
        else:
            source_build, problems = read_build(os.fspath(source), options or Options())
        for problem in problems:
            raise ReadError(problem.located)
        builds.append(source_build)
    return compare(*builds, across_targets=across_targets, loose=loose)


def read_build(
    path: str,
    options: Options,
    shown: Callable[[Iterable[Item]], Iterable[Item]] = iter,
    shared: dict[summary.KernelSummary, summary.KernelSummary] | None = None,
    statements: summary.Statements | None = None,
    judgements: Judgements | None = None,
) -> tuple[summary.Build, list[Problem]]:
    """The build at a path, and its problems. A path without kernels is a problem.

    `shown` passes the items through, and may show how many are read. For `shared` and `statements`
    see `build`; for `judgements`, made without rules, `analyse`. Raises `ReadError` for JSON or CSV
    that is not a readable report.
    """
    options = options._replace(selection=NO_RULES)
    problems: list[Problem] = []
    is_one = files.is_read_once(path) or os.path.isfile(path)
    is_compiled = any(compiled.path == path for compiled in options.compiled)
    blob = files.load(path, options.bounds) if is_one and not is_compiled else None
    if isinstance(blob, Blob) and saved.accepts(blob):
        return saved.read_saved(blob, options, problems.append), problems
    if isinstance(blob, Blob) and path == files.STANDARD_INPUT:
        blobs = open_bytes(bytes(blob.data), blob.path, options.bounds)
        items = Analysis(options).analyse_path(blob.path, blobs)
    else:
        items = analyse([path], options, judgements=judgements)
    results, name_of = _results(shown(items), problems), partial(summary.place_under, root_of(path))
    return summary.build(results, name_of, shared, statements), problems


def chosen(whole: summary.Build, options: Options) -> summary.Build:
    """The build with only the kernels that the options choose by name, target and member."""
    kernels = tuple(
        kernel
        for kernel in whole.kernels
        if options.asks_for(kernel.name, kernel.symbol, kernel.target)
        and options.asks_for_member(kernel.code_object)
    )
    return whole._replace(kernels=kernels)


def _results(items: Iterable[Item], problems: list[Problem]) -> Iterator[Result]:
    for item in items:
        if isinstance(item, Result):
            yield item
        elif isinstance(item, Problem):
            problems.append(item)


def root_of(path: str) -> str:
    """The common prefix of the paths of a build's files: the path, or the part before a glob."""
    if os.path.lexists(path):
        return path
    folders = path.split("/")
    plain = next((n for n, folder in enumerate(folders) if has_magic(folder)), len(folders))
    return "/".join(folders[:plain])


def accepts(blob: Blob) -> bool:
    """True if the data begin like JSON or like CSV with rows. No code begins like that."""
    return _is_csv(blob) or bytes(blob.data.read(0, 64)).lstrip().startswith(b"{")


def _is_csv(blob: Blob) -> bool:
    return bytes(blob.data.read(0, len(HEADING))) == HEADING


def read_saved(blob: Blob, options: Options, tell: Tell) -> summary.Build:
    """The build of a saved report, with the kernels that `options` choose.

    `tell` takes the problems that the report stores, and a problem if no kernel is chosen or the
    report was saved for a launch other than that of `options`. Raises `ReadError` if the file is
    not a report.
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
    except ReadError as error:
        raise ReadError(in_file(blob.path, error.message)) from None
    except Exception as error:
        raise ReadError(in_file(blob.path, bug(error))) from error
    root = summary.common_root({record["Path"] for record, _ in records})
    made_otherwise = None
    for record, trap_sgprs in records:
        kernel = summary.summary_of(record)
        if not may_be_cut:  # a document holds whole names, rows those that --names says
            kernel = kernel._replace(name=record["Kernel_Name"])
        is_chosen = options.where is None or options.where.holds(record)
        if not is_chosen or not options.asks_for(kernel.name, kernel.symbol):
            add(events, "unchosen", kernel.name)
            continue
        if not options.asks_for_target(kernel.target):
            add(events, "other-target", kernel.target)
            continue
        if not options.asks_for_member(record["Member"]):
            add(events, "other-member")
            continue
        code_object = summary.path_under(root, record["Path"], record["Member"])
        kernels.append(kernel._replace(code_object=code_object))
        made_otherwise = made_otherwise or _contradiction(record, trap_sgprs, options)
        stamps.update((record["Compiler"] or "").split(BETWEEN_COMPILERS))
    if made_otherwise:
        tell(Problem(blob.path, made_otherwise))
    add(events, "chosen", number=len(kernels))
    if problem := nothing_found(blob.path, events, options):
        tell(problem)
    notes = (in_file(blob.path, say("saved-may-be-cut")),) if may_be_cut else ()
    return summary.Build(tuple(kernels), tuple(sorted(stamps - {""})), notes)


def _records(blob: Blob, tell: Tell) -> tuple[SavedRecords, bool]:
    """(records, True if truncation would go unnoticed)."""
    data = bytes(blob.data)
    return (records_of_csv(data), True) if _is_csv(blob) else records_of_json(data, tell)


def _contradiction(record: Record, trap_sgprs: int | None, options: Options) -> Message | None:
    """A message if the report was saved for a launch that differs from the options'; else None."""
    run_target = record["Target"] and record["Target"].partition(":")[0]
    settings = (
        (options.workgroup_size, record["Workgroup_Size"], "workgroups of {}"),
        (options.dynamic_lds_bytes, record["Dynamic_LDS"], "{} B of dynamic LDS"),
        (options.run_as, run_target, "{}"),
        (None if options.trap_handler else 0, trap_sgprs, "{} SGPRs of a trap handler"),
    )
    for now, then, words in settings:
        if now is not None and then not in (None, now):
            saved, given = words.format(then), words.format(now)
            return say("saved-for-other-launch", saved=saved, given=given)
    return None
