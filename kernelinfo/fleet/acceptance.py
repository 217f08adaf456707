"""Problems that are known and accepted, in a file that `scan --accept-problems` reads.

Versions and numbers are left out, so that the same problem of the next night is known again.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable
from operator import attrgetter

from kernelinfo.atomic_write import atomic_write
from kernelinfo.errors import Message, OptionError, ReadError
from kernelinfo.fleet.messages import say
from kernelinfo.kernel.code_object import library_of
from kernelinfo.reading.blob import Problem
from kernelinfo.reading.messages import in_file
from kernelinfo.reading.paths import read_document

# Identity of a kernel in a fleet: its library, target and symbol.
#
# The file's path decides only between kernels that share all three, without the versions in it.

_VERSION = re.compile(
    r"[-_.]?v?(?<!\d)\d++(?:\.\d++)+(?:[-.]?(?:dev|post|rc|a|b)\d*)?(?:[+~][0-9A-Za-z]+(?:\.[0-9A-Za-z]+)*)?"
)
"""`-7.1.0`, `-2.9.1+rocm7.1`, `_0.51.0.dev0`: at least two numbers with a dot between them."""


def without_versions(path: str) -> str:
    """A path or member without the versions in the names of its folders and files."""
    return "/".join(_VERSION.sub("", library_of(part)) if part else "" for part in path.split("/"))


_SCHEMA = "kernelinfo/accepted-problems/1"
_NUMBER = re.compile(r"0x[0-9a-f]+|\d+")
_MOST_BYTES = 64 << 20
_KEYS = ("path", "member", "message")
"""Fields that identify a problem in any build: its path below the root and its member, both without
versions, and its message with `#` for each number."""
_key = attrgetter(*_KEYS)


def accepted(path: str, problem: Problem) -> Problem:
    """The problem without versions and numbers, so that the same problem of another build equals
    it. `path` is relative to the root."""
    message = Message(_NUMBER.sub("#", problem.message), "")
    return Problem(without_versions(path), message, without_versions(problem.member or ""))


def read_accepted(file: str) -> frozenset[Problem]:
    """The problems that a file accepts. Raises `OptionError` if it is not a list of accepted
    problems."""
    try:
        document = json.loads(read_document(file, _MOST_BYTES))
        if document["schema"] != _SCHEMA:
            raise ValueError
        rows = [[row[name] for name in _KEYS] for row in document["problems"]]
        if not all(isinstance(value, str) for row in rows for value in row):
            raise ValueError
        return frozenset(Problem(path, Message(text, ""), member) for path, member, text in rows)
    except ReadError as error:
        raise OptionError(in_file(file, error.message)) from None
    except OSError as error:
        message = say(
            "accepted-missing" if isinstance(error, FileNotFoundError) else "accepted-unreadable",
            error=(error.strerror or str(error)).lower(),
        )
        raise OptionError(in_file(file, message)) from None
    except (ValueError, KeyError, TypeError, RecursionError):
        raise OptionError(in_file(file, say("accepted-other-file"))) from None


def write_accepted(file: str, problems: Iterable[Problem]) -> None:
    """Write the file, sorted, one problem per line. Raises `OptionError`."""
    keys = (dict(zip(_KEYS, key, strict=True)) for key in sorted(map(_key, set(problems))))
    rows = (json.dumps(key, ensure_ascii=False) for key in keys)
    text = f'{{"schema": "{_SCHEMA}", "problems": [\n' + ",\n".join(rows) + "\n]}\n"
    try:
        with atomic_write(os.path.realpath(file)) as target:
            target.write(text.encode("utf-8", "backslashreplace"))
    except OSError as error:
        message = say("accepted-unwritable", error=error.strerror)
        raise OptionError(in_file(file, message)) from None
