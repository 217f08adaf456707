"""A report is a sequence of kernels, and a kernel answers for its declared launch."""

from __future__ import annotations

import pytest

import kernelinfo
from kernelinfo import OptionError, Report, UnknownKernelError, UnknownTargetError

from ..conftest import FIXTURES
from ..messages import refused

OBJECT = FIXTURES / "code_object" / "occupancy-hip-amdgcn-amd-amdhsa-gfx90a.out"
NAMES = ["empty", "vgprbound", "ldsbound", "sgprbound"]


@pytest.fixture(scope="module")
def report() -> Report:
    return kernelinfo.load(OBJECT)


def test_it_is_a_sequence_of_kernels(report: Report) -> None:
    assert len(report) == 4
    assert [kernel.name.partition("(")[0] for kernel in report] == NAMES
    assert report[1] == report.kernels[1] == list(report)[1]
    assert report[1] in report
    assert isinstance(report[1:3], Report)
    assert report[1:3].kernels == report.kernels[1:3]
    assert not Report((), ())


def test_names_choose_as_on_the_command_line(report: Report) -> None:
    assert report["*bound"].kernels == report.kernels[1:]
    assert report["re:^[ls]"].kernels == report.kernels[2:]
    assert len(report["nothing"]) == 0
    assert report["ldsbound"].results == report.results[2:3]


def test_one_kernel_is_asked_for_by_name(report: Report) -> None:
    symbol = report.kernels[1].symbol
    for name in ("vgprbound", "vgprbound(int, double*)", symbol):
        assert report.kernel(name) == report.kernels[1]
    with refused("kernel-unknown did-you-mean 'vgprbond' … 4 … vgprbound", UnknownKernelError):
        report.kernel("vgprbond")
    with refused("kernel-ambiguous 3 … '*bound' … vgprbound(int, double", UnknownKernelError):
        report.kernel("*bound")
    with refused("kernel-unknown kernels-listed … 4", UnknownKernelError):
        report.kernel("a name that is like none")


def test_the_largest_value_of_a_number(report: Report) -> None:
    assert report.max("vgpr_spills") == report.max("VGPR_Spills") == 14
    assert report.max("lds_bytes") == 65536
    assert Report((), ()).max("vgpr_spills") is None
    with refused("number-unknown did-you-mean vgpr_spills", OptionError):
        report.max("vgprs_spill")


def test_a_kernel_answers_for_its_declared_launch(report: Report) -> None:
    kernel = report.kernel("vgprbound")
    assert (kernel.waves_per_simd, kernel.percent, kernel.limiters) == (4.0, 50.0, ("vgpr",))
    assert (kernel.next[0].at_most, kernel.numbers.vgpr_spills) == (96, 0)


def test_targets_and_products_are_named(report: Report) -> None:
    kernel = report.kernel("ldsbound")
    assert kernel.on("gfx950").waves_per_simd == 2 * kernel.waves_per_simd
    assert kernel.on("MI300X") == kernel.on(kernelinfo.arch("mi300x").target)
    with pytest.raises(UnknownTargetError):
        kernel.on("gfx9999")


def test_a_kernel_is_shown_in_one_short_line(report: Report) -> None:
    shown = repr(report.kernel("sgprbound"))
    for part in ("sgprbound(int, double*)", "gfx90a", "spilled_vgprs=14", "waves_per_simd=8"):
        assert part in shown
    assert "next='vgpr <= 96 -> 5'" in repr(report.kernel("vgprbound"))
    found = report.kernel("vgprbound").occupancy()
    assert repr(found) == (
        "Occupancy('gfx90a', workgroup_size=256, waves_per_simd=4, percent=50, limiters=vgpr, "
        "next='vgpr <= 96 -> 5')"
    )
    kernel = report.kernel("sgprbound")._replace(name="ns::f<" + "x, " * 500 + ">(int)")
    assert len(repr(kernel)) <= 240
