"""Reading what profilers write; the samples are made by hand to the documented columns."""

from __future__ import annotations

import gzip

import pytest

from kernelinfo.compare.profile import Dispatch, Resources, read
from kernelinfo.errors import ReadError
from tests.conftest import FIXTURES

SAMPLES = FIXTURES / "profile"


def dispatches(name: str) -> dict[tuple[str, int | None], Dispatch]:
    found = read((SAMPLES / name).read_bytes(), name)
    return {(one.shape.kernel.split("(")[0], one.shape.workgroups): one for one in found}


def test_a_kernel_trace_of_rocprofv3() -> None:
    found = dispatches("kernel_trace.csv")
    assert len(found) == 6
    bound = found["vgprbound", 416]
    assert bound.count == 2
    assert bound.measures.duration_ns == 110_000
    assert bound.shape.workgroup_size == 256
    assert bound.shape.resources == Resources(124, 4, 80, 0, 0)
    assert found["vgprbound", 64].count == 1
    assert found["ldsbound", 128].shape.workgroup_size == 16 * 16


def test_counters_of_rocprofv3_are_folded_into_one_dispatch() -> None:
    found = dispatches("counter_collection.csv")
    assert {one.count for one in found.values()} == {1}
    bound = found["_Z9vgprboundiPd.kd", 416]
    assert bound.measures.waves_per_cu == 15.97
    assert bound.measures.percent is None


def test_the_wide_table_of_rocprofiler_compute() -> None:
    found = dispatches("pmc_perf.csv")
    bound = found["vgprbound", 104_000]
    assert bound.shape.resources == Resources(124, 4, 80, 0, 0)
    assert (bound.measures.wave_cycles, bound.measures.cycles) == (1_661_340_000, 1_000_000)


LONG = """\
GPU_ID,Dispatch_ID,Grid_Size,Workgroup_Size,LDS_Per_Workgroup,Scratch_Per_Workitem,Arch_VGPR,\
Accum_VGPR,SGPR,Kernel_Name,Start_Timestamp,End_Timestamp,Kernel_ID,Counter_Name,Counter_Value
0,0,256,64,0,0,8,0,16,a,10,20,0,SQ_LEVEL_WAVES_ACCUM,400
0,0,256,64,0,0,8,0,16,a,10,20,0,GRBM_GUI_ACTIVE,100
0,1,256,64,0,0,8,0,16,a,20,40,0,SQ_LEVEL_WAVES_ACCUM,600
0,1,256,64,0,0,8,0,16,a,20,40,0,GRBM_GUI_ACTIVE,200
"""


def test_the_long_table_of_rocprofiler_compute() -> None:
    (found,) = read(LONG.encode(), "pmc_perf.csv")
    assert found.count == 2
    assert found.measures.duration_ns == 15
    assert (found.measures.wave_cycles, found.measures.cycles) == (500, 150)


def test_compressed_and_with_a_byte_order_mark() -> None:
    plain = read(LONG.encode(), "x")
    assert read(gzip.compress(LONG.encode()), "x") == plain
    assert read(b"\xef\xbb\xbf" + LONG.encode(), "x") == plain


def test_columns_are_known_in_any_case_and_others_are_passed_over() -> None:
    """rocpd's converter writes Vgpr_Count where rocprofv3 writes VGPR_Count."""
    text = "Guid,Kernel_Name,Vgpr_Count,Workgroup_Size_X,Grid_Size_X\n1,a,16,64,640\n"
    (found,) = read(text.encode(), "x")
    assert found.shape.resources.vgprs == 16
    assert (found.shape.workgroup_size, found.shape.workgroups) == (64, 10)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no column Kernel_Name"),
        ("a,b\n1,2\n", "no column Kernel_Name"),
        ("Kernel_Name,VGPR_Count\na,8\n", "no column Workgroup_Size"),
        ("Kernel_Name,Workgroup_Size\n", "holds no dispatch"),
        ("Kernel_Name,Workgroup_Size\na,\n", "without kernel name or workgroup size"),
        ("Kernel_Name,Workgroup_Size\na,0\n", "without kernel name or workgroup size"),
        ("Kernel_Name,Workgroup_Size\na,many\n", "many"),
        ("Kernel_Name,Workgroup_Size\na,inf\n", "infinity"),
        ("Kernel_Name,Workgroup_Size,Counter_Name\na,64,b\n", "no column Counter_Value"),
        ("\x1f\x8b broken", "damaged gzip data"),
        (gzip.compress(b"Kernel_Name")[:-9].decode("latin-1"), "gzip data cut off after"),
        (gzip.compress(bytes(200 << 20)).decode("latin-1"), "gzip data give more than"),
    ],
)
def test_what_is_no_profile_is_one_line_that_says_what_is_wanted(text: str, message: str) -> None:
    with pytest.raises(ReadError, match=message) as raised:
        read(text.encode("latin-1"), "run.csv")
    assert str(raised.value).startswith("run.csv: ")
    assert str(raised.value).endswith(
        "give rocprofv3's kernel trace or rocprofiler-compute's pmc_perf.csv"
    )
    assert "\n" not in str(raised.value)


def test_bytes_that_are_no_text() -> None:
    with pytest.raises(ReadError, match="utf-8"):
        read(b"\xff\xfe\x00", "run.csv")
