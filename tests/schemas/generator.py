"""JSON Schemas from types: a field's annotation is its type, the text at it its description.

Descriptions are the string below a field or the comment behind it, and the docstring of a property.
Amounts are 0 at least. What types do not state is in `documents.py`: the keys of each document, as
a tree of nodes. A node is

- a type, such as `int | None`, a `Literal`, or a class with documented fields;
- a text: `"integer[]?: Index of blocks."`, the name of a type, `>0` for 1 at least, `[]` for an
  array, `?` for null as well, and a description;
- `[node]`, an array; `maybe(node)`, null as well; `(node, "text")`, a node with a description;
- a dictionary, an object with these keys and no others: `"key?"` may be absent, `"*"` is any other
  key, `"^a"` a pattern of keys, `"!"` the rest of the object's schema;
- `fields(Class, …)`, such a dictionary of a class; `Shared`, `Maybe` or `Raw`.
"""

from __future__ import annotations

import ast
import inspect
import io
import json
import re
import sys
import tokenize
import typing
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import pairwise
from types import NoneType, UnionType
from typing import Any, Literal, NamedTuple, Union

NULL = "null means that the input does not say; 0 means zero."
DIALECT = "https://json-schema.org/draft/2020-12/schema"
Schema = dict[str, Any]
_NAMES = {bool: "boolean", int: "integer", float: "number", str: "string"}
_TEXT = re.compile(r"(\w+)(>0)?(\[\])?(\?)?(?:: (.*))?", re.DOTALL)


class Member(NamedTuple):
    """A field or property of a class; `node` stands for its type if the document has another."""

    owner: Any
    name: str
    node: Any = None


class Maybe(NamedTuple):
    """A node that may be null."""

    node: Any


class Shared(NamedTuple):
    """A node that `$defs` holds once, under a name."""

    name: str
    node: Any


class Raw(NamedTuple):
    """A schema as it stands."""

    schema: Schema


OBJECTS: dict[Any, Any] = {}
"""Class → node of its object in JSON, where that is not all of its fields. Annotations may name
these classes though their module imports them for mypy alone."""


def maybe(node: Any) -> Any:
    return Maybe(node)


def nullable(nodes: dict[str, Any]) -> dict[str, Any]:
    """Each of the keys may be null."""
    return {key: Maybe(node) for key, node in nodes.items()}


def values(module: Any, name: str) -> dict[str, str]:
    """Value → text, of a `Literal` with `value: text.` for each in the string below it."""
    body = ast.parse(inspect.getsource(module)).body
    for node, after in pairwise(body):
        match node, after:
            case ast.Assign([ast.Name(str(alias))]), ast.Expr(ast.Constant(str(text))):
                if alias == name:
                    found = re.findall(r"([\w-]+): ([^.]+\.)", " ".join(text.split()))
                    return {value: _sentence(about) for value, about in found}
    raise LookupError(name)


def fields(owner: Any, names: str = "", *, but: str = "", **nodes: Any) -> dict[str, Any]:
    """Key → member, of all fields of a class but some, or of the fields and properties in `names`:
    `key=name` for one that the document calls otherwise. `nodes` are for keys of another type."""
    listed = names.split() or [name for name in _fields(owner) if name not in but.split()]
    pairs = [(key, name or key) for key, _, name in (text.partition("=") for text in listed)]
    assert {*but.split()} <= {*_fields(owner)}
    assert nodes.keys() <= {key for key, _ in pairs}
    return {key: Member(owner, name, nodes.get(key)) for key, name in pairs}


def _fields(owner: Any) -> list[str]:
    """All that JSON states of an object; a property `code` beside its fields."""
    has_code = isinstance(vars(owner).get("code"), property)
    own = getattr(owner, "_fields", None) or owner.__dataclass_fields__
    return [*own, *(["code"] if has_code else [])]


def document(name: str, keys: dict[str, Any]) -> Schema:
    """The schema of a whole document, or of a row. What is used once is not in `$defs`."""
    shared: dict[str, Schema] = {}
    is_row = re.search(r"row/\d+$", name)
    made = make(keys if is_row else _HEAD | keys, shared)
    uses = Counter(re.findall(r"'#/\$defs/(\w+)'", repr((made, shared))))
    kept = {name: _inlined(node, shared, uses) for name, node in shared.items() if uses[name] > 1}
    title = " ".join(name.replace("-row", " row").split("/")[:2])
    head = {"$schema": DIALECT, "$id": name, "title": title, "type": "object", "description": NULL}
    schema: Schema = head | _inlined(made, shared, uses)
    if not is_row:
        schema["properties"]["schema"] |= {"const": name}
    return schema | ({"$defs": kept} if kept else {})


_HEAD = {
    "schema": "any: Goes up when a key changes its meaning.",
    "version": "string: Version of kernelinfo.",
}


def make(node: Any, shared: dict[str, Schema]) -> Schema:
    """The schema of a node. What several places may have is added to `shared`, by its name."""
    match node:
        case str() if match := _TEXT.fullmatch(node):
            name, positive, many, null, text = match.groups()
            schema: Schema = {} if name == "any" else {"type": name}
            if name in ("integer", "number"):
                schema["minimum"] = 1 if positive else 0
            schema = {"type": "array", "items": schema} if many else schema
            return (_nullable(schema) if null else schema) | _described(text)
        case Member():
            owner, name, other = node
            text = description(owner, name)
            if other is None:
                schema = _described(text) | make(_type(owner, name), shared) | _described(text)
            else:
                schema = _described(text) | make(other, shared)
            if "1-based" in text and schema.get("minimum") == 0:
                schema["minimum"] = 1
            return schema
        case Maybe():
            return _nullable(make(node.node, shared))
        case Raw():
            return dict(node.schema)
        case Shared():
            if node.name not in shared:
                shared[node.name] = {}  # its place in the order
                shared[node.name] = make(node.node, shared)
            return {"$ref": f"#/$defs/{node.name}"}
        case (inner, str(text)):
            return make(inner, shared) | _described(text)
        case [item]:
            return {"type": "array", "items": make(item, shared)}
        case [item, int(least)]:
            return {"type": "array", "items": make(item, shared), "minItems": least}
        case dict():
            return _object(node, shared)
    return _of_type(node, shared)


def _object(node: dict[str, Any], shared: dict[str, Schema]) -> Schema:
    made = {key: make(value, shared) for key, value in node.items() if key != "!"}
    patterns = {key: made.pop(key) for key in [*made] if key[0] == "^"}
    others = made.pop("*", False)
    schema: Schema = {"type": "object"}
    schema |= {"properties": {key.rstrip("?"): value for key, value in made.items()}}
    schema |= {"patternProperties": patterns} if patterns else {}
    schema |= {"required": [key for key in made if key[-1] != "?"], "additionalProperties": others}
    stated = {key: value for key, value in schema.items() if value not in ({}, [])}
    return stated | dict(node.get("!", {}))


def _of_type(kind: Any, shared: dict[str, Schema]) -> Schema:
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if origin in (Union, UnionType):
        schemas = [make(one, shared) for one in inner if one is not NoneType]
        schema = schemas[0]
        if more := schemas[1:]:  # of literals
            schema = schema | {"enum": [value for one in (schema, *more) for value in one["enum"]]}
        return _nullable(schema) if NoneType in inner else schema
    if origin is Literal:
        [name] = {_NAMES[type(value)] for value in inner}
        return {"type": name, "enum": [*inner]}
    if origin in (tuple, list, Sequence, Iterator):
        schema = {"type": "array", "items": make(inner[0], shared)}
        sizes = {"minItems": len(inner), "maxItems": len(inner)}
        return schema | sizes if origin is tuple and inner[-1] is not ... else schema
    if origin in (Mapping, dict):
        return {"type": "object", "additionalProperties": make(inner[1], shared)}
    if kind in OBJECTS:
        return make(OBJECTS[kind], shared)
    if hasattr(kind, "_fields") or hasattr(kind, "__dataclass_fields__"):
        return make(Shared(kind.__name__, fields(kind)), shared) | _described(_summary(kind))
    [name] = [_NAMES[base] for base in kind.__mro__ if base in _NAMES][:1]
    return {"type": name} | ({"minimum": 0} if name in ("integer", "number") else {})


def _nullable(schema: Schema) -> Schema:
    if "$ref" in schema:
        inner = {"$ref": schema.pop("$ref")}
        return {"anyOf": [inner, {"type": "null"}]} | schema
    if isinstance(schema["type"], list):  # it is already
        return schema
    enum = {"enum": [*schema["enum"], None]} if "enum" in schema else {}
    return schema | {"type": [schema["type"], "null"]} | enum


def _inlined(node: Any, shared: dict[str, Schema], uses: Counter[str]) -> Any:
    """The schema with what `$defs` would hold for one place alone."""
    if isinstance(node, list):
        return [_inlined(one, shared, uses) for one in node]
    if not isinstance(node, dict):
        return node
    node = {key: _inlined(value, shared, uses) for key, value in node.items()}
    match node:
        case {"$ref": str(path), **more} if uses[name := path.rpartition("/")[2]] == 1:
            return _inlined(shared[name], shared, uses) | more
        case {"anyOf": [{"type": "object", **inner}, {"type": "null"}], **more}:
            return {"type": ["object", "null"]} | inner | more
    return node


def _described(text: str | None) -> Schema:
    return {"description": text} if text else {}


def _type(owner: Any, name: str) -> Any:
    """The annotation of a field or a property."""
    attribute = vars(owner).get(name)
    names = {kind.__name__: kind for kind in OBJECTS}
    if isinstance(attribute, property):
        return typing.get_type_hints(attribute.fget, localns=names)["return"]
    annotation = owner.__annotations__[name]
    kind = type("kind", (), {"__annotations__": {name: annotation}})
    return typing.get_type_hints(kind, vars(sys.modules[owner.__module__]), names)[name]


def description(owner: Any, name: str) -> str:
    """The text at a field or a property; empty without one."""
    attribute = vars(owner).get(name)
    text = attribute.__doc__ if isinstance(attribute, property) else _texts(owner).get(name)
    return _sentence(text or "")


def _summary(kind: Any) -> str:
    """What a class says of itself; named tuples and dataclasses without a text have a signature."""
    text = kind.__doc__ or ""
    return "" if text.startswith(f"{kind.__name__}(") else _sentence(text)


def _sentence(text: str) -> str:
    """The first paragraph in JSON's words."""
    text = " ".join(inspect.cleandoc(text).split("\n\n")[0].split())
    text = re.sub(r"\bNone\b", "null", text)
    text = re.sub(r"`[A-Z]\w+\.(\w+)`", r"`\1`", text)  # of the object that is described
    if re.match(r"(?!null\b|gfx)[a-z]+\b", text):
        text = text[:1].upper() + text[1:]
    return text if not text or text.endswith(".") else f"{text}."


@cache
def _texts(owner: Any) -> dict[str, str]:
    """Field → the string below it, or the comment behind it."""
    source = inspect.getsource(owner)
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    comments = {
        token.start[0]: token.string[1:] for token in tokens if token.type == tokenize.COMMENT
    }
    [tree] = ast.parse(source).body
    assert isinstance(tree, ast.ClassDef)
    texts = {}
    for node, after in zip(tree.body, [*tree.body[1:], None], strict=True):
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            texts[node.target.id] = comments.get(node.end_lineno or 0, "")
            match after:
                case ast.Expr(ast.Constant(str(text))):
                    texts[node.target.id] = text
    return texts


def text(schema: Schema) -> str:
    """A schema as its file has it."""
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
