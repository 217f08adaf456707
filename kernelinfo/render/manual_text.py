"""Pages of the manual as a terminal shows them: Markdown drawn by rich, read with a pager."""

from __future__ import annotations

import io
import os
import pydoc
import re

from rich.console import Console
from rich.markdown import Markdown

from kernelinfo.render import View

_COMMENT = re.compile(r"<!--[^<>]*-->\n?")
_PARAGRAPH = re.compile(r"\n(?=(?:What it finds|Why it matters|What to do): )")
"""Starts of paragraphs in the documentation of a rule."""


def drawn(page: str, view: View) -> str:
    """The Markdown of a page or of a rule's documentation as text of the view's width."""
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
    """Show a text on the terminal with the user's pager; less keeps colours and ends by itself."""
    os.environ.setdefault("LESS", "-FRX")  # as git sets it
    pydoc.pager(text)
