"""JSON documents, JSON lines and CSV -> the records of their kernels."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from operator import attrgetter
from typing import Any, cast

from kernelinfo.compare.messages import say
from kernelinfo.csv_guard import unguarded
from kernelinfo.errors import Message, ReadError
from kernelinfo.kernel.library import library_of
from kernelinfo.kernel.record import (
    BETWEEN_COMPILERS,
    BY_NAME,
    COLUMNS,
    INSTRUCTIONS,
    NAMES,
    Column,
    Record,
)
from kernelinfo.reading.blob import Problem
from kernelinfo.reading.facts import Features
from kernelinfo.reading.messages import in_file
from kernelinfo.reading.target_id import compilers, target_id

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


def records_of_csv(data: bytes) -> SavedRecords:
    """The rows of CSV with typed values. Raises `ValueError` for what is no row."""
    lines = data.decode("utf-8", "replace").splitlines()
    for number, cells in enumerate(csv.DictReader(lines), 2):
        if None in cells or None in cells.values():
            raise ValueError(say("saved-cells", line=number))
        yield checked({name: _value_of_cell(name, cell) for name, cell in cells.items()}), None


def records_of_json(
    data: bytes, path: str, tell: Callable[[Problem], None]
) -> tuple[SavedRecords, bool]:
    """(records, True if a cut file would go unnoticed) of a document or of JSON lines.

    The problems of a document go to `tell`. Raises `KeyError`, `TypeError` or `ValueError` for a
    file that is no report, and `ReadError` for one of another version.
    """
    first = _parsed(data.partition(b"\n")[0])
    if isinstance(first, dict) and "Symbol" in first:
        return ((checked(row), None) for row in _objects(data)), True
    if isinstance(first, dict) and "input" in first:
        raise ReadError(in_file(path, say("saved-older", made="JSON lines of 0.1.0")))
    document = first if isinstance(first, dict) else _parsed(data)
    if not isinstance(document, dict):
        raise ValueError(say("saved-cut-off"))
    return _records_of_document(document, path, tell), False


def checked(
    record: Record,
    columns: Iterable[Column] = COLUMNS,
    key_of: Callable[[Column], str] = attrgetter("name"),
) -> Record:
    """The record. Raises `KeyError` for a column that it lacks, and `ValueError` for a value that
    its column cannot have, with the key that the file has for it."""
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


def _records_of_document(
    document: _Object, path: str, tell: Callable[[Problem], None]
) -> SavedRecords:
    schema, _, version = str(document["schema"]).rpartition("/")
    if schema == _OLDER_SCHEMA:
        raise ReadError(in_file(path, say("saved-older", made=document["schema"])))
    if schema != _SCHEMA:
        raise ValueError(say("saved-schema", schema=document["schema"]))
    if version != _VERSION:
        made, read = document.get("version", "?"), f"{_SCHEMA}/{_VERSION}"
        message = say("saved-version", schema=document["schema"], version=made, read=read)
        raise ReadError(in_file(path, message))
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
    """The place of a code object among the inputs. Raises `ValueError` for one below 0."""
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
    return record


def _value_at(value: Any, path: str) -> Any:
    """The value under a path of keys; None if there is null on the way.

    A number is the place in a list, None behind its end; another key is read of all its members.
    """
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
