"""Where the source of a kernel begins, by the `.file` and `.loc` directives of assembly text.

.file 1 "/elsewhere" "real file.hip"
.loc  1 100 49 prologue_end           ; /elsewhere/real file.hip:100:49
"""

from __future__ import annotations

import posixpath
import re

from kernelinfo.reading.assembly.scan import Text, decode
from kernelinfo.reading.facts import SourceLine

_STRING = rb'"((?:\\.|[^"\\\n])*)"'
# Only what is compiled with debug information needs these.
_FILE = rb"\.file[ \t]+(\d{1,9})[ \t]+" + _STRING + rb"(?:[ \t]+" + _STRING + rb")?"
_LOCATION = rb"(?m)^[ \t]*\.loc[ \t]+(\d{1,9})[ \t]+(\d{1,9})[ \t]+(\d{1,9})"
_MARK = b".loc"
_ENDS = b"s_endpgm"


class SourceFiles:
    """The numbered files of one module; without any, no line of the text names one."""

    def __init__(self, text: Text) -> None:
        self._text = text
        self._names: dict[int, str] = {}

    def take(self, place: int) -> None:
        """Note the file of the directive at `place`, if it has a number."""
        if match := re.compile(_FILE).match(self._text, place):
            parts = (re.sub(rb"\\(.)", rb"\1", part) for part in match.groups()[1:] if part)
            self._names[int(match[1])] = posixpath.normpath(posixpath.join(*map(decode, parts)))

    def position(self, code: bytes) -> SourceLine | None:
        """The line of a kernel, as far as its instructions tell; `code` begins at its label.

        LLVM up to 16 states the function's own line with column 0 before all others. Later ones
        begin with the first instruction, which may be an inlined function's; the kernel's own file
        is then that of its end.
        """
        if not self._names or _MARK not in code:
            return None
        found = re.finditer(_LOCATION, code)
        stated = [(int(m[1]), int(m[2]), int(m[3]), m.start()) for m in found]
        lines = [location for location in stated if location[1]]
        if not lines:
            return None
        file, line, column, _ = lines[0]
        if column:
            before_end = [location for location in lines if location[3] < code.find(_ENDS)]
            file = (before_end or lines)[-1][0]
            line = next(location[1] for location in lines if location[0] == file)
        name = self._names.get(file)
        return None if name is None else SourceLine(name, line)
