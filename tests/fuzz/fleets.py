"""Datasets of builds, and what servers list."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

from kernelinfo import Problem, Trend
from kernelinfo.compare.saved import checked
from kernelinfo.compare.summary import path_under, summary_of
from kernelinfo.errors import KernelinfoError, OptionError
from kernelinfo.fleet import listing
from kernelinfo.fleet.acceptance import read_accepted, write_accepted
from kernelinfo.fleet.history import Night, compare_nights, locate, trace_histories
from kernelinfo.kernel.code_object import library_of
from kernelinfo.kernel.columns import KernelSums
from kernelinfo.render import View
from kernelinfo.render.paint import harmless

from ..outputs import outputs

_BUILDS = 3
_KINDS = (str, int, float, bool, list, type(None))
_ROWS = [
    json.loads(line)
    for line in Path(__file__).with_name("rows.jsonl").read_text("utf-8").splitlines()
]
"""Rows of a scan, three kernels."""


def trend(data: bytes) -> None:
    """Each line changes a value: `BUILD ROW COLUMN=JSON`; a line without `=` leaves a row out."""
    builds = [[dict(row) for row in _ROWS] for _ in range(_BUILDS)]
    for line in data.decode("utf-8", "replace").splitlines()[:100]:
        place, equals, value = line.partition("=")
        numbers, column = place[:2], place[2:].strip()
        if len(numbers) < 2 or not (numbers.isascii() and numbers.isdigit()):
            continue
        rows = builds[int(numbers[0]) % _BUILDS]
        row = rows[int(numbers[1]) % len(rows)] if rows else {}
        if not equals and row:
            rows.remove(row)
        elif column in row:
            row[column] = _value(value)
    with suppress(TypeError, ValueError):  # which `ask` answers by one line
        _show([_night(str(number), rows) for number, rows in enumerate(builds)])


def _night(name: str, rows: list[dict[str, Any]]) -> Night:
    movers = []
    for record in map(checked, rows):
        path = path_under("", record["Path"], record["Member"])
        movers.append(summary_of(record)._replace(code_object=path))
    libraries = (library_of(mover.file) for mover in movers)
    stamps = dict.fromkeys(libraries, frozenset({f"clang {name}"}))
    targets = tuple(dict.fromkeys(mover.target for mover in movers))
    sums = KernelSums(3, 1.0)
    return Night(name, sums, 0, compilers=stamps, targets=targets, movers=tuple(movers))


def _value(text: str) -> object:
    """JSON values that Parquet holds as they are; others become text."""
    with suppress(ValueError, RecursionError):
        value = json.loads(text)
        if isinstance(value, list):
            return [str(member) for member in value]
        if isinstance(value, _KINDS) and not (isinstance(value, int) and abs(value) >> 63):
            return value
    return text


def _show(nights: list[Night]) -> None:
    code_objects = (mover.code_object for night in nights for mover in night.movers)
    places = {code_object: locate(code_object) for code_object in code_objects}
    steps = tuple(compare_nights(*both, 0, places) for both in pairwise(nights))
    whole = Trend("fleet", tuple(nights), steps, tuple(trace_histories(nights, steps)))
    for format, render in outputs("trend").items():
        shown = harmless("".join(render(whole, View())), color=False)
        assert all(c.isprintable() or c == "\n" or ord(c) > 159 for c in shown), format
        if format == "json":
            json.loads(shown)


class _Server:
    """A client of HTTP that is given the bytes for each page, and answers for each file."""

    protocol = "http"
    async_impl = True

    def __init__(self, data: bytes) -> None:
        headers, _, self._page = data.partition(b"\n")
        self._headers = dict(
            pair.partition("=")[::2]
            for pair in headers.decode("utf-8", "replace").split(";")
            if "=" in pair
        )

    @contextmanager
    def open(self, url: str, **_: object) -> Iterator[Any]:
        body = io.BytesIO(self._page)
        headers = dict(self._headers)
        if not headers.get("Content-Length", "0").isdecimal():
            del headers["Content-Length"]  # which aiohttp refuses
        yield SimpleNamespace(r=SimpleNamespace(headers=headers), read=body.read)

    def info(self, url: str, timeout: float) -> dict[str, Any]:
        if "size" in self._headers and not self._headers["size"].isascii():
            raise ValueError(self._headers["size"])
        size = self._headers.get("size", "7")
        return {**self._headers, "size": int(size[:18]) if size.isdecimal() else None}

    def isfile(self, url: str) -> bool:
        return False

    def invalidate_cache(self) -> None:
        pass

    def unstrip_protocol(self, path: str) -> str:
        return path


def pages(data: bytes) -> None:
    """The first line has headers, as `ETag=x;size=3`; the rest is the page of every folder."""
    server = _Server(data)
    top = "http://host/a/"
    with (
        patch.object(listing, "MOST_PAGES", 20),
        patch.object(listing, "store", lambda url: (server, url)),
        patch.object(listing, "within_time", lambda seconds: {}),
    ):
        for entry in listing.find(top, 1, set()):
            if not isinstance(entry, listing.InputFile):
                assert isinstance(entry, Problem)
                assert entry.message
                continue
            assert entry.url.startswith(top)
            assert entry.path
            assert entry.modified is None or len(entry.modified) <= 200
            assert "::" not in entry.url
            list(listing.tasks(listing.units([entry]), 2, "run"))


def locks(data: bytes) -> None:
    """A lock file of any content is held, over or damaged; a scan then takes it or is refused."""
    from kernelinfo.fleet.dataset import Dataset  # duckdb, which tests without extras lack
    from kernelinfo.fleet.recording import Lock, held

    with TemporaryDirectory() as folder:
        file = Path(folder, "inputs", "Build=b", "lock")
        file.parent.mkdir(parents=True)
        file.write_bytes(data)
        lock, refused = Lock(Dataset(folder), "b", "", 60), ""
        try:
            with held(lock):
                lock.check()
        except KernelinfoError as error:
            refused = str(error)
        assert ("is being written by" in refused) if refused else not file.exists()
        assert not refused or file.read_bytes() == data


def accepted_problems(data: bytes) -> None:
    """A list of accepted problems is read whole, or one error names it."""
    with TemporaryDirectory() as folder:
        file = Path(folder, "known.json")
        file.write_bytes(data)
        try:
            problems = read_accepted(str(file))
        except OptionError:
            return
        write_accepted(str(file), problems)
        assert read_accepted(str(file)) == problems


TREND_SEEDS = [
    b"10VGPR_Used=500\n10Waves_Per_SIMD=1.0\n11Symbol=_ZN2v24scanEPf\n22\n",
    b"00Compiler=null\n21Target=gfx942:xnack+\n12Limiters=[]\n11Path=x/\x1b[31m\n",
    b"20Occupancy_Percent=NaN\n10VGPR_Spills=-1\n01Scratch_Size=9223372036854775807\n",
    b'10Member=a\n20Compiled_For=gfx90a\n10Dynamic_Stack=true\n22Source_File="x"\n',
    *(f'10{name}=null\n11{name}=-1\n21{name}="\u001b"\n'.encode() for name in _ROWS[0]),
    *(f"12{name}=1e300\n02{name}=[7]\n22{name}=true\n".encode() for name in _ROWS[0]),
    b"11Symbol=_Z1f1AIiiE\n21Symbol=_Z1g1AIiiE\n10Code_Size=1e308\n",
]
PAGE_SEEDS = [
    b"\n<a href='x.co'>x</a> <a href=\"deep/\">y</a> <A HREF=../up.co> <a href=?C=N;O=D>",
    b"ETag=x;size=3\n<a href='./a::b.co'><a href='/a/%2e%2e/x'><a href='http://host/a/b/c.co'>",
    b"Content-Encoding=gzip;Content-Length=9\n<a href='a&amp;b.co#frag'><a href='//host/a/x'>",
    b"LastModified=" + b"9" * 300 + b"\n<a href='http://[::1/x'><a href='javascript:1'>" * 3,
]
_HOLDER = b'{"host": "h", "machine": "m", "process": 1, "begun": "", "since": "t", "until": %s}'
LOCK_SEEDS = [
    *(_HOLDER % until for until in (b"0", b"1e99", b"-1", b"NaN", b"Infinity", b'"9"', b"null")),
    _HOLDER.replace(b"1", b"99999999999999999999") % b"1e18",
    _HOLDER.replace(b'"m"', b"{}") % b"1e18",
    b"",
    b"{}",
    b"[" * 10_000,
]
ACCEPTED_SEEDS = [
    b'{"schema": "kernelinfo/accepted-problems/1", "problems": [\n'
    b'{"path": "a/b.co", "member": "", "message": "cut at #"},\n'
    b'{"path": "\\ud800", "member": "x", "message": "\xc3\xa4"}\n]}',
    b'{"schema": "kernelinfo/accepted-problems/1", "problems": [{"path": 1}]}',
    b'{"schema": "kernelinfo/accepted-problems/1", "problems": "abc"}',
]
