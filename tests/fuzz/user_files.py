"""What comes from a user's project: patterns of paths, compile commands, an agent's requests."""

from __future__ import annotations

import atexit
import io
import json
import os
import shutil
import tempfile
from collections.abc import Sequence
from contextlib import chdir, suppress
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any

from kernelinfo import Problem
from kernelinfo.agents import TOOLS, read_request
from kernelinfo.agents.answers import ANSWER_BYTES, ANSWERS, answer
from kernelinfo.compile.commands import is_plain, read_entries
from kernelinfo.watch.files import FileTree

from ..reading.inside import File, find, fits
from .promise import BUG
from .specimens import Specimen, assembly

_FILES = ("k.s", "a/b/k.s", "a/c/k.co", ".hidden/k.s", "[x]/k.s")
_TEXT = assembly([Specimen("first", 64, 8, 40, 1024, 0, 256)])
_MOST_NAMES = 8  # of a path or pattern that is matched by recursion, too


@cache
def _project() -> str:
    """A folder with some files, and a link to itself."""
    folder = tempfile.mkdtemp(prefix="kernelinfo-fuzz-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    for name in _FILES:
        path = Path(folder, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(_TEXT)
    os.symlink(".", os.path.join(folder, "link"))
    return folder


def patterns(data: bytes) -> None:
    """The first line is a pattern, on the command line and in a `.gitignore`; the others are
    paths."""
    pattern, *paths = data.decode("utf-8", "surrogateescape").split("\n")
    for path in paths[:20]:
        found = fits(path, pattern)
        names, parts = path.split("/"), pattern.split("/")
        if len(names) <= _MOST_NAMES and len(parts) <= _MOST_NAMES:
            assert found == any(_fits(names[:end], parts) for end in range(1, len(names) + 1)), (
                path,
                pattern,
            )
    with chdir(_project()):
        if ".." not in pattern and not pattern.startswith("/"):
            for one in find(pattern):
                assert isinstance(one, File | Problem)
                assert not isinstance(one, Problem) or BUG not in one.message
        Path(".gitignore").write_bytes(data)
        tree = FileTree(".").snapshot()
        assert {path.removeprefix("./") for path in tree} <= {*_FILES, ".gitignore"}


def _fits(names: Sequence[str], parts: Sequence[str]) -> bool:
    """The meaning of a pattern, by recursion."""
    if not parts:
        return not names
    if parts[0] == "**":
        return any(_fits(names[start:], parts[1:]) for start in range(len(names) + 1))
    is_first = bool(names) and len(parts[0]) <= 1 << 12 and fnmatchcase(names[0], parts[0])
    return is_first and _fits(names[1:], parts[1:])


PATTERNS = [
    b"**/k.s\na/b/k.s\nk.s\na/k.co",
    b"**/" * 14 + b"x\n" + b"a/" * 30 + b"k.s",
    b"**/*/" * 8 + b"x\n" + b"a/" * 30 + b"k.s",
    b"*a" * 50 + b"b\n" + b"a" * 200,
    b"[!a-c]/[]]/[x\n[/]/x\n!a\n\\#\n/a/\n*.s",
    b"*/*/*/*/*/*/*/*/*/*/k.s\nlink/link/k.s",
    b"[[]x]/*.s\n[x]/k.s",
    b"link/**/k.s\n\xff\xfe/**",
]


def compile_commands(path: Path) -> None:
    """Flags are plain words, and the file names neither a compiler nor what it writes."""
    source = path.with_name("k.hip")
    for entry in read_entries([str(source)], str(path)).values():
        words = [
            word for word in entry.flags if word not in ("-isystem", "-iquote", "-include", "-I")
        ]
        assert all(is_plain(word.lstrip("-")) for word in words), words


_ENTRY = {
    "directory": ".",
    "file": "k.hip",
    "arguments": ["c++", "-DX=1", "-I", "include", "-std=c++17", "--offload-arch=gfx90a", "k.hip"],
}
_COMMAND = {"directory": "/b", "file": "k.hip", "command": "c++ -DX='a b' -Iinclude -x hip k.hip"}
COMMANDS = [
    json.dumps([_ENTRY]).encode(),
    json.dumps([_ENTRY | {"directory": "/x y"}, _ENTRY]).encode(),
    json.dumps([_ENTRY | {"file": "\0"}, _COMMAND]).encode(),
    json.dumps([_ENTRY | {"arguments": ["c++", "-DX=$(id)", "-D", "@f", "-include"]}]).encode(),
    json.dumps([_ENTRY | {"arguments": ["c++", "-Xclang", "-load", "-x", "c", "-"]}]).encode(),
    json.dumps([_COMMAND | {"directory": ".", "command": "c++ '"}]).encode(),
    json.dumps([_COMMAND | {"directory": ".", "command": "c++ -DX=;id; `id` -Ux -U"}]).encode(),
    b"[{}]",
    b"{",
    b"[" * 100_000,
]


def requests(data: bytes) -> None:
    """Each line is a request. One that can be read has an answer of bounded size."""
    stream = io.BytesIO(data)
    while line := read_request(stream, _is_readable):
        if not line.strip():
            continue
        request = json.loads(line)
        params = request.get("params")
        if not isinstance(params, dict) or not isinstance(params.get("arguments"), dict):
            continue
        name, arguments = params.get("name"), params["arguments"]
        if name in ANSWERS and _fits_schema(name, arguments):
            with chdir("."):
                found = answer(name, arguments, _project())
            wire = {"text": found.text, "structuredContent": found.document}
            assert len(json.dumps(wire, ensure_ascii=False).encode()) <= 1.1 * ANSWER_BYTES
            assert BUG not in found.text, found.text


def _is_readable(line: str) -> bool:
    """Like the SDK, as far as the answers depend on it."""
    with suppress(ValueError, RecursionError):
        request = json.loads(line)
        json.dumps(request, ensure_ascii=False).encode()
        return isinstance(request, dict) and request.get("jsonrpc") == "2.0" and "method" in request
    return False


_SCHEMAS: dict[str, Any] = {tool.name: tool.schema for tool in TOOLS}


def _fits_schema(name: str, arguments: dict[str, Any]) -> bool:
    """Like jsonschema, for what the schemas of the tools say."""
    schema = _SCHEMAS[name]
    known = schema["properties"]
    if not {*schema["required"]} <= arguments.keys() <= known.keys():
        return False
    return all(_is_of(known[key], value) for key, value in arguments.items())


def _is_of(schema: dict[str, Any], value: object) -> bool:
    if "enum" in schema:
        return value in schema["enum"]
    if schema["type"] == "integer":
        is_whole = isinstance(value, int) and not isinstance(value, bool)
        return is_whole and schema["minimum"] <= value <= schema["maximum"]
    if schema["type"] == "boolean":
        return isinstance(value, bool)
    return isinstance(value, str) and schema["minLength"] <= len(value) <= schema["maxLength"]


def _call(name: str, **arguments: object) -> bytes:
    params = {"name": name, "arguments": arguments}
    request = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    return json.dumps(request).encode() + b"\n"


REQUESTS = [
    _call("report", path="k.s") + _call("explain", path="k.s", kernel="first"),
    _call("report", path="a", where="waves < 4 and lds > 32k", kernel="re:fi.*"),
    _call("pressure", path="k.s", kernel="fi*", target="MI210"),
    _call("diff", old="k.s", new="a/b/k.s", workgroup_size=256, trap_handler=False),
    _call("calc", target="gfx1100", vgprs=100, wave_size=32, wgp_mode=True),
    _call("limits", target="gfx90a") + _call("arch") + _call("rules", rule="KI106"),
    _call("report", path="\ud800") + _call("report", path="../x") + _call("nothing"),
    _call("report", path="[") + _call("report", path="**/*.s", member="[x", arch="gfx942"),
    b'{"jsonrpc":"2.0","id":"a","method":"x","params":' + b"9" * 5000 + b"}\n[\n{}\n\xff",
    b'{"jsonrpc":"2.0","params":{"id":3},"id":7,"x":"\\udc00"}\n',
]
