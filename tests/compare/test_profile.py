"""Reading what profilers write; the samples are made by hand to the documented columns."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from kernelinfo.compare.matching import measure
from kernelinfo.compare.profile import Agent, Dispatch, Measures, Resources, Shape, read
from kernelinfo.errors import ReadError
from tests.conftest import FIXTURES

SAMPLES = FIXTURES / "profile"


def read_bytes(folder: Path, data: bytes) -> tuple[Dispatch, ...]:
    path = folder / "run.csv"
    path.write_bytes(data)
    return read(path)


def dispatches(name: str) -> dict[tuple[str, int | None], Dispatch]:
    found = read(SAMPLES / name)
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


def test_the_long_table_of_rocprofiler_compute(tmp_path: Path) -> None:
    (found,) = read_bytes(tmp_path, LONG.encode())
    assert found.count == 2
    assert found.measures.duration_ns == 15
    assert (found.measures.wave_cycles, found.measures.cycles) == (500, 150)


def test_compressed_and_with_a_byte_order_mark(tmp_path: Path) -> None:
    plain = read_bytes(tmp_path, LONG.encode())
    assert read_bytes(tmp_path, gzip.compress(LONG.encode())) == plain
    assert read_bytes(tmp_path, b"\xef\xbb\xbf" + LONG.encode()) == plain


def test_columns_are_known_in_any_case_and_others_are_passed_over(tmp_path: Path) -> None:
    """rocpd's converter writes Vgpr_Count where rocprofv3 writes VGPR_Count."""
    text = "Guid,Kernel_Name,Vgpr_Count,Workgroup_Size_X,Grid_Size_X\n1,a,16,64,640\n"
    (found,) = read_bytes(tmp_path, text.encode())
    assert found.shape.resources.vgprs == 16
    assert (found.shape.workgroup_size, found.shape.workgroups) == (64, 10)


ROCM_6_4 = """\
"Kind","Agent_Id","Kernel_Name","Start_Timestamp","End_Timestamp","Private_Segment_Size",\
"Group_Segment_Size","Workgroup_Size_X","Workgroup_Size_Y","Workgroup_Size_Z","Grid_Size_X",\
"Grid_Size_Y","Grid_Size_Z"
"KERNEL_DISPATCH",2,"a",10,30,60,32768,64,1,1,1024,1024,1
"""


def test_a_kernel_trace_of_rocm_6_4_names_lds_and_scratch_in_its_own_way(tmp_path: Path) -> None:
    (found,) = read_bytes(tmp_path, ROCM_6_4.encode())
    assert found.shape == Shape("a", 64, 16384, Resources(None, None, None, 32768, 60))
    assert found.agent.id == "2"


ROCPROF_V1 = """\
Index,KernelName,gpu-id,queue-id,queue-index,pid,tid,grd,wgr,lds,scr,arch_vgpr,accum_vgpr,sgpr,\
wave_size,sig,obj,DispatchNs,BeginNs,EndNs,CompleteNs
0,"vgprbound(int, double*) [clone .kd]",1,0,0,1,1,26624,256,512,60,124,4,80,64,0x0,0x7f,0,1,5,6
"""


@pytest.mark.parametrize("vgpr", ["arch_vgpr", "vgpr"])
def test_rocprof_v1(vgpr: str, tmp_path: Path) -> None:
    (found,) = read_bytes(tmp_path, ROCPROF_V1.replace("arch_vgpr", vgpr).encode())
    name = "vgprbound(int, double*) [clone .kd]"
    assert found.shape == Shape(name, 256, 104, Resources(124, 4, 80, 512, 60))
    assert found.measures.duration_ns == 4
    assert found.agent.id == "1"


def test_launches_of_one_shape_on_several_agents_are_put_together() -> None:
    shape = Shape("a", 64, 1, Resources(8, 0, 16, 0, 0))
    launches = [
        Dispatch(shape, 1, Measures(duration_ns=10, percent=40), Agent("1")),
        Dispatch(shape, 3, Measures(duration_ns=20), Agent("2")),
    ]
    (found,) = (one.dispatch for one in measure(launches, ()))
    assert (found.count, found.measures) == (4, Measures(duration_ns=17.5, percent=40))


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
        ('{"rocprofiler-sdk-tool": []}', "is JSON"),
        (
            gzip.compress(b"SQLite format 3\0", mtime=0).decode("latin-1"),
            "compressed SQLite database",
        ),
        ("\x1f\x8b broken", "damaged gzip data"),
        (gzip.compress(b"Kernel_Name", mtime=0)[:-9].decode("latin-1"), "gzip data cut off after"),
        (gzip.compress(bytes(200 << 20), mtime=0).decode("latin-1"), "gzip data give more than"),
    ],
)
def test_what_is_no_profile_is_one_line_that_says_what_is_wanted(
    text: str, message: str, tmp_path: Path
) -> None:
    with pytest.raises(ReadError, match=message) as raised:
        read_bytes(tmp_path, text.encode("latin-1"))
    assert str(raised.value).startswith(f"{tmp_path}/run.csv: ")
    assert str(raised.value).endswith(
        "give rocprofv3's kernel trace or database, or rocprofiler-compute's pmc_perf.csv"
    )
    assert "\n" not in str(raised.value)


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="utf-8"):
        read_bytes(tmp_path, b"\xff\xfe\x00")
