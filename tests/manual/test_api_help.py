"""Help of the public API: every name says what it is, every number its unit."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from textwrap import dedent

import kernelinfo

API = sorted(set(dir(kernelinfo)) - {"__version__"})
CLASSES = [name for name in API if inspect.isclass(getattr(kernelinfo, name))]

UNIT_IN_NAME = re.compile(
    r".*percent|waves|workgroups|simds|.*per_simd|.*bytes.*|.*spills|.*registers|.*instructions|"
    r"line|kernels?|offset|.*_workgroup_size"
)
"""Names that are their unit: waves, bytes, a line of text, a workgroup's size in workitems."""


def test_each_name_says_what_it_is() -> None:
    """And none has only the signature that a tuple gets by itself."""
    helps = {name: inspect.getdoc(getattr(kernelinfo, name)) or "" for name in API}
    wrong = [name for name, help in helps.items() if not help[:1].isupper()]
    assert wrong + [name for name, help in helps.items() if help.startswith(f"{name}(")] == []


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


def test_each_number_has_its_unit_and_each_method_its_help() -> None:
    wrong = []
    for name in CLASSES:
        of_class = getattr(kernelinfo, name)
        for field, kind, help in members(name):
            if help or field.startswith("_"):
                continue
            is_number = re.fullmatch(r"(int|float)( \| None)?", kind)
            if is_number and not UNIT_IN_NAME.fullmatch(field) and field not in COUNTED:
                wrong.append(f"{name}.{field}")
            is_property = isinstance(inspect.getattr_static(of_class, field, None), property)
            if kind and (is_property or callable(getattr(of_class, field, None))):
                wrong.append(f"{name}.{field}")
    assert wrong == []
