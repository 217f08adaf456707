"""Every sentence for users stands in the table of its room, with a code; `--regen` lists them."""

from __future__ import annotations

import ast
import pickle
import re
from collections import Counter
from collections.abc import Iterator
from importlib import import_module
from inspect import getsource
from pathlib import Path
from string import Formatter

from kernelinfo import errors
from kernelinfo.rules import RULES

from .test_golden import compare
from .test_house import MODULES, PACKAGE, nodes, place

TABLES: dict[str, dict[str, str]] = {
    path.relative_to(PACKAGE).parts[0].removesuffix(".py"): import_module(
        ".".join(("kernelinfo", *path.relative_to(PACKAGE).with_suffix("").parts))
    ).MESSAGES
    for path in sorted((PACKAGE / "errors.py", *PACKAGE.glob("*/messages.py")))
}
"""Room → code → sentence."""
ERRORS = [
    name
    for name, kind in vars(errors).items()
    if isinstance(kind, type) and kind.__module__ == errors.__name__
]
TELLING = {*ERRORS, "Problem", "problem", "Note", "ReadWarning", "warn", "finding"}
"""Names of what takes a sentence."""


def facts_in(sentence: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(sentence) if name}


def room(module: Path) -> str:
    return place(module).partition("/")[0].removesuffix(".py")


def calls(module: Path) -> Iterator[tuple[str, ast.Call]]:
    """(name of the function or method, call) of each call in a file."""
    for node in nodes(module):
        if isinstance(node, ast.Call):
            yield ast.unparse(node.func).rpartition(".")[2], node


def literals(node: ast.expr) -> list[ast.expr]:
    """The strings that an expression may be: itself, or both sides of a condition."""
    return [*literals(node.body), *literals(node.orelse)] if isinstance(node, ast.IfExp) else [node]


def test_all_messages(regenerate: bool) -> None:
    messages = [message for table in TABLES.values() for message in table.items()]
    lines = [f"{code}\t{text}".replace("\n", "\\n") for code, text in messages]
    compare("messages.txt", "\n".join(lines) + "\n", regenerate)


def test_a_code_is_short_and_means_one_sentence() -> None:
    codes = Counter(code for table in TABLES.values() for code in table)
    assert [code for code, count in codes.items() if count > 1] == []
    form = r"(KI\d{3}|[a-z][a-z0-9]*)(-[a-z0-9]+)*"
    assert [code for code in codes if not re.fullmatch(form, code)] == []
    assert [code for code in codes if len(code) > 32] == []


def test_a_message_keeps_its_code_in_other_processes() -> None:
    error = errors.ReadError(errors.say("bug", error="{}"))
    assert pickle.loads(pickle.dumps(error)).message.code == "bug"


def test_each_sentence_is_said_with_its_facts() -> None:
    """`remark` also says the advice to a sentence."""
    said: dict[str, set[str]] = {name: set() for name in TABLES}
    for module in MODULES:
        for name, call in calls(module):
            if name not in ("say", "remark"):
                continue
            table = TABLES[room(module)]
            where = f"{place(module)}:{call.lineno}"
            facts = {keyword.arg for keyword in call.keywords}
            for code in literals(call.args[name == "remark"]):
                written = ast.literal_eval(code)
                mend = {f"{written}-mend"} & {*table} if name == "remark" else set()
                assert written in table, where
                assert facts == set().union(*(facts_in(table[one]) for one in {written, *mend})), (
                    where
                )
                said[room(module)] |= {written, *mend}
    assert {name: set(TABLES[name]) - codes for name, codes in said.items()} == {
        name: set() for name in TABLES
    }


def test_a_rule_says_its_own_sentences() -> None:
    for rule in RULES:
        numbers = re.findall(r'"(KI\d{3})', getsource(rule.check))
        assert {*numbers} <= {rule.number}, rule.name


def test_no_sentence_stands_elsewhere() -> None:
    offenders = []
    for module in MODULES:
        for name, call in calls(module):
            values = (*call.args, *(keyword.value for keyword in call.keywords))
            if name in TELLING and any(map(is_sentence, values)):
                offenders.append(f"{place(module)}:{call.lineno}")
    assert offenders == []


def is_sentence(value: ast.expr) -> bool:
    """Whether a string is written there, and has more than one word."""
    texts = [
        part.value
        for text in literals(value)
        for part in (text.values if isinstance(text, ast.JoinedStr) else (text,))
        if isinstance(part, ast.Constant) and isinstance(part.value, str)
    ]
    return " " in "".join(texts).strip()
