"""Help of the public API: every name says what it is, every number its unit."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from textwrap import dedent

import pytest

import kernelinfo

API = sorted(set(dir(kernelinfo)) - {"__version__"})
CLASSES = [name for name in API if inspect.isclass(getattr(kernelinfo, name))]

UNIT_IN_NAME = re.compile(
    r".*percent|waves|workgroups|simds|.*per_simd|.*bytes.*|.*spills|.*registers|.*instructions|"
    r"line|kernels?|offset|.*_workgroup_size"
)
"""Names that are their unit: waves, bytes, a line of text, a workgroup's size in workitems."""


@pytest.mark.parametrize("name", API)
def test_each_name_says_what_it_is(name: str) -> None:
    value = getattr(kernelinfo, name)
    first = (inspect.getdoc(value) or "").partition("\n")[0]
    assert first[:1].isupper(), first
    assert not first.startswith(f"{name}("), "the signature that a tuple gets by itself"


COUNTED = {
    *("vector", "matrix", "scalar", "loads", "stores", "atomics", "scalar_loads", "branches"),
    *("waits", "barriers", "copies", "other"),
}
"""Counts of instructions by class, which one sentence before them explains."""


def members(name: str) -> Iterator[tuple[str, str, str]]:
    """(name, type, help) of the fields, properties and methods that a class states itself."""
    text = dedent(inspect.getsource(getattr(kernelinfo, name)))
    (stated,) = ast.parse(text).body
    assert isinstance(stated, ast.ClassDef)
    lines = text.splitlines()
    for one, after in zip(stated.body, [*stated.body[1:], None], strict=True):
        if isinstance(one, ast.FunctionDef):
            kind = ast.unparse(one.returns) if one.returns else ""
            yield one.name, kind, ast.get_docstring(one) or ""
        elif isinstance(one, ast.AnnAssign):
            said = after.value if isinstance(after, ast.Expr) else None
            words = str(said.value) if isinstance(said, ast.Constant) else ""
            comment = lines[(one.end_lineno or 1) - 1].partition("#")[2]
            yield ast.unparse(one.target), ast.unparse(one.annotation), words or comment


@pytest.mark.parametrize("name", CLASSES)
def test_each_number_has_its_unit(name: str) -> None:
    for field, kind, help in members(name):
        is_number = re.fullmatch(r"(int|float)( \| None)?", kind) and not field.startswith("_")
        said = help or UNIT_IN_NAME.fullmatch(field) or field in COUNTED
        assert not is_number or said, f"{name}.{field}"


@pytest.mark.parametrize("name", CLASSES)
def test_each_method_has_its_help(name: str) -> None:
    for field, kind, help in members(name):
        is_method = callable(getattr(getattr(kernelinfo, name), field, None))
        is_property = isinstance(
            inspect.getattr_static(getattr(kernelinfo, name), field, None), property
        )
        if not field.startswith("_") and (is_method or is_property) and kind:
            assert help, f"{name}.{field}"
