"""What Triton 3.9 hands to its callers, written by hand around a code object of the fixtures."""

from __future__ import annotations

from collections import namedtuple
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

from ..conftest import FIXTURES

CODE = FIXTURES / "code_object" / "variety-clang22-gfx942.co"
SYMBOL = "_Z11lds_dynamicPi"


@dataclass(frozen=True)
class GPUTarget:
    """As `triton.backends.compiler.GPUTarget`."""

    backend: str
    arch: str
    warp_size: int


def metadata(**changes: Any) -> dict[str, Any]:
    """Metadata of a compilation for MI300X: 4 waves of 64 lanes with 20 KiB of LDS."""
    stated = {
        "hash": "cba5",
        "target": GPUTarget("hip", "gfx942", 64),
        "arch": "gfx942",
        "name": SYMBOL,
        "num_warps": 4,
        "num_stages": 2,
        "num_ctas": 1,
        "shared": 20480,
        "warp_size": 64,
        "waves_per_eu": 4,
        "triton_version": "3.9.0",
    }
    return stated | changes


SOURCE = SimpleNamespace(
    fn=SimpleNamespace(arg_names=["x_ptr", "n", "BLOCK", "ACTIVATION"]),
    constants={(2,): 128, (3,): "relu", (1, 0): 7},
)
"""The source of a kernel with two constexprs, and a constant inside a tuple."""


def compiled(**changes: Any) -> SimpleNamespace:
    """As `triton.compiler.CompiledKernel`."""
    stated = metadata(**changes)
    return SimpleNamespace(
        asm={"amdgcn": "", "hsaco": CODE.read_bytes()},
        metadata=namedtuple("KernelMetadata", sorted(stated))(**stated),
        metadata_group={"k.hsaco": "cache/K/k.hsaco", "k.json": "cache/K/k.json"},
        src=SOURCE,
    )


def in_cache(folder: Path, name: str, **changes: Any) -> dict[str, Any]:
    """The keywords by which Triton calls its listener for a kernel that it wrote to its cache."""
    (folder / name).mkdir()
    code = folder / name / "k.hsaco"
    code.write_bytes(CODE.read_bytes())
    return {
        "src": SOURCE,
        "metadata": metadata(hash=name, **changes),
        "metadata_group": {"k.hsaco": str(code), "k.json": str(code.with_suffix(".json"))},
        "times": object(),
        "cache_hit": False,
    }


def fake_triton(listener: object = None) -> Any:
    """A module `triton` with the one setting that `collect` uses."""
    module: Any = ModuleType("triton")
    module.__version__ = "3.9.0"
    module.knobs = SimpleNamespace(compilation=SimpleNamespace(listener=listener))
    return module
