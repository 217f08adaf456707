"""Numbers of a source are those of the assembly that the same command writes by hand."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Sequence
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from ..compiling import needs_clang
from ..conftest import FIXTURES
from ..test_golden import run

pytestmark = pytest.mark.nightly

SOURCES = Path(__file__).parent / "sources"
CLOSED = ("-nogpuinc", "-nogpulib", "-DFREESTANDING")
LIBRARIES = "/usr/lib/x86_64-linux-gnu/amdgcn/bitcode"
WITH_HEADERS = ("--hip-path=/usr", f"--rocm-device-lib-path={LIBRARIES}")
NEED_HEADERS = ("mathematics.hip", "halves.hip", "atomics.cu")
HIP = sorted(str(path) for path in SOURCES.iterdir() if path.suffix in (".hip", ".cu", ".cpp")) + [
    str(FIXTURES / "src" / name) for name in ("occupancy.hip",)
]
OPENCL = sorted(map(str, SOURCES.glob("*.cl")))
FEW = [path for path in HIP if path.endswith((*NEED_HEADERS, "templates.hip", "several.hip"))]
WITHOUT_HEADERS = [path for path in HIP if not path.endswith(NEED_HEADERS)]
LLVM = [str(FIXTURES / "src" / name) for name in ("required.ll", "agprs-alone.ll")]
REGISTERS = (
    *("VGPR_Count", "Accum_VGPR_Count", "SGPR_Count", "VGPR_Used", "AGPR_Used", "SGPR_Used"),
    *("LDS_Block_Size", "Scratch_Size", "VGPR_Spills", "SGPR_Spills", "Waves_Per_SIMD"),
    "Code_Size",
)


def needs(program: str, file: str = "/") -> Any:
    is_here = shutil.which(program) is not None and Path(file).exists()
    return pytest.mark.skipif(not is_here, reason=f"{program} or {file} is not installed")


HEADER = "/usr/include/hip/hip_runtime.h"
BUILDS = [
    pytest.param("hipcc", "gfx90a", FEW, (), id="hipcc", marks=needs("hipcc", HEADER)),
    pytest.param(
        *("clang++-19", "gfx1030", FEW, WITH_HEADERS), marks=needs("clang++-19", HEADER), id="19"
    ),
    *(
        pytest.param(
            *(f"clang++-{version}", target, WITHOUT_HEADERS, CLOSED),
            marks=needs(f"clang++-{version}"),
            id=f"{version}-closed",
        )
        for version, target in ((15, "gfx906"), (16, "gfx90a"), (19, "gfx1100"), (22, "gfx942"))
    ),
]
"""HIP's headers cost a second for each source: compilers with them take few."""
OF_COMMANDS = [one for one in BUILDS if one.id in ("hipcc", "19", "22-closed")]


def rows(*words: str) -> dict[tuple[str, str], dict[str, Any]]:
    """(stem of the file, symbol) -> row, without the path."""
    out, err, code = run("--format", "jsonl", *words)
    assert code == 0, err
    found = {}
    for line in out.splitlines():
        row = json.loads(line)
        del row["Library"]  # after the path
        found[Path(row.pop("Path")).stem, row["Symbol"]] = row
    return found


def written(
    command: Sequence[str], paths: Sequence[str], folder: Path, suffix: str = ".s"
) -> list[str]:
    """Paths of the assembly, or of another output, that the command writes of each source."""
    folder.mkdir(exist_ok=True)
    outputs = [str(folder / f"{Path(path).stem}{suffix}") for path in paths]
    for path, output in zip(paths, outputs, strict=True):
        platform = {"HIP_PLATFORM": "amd", "PATH": "/usr/bin:/bin"}
        subprocess.run([*command, path, "-o", output], check=True, env=platform, cwd=folder)
    return outputs


@pytest.mark.parametrize(("compiler", "target", "paths", "flags"), BUILDS)
def test_sources_equal_their_assembly(
    compiler: str, target: str, paths: list[str], flags: tuple[str, ...], tmp_path: Path
) -> None:
    """Line tables move no register, either."""
    device = ["-x", "hip", "--cuda-device-only", "-S", "-O3", "-w", f"--offload-arch={target}"]
    end = ("--", "-w", *flags)
    found = rows(*paths, "--arch", target, "--compiler", compiler, *end)
    assert len(found) >= len(paths)
    with_lines = [compiler, *device, "-gline-tables-only", *flags]
    assert rows(*written(with_lines, paths, tmp_path)) == found
    plain = rows(*written([compiler, *device, *flags], paths, tmp_path))
    assert plain.keys() == found.keys()
    for key, row in plain.items():
        assert [row[name] for name in REGISTERS] == [found[key][name] for name in REGISTERS], key


@needs_clang
def test_opencl_equals_its_assembly(tmp_path: Path) -> None:
    device = ["-x", "cl", "--target=amdgcn-amd-amdhsa", "-mcpu=gfx942", "-nogpulib", "-w"]
    found = rows(*OPENCL, "--arch", "gfx942", "--compiler", "clang-22", "--", "-nogpulib", "-w")
    command = ["clang-22", *device, "-S", "-O3", "-gline-tables-only"]
    assert rows(*written(command, OPENCL, tmp_path)) == found
    assert {stem for stem, _ in found} == {"reduce", "stencil"}
    for path in OPENCL:
        assembly = str(tmp_path / f"{Path(path).stem}.s")
        compiled = ("--arch", "gfx942", "--compiler", "clang-22", "--", "-nogpulib", "-w")
        same_in_every_command(path, assembly, *compiled)


def document(*words: str) -> Any:
    """JSON of a command, without what tells a source from its assembly."""
    dashes = words.index("--") if "--" in words else len(words)
    out, err, code = run(*words[:dashes], "--format", "json", *words[dashes:])
    assert code == 0, err
    found = json.loads(out)
    for one in found.get("inputs", ()):
        del one["path"], one["member"], one["size"], one["command"]
    for kernel in found.get("kernels", ()):
        for finding in kernel.get("findings", ()):
            del finding["hint"]  # of a source it names the command that tries others
    return found


def without_optimisation(paths: Sequence[str], folder: Path) -> list[str]:
    """Paths of the same sources, of which a compiler makes other code."""
    shutil.copytree(SOURCES, folder)
    changed = []
    for path in paths:
        copy = folder / Path(path).name
        copy.write_text("#pragma clang optimize off\n" + Path(path).read_text("utf-8"))
        changed.append(str(copy))
    return changed


def same_in_every_command(source: str, assembly: str, *compiled: str) -> None:
    for name in ("explain", "pressure"):
        found = document(name, source, "*", *compiled)
        assert found == document(name, assembly, "*"), (name, source)


@pytest.mark.parametrize(("compiler", "target", "paths", "flags"), OF_COMMANDS)
def test_every_command_says_what_it_says_of_the_assembly(
    compiler: str, target: str, paths: list[str], flags: tuple[str, ...], tmp_path: Path
) -> None:
    device = ["-x", "hip", "--cuda-device-only", "-S", "-O3", "-gline-tables-only", "-w"]
    command = [compiler, *device, f"--offload-arch={target}", *flags]
    changed = without_optimisation(paths, tmp_path / "changed")
    old = written(command, paths, tmp_path / "old")
    new = written(command, changed, tmp_path / "new")
    moved = 0
    for source, assembly, *others in zip(paths, old, changed, new, strict=True):
        compiled = ("--arch", target, "--compiler", compiler, "--", "-w", *flags)
        same_in_every_command(source, assembly, *compiled)
        found = document("diff", source, others[0], *compiled)
        assert found == document("diff", assembly, others[1]), source
        moved += found["summary"]["affected"]
    assert moved >= 8


DEVICE_IR = ("-O3", "-w", "-emit-llvm", "-Xclang", "-disable-llvm-passes")
IR_TARGET = "gfx942"


@pytest.fixture(scope="module")
def of_sources(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[str], list[str]]:
    """Paths of IR before optimisation, as text and as bitcode, and of the assembly by hand."""
    folder = tmp_path_factory.mktemp("ir")
    hip = ("clang++-22", "-x", "hip", "--cuda-device-only", f"--offload-arch={IR_TARGET}", *CLOSED)
    opencl = ("clang-22", "-x", "cl", "--target=amdgcn-amd-amdhsa", f"-mcpu={IR_TARGET}")
    ir: list[str] = []
    assembly: list[str] = []
    for command, paths in ((hip, WITHOUT_HEADERS), ((*opencl, "-nogpulib"), OPENCL)):
        ir += written([*command, *DEVICE_IR, "-c"], paths, folder, ".bc")
        ir += written([*command, *DEVICE_IR, "-S"], paths, folder, ".ll")
        assembly += written([*command, "-O3", "-w", "-S"], paths, folder)
    return ir, assembly


COMPILERS_OF_IR = [
    pytest.param("clang-22", marks=needs("llc-22")),
    pytest.param(
        "llvmlite",
        marks=pytest.mark.skipif(find_spec("llvmlite") is None, reason="llvmlite is missing"),
    ),
]


@needs_clang
@pytest.mark.parametrize("compiler", COMPILERS_OF_IR)
@pytest.mark.parametrize("suffix", [".bc", ".ll"])
def test_ir_of_a_source_equals_the_assembly_of_the_source(
    compiler: str, suffix: str, of_sources: tuple[list[str], list[str]]
) -> None:
    ir, assembly = of_sources
    paths = [path for path in ir if path.endswith(suffix)]
    found = rows(*paths, "--arch", IR_TARGET, "--compiler", compiler)
    truth = rows(*assembly)
    assert len(paths) == len(assembly) >= 16
    assert found.keys() == truth.keys()
    for key, row in found.items():
        assert [row[name] for name in REGISTERS] == [truth[key][name] for name in REGISTERS], key
    if suffix == ".ll":  # the commands read it as they read bitcode
        return
    compiled = ("--arch", IR_TARGET, "--compiler", compiler)
    for path, by_hand in zip(paths, assembly, strict=True):
        for name in ("explain", "pressure"):
            shown = without_lines(document(name, path, "*", *compiled))
            assert shown == without_lines(document(name, by_hand, "*")), (name, path)
    for old, new in pairwise(range(len(paths))):
        found_diff = document("diff", paths[old], paths[new], *compiled)
        assert found_diff == document("diff", assembly[old], assembly[new])


def without_lines(value: Any) -> Any:
    """JSON without line numbers: IR comes on standard input, and its assembly names no file."""
    if isinstance(value, dict):
        return {key: without_lines(one) for key, one in value.items() if key != "line"}
    return [without_lines(one) for one in value] if isinstance(value, list) else value


@pytest.mark.parametrize("compiler", COMPILERS_OF_IR)
def test_textual_ir_equals_its_assembly(compiler: str, tmp_path: Path) -> None:
    for path in LLVM:
        text = Path(path).read_text("utf-8")
        target = "gfx90a" if "gfx90a" in text else "gfx1010"
        found = rows(path, "--arch", target, "--compiler", compiler)
        command = ["clang-22", "-x", "ir", "--target=amdgcn-amd-amdhsa", f"-mcpu={target}"]
        truth = rows(*written([*command, "-nogpulib", "-O3", "-S", "-w"], [path], tmp_path))
        assert found.keys() == truth.keys()
        for key, row in found.items():
            assert [row[name] for name in REGISTERS] == [truth[key][name] for name in REGISTERS]
