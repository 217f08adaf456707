"""Files of contract rows: a text, or bytes made step by step.

The first step names a file of the row or its table, a fixture, or one of `NAMED`, gives the bytes
(`bytes 7f454c46`, `text …`), makes a container, or a code object with kernels of any names
(`kernels 'a b' c`), or assembly of kernels with some numbers (`compiled saxpy,vgpr=80 scale`, see
compiled.py). Each other one changes what is there:

    ["gfx90a", "zip k.co", "cut 1000"]
    ["zip k.co=gfx90a b/k.s=assembly 'README=text hello' --method=stored"]

A container has entries NAME=FILE, where the file is given as in a first step and may be empty; NAME
alone is what is there so far. `tests/containers.py` says what a name and the options are. `add
MEMBER FILE` puts a file into a zip archive. What follows `text ` is taken as it stands; words of
other steps are split as a shell splits them.

Numbers may be hexadecimal. A place is a number (from the end if negative), or bytes that are
searched for, with a number: `PK\\1\\2+42`.

`link TARGET`, `fifo` and `folder` are no files of bytes.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import MappingProxyType

from ..containers import WRAPPERS, WRITERS, database, with_member
from ..fuzz.specimens import Specimen, code_object
from .compiled import assembly

FIXTURES = Path(__file__).parents[2] / "fixtures"
NAMED: dict[str, str | bytes] = {
    "gfx90a": "code_object/tiny-v6-clang22-gfx90a.co",
    "gfx1030": "code_object/tiny-v6-clang22-gfx1030.co",
    "host": "broken/x86.o",
    "assembly": b'\t.amdgcn_target "amdgcn-amd-amdhsa--gfx90a"\nk:\n\ts_endpgm\n'
    b"; Kernel info:\n; NumVgprs: 8\n",
}
"""Files that stand in many containers: fixtures, and an assembly text of one kernel."""
Steps = str | list[str]
Files = Mapping[str, Steps]


def make(steps: Steps, files: Files = MappingProxyType({})) -> bytes:
    """The bytes of a file; its steps may name others of `files`."""
    if isinstance(steps, str):
        return steps.encode()
    first, *others = steps
    data = _begun(first, files)
    for step in others:
        data = _stepped(data, step, files)
    return data


def write(path: Path, steps: Steps, files: Files) -> None:
    """The file, link, FIFO or folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    kind, _, target = steps[0].partition(" ") if steps and isinstance(steps, list) else ("", "", "")
    if kind == "link":
        path.symlink_to(target)
    elif kind == "fifo":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    else:
        path.write_bytes(make(steps, files))


def _begun(step: str, files: Files) -> bytes:
    name, _, rest = step.partition(" ")
    if step in files:
        return make(files[step], files)
    if name == "bytes":
        return bytes.fromhex(rest)
    if name == "text":
        return rest.encode("utf-8", "surrogateescape")
    if name == "kernels":
        return code_object([Specimen(name, 64, 8, 40, 1024, 64, 256) for name in shlex.split(rest)])
    if name == "compiled":
        return assembly(*shlex.split(rest)).encode()
    if name == "database":
        return database(lambda name: _begun(name, files), *shlex.split(rest))
    if name in WRITERS or name in WRAPPERS or name == "zeros":
        return _stepped(b"", step, files)
    named = NAMED.get(step, step)
    return named if isinstance(named, bytes) else (FIXTURES / named).read_bytes()


def _stepped(data: bytes, step: str, files: Files) -> bytes:
    name, _, rest = step.partition(" ")
    if name in ("append", "prepend"):
        new = _begun(rest, files)
        return data + new if name == "append" else new + data
    if name == "add":
        member, _, added = rest.partition(" ")
        return with_member(data, member, _begun(added, files))
    words = shlex.split(rest)
    plain, options = _options(words)
    if name in WRITERS:
        entries = [(*_entry(word, data, files),) for word in plain]
        return WRITERS[name](*entries, **options)
    if name in WRAPPERS:
        return WRAPPERS[name](data, *plain, **options)
    return STEPS[name](data, *words)


def _options(words: Iterable[str]) -> tuple[list[str], dict[str, object]]:
    """Words, and values of options: `--method=stored`, `--version=2`, `--compressed`."""
    plain, options = [], {}
    for word in words:
        if word.startswith("--"):
            name, equals, value = word[2:].partition("=")
            options[name] = _value(value) if equals else True
        else:
            plain.append(word)
    return plain, options


def _value(text: str) -> object:
    try:
        return int(text, 0)
    except ValueError:
        return text


def _entry(word: str, data: bytes, files: Files) -> tuple[str, bytes]:
    name, equals, file = word.partition("=")
    return name, _begun(file, files) if file else b"" if equals else data


def _plain(text: str) -> bytes:
    r"""Bytes of a text with Python's escapes: `PK\1\2`."""
    return text.encode().decode("unicode_escape").encode("latin-1")


def _place(data: bytes, place: str) -> int:
    try:
        number = int(place, 0)
    except ValueError:
        text, _, after = place.partition("+")
        return data.index(_plain(text)) + int(after or "0", 0)
    return number if number >= 0 else len(data) + number


def _put(data: bytes, place: str, new: str) -> bytes:
    """Bytes given in hexadecimal, such as `ff*20`, over those at a place."""
    start, (hexadecimal, _, times) = _place(data, place), new.partition("*")
    over = bytes.fromhex(hexadecimal) * int(times or 1)
    return data[:start] + over + data[start + len(over) :]


def _replace(data: bytes, old: str, new: str, most: str = "-1") -> bytes:
    """Each place where a text stands, or the first so many."""
    assert _plain(old) in data, f"nothing to replace: {old}"
    return data.replace(_plain(old), _plain(new), int(most))


STEPS: dict[str, Callable[..., bytes]] = {
    "cut": lambda data, place: data[: _place(data, place)],
    "from": lambda data, place: data[_place(data, place) :],
    "put": _put,
    "replace": _replace,
    "sub": lambda data, pattern, new: re.sub(pattern, new, data.decode()).encode(),
    "encode": lambda data, codec: data.decode().encode(codec),
    "repeat": lambda data, count: data * int(count, 0),
    "zeros": lambda data, count: data + bytes(int(count, 0)),
}
