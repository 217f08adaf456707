"""The gate in the life of a kernel: each chapter is a build by a real compiler, and a run."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from ..differential import clang
from ..messages import codes, says
from ..test_golden import run

pytestmark = pytest.mark.needs("clang-19", "clang-22", "lld-19", "lld-22")

_LINE = 7
"""Source line of the kernel's first instruction."""
_SOURCE = """\
#define __global__ __attribute__((global))
#define BOUNDS amdgpu_flat_work_group_size(1, 256), amdgpu_num_vgpr({limit})
namespace {space} {{
template <{parameters}> __global__ __attribute__((BOUNDS))
void {name}(float *out) {{
  float kept[30];
  out += __builtin_amdgcn_workitem_id_x();
#pragma unroll
  for (int i = 0; i < 30; ++i) kept[i] = __builtin_nontemporal_load(out + i * 64);
  asm volatile("" ::: "v{last}", "memory");
#pragma unroll
  for (int i = 0; i < 30; ++i) out[i * 64] = kept[i] * kept[(i + N) % 30];
}}
template __global__ void {name}<{arguments}>(float *);
}}
"""
_OTHER = """
extern "C" __attribute__((global)) void healthy(float *out) { out[0] = 1; }
"""


@dataclass(frozen=True)
class Project:
    """A folder with one source, what the compiler makes of it, and its configuration."""

    folder: Path

    def configure(self, more: str = "") -> None:
        (self.folder / "kernelinfo.toml").write_text(
            f'paths = ["build/*"]\nbaseline = "pinned.json"\nfail-on = "error"\n{more}'
        )

    def build(
        self,
        *,
        vgprs: int = 44,
        limit: int = 256,
        version: int = 19,
        name: str = "axpy",
        space: str = "lib",
        parameters: str = "int N",
        arguments: str = "1",
        linked: bool = False,
    ) -> None:
        """A kernel that uses so many VGPRs; with a lower limit it spills. gfx906 gives five waves
        per SIMD up to 48 VGPRs, four up to 64."""
        source = _SOURCE.format(
            name=name,
            space=space,
            last=min(vgprs, limit) - 1,
            limit=limit,
            parameters=parameters,
            arguments=arguments,
        )
        self.compile(source + _OTHER, version, linked)

    def compile(self, source: str, version: int = 19, linked: bool = False) -> None:
        (self.folder / "axpy.hip").write_text(source)
        (self.folder / "build").mkdir(exist_ok=True)
        command = [f"clang-{version}", *clang.DEVICE, "--offload-arch=gfx906", "-gline-tables-only"]
        command += ["axpy.hip", "-S", "-o"]
        if not linked:
            self.run(*command, "build/axpy.s")
            return
        self.run(*command, "axpy.o", "-Xclang", "-emit-obj")
        self.run(f"ld.lld-{version}", "-shared", "axpy.o", "-o", "build/axpy.s")

    def run(self, *command: str) -> None:
        subprocess.run(command, cwd=self.folder, check=True, capture_output=True)

    def check(self, *arguments: str) -> tuple[str, str, int]:
        return run("check", *arguments, folder=self.folder)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Built and pinned."""
    (tmp_path / ".git").mkdir()
    project = Project(tmp_path)
    project.configure()
    project.build()
    out, err, code = project.check("--update-baseline")
    assert (err, code) == ("", 0)
    assert "new void lib::axpy<1>(float*) (gfx906): 44 VGPRs allocated, 44 VGPRs used" in out
    assert "5 waves/SIMD" in out
    return project


def test_unchanged_it_passes_in_silence(project: Project) -> None:
    out, err, code = project.check()
    assert (err, code) == ("", 0)
    assert (
        out == "kernelinfo check passed: nothing found · 2 kernels · fails on error (--fail-on)\n"
    )


def test_more_registers_within_a_step_pass(project: Project) -> None:
    project.build(vgprs=47)
    assert project.check()[2] == 0


@pytest.mark.parametrize("linked", [False, True], ids=["assembly", "code object"])
def test_a_step_crossed_fails_at_the_line_of_the_source(project: Project, linked: bool) -> None:
    project.build(vgprs=50, linked=linked)
    out, err, code = project.check()
    assert (err, code) == ("", 1)
    place = "void lib::axpy<1>(float*) (gfx906)"
    told = f"axpy.hip:{_LINE}: error KI501 {place}: … 1 wave … 5 → 4 … 50 VGPRs … 48"
    assert says(out, f"waves-lost waves-step {told}")


def test_the_raw_count_fails_only_where_it_is_asked_to(project: Project) -> None:
    project.build(vgprs=47)
    project.configure('[gate]\nvgpr = "+2"\n')
    out, _, code = project.check()
    assert code == 1
    assert says(out, "number-moved 44 → 48 VGPRs allocated")
    project.configure('[gate]\nvgpr = "+10%"\n')
    assert project.check()[2] == 0


def test_spills_fail_are_borne_with_a_reason_and_fail_when_that_expires(project: Project) -> None:
    project.build(limit=24)
    out, _, code = project.check()
    assert code == 1
    assert says(out, "number-moved VGPRs spilled")
    assert says(out, "number-moved B of scratch per lane")
    suppression = '[[suppress]]\nrule = "KI501"\nkernel = "axpy<*>"\nreason = "still faster"\n'
    project.configure(suppression)
    out, _, code = project.check()
    assert code == 0
    assert "suppressed KI501 void lib::axpy<1>(float*) (gfx906): 0 → " in out
    assert " · still faster\n" in out
    project.configure(suppression + 'until = "2020-02-29"\n')
    out, _, code = project.check()
    assert code == 1
    assert "kernelinfo.toml:4: error KI505 KI501 axpy<*>: " in out
    assert "error KI501" in out
    project.configure(suppression.replace("axpy", "gemm"))
    out, _, code = project.check()
    assert code == 1
    assert "kernelinfo.toml:4: note KI506 " in out


def test_in_another_namespace_it_is_known_again(project: Project) -> None:
    project.build(space="lib::v2")
    assert project.check()[2] == 0
    project.build(vgprs=50, space="lib::v2")
    out, _, code = project.check()
    assert code == 1
    assert says(out, "waves-lost 1 wave … 5 → 4")
    assert "(as void lib::axpy<1>(float*))" in out


@pytest.mark.parametrize(
    "drift",
    [{"parameters": "int N, bool Fast", "arguments": "1, true"}, {"arguments": "2"}],
    ids=["another template parameter", "another argument"],
)
def test_with_other_template_arguments_it_is_another_kernel(
    project: Project, drift: dict[str, str]
) -> None:
    project.build(**drift)  # type: ignore[arg-type]
    out, _, code = project.check()
    assert code == 2
    assert "error KI502 void lib::axpy<1>(float*) (gfx906)" in out


def test_removed_the_gate_cannot_answer_until_it_is_dropped(project: Project) -> None:
    project.compile(_OTHER)
    out, _, code = project.check("--exit-zero")
    assert code == 2
    assert says(out, "kernel-vanished pinned.json: error KI502 void lib::axpy<1>(float*) (gfx906)")
    out, _, code = project.check("--update-baseline")
    assert code == 0
    assert "dropped void lib::axpy<1>(float*) (gfx906)" in out
    assert project.check()[2] == 0


def test_another_compiler_is_said_and_judged_as_configured(project: Project) -> None:
    project.build(vgprs=50, version=22)
    out, _, code = project.check()
    assert code == 0
    assert says(out, "toolchain-changed note KI507 … clang version 22 … clang version 19")
    place = "void lib::axpy<1>(float*) (gfx906)"
    assert says(out, f"waves-lost note KI501 {place}: … 1 wave … 5 → 4")
    project.configure('[gate]\ntoolchain-change = "strict"\n')
    out, _, code = project.check()
    assert code == 1
    assert "error KI501" in out
    project.configure()
    project.build(limit=24, version=22)
    out, _, code = project.check()
    assert code == 1
    assert says(out, "number-moved VGPRs spilled")
    assert "error KI501" in out
    project.check("--update-baseline")
    assert project.check()[2] == 0


def test_a_build_that_left_nothing_is_no_answer(project: Project) -> None:
    (project.folder / "build" / "axpy.s").unlink()
    _, err, code = project.check("--exit-zero")
    assert code == 2
    assert "glob-without-match" in codes(err)
    before = (project.folder / "pinned.json").read_bytes()
    assert project.check("--update-baseline")[2] == 2
    assert (project.folder / "pinned.json").read_bytes() == before


def test_better_is_noted_and_with_two_ways_an_error(project: Project) -> None:
    project.build(vgprs=50)
    project.check("--update-baseline")
    project.build()
    out, _, code = project.check()
    assert code == 0
    place = "note KI504 void lib::axpy<1>(float*) (gfx906)"
    assert says(out, f"number-improved {place}: … 52 → 44 allocated, 50 → 44 used")
    assert project.check("--strict-baseline")[2] == 1
    out, _, _ = project.check("--update-baseline")
    assert (
        "changed void lib::axpy<1>(float*) (gfx906): 52 → 44 VGPRs allocated, 50 → 44 VGPRs used"
        in out
    )
    assert project.check("--strict-baseline")[2] == 0
