"""The JSON that Triton's compiler leaves beside a code object in its cache.

Triton sizes all LDS at launch: the code object says 0, and only `shared` in this file tells the
bytes. triton/compiler/compiler.py, `CompiledKernel`; the keys changed over the years, so that each
may be missing.
"""

from __future__ import annotations

import os
import stat
from reprlib import repr as shortened

from kernelinfo.errors import ReadError
from kernelinfo.light_typing import Any, NamedTuple
from kernelinfo.reading.containers import bounds

_MOST_LDS_BYTES = 1 << 20
_MOST_WORKITEMS = 1024
_SUFFIXES = (".hsaco", ".amdgcn")
_KEYS = ("name", "target", "num_warps", "shared")
"""A map with none of these is somebody else's."""


class Sidecar(NamedTuple):
    """What it says of the one kernel beside it."""

    kernel: str
    arch: str | None
    """Processor, for example gfx942."""
    lds_bytes: int | None
    """Of one workgroup, all of it given at launch."""
    workgroup_size: int | None
    """Workitems: `num_warps` waves of `warp_size` lanes."""


def read_sidecar(path: str) -> Sidecar | None:
    """The sidecar of the code object or assembly at this path.

    None where there is none. Raises `ReadError` where it is damaged or contradicts itself.
    """
    stem, suffix = os.path.splitext(path)
    if suffix not in _SUFFIXES:
        return None
    try:
        said = _load(f"{stem}.json")
        is_tritons = isinstance(said, dict) and not said.keys().isdisjoint(_KEYS)
        return _sidecar(said) if is_tritons else None
    except OSError as error:
        wrong = str(error.strerror).lower()
    except RecursionError:
        wrong = "nested too deep"
    except ValueError as error:
        wrong = str(error)
    raise ReadError(f"Triton's JSON beside it is not read: {wrong}")


def _load(path: str) -> Any:
    """None where there is no such file."""
    try:
        status = os.stat(path)
    except (FileNotFoundError, ValueError):  # a NUL in the path
        return None
    if not stat.S_ISREG(status.st_mode):
        return None
    if status.st_size > bounds.SIDECAR_BYTES:
        raise ValueError(f"more than {bounds.SIDECAR_BYTES} bytes")
    import json

    try:
        with open(path, "rb") as file:
            return json.loads(file.read(bounds.SIDECAR_BYTES))
    except json.JSONDecodeError as error:
        raise ValueError(f"{error.msg} on line {error.lineno}") from None


def _sidecar(said: dict[str, Any]) -> Sidecar:
    """Raises `ValueError` where a value is none that Triton writes for an AMD GPU."""
    target = said.get("target", {})
    if not isinstance(target, dict) or target.get("backend", "hip") != "hip":
        raise ValueError("it is not for an AMD GPU")
    kernel, arch = said.get("name"), _agreed("arch", said, target)
    if not isinstance(kernel, str) or not isinstance(arch, str | None):
        raise ValueError("its names are no text")
    waves = _count(_agreed("num_warps", said), _MOST_WORKITEMS)
    lanes = _count(_agreed("warp_size", said, target), _MOST_WORKITEMS)
    return Sidecar(
        kernel=kernel,
        arch=arch,
        lds_bytes=_count(_agreed("shared", said), _MOST_LDS_BYTES),
        workgroup_size=_count(waves * lanes, _MOST_WORKITEMS) if waves and lanes else None,
    )


def _agreed(key: str, *maps: dict[str, Any]) -> Any:
    """The value of a key; None where no map has it. Raises `ValueError` where two differ."""
    values = [said[key] for said in maps if key in said]
    if any(value is None or value != values[0] for value in values):
        raise ValueError(f"{key} is {' and '.join(map(shortened, values))}")
    return values[0] if values else None


def _count(value: Any, most: int) -> int | None:
    if value is None:
        return None
    if type(value) is not int or not 0 <= value <= most:
        raise ValueError(f"{shortened(value)} where a number to {most} should be")
    return value
