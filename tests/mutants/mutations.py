"""Small mutations of the product: where each one is, and how it is written down."""

from __future__ import annotations

import ast
import json
import warnings
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from itertools import islice, zip_longest
from pathlib import Path
from typing import NamedTuple

_COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Lt: "<=",
    ast.LtE: "<",
    ast.Gt: ">=",
    ast.GtE: ">",
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.Is: "is not",
    ast.IsNot: "is",
    ast.In: "not in",
    ast.NotIn: "in",
}
_ARITHMETIC: dict[type[ast.operator], str] = {
    ast.Add: "-",
    ast.Sub: "+",
    ast.Mult: "//",
    ast.FloorDiv: "*",
}
_Function = ast.FunctionDef | ast.AsyncFunctionDef


class Mutant(NamedTuple):
    """One change of whole lines of one file."""

    file: str  # below the root, with slashes
    old: str  # whole lines
    new: str
    nth: int = 0  # how many equal pieces of text stand before it

    def mutated(self, text: str) -> str | None:
        """The file's text with the change; None if the old text is not in it."""
        start = self._start(text)
        return None if start is None else text[:start] + self.new + text[start + len(self.old) :]

    def line(self, text: str) -> int:
        """Number of the first line that differs, from 1; 0 if the old text is not there."""
        start = self._start(text)
        return 0 if start is None else text.count("\n", 0, start) + 1

    def _start(self, text: str) -> int | None:
        start = -1
        for _ in range(self.nth + 1):
            start = text.find(self.old, start + 1)
            if start < 0:
                return None
        return start


class _Change(NamedTuple):
    kind: str
    first: ast.AST  # the text from its end …
    last: ast.AST  # … to the begin of this; of one node alone: its own text
    new: str


def mutants_of(file: str, text: str) -> dict[str, list[Mutant]]:
    """All mutants of a module by kind. Only bodies of functions are changed.

    Documentation, annotations and pieces of f-strings stay as they are.
    """
    data = text.encode()
    starts = [0]
    for line in data.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    found: dict[str, list[Mutant]] = {}
    for change in _changes(ast.parse(text), text):
        begin, end = _span(change, starts)
        between = data[begin:end].decode()
        if change.first is not change.last and ({*between} & {*"()#\n"}):
            continue
        top = data.rfind(b"\n", 0, begin) + 1
        bottom = data.find(b"\n", end) + 1 or len(data)
        old = data[top:bottom].decode()
        new = (data[top:begin] + change.new.encode() + data[end:bottom]).decode()
        before = data[:top].decode()
        mutant = Mutant(file, old, new, _count(before, old))
        found.setdefault(change.kind, []).append(mutant)
    return found


def function_of(text: str, line: int) -> str:
    """Qualified name of the function around a line, as code objects have it."""
    name, most = "", 0
    for qualified, function in _functions(ast.parse(text).body, ""):
        if most < function.lineno <= line <= (function.end_lineno or 0):
            name, most = qualified, function.lineno
    return name


def choose(root: Path, files: Iterable[str], count: int, seed: int) -> list[Mutant]:
    """`count` mutants, as many of each kind, chosen by the seed.

    A mutant has its own number by the seed, so that a change of the product changes few of them.
    """
    ranked: dict[str, list[tuple[bytes, Mutant]]] = {}
    texts = {file: (root / file).read_text("utf-8") for file in files}
    for file, text in texts.items():
        for kind, mutants in mutants_of(file, text).items():
            ranked.setdefault(kind, []).extend((_rank(mutant, seed), mutant) for mutant in mutants)
    turns = zip_longest(*(sorted(ranked[kind]) for kind in sorted(ranked)))
    found = (one[1] for turn in turns for one in turn if one)
    valid = (mutant for mutant in found if _is_valid(mutant.mutated(texts[mutant.file])))
    return [*islice(valid, count)]


def _rank(mutant: Mutant, seed: int) -> bytes:
    return sha256(f"{seed} {mutant}".encode()).digest()


def load(path: Path) -> list[Mutant]:
    """The mutants of a saved list."""
    return [Mutant(**entry) for entry in json.loads(path.read_text("utf-8"))]


def save(path: Path, mutants: Iterable[Mutant]) -> None:
    """Write a list for `load`."""
    entries = [mutant._asdict() for mutant in mutants]
    path.write_text(json.dumps(entries, indent=1, ensure_ascii=False) + "\n", "utf-8")


def _count(text: str, piece: str) -> int:
    """How often a piece begins in the text, overlaps included, as `Mutant.mutated` counts."""
    count, start = 0, text.find(piece)
    while start >= 0:
        count, start = count + 1, text.find(piece, start + 1)
    return count


def _is_valid(text: str | None) -> bool:
    """True for a text that Python compiles without a warning."""
    if text is None:
        return False
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            compile(text, "mutant", "exec", dont_inherit=True)
        except SyntaxError:
            return False
    return True


def _span(change: _Change, starts: Sequence[int]) -> tuple[int, int]:
    """Bytes of the file that the change replaces."""

    def begin(node: ast.AST) -> int:
        return starts[node.lineno - 1] + int(node.col_offset)  # type: ignore[attr-defined]

    def end(node: ast.AST) -> int:
        return starts[node.end_lineno - 1] + int(node.end_col_offset)  # type: ignore[attr-defined]

    if change.first is change.last:
        return begin(change.first), end(change.first)
    if change.kind == "not":
        return begin(change.first), begin(change.last)
    return end(change.first), begin(change.last)


def _functions(body: Iterable[ast.AST], prefix: str) -> Iterator[tuple[str, _Function]]:
    for node in body:
        if isinstance(node, _Function):
            name = f"{prefix}{node.name}"
            yield name, node
            yield from _functions(node.body, f"{name}.<locals>.")
        elif isinstance(node, ast.ClassDef):
            yield from _functions(node.body, f"{prefix}{node.name}.")
        else:
            yield from _functions(ast.iter_child_nodes(node), prefix)


def _changes(module: ast.Module, text: str) -> Iterator[_Change]:
    left_alone: set[int] = set()
    for node in ast.walk(module):
        parts: list[ast.AST | None] = []
        if isinstance(node, ast.JoinedStr):
            parts.append(node)
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            parts.append(node)  # documentation
        elif isinstance(node, _Function):
            parts += [node.returns, *node.decorator_list]
        elif isinstance(node, ast.arg | ast.AnnAssign):
            parts.append(node.annotation)
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in ("cast", "TypeVar"):
            parts.append(node.args[0])
        left_alone |= {id(inner) for part in parts if part for inner in ast.walk(part)}
    seen: set[int] = set()
    for _, function in _functions(module.body, ""):
        for statement in function.body:
            for node in ast.walk(statement):
                if id(node) not in left_alone | seen:
                    yield from _changes_of(node, text)
                seen.add(id(node))


def _changes_of(node: ast.AST, text: str) -> Iterator[_Change]:
    match node:
        case ast.Compare(left=left, ops=[operator], comparators=[right]):
            yield _Change("comparison", left, right, f" {_COMPARISONS[type(operator)]} ")
        case ast.BoolOp(op=joint, values=[left, right]):
            yield _Change("and/or", left, right, " or " if isinstance(joint, ast.And) else " and ")
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield _Change("not", node, operand, "")
        case ast.BinOp(left=left, op=sign, right=right) if type(sign) in _ARITHMETIC:
            yield _Change("arithmetic", left, right, f" {_ARITHMETIC[type(sign)]} ")
        case ast.If(test=test) if not any(isinstance(n, ast.NamedExpr) for n in ast.walk(test)):
            yield _Change("branch", test, test, "False")
        case ast.IfExp(test=test, body=body, orelse=other):
            parts = (ast.get_source_segment(text, part) for part in (other, test, body))
            yield _Change("result", node, node, "{} if {} else {}".format(*parts))
        case ast.Constant(value=bool(value)):
            yield _Change("result", node, node, str(not value))
        case ast.Constant(value=int(number)):
            yield _Change("number", node, node, str(number + 1))
        case ast.Constant(value=str(string)) if len(string) > 2:
            written = ast.get_source_segment(text, node) or ""
            if written[:1] in ("'", '"') and "\n" not in written:
                yield _Change("string", node, node, f"{written[0]}X{written[1:]}")
