"""Values of YAML metadata, typed as LLVM types them; a bad value costs its key, not the document.

LLVM types plain words (llvm/lib/BinaryFormat/MsgPackDocumentYAML.cpp, `ScalarDocNode::fromString`)
and writes `!str` before a string that would read as another type. The list of these words changes
from version to version (LLVM 22 writes `.name: yes`). So the value of a key that takes text is
always taken as written.
"""

from __future__ import annotations

import re
from typing import Any

TEXT_KEYS = {
    *(".name", ".symbol", "Name", "SymbolName", "amdhsa.target"),
    *(".entry_point", ".entry_point_symbol"),
}
"""Keys with text as their value, even if it looks like another type."""

_INTEGER = re.compile(r"[-+]?(?:0x[0-9a-f]+|0b[01]+|0o?[0-7]*|[1-9][0-9]*)", re.IGNORECASE)
_MOST_DIGITS = 100
_WORDS: dict[str, bool | None] = {
    **dict.fromkeys(("", "~", "null")),
    **dict.fromkeys(("true", "yes", "on", "y"), True),
    **dict.fromkeys(("false", "no", "off", "n"), False),
}
_TEXT_TAGS = {"!", "!str", "tag:yaml.org,2002:str"}
_FORBIDDEN = "[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufffe\uffff]"
"""Characters that YAML allows only as escapes."""


def without_control_characters(text: str) -> str:
    """The text with escapes for the characters that YAML forbids.

    LLVM writes DEL unescaped, in double quotes, so the escape is read back as the same character.
    """
    return re.sub(_FORBIDDEN, lambda found: f"\\u{ord(found[0]):04x}", text)


def value(node: Any) -> object:
    """Value of a `yaml.Node`: a list, a map of its scalar keys, a number, a flag, None or text.

    A scalar that is nothing else is text as written.
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
    """Value of a word without quotes, in YAML 1.1 as LLVM up to 21 reads it."""
    if len(written) <= _MOST_DIGITS and _INTEGER.fullmatch(written):
        digits = written.lstrip("-+")
        is_octal = digits[0] == "0" and digits[1:].isdecimal()
        return int(written, 8 if is_octal else 0)
    return _WORDS.get(written.lower(), written)
