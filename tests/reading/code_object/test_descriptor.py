"""Kernel descriptors, field by field and generation by generation."""

from __future__ import annotations

from struct import pack, pack_into

import pytest

from kernelinfo.errors import ReadError
from kernelinfo.hardware.targets import find
from kernelinfo.reading.code_object.descriptor import SIZE_V2, numbers, statement, within


def descriptor(
    *, lds: int = 0, scratch: int = 0, rsrc1: int = 0, rsrc3: int = 0, properties: int = 0
) -> bytes:
    raw = pack("<IIIIq20xIIIHHI", lds, scratch, 0, 0, 4096, rsrc3, rsrc1, 0, properties, 0, 0)
    assert len(raw) == 64
    return raw


def read(raw: bytes, target: str | None, version: int | None = 6) -> dict[str, object]:
    found = statement(memoryview(raw), 0, is_v2=len(raw) == SIZE_V2)
    stated = numbers(found, target, version)._asdict()
    return {name: value for name, value in stated.items() if value is not None}


@pytest.mark.parametrize(
    ("target", "wave32", "vgprs"),
    [
        ("gfx906", False, 40),
        ("gfx908", False, 40),
        ("gfx90a", False, 80),
        ("gfx942", False, 80),
        ("gfx1030", False, 40),
        ("gfx1030", True, 80),
        ("gfx1100", True, 80),
        ("gfx1250", True, 160),
    ],
)
def test_vgprs_are_counted_in_the_granule_of_the_wave_size(
    target: str, wave32: bool, vgprs: int
) -> None:
    values = read(descriptor(rsrc1=9, properties=wave32 << 10), target)
    assert values["reserved_vgprs"] == vgprs
    assert values["wave_size"] == (32 if wave32 else 64)


def test_the_wave_size_bit_means_nothing_before_gfx10() -> None:
    assert read(descriptor(properties=1 << 10), "gfx90a")["wave_size"] == 64


def test_a_wave_size_that_the_target_lacks_reserves_nothing_known() -> None:
    assert "reserved_vgprs" not in read(descriptor(), "gfx1250")


@pytest.mark.parametrize(("target", "sgprs"), [("gfx900", 48), ("gfx1030", None)])
def test_sgprs_are_encoded_up_to_gfx9(target: str, sgprs: int | None) -> None:
    assert read(descriptor(rsrc1=5 << 6), target).get("reserved_sgprs") == sgprs


@pytest.mark.parametrize(
    ("target", "names"),
    [
        ("gfx908", set()),
        ("gfx90a", {"accum_offset", "tg_split"}),
        ("gfx1030", {"wgp_mode"}),
        ("gfx1250", {"named_barriers"}),
    ],
)
def test_what_only_some_generations_have(target: str, names: set[str]) -> None:
    every = {"accum_offset", "tg_split", "wgp_mode", "named_barriers"}
    assert read(descriptor(properties=1 << 10), target).keys() & every == names


def test_the_bits_of_each_generation() -> None:
    unified = read(descriptor(rsrc3=17 | 1 << 16), "gfx90a")
    assert (unified["accum_offset"], unified["tg_split"]) == (72, True)
    assert read(descriptor(rsrc1=1 << 29), "gfx1100")["wgp_mode"] is True
    assert read(descriptor(rsrc3=3 << 14), "gfx1250")["named_barriers"] == 12


@pytest.mark.parametrize(("version", "stack"), [(4, None), (5, True), (None, None)])
def test_the_dynamic_stack_is_said_from_version_5_on(
    version: int | None, stack: bool | None
) -> None:
    values = read(descriptor(properties=1 << 11), "gfx90a", version)
    assert values.get("dynamic_stack") is stack


def test_an_unknown_target_still_has_lds_and_scratch() -> None:
    values = read(descriptor(lds=2048, scratch=60), None)
    assert values == {"lds_bytes": 2048, "scratch_bytes_per_lane": 60, "dynamic_stack": False}


def test_each_fact_says_where_its_field_lies() -> None:
    offsets = within(statement(memoryview(descriptor()), 0, is_v2=False), find("gfx90a"))
    assert {name: offsets[name] for name in read(descriptor(), "gfx90a")} == {
        "lds_bytes": 0,
        "scratch_bytes_per_lane": 4,
        "accum_offset": 44,
        "tg_split": 44,
        "reserved_vgprs": 48,
        "reserved_sgprs": 48,
        "dynamic_stack": 56,
        "wave_size": 56,
    }


def test_reserved_bytes_are_zero_in_a_descriptor() -> None:
    assert read(descriptor(lds=1, scratch=2, rsrc1=3, rsrc3=4, properties=5), "gfx90a")
    with pytest.raises(ReadError, match="does not point at a descriptor"):
        read(bytes(range(64)), "gfx90a")


def test_amd_kernel_code_t() -> None:
    raw = bytearray(256)
    pack_into("<IIIII", raw, 48, 2 | 1 << 6, 0, 1 << 20, 60, 2048)
    pack_into("<HH", raw, 84, 13, 11)
    raw[103] = 6
    assert read(bytes(raw), "gfx900", 2) == {
        "vgprs": 11,
        "sgprs": 13,
        "lds_bytes": 2048,
        "scratch_bytes_per_lane": 60,
        "dynamic_stack": True,
        "wave_size": 64,
        "reserved_vgprs": 12,
        "reserved_sgprs": 16,
    }
