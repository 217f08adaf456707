"""The file of the baseline: what survives, what is refused, and that it is never torn."""

from __future__ import annotations

import gzip
import json
import os
import re
import signal
import stat
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelinfo import BaselineError
from kernelinfo.compare import Build, compare
from kernelinfo.config import Configuration
from kernelinfo.gate import check, pinnable, read_baseline, write_baseline
from tests.messages import refused

from .builds import BUILDS, Numbers, report


def written(build: Build) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "b.json")
        write_baseline(path, build)
        assert [entry.name for entry in Path(folder).iterdir()] == ["b.json"]
        return path.read_bytes()


def pinned(*builds: Numbers, folder: Path = Path()) -> Build:
    return pinnable(report(builds).results, folder)


@given(BUILDS, st.randoms(use_true_random=False))
def test_the_order_of_inputs_leaves_no_trace(build: list[Numbers], random: st.DataObject) -> None:
    shuffled = list(build)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert written(pinned(*build)) == written(pinned(*shuffled))


@given(BUILDS)
def test_what_is_written_is_read(build: list[Numbers]) -> None:
    before = pinned(*build)
    with tempfile.TemporaryDirectory() as folder:
        write_baseline(path := Path(folder, "b.json"), before)
        after = read_baseline(path)
        write_baseline(again := Path(folder, "c.json"), after)
        assert path.read_bytes() == again.read_bytes()
    assert Counter(after.kernels) == Counter(before.kernels)
    assert after.compilers == before.compilers


def test_one_symbol_a_line_sorted_and_without_sources() -> None:
    text = written(pinned(Numbers("b"), Numbers("a"), Numbers("c"))).decode()
    lines = [json.loads(line.rstrip(",")) for line in text.splitlines() if '"symbol"' in line]
    assert [line["name"] for line in lines] == ["a(int)", "b(int)", "c(int)"]
    assert "source" not in lines[0]
    assert json.loads(text)["schema"] == "kernelinfo/baseline/3"


def of_targets(*waves: tuple[str, float], path: str = "build/k-{}.s") -> Build:
    """One kernel, on each target with these waves."""
    (kernel,) = pinned(Numbers("k")).kernels
    found = (
        kernel._replace(
            target=target,
            numbers=kernel.numbers._replace(waves_per_simd=many),
            code_object=path.format(target),
        )
        for target, many in waves
    )
    return Build(tuple(found), ())


def test_all_targets_of_a_library_share_the_line_of_a_symbol() -> None:
    build = of_targets(("gfx90a:xnack+", 4.0), ("gfx90a:xnack-", 4.0), ("gfx942", 3.5))
    document = json.loads(written(build))
    ((unit, (entry,)),) = document["kernels"].items()
    assert unit == "build/k-{target}.s"
    assert [(group["target"], group["waves"]) for group in entry["on"]] == [
        (["gfx90a:xnack+", "gfx90a:xnack-"], 4),
        ("gfx942", 3.5),
    ]


def test_another_target_adds_to_a_line_and_rewrites_nothing() -> None:
    before = of_targets(("gfx90a", 4.0), ("gfx942", 3.5))
    after = of_targets(("gfx90a", 4.0), ("gfx942", 3.5), ("gfx950", 2.0))
    (old,), (new,) = (
        json.loads(written(build))["kernels"]["build/k-{target}.s"] for build in (before, after)
    )
    assert new["on"][:2] == old["on"]


def test_two_copies_on_one_target_are_two_kernels(tmp_path: Path) -> None:
    build = of_targets(("gfx942", 4.0), ("gfx942", 4.0), ("gfx942", 3.0), path="lib.so")
    write_baseline(path := tmp_path / "b.json", build)
    assert sorted(k.waves_per_simd or 0 for k in read_baseline(path).kernels) == [3, 4, 4]


def test_the_code_object_comes_back(tmp_path: Path) -> None:
    (kernel,) = pinned(Numbers("k")).kernels
    for name, target in (
        ("lib{target}.so › {{x}}gfx90a", "gfx90a"),
        ("a-gfx90a:xnack+.s", "gfx90a:xnack+"),
        ("a-gfx90a.s", "gfx90a:sramecc+:xnack-"),
        ("gfx90a0/gfx90a.co", "gfx90a"),
        ("build/k-{{.s", "{{"),
        ("gfx9/gfx90a.o", "gfx9"),
    ):
        one = kernel._replace(code_object=name, target=target)
        write_baseline(path := tmp_path / "b.json", Build((one,), ()))
        assert read_baseline(path).kernels == (one,)


def test_a_changed_kernel_is_one_line_of_git_diff(tmp_path: Path) -> None:
    def git(*words: str) -> str:
        command = ["git", "-c", "user.name=a", "-c", "user.email=a@b", *words]
        return subprocess.run(
            command, cwd=tmp_path, capture_output=True, text=True, check=True
        ).stdout

    git("init", "-q")
    names = [chr(ord("a") + index) for index in range(20)]
    write_baseline(path := tmp_path / "b.json", pinned(*map(Numbers, names)))
    git("add", "b.json")
    git("commit", "-qm", "first")
    write_baseline(path, pinned(*(Numbers(n, waves=2 if n == "m" else 4) for n in names)))
    lines = [line for line in git("diff", "-U0").splitlines() if line[:1] in "+-"][2:]
    assert [line[:1] for line in lines] == ["-", "+"]
    assert all('"symbol":"_Zm"' in line for line in lines)
    assert git("diff", "--numstat").split()[:2] == ["1", "1"]


def test_a_compressed_one_is_the_same_text(tmp_path: Path) -> None:
    build = pinned(Numbers("a"), Numbers("b"))
    plain, packed = tmp_path / "b.json", tmp_path / "b.json.gz"
    for path in (plain, packed):
        write_baseline(path, build)
    assert gzip.decompress(packed.read_bytes()) == plain.read_bytes()
    assert read_baseline(packed) == read_baseline(plain)
    first = packed.read_bytes()
    write_baseline(packed, build)
    assert packed.read_bytes() == first, "no time stands in it"


def test_a_formatted_one_is_read(tmp_path: Path) -> None:
    build = pinned(Numbers("a"), Numbers("b", waves=2))
    path = tmp_path / "b.json"
    path.write_text(json.dumps(json.loads(written(build)), indent=4))
    assert sorted(read_baseline(path).kernels) == sorted(build.kernels)
    path.write_bytes(written(build).replace(b"\n", b"\r\n"))
    assert sorted(read_baseline(path).kernels) == sorted(build.kernels)


def test_what_is_unchanged_is_the_kernel_of_the_build(tmp_path: Path) -> None:
    write_baseline(path := tmp_path / "b.json", pinned(Numbers("a"), Numbers("b")))
    now = pinned(Numbers("a"), Numbers("b", waves=2), Numbers("c"))
    found = compare(read_baseline(path, now.kernels), now)
    assert [pair.old is pair.new for pair in found.pairs] == [True, False]
    assert [kernel.name for kernel in found.new] == ["c(int)"]


def test_machines_that_build_elsewhere_pin_the_same(tmp_path: Path) -> None:
    one = pinned(Numbers(path=str(tmp_path / "one" / "build" / "a.s")), folder=tmp_path / "one")
    two = pinned(Numbers(path=str(tmp_path / "two" / "build" / "a.s")), folder=tmp_path / "two")
    assert one == two
    assert one.kernels[0].code_object == "build/a.s"
    outside = pinned(Numbers(path="/var/tmp/build-4711/a.s"), folder=tmp_path)
    assert outside.kernels[0].code_object == "a.s"


GOOD = written(pinned(Numbers("a"), Numbers("b"))).decode()
DAMAGED = "baseline-damaged"
TWICE = "baseline-damaged baseline-key-twice '{}'"
LINE = next(line for line in GOOD.splitlines() if '"_Za"' in line)


def in_one(text: str) -> str:
    """The baseline in one line, as a formatter may leave it."""
    return "".join(line.strip() for line in text.splitlines())


def accepting(accepted: str) -> str:
    return GOOD.replace('"wave-size":64', f'"accepted":{accepted}')


REFUSED = [
    ("", DAMAGED),
    ("[" * 100_000, DAMAGED),
    ("{}", "baseline-other-document"),
    ("[]", "baseline-other-document"),
    ('{"schema": "kernelinfo/1"}', "baseline-other-document"),
    (GOOD.replace('"kernels"', '"kernel"'), "baseline-damaged baseline-key-unknown kernel"),
    (
        GOOD.replace(LINE, f"<<<<<<< ours\n{LINE}\n=======\n{LINE}\n>>>>>>> theirs"),
        "baseline-conflict",
    ),
    (GOOD[:200], DAMAGED),
    (GOOD.removesuffix(" }\n}\n"), "baseline-damaged baseline-cut-off"),
    (GOOD.replace("baseline/3", "baseline/4"), "baseline-newer 4"),
    (GOOD.replace("baseline/3", "baseline/2"), "baseline-older 2"),
    (GOOD.replace("baseline/3", "baseline/x"), "baseline-other-document"),
    (GOOD.replace("baseline/3", "baseline/0"), "baseline-other-document"),
    (GOOD.replace('"toolchain": [', '"toolchain": [1, '), "baseline-damaged toolchain"),
    (GOOD.replace('"vgpr":112', '"vgpr":"100"'), "baseline-damaged _Za: vgpr"),
    (GOOD.replace('"vgpr":112', '"vgpr":true'), "baseline-damaged _Za: vgpr"),
    (GOOD.replace('"vgpr":112', '"vgpr":-1'), "baseline-damaged _Za: vgpr"),
    (GOOD.replace('"vgpr":112', '"vgpr":[112, 1]'), "baseline-damaged _Za: vgpr"),
    (GOOD.replace('"vgpr":112', f'"vgpr":{"9" * 4000}'), "baseline-damaged _Za: vgpr"),
    (GOOD.replace('"waves":4', '"waves":1e999'), "baseline-damaged _Za: waves"),
    (GOOD.replace('"waves":4', f'"waves":{1 << 64}'), "baseline-damaged _Za: waves"),
    (GOOD.replace('"waves":4', '"waves":NaN'), "baseline-damaged _Za: waves"),
    (
        GOOD.replace('"limited-by":"vgpr"', '"limited-by":"warp"'),
        "baseline-damaged _Za: limited-by",
    ),
    (GOOD.replace('"wave-size"', '"warp-size"'), "baseline-damaged _Za: warp-size"),
    (
        GOOD.replace('"wave-size":64', '"accepted":{"KI1":"warning"}'),
        "baseline-damaged _Za: accepted",
    ),
    (GOOD.replace('"wave-size":64', '"accepted":{"KI101":"x"}'), "baseline-damaged _Za: accepted"),
    (
        GOOD.replace('"wave-size":64', '"wave-size":64 64'),
        "baseline-damaged baseline-json-damaged 6 … Expecting ',",
    ),
    (GOOD.replace('"build/a.s": [', "7: ["), "baseline-damaged baseline-library-twice 5 … 7"),
    (GOOD.replace('"wave-size":64', '"accepted":256'), "baseline-damaged _Za: accepted"),
    (GOOD.replace('"limited-by":"vgpr"', '"limited-by":null'), "baseline-damaged _Za: limited-by"),
    (GOOD.replace('"target":"gfx90a"', '"target":[7]'), "baseline-damaged _Za: target"),
    (GOOD.replace('"target":"gfx90a"', '"on":[]'), DAMAGED),
    (GOOD.replace('"target":"gfx90a"', '"on":{"a":1}'), DAMAGED),
    (GOOD.replace('"target":"gfx90a"', '"on":[{}]'), DAMAGED),
    (GOOD.replace('"symbol":"_Za"', '"symbol":["_Za"]'), DAMAGED),
    (GOOD.replace(LINE, f"{LINE}\n{LINE}"), "baseline-damaged baseline-symbol-twice _Za"),
    (GOOD.replace(LINE, " 3,"), "baseline-damaged 6"),
    (re.sub(r'"toolchain": \[.*\]', '"toolchain": "text"', GOOD), "baseline-damaged toolchain"),
    (re.sub(r'"toolchain": \[.*\]', '"toolchain": {}', GOOD), "baseline-damaged toolchain"),
    (re.sub(r'"toolchain": \[.*\]', '"toolchain": null', GOOD), "baseline-damaged toolchain"),
    (re.sub(r' "toolchain": .*\n', "", GOOD), "baseline-damaged toolchain"),
    (GOOD.replace("baseline/3", "baseline/03"), "baseline-other-document"),
    (GOOD.replace("baseline/3", "baseline/３"), "baseline-other-document"),
    (GOOD.replace("baseline/3", f"baseline/{'9' * 5000}"), "baseline-other-document"),
    (
        GOOD.replace(' "toolchain"', ' "toolchain": [],\n "toolchain"'),
        TWICE.format("toolchain"),
    ),
    (GOOD.replace('{\n "schema"', '{"schema": 1, "schema"'), TWICE.format("schema")),
    (GOOD.replace('"schema"', '"on": 3, "schema"', 1), "baseline-damaged baseline-key-unknown on"),
    (
        in_one(GOOD).replace('"kernels": ', '"kernels": {}, "kernels": '),
        TWICE.format("kernels"),
    ),
    (in_one(GOOD).replace('"build/a.s"', '"x": [], "x"', 1), TWICE.format("x")),
    (in_one(GOOD).replace("}}", '}, "more": 1}'), "baseline-damaged baseline-key-unknown more"),
    (GOOD.replace('"wave-size":64', '"waves":8,"wave-size":64'), TWICE.format("waves")),
    (GOOD.replace('"target":', '"target":"gfx942","target":'), TWICE.format("target")),
    (accepting('{"KI501":"error"}'), "baseline-damaged _Za: accepted"),
    (accepting('{"KI101":"note","KI502":"error"}'), "baseline-damaged _Za: accepted"),
    (accepting('{"KI101":"note","KI101":"error"}'), TWICE.format("KI101")),
    (accepting('{"KI١٠١":"note"}'), "baseline-damaged _Za: accepted"),
    (accepting('{"KI101":"error\\n"}'), "baseline-damaged _Za: accepted"),
    (accepting("[]"), "baseline-damaged _Za: accepted"),
    (accepting("null"), "baseline-damaged _Za: accepted"),
    (GOOD.replace('"target":"gfx90a"', '"target":[]'), "baseline-damaged _Za: target"),
    (GOOD.replace('"target":"gfx90a"', '"target":""'), "baseline-damaged _Za: target"),
    (GOOD.replace('"target":"gfx90a"', '"target":[[]]'), "baseline-damaged _Za: target"),
    (GOOD.replace('"target":"gfx90a"', '"target":null'), "baseline-damaged _Za: target"),
    (GOOD.replace('"target":"gfx90a"', '"target":"gfx90a","on":[]'), "baseline-damaged _Za: on"),
    (GOOD.replace('"target":"gfx90a"', '"target":"gfx90a","on":null'), "baseline-damaged _Za: on"),
    (
        GOOD.replace('"target":"gfx90a"', '"target":"gfx90a","on":[{"target":"gfx942"}]'),
        "baseline-damaged _Za: on",
    ),
    (
        GOOD.replace('"target":"gfx90a"', '"target":"gfx942","symbol":"_Zb"'),
        "baseline-damaged _Za: symbol",
    ),
    (
        GOOD.replace('"target":"gfx90a"', '"on":[{"target":"a","on":[{"target":"b"}]}]'),
        "baseline-damaged _Za: on",
    ),
    (
        GOOD.replace('"limited-by":"vgpr"', '"limited-by":"vgpr vgpr"'),
        "baseline-damaged _Za: limited-by",
    ),
    (GOOD.replace('"wave-size":64', '"options":{"a":1}'), "baseline-damaged _Za: options"),
    (GOOD.replace('  "build/a.s": [\n', ""), "baseline-damaged 5"),
    (GOOD.replace("\n  ]", "\n  }"), "baseline-damaged 8"),
    (GOOD + GOOD, "baseline-damaged 11"),
    (
        GOOD.replace("\n  ]", '\n  ]\n  "b": [\n  "c": ['),
        "baseline-damaged 10",
    ),
    (
        GOOD.replace(LINE, f"<<<<<<< ours\n{LINE}\n=======\n{LINE}\n>>>>>>> theirs"),
        "baseline-conflict",
    ),
]
"""Text and how its refusal begins."""


def test_what_is_no_baseline_is_refused(tmp_path: Path) -> None:
    for text, message in REFUSED:
        (path := tmp_path / "b.json").write_text(text)
        with refused(message, BaselineError) as caught:
            read_baseline(path)
        assert str(caught.value).startswith(f"{path}: ")


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "b.json"
    path.write_bytes(b"\x7fELF\xff\xfe")
    with refused("baseline-binary", BaselineError):
        read_baseline(path)


def test_permissions_and_links_stay(tmp_path: Path) -> None:
    real, link = tmp_path / "real.json", tmp_path / "link.json"
    real.write_text("old")
    real.chmod(0o640)
    link.symlink_to(real)
    write_baseline(link, pinned(Numbers()))
    assert link.is_symlink()
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    assert len(read_baseline(real).kernels) == 1


def test_where_nothing_can_be_written_it_is_said(tmp_path: Path) -> None:
    with refused("baseline-unwritable", BaselineError):
        write_baseline(tmp_path / "missing" / "b.json", pinned(Numbers()))


_KILLED = """
import os, signal, sys
from pathlib import Path
from kernelinfo.gate import write_baseline
from tests.gate.test_baseline import Numbers, pinned

def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)

os.replace = die
write_baseline(Path(sys.argv[1]), pinned(Numbers("new")))
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no way to be killed outright")
def test_killed_in_the_middle_the_old_one_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "b.json"
    write_baseline(path, pinned(Numbers("old")))
    before = path.read_bytes()
    root = Path(__file__).parents[2]
    command = [sys.executable, "-c", _KILLED, str(path)]
    ended = subprocess.run(
        command, cwd=root, env={**os.environ, "PYTHONPATH": str(root)}, check=False
    )
    assert ended.returncode == -signal.SIGKILL
    assert path.read_bytes() == before


def test_kernels_are_found_again_from_the_baselines_own_folder(tmp_path: Path) -> None:
    """Two kernels share a name and one file is gone: its kernel has vanished."""
    path = tmp_path / "b.json"
    old = [Numbers("k", waves=w, path=str(tmp_path / f"{w}.s")) for w in (8, 4)]
    write_baseline(path, pinned(*old, folder=tmp_path))
    for kept, gone in ((old[0], "4.s"), (old[1], "8.s")):
        outcome = check(report([kept]), Configuration(baseline=path))
        (vanished,) = (n.finding for n in outcome.notices if n.finding.rule == "KI502")
        assert gone in vanished.message
        assert not [f for one in outcome.judged for f in one.result.findings]


def test_damaged_compression_is_one_line(tmp_path: Path) -> None:
    write_baseline(path := tmp_path / "b.json.gz", pinned(Numbers("a")))
    whole = path.read_bytes()
    for data in (whole[:-20], whole[:12], whole[:20] + b"\xff" * 20 + whole[40:], b"\x1f\x8b"):
        path.write_bytes(data)
        with refused("baseline-damaged baseline-gzip-damaged", BaselineError) as caught:
            read_baseline(path)
        assert "\n" not in str(caught.value)


HEAD = b'{\n "schema": "kernelinfo/baseline/3",\n "toolchain": [],\n "kernels": {\n'


def test_a_bomb_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "b.json.gz"
    for inflated, message in (
        (b" " * ((32 << 20) + 1), "baseline-reformatted 33554432"),
        (HEAD + b"\n" * (1 << 21), "baseline-too-large 2097152 lines"),
        (HEAD + b'"%s": [' % (b"a" * (1 << 17)), "baseline-damaged baseline-library-long 131077"),
    ):
        path.write_bytes(gzip.compress(inflated, 1))
        with refused(message, BaselineError):
            read_baseline(path)


@pytest.mark.nightly
def test_a_line_that_states_too_many_kernels_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "b.json"
    many = ", ".join(['"g"'] * ((1 << 22) + 1))
    path.write_text(GOOD.replace('"target":"gfx90a"', f'"target":[{many}]'))
    with refused("baseline-kernels-many 4194304", BaselineError):
        read_baseline(path)
