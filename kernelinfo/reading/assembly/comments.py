"""Comments of assembly text. Every reader of such a text gets it from here.

Comments of `/* … */` and lines of `#` become blanks. Those of `;` and `//` stay, because compilers
state facts in them; they end with their line, and `code_of` cuts them off.
Source: LLVM AsmLexer::LexToken, LexSlash; AMDGPUMCAsmInfo.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import AnyStr

from kernelinfo.reading.data import Data, LongText, Text, line_end, pieces, text_of

_OPEN, _CLOSE = b"/*", b"*/"
_NAME = rb"/\*v[\d\[][\d:\]]*+\*/"
"""LLVM's comment on a register above v255: `v2 /*v258*/`."""
_STRINGS = rb"\"(?:\\.|[^\"\\\n])*+\"|'(?:\\.|[^'\\\n])*+'"
_CODE = rb"(?:[^\"'/;\n]++|" + _STRINGS + rb"|/(?![/*])%b)*+"
_ENCLOSED = {
    False: (re.compile(rb"/\*"), re.compile(_CODE % b"")),
    True: (re.compile(rb"/\*(?!v[\d\[][\d:\]]*+\*/)"), re.compile(_CODE % (b"|" + _NAME))),
}
"""Begin of an enclosed comment, and the code of a line up to its first comment. True: comments that
name registers are code."""
_SETS_UPPER = b"s_set_vgpr_msb"
_HASH = rb"#(?!\d+ \d| __CLANG_OFFLOAD_BUNDLE__)"
"""Not the number and time of a container's build log, and not the mark of a text bundle."""
_HASH_LINE = re.compile(rb"[ \t]*+" + _HASH)
_HASH_STATEMENT = re.compile(rb"[ \t]*+(?:[^\s;\":#/]++:[ \t]++)*+" + _HASH)
"""After a label, an enclosed comment may begin in a comment of `#`."""
_BLANKS = bytes(byte if byte in b"\r\n" else 0x20 for byte in range(256))
_WINDOW = 1 << 18


def assembly_text(data: Data) -> Text:
    """The text of a file without comments of `/* … */` and `#`: as long, with the same lines.

    Raises `ReadError`.
    """
    text = text_of(data)
    if isinstance(text, bytes):
        return without_comments(text)
    return _LongAssembly(data) if text.find(_OPEN) >= 0 else text


def without_comments(text: bytes) -> bytes:
    """The text with blanks for comments of `/* … */` and lines of `#`: as long, as many lines.

    A comment without an end takes the rest of its line.
    """
    if _OPEN in text:
        text, _ = _without_enclosed(text, names=_SETS_UPPER in text)
    return _without_hashes(text) if b"#" in text else text


def code_of(line: AnyStr) -> AnyStr:
    """A line without its comment of `;` or `//`."""
    if isinstance(line, bytes):
        return line.partition(b";")[0].partition(b"//")[0]
    return line.partition(";")[0].partition("//")[0]


def _without_enclosed(
    text: bytes, *, names: bool, is_open: bool = False, is_part: bool = False
) -> tuple[bytes, bool]:
    """The text without enclosed comments, and True if the last one has no end.

    `names`: keep the comments that name registers. `is_open`: the text begins inside a comment.
    `is_part`: a comment without an end reaches to the end of the text, not of its line, and a
    comment inside a statement ends its line.
    """
    found: list[bytes] = []
    done = 0  # everything before is in `found`
    if is_open:
        end = text.find(_CLOSE)
        if end < 0:
            return text.translate(_BLANKS), True
        done = end + len(_CLOSE)
        found.append(text[:done].translate(_BLANKS))
    last = text.rfind(_CLOSE)
    read = done  # no comment that is not known begins before
    owed = 0
    """Number of newlines of comments inside a statement; they follow the statement."""
    begins, code_before = _ENCLOSED[names]
    for mark in begins.finditer(text, done):
        if mark.start() < read:
            continue
        line = max(text.rfind(b"\n", read, mark.start()) + 1, read)
        code = code_before.match(text, line)
        start = code.end() if code else line
        if not text.startswith(_OPEN, start) or _HASH_LINE.match(text, line):
            read = line_end(text, mark.start())
            continue
        end = text.find(_CLOSE, start + len(_OPEN)) if start < last else -1
        if end < 0 and is_part:
            found += text[done:start], text[start:].translate(_BLANKS)
            return b"".join(found), True
        if owed and (line_break := text.find(b"\n", done, start)) >= 0:
            found += text[done:line_break], b"\n" * owed
            done, owed = line_break, 0
        read = end + len(_CLOSE) if end >= 0 else line_end(text, start)
        blanks = text[start:read].translate(_BLANKS)
        found += text[done:start], blanks
        done = read
        if b"\n" in blanks and not is_part:
            begin = text.rfind(b"\n", 0, start) + 1
            if owed or text[begin:start].strip():
                owed += blanks.count(b"\n")
                found[-1] = blanks.replace(b"\n", b"")
    line_break = line_end(text, done)
    return b"".join((*found, text[done:line_break], b"\n" * owed, text[line_break:])), False


def _without_hashes(text: bytes) -> bytes:
    found: list[bytes] = []
    done, at = 0, text.find(b"#")
    while at >= 0:
        line = text.rfind(b"\n", done, at) + 1 or done
        end = line_end(text, at)
        comment = _HASH_STATEMENT.match(text, line)
        if comment and comment.end() == at + 1:
            found += text[done:at], text[at:end].translate(_BLANKS)
            done = end
        at = text.find(b"#", end)
    return b"".join((*found, text[done:])) if found else text


class _LongAssembly(LongText):
    """A long text without comments of `/* … */`; a comment inside a statement ends its line."""

    def __init__(self, data: Data) -> None:
        super().__init__(data)
        whole = LongText(data)
        self._names = whole.find(_SETS_UPPER) >= 0
        self._starts = [0]
        """Offsets of lines at which reading may begin."""
        self._is_open = [False]
        """True for each of them inside a comment."""
        for offset, piece in pieces(whole, size=_WINDOW):
            _, is_open = self._blanked(piece, self._is_open[-1])
            self._starts.append(offset + len(piece))
            self._is_open.append(is_open)

    def _blanked(self, piece: bytes, is_open: bool) -> tuple[bytes, bool]:
        return _without_enclosed(piece, names=self._names, is_open=is_open, is_part=True)

    def _read(self, start: int, size: int) -> bytes:
        at = bisect_right(self._starts, start) - 1
        first = self._starts[at]
        blanked, _ = self._blanked(super()._read(first, start - first + size), self._is_open[at])
        return _without_hashes(blanked)[start - first :]
