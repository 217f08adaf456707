"""Rules on whole folders: what contract rows of single kernels do not hold."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from kernelinfo import Kernel, Options, Report, Result, Selection, analyse, arch, load
from kernelinfo.kernel import Finding
from kernelinfo.rules import RULES, findings, named

from ..conftest import CORPUS, FIXTURES, needs_corpus
from ..containers import bundle
from ..messages import says
from ..test_golden import run

TUTORIAL = "occupancy-hip-amdgcn-amd-amdhsa-gfx90a.s"
OPEN, CLOSED = "hipv4-amdgcn-amd-amdhsa--gfx90a", "hipv4-amdgcn-amd-amdhsa--gfx90a:xnack"


def results(paths: list[Path], options: Options) -> list[Result]:
    items = analyse([str(path) for path in paths], options)
    return [item for item in items if isinstance(item, Result)]


@pytest.mark.parametrize("launch", [Options(), Options(workgroup_size=704)], ids=["own", "704"])
def test_kernels_of_equal_traits_have_the_findings_of_each_alone(launch: Options) -> None:
    options = launch._replace(selection=Selection(select=("KI",)))
    found = results([FIXTURES / name for name in ("code_object", "container", "assembly")], options)
    assert len({result.kernel.traits for result in found}) < len(found) * 2 / 3
    for kernel, occupancy, own in found:
        if occupancy is not None and not occupancy.refusal:
            assert own == tuple(findings(kernel, occupancy, RULES))


def test_the_padding_of_compilers_is_no_disagreement() -> None:
    names = (TUTORIAL, "variety-clang22-gfx90a.s", "variety-clang19-gfx1100.s", "handwritten.s")
    options = Options(selection=Selection(select=("KI004",)))
    found = results([FIXTURES / "assembly" / name for name in names], options)
    assert [result.kernel.name for result in found if result.findings] == []


def test_spilled_vgprs_are_counted_as_the_metadata_does() -> None:
    for version in (19, 22):
        path = FIXTURES / "assembly" / f"spills-clang{version}-gfx90a.s"
        for result in results([path], Options(selection=Selection(select=("KI101",)))):
            spilled = result.kernel.numbers.vgpr_spills
            assert bool(result.findings) == bool(spilled)
            assert all(f.message.startswith(f"{spilled} VGPRs ") for f in result.findings)


def test_more_vgprs_are_advised_only_if_a_wave_can_address_more() -> None:
    [path] = FIXTURES.glob("code_object/spills-clang22-gfx90a.co")
    kernel = next(kernel for kernel in load(path).kernels if kernel.numbers.vgpr_spills)
    for vgprs, advice in ((504, ", or allow more VGPRs with a looser launch bound"), (505, "")):
        numbers = kernel.numbers._replace(vgprs=vgprs)
        full = kernel._replace(traits=kernel.traits._replace(numbers=numbers))
        [spilled] = findings(full, full.occupancy(), Selection(select=("KI101",)).rules())
        assert spilled.hint == f"keep fewer values live{advice}"


def test_a_unified_file_has_as_many_names_as_a_split_one() -> None:
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"vgprs": 257}, "at most 256 architectural VGPRs, not 257"),
        ({"vgprs": 4, "agprs": 257}, "at most 256 AGPRs, not 257"),
    ]
    for target in ("gfx90a", "gfx942", "gfx950", "gfx9-4-generic"):
        for registers, message in wrong:
            found = arch(target).occupancy(workgroup_size=64, **registers)
            assert message in found.obstacles[0]
        whole = arch(target).occupancy(workgroup_size=64, vgprs=256, agprs=256)
        assert whole.waves_per_simd == 1


PADDED = [f"padded-clang22-{name}" for name in ("gfx908", "gfx942", "gfx950", "gfx1100", "gfx1201")]


def test_with_the_lds_of_the_next_step_the_compiler_gives_the_promised_waves() -> None:
    """The same kernel, compiled with less LDS and nothing else changed."""
    for path in (*(f"assembly/{name}.s" for name in PADDED), f"code_object/{PADDED[1]}.co"):
        kernels = {kernel.numbers.lds_bytes: kernel for kernel in load(FIXTURES / path).kernels}
        assert [len(kernel.next) for kernel in kernels.values()] == [1, 1, 1, 1]
        steps = [kernel.next[0] for kernel in kernels.values()]
        promises = [(step, kernels.get(step.at_most)) for step in steps]
        kept = [step.waves_per_simd for step, after in promises if after]
        assert kept == [after.waves_per_simd for _, after in promises if after]
        assert len(kept) == 3
        assert {kernel.limiters for kernel in kernels.values()} == {("lds",)}
        assert {kernel.numbers.vgprs for kernel in kernels.values()} == {40}


def test_filters_tables_counters_and_other_targets_agree() -> None:
    path = f"assembly/{PADDED[1]}.s"
    assert "tile_" not in run(path, "--limited-by", "vgpr", "--allow-empty")[0]
    assert len(run(path, "--limited-by", "lds", "--format", "jsonl")[0].splitlines()) == 4
    counts = json.loads(run(path, "--by", "limiter", "--format", "json")[0])["counts"]
    assert [(row["limiter"], row["kernels"]) for row in counts] == [("LDS", 4)]
    told = run("explain", path, "tile_16384", "-v")[0]
    assert "6.2.7 Insufficient CU LDS > 0" in told
    assert "6.2.5 Insufficient SIMD VGPRs too, by padding alone" in " ".join(told.split())
    assert "> 8 unpadded" in told
    for kernel in load(FIXTURES / path).kernels:
        assert kernel.on("gfx90a").limiters == ("lds",)
        assert kernel.on("gfx90a").next == kernel.next


def mixed(path: Path) -> list[tuple[str | None, str]]:
    """Member and message of each finding of KI305."""
    report = Report.of(analyse([str(path)], Options(selection=Selection(select=("KI305",)))))
    assert report.results
    return [
        (result.kernel.code_object.member, finding.message)
        for result in report.results
        for finding in result.findings
    ]


def test_features_that_some_ids_name_and_others_leave_open(tmp_path: Path) -> None:
    """From code object v4 on. Libraries of one wheel are loaded on their own."""
    code = (FIXTURES / "code_object" / "tiny-v5-clang19-gfx90a-features.co").read_bytes()
    both, wheel = tmp_path / "both.hipfb", tmp_path / "demo-1.2-py3-none-any.whl"
    both.write_bytes(bundle((f"{CLOSED}+", code), (f"{CLOSED}-", code)))
    with zipfile.ZipFile(wheel, "w") as file:
        file.writestr("demo/one.hipfb", bundle((OPEN, code)))
        file.writestr("demo/two.hipfb", bundle((f"{CLOSED}+", code)))
    names = ("container/tiny.hipfb", "container/libtwo.so", "container/libmixed.so")
    for path in (both, wheel, *(FIXTURES / name for name in names)):
        assert mixed(path) == [], path.name
    found = mixed(FIXTURES / "container" / "mixed-features.hipfb")
    ((member, message),) = {*found}
    assert member == "hipv4-amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-"
    assert says(message, "KI305 gfx90a:sramecc+:xnack- … gfx90a")
    [kernel, *_] = load(FIXTURES / "code_object" / "tiny-v6-clang22-gfx90a.co").kernels
    selection = Selection(select=("KI305",))
    for version, count in ((3, 0), (4, 1), (5, 1), (None, 0)):
        code_object = kernel.code_object._replace(
            member=f"{CLOSED}+", conflicting_entry=OPEN, code_object_version=version
        )
        one = kernel._replace(code_object=code_object)
        assert len([*findings(one, one.occupancy(), selection.rules())]) == count


def test_findings_of_the_gate_are_chosen_like_the_rules() -> None:
    ignored, kept = (Finding(number, "x", "warning", "", "") for number in ("KI501", "KI502"))
    selection = Selection(ignore=("KI501",), severities=(("KI502", "note"),))
    assert list(selection.chosen([ignored, kept])) == [kept._replace(severity="note")]
    assert all(rule.on for name in ("KI003", "KI206", "KI5") for rule in named(name))


@cache
def of_corpus(pattern: str, rule: str) -> list[tuple[Kernel, str]]:
    """Kernel and message of each finding of a rule in files of the corpus."""
    options = Options(selection=Selection(select=(rule,)))
    return [
        (result.kernel, finding.message)
        for path in sorted(CORPUS.glob(pattern))
        for result in results([path], options)
        for finding in result.findings
    ]


def messages(file: str, rule: str, kernel: str) -> Iterator[str]:
    return (text for one, text in of_corpus(file, rule) if one.name.startswith(kernel))


@needs_corpus
def test_rules_on_the_corpus() -> None:
    assert of_corpus("core/*.co", "KI301") == []  # code objects do not tell
    assert any(says(text, "KI301-held") for _, text in of_corpus("core/*.s", "KI301"))
    assert [*messages("variants/wave64-llvm19-gfx1100.co", "KI202", "lds")] == []
    assert of_corpus("core/*.s", "KI106") == []
    assert len(of_corpus("core/*.s", "KI101")) > 20
    assert not [k.name for k, _ in of_corpus("core/*.s", "KI201") if k.numbers.vgpr_spills]
    stopped = {(k.code_object.path, k.symbol) for k, _ in of_corpus("core/*.s", "KI302")}
    missing = {(k.code_object.path, k.symbol) for k, _ in of_corpus("core/*.s", "KI303")}
    assert set() < missing < stopped
    for name, rule, kernel, facts in (
        ("llvm22-gfx90a", "KI201", "vgpr_heavy", "4 VGPRs … 132 … 4 … 3 waves/SIMD"),
        ("llvm16-gfx1030", "KI303", "spills", "1024 … 128 … 512 … 256"),
        ("llvm15-gfx1100", "KI304", "spills", "12 … 192 … 8 waves/SIMD"),
    ):
        (message,) = messages(f"core/{name}.s", rule, kernel)
        assert says(message, f"{rule} {facts}"), message
    assert [*messages("core/llvm16-gfx1100.s", "KI304", "spills")] == []
