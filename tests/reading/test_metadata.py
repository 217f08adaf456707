"""The metadata map: what its values mean, and what is no value."""

from __future__ import annotations

from typing import Any

import pytest

from kernelinfo.reading.assembly import metadata_yaml
from kernelinfo.reading.facts import Numbers
from kernelinfo.reading.metadata import kernel_numbers, kernel_numbers_v2


def stated(numbers: Numbers) -> dict[str, object]:
    return {name: value for name, value in numbers._asdict().items() if value is not None}


def numbers_of(kernel: dict[Any, Any]) -> dict[str, object]:
    _, numbers, complaints = kernel_numbers(kernel)
    assert not complaints
    return stated(numbers)


def test_what_the_compiler_writes() -> None:
    kernel: dict[object, object] = {
        ".name": "K",
        ".symbol": "K.kd",
        ".vgpr_count": 90,
        ".agpr_count": 45,
        ".sgpr_count": 16,
        ".group_segment_fixed_size": 2048,
        ".private_segment_fixed_size": 60,
        ".vgpr_spill_count": 14,
        ".sgpr_spill_count": 0,
        ".max_flat_workgroup_size": 256,
        ".reqd_workgroup_size": [32, 8, 1],
        ".wavefront_size": 32,
        ".workgroup_processor_mode": 1,
        ".uses_dynamic_stack": False,
        ".language": "OpenCL C",
        ".args": [{".value_kind": "global_buffer", ".size": 8}],
    }
    symbol, numbers, complaints = kernel_numbers(kernel)
    assert symbol == "K"
    assert not complaints
    assert stated(numbers) == {
        "vgprs": 90,
        "agprs": 45,
        "sgprs": 16,
        "lds_bytes": 2048,
        "scratch_bytes_per_lane": 60,
        "vgpr_spills": 14,
        "sgpr_spills": 0,
        "max_workgroup_size": 256,
        "required_workgroup": (32, 8, 1),
        "wave_size": 32,
        "wgp_mode": True,
        "dynamic_stack": False,
    }


def test_what_is_not_said_is_no_fact() -> None:
    assert numbers_of({".name": "K", ".vgpr_count": 512}) == {"vgprs": 512}


@pytest.mark.parametrize("kind", ["hidden_dynamic_lds_size", "dynamic_shared_pointer"])
def test_an_argument_that_sizes_lds_at_launch(kind: str) -> None:
    args = [{".value_kind": "by_value"}, {".value_kind": kind}]
    assert numbers_of({".args": args}) == {"dynamic_lds": True}


@pytest.mark.parametrize(
    ("kernel", "symbol"),
    [
        ({".name": "shown", ".symbol": "K.kd"}, "K"),
        ({".name": "K"}, "K"),
        ({".symbol": "K.kd"}, "K"),
        ({".name": b"K\xff"}, r"K\xff"),
        ({".name": 7}, ""),
    ],
)
def test_the_symbol(kernel: dict[Any, Any], symbol: str) -> None:
    assert kernel_numbers(kernel)[0] == symbol


@pytest.mark.parametrize(
    ("key", "value", "complaint"),
    [
        (".vgpr_count", "12", "'12', not a whole number"),
        (".vgpr_count", float("nan"), "nan, not a whole number"),
        (".vgpr_count", True, "True, not a whole number"),
        (".vgpr_count", -1, "-1, not a whole number"),
        (".vgpr_count", 100_000, "from 0 to 1024"),
        (".vgpr_count", 1 << 64, "a number of 65 bits"),
        (".vgpr_count", None, "None"),
        (".group_segment_fixed_size", 1 << 40, "not a whole number from 0 to 4294967295"),
        (".wavefront_size", 0, "not 32 or 64"),
        (".wavefront_size", 1 << 31, "not 32 or 64"),
        (".max_flat_workgroup_size", 0, "from 1"),
        (".reqd_workgroup_size", [64, 1], "not three sizes"),
        (".reqd_workgroup_size", [64, 1, "1"], "not a whole number"),
        (".uses_dynamic_stack", 2, "not true or false"),
    ],
)
def test_a_malformed_value_is_no_fact_but_a_complaint(
    key: str, value: object, complaint: str
) -> None:
    _, numbers, complaints = kernel_numbers({".name": "K", key: value, ".sgpr_count": 6})
    assert stated(numbers) == {"sgprs": 6}
    assert len(complaints) == 1
    assert complaints[0].startswith(f"{key} is ")
    assert complaint in complaints[0]


def test_code_object_v2() -> None:
    kernel: dict[object, object] = {
        "Name": "K",
        "SymbolName": "K@kd",
        "Args": [{"ValueKind": "DynamicSharedPointer"}],
        "Attrs": {"ReqdWorkGroupSize": [32, 8, 1]},
        "CodeProps": {"NumVGPRs": 3, "NumSGPRs": "6", "WavefrontSize": 64},
    }
    symbol, numbers, complaints = kernel_numbers_v2(kernel)
    assert symbol == "K"
    assert stated(numbers) == {
        "vgprs": 3,
        "wave_size": 64,
        "required_workgroup": (32, 8, 1),
        "dynamic_lds": True,
    }
    assert complaints == ["NumSGPRs is '6', not a whole number from 0 to 1024"]
    assert kernel_numbers_v2({"Name": "K", "CodeProps": 5})[2] == ["CodeProps is 5, not a map"]


@pytest.mark.parametrize(("written", "lanes"), [(64, 64), (32, 32), (6, 64), (5, 32)])
def test_wave_sizes_of_code_object_v2(written: int, lanes: int) -> None:
    """clang 4 wrote the logarithm."""
    _, numbers, complaints = kernel_numbers_v2({"CodeProps": {"WavefrontSize": written}})
    assert (stated(numbers), complaints) == ({"wave_size": lanes}, [])
    assert kernel_numbers_v2({"CodeProps": {"WavefrontSize": 7}})[1] == Numbers()


def test_a_key_that_stands_twice_hides_no_damage() -> None:
    text = "---\namdhsa.kernels:\n  - .name: 'open\namdhsa.kernels:\n  - .name: second\n...\n"
    with pytest.raises(ValueError, match="unexpected document"):
        metadata_yaml.parse(text)


def test_workgroups_that_start_together() -> None:
    _, numbers, complaints = kernel_numbers({".name": "k", ".cluster_dims": [2, 2, 1]})
    assert numbers.cluster == (2, 2, 1)
    assert complaints == []
    _, _, [complaint] = kernel_numbers({".name": "k", ".cluster_dims": [2, 2]})
    assert "three sizes" in complaint
