"""The contract of the command line as rows: what is typed, beside which files, and the answer.

Each file `tests/contract/*.toml` is one test. A row of it has

    what      what is shown, in a few words (may be left out)
    run       the arguments, as a shell splits them, run beside the row's files or in fixtures/; a
              list of them stands for as many rows
    files     name = text, or name = [steps]: see files.py; [files] of the whole table are there for
              the rows that name them or their folder in `run`, `before` or `with`, or that have
              `with = "all"`
    with      names of more files of the table, or of folders
    before    command lines that are run first, each of which must exit with 0, or changes of files:
              `cp A B`, `mv A B`, `rm A`, or a step of files.py as in `sub FILE PATTERN NEW`
    env       variables of the environment
    missing   libraries of extras that are not installed; the others are there then
    stdin     text, or steps
    each      cases of one file x: the problem that it is, then its steps
    exit      the exit code: 0 unless said; 2 where there are problems
    problems  one entry for each line on standard error, in order: the code of its message, codes of
              sentences in it, then facts of the line, with ` … ` between them; `3× …` is three such
              lines, and `["*"]` any number of any. None may stand there unless said. The lines of
              usage before a message of typer are left out.
    out       texts of standard output, each once at least; `= text` is the whole of it, `~ text` a
              regular expression of a line, `# code fact … fact` a line with such a sentence
    not_out   texts that are not in standard output
    same      another command line, whose answer is the same; `{run}` in it is `run`
    width     columns that no line of standard output goes beyond
    json      path = value in the JSON that was printed, see `look_up`; lines of JSON and rows of
              CSV are a list. "null" is null; a table `{ a = 1 }` is about its keys only; a text
              `# code fact … fact` is such a sentence. Each document must follow the schema that it
              names
    members   member of each input in the JSON that was printed, or how many there are
    wrote     name of a file = texts that are in it then, as in `out`; an empty list: there is none

[defaults] has keys for all rows of the table; `needs` before it names tools of tests/tools.toml.
`python -m tests.contract TABLE [WORDS]` runs the rows whose `what` or `run` has the words, and
prints what they answer.
"""

from __future__ import annotations

import csv
import json
import os
import re
import shlex
import shutil
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from io import BytesIO, StringIO, TextIOWrapper
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple
from unittest.mock import patch

from jsonschema import Draft202012Validator
from rich.cells import cell_len

import kernelinfo

from ..messages import does_line_match, says
from ..test_golden import run
from .files import FIXTURES, STEPS, Files, Steps, make, write

TABLES = sorted(Path(__file__).parent.glob("*.toml"))
_KEYS = {
    *("what", "run", "files", "with", "before", "env", "missing", "stdin"),
    *("exit", "problems", "out", "not_out", "same", "width", "json", "members", "wrote"),
}
_LIBRARIES = ("duckdb", "fsspec", "distributed", "llvmlite", "mcp")
_USAGE = re.compile(r"\AUsage: kernelinfo .*\nTry 'kernelinfo .*\n\n")


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)


_CHANGES: dict[str, Callable[..., object]] = {"cp": _copy, "mv": Path.rename, "rm": Path.unlink}


class Answer(NamedTuple):
    """What a command line did."""

    out: str
    err: str
    code: int


Row = Mapping[str, Any]


def read_table(path: Path) -> list[Row]:
    """The rows of a file, with what stands for all of them."""
    table = tomllib.loads(path.read_text("utf-8"))
    defaults, shared = table.pop("defaults", {}), table.pop("files", {})
    table.pop("needs", None)
    merged = [defaults | row for group in table.values() for row in group]
    rows = [case | {"run": run} for row in merged for case in _cases(row) for run in _runs(row)]
    for row in rows:
        assert row.keys() <= _KEYS, f"{path.name}: {row.keys() - _KEYS}"
    return [row | {"files": _files(row, shared), "steps": shared} for row in rows]


def _cases(row: Row) -> Iterator[dict[str, Any]]:
    """The row, or a row of each of its cases."""
    others = {key: value for key, value in row.items() if key != "each"}
    for problem, *steps in row.get("each", ()):
        yield others | {"files": {"x": steps}, "problems": [problem]}
    if "each" not in row:
        yield others


def _runs(row: Row) -> list[str]:
    return [row["run"]] if isinstance(row["run"], str) else row["run"]


def needs(path: Path) -> list[str]:
    """Tools of tools.toml that the rows of a file need."""
    names: list[str] = tomllib.loads(path.read_text("utf-8")).get("needs", [])
    return names


def _files(row: Row, shared: Files) -> dict[str, Steps]:
    """The row's own files, and those of the table that it names."""
    named = _named(row)
    words = (*shlex.split(named), *row.get("with", ()))
    chosen = {
        name: steps
        for name, steps in shared.items()
        if row.get("with") == "all" or name in named or any(_is_in(name, word) for word in words)
    }
    return {**chosen, **row.get("files", {})}


def _named(row: Row) -> str:
    return " ".join([row["run"], row.get("same", ""), *row.get("before", ())])


def _is_in(name: str, word: str) -> bool:
    """Whether a word names a file or a folder of it."""
    return f"{name}/".startswith(f"{word.removesuffix('/')}/")


def wrongs(row: Row) -> list[str]:
    """How the answer differs from the row; empty where it does not."""
    with _folder(row) as folder:
        answer = _answered(row, folder)
        differences = [*_wrongs(row, answer), *_wrong_files(row, folder)]
        same = row.get("same", "").replace("{run}", row["run"])
        if same and _answer(same, folder, _stdin(row)) != answer:
            differences.append(f"not the answer of {same}")
        return differences


def answer_to(row: Row) -> Answer:
    """What the row's command line does."""
    with _folder(row) as folder:
        return _answered(row, folder)


def _answered(row: Row, folder: Path) -> Answer:
    with patch.dict(os.environ, row.get("env", {})), _without(row.get("missing", ())):
        for command in row.get("before", ()):
            name, *arguments = shlex.split(command)
            if name in _CHANGES:
                _CHANGES[name](*(folder / argument for argument in arguments))
                continue
            if name in STEPS:
                file = folder / arguments[0]
                file.write_bytes(STEPS[name](file.read_bytes(), *arguments[1:]))
                continue
            first = _answer(command, folder)
            assert not first.code, f"{command}: exit code {first.code}: {first.err}"
        return _answer(row["run"], folder, _stdin(row))


def _stdin(row: Row) -> bytes | None:
    return make(row["stdin"], row["steps"]) if "stdin" in row else None


@contextmanager
def _without(libraries: Sequence[str]) -> Iterator[None]:
    """A system where some libraries of extras are not installed, and the others are."""
    modules: dict[str, Any] = sys.modules
    before = {name: modules.pop(name, None) for name in _LIBRARIES if libraries}
    modules |= {name: None if name in libraries else json for name in before}
    yield
    for name, module in before.items():
        del modules[name]
        if module:
            modules[name] = module


@contextmanager
def _folder(row: Row) -> Iterator[Path]:
    """The folder of a run: one with the row's files and links to fixtures, or fixtures/ itself.

    Fixtures are read from their own folder where a row neither has nor makes files.
    """
    if not any(row.get(key) for key in ("files", "before", "wrote")):
        yield FIXTURES
        return
    with TemporaryDirectory() as name:
        folder = Path(name)
        for file, steps in row["files"].items():
            write(folder / file, steps, {**row["files"], **row["steps"]})
        for fixtures in FIXTURES.iterdir():
            if f"{fixtures.name}/" in _named(row) and not (folder / fixtures.name).exists():
                (folder / fixtures.name).symlink_to(fixtures)
        yield folder


def _answer(command: str, folder: Path, stdin: bytes | None = None) -> Answer:
    words = shlex.split(command)
    if stdin is None:
        return Answer(*run(*words, folder=folder))
    with patch("sys.stdin", TextIOWrapper(BytesIO(stdin))):
        return Answer(*run(*words, folder=folder))


def _wrongs(row: Row, answer: Answer) -> Iterator[str]:
    problems = [one for text in row.get("problems", []) for one in _each(text)]
    code = row.get("exit", 2 if problems else 0)
    if answer.code != code:
        yield f"exit code {answer.code}, not {code}"
    lines = _USAGE.sub("", answer.err).splitlines()
    if problems != ["*"]:
        if len(lines) != len(problems):
            yield f"{len(lines)} lines on standard error, not {len(problems)}"
        for line, problem in zip(lines, problems, strict=False):
            if not does_line_match(line, problem):
                yield f"not {problem!r}: {line}"
    for text in _texts(row, "out"):
        if not _has(answer.out, text):
            yield f"not in standard output: {text!r}"
    for text in _texts(row, "not_out"):
        if _has(answer.out, text):
            yield f"in standard output: {text!r}"
    for line in answer.out.splitlines() if "width" in row else ():
        if cell_len(line) > row["width"]:
            yield f"more than {row['width']} columns: {line}"
    if row.get("json") or "members" in row:
        document = read_document(row["run"], answer.out)
        if isinstance(document, dict) and document.get("schema") in _schemas():
            yield from (
                error.message for error in _schemas()[document["schema"]].iter_errors(document)
            )
        for path, value in _facts(row.get("json", {}) | _members(row)):
            actual = look_up(document, path)
            if not _is(actual, _with_nulls(value)):
                yield f"{path} is {actual!r}, not {value!r}"


def _each(problem: str) -> list[str]:
    times = re.fullmatch(r"(\d+)× (.*)", problem)
    return [times[2]] * int(times[1]) if times else [problem]


def _members(row: Row) -> dict[str, Any]:
    key = "inputs.#" if isinstance(row.get("members"), int) else "inputs.*.member"
    return {key: row["members"]} if "members" in row else {}


def _facts(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _facts(value, f"{prefix}{key}.")
        else:
            yield prefix + key, value


def _with_nulls(value: Any) -> Any:
    return (
        [*map(_with_nulls, value)]
        if isinstance(value, list)
        else None
        if value == "null"
        else value
    )


def _is(actual: Any, value: Any) -> bool:
    """Whether a value is the row's; a sentence, whether it has its code and facts."""
    if isinstance(actual, list) and isinstance(value, list):
        return len(actual) == len(value) and all(map(_is, actual, value))
    if isinstance(actual, str) and isinstance(value, str) and value.startswith("# "):
        return says(actual, value[2:])
    return bool(actual == value)


def _wrong_files(row: Row, folder: Path) -> Iterator[str]:
    for name, texts in row.get("wrote", {}).items():
        path = folder / name
        if path.exists() != bool(texts):
            yield f"{name} {'exists' if path.exists() else 'does not exist'}"
        for text in texts if path.exists() else ():
            if not _has(path.read_text("utf-8"), text):
                yield f"not in {name}: {text!r}"


def _has(out: str, text: str) -> bool:
    if text.startswith("= "):
        return out == text[2:]
    if text.startswith("# "):
        return says(out, text[2:])
    return bool(re.search(text[2:], out, re.MULTILINE)) if text[:2] == "~ " else text in out


def read_document(command: str, out: str) -> Any:
    """What a command line printed as JSON; lines of JSON and rows of CSV are a list."""
    if "--format csv" in command:
        return [*csv.DictReader(StringIO(out))]
    if "--format jsonl" in command:
        return [json.loads(line) for line in out.splitlines()]
    return json.loads(out)


@cache
def _schemas() -> dict[str, Draft202012Validator]:
    paths = Path(kernelinfo.__path__[0]).rglob("*-schema.json")
    schemas = [json.loads(path.read_text("utf-8")) for path in paths]
    return {schema.get("$id", ""): Draft202012Validator(schema) for schema in schemas}


def _texts(row: Row, key: str) -> list[str]:
    texts = row.get(key, [])
    return [texts] if isinstance(texts, str) else texts


def look_up(document: Any, path: str) -> Any:
    """The value at a path of keys: `kernels.vgprbound.occupancy.waves_per_simd`.

    Of a list, a key is an index, the name, symbol, rule, code or path of an item (of the first that
    has it), `*` for all of them, or `#` for their number. A key may have dots. None where nothing
    is there.
    """
    if not path:
        return document
    key, _, rest = path.partition(".")
    if key == "#":
        return len(document)
    if key == "*":
        return [look_up(item, rest) for item in document]
    if isinstance(document, list):
        document = {str(index): item for index, item in enumerate(document)} | {
            str(item[name]): item
            for item in reversed(document)
            if isinstance(item, dict)
            for name in ("path", "code", "rule", "symbol", "name", "Symbol", "Kernel_Name")
            if name in item
        }
    for key in sorted(document if isinstance(document, dict) else (), key=len, reverse=True):
        if f"{path}.".startswith(f"{key}."):
            return look_up(document[key], path[len(key) + 1 :])
    return None
