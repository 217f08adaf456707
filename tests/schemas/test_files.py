"""The schemas of the package are those that are made, and describe every key."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import kernelinfo

from .files import schemas
from .generator import text

PACKAGE = Path(kernelinfo.__path__[0])
SCHEMAS = schemas()


def test_there_is_no_other_schema() -> None:
    files = {path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*-schema.json")}
    assert files == SCHEMAS.keys()


@pytest.mark.parametrize("name", SCHEMAS)
def test_the_files_are_current(name: str, regenerate: bool) -> None:
    file = PACKAGE / name
    if regenerate:
        file.write_text(text(SCHEMAS[name]), "utf-8")
    assert file.read_text("utf-8") == text(SCHEMAS[name])
    Draft202012Validator.check_schema(json.loads(file.read_text("utf-8")))


@pytest.mark.parametrize("name", SCHEMAS)
def test_every_key_is_described(name: str) -> None:
    pending: list[Any] = [SCHEMAS[name]]
    while pending:
        node = pending.pop()
        for key, value in node.get("properties", {}).items():
            assert value["description"][-1] == ".", key
        pending += [value for value in node.values() if isinstance(value, dict)]
