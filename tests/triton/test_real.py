"""Triton's own compiler, without a GPU."""

from __future__ import annotations

import logging
import re
import runpy
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import kernelinfo
import kernelinfo.triton as of_triton

from ..conftest import require
from ..manual.recipes import recipe
from ..messages import refused, says
from ..watch.watching import watching

require("triton")
triton = import_module("triton")

from .kernels import MATMUL, SIGNATURE, STRICT, TARGETS  # noqa: E402  # needs Triton

pytestmark = pytest.mark.nightly


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("TRITON_DEFAULT_FP_FUSION", "1")  # 3.9 warns of its next default


def config(block_m: int, block_n: int, warps: int = 4, **options: int) -> Any:
    values = {"BLOCK_M": block_m, "BLOCK_N": block_n, **options}
    return triton.Config(values, num_warps=warps, num_stages=2)


def build(target: str, one: Any) -> Any:
    """A configuration of the matrix product, compiled by Triton's own call."""
    types = {name: type.partition(":")[0] for name, type in SIGNATURE.items()}
    constants = {"BLOCK_K": 32, **one.kwargs}
    source = triton.compiler.ASTSource(
        MATMUL, types | dict.fromkeys(constants, "constexpr"), constants
    )
    options = {"num_warps": one.num_warps, "num_stages": one.num_stages}
    return triton.compile(source, target=TARGETS[target], options=options)


def number(assembly: str, key: str) -> int:
    found = re.search(rf"^\s*{re.escape(key)}:?\s+(\d+)", assembly, re.MULTILINE)
    assert found, key
    return int(found[1])


@pytest.mark.parametrize("target", TARGETS)
def test_a_kernel_is_what_triton_compiled(target: str) -> None:
    compiled = build(target, config(64, 64))
    kernel = of_triton.of(compiled)
    found = kernel.occupancy()
    assembly = compiled.asm["amdgcn"]
    assert kernel.numbers.vgprs == number(assembly, ".vgpr_count")
    assert kernel.numbers.sgprs == number(assembly, ".sgpr_count")
    assert kernel.numbers.vgpr_spills == number(assembly, ".vgpr_spill_count")
    assert found.launch.workgroup_size == compiled.metadata.num_warps * compiled.metadata.warp_size
    assert found.demand.lds_bytes == 0
    assert found.launch.dynamic_lds_bytes == compiled.metadata.shared > 0
    assert dict(kernel.code_object.options)["BLOCK_M"] == "64"
    saved = kernelinfo.load(compiled.metadata_group["matmul.hsaco"])
    assert saved[0].traits == kernel.traits


def test_ten_compiles_and_then_the_same_from_the_cache() -> None:
    told: list[bool] = []
    knobs = triton.knobs.compilation
    knobs.listener = before = lambda *, cache_hit, **_: told.append(cache_hit)
    configs = [config(m, n) for m in (32, 64, 128, 16, 256) for n in (32, 64)]
    try:
        for cached in (False, True):
            with of_triton.collect() as collected:
                for one in configs:
                    build("gfx942", one)
            assert knobs.listener is before
            assert told == [cached] * 10
            told.clear()
            assert (len(collected.report), collected.report.problems) == (10, ())
            options = [dict(kernel.code_object.options) for kernel in collected.report]
            sizes = [(int(one["BLOCK_M"]), int(one["BLOCK_N"])) for one in options]
            assert sizes == [(one.kwargs["BLOCK_M"], one.kwargs["BLOCK_N"]) for one in configs]
    finally:
        knobs.listener = None


def test_watch_shows_each_kernel_as_it_is_compiled(tmp_path: Path) -> None:
    """Once, with the registers of Triton's assembly and the LDS of Triton's metadata."""
    cache = tmp_path / "cache"
    cache.mkdir()
    expected: list[tuple[str, int, int, int]] = []
    with watching(tmp_path, str(cache)) as found:
        assert found.look()["kernels"] == []
        for target, size in (("gfx942", 32), ("gfx942", 64), ("gfx1100", 64), ("gfx950", 128)):
            compiled = build(target, config(size, size))
            registers = number(compiled.asm["amdgcn"], ".vgpr_count")
            spills = number(compiled.asm["amdgcn"], ".vgpr_spill_count")
            expected.append((target, registers, spills, compiled.metadata.shared))
            seen = found.until(lambda look: launches(look) == sorted(expected))
            assert not seen["gone"]
            assert not seen["problems"]
        assert found.is_silent(1), "what is compiled is shown once"


def launches(look: dict[str, Any]) -> list[tuple[str, int, int, int]]:
    """Target, VGPRs, spills and LDS of each kernel of a look."""
    rows = [one["row"] for one in look["kernels"]]
    names = ("VGPR_Used", "VGPR_Spills", "Dynamic_LDS")
    return sorted((row["Target"].partition(":")[0], *(row[name] for name in names)) for row in rows)


def tuner(configs: list[Any], fn: Any = MATMUL, **options: Any) -> Any:
    """An autotuner whose pruner knows the kernel only by a function, as a decorator does."""
    target = TARGETS[options.pop("target", "gfx942")]
    options.setdefault("signature", SIGNATURE)
    tuned: Any = None
    pruner = of_triton.prune(lambda: tuned, target=target, **options)
    decorator = triton.autotune(configs, [], prune_configs_by={"early_config_prune": pruner})
    tuned = decorator(fn)
    tuned.nargs = {}
    return tuned


@pytest.mark.parametrize("target", TARGETS)
def test_an_autotuner_drops_what_cannot_win(target: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "kernelinfo.triton")
    configs = [config(128, 128), config(32, 64), config(64, 64, waves_per_eu=5), config(16, 16)]
    waves = {}
    for one in configs:
        with of_triton.collect() as collected:
            tuner([one, one], target=target).prune_configs({})
        waves[str(one)] = collected.report[0].waves_per_simd
    caplog.clear()
    most = max(waves.values())
    kept = tuner(configs, target=target, at_least_waves=most).prune_configs({})
    assert kept == [one for one in configs if waves[str(one)] == most]
    assert len(kept) < len(configs)
    dropped = [one for one in caplog.messages if one.startswith("dropped ")]
    assert len(dropped) == len(configs) - len(kept)
    config_of_first = "BLOCK_M=128, BLOCK_N=128, num_warps=4, num_ctas=1, num_stages=2: "
    assert says(dropped[0], f"config-limited {config_of_first}")


def test_waves_that_were_asked_for_are_told(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "kernelinfo.triton")
    asking = config(64, 256, waves_per_eu=4)
    assert tuner([asking, config(32, 32)]).prune_configs({})[0] is asking
    assert [one for one in caplog.messages if says(one, "KI306 4 waves/SIMD … LDS … 3")]


def test_all_stay_if_none_would(caplog: pytest.LogCaptureFixture) -> None:
    configs = [config(64, 64), config(128, 64)]
    assert tuner(configs, at_least_waves=9).prune_configs({}) == configs
    assert caplog.messages == ["all 2 configurations stay: none would be left"]


def test_what_does_not_compile_is_dropped(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "kernelinfo.triton")
    configs = [triton.Config({"BLOCK": size}) for size in (128, 512, 256)]
    signature = {"x_ptr": "*fp32", "n": "i32:1"}
    tuned = tuner(configs, STRICT, signature=signature)
    assert tuned.prune_configs({"grid": (1,), "warmup": True}) == [configs[0], configs[2]]
    assert says(caplog.text, "config-not-compiled blocks of at most 256")


def test_heuristics_between_the_tuner_and_the_kernel() -> None:
    sized = triton.heuristics({"BLOCK": lambda arguments: 2 * arguments["HALF"]})(STRICT)
    configs = [triton.Config({"HALF": half}) for half in (64, 256)]
    pruned = tuner(configs, sized, signature={"x_ptr": "*fp32", "n": "i32"}).prune_configs({})
    assert pruned == configs[:1]


@pytest.mark.parametrize(
    ("signature", "message"),
    [
        ({"x_ptr": "*fp32"}, "argument-without-type n"),
        ({"x_ptr": "*fp32", "n": "i32:8"}, "argument-hint n: … '8' … i32 … :1, :16, :16S"),
    ],
)
def test_a_signature_that_does_not_fit(signature: dict[str, str], message: str) -> None:
    tuned = tuner([triton.Config({"BLOCK": 64})] * 2, STRICT, signature=signature)
    with refused(message, kernelinfo.OptionError):
        tuned.prune_configs({})


def test_the_recipe_of_the_manual(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "kernelinfo.triton")
    path = tmp_path / "scaling.py"  # Triton reads the source of a kernel
    path.write_text(recipe("prune"))
    scale = runpy.run_path(str(path))["scale"]
    scale.nargs = {}
    kept = scale.prune_configs({})
    assert [one.kwargs["BLOCK"] for one in kept] == [1024, 2048]
    (dropped,) = caplog.messages
    assert dropped.startswith("dropped BLOCK=65536, num_warps=4, ")
    assert says(dropped, "config-limited VGPR … 4")
