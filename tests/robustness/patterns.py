"""Every regular expression of the program, and texts that would make it slow."""

from __future__ import annotations

import ast
import builtins
import importlib
import inspect
import re
import signal
import string
import time
from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path
from re import _compiler, _constants, _parser  # type: ignore[attr-defined]
from types import FrameType, ModuleType
from typing import Any, NamedTuple, NoReturn

import kernelinfo

PACKAGE = Path(kernelinfo.__file__).parent
GRAMMARS = "kernel_info", "mc_expression"
METHODS = {"match", "fullmatch", "search", "sub", "subn", "split", "findall", "finditer"}
_Methods = Sequence[tuple[str, str]]
"""Names of patterns and methods that are called by them."""
_ON_VARIABLES = {"match", "fullmatch", "search"}
"""Methods of patterns in tables, which are called by the name of a variable."""
_GIVEN = "abc"
"""Stands for text of a user or a file that a pattern is made with."""


_REPEATS = _constants.MAX_REPEAT, _constants.MIN_REPEAT, _constants.POSSESSIVE_REPEAT
_SINGLE = _constants.LITERAL, _constants.NOT_LITERAL, _constants.IN, _constants.ANY


class Use(NamedTuple):
    """A pattern and how the program applies it."""

    place: str
    pattern: re.Pattern[Any]
    method: str


class Uses(NamedTuple):
    """Patterns of the whole program."""

    found: list[Use]
    unknown: list[str]
    """Calls of `re` with a variable: place and source text."""


def patterns() -> Uses:
    """Constants of all modules, arguments of `re`'s functions, and the terminals of grammars."""
    sources = {path: path.read_text("utf-8") for path in sorted(PACKAGE.rglob("*.py"))}
    trees = {path: ast.parse(text) for path, text in sources.items()}
    public = [use for tree in trees.values() for use in _methods(tree) if use[0][:1] != "_"]
    found: list[Use] = []
    unknown: list[str] = []
    for path, tree in trees.items():
        if "\nimport re\n" in sources[path]:
            module, place = _module(path), str(path.relative_to(PACKAGE))
            constants = [*_constants_of(module, place, [*_methods(tree)], public)]
            arguments, variables = _arguments_of(module, place, tree)
            known = {use.pattern.pattern for use in constants}
            found += constants
            found += [use for use in arguments if use.pattern.pattern not in known]
            unknown += variables
    [grammar] = (path for path, text in sources.items() if "\ndef load_tables(" in text)
    for name in GRAMMARS:
        of_states, *_ = _module(grammar).load_tables(name)
        texts = filter(None, of_states)
        found += [Use(f"{name}.lark", re.compile(text), "match") for text in texts]
    return Uses([*dict.fromkeys(found)], unknown)


def _constants_of(module: ModuleType, place: str, own: _Methods, public: _Methods) -> Iterator[Use]:
    """Compiled patterns of a module, each with the methods that are called by its name. Patterns in
    a table are called by the name of some variable."""
    on_variables = {
        method
        for name, method in own
        if name and not hasattr(module, name) and method in _ON_VARIABLES
    }
    for name, value in vars(module).items():
        methods = _of(name, own) or _of(name, public) or on_variables or _ON_VARIABLES
        for pattern in _within(value):
            yield from (Use(f"{place} {name}", pattern, method) for method in sorted(methods))


def _arguments_of(module: ModuleType, place: str, tree: ast.Module) -> tuple[list[Use], list[str]]:
    """Patterns that a module gives to functions of `re`, and those that only a run tells."""
    local, found, unknown = _assigned(tree), list[Use](), list[str]()
    for call, method in _calls(tree):
        written, flags = _arguments(call, module)
        value = _value(local.get(_name(written), written), module)
        for text in _texts(value):
            found.append(Use(f"{place}:{call.lineno}", re.compile(text, flags), method))
        if value is None:
            unknown.append(f"{place}: {ast.unparse(written)}")
    return found, unknown


def _of(name: str, methods: _Methods) -> set[str]:
    return {method for called, method in methods if called == name}


def _arguments(call: ast.Call, module: ModuleType) -> tuple[ast.expr, int]:
    """Pattern as it is written, and flags, of a call of `re`."""
    assert isinstance(call.func, ast.Attribute)
    named = {one.arg: one.value for one in call.keywords if one.arg}
    given = inspect.signature(getattr(re, call.func.attr)).bind_partial(*call.args, **named)
    flags = given.arguments.get("flags")
    return given.arguments["pattern"], _value(flags, module) if flags else 0


def _module(path: Path) -> ModuleType:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    if parts[-1] == "__main__":
        return ModuleType("main")
    return importlib.import_module(".".join(part for part in parts if part != "__init__"))


def _methods(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """Name and method of `NAME.search`, `module.NAME.search` and `data.search(NAME)`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in METHODS:
            yield _name(node.value), node.attr
        if isinstance(node, ast.Call) and _name(node.func) in METHODS and node.args:
            name = _name(node.args[0])
            if name.isupper():
                yield name, _name(node.func)


def _assigned(tree: ast.AST) -> dict[str, ast.expr]:
    """Expressions that functions assign to names."""
    functions = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))
    inner = (node for one in functions for node in ast.walk(one) if isinstance(node, ast.Assign))
    return {_name(node.targets[0]): node.value for node in inner if _name(node.targets[0])}


def _name(node: ast.AST) -> str:
    return node.id if isinstance(node, ast.Name) else getattr(node, "attr", "")


def _calls(tree: ast.AST) -> Iterator[tuple[ast.Call, str]]:
    """Calls of `re`'s functions and the method: that of `re.compile(...).match` is `match`."""
    around = {id(inner): node for node in ast.walk(tree) for inner in ast.iter_child_nodes(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if _name(node.func.value) == "re" and node.func.attr in METHODS:
                yield node, node.func.attr
            elif _name(node.func.value) == "re" and node.func.attr == "compile":
                outer = around[id(node)]
                name = _name(outer.func if isinstance(outer, ast.Call) else outer)
                names = {name} & METHODS
                if isinstance(outer, ast.Assign):
                    names = _of(_name(outer.targets[0]), [*_methods(tree)])
                for method in names or {"search"}:
                    yield node, method


def _value(node: ast.expr, module: ModuleType) -> Any:
    """Value of an expression of constants; None for a variable."""
    known = vars(module).keys() | set(dir(builtins))
    if isinstance(node, ast.Subscript):
        return _value(node.value, module)
    if isinstance(node, ast.Name) and node.id not in known:
        return None
    names = {one.id for one in ast.walk(node) if isinstance(one, ast.Name)} - known
    for given in (_GIVEN, _GIVEN.encode()):
        try:
            return eval(ast.unparse(node), vars(module) | dict.fromkeys(names, given))
        except (TypeError, AttributeError):
            continue
    return None


def _texts(value: Any) -> Iterator[str | bytes]:
    """Patterns as they are written: the value itself, or those of a table."""
    if isinstance(value, str | bytes):
        yield value
    elif isinstance(value, dict):
        yield from value.values()


def _within(value: Any, depth: int = 3) -> Iterator[re.Pattern[Any]]:
    """Patterns of a constant, which may be a table of them."""
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, dict):
        yield from _within(tuple(value.values()), depth)
    elif isinstance(value, tuple | list | frozenset | set) and depth:
        for one in value:
            yield from _within(one, depth - 1)


_ENDS = "", "\0", "\n!"
"""Behind the repeated part: nothing, or what few patterns expect."""
_LINEAR = 8
"""Fewer times as long for a text four times as long: linear is 4, quadratic is 16."""
_SHORTEST, _LONGEST = 125, 32_000
"""Characters. A quadratic pattern takes half a second for the longest text, or more."""
_LEAST_SECONDS, _MOST_SECONDS = 0.02, 2.0
"""Processor time: a shorter run says nothing of growth, a longer one is slow beyond doubt."""
_TRIES = 2
"""Further runs of a text that seems slow, of which the shortest counts: other programs disturb."""
_MANY = 200
"""Repeats of no more than this are no danger."""
_LIKELY = " \ta0_\"'[/*;:=.-<(){}#$@,x\\\n" + string.printable + "\0\x94"
_SAMPLES = 3


class Attack(NamedTuple):
    """A text of any length that may take a pattern long."""

    begin: str
    repeated: str
    end: str

    def text(self, size: int, like: str | bytes) -> Any:
        """Text of about that many characters, or bytes if the pattern is of bytes."""
        text = self.begin + self.repeated * (size // len(self.repeated)) + self.end
        return text if isinstance(like, str) else text.encode("latin-1", "replace")


class Slow(NamedTuple):
    """An attack that succeeds."""

    attack: Attack
    size: int
    times: float
    """How many times as long as for a quarter of the size."""


def slow(use: Use) -> Slow | None:
    """The first text that takes the pattern more than a time in proportion to its size."""
    return next(filter(None, (_growth(use, attack) for attack in _attacks(use.pattern))), None)


def _growth(use: Use, attack: Attack) -> Slow | None:
    size, before = _SHORTEST, _seconds(use, attack, _SHORTEST)
    if before >= _MOST_SECONDS:
        return Slow(attack, size, float("inf"))
    while size < _LONGEST:
        size, shorter = size * 4, before
        before = _seconds(use, attack, size)
        if before > max(_LEAST_SECONDS, _LINEAR * shorter):
            most = min(before, *(_seconds(use, attack, size) for _ in range(_TRIES)))
            least = min(shorter, *(_seconds(use, attack, size // 4) for _ in range(_TRIES)))
            if most > max(_LEAST_SECONDS, _LINEAR * least):
                return Slow(attack, size, most / least)
    return None


def _seconds(use: Use, attack: Attack, size: int) -> float:
    """Processor time of one try, at most `_MOST_SECONDS`."""
    text = attack.text(size, use.pattern.pattern)
    apply = getattr(use.pattern, use.method)
    given = (text[:0], text) if use.method in ("sub", "subn") else (text,)
    before = signal.signal(signal.SIGVTALRM, _stop)
    start = time.thread_time()
    signal.setitimer(signal.ITIMER_VIRTUAL, _MOST_SECONDS)
    try:
        found = apply(*given)
        if use.method == "finditer":
            deque(found, maxlen=0)
        return time.thread_time() - start
    except TimeoutError:
        return _MOST_SECONDS
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def _stop(signal: int, frame: FrameType | None) -> NoReturn:
    raise TimeoutError


def _attacks(pattern: re.Pattern[Any]) -> list[Attack]:
    """Each repeat of a pattern behind what reaches it, and what begins the pattern, repeated."""
    tree = _parser.parse(pattern.pattern, pattern.flags & ~re.DEBUG)
    found: dict[tuple[str, str], None] = {}
    for parts in _ways(tree.state, list(tree)):
        firsts = [part.samples[0] for part in parts]
        for first, part in enumerate(parts):
            if part.is_repeated:
                before = "".join(firsts[:first])
                for repeated in (
                    *part.samples,
                    *("".join(firsts[first:last]) for last in range(first + 2, first + 4)),
                    before + firsts[first],
                ):
                    found[before, repeated] = None
    return [Attack(*one, end) for one in found for end in _ENDS]


class _Part(NamedTuple):
    """A character of a pattern."""

    samples: list[str]
    is_repeated: bool


def _ways(state: Any, nodes: list[Any], *, is_repeated: bool = False) -> Iterator[list[_Part]]:
    """Parts of each way through a pattern."""
    parts: list[_Part] = []
    for kind, value in nodes:
        inside = _inside(kind, value)
        if kind in _SINGLE:
            parts.append(_Part(_characters(state, (kind, value)), is_repeated))
        elif inside:
            many = is_repeated or (kind in _REPEATS and value[1] > _MANY)
            *others, last = (
                way for one in inside for way in _ways(state, list(one), is_repeated=many)
            )
            yield from ([*parts, *way] for way in others)
            parts += last
    yield parts


def _inside(kind: Any, value: Any) -> Sequence[Any]:
    """The alternatives that a node consists of."""
    if kind == _constants.BRANCH:
        return value[1]  # type: ignore[no-any-return]
    if kind in _REPEATS:
        return [value[2]]
    if kind == _constants.SUBPATTERN:
        return [value[3]]
    return [value] if kind == _constants.ATOMIC_GROUP else []


def _characters(state: Any, node: tuple[Any, Any]) -> list[str]:
    """A few characters that a node matches."""
    if node[0] == _constants.LITERAL:
        return [chr(node[1])]
    alone = _compiler.compile(_parser.SubPattern(state, [node]), state.flags)
    is_text = isinstance(state.str, str)
    every = dict.fromkeys(_LIKELY)
    found = [one for one in every if alone.match(one if is_text else one.encode("latin-1"))]
    return found[:_SAMPLES] or ["\0"]
