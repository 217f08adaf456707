"""The README's picture of the terminal; `pytest --regen` draws it anew."""

from __future__ import annotations

import contextlib
import io
from xml.etree import ElementTree

from rich.console import Console
from rich.text import Text

from kernelinfo.analysis import analyse
from kernelinfo.analysis.options import Options
from kernelinfo.render import View
from kernelinfo.render.text import render

from ..conftest import FIXTURES

PICTURE = FIXTURES / "pictures" / "report.svg"
SHOWN = "fixtures/assembly/spills-clang22-gfx90a.s"
COLUMNS = 100


def report() -> str:
    """The screen of a terminal of 100 columns."""
    with contextlib.chdir(FIXTURES.parent):
        return "".join(
            render(analyse([SHOWN], Options()), View(width=COLUMNS, fold=True, color=True))
        )


def picture() -> str:
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True)
    console.print(Text.from_ansi(report().rstrip("\n")))
    return console.export_svg(title=f"kernelinfo {SHOWN}", unique_id="kernelinfo")


def texts(svg: str) -> list[str]:
    """The text of a picture, line by line, without rich's markup."""
    found = ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")
    lines = ("".join(text.itertext()).replace("\xa0", " ").strip() for text in found)
    return [line for line in lines if line]


def test_the_picture_is_current(regenerate: bool) -> None:
    """Its words; how rich draws them may differ from one version to the next."""
    if regenerate:
        PICTURE.write_text(picture(), "utf-8")
    drawn = texts(PICTURE.read_text("utf-8"))
    assert drawn == texts(picture())
    assert any("KI302" in line for line in drawn)


def test_a_picture_is_the_same_every_time() -> None:
    assert picture() == picture()
