"""Whole devices: published CU counts, and fillings and tails by hand arithmetic."""

from __future__ import annotations

import csv
import re
from typing import Any

import pytest

from kernelinfo.errors import LaunchError, OptionError, UnknownTargetError
from kernelinfo.hardware import products, targets
from kernelinfo.hardware.targets import Device
from kernelinfo.model import curves
from kernelinfo.model.calculator import arch
from tests.hardware.test_targets import FACTS
from tests.messages import refused

NOT_OF_LLVM = (
    *("Radeon PRO V620", "Radeon PRO W6600", "Radeon PRO W7800 48GB", "Radeon PRO V710"),
    *("Radeon AI PRO R9600D", "RX 6700"),
)
"""Products that LLVM's documentation does not list."""


@pytest.mark.parametrize(
    ("name", "target", "product"),
    [
        ("MI300X", "gfx942", "MI300X"),
        ("mi300x", "gfx942", "MI300X"),
        (" Mi250 ", "gfx90a", "MI250 GCD"),
        ("MI250 GCD", "gfx90a", "MI250 GCD"),
        ("mi250x", "gfx90a", "MI250X GCD"),
        ("gfx908", "gfx908", "MI100"),
        ("RX 7900 XTX", "gfx1100", "RX 7900 XTX"),
        ("rx7900xtx", "gfx1100", "RX 7900 XTX"),
        ("AMD Radeon RX 6800", "gfx1030", "RX 6800"),
        ("7700 xt", "gfx1101", "RX 7700 XT"),
        ("Pro W7900", "gfx1100", "Radeon PRO W7900"),
        ("R9700", "gfx1201", "Radeon AI PRO R9700"),
        ("780M", "gfx1103", "Radeon 780M"),
        ("Radeon 8060S Graphics", "gfx1151", "Radeon 8060S"),
        ("Radeon VII", "gfx906", "Radeon VII"),
        ("AMD Instinct MI300X", "gfx942", "MI300X"),
    ],
)
def test_a_product_is_found_in_any_case(name: str, target: str, product: str) -> None:
    found, device = products.find(name)
    assert (found.name, device.name) == (target, product)


@pytest.mark.parametrize("name", ["gfx942", "GFX942", "Gfx942", "mi300x", "MI300X"])
def test_a_target_is_found_in_any_case(name: str) -> None:
    assert products.target_named(name).name == "gfx942"


@pytest.mark.parametrize("name", ["gfx94x", "GFX94X"])
def test_an_unknown_target_is_one_in_any_case(name: str) -> None:
    with refused("target-unknown did-you-mean gfx942", UnknownTargetError):
        products.target_named(name)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("MI300Q", "device-unknown did-you-mean MI300X"),
        ("gfx942", "device-several MI300X, MI300A, MI325X, MI308X"),
        ("gfx1030", "device-several RX 6950 XT, RX 6900 XT"),
        ("gfx1036", "device-several device-no-product gfx1036"),
        ("RX 7900", "device-unknown did-you-mean RX 7900 XTX, RX 7900 XT or RX 7900 GRE"),
        ("toaster", "device-unknown devices-listed"),
        ("radeon", "device-unknown did-you-mean Radeon VII"),
    ],
)
def test_an_unknown_device_is_told_with_what_is_near(name: str, message: str) -> None:
    with refused(message, OptionError):
        products.find(name)


def test_arch_and_device_have_to_fit() -> None:
    assert products.choose("gfx942", "MI300X")[0].name == "gfx942"
    assert products.choose("gfx9-4-generic", "MI355X")[0].name == "gfx950"
    with refused("device-other-target MI300X … gfx942 … gfx90a", OptionError):
        products.choose("gfx90a", "MI300X")
    with refused("target-not-given", OptionError):
        products.choose(None, None)


@pytest.mark.skipif(not FACTS.exists(), reason="the shared hardware table is not here")
def test_sizes_are_those_that_were_researched() -> None:
    with FACTS.open() as file:
        rows = {row["target"]: row["instinct_cu_counts"] for row in csv.DictReader(file)}
    for name in targets.known():
        for device in targets.find(name).devices:
            product = device.name.removesuffix(" GCD")
            if not product.startswith("MI"):
                continue  # the table has the Instinct products
            (published,) = [e for e in rows[name].split("; ") if e.startswith(f"{product}:")]
            assert str(device.cus or device.wgps) in re.findall(r"\d+", published.split(":")[1])


def test_the_products_of_a_target_are_those_that_its_line_names() -> None:
    """The line is that of LLVM's documentation, the devices are those of ROCm's."""
    for name in targets.known():
        target = targets.find(name)
        line = re.sub(r"[^a-z0-9]", "", target.products.casefold())
        for device in target.devices:
            number = re.findall(r"[a-z]*\d+[a-z]*|vii", device.name.casefold())[0]
            assert number in line or device.name in NOT_OF_LLVM, (name, device.name)


def test_products_of_workgroup_processors_have_both_counts() -> None:
    found, device = products.find("RX 7900 XTX")
    assert (device.domains("CU"), device.domains("WGP")) == (96, 48)
    occupancy = arch(found.name).occupancy(vgprs=64, workgroup_size=256)
    filled = curves.fill(device, occupancy)
    assert (filled.domains, filled.wave_slots) == (48, 48 * 64)


def test_dies_and_scratch_apertures_agree() -> None:
    """On CDNA3 and CDNA4 each die has its own scratch aperture (ROCr amd_gpu_agent.h:423)."""
    for name in ("gfx942", "gfx950"):
        target = targets.find(name)
        for device in target.devices:
            if device.xccs:
                assert device.xccs * target.scratch.cus_per_aperture == device.cus


def filling(name: str, grid: int | None = None, **asks: Any) -> curves.Filling:
    target, device = products.find(name)
    found = arch(target.name).occupancy(**{"workgroup_size": 256} | asks)
    return curves.fill(device, found, grid)


def test_an_mi250_die_holds_3328_waves() -> None:
    """104 CUs of 32; the limiters tutorial's vgprbound kernel fills half of them."""
    assert filling("MI250").wave_slots == 104 * 32 == 3328
    bound = filling("MI250", vgprs=122, sgprs=70)
    assert (bound.waves, bound.workgroups) == (1664, 416)


def test_the_omniperf_exercise_holds_one_wave_a_cu() -> None:
    """64 threads and 64 KiB: 104 of 3328 on MI250, 228 of 7296 on MI300A (training exercise 2)."""
    for name, waves, slots in (("MI250", 104, 3328), ("MI300A", 228, 7296)):
        found = filling(name, workgroup_size=64, lds_bytes=65536)
        assert (found.waves, found.wave_slots) == (waves, slots)


@pytest.mark.parametrize(
    ("grid", "full", "last", "percent"),
    [
        (1, 0, 1, 100 * 4 / 9728),
        (1215, 0, 1215, 100 * 1215 * 4 / 9728),
        (1216, 1, 0, 50.0),
        (1217, 1, 1, 100 * 1217 * 4 / (2 * 9728)),
        (3000, 2, 568, 100 * 3000 * 4 / (3 * 9728)),
        (12160, 10, 0, 50.0),
    ],
)
def test_rounds_and_tail_on_an_mi300x(grid: int, full: int, last: int, percent: float) -> None:
    """304 CUs, 4 workgroups of 4 waves each: 1216 at once, half of 9728 slots."""
    found = filling("MI300X", grid, vgprs=122)
    assert found.workgroups == 1216
    assert found.grid is not None
    assert (found.grid.full_rounds, found.grid.last_round) == (full, last)
    assert found.grid.percent == pytest.approx(percent)
    assert found.grid.percent <= found.percent


def test_a_wgp_is_counted_where_workgroups_share_one() -> None:
    """MI455X: 256 WGPs of 4 SIMDs with 16 slots."""
    found = filling("MI455X")
    assert (found.domains, found.wave_slots) == (256, 256 * 64)


def test_a_kernel_that_cannot_start_fills_nothing() -> None:
    found = filling("MI250", 1000, vgprs=200, workgroup_size=1024)
    assert (found.workgroups, found.waves, found.grid) == (0, 0, None)


def test_an_empty_grid_means_nothing() -> None:
    with refused("launch-grid 0", LaunchError):
        filling("MI250", 0)


def test_a_wgp_is_two_cus_where_it_is_not_counted_itself() -> None:
    by_cus, by_wgps = Device("a", cus=96), Device("b", wgps=256)
    assert (by_cus.domains("CU"), by_cus.domains("WGP"), by_cus.xccs) == (96, 48, 0)
    assert (by_wgps.domains("CU"), by_wgps.domains("WGP")) == (0, 256)
