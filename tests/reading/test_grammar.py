"""The tables parse as Lark does, which made them; and what the grammars say is what is read."""

from __future__ import annotations

import csv
import re
import shutil
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import needs_checkout

from .by_lark import GRAMMARS, assert_read_as_by_lark, line_by_lark, make_lark, value_by_lark
from .inside import (
    MOST_TOKENS,
    Call,
    NoMatch,
    StatedValue,
    load_tables,
    make_tables,
    parse,
    read_line,
    read_terms,
)


def test_every_comment_is_read_as_by_lark(texts: list[bytes]) -> None:
    lines = {line for text in texts for line in text.splitlines() if b";" in line}
    fields = 0
    for line in {line[line.find(b";") :] for line in lines}:
        read = read_line(line)
        assert read == line_by_lark(line), line
        fields += isinstance(read, StatedValue)
    assert fields > 300


def test_every_expression_is_read_as_by_lark(texts: list[bytes]) -> None:
    values = re.compile(r"\.set[ \t]+[^,\n]*,(.*)|\.amdhsa_\w+[ \t]+(.*)|; \w+ ?[:=] (.*)")
    found = (values.findall(text.decode("utf-8", "replace")) for text in texts)
    expressions = {value.rstrip("\r") for groups in found for group in groups for value in group}
    assert sum(isinstance(read_terms(expression)[-1], Call) for expression in expressions) > 50
    for expression in expressions:
        assert_read_as_by_lark(expression)


def joined(*pieces: str) -> st.SearchStrategy[str]:
    """The pieces in any number and order: what a grammar describes, and what it does not."""
    return st.lists(st.sampled_from(pieces), max_size=12).map("".join)


OPERANDS = ("1", "0x1F", "0b11", "09", "a", "k.num_vgpr", ".L$x@1?", '"a b"', r'"a\"b"', "é2", "²")
OPERATORS = ("||", "&&", "==", "<>", "<=", "<", ">>", "+", "-", "|", "!", "^", "&", "*", "/", "%")
EXPRESSIONS = st.recursive(
    st.sampled_from(OPERANDS),
    lambda inner: (
        st.builds("{}{}{}".format, inner, st.sampled_from(OPERATORS), inner)
        | st.builds("{}{} ".format, st.sampled_from("-~!+"), inner)
        | st.builds("( {})/*x*/".format, inner)
        | st.lists(inner, max_size=4).map(lambda each: f"max({', '.join(each)})")
    ),
)


@given(EXPRESSIONS | joined(*OPERANDS, *OPERATORS, *"(),~ \n;\\'", "/*", "*/", "//", "max("))
def test_generated_expressions(expression: str) -> None:
    assert_read_as_by_lark(expression)


@given(
    joined(*"; \t\r\n:=_aB²é(", "; ", "Kernel", "NumVgprs", ": ", " = ", ":A_B", "info:", "41")
    | joined("; ", "A:B", ": ", "41", "max(a, 1)", " bytes", " bytes/x y", " bytesize", " ", "\r")
)
def test_generated_lines(line: str) -> None:
    assert read_line(line.encode()) == line_by_lark(line.encode())


ANY = {
    "options, repetitions and lists": (
        """
        start: item*
        item: WORD ["=" value] ";" | "(" item+ ")" -> group | nothing "!"
        ?value: WORD | _words | value "?" WORD
        _words: "[" WORD ("," WORD)* "]"
        nothing:
        WORD: /[a-c]+/
        %ignore " "
        """,
        joined("a", "=", ";", "a;", "a=[b,c];", "b=a?c;", "(", ")", "(a;)", "!", "[a]", "?", " "),
    ),
    "chains with and without a single part": (
        """
        ?start: sum
        ?sum: product (SIGN product)*
        ?product: product "*" power | power
        ?power: atom "^" power | atom atom -> pair | "~" atom | atom
        !atom: "<" start ">" | NUMBER
        NUMBER: /[0-9]/
        SIGN: "+" | "-"
        """,
        joined("1", "2", "+", "1-", "*", "1^", "~", "<1>", "<1+2>*", "<", ">", "1*", "1+2^"),
    ),
    "terminals by priority, width and state": (
        """
        start: (name | NUMBER | two{name, NUMBER})+
        two{x, y}: "@" x y
        name: NAME | LONG | _UPPER
        NAME: /[ab]+/
        LONG.2: /a[ab]b(?=b)/
        _UPPER: "AB"i "!"
        NUMBER: /[0-9]+/ | /[0-9]+[.]/
        %ignore /[ ,]+/
        %ignore /#.*/
        """,
        joined("a", "b", "aabb", "abb", "Ab!", "AB", "1", "23.", ".", " ", ",", "@", "#1", "\n"),
    ),
}


class Trees(dict[str, Callable[..., object]]):
    """Makes every value a tree: a rule's name and its parts."""

    def __missing__(self, name: str) -> Callable[..., object]:
        return lambda *parts: (name, *parts)


def value_or_none(read: Callable[..., object], parser: object, text: str) -> object:
    try:
        return read(parser, text, Trees())
    except NoMatch:
        return None


@pytest.mark.parametrize(("grammar", "written"), ANY.values(), ids=ANY)
def test_any_grammar_makes_the_trees_that_lark_makes(
    grammar: str, written: st.SearchStrategy[str]
) -> None:
    lark, tables = make_lark(grammar), make_tables(grammar)
    trees = set()

    @settings(max_examples=300)
    @given(written)
    def same(text: str) -> None:
        tree = value_or_none(parse, tables, text)
        assert tree == value_or_none(value_by_lark, lark, text)
        trees.add(tree)

    same()
    assert len(trees) > 5


def test_a_quoted_word_that_another_terminal_matches_is_refused() -> None:
    """Lark settles those by a second look, which the tables do not have."""
    with pytest.raises(ValueError, match="NAME also match quoted words"):
        make_tables('start: "if" | NAME\nNAME: /[a-z]+/')


def test_nesting_needs_no_recursion_and_length_has_a_bound() -> None:
    deep = MOST_TOKENS // 2 - 1
    assert read_terms("(" * deep + "a" + ")" * deep) == ("a",)
    assert len(read_terms("-" * (MOST_TOKENS - 1) + "1")) == MOST_TOKENS
    assert read_terms("max(" + "1," * (deep - 1) + "1)")[-1] == Call("max", deep)
    for endless in ("(" * 1_000_000, "1+" * 1_000_000, "f(" * 1_000_000, "- " * 1_000_000):
        with pytest.raises(NoMatch) as error:
            parse(load_tables("mc_expression"), endless, Trees())
        assert error.value.is_too_long


@pytest.mark.parametrize(
    "line", ["; A: " + "b " * 500_000, "; A" + ":B" * 500_000, '; A: "' + r"\a" * 500_000 + '"']
)
def test_a_long_line_needs_no_memory_beyond_its_length(line: str) -> None:
    tracemalloc.start()
    read_line(line.encode())
    read_terms(line[5:])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 64 * len(line)


KERNEL = """
.amdgcn_target "amdgcn-amd-amdhsa--gfx90a"
k:
 s_endpgm
; Kernel info:
; NumSgprs: 20
; NumVgprs: 41
; LDSByteSize: 0 bytes/workgroup (compile time only)
"""


@needs_checkout
@pytest.mark.parametrize(
    ("name", "written", "changed", "line"),
    [
        ("kernel_info", "_SEPARATOR: /[:=]/", "_SEPARATOR: /[:=~]/", "; ScratchSize ~ 16"),
        ("mc_expression", r"/(;|\/\/).*/", r"/(;|\/\/|#).*/", "; ScratchSize: 16 # bytes"),
    ],
)
def test_who_changes_a_grammar_changes_the_tool(
    name: str, written: str, changed: str, line: str, tmp_path: Path
) -> None:
    shutil.copytree(GRAMMARS.parent / "kernelinfo", tmp_path / "kernelinfo")
    shutil.copytree(GRAMMARS, tmp_path / "grammars")
    (tmp_path / "k.s").write_text(KERNEL + line + "\n")
    grammar = tmp_path / "grammars" / f"{name}.lark"
    text = grammar.read_text("utf-8")
    assert written in text

    def scratch() -> str:
        run = [sys.executable, "-m", "kernelinfo", "k.s", "--format", "csv"]
        done = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True)
        (row,) = csv.DictReader(done.stdout.splitlines())
        return row["Scratch_Size"]

    assert scratch() == ""
    grammar.write_text(text.replace(written, changed), "utf-8")
    assert scratch() == "16"
