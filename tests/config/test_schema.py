"""The schema of the configuration says the same as the validation."""

from __future__ import annotations

import json
import re
import tomllib
from contextlib import nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from kernelinfo import ConfigError, read_config
from tests.schemas.tables import configuration

SCHEMA = configuration()
PAGE = Path(__file__).parents[2] / "kernelinfo" / "manual" / "gate.md"
VALIDATOR = Draft202012Validator(SCHEMA)


def test_every_key_is_described() -> None:
    def described(table: dict[str, Any]) -> list[str]:
        inner = [table, table.get("items", {})]
        keys = {name: key for one in inner for name, key in one.get("properties", {}).items()}
        return [key["description"] for key in keys.values()] + [
            text for key in keys.values() for text in described(key)
        ]

    texts = described(SCHEMA)
    assert len(texts) > 20
    assert all(text.endswith(".") for text in texts)


def toml(value: object) -> str:
    """A value as TOML, inline."""
    if isinstance(value, dict):
        return (
            f"{{ {', '.join(f'{json.dumps(key)} = {toml(one)}' for key, one in value.items())} }}"
        )
    if isinstance(value, list):
        return f"[{', '.join(map(toml, value))}]"
    return json.dumps(value)


def accepts(document: dict[str, object]) -> bool:
    """Whether the command would take this as its configuration; TOML has no null."""
    text = "\n".join(f"{json.dumps(key)} = {toml(value)}" for key, value in document.items())
    with TemporaryDirectory() as folder:
        (file := Path(folder, "kernelinfo.toml")).write_text(text, "utf-8")
        try:
            read_config(file)
        except ConfigError:
            return False
    return True


def test_the_example_of_the_readme_is_valid() -> None:
    (text,) = re.findall(r"```toml\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    document = tomllib.loads(text)
    assert document["budget"]
    assert document["suppress"]
    VALIDATOR.validate(document)
    assert accepts(document)


ACCEPTED: list[dict[str, object]] = [
    {},
    {"budget": [{"vgpr": 64}]},
    {"budget": [{"waves": ">=2", "scratch": 0, "vgpr": 12.5, "occupancy": "== 50"}]},
    {"gate": {"vgpr": "off", "scratch": "+5%", "waves-lost": 1}},
    {"suppress": [{"rule": "KI1", "kernel": "*", "reason": "so", "until": "2027-03-31"}]},
    {"workgroup-size": {"re:a+": 256}, "expect": {"min-kernels": 0}},
]
REFUSED: list[dict[str, object]] = [
    {"path": []},
    {"paths": "build"},
    {"paths": [1]},
    {"fail-on": "never"},
    {"strict-baseline": 1},
    {"expect": {"min-kernels": -1}},
    {"expect": {"min-kernels": True}},
    {"expect": 3},
    {"budget": {"waves": 2}},
    {"budget": [{}]},
    {"budget": [{"kernel": "gemm", "target": "gfx90a"}]},
    {"budget": [{"waves": ">2"}]},
    {"budget": [{"waves": -1}]},
    {"budget": [{"waves": []}]},
    {"budget": [{"wave": 1}]},
    {"gate": {"vgpr": "8 %!"}},
    {"gate": {"waves": 1}},
    {"gate": {"toolchain-change": "ignore"}},
    {"suppress": [{"rule": "KI101", "kernel": "*"}]},
    {"suppress": [{"rule": "KI101", "kernel": "*", "reason": "so", "until": "tomorrow"}]},
    {"suppress": [{"rule": "KI101", "kernel": "*", "reason": "so", "until": "20270331"}]},
    {"workgroup-size": {"a": 0}},
    {"workgroup-size": {"a": "256"}},
    {"severity": {"KI101": "loud"}},
]


def test_both_say_the_same() -> None:
    for document in ACCEPTED:
        VALIDATOR.validate(document)
        assert accepts(document), document
    for document in REFUSED:
        assert not VALIDATOR.is_valid(document), document
        assert not accepts(document), document


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 300) | st.text("KI1>=<%+ off2", max_size=6),
    lambda inside: (
        st.lists(inside, max_size=2)
        | st.dictionaries(
            st.sampled_from(
                ["paths", "budget", "waves", "vgpr", "gate", "expect", "min-kernels", "x"]
            ),
            inside,
            max_size=3,
        )
    ),
    max_leaves=6,
)


@given(st.dictionaries(st.sampled_from([*SCHEMA["properties"]]), JSON, max_size=3))
def test_what_the_schema_refuses_is_refused(document: dict[str, object]) -> None:
    """The reverse does not hold: whether a rule or a target exists the schema does not know."""
    if not VALIDATOR.is_valid(document):
        assert not accepts(document)


def test_a_day_is_a_day_in_either_spelling(tmp_path: Path) -> None:
    for until, is_day in (
        ("2027-03-31", True),
        ('"2027-03-31"', True),
        ("2027-03-31T12:00:00", False),
        ("12:00:00", False),
        ('"2027-02-30"', False),
    ):
        (file := tmp_path / "kernelinfo.toml").write_text(
            f'[[suppress]]\nrule = "KI1"\nkernel = "*"\nreason = "so"\nuntil = {until}\n'
        )
        with nullcontext() if is_day else pytest.raises(ConfigError):
            read_config(file)
