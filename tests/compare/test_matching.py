"""Launches matched to one of several kernels of a name; ties are named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kernelinfo import Kernel, load
from kernelinfo.compare.matching import measure
from kernelinfo.compare.measurement import Measurement
from kernelinfo.compare.profile import Agent, Dispatch, Measures, Resources, Shape
from kernelinfo.hardware import products
from tests.test_golden import run

HEADER = '.amdgcn_target "amdgcn-amd-amdhsa--{target}"\n'
UNIFIED = ("gfx90a", "gfx942", "gfx950")
KERNEL = """\
.amdhsa_kernel {name}
  .amdhsa_next_free_vgpr {vgprs}
  .amdhsa_next_free_sgpr 8
  .amdhsa_group_segment_fixed_size {lds}
  {accum_offset}
.end_amdhsa_kernel
"""


def source(target: str, **kernels: tuple[int, int, int]) -> str:
    """Arch VGPRs, AGPRs and bytes of LDS of each kernel."""
    text = HEADER.format(target=target)
    for name, (vgprs, agprs, lds) in kernels.items():
        # gfx908 has two files: its descriptor counts the larger share.
        whole = max(vgprs, agprs) if target == "gfx908" else vgprs + agprs
        offset = f".amdhsa_accum_offset {vgprs}" if target.startswith(UNIFIED) else ""
        text += KERNEL.format(name=name, vgprs=whole, lds=lds, accum_offset=offset)
    return text


def kernels(target: str, **of: tuple[int, int, int]) -> tuple[Kernel, ...]:
    return load(source(target, **of).encode()).kernels


def launch(
    name: str,
    vgprs: int | None = None,
    agprs: int | None = None,
    sgprs: int | None = None,
    lds: int | None = 0,
    agent: Agent = Agent(),  # noqa: B008
) -> Dispatch:
    shape = Shape(name, 256, 10, Resources(vgprs, agprs, sgprs, lds, None))
    return Dispatch(shape, 1, Measures(), agent)


def target_of(found: Measurement) -> str | None:
    return found.kernel.target.name if found.kernel and found.kernel.target else None


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize(
    ("seen", "expected"),
    [((72, 0), "gfx90a"), ((36, 36), "gfx908"), ((32, 40), "gfx942"), ((64, 8), "gfx90a:xnack+")],
)
def test_both_register_counts_tell_the_target(
    seen: tuple[int, int], expected: str, order: int
) -> None:
    """All of them have 72 registers."""
    found = [
        *kernels("gfx908", k=(36, 36, 0)),
        *kernels("gfx90a", k=(72, 0, 0)),
        *kernels("gfx942", k=(32, 40, 0)),
        *kernels("gfx90a:xnack+", k=(64, 8, 0)),
    ]
    (one,) = measure([launch("k", *seen)], found[::order])
    assert target_of(one) == expected.partition(":")[0]
    assert one.predicted is not None
    assert (one.predicted.vgprs, one.predicted.agprs) == seen
    assert one.tied == ()


@pytest.mark.parametrize("seen", [(124, 4), (128, 0), (64, 0)])
def test_a_profiler_that_does_not_know_gfx950(seen: tuple[int, int]) -> None:
    (one,) = measure([launch("k", *seen)], kernels("gfx950", k=(124, 4, 0)))
    assert one.remarks == ()
    (one,) = measure([launch("k", seen[0] + 8, seen[1])], kernels("gfx950", k=(124, 4, 0)))
    assert one.remarks[0].startswith("another build ran")


def test_all_launches_of_a_run_tell_its_target() -> None:
    """One kernel has the same registers on both; the other does not."""
    found = [
        *kernels("gfx90a", same=(72, 0, 0), other=(40, 0, 0)),
        *kernels("gfx942", same=(72, 0, 0), other=(48, 0, 0)),
    ]
    for vgprs, target in ((40, "gfx90a"), (48, "gfx942")):
        ran = measure([launch("same", 72, 0), launch("other", vgprs, 0)], found)
        assert [(target_of(one), one.tied) for one in ran] == [(target, ())] * 2


def test_a_target_without_one_of_the_kernels_did_not_run_them() -> None:
    found = [*kernels("gfx90a", one=(72, 0, 0)), *kernels("gfx942", one=(72, 0, 0), two=(8, 0, 0))]
    ran = measure([launch("one", 72, 0), launch("two", 8, 0)], found)
    assert [target_of(one) for one in ran] == ["gfx942", "gfx942"]


def test_each_agent_of_a_run_has_its_target() -> None:
    found = [*kernels("gfx90a", k=(40, 0, 0)), *kernels("gfx942", k=(48, 0, 0))]
    launches = [
        launch("k", 40, 0, agent=Agent("1")),
        launch("k", 48, 0, agent=Agent("2")),
        launch("k", 40, 0, agent=Agent("3")),
    ]
    ran = measure(launches, found)
    assert [(target_of(one), one.dispatch.count) for one in ran] == [("gfx90a", 2), ("gfx942", 1)]


def test_the_target_that_a_run_names_counts() -> None:
    found = [*kernels("gfx90a", k=(40, 0, 0)), *kernels("gfx942", k=(48, 0, 0))]
    for name in ("gfx90a", "gfx942"):
        (one,) = measure([launch("k", agent=Agent("1", name))], found)
        assert (target_of(one), one.tied) == (name, ())
    (one,) = measure([launch("k", agent=Agent("1", "gfx1100"))], found)
    assert (one.kernel, one.tied) == (None, ())


def test_where_several_predict_different_occupancies_nothing_is_predicted() -> None:
    found = [*kernels("gfx90a", k=(40, 0, 0)), *kernels("gfx942", k=(130, 0, 0))]
    (one,) = measure([launch("k")], found)
    assert (one.kernel, one.predicted, one.occupancy) == (None, None, None)
    assert one.tied == ("gfx90a", "gfx942")


def test_where_several_predict_the_same_it_is_predicted_and_they_are_named() -> None:
    found = [*kernels("gfx90a", k=(40, 0, 0)), *kernels("gfx942", k=(40, 0, 0))]
    (one,) = measure([launch("k", 40, 0)], found)
    assert one.occupancy is not None
    assert one.tied == ("gfx90a", "gfx942")


def test_builds_of_one_target_are_told_apart_by_all_launches() -> None:
    found = [
        *kernels("gfx90a:xnack+", same=(40, 0, 0), other=(48, 0, 0)),
        *kernels("gfx90a:xnack-", same=(40, 0, 0), other=(56, 0, 0)),
    ]
    ran = measure([launch("same", 40, 0), launch("other", 56, 0)], found)
    assert [one.kernel and one.kernel.code_object.features.xnack for one in ran] == ["off", "off"]


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "a.s").write_text(source("gfx90a", k=(40, 0, 0), l=(8, 0, 1024)))
    (tmp_path / "b.s").write_text(source("gfx90a", k=(130, 0, 0)))
    (tmp_path / "run.csv").write_text(
        "Kernel_Name,Workgroup_Size,Grid_Size,Group_Segment_Size\nk,256,2560,0\nl,256,2560,1024\n"
    )
    return tmp_path


def test_a_tie_is_a_problem_that_names_the_files(files: Path) -> None:
    out, err, code = run("compare-profile", "run.csv", "a.s", "b.s", folder=files)
    assert code == 2
    assert err == (
        "run.csv: a.s and b.s fit its launches equally; name the GPU with --device, "
        "or give the files that ran\n"
    )
    assert out.splitlines()[1].split()[:2] == ["l", "predicted"]
    assert "none of the files" not in out
    out, _, code = run("compare-profile", "run.csv", "a.s", "b.s", "--format", "json", folder=files)
    first, second = json.loads(out)["launches"]
    assert (code, first["target"], first["percent_predicted"]) == (2, None, None)
    assert first["remarks"][0].startswith("a.s and b.s fit its launches equally")
    assert (second["target"], second["remarks"]) == ("gfx90a", [])
    assert (first["why_target"], second["why_target"]) == (
        None,
        "the files have the kernels of the run for no other",
    )


def test_a_run_of_which_nothing_can_be_predicted_is_one_line(files: Path) -> None:
    (files / "run.csv").write_text("Kernel_Name,Workgroup_Size\nk,256\n")
    out, err, code = run("compare-profile", "run.csv", "a.s", "b.s", folder=files)
    assert (out, code, len(err.splitlines())) == ("", 2, 1)
    assert "a.s and b.s fit its launches equally" in err


@pytest.mark.parametrize(
    ("agent", "device", "target", "why"),
    [
        (Agent(), None, "gfx90a", "its registers, LDS and scratch are nearer to the launches than"),
        (Agent(target="gfx942"), None, "gfx942", "the run names it"),
        (Agent(), "MI300X", "gfx942", "--device names it"),
    ],
)
def test_why_a_target_is_taken(agent: Agent, device: str | None, target: str, why: str) -> None:
    found = [*kernels("gfx90a", k=(24, 0, 0)), *kernels("gfx942", k=(64, 0, 0))]
    product = products.find(device) if device else None
    (one,) = measure([launch("k", 24, 0, agent=agent)], found, product)
    assert target_of(one) == target
    assert one.why_target.startswith(why)


def test_the_target_and_why_it_was_taken_stand_below_the_table(files: Path) -> None:
    (files / "run.csv").write_text("Kernel_Name,Workgroup_Size,Arch_VGPR\nl,256,8\n")
    out, _, code = run("compare-profile", "run.csv", "a.s", folder=files)
    assert code == 0
    assert "\n target gfx90a: the files have the kernels of the run for no other\n" in out
