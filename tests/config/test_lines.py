"""Lines of keys: the right one or none."""

from __future__ import annotations

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelinfo.config.lines import lines_of

from ..calls import count_calls

TEXT = '''\
# a comment
paths = ["a",
  "b"]           # goes on
"fail-on" = "error"
expect.min-kernels = 3
severity = { KI201 = "note", "KI1" = "error" }

[[budget]]
kernel = """
waves = 3
[gate]
"""
waves = 2
  [[ "budget" ]]  # the second
  'waves' = 3
[workgroup-size]
"sax[py]*" = 256
[budget.inner]
x = 1
'''


def test_every_key_that_can_be_told() -> None:
    assert lines_of(TEXT) == {
        ("paths",): 2,
        ("fail-on",): 4,
        ("expect",): 5,
        ("expect", "min-kernels"): 5,
        ("severity",): 6,
        ("severity", "KI201"): 6,
        ("severity", "KI1"): 6,
        ("budget",): 8,
        ("budget", 0): 8,
        ("budget", 0, "kernel"): 9,
        ("budget", 0, "waves"): 13,
        ("budget", 1): 14,
        ("budget", 1, "waves"): 15,
        ("workgroup-size",): 16,
        ("workgroup-size", "sax[py]*"): 17,
        ("budget", 1, "inner"): 18,
        ("budget", 1, "inner", "x"): 19,
    }


def test_inside_a_value_of_several_lines_there_is_none() -> None:
    lines = lines_of('budget = [\n  { kernel = "a" },\n  { kernel = "b" },\n]\n')
    assert lines == {("budget",): 1}
    assert lines_of('budget = [{ kernel = "a" }]\n')["budget", 0, "kernel"] == 1


def test_a_long_value_takes_work_in_proportion_to_its_length() -> None:
    def read(count: int) -> None:
        paths = '  "build/kernel.s", # one of many ]\n' * count
        assert lines_of(f"paths = [\n{paths}]\nfail-on = 'error'\n")["fail-on",] == count + 3

    assert count_calls(lambda: read(4000)) < 4.5 * count_calls(lambda: read(1000))


@pytest.mark.parametrize(
    "value",
    ['""""q""""', '"""""q""\n"""', "''''q]'''", r'"a\"]"', '"""\\""""""', "[ # ]\n1]", "'\\'"],
)
def test_the_line_behind_any_string_is_right(value: str) -> None:
    text = f'a = {value} # "\nb = 1\n'
    assert lines_of(text)["b",] == text.count("\n")


def test_tables_inside_tables_of_arrays() -> None:
    text = "[a]\n[[a.b]]\n[[a.b]]\n[[a.b.c]]\nx = 1\n[[a.b.c]]\nx = 2\n"
    lines = lines_of(text)
    assert lines["a", "b", 1, "c", 0, "x"] == 5
    assert lines["a", "b", 1, "c", 1, "x"] == 7


KEYS = st.sampled_from(["a", "b", '"c d"', "'e'", '"["', '"#"'])
VALUES = st.sampled_from(["1", '"x"', "[1,\n2]", '"""\n[[a]]\n"""', "{ a = 1 }", "'''\n\n#'''"])


@given(st.lists(st.tuples(KEYS, VALUES), unique_by=lambda pair: pair[0]), st.booleans())
def test_the_key_is_on_its_line(pairs: list[tuple[str, str]], in_array: bool) -> None:
    head = ["[[z]]", "", "# = ["] if in_array else []
    text = "\n".join([*head, *(f"{key} = {value}" for key, value in pairs)])
    lines, rows = lines_of(text), text.split("\n")
    for key, _ in pairs:
        (name,) = tomllib.loads(f"{key} = 0")
        path = ("z", 0, name) if in_array else (name,)
        assert rows[lines[path] - 1].startswith(f"{key} = ")


@pytest.mark.parametrize("text", ["", "\n\n", "# nothing"])
def test_nothing(text: str) -> None:
    assert lines_of(text) == {}
