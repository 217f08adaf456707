"""Files of real compilers that were once read wrongly, each by a fixture of the same kind."""

from __future__ import annotations

import gzip
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

import kernelinfo
from kernelinfo import Kernel, Problem, Result
from kernelinfo.kernel import USED
from tests.conftest import FIXTURES
from tests.messages import does_line_match, refused, says
from tests.test_golden import run


def kernels(name: str) -> dict[str, Kernel]:
    """By symbol; raises where anything of the fixture was not read."""
    return {kernel.symbol: kernel for kernel in kernelinfo.load(FIXTURES / name).kernels}


@pytest.mark.parametrize("compiler", ["clang19", "clang22"])
def test_names_that_yaml_takes_for_another_type(compiler: str) -> None:
    text = kernels(f"assembly/words-{compiler}-gfx90a.s")
    linked = kernels(f"code_object/words-{compiler}-gfx90a.co")
    names = {"nan", "inf", "n", "yes", "0x10", "1e5", "2001-99-99", "1_000"}
    assert text.keys() == linked.keys() == names
    for symbol, kernel in text.items():
        numbers, of_object = kernel.numbers, linked[symbol].numbers
        for name in (*USED, "vgpr_spills", "sgpr_spills", "max_workgroup_size"):
            assert getattr(numbers, name) == getattr(of_object, name)
        assert numbers.vgpr_spills == numbers.sgpr_spills == 0
        assert numbers.max_workgroup_size == 1024
        assert numbers.required_workgroup is of_object.required_workgroup is None


@pytest.mark.parametrize("system", ["unknown", "amdpal"])
def test_wave_size_without_a_descriptor(system: str) -> None:
    """By the unit of VGPRBlocks; of `unknown`, by the register file that `occupancy()` names."""
    for kernel in kernels(f"assembly/no-os-llc22-gfx1100-{system}.s").values():
        assert kernel.wave_size == 64
        assert [f.source for f in kernel.traits.facts if f.name == "wave_size"] == ["kernel-info"]
        occupancy = kernel.occupancy()
        assert (occupancy.waves_per_simd, occupancy.percent) == (4, 25)
        assert occupancy.exact is (kernel.symbol != "unknown"), occupancy.at_most_because


STAGES = ["stages-llc22-gfx1030-unknown.s", *(f"stages-llc{v}-gfx1030-amdpal.s" for v in (19, 22))]


@pytest.mark.parametrize("name", STAGES)
def test_graphics_stages_have_no_workgroup(name: str) -> None:
    found = kernels(f"assembly/{name}")
    for symbol in ("vertex", "pixel"):
        launch = found[symbol].traits.launch(workgroup_size=512, configured_size=256)
        assert launch == (32, "graphics-stage", 0, True, None)
        occupancy = found[symbol].occupancy()
        assert occupancy.waves_per_simd == found[symbol].traits.numbers.compiler_waves_per_simd == 9
        assert not occupancy.exact  # what the pipeline adds is not in the file
    assert found["compute"].occupancy().exact
    # In PAL's metadata a second compute shader overwrites the first, and its mode.
    assert found["kernel"].occupancy().exact is name.endswith("unknown.s")
    for symbol in ("compute", "kernel"):
        assert found[symbol].traits.launch().assumption == "hardware-max"
    out, _, code = run(f"assembly/{name}")
    assert code == 0
    blocks = {line.split()[-1]: line.split()[0] for line in out.splitlines()[3:7]}
    assert blocks == {"kernel": "1024", "compute": "1024", "vertex": "–", "pixel": "–"}
    assert "block – = a graphics stage: waves are launched one by one" in " ".join(out.split())
    out, _, _ = run("explain", f"assembly/{name}", "pixel")
    assert "36 of 64 waves/WGP" in out
    assert "workgroup" not in out


INFO = "; Kernel info:\n; NumVgprs: 100\n; NumVGPRsForWavesPerEU: 100\n; VGPRBlocks: 24\n"
ISA = '.amd_amdgpu_isa "amdgcn-amd-amdpal--gfx1030"\n'


def pal(metadata: str) -> list[bool | None]:
    """The modes of two functions of a text with that metadata."""
    text = f"a:\n{INFO}b:\n{INFO}{metadata}\n{ISA}"
    return [kernel.numbers.wgp_mode for kernel in kernelinfo.load(text.encode()).kernels]


def test_modes_in_metadata_of_pal() -> None:
    assert pal(".amd_amdgpu_pal_metadata 0x2e12,0x20000000,0x1000001a,0xa") == [True, True]
    assert pal(".amd_amdgpu_pal_metadata 0x2e12,0x0") == [False, False]
    # With a graphics stage, nothing says which function is the compute stage's.
    assert pal(".amd_amdgpu_pal_metadata 0x2c0a,0x0,0x2e12,0x20000000") == [None, None]
    stages = "      .cs:\n        .entry_point_symbol: b\n        .wgp_mode: false\n"
    block = ".amdgpu_pal_metadata\n---\namdpal.pipelines:\n  - .hardware_stages:\n{}...\n"
    end = ".end_amdgpu_pal_metadata"
    assert pal(block.format(stages) + end) == [False, False]
    stages += "      .gs:\n        .entry_point_symbol: c\n"
    assert pal(block.format(stages) + end) == [None, False]
    with refused("metadata-unreadable pal-metadata-no-list", kernelinfo.ReadError):
        pal(f".amdgpu_pal_metadata\n---\namdpal.version: [3, 0]\n...\n{end}")


def test_the_unit_of_vgpr_blocks_tells_the_wave_size_that_is_stated() -> None:
    settled = 0
    for path in (FIXTURES / "assembly").glob("[!n]*gfx1[012]*.s"):
        text = path.read_text("utf-8")
        stated = {k.symbol: k.wave_size for k in kernelinfo.load(text.encode()).kernels}
        text = re.sub(r"(?s)\.amdhsa_kernel.*?\.end_amdhsa_kernel", "", text)
        text = re.sub(r"(?s)\.amdgpu_metadata.*?\.end_amdgpu_metadata", "", text)
        for kernel in kernelinfo.load(text.encode()).kernels:
            assert kernel.wave_size in (None, stated[kernel.symbol])
            settled += kernel.wave_size is not None
    assert settled > 20


def test_a_shader_beside_kernels_with_descriptors_is_named() -> None:
    path = str(FIXTURES / "assembly" / "no-os-llc22-gfx1100-mesa3d.s")
    items = list(kernelinfo.analyse([path], kernelinfo.Options()))
    results = [item for item in items if isinstance(item, Result)]
    assert [result.kernel.symbol for result in results] == ["many", "unknown"]
    (problem,) = (item for item in items if isinstance(item, Problem))
    assert does_line_match(problem.message, "kernel-shader 'shader'")


def test_the_body_of_a_macro_is_no_kernel() -> None:
    path = str(FIXTURES / "assembly" / "macros.s")
    items = list(kernelinfo.analyse([path], kernelinfo.Options()))
    (result,) = (item for item in items if isinstance(item, Result))
    assert result.kernel.symbol == "plain"
    problems = [item for item in items if isinstance(item, Problem)]
    assert [problem.line for problem in problems] == [4, 22]
    assert does_line_match(problems[0].message, "kernels-of-macro .macro KERNEL name, vgprs")
    made = {"foo", "bar", "repeated_24", "repeated_48", "plain"}
    assert kernels("code_object/macros.co").keys() == made


def test_a_required_size_without_a_launch_bound_is_a_named_cause() -> None:
    (kernel,) = kernels("assembly/required-llc19-gfx1010.s").values()
    occupancy = kernel.occupancy()
    assert (kernel.numbers.compiler_waves_per_simd, occupancy.waves_per_simd) == (16, 20)
    for version, reason in ((19, "not the size that is required"), (22, "None")):
        out, _, _ = run(f"assembly/required-llc{version}-gfx1010.s", "--format", "json")
        (listed,) = json.loads(out)["kernels"]
        assert reason in str(listed["compiler_occupancy"]["reason"])


@pytest.mark.parametrize("target", ["gfx906", "gfx90a"])
def test_sgprs_of_xnack_that_only_the_assembler_adds(target: str, tmp_path: Path) -> None:
    text = FIXTURES / "assembly" / f"variety-clang15-{target}.s"
    ((name, finding),) = (
        (item.kernel.name, finding)
        for item in kernelinfo.analyse([str(text)], kernelinfo.Options())
        if isinstance(item, Result)
        for finding in item.findings
        if finding.rule == "KI004"
    )
    assert (name, finding.severity) == ("sgpr_heavy(int*)", "note")
    assert says(finding.message, "KI004-xnack 6 waves/SIMD … 7")
    object = tmp_path / "assembled.o"
    flags = ("-triple", "amdgcn-amd-amdhsa", f"-mcpu={target}", "-filetype=obj")
    subprocess.run(["llvm-mc-15", *flags, text, "-o", object], check=True)
    waves = {k.name: k.occupancy().waves_per_simd for k in kernelinfo.load(object).kernels}
    assert waves["sgpr_heavy(int*)"] == 6


@pytest.mark.parametrize("name", ["libmixed.so", "libwrapped.so", "libtwo.so", "libtwo.so.gz"])
def test_code_objects_of_compressed_containers_are_told_apart(name: str, tmp_path: Path) -> None:
    path = FIXTURES / "container" / name
    if path.suffix == ".gz":
        packed = gzip.compress(path.with_suffix("").read_bytes())
        (path := tmp_path / name).write_bytes(packed)
    out, _, _ = run(str(path), "--format", "json")
    inputs = json.loads(out)["inputs"]
    places = {(one["path"], one["member"], one["offset"]) for one in inputs}
    assert len(places) == len(inputs) > 2
    assert all(one["member"].endswith(f"amdhsa--{one['target']}") for one in inputs)


def test_tritons_sidecar_is_a_source_of_numbers(tmp_path: Path) -> None:
    path = tmp_path / "add.hsaco"
    shutil.copy(FIXTURES / "code_object" / "tiny-v6-clang22-gfx90a.co", path)
    symbol = next(iter(kernels("code_object/tiny-v6-clang22-gfx90a.co")))
    sidecar = {"name": symbol, "target": {"backend": "hip", "arch": "gfx90a"}, "shared": 4096}
    path.with_suffix(".json").write_text(json.dumps(sidecar | {"num_warps": 4, "warp_size": 64}))
    out, _, code = run("explain", str(path), symbol, "-v")
    assert code == 0
    assert "sidecar: workgroups of 256×1×1, 4096 B of LDS at launch" in out
