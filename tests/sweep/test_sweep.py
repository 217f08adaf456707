"""`kernelinfo sweep` as users run it, against the compiler's own results."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from random import Random
from typing import Any

import jsonschema
import pytest
from rich.cells import cell_len

import kernelinfo

from ..compiling import assembly, bitcode, needs_clang
from ..conftest import FIXTURES
from ..messages import do_lines_match, says, tells
from ..test_golden import run
from .compilers import script
from .proof import TARGETS
from .proof import run as compare_with_source

pytestmark = pytest.mark.nightly

PACKAGE = Path(kernelinfo.__path__[0])
KERNELS = """
extern "C" __global__ __attribute__((amdgpu_flat_work_group_size(1, 256))) BOUND
void crowded(double *p, int n) {
  double v[48];
  for (int i = 0; i < 48; i++) v[i] = p[i * n];
  for (int j = 0; j < n; j++)
    for (int i = 0; i < 48; i++) v[i] = v[i] * v[(i * 7 + 1) % 48] + p[j];
  for (int i = 0; i < 48; i++) p[i * n] = v[i];
}
extern "C" __global__ void idle(int *p) {}
"""


SMALL = 'extern "C" __global__ void idle(int *p) { *p = 1; }'


def swept(*arguments: str) -> dict[str, Any]:
    """The JSON document, valid by its schema and that of the report."""
    out, err, code = run("sweep", *arguments, "--format", "json")
    assert (without_progress(err), code) == ("", 0)
    document: dict[str, Any] = json.loads(out)
    jsonschema.validate(document, schema("sweep/sweep-schema.json"))
    report = schema("report-schema.json")
    kernel = report["properties"]["kernels"]["items"] | {"$defs": report["$defs"]}
    (swept_input,) = document["inputs"]
    for variant in (v for k in swept_input["kernels"] for v in k["variants"] if v["kernel"]):
        jsonschema.validate({"input": 0, **variant["kernel"]}, kernel)
    return dict(swept_input)


def without_progress(err: str) -> str:
    """Standard error without the lines on finished variants."""
    return "".join(
        line for line in err.splitlines(keepends=True) if not says(line, "sweep-progress")
    )


def schema(name: str) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((PACKAGE / "render" / name).read_text("utf-8"))
    return loaded


def numbers(kernel: dict[str, Any]) -> tuple[object, ...]:
    return kernel["used"], kernel["spills"], kernel["code_bytes"], kernel["occupancy"]["percent"]


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with bitcode and assembly of the same compilation."""
    folder = tmp_path_factory.mktemp("build")
    source = KERNELS.replace("BOUND", "")
    bitcode(source, folder / "kernels.bc")
    assembly(source, folder / "kernels.s")
    return folder


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Path of bitcode that compiles in almost no time."""
    return bitcode(SMALL, tmp_path_factory.mktemp("small") / "small.bc")


@needs_clang
def test_variants_are_those_of_the_attribute_in_the_source(build: Path, tmp_path: Path) -> None:
    document = swept(str(build / "kernels.bc"), "crowded", "--waves", "4,5,8")
    assert (document["level_from"], document["made_by"]) == ("reproduced", "clang version 22.1.8")
    (kernel,) = document["kernels"]
    exact = [variant for variant in kernel["variants"] if not variant["asked"]["or_more"]]
    found = {variant["asked"]["waves"]: variant["kernel"] for variant in exact}
    assert list(found) == [None, 4, 5, 8]
    at_least = [v["asked"]["waves"] for v in kernel["variants"] if v["asked"]["or_more"]]
    assert at_least == [4, 5, 8]
    for waves, made in found.items():
        bound = f"__attribute__((amdgpu_waves_per_eu({waves}, {waves})))" if waves else ""
        path = assembly(KERNELS.replace("BOUND", bound), tmp_path / "written.s")
        report = json.loads(run(path, "--format", "json")[0])
        (truth,) = (k for k in report["kernels"] if k["symbol"] == "crowded")
        assert numbers(made) == numbers(truth), waves
    assert len({json.dumps(numbers(made)) for made in found.values()}) == 4


@needs_clang
def test_the_table(build: Path) -> None:
    out, err, code = run("sweep", "kernels.bc", folder=build)
    assert (without_progress(err), code) == ("", 0)
    assert tells(err, "sweep-progress 18")
    assert "the one that made the input" in out
    assert "-O3 (reproduces kernels.s)" in out
    assert re.search(r"(?m)^ as compiled ◄; waves ≥4; launch bounds 64, 128 +\d+", out)
    # 1024 workitems are 4 waves on each SIMD, so LLVM cannot make fewer resident.
    assert re.search(r"(?m)^ as compiled ◄; waves 8; waves ≥8 ", out)
    assert re.search(r"(?m)^ \d waves/SIMD as compiled; 5 cost \d+ B of scratch, \d+ reloads", out)
    assert "__attribute__((amdgpu_waves_per_eu(5, 5)))" in out
    assert "best" not in out


@needs_clang
def test_the_step_that_holds_the_needs_is_a_row(tmp_path: Path) -> None:
    """No choice is made: the rows by default have the waves of the step that `pressure` names."""
    bound = "__attribute__((amdgpu_waves_per_eu(5, 5)))"
    source = KERNELS.replace("BOUND", bound)
    path = assembly(source, tmp_path / "kernels.s")
    out, _, _ = run("pressure", path, "-k", "crowded")
    (waves,) = re.findall(r"hold them \((\d) waves/SIMD\)", " ".join(out.split()))
    document = swept(bitcode(source, tmp_path / "kernels.bc"), "crowded")
    (variant,) = (
        v["kernel"]
        for v in document["kernels"][0]["variants"]
        if v["asked"]["waves"] == int(waves) and not v["asked"]["or_more"]
    )
    assert variant["spills"]["vgprs"] == 0


@needs_clang
def test_waves_and_launch_bounds_are_each_tried_with_each_strategy(small: str) -> None:
    document = swept(
        small,
        *("--waves", "8", "--launch-bounds", "64,256", "--strategy", "default,max-ilp"),
    )
    asked = [tuple(v["asked"].values()) for v in document["kernels"][0]["variants"]]
    assert asked == [
        (None, False, None, None),
        (8, False, None, None),
        (8, False, None, "max-ilp"),
        (8, True, None, None),
        (8, True, None, "max-ilp"),
        (None, False, 64, None),
        (None, False, 64, "max-ilp"),
        (None, False, 256, None),
        (None, False, 256, "max-ilp"),
    ]


@needs_clang
def test_a_required_workgroup_size_is_left_alone(tmp_path: Path) -> None:
    source = FIXTURES / "src" / "shaped.cl"
    path = tmp_path / "shaped.bc"
    command = "clang-22 -target amdgcn-amd-amdhsa -x cl -cl-std=CL2.0 -O2 -nogpulib -mcpu=gfx942"
    options = ["-Xclang", "-finclude-default-header", "-Xclang", "-disable-llvm-passes"]
    subprocess.run(
        [*command.split(), *options, "-emit-llvm", "-c", str(source), "-o", str(path)], check=True
    )
    document = swept(str(path), "--launch-bounds", "64")
    notes = {kernel["symbol"]: kernel["notes"] for kernel in document["kernels"]}
    (note,) = notes["shaped_block"]
    assert says(note, "sweep-bounds-left 256")
    (note,) = notes["any_shape"]
    assert says(note, "sweep-refused 64")


@needs_clang
def test_assembly_of_other_kernels_reproduces_nothing(small: str, tmp_path: Path) -> None:
    shutil.copy(small, tmp_path / "small.bc")
    assembly('extern "C" __global__ void other(int *p) { *p = 1; }', tmp_path / "small.s")
    assert swept(str(tmp_path / "small.bc"), "--waves", "8")["level_from"] == "assumed"


@needs_clang
def test_a_difference_from_the_assembly_next_to_it_is_shown(small: str, tmp_path: Path) -> None:
    shutil.copy(small, tmp_path / "small.bc")
    assembly(SMALL.replace("*p = 1", 'p[p[1]] = 1; CLAIM("v40")'), tmp_path / "small.s")
    document = swept(str(tmp_path / "small.bc"), "--waves", "8")
    assert document["level_from"] == "assumed"
    (note,) = document["kernels"][0]["notes"]
    assert says(note, "sweep-differs sweep-assembly-beside VGPR: … 41 → 2 used")


@needs_clang
def test_tritons_ir_is_only_put_through_code_generation(build: Path, tmp_path: Path) -> None:
    optimised, reference = tmp_path / "crowded.llir", tmp_path / "crowded.amdgcn"
    flags = "-x ir --target=amdgcn-amd-amdhsa -mcpu=gfx90a -nogpulib -O3 -w -S"
    clang = ["clang-22", *flags.split(), str(build / "kernels.bc")]
    subprocess.run([*clang, "-emit-llvm", "-o", str(optimised)], check=True)
    subprocess.run([*clang, "-o", str(reference)], check=True)
    # As Triton writes it: the JSON next to it and LLVM 24's triple name the processor.
    text = re.sub(r' "target-(cpu|features)"="[^"]*"', "", optimised.read_text())
    optimised.write_text(text.replace('"amdgcn-amd-amdhsa"', '"amdgpu9.0a-amd-amdhsa"'))
    sidecar = {"name": "crowded", "target": {"backend": "hip", "arch": "gfx90a"}, "num_warps": 2}
    (tmp_path / "crowded.json").write_text(json.dumps(sidecar | {"warp_size": 64, "shared": 4096}))
    document = swept(str(optimised), "crowded", "--waves", "8")
    assert (document["target"], document["level_from"]) == ("gfx90a", "reproduced")
    made = [variant["kernel"] for variant in document["kernels"][0]["variants"]]
    assert {kernel["workgroup"]["assumed"] for kernel in made} == {128}
    assert {kernel["used"]["dynamic_lds_bytes"] for kernel in made} == {4096}


@needs_clang
@pytest.mark.parametrize("name", ["csv", "markdown"])
def test_other_formats_hold_every_variant(small: str, name: str) -> None:
    out, err, code = run("sweep", small, "--waves", "4,8", "--format", name)
    assert (err, code) == ("", 0)
    if name == "csv":
        rows = list(csv.DictReader(io.StringIO(out)))
        assert [row["Asked_Waves"] for row in rows] == ["", "4", "4", "8", "8"]
        assert {row["Kernel_Name"] for row in rows} == {"idle"}
        assert {row["Path"] for row in rows} == {small}
    else:
        assert "waves 8" in out
        assert "waves/SIMD as compiled" in out


@needs_clang
def test_bad_input_is_one_line(build: Path, small: str, tmp_path: Path) -> None:
    data = Path(small).read_bytes()
    host = "int main() { return 0; }"
    subprocess.run(
        ["clang-22", "-x", "c", "-", "-emit-llvm", "-c", "-o", str(tmp_path / "host.bc")],
        input=host,
        text=True,
        check=True,
    )
    (tmp_path / "cut.bc").write_bytes(data[: len(data) // 2])
    (tmp_path / "empty.bc").write_bytes(b"")
    (tmp_path / "text.ll").write_text("Dear reader,\n")
    (tmp_path / "wrong.ll").write_text('target triple = "amdgcn-amd-amdhsa"\ndefine what\n')
    (tmp_path / "x86.ll").write_text('target triple = "x86_64-pc-linux-gnu"\n')
    (tmp_path / "none.ll").write_text('target triple = "amdgcn-amd-amdhsa"\n')
    (tmp_path / "bare.ll").write_text("define amdgpu_kernel void @k() {\n  ret void\n}\n")
    shutil.copy(small, tmp_path / "kernels.bc")
    for arguments, message in {
        ("host.bc",): "ir-not-amd",
        ("x86.ll",): "ir-for-other-gpu x86_64-pc-linux-gnu",
        ("cut.bc",): "ir-unread error: ",
        ("wrong.ll",): "ir-unread",
        ("empty.bc",): "ir-malformed ir-empty",
        ("text.ll",): "ir-malformed ir-no-llvm",
        ("none.ll",): "module-without-kernels",
        ("bare.ll",): "module-without-target",
        (".",): "is no regular file",
        ("missing.bc",): "No such file",
        ("kernels.bc", "nothing"): "sweep-no-kernel nothing",
        ("kernels.bc", "-k", "idel"): "sweep-no-kernel did-you-mean -k idel … 1 … idle",
        ("kernels.bc", "--exclude", "i*"): "sweep-no-kernel --exclude i* … 1",
        ("kernels.bc", "--waves", "4,x"): "sweep-list --waves 4,x",
        ("kernels.bc", "--arch", "gfx0"): "target-unknown gfx0",
        ("kernels.bc", "-O", "9"): "sweep-level -O9",
        ("kernels.bc", "--strategy", "fast"): "sweep-strategy max-ilp",
        ("kernels.bc", "--compiler", "/missing/clang"): "clang-no-program",
        ("kernels.bc", "--compiler", "/bin/true"): "clang-other-program",
        (
            str(build / "kernels.bc"),
            "--compiler",
            "clang-15",
        ): "ir-unread ir-producer clang version 22.1.8",
    }.items():
        if "clang-15" in arguments and not shutil.which("clang-15"):
            continue
        out, err, code = run("sweep", *arguments, folder=tmp_path)
        assert (out, code) == ("", 2), arguments
        assert do_lines_match(err, message), err


@needs_clang
@pytest.mark.parametrize(
    ("words", "names"),
    [
        (("-k", "idle"), ["idle"]),
        (("-k", "i*", "-k", "crowded"), ["crowded", "idle"]),
        (("--exclude", "crowd*"), ["idle"]),
        (("*", "-k", "re:^id"), ["idle"]),
    ],
)
def test_kernels_are_chosen_as_everywhere(
    words: tuple[str, ...], names: list[str], build: Path
) -> None:
    document = swept(str(build / "kernels.bc"), *words, "--waves", "8")
    assert [kernel["name"] for kernel in document["kernels"]] == names


@needs_clang
@pytest.mark.parametrize("width", [60, 80])
def test_the_table_fits_a_narrow_terminal(width: int, build: Path) -> None:
    words = ("kernels.bc", "--waves", "4,8", "--width", str(width))
    out = run("sweep", *words, folder=build)[0]
    assert " limited by\n" in out
    assert [line for line in out.splitlines() if cell_len(line) > width] == []


@needs_clang
def test_a_pattern_without_a_kernel_is_named(build: Path) -> None:
    out, err, code = run("sweep", "kernels.bc", "-k", "idle", "-k", "odd", folder=build)
    assert ("idle" in out, code) == (True, 0)
    assert do_lines_match(err, "choice-unmatched kernels.bc: -k odd")


@needs_clang
def test_a_variant_that_fails_is_a_row(small: str, tmp_path: Path) -> None:
    broken = "*max-ilp*) echo 'error: no registers' >&2; exit 1;;"
    compiler = script(tmp_path / "clang", f'case "$*" in {broken} *) exec clang-22 "$@";; esac')
    arguments = (small, "--strategy", "default,max-ilp", "--compiler", compiler)
    document = swept(*arguments)
    first, failed = document["kernels"][0]["variants"]
    assert first["kernel"]
    assert failed["kernel"] is None
    assert failed["error"] == "error: no registers"
    out, _, code = run("sweep", *arguments)
    assert code == 0
    assert re.search(r"(?m)^ max-ilp +error: no registers$", out)


@needs_clang
def test_where_all_variants_fail_nothing_is_answered(small: str) -> None:
    out, err, code = run("sweep", small, "--mllvm", "-no-such-option")
    assert code == 2
    assert "no-such-option" in out
    assert tells(err, "sweep-failed no-such-option")


@needs_clang
def test_the_compiler_is_looked_for_in_order(
    small: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def compiler() -> str:
        return str(swept(small, "--waves", "8")["compiler"]["path"])

    rocm = tmp_path / "rocm" / "llvm" / "bin"
    rocm.mkdir(parents=True)
    clang = shutil.which("clang-22")
    assert clang
    (rocm / "clang").symlink_to(clang)
    monkeypatch.setenv("ROCM_PATH", str(tmp_path / "rocm"))
    assert compiler() == str(rocm / "clang")
    monkeypatch.setenv("ROCM_PATH", str(tmp_path / "none"))
    assert compiler() == clang
    monkeypatch.setenv("PATH", str(tmp_path))
    if find_spec("llvmlite"):
        assert compiler() == "llvmlite"
    else:
        out, err, code = run("sweep", small)
        assert (out, code) == ("", 2)
        assert tells(err, "clang-missing clang-or-newer 22")


@needs_clang
@pytest.mark.needs("llvmlite")
def test_llvmlite_gives_the_same(build: Path) -> None:
    arguments = (str(build / "kernels.bc"), "--waves", "8")
    by_clang, by_llvmlite = swept(*arguments), swept(*arguments, "--compiler", "llvmlite")
    assert by_llvmlite["compiler"]["version"].startswith("llvmlite ")
    pairs = zip(by_clang["kernels"], by_llvmlite["kernels"], strict=True)
    for mine, its in pairs:
        assert [numbers(v["kernel"]) for v in mine["variants"]] == [
            numbers(v["kernel"]) for v in its["variants"]
        ]


@needs_clang
@pytest.mark.parametrize("target", TARGETS)
def test_a_sample_of_random_kernels(target: str, tmp_path: Path) -> None:
    found = compare_with_source(22, target, 1, Random(7), tmp_path, kernels_of_a_module=2)
    assert found.kernels == found.reproduced == 2
    assert found.differences == []


@needs_clang
def test_explain_names_the_command(build: Path) -> None:
    out, err, code = run("explain", "kernels.s", "crowded", folder=build)
    assert (err, code) == ("", 0)
    assert "`kernelinfo sweep kernels.bc crowded`" in out
    alone = str(FIXTURES / "assembly" / "tiny-v6-clang22-gfx90a.s")
    assert "`kernelinfo sweep " not in run("explain", alone, "*")[0]


def test_a_plain_report_does_not_import_it() -> None:
    path = str(FIXTURES / "assembly" / "tiny-v6-clang22-gfx90a.s")
    program = (
        "import sys, kernelinfo.cli as cli\n"
        f"sys.argv = ['kernelinfo', {path!r}]\n"
        "cli.app()\n"
        "assert not [name for name in sys.modules if 'sweep' in name]\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, stdout=subprocess.DEVNULL)
