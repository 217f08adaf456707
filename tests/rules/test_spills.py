"""KI101, KI102, KI103, KI104: registers that did not fit, and scratch that has other reasons."""

from __future__ import annotations

from pathlib import Path

import pytest

from kernelinfo.rules import Selection, findings

from ..conftest import FIXTURES
from .reading import TUTORIAL, messages_of, results

SPILLS = ["spills-clang19-gfx90a.s", "spills-clang22-gfx90a.s"]
VARIETY = ["variety-clang15-gfx906.s", "variety-clang22-gfx90a.s"]


@pytest.mark.parametrize("rule", ["KI101", "KI102", "KI103", "KI104"])
@pytest.mark.parametrize("kernel", ["empty", "vgprbound", "ldsbound"])
def test_a_kernel_that_fits(kernel: str, rule: str) -> None:
    assert messages_of(TUTORIAL, rule, kernel) == []


@pytest.mark.parametrize("name", SPILLS)
def test_the_slot_and_the_alignment_beside_spills_are_no_array(name: str) -> None:
    assert messages_of(name, "KI102", "without_bound") == []
    assert messages_of(name, "KI102", "hint_reached") == []
    assert messages_of(TUTORIAL, "KI102", "sgprbound") == []


@pytest.mark.parametrize("name", VARIETY)
def test_an_array_is_no_spill(name: str) -> None:
    assert messages_of(name, "KI101", "local_array") == []
    [message] = messages_of(name, "KI102", "local_array")
    assert message.endswith("B of scratch per lane without spills: an array")


@pytest.mark.parametrize(
    ("scratch_bytes", "in_loops", "severity"),
    [
        (208, 0, "note"),
        (256, 0, "note"),
        (257, 0, "warning"),
        (16, 1, "warning"),
        (16, None, "note"),
    ],
)
def test_scratch_warns_in_a_loop_or_if_it_is_large(
    scratch_bytes: int, in_loops: int | None, severity: str
) -> None:
    (result,) = [r for r in results(VARIETY[0], "KI102") if "local_array" in r.kernel.name]
    kernel = result.kernel
    assert kernel.code is not None
    numbers = kernel.traits.numbers._replace(scratch_bytes_per_lane=scratch_bytes)
    kernel = kernel._replace(
        traits=kernel.traits._replace(numbers=numbers),
        code=kernel.code._replace(scratch_in_loops=in_loops),
    )
    (finding,) = findings(kernel, result.occupancy, Selection(select=("KI102",)).rules())
    assert finding.severity == severity


@pytest.mark.parametrize("name", VARIETY)
def test_the_frame_of_a_call(name: str) -> None:
    [message] = messages_of(name, "KI102", "calls")
    assert message.endswith("without spills: an array or the frame of lookup, which it calls")


@pytest.mark.parametrize("name", VARIETY)
def test_scratch_that_grows_is_said_once(name: str) -> None:
    assert messages_of(name, "KI102", "recursive") == []
    [message] = messages_of(name, "KI104", "recursive")
    assert message.startswith("scratch grows at run time; ")
    assert message.endswith("; it calls descend")


def test_a_callee_of_another_module_is_named() -> None:
    [message] = messages_of("odd-clang22-gfx90a.s", "KI105", "calls_elsewhere")
    assert message == "calls elsewhere, outside of this module: register counts are lower bounds"


def test_an_indirect_call_counts_the_largest_function_of_the_module() -> None:
    """`.set indirect.num_vgpr, max(41, amdgpu.max_num_vgpr)`."""
    assert messages_of(VARIETY[1], "KI105", "indirect") == [
        "an indirect call: the compiler took the module's maximum, 60 VGPRs of second_choice; "
        "alone it needs 41"
    ]


def test_an_indirect_call_of_small_functions_costs_nothing(tmp_path: Path) -> None:
    text = (FIXTURES / "assembly" / VARIETY[1]).read_text("utf-8")
    for name in (".L_Z13second_choicei.num_vgpr", "amdgpu.max_num_vgpr"):
        text = text.replace(f"{name}, 60", f"{name}, 40")
    (tmp_path / "small.s").write_text(text.replace("descendi.num_vgpr, 44", "descendi.num_vgpr, 9"))
    assert messages_of(str(tmp_path / "small.s"), "KI105", "indirect") == [
        "an indirect call: no function of this module needs more than the 41 VGPRs of the kernel "
        "alone"
    ]


def test_a_callee_without_code_in_the_module_is_outside(tmp_path: Path) -> None:
    """Its address is relative as that of a function of this module, but no symbol counts it."""
    text = (FIXTURES / "assembly" / VARIETY[1]).read_text("utf-8")
    text = text.replace(".L_Z6lookupi.", "0 ; ")
    flag = "_Z5callsPi.has_indirect_call, "
    text = text.replace(f"{flag}or(0, 0", f"{flag}1")
    (tmp_path / "outside.s").write_text(text)
    [message] = messages_of(str(tmp_path / "outside.s"), "KI105", "calls")
    assert message.startswith("calls lookup, outside of this module")


@pytest.mark.parametrize(
    ("callee", "hint"),
    [
        ("_Z6lookupi", "index the array by constants, or inline the call"),
        ("__ockl_hostcall_internal", "index arrays of its own by constants"),
    ],
)
def test_a_function_of_a_library_is_not_for_the_user_to_inline(
    callee: str, hint: str, tmp_path: Path
) -> None:
    """What `printf` calls."""
    text = (FIXTURES / "assembly" / VARIETY[1]).read_text("utf-8")
    (tmp_path / "calls.s").write_text(text.replace("_Z6lookupi", callee))
    (result,) = [
        one
        for one in results(str(tmp_path / "calls.s"), "KI102")
        if one.kernel.name.startswith("calls")
    ]
    assert [finding.hint for finding in result.findings] == [hint]


@pytest.mark.parametrize("name", SPILLS)
def test_an_array_beside_spills(name: str) -> None:
    assert messages_of(name, "KI102", "array_and_spills") == [
        "368 B of scratch per lane beyond the 26 VGPRs spilled: an array"
    ]


@pytest.mark.parametrize("name", SPILLS)
def test_spilled_vgprs_are_counted_as_the_metadata_does(name: str) -> None:
    for result in results(name, "KI101"):
        spilled = result.kernel.spills.vgprs
        assert bool(result.findings) == bool(spilled)
        assert all(f.message.startswith(f"{spilled} VGPRs spilled, ") for f in result.findings)
    assert messages_of(name, "KI101", "without_bound")


@pytest.mark.parametrize("name", SPILLS)
def test_sgprs_warn_when_there_are_many(name: str) -> None:
    severities = {
        result.kernel.name.partition("(")[0]: finding.severity
        for result in results(name, "KI103")
        for finding in result.findings
    }
    assert severities == {"few_scalars": "note", "many_scalars": "warning"}
