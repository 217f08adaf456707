"""Values of YAML metadata: one that cannot be read costs its own key, never the document.

LLVM types plain words (llvm/lib/BinaryFormat/MsgPackDocumentYAML.cpp, `ScalarDocNode::fromString`)
and writes `!str` before a string that would read as another type. Which words those are changed
from version to version (LLVM 22 writes `.name: yes`), so that text is taken as written wherever a
key takes text.
"""

from __future__ import annotations

import re
from typing import Any

TEXT_KEYS = {
    *(".name", ".symbol", "Name", "SymbolName", "amdhsa.target"),
    *(".entry_point", ".entry_point_symbol"),
}
"""Their values are text, whatever they look like."""

_INTEGER = re.compile(r"[-+]?(?:0x[0-9a-f]+|0b[01]+|0o?[0-7]*|[1-9][0-9]*)", re.IGNORECASE)
_MOST_DIGITS = 100
_WORDS: dict[str, bool | None] = {
    **dict.fromkeys(("", "~", "null")),
    **dict.fromkeys(("true", "yes", "on", "y"), True),
    **dict.fromkeys(("false", "no", "off", "n"), False),
}
_TEXT_TAGS = {"!", "!str", "tag:yaml.org,2002:str"}
_FORBIDDEN = "[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufffe\uffff]"
"""Characters that YAML does not allow unless escaped."""


def without_control_characters(text: str) -> str:
    """The text with escapes for the characters that YAML forbids.

    LLVM writes DEL as it is, in double quotes, where the escape means the same.
    """
    return re.sub(_FORBIDDEN, lambda found: f"\\u{ord(found[0]):04x}", text)


def value(node: Any) -> object:
    """Of a `yaml.Node`: a list, a map of the keys that are scalars, a number, a flag, None or text.

    What has no meaning as its tag demands is the text as written.
    """
    if node.id == "sequence":
        return [value(item) for item in node.value]
    if node.id == "mapping":
        entries = [(key.value, entry) for key, entry in node.value if key.id == "scalar"]
        return {key: _entry(key, entry) for key, entry in entries}
    is_text = node.style or node.tag in _TEXT_TAGS
    return node.value if is_text else plain_value(node.value)


def _entry(key: str, node: Any) -> object:
    return node.value if key in TEXT_KEYS and node.id == "scalar" else value(node)


def plain_value(written: str) -> object:
    """What a word without quotes means, in YAML 1.1 as LLVM up to 21 reads it."""
    if len(written) <= _MOST_DIGITS and _INTEGER.fullmatch(written):
        digits = written.lstrip("-+")
        is_octal = digits[0] == "0" and digits[1:].isdecimal()
        return int(written, 8 if is_octal else 0)
    return _WORDS.get(written.lower(), written)
