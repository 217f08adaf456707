"""Lines of keys, as mistakes name them: the right one or none."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelinfo import ConfigError, read_config

from ..calls import count_calls

TEXT = '''\
# a comment
pathz = ["a",
  "b"]           # goes on
"fail on" = "error"
expect.mini = 3
severity = { KI9 = "note", "KI8" = "error" }

[[budget]]
kernelz = """
waves = 3
[gate]
"""
wave = 2
  [[ "budget" ]]  # the second
  'wave' = 3
[gate]
"sax[py]*" = 256
[budget.inner]
x = 1
[[budget]]
lanes = 3
'''


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("lines") / "kernelinfo.toml"


def lines_of(text: str, file: Path) -> dict[str, int | None]:
    """Key → line, of the keys that nobody knows."""
    file.write_text(text, "utf-8")
    with pytest.raises(ConfigError) as raised:
        read_config(file)
    keys = re.findall(r"kernelinfo\.toml:(?:(\d+):)? (.*?): ", str(raised.value))
    return {key: int(line) if line else None for line, key in keys}


def test_every_key_that_can_be_told(file: Path) -> None:
    assert lines_of(TEXT, file) == {
        "pathz": 2,
        "fail on": 4,
        "expect.mini": 5,
        "severity.KI9": 6,
        "severity.KI8": 6,
        "budget[0].kernelz": 9,
        "budget[0].wave": 13,
        "budget[1].wave": 15,
        "gate.sax[py]*": 17,
        "budget[1].inner": 18,
        "budget[2].lanes": 21,
    }


def test_inside_a_value_of_several_lines_there_is_none(file: Path) -> None:
    text = 'budget = [\n  { kern = "a", vgpr = 1 },\n  { kern = "b", vgpr = 1 },\n]\n'
    assert lines_of(text, file) == {"budget[0].kern": None, "budget[1].kern": None}


def test_a_long_value_takes_work_in_proportion_to_its_length(file: Path) -> None:
    def read(count: int) -> None:
        paths = '  "build/kernel.s", # one of many ]\n' * count
        assert lines_of(f"paths = [\n{paths}]\nlast = 'error'\n", file) == {"last": count + 3}

    assert count_calls(lambda: read(4000)) < 4.5 * count_calls(lambda: read(1000))


def test_the_line_behind_any_string_is_right(file: Path) -> None:
    values = ['""""q""""', '"""""q""\n"""', "''''q]'''", r'"a\"]"', '"""\\""""""', "[ # ]\n1]"]
    for value in [*values, "'\\'"]:
        text = f'a = {value} # "\nb = 1\n'
        assert lines_of(text, file)["b"] == text.count("\n"), value


KEYS = st.sampled_from(["a", "b", '"c d"', "'e'", '"["', '"#"'])
VALUES = st.sampled_from(["1", '"x"', "[1,\n2]", '"""\n[[a]]\n"""', "{ a = 1 }", "'''\n\n#'''"])


@given(st.lists(st.tuples(KEYS, VALUES), min_size=1, unique_by=lambda pair: pair[0]), st.booleans())
def test_the_key_is_on_its_line(file: Path, pairs: list[tuple[str, str]], in_array: bool) -> None:
    head = ["[[budget]]", "vgpr = 1", "# = ["] if in_array else []
    text = "\n".join([*head, *(f"{key} = {value}" for key, value in pairs)])
    lines, rows = lines_of(text, file), text.split("\n")
    for key, _ in pairs:
        (name,) = tomllib.loads(f"{key} = 0")
        line = lines[f"budget[0].{name}" if in_array else name]
        assert line
        assert rows[line - 1].startswith(f"{key} = ")
