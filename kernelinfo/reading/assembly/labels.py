"""What the functions of an assembly text are called, and where their labels stand."""

from __future__ import annotations

import re

from kernelinfo.reading.assembly.scan import BEGIN, Text, decode, line_at

# Few texts need these; to compile one takes as long as to read a block.
_LABEL = rb'(?m)^[ \t]*("(?:\\.|[^"\\\n])*"|[^\s;":]+):(?=\s|$)'
_LOCAL = rb"\.L|BB\d"
_COMMENT = re.compile(rb"(?<!\s)\s++(?:;|//|/\*).*")
# LLVM MCAsmInfo::isValidUnquotedName
_UNQUOTED = re.compile(r"[\w.$@]+", re.ASCII)
_FAR = 1 << 16


def begun_function(text: Text, begin: int) -> str:
    """The function that begins at `begin`, by LLVM's own comment.

    The comment holds the name raw: unquoted, whatever characters it has.
    """
    return decode(line_at(text, begin + len(BEGIN)).rstrip())


def last_label(text: Text, floor: int, offset: int) -> tuple[str, int] | None:
    """The last label between `floor` and `offset` that is not local, and where it stands."""
    last = None
    for label in re.compile(_LABEL).finditer(text, floor, offset):
        if not re.match(_LOCAL, label[1]):
            last = unquoted(label[1]), label.start(1)
    return last


def label_offset(text: Text, name: str, floor: int, offset: int, after: int) -> int | None:
    """Where the label `name:` stands: between `floor` and `offset`, or else soon after `after`.

    Compilers print a descriptor after the code; people write it before.
    """
    label = name if _UNQUOTED.fullmatch(name) else _quoted(name)
    sought = label.encode() + b":"
    for start, end in (floor, offset), (after, after + _FAR):
        found = text.find(sought, start, end)
        while found >= 0:
            if found == 0 or text[found - 1 : found].isspace():
                return found
            found = text.find(sought, found + 1, end)
    return None


def _quoted(name: str) -> str:
    return '"' + name.replace("\\", r"\\").replace('"', r"\"") + '"'


def unquoted(written: bytes) -> str:
    """The name that an assembler reads where `written` stands, quoted or not."""
    if not written.startswith(b'"'):
        return decode(written)
    return decode(re.sub(rb"\\(.)", rb"\1", written[1:-1]))


def described_kernel(operand: bytes) -> str:
    """The kernel that `.amdhsa_kernel` names: the rest of its line.

    LLVM prints the name raw even where it holds blanks, quotes or semicolons; a comment is taken
    for one only behind a blank. People may quote it.
    """
    name = _COMMENT.sub(b"", operand).strip()
    quoted = len(name) > 1 and name.startswith(b'"') and name.endswith(b'"')
    return unquoted(name) if quoted else decode(name)
