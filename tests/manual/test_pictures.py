"""The README's pictures of the terminal; `pytest --regen` draws them anew."""

from __future__ import annotations

import contextlib
import io
import shutil
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from xml.etree import ElementTree

from rich.console import Console
from rich.text import Text

from kernelinfo import Options, analyse
from kernelinfo.render import View
from kernelinfo.watch import WatchedOutputs, WatchLook, with_peaks

from ..conftest import FIXTURES
from ..outputs import outputs

PICTURES = FIXTURES / "pictures"
SHOWN = "fixtures/assembly/spills-clang22-gfx90a.s"
COLUMNS = 100
LINES = FIXTURES / "lines"
SAVES = tuple(LINES / f"attention-{name}clang22-gfx942.s" for name in ("", "tile16-"))
TIME = datetime(2026, 11, 23, 14, 3, 22, tzinfo=UTC)


ALT = {
    "report": ["KI302"],
    "watch": [
        "better",
        "12 → 0 VGPRs",
        "VGPR: 176 → 112 allocated",
        "src/attention.hip:",
        "ended KI106",
    ],
}
"""Words in each picture."""


def report() -> str:
    """The screen of a terminal of 100 columns."""
    with contextlib.chdir(FIXTURES.parent):
        view = View(width=COLUMNS, fold=True, color=True)
        return "".join(outputs("report")["text"](analyse([SHOWN], Options()), view))


def look(folder: Path) -> str:
    """The same terminal after a save that halved the tile of a kernel."""
    source = (FIXTURES / "src" / "attention.hip").read_text("utf-8")
    (folder / "src").mkdir()
    (folder / "src" / "attention.hip").write_text(source.replace("TILE = 32", "TILE = 16"))
    view = View(names="short", width=COLUMNS, fold=True, color=True)
    with contextlib.chdir(folder):
        watched = WatchedOutputs(["build"], Options(instructions=False))
        Path("build").mkdir()
        for save in SAVES:
            shutil.copy(save, "build/attention.s")
            found = watched.step()
        assert isinstance(found, WatchLook)
        found = with_peaks(found._replace(time=TIME, seconds=1.94), Options())
        on_screen = import_module("kernelinfo.render.watch").on_screen
        return "".join(on_screen(found, None, "waits for a change; Ctrl-C ends", view, 40))


def picture(screen: str, title: str) -> str:
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True)
    console.print(Text.from_ansi(screen.rstrip("\n")))
    return console.export_svg(title=title, unique_id="kernelinfo")


def pictures(folder: Path) -> dict[str, str]:
    """Name of each picture -> its SVG."""
    return {
        "report": picture(report(), f"kernelinfo {SHOWN}"),
        "watch": picture(look(folder), "kernelinfo watch build --run ninja"),
    }


def texts(svg: str) -> list[str]:
    """The text of a picture, line by line, without rich's markup."""
    found = ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")
    lines = ("".join(text.itertext()).replace("\xa0", " ").strip() for text in found)
    return [line for line in lines if line]


def test_the_pictures_are_current(regenerate: bool, tmp_path: Path) -> None:
    """Their words; how rich draws them may differ from one version to the next."""
    for name, drawn in pictures(tmp_path).items():
        path = PICTURES / f"{name}.svg"
        if regenerate:
            path.write_text(drawn, "utf-8")
        assert texts(path.read_text("utf-8")) == texts(drawn)


def test_the_pictures_show_what_readme_says() -> None:
    shown = {name: texts((PICTURES / f"{name}.svg").read_text("utf-8")) for name in ALT}
    for name, words in ALT.items():
        for word in words:
            assert any(word in line for line in shown[name]), (name, word)


def test_a_picture_is_the_same_every_time() -> None:
    assert picture(report(), "") == picture(report(), "")
