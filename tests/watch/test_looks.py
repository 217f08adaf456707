"""Looks: what they say after a change of the outputs, and what is not read again."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

from kernelinfo import Options, diff
from kernelinfo.watch import WatchedOutputs, WatchLook

from ..conftest import CORPUS, FIXTURES, needs_corpus
from ..manual.recipes import recipe
from ..messages import codes, do_lines_match, says
from ..test_golden import run
from .watching import ASSEMBLY, NEW, OLD, Document, named, replaced, watching

RENDER = FIXTURES.parent / "kernelinfo" / "render"
SCHEMA = json.loads((RENDER / "watch" / "watch-schema.json").read_text("utf-8"))
ROW_SCHEMA = json.loads((RENDER / "row-schema.json").read_text("utf-8"))


@pytest.fixture
def build(tmp_path: Path) -> Path:
    """A build with one assembly of four kernels."""
    (tmp_path / "build").mkdir()
    shutil.copy(OLD, tmp_path / "build" / "k.s")
    return tmp_path / "build"


def watch(*paths: Path) -> WatchedOutputs:
    return WatchedOutputs([*map(str, paths)], Options())


def look(watched: WatchedOutputs) -> WatchLook:
    found = watched.step()
    assert isinstance(found, WatchLook)
    return found


def names(found: WatchLook) -> list[str]:
    return [one.result.kernel.name.partition("(")[0] for one in found.kernels]


def test_a_look_says_what_diff_says(build: Path) -> None:
    watched = watch(build)
    first = look(watched)
    assert not first.changed
    assert names(first) == ["empty", "vgprbound", "ldsbound", "sgprbound"]
    replaced(build / "k.s", NEW.read_bytes())
    second = look(watched)
    pairs = {pair.new.symbol: pair for pair in diff(str(OLD), str(NEW)).pairs}
    for one in second.kernels:
        expected = pairs[one.result.kernel.symbol]
        assert one.since_previous is not None
        assert one.since_previous.why == expected.why
        assert one.moves == expected.moves
        assert one.has_changed == bool(expected.moves)
    assert names(second)[-1] == "empty", "which is as it was"
    assert watched.step() is None


def test_findings_are_new_and_end(build: Path) -> None:
    watched = watch(build)
    look(watched)
    replaced(build / "k.s", NEW.read_bytes())
    padded = next(one for one in look(watched).kernels if one.new_findings)
    assert [finding.rule for finding in padded.new_findings] == ["KI208"]
    replaced(build / "k.s", OLD.read_bytes())
    back = next(one for one in look(watched).kernels if one.ended_findings)
    assert [finding.rule for finding in back.ended_findings] == ["KI208"]


def test_what_moved_since_the_first_look_stays(build: Path) -> None:
    watched = watch(build)
    look(watched)
    replaced(build / "k.s", NEW.read_bytes())
    moved = {one.result.kernel.symbol: one.since_first for one in look(watched).kernels}
    replaced(build / "k.s", NEW.read_bytes() + b"\n")
    again = look(watched)
    assert not again.changed
    assert {one.result.kernel.symbol: one.since_first for one in again.kernels} == moved
    replaced(build / "k.s", OLD.read_bytes())
    assert not any(one.since_first for one in look(watched).kernels)


def test_a_kernel_that_came_later_is_compared_with_its_first_look(build: Path) -> None:
    old, new = OLD.read_bytes(), NEW.read_bytes()
    watched = watch(build)
    (build / "k.s").write_bytes((ASSEMBLY / "tiny-v6-clang22-gfx90a.s").read_bytes())
    look(watched)
    replaced(build / "k.s", old)
    came = look(watched)
    assert not any(one.since_first for one in came.kernels)
    replaced(build / "k.s", new)
    moved = {one.result.kernel.symbol: one.since_previous for one in look(watched).kernels}
    replaced(build / "k.s", new + b"\n")
    again = {one.result.kernel.symbol: one.since_first for one in look(watched).kernels}
    assert again == {symbol: one if one and one.moves else None for symbol, one in moved.items()}
    assert any(again.values())


def test_a_file_with_another_name_keeps_what_moved_since_the_first_look(build: Path) -> None:
    watched = watch(build)
    look(watched)
    replaced(build / "k.s", NEW.read_bytes())
    moved = [one.since_first.why for one in look(watched).kernels if one.since_first]
    (build / "k.s").rename(build / "k2.s")
    renamed = watched.look_after("mv", 0.0, "")
    assert [one.since_first.why for one in renamed.kernels if one.since_first] == moved
    assert moved


def damage_unseen(path: Path) -> None:
    """Other bytes, with the size, time and inode of those before: whoever reads it again tells."""
    before = path.stat()
    with path.open("r+b") as file:
        file.write(bytes(before.st_size))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


@pytest.mark.parametrize("others", [20, pytest.param(3000, marks=pytest.mark.nightly)])
def test_only_the_files_that_changed_are_read_again(build: Path, others: int) -> None:
    rest = [build / f"other{number}.s" for number in range(others)]
    for path in rest:
        shutil.copy(ASSEMBLY / "tiny-v6-clang22-gfx90a.s", path)
    watched = watch(build)
    kernels = len(look(watched).kernels)
    for path in rest:
        damage_unseen(path)
    replaced(build / "k.s", NEW.read_bytes())
    changed = look(watched)
    assert names(changed)[0] == "vgprbound"
    assert (len(changed.kernels), changed.gone) == (kernels, ())


def test_kernels_come_and_go(build: Path) -> None:
    watched = watch(build)
    look(watched)
    shutil.copy(ASSEMBLY / "tiny-v6-clang22-gfx90a.s", build / "more.s")
    came = [one for one in look(watched).kernels if one.is_new]
    assert {one.result.kernel.code_object.path for one in came} == {str(build / "more.s")}
    replaced(build / "k.s", OLD.read_bytes().replace(b"_Z9vgprboundiPd", b"_Z9vgprownediPd"))
    renamed = look(watched)
    assert [one.name for one in renamed.gone] == ["vgprbound(int, double*)"]
    assert names(renamed)[0] == "vgprowned"


def test_a_folder_that_is_deleted_and_made_again_moves_nothing(build: Path) -> None:
    watched = watch(build)
    look(watched)
    shutil.rmtree(build)
    assert watched.step() is None
    build.mkdir()
    shutil.copy(OLD, build / "k.s")
    again = look(watched)
    assert not again.changed
    assert not again.gone


def test_a_deletion_that_lasts_is_told(build: Path) -> None:
    with watching(build.parent, "build") as found:
        assert len(found.look()["kernels"]) == 4
        shutil.rmtree(build)
        gone = found.look()
        assert len(gone["gone"]) == 4
        assert gone["problems"][0]["path"] == "build"
        build.mkdir()
        shutil.copy(NEW, build / "k.s")
        back = found.until(lambda look: look["kernels"])
        assert named(back, "ldsbound")["previous"]["why"].startswith("VGPR: 216 → 264 allocated")


def test_a_half_written_file_is_looked_at_again(build: Path) -> None:
    whole = NEW.read_bytes()
    with watching(build.parent, "build") as found:
        found.look()
        with open(build / "k.s", "wb") as file:
            file.write(whole[: len(whole) // 2])
            file.flush()
            assert found.is_silent(0.4)
            file.write(whole[len(whole) // 2 :])
        assert named(found.look(), "ldsbound")["new"] == ["KI208"]


def test_a_file_that_stays_damaged_is_a_problem(build: Path) -> None:
    with watching(build.parent, "build") as found:
        found.look()
        (build / "k.s").write_bytes(OLD.read_bytes()[:40_000])
        assert found.look()["problems"][0]["path"] == "build/k.s"


def test_ignored_folders_are_left_out_unless_they_are_meant(tmp_path: Path) -> None:
    for folder in (".git", "build/stale", "old"):
        (tmp_path / folder).mkdir(parents=True)
        shutil.copy(OLD, tmp_path / folder / "k.s")
    shutil.copy(OLD, tmp_path / "build" / "k.s")
    (tmp_path / ".gitignore").write_text("# outputs\n/build/\nold\n*.s\n!k.s\n")
    assert look(watch(tmp_path)).kernels == ()
    assert len(look(watch(tmp_path / "build")).kernels) == 8
    (tmp_path / ".gitignore").write_text("old/\nbuild/*\n!build/stale\n*.s\n")
    paths = {one.result.kernel.code_object.path for one in look(watch(tmp_path)).kernels}
    assert paths == {str(tmp_path / "build/k.s"), str(tmp_path / "build/stale/k.s")}


def test_once_is_for_editors(build: Path) -> None:
    out, err, code = run("watch", "k.s", "--once", "--format", "jsonl", folder=build)
    assert (err, code) == ("", 0)
    document = json.loads(out)
    jsonschema.validate(document, SCHEMA)
    rows = [
        json.loads(line) for line in run("k.s", "--format", "jsonl", folder=build)[0].splitlines()
    ]
    shown = [one["row"] for one in document["kernels"]]
    for row, expected in zip(shown, rows, strict=True):
        jsonschema.validate(row, ROW_SCHEMA)
        assert row == expected | {"Kernel_Name": row["Kernel_Name"]}
    peak = named(document, "vgprbound")["peak"]
    assert peak["vector"] == 112
    assembly = OLD.read_text("utf-8").splitlines()
    assert assembly[peak["line"] - 1].split() == peak["instruction"].split()


def test_each_look_fits_its_schema(build: Path) -> None:
    with watching(build.parent, "build", "-k", "*bound*") as found:
        jsonschema.validate(first := found.look(), SCHEMA)
        replaced(build / "k.s", NEW.read_bytes())
        jsonschema.validate(second := found.look(), SCHEMA)
        assert [one["look"] for one in (first, second)] == [1, 2]
        assert {one["status"] for one in second["kernels"]} == {"moved"}
        assert found.interrupt() == 0


def test_the_loop_whose_copies_moved_is_named(build: Path) -> None:
    """Also where all copies go, and with them the finding."""
    looks = []
    with watching(build.parent, "build", "--instructions", "--select", "KI107") as watch:
        for name in ("copies", "copies-vgpr-form", "copies"):
            replaced(build / "k.s", (FIXTURES / "lines" / f"{name}-clang22-gfx942.s").read_bytes())
            looks.append(named(watch.until(lambda look: len(look["kernels"]) == 1), "scaled"))
    (first, fewer, more) = looks
    assert first["previous"] is None
    assert "; loop copies.hip:19: copies 128 → 0, instructions 189 → 60" in fewer["previous"]["why"]
    assert (fewer["new"], fewer["ended"]) == ([], ["KI107"])
    assert "; loop copies.hip:19: copies 0 → 128, instructions 60 → 189" in more["previous"]["why"]
    assert (more["new"], more["ended"]) == (["KI107"], [])


@needs_corpus
def test_missing_archives_in_a_folder_are_told(tmp_path: Path) -> None:
    name = "libmore.so.1.0"
    (tmp_path / "lib").mkdir()
    shutil.copy(CORPUS / "more/kpack/rock/lib" / name, tmp_path / "lib" / name)
    for paths in (["."], [f"lib/{name}", str(FIXTURES / "assembly/occupancy-clang22-gfx90a.s")]):
        out, _, code = run("watch", *paths, "--once", folder=tmp_path)
        assert code == 2, paths
        assert says(out, "kpack-missing"), paths


def test_once_without_a_kernel_is_2(tmp_path: Path) -> None:
    out, _, code = run("watch", "no-such", "--once", folder=tmp_path)
    assert code == 2
    assert says(out, "file-not-yet no-such")


@pytest.mark.parametrize(
    "arguments", [("-k", "typo"), ("--target", "gfx942"), ("--member", "typo")]
)
def test_a_choice_that_matches_nothing_is_2(build: Path, arguments: tuple[str, str]) -> None:
    shutil.copy(OLD, build / "other.s")
    for paths in ([build], [build / "k.s"], [build / "k.s", build / "other.s"]):
        watched = run("watch", *map(str, paths), *arguments, "--once")
        reported = run(*map(str, paths), *arguments)
        assert (watched[1], watched[2], reported[2]) == ("", 2, 2)
        told = [line.strip() for line in watched[0].splitlines()[:-1]]
        assert told == reported[1].splitlines()


def test_lines_end_with_the_sum_of_the_look(build: Path) -> None:
    out, err, code = run("watch", "k.s", "--once", folder=build)
    assert (err, code) == ("", 0)
    lines = out.splitlines()
    assert "k.s:739: 112 vector registers live at the peak of vgprbound: v_fma_f64" in out
    assert lines[-1].startswith("look 1 at ")
    assert lines[-1].endswith(": 4 kernels")


def test_lines_are_whole_in_a_pipe_unless_a_width_is_given(build: Path) -> None:
    whole, _, _ = run("watch", "k.s", "--once", folder=build)
    assert max(map(len, whole.splitlines())) > 60
    folded, _, _ = run("watch", "k.s", "--once", "--width", "60", folder=build)
    assert max(map(len, folded.splitlines())) <= 60


def put(cache: Path, name: str, content: bytes) -> None:
    """Write a file of Triton's cache as `FileCacheManager.put` of triton/runtime/cache.py does."""
    beside = cache / f"tmp.pid_{os.getpid()}_{name}"
    beside.mkdir(parents=True)
    (beside / name).write_bytes(content)
    os.replace(beside / name, cache / name)
    beside.rmdir()


def compile_as_triton(cache: Path, shared: int) -> None:
    """Write the files of one kernel in the order of `compile` of triton/compiler/compiler.py."""
    names = ["tiny.amdgcn", "tiny.hsaco", "tiny.json", "__grp__tiny.json"]
    launch = {"name": "_Z3addPii", "num_warps": 4, "warp_size": 64, "shared": shared}
    group = {"child_paths": {name: str(cache / name) for name in names[:3]}}
    put(cache, names[0], (ASSEMBLY / "tiny-v6-clang22-gfx90a.s").read_bytes())
    put(cache, names[1], (FIXTURES / "code_object" / "tiny-v6-clang22-gfx90a.co").read_bytes())
    put(cache, names[2], json.dumps(launch).encode())
    put(cache, names[3], json.dumps(group).encode())


def test_tritons_cache_while_it_compiles(tmp_path: Path) -> None:
    """Each kernel once, with the LDS that only the JSON states, which is written last.

    pip's triton has more than 200 MB; this writes what it writes, in its order.
    """
    with watching(tmp_path, str(tmp_path)) as found:
        assert found.look()["kernels"] == []
        for number, shared in enumerate((8192, 16384)):
            compile_as_triton(tmp_path / f"hash{number}", shared)
            seen = found.until(lambda look, shared=shared: shared in lds_of(look))
            assert len(seen["kernels"]) == (number + 1) * len(set(symbols_of(seen)))
            assert not seen["gone"]


def lds_of(look: Document) -> list[int]:
    return [one["row"]["Dynamic_LDS"] for one in look["kernels"]]


def symbols_of(look: Document) -> list[str]:
    return [one["row"]["Symbol"] for one in look["kernels"]]


def test_a_failed_build_is_2(build: Path) -> None:
    out, err, code = run(
        "watch", "k.s", "--run", "echo k.hip:7: error; false", "--once", folder=build
    )
    assert (err, code) == ("", 2)
    assert "k.hip:7: error\n" in out
    assert says(out, "command-exit-code 1")
    out, err, code = run("watch", "k.s", "--run", "true", "--once", folder=build)
    assert (err, code) == ("", 0)


def test_wrong_usage_is_2(build: Path) -> None:
    (build / "k.hip").write_text("__global__ void k() {}\n")
    out, err, code = run("watch", "-", folder=build)
    assert (out, code) == ("", 2)
    assert codes(err) == ["watch-stdin"]
    words = ("watch", "k.hip", "--arch", "gfx90a", "--run", "make")
    out, err, code = run(*words, folder=build)
    assert (out, code) == ("", 2)
    assert do_lines_match(err, "watch-source-and-run k.hip")


def test_a_closed_pipe_ends_it(build: Path) -> None:
    done = subprocess.run(
        f"{sys.executable} -m kernelinfo watch build | head -1",
        shell=True,
        cwd=build.parent,
        env=os.environ | {"PYTHONPATH": str(FIXTURES.parent)},
        stdout=subprocess.PIPE,
        timeout=60,
        check=False,
    )
    assert done.stdout.startswith(b"build/k.s   gfx90a")


def test_vs_code_reads_its_lines(build: Path) -> None:
    """The patterns of the manual's task find the peaks, and the end of a look."""
    (task,) = json.loads(recipe("vscode-watch"))["tasks"]
    peaks, errors = task["problemMatcher"]
    out, _, _ = run("watch", "k.s", "--run", "true", "--once", folder=build)
    lines = out.splitlines()
    found = [match for line in lines if (match := re.search(peaks["pattern"]["regexp"], line))]
    assert [(one[1], one[2]) for one in found] == [("k.s", "739"), ("k.s", "1565"), ("k.s", "2347")]
    assert re.search(peaks["background"]["beginsPattern"], lines[0])
    assert re.search(peaks["background"]["endsPattern"], lines[-1])
    told = re.search(errors["pattern"]["regexp"], "k.hip:8:3: error: unknown type name 'flat'")
    assert told is not None
    assert told.groups() == ("k.hip", "8", "3", "error", "unknown type name 'flat'")


@pytest.mark.nightly
@pytest.mark.needs("nvim")
def test_neovim_shows_the_peaks(tmp_path: Path) -> None:
    """The manual's recipe, loaded by Neovim: one diagnostic a kernel, at the line of its peak."""
    (tmp_path / "watch.lua").write_text(recipe("neovim-watch"))
    shutil.copy(FIXTURES / "lines" / "attention-clang22-gfx942.s", tmp_path / "k.s")
    (tmp_path / "ask.lua").write_text(
        "vim.wait(20000, function() return #vim.diagnostic.get() == 2 end)\n"
        "for _, one in ipairs(vim.diagnostic.get()) do io.stdout:write(one.message .. '\\n') end\n"
    )
    steps = ["luafile watch.lua", "KernelinfoWatch k.s --once", "luafile ask.lua", "qa!"]
    commands = [word for step in steps for word in ("-c", step)]
    done = subprocess.run(
        ["nvim", "--headless", "-u", "NONE", *commands],
        cwd=tmp_path,
        env={**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stderr == ""
    assert "attention: 173 vector registers live, 2 waves/SIMD\n" in done.stdout
    assert done.stdout.count("\n") == 2
