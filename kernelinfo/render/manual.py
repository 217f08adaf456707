"""Pages of the manual, from the Markdown that `explain TOPIC` prints: laid out by rich for a
terminal and its pager, and as static HTML, one page per topic."""

from __future__ import annotations

import io
import os
import pydoc
import re
from collections.abc import Iterator
from html import escape
from itertools import pairwise

from markdown_it import MarkdownIt
from markdown_it.token import Token
from rich.console import Console
from rich.markdown import Markdown

import kernelinfo.manual as manual
from kernelinfo import __version__
from kernelinfo.render import REPOSITORY, View

_FILES = f"{REPOSITORY}/blob/v{__version__}/"
_CURRENT = ' aria-current="page"'
_WHOLE = 28
"""Most characters of inline code that stays on one line."""
_COMMENT = re.compile(r"<!--[^<>]*-->\n?")
_PARAGRAPH = re.compile(r"\n(?=(?:What it finds|Why it matters|What to do): )")
"""Starts of paragraphs in the documentation of a rule."""
_STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 60rem; padding: 1rem;
  overflow-wrap: break-word; }
h1 { font-size: 26px; line-height: 1.25; } h2 { font-size: 20px; } h3 { font-size: 17px; }
a { color: #0b62a8; }
nav { border-bottom: 1px solid #8886; padding-bottom: .5rem; font-size: 14px; }
nav a { display: inline-block; margin-right: .8rem; text-decoration: none; }
nav a:hover { text-decoration: underline; }
nav [aria-current] { color: inherit; font-weight: 600; }
pre { overflow-x: auto; padding: .6rem; border: 1px solid #8886; border-radius: 4px; }
code { font: 14px/1.4 ui-monospace, monospace; }
.whole { white-space: nowrap; }
table { border-collapse: collapse; display: block; overflow-x: auto; }
th, td { border: 1px solid #8886; padding: .2rem .5rem; text-align: left; vertical-align: top; }
@media (max-width: 640px) {
  h1 { font-size: 22px; }
  table { font-size: 13px; line-height: 1.4; } th, td { padding: .2rem .3rem; }
  pre code, table code { font-size: 12.5px; }
}
@media (prefers-color-scheme: dark) { a { color: #6cb6f0; } }
@media print { nav { display: none; } pre { white-space: pre-wrap; } }
"""


def drawn(page: str, view: View) -> str:
    """The Markdown of a page or a rule's documentation, laid out as text for the view's width."""
    text = _PARAGRAPH.sub("\n\n", _COMMENT.sub("", page))
    screen = io.StringIO()
    console = Console(
        file=screen,
        width=view.width,
        force_terminal=view.color,
        color_system="standard" if view.color else None,
        legacy_windows=False,
    )
    console.print(Markdown(text, code_theme="ansi_dark", hyperlinks=False))
    return "".join(f"{line.rstrip()}\n" for line in screen.getvalue().splitlines())


def show(text: str) -> None:
    """Show a text on the terminal with the user's pager; less keeps colours, and ends by itself if
    the text fits on the screen."""
    os.environ.setdefault("LESS", "-FRX")  # as git sets it
    pydoc.pager(text)


def html_pages() -> Iterator[tuple[str, str]]:
    """(file name, HTML) of each topic, and of an index; links are relative, and nothing is
    fetched."""
    topics = manual.topics()
    rows = (
        f'<li><a href="{topic}.html">{escape(title)}</a></li>' for topic, title in topics.items()
    )
    listed = f"<h1>kernelinfo {__version__}</h1>\n<ul>\n" + "\n".join(rows) + "\n</ul>"
    yield "index.html", _page("index", "The manual of kernelinfo", listed, topics)
    for topic, title in topics.items():
        yield f"{topic}.html", _page(topic, title, _body("".join(manual.page(topic))), topics)


def _body(text: str) -> str:
    """The HTML of a page's Markdown; headings have the anchors that GitHub gives them."""
    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = markdown.parse(_COMMENT.sub("", text))
    for heading, content in pairwise(tokens):
        if heading.type == "heading_open":
            heading.attrSet("id", _anchor(content.content))
    for token in tokens:
        for link in token.children or ():
            _lead_to_the_repository(link)
            _keep_whole(link)
    html: str = markdown.renderer.render(tokens, markdown.options, {})
    return html


def _lead_to_the_repository(token: Token) -> None:
    """Turn a link to a file of the package into a link to the repository at the version's tag."""
    target = token.attrGet("href") if token.type == "link_open" else None
    if isinstance(target, str) and target.startswith("kernelinfo/"):
        token.attrSet("href", _FILES + target)


def _keep_whole(token: Token) -> None:
    """Make inline code one unbroken word, such as `--names short`, if a phone has room for it."""
    if token.type == "code_inline" and len(token.content) <= _WHOLE:
        token.attrSet("class", "whole")


def _anchor(heading: str) -> str:
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def _page(name: str, title: str, body: str, topics: dict[str, str]) -> str:
    links = "\n".join(
        f'<a href="{topic}.html"{_CURRENT * (topic == name)}>{topic}</a>'
        for topic in ("index", *topics)
    )
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width">
<title>{escape(title)}</title>
<style>{_STYLE}</style>
</head>
<body>
<nav>
{links}
</nav>
<main>
{body}
</main>
</body>
</html>
"""
