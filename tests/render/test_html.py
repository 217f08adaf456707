"""The HTML report as a file: one, self-contained, small, and safe whatever a kernel is called."""

from __future__ import annotations

import json
import re
import zlib
from base64 import b64decode
from collections.abc import Iterator
from typing import Any

from kernelinfo.kernel import Item, Result
from kernelinfo.render import View

from ..conftest import FIXTURES
from ..outputs import outputs
from ..test_golden import OCCUPANCY, run
from .fleets import fleet, page, renamed

MEGABYTE = 1_000_000
"""Bytes that the page of a thousand kernels may have."""
PIECE = re.compile(
    r'<script type="application/json" data-piece="(\w+)"( data-packed)?>(.*?)</script>'
)
HOSTILE = [
    "</script><script>alert(1)</script>",
    "<!--<script>",
    "<img src=x onerror=alert(1)>",
    "\"quoted\" 'twice' & more",
    "left\u202eright",
    "line\u2028separator",
    "\x1b[31mred",
    "not\udc80text",
]
LONG = "void library::detail::scan_by_key<library::config<256u, 4u>, float const*, float, {}>(int)"


def values_of(page: str, kind: str) -> list[Any]:
    """The pieces of a kind, unpacked."""
    pieces = [(packed, text) for each, packed, text in PIECE.findall(page) if each == kind]
    texts = [zlib.decompress(b64decode(text)) if packed else text for packed, text in pieces]
    return [json.loads(text) for text in texts]


def data_of(page: str) -> dict[str, Any]:
    """The data of all pieces, joined as the page joins them."""
    data: dict[str, Any] = {}
    for values in values_of(page, "data"):
        for name, value in values.items():
            data[name] = data[name] + value if name in data else value
    return data


def test_a_page_is_small_and_fetches_nothing() -> None:
    text = page(fleet(1000))
    assert len(data_of(text)["kernels"]) == 1000
    assert len(text.encode()) < MEGABYTE
    names = re.findall(r"^(?:function|const|let) (\w+)", text, re.MULTILINE)
    assert len(names) > 100
    assert sorted(names) == sorted({*names}), "two scripts define a name"
    assert "default-src 'none'" in text
    assert re.findall(r"""(?:src|href)\s*=\s*["'](?!data:)""", text.split("<main")[0]) == []
    assert re.findall(r"@import|url\((?!#|\"#|data:)|\bfetch\(|XMLHttpRequest|import\(", text) == []
    path = str(FIXTURES / "assembly" / f"{OCCUPANCY}.s")
    assert run(path, "--format", "html") == run(path, "--format", "html")


def test_a_page_of_many_kernels_is_packed_and_written_before_all_are_read() -> None:
    """Memory is bounded: no kernel is kept but its names and what others share."""
    assert not any(packed for _, packed, _ in PIECE.findall(page(fleet(50))))
    read, seen, first = 0, [], 0

    def counted() -> Iterator[Item]:
        nonlocal read
        for item in fleet(5000):
            read += 1
            yield item

    for text in outputs("report")["html"](counted(), View()):
        seen.append(text)
        if 'data-piece="details"' in "".join(seen[-9:]):
            first = first or read
    assert 0 < first < 5000
    many = "".join(seen)
    assert len(data_of(many)["kernels"]) == 5000
    assert len(values_of(many, "data")) > 3
    assert sum(map(len, values_of(many, "details"))) == 5000


def test_names_cannot_leave_their_place_packed_or_not() -> None:
    for times in (1, 100):
        names = [f"{name}{number}" for number in range(times) for name in HOSTILE]
        text = page(renamed(names))
        text.encode()
        assert text.count("<script") == page(renamed(["plain"] * len(names))).count("<script")
        pieces = [piece for _, packed, piece in PIECE.findall(text) if packed]
        assert all(re.fullmatch("[A-Za-z0-9+/]+=*", piece) for piece in pieces)
        titles = data_of(text)["titles"]
        assert len(titles) == len(names)
        assert not any(sign in shown for shown, *_ in titles for sign in "\u202e\x1b")
        assert "\u202e" not in text + json.dumps(data_of(text), ensure_ascii=False)


def test_a_megabyte_of_a_name_is_cut_and_its_length_stated() -> None:
    text = page(renamed(["x" * 1_000_000]))
    ((shown, symbol, length),) = data_of(text)["titles"]
    assert (shown, symbol, length) == ("x" * 4000, "", 1_000_000)
    assert len(text) < MEGABYTE


def test_titles_are_the_short_names_each_its_own() -> None:
    """Titles are the text report's names, also of kernels that differ late in their arguments."""
    results = [
        item._replace(kernel=item.kernel._replace(symbol=f"_Z{number}"))
        for number, item in enumerate(renamed([LONG.format("plus"), LONG.format("minus")]))
        if isinstance(item, Result)
    ]
    briefs = data_of(page(iter(results)))["briefs"]
    assert briefs == [
        f"scan_by_key<config<256, 4>, float const*, float, {name}>" for name in ("plus", "minus")
    ]
    text = "".join(outputs("report")["text"](iter(results), View(names="short")))
    assert all(brief in text for brief in briefs)
