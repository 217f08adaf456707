"""The HTML report as a file: one, self-contained, small, and safe whatever a kernel is called."""

from __future__ import annotations

import json
import re
import zlib
from base64 import b64decode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kernelinfo.kernel import Item, Result
from kernelinfo.render import View, renderer
from kernelinfo.render.html.dataset import MOST_OF_A_NAME

from ..conftest import FIXTURES
from ..test_golden import OCCUPANCY, run
from .fleets import fleet, page, renamed

THOUSAND = 1_000_000
"""Bytes that the page of a thousand kernels may have."""


PIECE = re.compile(
    r'<script type="application/json" data-piece="(\w+)"( data-packed)?>(.*?)</script>'
)


def values_of(page: str, kind: str) -> list[Any]:
    """The pieces of a kind, unpacked."""
    found = [(packed, text) for each, packed, text in PIECE.findall(page) if each == kind]
    texts = [zlib.decompress(b64decode(text)) if packed else text for packed, text in found]
    return [json.loads(text) for text in texts]


def data_of(page: str) -> dict[str, Any]:
    """The data of all pieces, joined as the page joins them."""
    data: dict[str, Any] = {}
    for values in values_of(page, "data"):
        for name, value in values.items():
            data[name] = data[name] + value if name in data else value
    return data


def test_a_thousand_kernels_take_less_than_a_megabyte() -> None:
    text = page(fleet(1000))
    assert len(data_of(text)["kernels"]) == 1000
    assert len(text.encode()) < THOUSAND


def test_no_two_scripts_define_the_same_name() -> None:
    text = page(fleet(10))
    names = re.findall(r"^(?:function|const|let) (\w+)", text, re.MULTILINE)
    assert len(names) > 100
    assert sorted(names) == sorted(set(names))


def test_nothing_is_fetched_and_the_page_forbids_it_itself() -> None:
    text = page(fleet(10))
    assert "default-src 'none'" in text
    assert re.findall(r"""(?:src|href)\s*=\s*["'](?!data:)""", text.split("<main")[0]) == []
    assert re.findall(r"@import|url\((?!#|\"#|data:)|\bfetch\(|XMLHttpRequest|import\(", text) == []


def test_a_page_of_few_kernels_is_readable_text_and_one_of_many_is_packed() -> None:
    few, many = page(fleet(50)), page(fleet(5000))
    assert not any(packed for _, packed, _ in PIECE.findall(few))
    assert len(data_of(many)["kernels"]) == 5000
    assert len(values_of(many, "data")) > 3
    assert sum(map(len, values_of(many, "details"))) == 5000
    assert len(many) - len(few) < 100 * 5000


def test_kernels_are_written_before_all_are_read() -> None:
    """Memory is bounded: no kernel is kept but its names and what others share."""
    read = 0

    def counted() -> Iterator[Item]:
        nonlocal read
        for item in fleet(9000):
            read += 1
            yield item

    seen = ""
    for text in renderer("html")(counted(), View()):
        seen = "".join((seen, text))
        if 'data-piece="details"' in seen:
            break
    assert 0 < read < 5000


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


def test_names_cannot_leave_their_place() -> None:
    text = page(renamed(HOSTILE))
    assert text.count("<script") == page(renamed(["plain"] * len(HOSTILE))).count("<script")
    assert "\u202e" not in text
    titles = data_of(text)["titles"]
    assert len(titles) == len(HOSTILE)
    assert not any(sign in shown for shown, *_ in titles for sign in "\u202e\x1b")
    text.encode()


def test_names_cannot_leave_a_packed_piece() -> None:
    names = [f"{name}{number}" for number in range(300) for name in HOSTILE]
    text = page(renamed(names))
    for packed, piece in ((packed, piece) for _, packed, piece in PIECE.findall(text)):
        assert not packed or re.fullmatch("[A-Za-z0-9+/]+=*", piece)
    assert text.count("<script") == page(renamed(["plain"] * len(names))).count("<script")
    assert len(data_of(text)["titles"]) == len(names)
    assert "\u202e" not in json.dumps(data_of(text), ensure_ascii=False)


def test_a_megabyte_of_a_name_is_cut_and_its_length_stated() -> None:
    text = page(renamed(["x" * 1_000_000]))
    ((shown, symbol, length),) = data_of(text)["titles"]
    assert (len(shown), symbol, length) == (MOST_OF_A_NAME, "", 1_000_000)
    assert len(text) < THOUSAND


LONG = "void library::detail::scan_by_key<library::config<256u, 4u>, float const*, float, {}>(int)"


def test_titles_are_the_short_names_each_its_own() -> None:
    """Titles are the text report's names, also of kernels that differ late in their arguments."""
    items = list(renamed([LONG.format("plus<float>"), LONG.format("minus<float>")]))
    results = [
        item._replace(kernel=item.kernel._replace(symbol=f"_Z{number}"))
        for number, item in enumerate(items)
        if isinstance(item, Result)
    ]
    briefs = data_of(page(iter(results)))["briefs"]
    assert briefs == [
        "scan_by_key<config<256, 4>, float const*, float, plus<float>>",
        "scan_by_key<config<256, 4>, float const*, float, minus<float>>",
    ]
    text = "".join(renderer("text")(iter(results), View(names="short")))
    assert all(brief in text for brief in briefs)


def test_problems_are_in_the_page_too() -> None:
    out, _, code = run("broken/unknown-target.s", "--format", "html")
    data = data_of(out)
    assert code == 2
    assert "gfx9999" in json.dumps(data["problems"])
    assert [kernel[data["columns"].index("case")] for kernel in data["kernels"]] == [None]


def test_explain_writes_the_page_of_its_kernel(tmp_path: Path) -> None:
    written = tmp_path / "kernel.html"
    arguments = ("explain", f"assembly/{OCCUPANCY}.s", "vgprbound", "--format", "html")
    assert run(*arguments, "-o", str(written)) == ("", "", 0)
    data = data_of(written.read_text("utf-8"))
    assert [title[0] for title in data["titles"]] == ["vgprbound(int, double*)"]


def test_answers_without_kernels_have_no_page() -> None:
    _, err, code = run("limits", "--arch", "gfx90a", "--format", "html")
    assert code == 2
    assert "'html' is not one of" in err


def test_the_same_input_gives_the_same_page() -> None:
    path = str(FIXTURES / "assembly" / f"{OCCUPANCY}.s")
    assert run(path, "--format", "html") == run(path, "--format", "html")
