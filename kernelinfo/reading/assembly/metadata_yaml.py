"""Metadata of an assembly text, from the YAML of `.amdgpu_metadata` and of code object v2.

LLVM takes some plain words for numbers or flags (`ScalarDocNode::fromString` in
llvm/lib/BinaryFormat/MsgPackDocumentYAML.cpp) and writes `!str` before a string that would read as
another type. The list of these words changes from version to version: LLVM 22 writes `.name: yes`.
So the value of a key that takes text is always taken as written, and a value of a wrong type costs
its key, not the document.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from kernelinfo.errors import Message
from kernelinfo.reading.data import integer
from kernelinfo.reading.facts import Numbers
from kernelinfo.reading.messages import say
from kernelinfo.reading.metadata import KEYS, kernel_numbers, kernel_numbers_v2, kernel_symbol

if TYPE_CHECKING:
    import yaml

TEXT_KEYS = {
    *(".name", ".symbol", "Name", "SymbolName", "amdhsa.target"),
    *(".entry_point", ".entry_point_symbol"),
}
"""Keys with text as their value, even if it looks like another type."""

_INTEGER = re.compile(r"[-+]?(?:0x[0-9a-f]+|0b[01]+|0o[0-7]+|0[0-7]*|[1-9][0-9]*)", re.IGNORECASE)
_WORDS: dict[str, bool | None] = {
    **dict.fromkeys(("", "~", "null")),
    **dict.fromkeys(("true", "yes", "on", "y"), True),
    **dict.fromkeys(("false", "no", "off", "n"), False),
}
_TEXT_TAGS = {"!", "!str", "tag:yaml.org,2002:str"}
_FORBIDDEN = "[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufffe\uffff]"
"""Characters that YAML allows only as escapes."""


def node_value(node: Any) -> object:
    """Value of a `yaml.Node`: a list, a map of its scalar keys, a number, a flag, None or text.

    Any other scalar is text, as written.
    """
    if node.id == "sequence":
        return [node_value(item) for item in node.value]
    if node.id == "mapping":
        entries = [(key.value, entry) for key, entry in node.value if key.id == "scalar"]
        return {key: _entry(key, entry) for key, entry in entries}
    is_text = node.style or node.tag in _TEXT_TAGS
    return node.value if is_text else plain_value(node.value)


def _entry(key: str, node: Any) -> object:
    return node.value if key in TEXT_KEYS and node.id == "scalar" else node_value(node)


def plain_value(written: str) -> object:
    """Value of an unquoted word under YAML 1.1, as LLVM up to 21 reads it."""
    if _INTEGER.fullmatch(written):
        value = integer(written.lstrip("-+"), 0)
        return -value if written.startswith("-") else value
    return _WORDS.get(written.lower(), written)


_SHORT = 1 << 12
_MOST_VALUES = 1_000_000
"""Most YAML values, lists and maps of one document: 2000 kernels with 30 arguments each."""
_MOST_NESTING = 100  # libyaml recurses: ten thousand levels end the process


YamlKernel = tuple[str, Numbers, Sequence[Message], int]
"""Symbol, numbers, complaints and line (of the document, from 0) of an element of `amdhsa.kernels`
or `Kernels`."""


Metadata = tuple[list[YamlKernel], str | None, object]
"""Kernels of one module, `amdhsa.target` and `amdhsa.version`, for example [1, 2]; None for what is
not stated."""


def document(text: str) -> tuple[str, bool]:
    """YAML document in the lines of a metadata block, and True if it is whole.

    A log's prefix before `---` is cut off every line, and everything after the line `...` is
    dropped, as is a last line without a newline, which may be truncated.
    """
    text = text.replace("\r\n", "\n")
    text = text[: text.rfind("\n") + 1]
    if (start := _START.match(text)) and start[1]:
        width = len(start[1])
        text = "".join(line[width:] for line in text.splitlines(keepends=True))
    dots = text.find("...")
    end = _END.search(text, dots) if dots >= 0 else None
    return (text[: end.start()], True) if end else (text, False)


def parse(text: str, limit: int = sys.maxsize, *, is_v2: bool = False) -> Metadata:
    """(kernels, target, version) of a YAML document, with its first `limit` kernels.

    Raises `ValueError`, with the reason in words, for text that is not YAML, for aliases, and for
    more values or deeper nesting than metadata has.
    """
    if not is_v2:
        with suppress(ValueError):  # PyYAML takes 200 µs more a kernel, nearly as long as all else
            return _compilers(text, limit)
    return _any_yaml(text, limit, is_v2=is_v2)


_START = re.compile(r"(.*)---[ \t]*\n")
_END = re.compile(r"\.\.\.(?<!.\.\.\.)[ \t]*$", re.MULTILINE)

# LLVM's form (MsgPackDocument::toYAML): root keys at column 0, kernels at column 2, their keys at
# column 4, nested lists at column 6. A value is a decimal number, a word that means only itself, or
# a string without escapes, quoted or after `!str`. PyYAML reads all other forms.
_QUOTED_WITHIN_LINES = re.compile(r"""(?:[^'"]*+(?:'[^'\n]*+'|"[^"\n]*+"))*+[^'"]*+""")
_NUMBER = r"(?:0|[1-9][0-9]{0,17})"  # always below 2^63
_STRING = r"""'[^'\n]*'|"[^"\\\n]*"|[A-Za-z_$/][^:#\n]*+"""
_VALUE = rf"(?:!str +)?(?:{_STRING})|\[\]|{_NUMBER}(?= *\n)"
_ROOT = re.compile(rf"([\w.]+):(?: +({_VALUE}) *\n(?! )|\n((?: .*\n)++))")
_ENTRY = re.compile(rf"(    (\.\w+):(?: +({_VALUE}) *\n(?! {{5}})|\n((?: {{6}} *\S.*\n)++)))")
_KIND = re.compile(r"^(?: {6}- | {8})\.value_kind: +(\w+)$", re.MULTILINE)
_NUMBERS = re.compile(rf"( *)- {_NUMBER}\n(?:\1- {_NUMBER}\n)*")


def _compilers(text: str, limit: int = sys.maxsize) -> Metadata:
    """Metadata in the form that LLVM writes. Raises `ValueError` for any other form."""
    roots: dict[str, re.Match[str]] = {}
    offset = 4 if text.startswith("---\n") else 0
    while root := _ROOT.match(text, offset):
        if root[1] in roots:
            raise ValueError
        if root[1] != "amdhsa.kernels":
            _refuse_unusual(root[0])
        roots[root[1]] = root
        offset = root.end()
    kernels, target, version = map(roots.get, ("amdhsa.kernels", "amdhsa.target", "amdhsa.version"))
    if offset < len(text) or not kernels or (target and not target[2]):
        raise ValueError
    if kernels[2] not in (None, "[]") or (version and not _NUMBERS.fullmatch(version[3] or "")):
        raise ValueError
    line = text.count("\n", 0, kernels.start(3))
    return (
        [] if kernels[2] else _kernels(kernels[3], line, limit),
        _text(target[2]) if target else None,
        _numbers(version[3]) if version else None,
    )


def _refuse_unusual(text: str) -> None:
    """Raise `ValueError` for unprintable characters, and for quotes that are not closed on their
    line."""
    if not (text.replace("\n", "").isprintable() and _QUOTED_WITHIN_LINES.fullmatch(text)):
        raise ValueError


def _kernels(block: str, line: int, limit: int) -> list[YamlKernel]:
    """First `limit` kernels of a block that begins on `line`. Raises `ValueError` like
    `_compilers`."""
    before, *elements = f"\n{block}".removesuffix("\n").split("\n  - ")
    if before or not elements:
        raise ValueError
    kernels: list[YamlKernel] = []
    for element in elements[:limit]:
        # The kernel's own names are cut out: the rest is often equal to another kernel's.
        common, names = f"\n    {element}\n", {}
        for key in (".name", ".symbol"):
            start = common.rfind(f"\n    {key}:") + 1
            if (name := _ENTRY.match(common, start)) and name[2] == key and name[3]:
                _refuse_unusual(name[3])
                names[key] = _text(name[3])
                common = common[:start] + common[name.end() :]
        read = _read_common if len(common) < _SHORT else _read_common.__wrapped__
        stated, numbers, complaints = read(common)
        values = stated | names
        symbol = kernel_symbol(values.get(".symbol"), values.get(".name"))
        kernels.append((symbol, numbers, complaints, line))
        line += element.count("\n") + 1
    return kernels


@lru_cache(maxsize=1 << 12)
def _read_common(common: str) -> tuple[dict[object, object], Numbers, list[Message]]:
    """Values by key, numbers and complaints of a kernel without its names; cached.

    Raises `ValueError` like `_compilers`.
    """
    _refuse_unusual(common)
    kernel: dict[object, object] = {}
    length = 1
    for entry, key, value, nested in _ENTRY.findall(common):
        length += len(entry)
        if value:
            kernel[key] = _text(value) if key in TEXT_KEYS else _scalar(value)
        elif key == ".args":
            kernel[key] = [{".value_kind": kind} for kind in _KIND.findall(nested)]
        elif _NUMBERS.fullmatch(nested):
            kernel[key] = _numbers(nested)
        elif key in KEYS or key in (".name", ".symbol"):
            raise ValueError
    if length < len(common):
        raise ValueError
    _, numbers, complaints = kernel_numbers(kernel)
    return kernel, numbers, complaints


def _numbers(block: str) -> list[int]:
    return [integer(number) for number in re.findall(r"[0-9]+", block)]


def _text(written: str) -> str:
    """The string that a value must be, without `!str` and quotes. Raises `ValueError` for `[]`."""
    written = written.removeprefix("!str").strip(" ")
    if written == "[]":
        raise ValueError
    return written[1:-1] if written[0] in "'\"" else written


def _scalar(written: str) -> object:
    """Value of a scalar, of the type that LLVM reads; `[]` gives an empty list."""
    if written == "[]":
        return []
    if written[0] in "!'\"":
        return _text(written)
    return plain_value(written.rstrip(" "))


def root_of(text: str) -> tuple[dict[object, object], yaml.Node]:
    """Root map of a YAML document, and its node. Raises `ValueError` like `parse`, or if the root
    is not a map."""
    # LLVM writes DEL unescaped, in double quotes: its escape is read back as the same character.
    node = _composed(re.sub(_FORBIDDEN, lambda character: f"\\u{ord(character[0]):04x}", text))
    root = node_value(node) if node else None
    if not node or not isinstance(root, dict):
        raise ValueError(say("yaml-no-map"))
    return root, node


def _any_yaml(text: str, limit: int = sys.maxsize, *, is_v2: bool = False) -> Metadata:
    read = kernel_numbers_v2 if is_v2 else kernel_numbers
    root, node = root_of(text)
    name = "amdhsa.kernels" if "amdhsa.kernels" in root else "Kernels"
    elements = root.get(name, [])
    if not isinstance(elements, list):
        raise ValueError(say("yaml-no-list", name=name))
    written = [entry.value for key, entry in node.value if key.value == name] or [[]]
    kernels: list[YamlKernel] = []
    # The last of repeated keys is used.
    for element, item in list(zip(elements, written[-1], strict=True))[:limit]:
        symbol, numbers, complaints = read(element if isinstance(element, dict) else {})
        kernels.append((symbol, numbers, complaints, item.start_mark.line))
    target, version = root.get("amdhsa.target"), root.get("amdhsa.version", root.get("Version"))
    return kernels, target if isinstance(target, str) else None, version


def _composed(text: str) -> yaml.Node | None:
    """Root node; None for an empty document. Raises `ValueError` like `parse`."""
    import yaml  # a fifth of the report of a small file

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        depth = 0
        for number, event in enumerate(yaml.parse(text, Loader=loader)):
            if number > _MOST_VALUES:
                raise ValueError(say("yaml-values-many", most=_MOST_VALUES))
            if isinstance(event, yaml.AliasEvent):
                raise ValueError(say("yaml-alias"))
            depth += isinstance(event, yaml.CollectionStartEvent)
            depth -= isinstance(event, yaml.CollectionEndEvent)
            if depth > _MOST_NESTING:
                raise ValueError(say("yaml-nesting", most=_MOST_NESTING))
        return loader(text).get_single_node()
    except yaml.MarkedYAMLError as error:
        place = say("yaml-on-line", line=error.problem_mark.line + 1) if error.problem_mark else ""
        raise ValueError(say("yaml-damaged", error=error.problem, at=place)) from error
    except yaml.YAMLError as error:
        raise ValueError(str(error).splitlines()[0]) from error
