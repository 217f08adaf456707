"""The manual as HTML pages: all topics, every link leads somewhere, rules where SARIF links to."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from kernelinfo import __version__, manual
from kernelinfo.rules import every_rule

from ..test_golden import run
from .recipes import REPOSITORY


class Anchors(HTMLParser):
    """Links, anchors and open elements of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.ids: set[str] = set()
        self.text = ""
        self.tags: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.tags.add(tag)
        self.ids |= {given["id"] or ""} if "id" in given else set()
        self.links += [given["href"] or ""] if tag == "a" else []

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Anchors]:
    folder = tmp_path_factory.mktemp("pages")
    assert run("explain", "--format", "html", "-o", "manual/pages", folder=folder) == ("", "", 0)
    found = (folder / "manual" / "pages").iterdir()
    return {path.name: Anchors(path.read_text("utf-8")) for path in found}


def test_there_is_a_page_for_each_topic_and_an_index(pages: dict[str, Anchors]) -> None:
    assert pages.keys() == {"index.html", *(f"{topic}.html" for topic in manual.topics())}
    for topic, title in manual.topics().items():
        assert title in pages[f"{topic}.html"].text
        assert f"{topic}.html" in pages["index.html"].links


def test_every_link_leads_somewhere(pages: dict[str, Anchors]) -> None:
    root = Path(__file__).parents[2]
    for name, page in pages.items():
        for link in page.links:
            if file := re.match(rf"{REPOSITORY}/blob/v{__version__}/(.+)", link):
                assert (root / file[1]).exists(), link
            elif not link.startswith("https://"):
                target, _, anchor = link.partition("#")
                assert not anchor or anchor in pages[target or name].ids, link
                assert target in pages, link


def test_a_rule_has_the_anchor_that_code_scanning_links_to(pages: dict[str, Anchors]) -> None:
    assert {rule.number.lower() for rule in every_rule()} <= pages["rules.html"].ids


def test_tables_are_tables_and_comments_are_gone(pages: dict[str, Anchors]) -> None:
    assert "table" in pages["inputs.html"].tags
    assert not any("<!--" in page.text or "| --- |" in page.text for page in pages.values())
    assert not {"script", "img", "iframe"} & set().union(*(page.tags for page in pages.values()))


def test_it_needs_a_folder(tmp_path: Path) -> None:
    out, err, code = run("explain", "--format", "html", folder=tmp_path)
    assert (out, code) == ("", 2)
    assert err.endswith("give -o DIR\n")
    (tmp_path / "file").touch()
    out, err, code = run("explain", "--format", "html", "-o", "file", folder=tmp_path)
    assert code == 2
    assert err.startswith("kernelinfo: -o file:")
