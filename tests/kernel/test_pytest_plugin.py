"""The fixtures for pytest, in projects of users."""

from __future__ import annotations

import shutil

import pytest

from ..conftest import FIXTURES

pytest_plugins = ["pytester"]
pytestmark = pytest.mark.tools

TESTS = """
    def test_waves(kernelinfo_report):
        assert kernelinfo_report("k.s").kernel("vgprbound").waves_per_simd >= {waves}

    def test_spills(kernelinfo_report):
        assert kernelinfo_report("k.s", kernels=("vgprbound",)).max("vgpr_spills") == 0

    def test_gate(kernelinfo_check):
        kernelinfo_check("kernelinfo.toml", "-k", "vgprbound")
"""


@pytest.fixture
def project(pytester: pytest.Pytester) -> pytest.Pytester:
    """A project with the compiler's output, and no configuration of pytest."""
    shutil.copy(FIXTURES / "assembly" / "occupancy-clang22-gfx90a.s", pytester.path / "k.s")
    pytester.makefile(
        ".toml", kernelinfo='paths = ["k.s"]\n[[budget]]\nkernel = "vgprbound*"\nvgpr = "<=128"\n'
    )
    return pytester


def run(project: pytest.Pytester) -> pytest.RunResult:
    return project.runpytest_subprocess("-p", "no:cacheprovider", "-p", "no:xdist")


def test_kernels_that_keep_the_promise_pass(project: pytest.Pytester) -> None:
    project.makepyfile(TESTS.format(waves=4))
    run(project).assert_outcomes(passed=3)


def test_a_failure_shows_the_kernel_and_each_finding(project: pytest.Pytester) -> None:
    project.makepyfile(TESTS.format(waves=5))
    project.makefile(
        ".toml", kernelinfo='paths = ["k.s"]\n[[budget]]\nkernel = "vgprbound*"\nvgpr = "<=64"\n'
    )
    done = run(project)
    done.assert_outcomes(passed=1, failed=2)
    done.stdout.fnmatch_lines(
        [
            "*assert 4.0 >= 5",
            "*where 4.0 = Kernel('vgprbound*limiters=vgpr, next='vgpr <= 96 -> 5').waves_per_simd",
            "k.s:102: error KI206 vgprbound(int, double[*]) (gfx90a): 112 VGPRs allocated, *",
            "kernelinfo check failed: 1 error *",
        ]
    )
    done.stdout.no_fnmatch_line("*pytest_plugin.py*")


def test_a_project_that_uses_no_fixture_loads_nothing(project: pytest.Pytester) -> None:
    project.makepyfile("""
        import sys

        def test_modules():
            loaded = {name for name in sys.modules if name.startswith("kernelinfo")}
            assert loaded == {"kernelinfo", "kernelinfo.pytest_plugin"}
    """)
    run(project).assert_outcomes(passed=1)
