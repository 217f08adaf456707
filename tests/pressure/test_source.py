"""`pressure --source`: source text with live registers in the margin, and its lines."""

from __future__ import annotations

import os
import re
import subprocess
from itertools import islice
from pathlib import Path
from random import Random

import pytest

from kernelinfo.analysis.options import Options
from kernelinfo.pressure import source_text
from kernelinfo.pressure.function import LiveFunction
from kernelinfo.pressure.measure import Look, Measured, measure
from kernelinfo.pressure.source_text import SourceText
from kernelinfo.render import View
from kernelinfo.render.pressure.source import render_source

from ..calls import count_calls
from ..conftest import FIXTURES
from ..test_golden import run
from . import grep, two_routes

LINES = "assembly/tiny-lines-clang22-gfx90a.s"
SYMBOLIZER = "llvm-symbolizer-22"


def test_lines_around_the_peak_have_registers_and_counts_in_the_margin() -> None:
    out, err, code = run("pressure", LINES, "add", "--source", "--top", "2")
    assert (err, code) == ("", 0)
    text = (FIXTURES / "src" / "tiny.hip").read_text("utf-8").splitlines()
    shown = re.findall(r"^ [ ►] .* (\d+) \|(?: (.*))?$", out, re.MULTILINE)
    assert [int(number) for number, _ in shown] == [13, 14, 15, 16, 17]
    assert all(line.rstrip() == text[int(number) - 1].rstrip() for number, line in shown)
    assert re.search(r"^ ► +2 +9 +1 +1 +2 +15 \| ", out, re.MULTILINE)


def calls_for_first_lines(folder: Path, last: int) -> int:
    """Calls for the first lines of a text with instructions of line 15 up to line `last`."""
    (folder / "a.hip").write_text("\n" * last)
    text = (FIXTURES / LINES).read_text("utf-8").replace('"src/tiny.hip"', '"a.hip"')
    (folder / "k.s").write_text(text.replace(".loc\t0 15 70", f".loc\t0 {last} 70"))
    one = next(item for item in measure(str(folder / "k.s"), Options(), Look()) if item)
    assert isinstance(one, Measured)
    source = SourceText(str(folder))
    return count_calls(lambda: [*islice(render_source(one, source, View(top=0)), 20)])


def test_all_lines_of_a_long_text_are_not_held(tmp_path: Path) -> None:
    """With --top 0 each line is made when it is asked for; 4 MB of newlines took 1.1 GB."""
    few, many = (calls_for_first_lines(tmp_path, last) for last in (200, 20_000))
    assert many < 1.5 * few


def test_no_source_text_unless_asked() -> None:
    out, _, _ = run("pressure", LINES, "add")
    assert "__global__" not in out


def test_a_text_that_is_not_found_is_named(tmp_path: Path) -> None:
    path = tmp_path / "k.s"
    path.write_text((FIXTURES / LINES).read_text("utf-8").replace('"src/tiny.hip"', '"src/no.hip"'))
    out, _, code = run("pressure", str(path), "add", "--source")
    assert code == 0
    assert "no source text: src/no.hip is not found; give --source-root DIR" in out
    assert "no.hip:15" in out


def test_the_root_is_searched_by_the_last_parts_of_a_path(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "a.hip").write_text("one\ntwo\n")
    (tmp_path / "b.hip").write_text("b\n")
    text = SourceText(str(tmp_path))
    assert text.lines("/home/someone/deep/a.hip") == ["one", "two"]
    assert text.lines("/elsewhere/b.hip") == ["b"]
    inside = SourceText(str(tmp_path / "deep"))
    assert "is not found" in inside.lines("../b.hip")


def naming(folder: Path, file: str, name: str = "k.s") -> Path:
    """An assembly in `folder` whose debug information names `file`."""
    folder.mkdir(parents=True, exist_ok=True)
    text = (FIXTURES / LINES).read_text("utf-8").replace('"src/tiny.hip"', f'"{file}"')
    (folder / name).write_text(text)
    return folder / name


SECRET = "".join(f"secret {number}\n" for number in range(1, 40))


@pytest.mark.parametrize("format", ["text", "html"])
@pytest.mark.parametrize(
    "file",
    [
        *("{above}/secret", "../secret", "link", "linked/secret", "x/../../secret"),
        *("/proc/self/status", "/proc/self/cmdline", "/proc/self/root{above}/secret", "/dev/zero"),
        *("/sys/kernel/mm/transparent_hugepage/enabled", "fifo", "/dev/fd/0", "dangling", "loop"),
    ],
)
def test_text_that_lies_elsewhere_is_not_shown(file: str, format: str, tmp_path: Path) -> None:
    """The input names the file. It chooses none outside of the folders that the user named."""
    (tmp_path / "secret").write_text(SECRET)
    root = tmp_path / "inside"
    naming(root, file.format(above=tmp_path))
    links = {"link": "../secret", "linked": "..", "dangling": "no", "loop": "loop"}
    for name, target in links.items():
        (root / name).symlink_to(target)
    os.mkfifo(root / "fifo")
    words = ("--source", "--source-root", ".", "--format", format, "--top", "0")
    out, _, code = run("pressure", "k.s", "add", *words, folder=root)
    assert code == 0
    assert "secret 1" not in out
    assert "source text read from" not in out
    assert 'data-piece="source"' not in out
    if format == "text":
        assert "no source text: " in out


@pytest.mark.parametrize("current", [".", "a", "/"])
@pytest.mark.parametrize("path", ["a/k.s", "a"])
def test_text_below_what_the_user_named_is_shown_and_listed(
    current: str, path: str, tmp_path: Path
) -> None:
    """The folder of the input counts, and the current one unless it is the root of all files."""
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "x.hip").write_text(SECRET)
    (tmp_path / "y.hip").write_text(SECRET)
    naming(tmp_path / "a", f"{tmp_path}/a/b/x.hip")
    words = ("add", "--source", "--top", "1")
    out, _, code = run("pressure", str(tmp_path / path), *words, folder=tmp_path / current)
    assert code == 0
    assert "secret 15" in out
    assert f"source text read from {tmp_path}/a/b/x.hip" in " ".join(out.split())
    naming(tmp_path / "a", f"{tmp_path}/y.hip")
    out, _, _ = run("pressure", str(tmp_path / path), *words, folder=tmp_path / current)
    assert ("secret 15" in out) == (current == ".")


def test_a_page_lists_the_files_whose_text_it_holds(tmp_path: Path) -> None:
    for command in (("report",), ("pressure",)):
        out, _, code = run(*command, LINES, "--source", "--format", "html")
        assert code == 0
        assert re.search(r'data-piece="?source"?[^>]*>"src/tiny.hip"<', out)


def test_names_of_one_file_share_its_text_and_all_texts_have_a_bound(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a", "b", "c"):
        (tmp_path / name).write_text("x" * 1000)
    monkeypatch.setattr(source_text, "_MOST_IN_ALL", 2000)
    text = SourceText(str(tmp_path))
    assert all(text.lines(f"/{number}/a") is text.lines("a") for number in range(100))
    assert isinstance(text.lines("b"), list)
    assert "more than 64 MiB" in text.lines("c")
    assert text.shown == [f"{tmp_path}/a", f"{tmp_path}/b"]


@pytest.mark.parametrize("parts", [200_000, 2_000])
def test_a_path_of_many_parts_is_looked_for_in_bounded_work(parts: int, tmp_path: Path) -> None:
    """One path was tried for each part, 200,000 times 400 kB."""
    text = SourceText(str(tmp_path))
    assert count_calls(lambda: text.lines("/".join("a" * parts))) < 20_000


def test_lines_are_counted_as_compilers_count_them(tmp_path: Path) -> None:
    path = tmp_path / "a.hip"
    path.write_bytes("one\f1\r\ntwo\u2028 2\rthree\n".encode())
    assert SourceText(str(tmp_path)).lines("a.hip") == ["one\f1", "two\u2028 2", "three"]


@pytest.mark.skipif(not os.path.isfile("/proc/kmsg"), reason="no file waits for ever here")
def test_a_file_that_waits_for_ever_is_not_read() -> None:
    assert "is a file of the system" in SourceText("/").lines("/proc/kmsg")


@pytest.mark.parametrize(
    ("content", "reason"), [(b"a\0b", "is no text"), (b"a" * ((4 << 20) + 1), "more than 4 MiB")]
)
def test_what_is_no_source_is_refused(tmp_path: Path, content: bytes, reason: str) -> None:
    path = tmp_path / "a.hip"
    path.write_bytes(content)
    assert reason in SourceText(None).lines(str(path), str(tmp_path))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("pressure", LINES, "--source"), "give KERNEL"),
        (("pressure", LINES, "add", "--source", "--format", "json"), "as text"),
        (("pressure", LINES, "add", "--source-root", "no-such-folder"), "is no folder"),
        (("report", LINES, "--source"), "in --format html alone"),
        (("report", LINES, "--source", "--format", "html", "--by", "target"), "html alone"),
        (("report", LINES, "--source-root", "no", "--format", "html"), "is no folder"),
    ],
)
def test_wrong_usage(arguments: tuple[str, ...], message: str) -> None:
    out, err, code = run(*arguments)
    assert (out, code) == ("", 2)
    assert message in err


def functions_of(path: Path) -> dict[str, LiveFunction]:
    """Symbol → function of each kernel of a file."""
    found: list[LiveFunction] = []
    items = measure(str(path), Options(), Look(at=found.append))
    symbols = [item.result.kernel.symbol for item in items if isinstance(item, Measured)]
    return dict(zip(symbols, found, strict=True))


@pytest.mark.nightly
@two_routes.needed
def test_lines_are_those_of_the_symbolizer_and_of_the_text(tmp_path: Path) -> None:
    compared = 0
    for target in grep.TARGETS:
        text, linked = grep.compiled(Random(f"lines {target}"), target, 10, tmp_path, "-g")
        objects, texts = functions_of(linked), functions_of(text)
        assert objects.keys() == texts.keys()
        for symbol, function in objects.items():
            code = [one for one in function.instructions if one.effect.mnemonic != "s_nop"]
            stated = [one for one in texts[symbol].instructions if one.is_code]
            stated = [one for one in stated if one.effect.mnemonic != "s_nop"]
            assert [one.source and one.source.line for one in code] == [
                one.source and one.source.line for one in stated
            ]
            addresses = [f"0x{one.address:x}" for one in code]
            command = [SYMBOLIZER, "--obj", str(linked), "--no-inlines", "--output-style=GNU"]
            done = subprocess.run([*command, *addresses], capture_output=True, text=True)
            lines = [line.rpartition(":")[2] for line in done.stdout.splitlines()[1::2]]
            ours = [str(one.source.line) if one.source else "?" for one in code]
            theirs = [re.sub(r"^(\d+).*", r"\1", line) for line in lines]
            assert ours == [line if line != "0" else "?" for line in theirs]
            compared += len(ours)
    assert compared >= 1000
