"""Kernels of what Triton hands over, without Triton."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

import kernelinfo
import kernelinfo.triton as of_triton
from kernelinfo.triton import reason_to_drop

from ..messages import refused, says
from .recorded import CODE, SYMBOL, GPUTarget, compiled, fake_triton, in_cache, metadata


def test_a_kernel_has_the_launch_of_its_metadata() -> None:
    kernel = of_triton.of(compiled())
    found = kernel.occupancy()
    assert (kernel.symbol, kernel.code_object.path) == (SYMBOL, "cache/K/k.hsaco")
    assert (found.launch.workgroup_size, found.allocated.lds_bytes) == (4 * 64, 20480)
    assert (found.waves_per_simd, found.limiters) == (3, ("lds",))
    assert "dynamic_lds_bytes=20480" in repr(kernel)
    options = dict(kernel.code_object.options)
    assert (options["BLOCK"], options["ACTIVATION"], options["num_stages"]) == ("128", "relu", "2")


def test_it_is_what_the_file_in_the_cache_says(tmp_path: Path) -> None:
    path = tmp_path / "k.hsaco"
    path.write_bytes(CODE.read_bytes())
    stated = metadata(target={"backend": "hip", "arch": "gfx942", "warp_size": 64})
    path.with_suffix(".json").write_text(json.dumps(stated))
    assert of_triton.of(compiled()).traits == kernelinfo.load(path).kernel(SYMBOL).traits


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"shared": -1}, "sidecar-not-read sidecar-number sidecar-metadata cache/K/k.hsaco: … -1"),
        ({"name": "other"}, "sidecar-other-kernel sidecar-metadata cache/K/k.hsaco: … 'other'"),
        (
            {"arch": "gfx90a", "target": GPUTarget("hip", "gfx90a", 64)},
            "sidecar-other-target cache/K/k.hsaco: … gfx90a",
        ),
        (
            {"target": GPUTarget("cuda", "90", 32)},
            "sidecar-not-read sidecar-not-amd cache/K/k.hsaco: ",
        ),
    ],
)
def test_metadata_that_is_not_the_kernels(changes: dict[str, Any], message: str) -> None:
    with refused(message, kernelinfo.ReadError):
        of_triton.of(compiled(**changes))


def test_another_vendors_kernel_is_refused() -> None:
    cuda = compiled()
    cuda.asm = {"ttir": "", "ptx": "", "cubin": b""}
    with refused("triton-other-gpu ttir, ptx", kernelinfo.ReadError):
        of_triton.of(cuda)


def test_all_compiled_meanwhile_is_collected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[dict[str, Any]] = []

    def earlier(**compilation: Any) -> None:
        told.append(compilation)

    triton = fake_triton(earlier)
    monkeypatch.setattr(of_triton, "triton", triton)
    one, two, three = (in_cache(tmp_path, name, num_stages=int(name)) for name in "123")
    cuda = {**one, "metadata_group": {"k.cubin": "k.cubin"}}
    with of_triton.collect() as outer:
        triton.knobs.compilation.listener(**one)
        with of_triton.collect() as inner:
            triton.knobs.compilation.listener(**two, later="keyword")
            triton.knobs.compilation.listener(**(two | {"cache_hit": True}))
        triton.knobs.compilation.listener(**cuda)
        triton.knobs.compilation.listener(**three)
    assert triton.knobs.compilation.listener is earlier
    assert [call["src"] for call in told] == [one["src"]] * 5
    assert told[1]["later"] == "keyword"
    stages = [dict(one.options)["num_stages"] for one in outer.report.code_objects]
    assert stages == ["1", "2", "3"]
    assert [dict(one.options)["num_stages"] for one in inner.report.code_objects] == ["2"]
    limited = outer.report[SYMBOL]
    assert len(limited) == 3
    assert {result.findings[-1].rule for result in limited.results} == {"KI306"}


def test_a_code_object_that_is_gone_is_a_problem(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    triton = fake_triton()
    monkeypatch.setattr(of_triton, "triton", triton)
    there, gone = in_cache(tmp_path, "there"), in_cache(tmp_path, "gone")
    Path(gone["metadata_group"]["k.hsaco"]).unlink()
    with of_triton.collect() as collected:
        assert not collected.report
        triton.knobs.compilation.listener(**gone)
        triton.knobs.compilation.listener(**there)
    assert len(collected.report.code_objects) == 1
    (problem,) = collected.report.problems
    assert problem == (str(tmp_path / "gone" / "k.hsaco"), "no such file or directory", *[None] * 3)


def test_the_listener_is_put_back_after_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    triton = fake_triton()
    monkeypatch.setattr(of_triton, "triton", triton)
    with pytest.raises(ZeroDivisionError), of_triton.collect():
        raise ZeroDivisionError
    assert triton.knobs.compilation.listener is None
    with of_triton.collect():
        triton.knobs.compilation.listener = test_the_listener_is_put_back_after_an_error
    assert triton.knobs.compilation.listener is test_the_listener_is_put_back_after_an_error


@pytest.mark.parametrize(
    ("module", "message"),
    [
        (None, "triton-missing"),
        (ModuleType("triton"), "triton-old"),
    ],
)
def test_triton_is_missing_or_old(
    module: ModuleType | None, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(of_triton, "triton", module)
    with refused(message), of_triton.collect():
        pass


@pytest.mark.parametrize(
    ("changes", "at_least", "reason"),
    [
        ({}, 3, ""),
        ({}, 4, "config-limited 3 waves/SIMD … LDS … 4"),
        ({"shared": 64 << 10}, 1, ""),
        ({"shared": 64 << 10}, 1.5, "config-limited 1 wave/SIMD … LDS … 1.5"),
        ({"shared": 65 << 10}, 0, "config-cannot-start 65536 bytes of LDS, not 66560"),
        ({"shared": 0}, 9, "config-limited 8 waves/SIMD … slots … 9"),
    ],
)
def test_reasons_to_drop(changes: dict[str, int], at_least: float, reason: str) -> None:
    kernel = of_triton.of(compiled(**changes))
    told = reason_to_drop(kernel, at_least, no_spills=True)
    assert bool(told) == bool(reason)
    assert says(told, reason), told


def test_spills_drop_only_if_asked() -> None:
    spilling = kernelinfo.load(CODE.with_name("occupancy-hip-amdgcn-amd-amdhsa-gfx90a.out")).kernel(
        "sgprbound"
    )
    assert reason_to_drop(spilling, 1, no_spills=False) == ""
    assert says(reason_to_drop(spilling, 1, no_spills=True), "config-spills 14 registers")


@pytest.mark.parametrize(
    ("target", "message"),
    [
        (GPUTarget("cuda", "90", 32), "triton-other-vendor cuda"),
        (GPUTarget("hip", "gfx9999", 64), "target-unknown gfx9999"),
    ],
)
def test_a_pruner_for_another_target_is_refused(target: GPUTarget, message: str) -> None:
    with refused(message):
        of_triton.prune(SimpleNamespace(), target=target, signature={})


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (RuntimeError(), "RuntimeError"),
        (RuntimeError(" \n"), "RuntimeError"),
        (RuntimeError("at 3:7:\nout of resources\n"), "out of resources"),
    ],
)
def test_a_configuration_that_does_not_compile_is_dropped(
    error: Exception,
    reason: str,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Also if its error has no text."""

    def fail(*of: object, **options: object) -> None:
        raise error

    triton = fake_triton()
    triton.TritonError, triton.JITFunction, triton.compile = ValueError, SimpleNamespace, fail
    triton.compiler = SimpleNamespace(make_backend=str, ASTSource=lambda *of: None)
    monkeypatch.setattr(of_triton, "triton", triton)
    kernel = SimpleNamespace(arg_names=[], params=[])
    pruner = of_triton.prune(kernel, target=GPUTarget("hip", "gfx942", 64), signature={})
    config = SimpleNamespace(all_kwargs=lambda: {"BLOCK": 128})
    with caplog.at_level("INFO"):
        assert pruner([config], {}) == [config], "the only one stays"
    assert says(caplog.text, f"config-not-compiled BLOCK=128 … {reason}")
    assert "all 1 configurations stay: none would be left" in caplog.text


def test_nothing_else_imports_it() -> None:
    """A report, the whole API and pytest's plugin do without Triton and what is for it."""
    program = (
        "import sys, kernelinfo, kernelinfo.pytest_plugin\n"
        f"kernelinfo.load({str(CODE)!r}).rows(), dir(kernelinfo)\n"
        "from kernelinfo.__main__ import main\n"
        "try: main()\n"
        "finally: assert not {'triton', 'kernelinfo.triton'} & {*sys.modules}\n"
    )
    command = [sys.executable, "-c", program, str(CODE)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "Assertion" not in done.stderr
    assert "lds_dynamic" in done.stdout
