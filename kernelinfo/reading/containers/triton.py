"""Reads Triton's JSON next to a code object in its cache: the sidecar with the launch.

Triton sizes all LDS at launch: the code object states 0 bytes, and only `shared` in the JSON has
the number. Keys changed over the years, so that each may be missing. Source:
triton/compiler/compiler.py, `CompiledKernel`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from math import prod
from reprlib import repr as shortened
from typing import Any, NamedTuple

from kernelinfo.errors import ReadError
from kernelinfo.opening import bound, is_below, open_regular
from kernelinfo.reading.blob import Blob
from kernelinfo.reading.containers import formats
from kernelinfo.reading.facts import KernelFacts, Module, Numbers
from kernelinfo.reading.messages import say

_MOST_LDS_BYTES = 1 << 20
_MOST_WORKITEMS = 1024
_MOST_WAVES = 64  # waves per SIMD; the hardware has at most 20
_SUFFIXES = (".hsaco", ".amdgcn")
_OPTIONS = (
    "num_warps", "num_stages", "num_ctas", "waves_per_eu", "matrix_instr_nonkdim", "kpack",
)  # fmt: skip
"""Compile options that tune a kernel (`HIPOptions` in triton/backends/amd/compiler.py)."""
_DOT, _TENSOR = "tt.dot", r"tensor<(\d{1,9}(?:x\d{1,9}){0,4})x([a-z]\w*)>"
"""Product of matrices, and type of a tensor, in Triton's dialect of MLIR: `tensor<64x32xf16>`."""
_LONGEST_LINE = 1 << 12
_MOST_CONSTANTS = 64
_LONGEST_CONSTANT = 64  # characters
_NEXT_TO_IT, _METADATA = say("sidecar-json"), say("sidecar-metadata")
_KEYS = ("name", "target", "num_warps", "shared")  # a map with none of these is not Triton's

TritonOptions = tuple[tuple[str, str], ...]
"""(name, value) pairs: `(("BLOCK_M", "128"), ("num_warps", "4"))`."""


class Sidecar(NamedTuple):
    """The kernel, processor and launch that a sidecar states."""

    kernel: str
    arch: str | None  # processor, for example gfx942
    launch: Numbers
    options: TritonOptions = ()
    """Shape and type of its tile, constants of the kernel, then compile options."""


def read_sidecar(path: str) -> Sidecar | None:
    """The sidecar of the code object or assembly at `path`; None if there is none, if it is a link
    out of the folder that may be read, or if the JSON is not Triton's.

    Raises `ReadError` if it is damaged or contradicts itself.
    """
    stem, suffix = os.path.splitext(path)
    if suffix not in _SUFFIXES or (bound() and not is_below(f"{stem}.json", bound())):
        return None
    try:
        values = _load(f"{stem}.json")
        is_tritons = isinstance(values, dict) and not values.keys().isdisjoint(_KEYS)
        if not is_tritons:
            return None
        sidecar = _sidecar(values)
        return sidecar._replace(options=(*_tile(stem), *sidecar.options))
    except OSError as error:
        wrong = str(error.strerror).lower()
    except RecursionError:
        wrong = say("json-nesting")
    except ValueError as error:
        wrong = str(error)
    raise ReadError(say("sidecar-not-read", source=_NEXT_TO_IT, error=wrong))


def _tile(stem: str) -> TritonOptions:
    """`tile` and `dtype` of the kernel, from Triton's IR next to its code; empty without IR.

    For a kernel with a `tt.dot`, they are M, N, K and the operands' type of its first `tt.dot`; for
    any other kernel, the shape and type of its largest tensor. Triton 3 does not state the
    constants from which they come.
    """
    path = f"{stem}.ttir"
    if not os.path.isfile(path) or (bound() and not is_below(path, bound())):
        return ()
    try:
        with open_regular(path) as file:
            lines = file.read(formats.SIDECAR_BYTES).decode("utf-8", "replace").splitlines()
    except OSError:
        return ()
    tiles: list[tuple[int, int, str, str]] = []
    for line in lines:
        types = re.findall(_TENSOR, line) if len(line) <= _LONGEST_LINE else []
        if _DOT in line and len(types) >= 2:
            factor, *_, product = types
            depth = factor[0].rpartition("x")[2]
            return ("tile", f"{product[0]}x{depth}"), ("dtype", factor[1])
        for shape, dtype in types:
            sizes = [*map(int, shape.split("x"))]
            tiles.append((prod(sizes), -len(sizes), shape, dtype))
    *_, shape, dtype = max(tiles, default=(0, 0, "", ""))
    return (("tile", shape), ("dtype", dtype)) if shape else ()


def _stated_with(blob: Blob) -> Sidecar | None:
    """The metadata that the caller passed with the blob, else the JSON next to the file.

    Raises `ReadError` if it is damaged or contradicts itself."""
    if blob.sidecar is None:
        return None if blob.containers else read_sidecar(blob.path)
    try:
        return _sidecar(blob.sidecar)
    except ValueError as error:
        raise ReadError(say("sidecar-not-read", source=_METADATA, error=error)) from None


def with_launch(
    module: Module, blob: Blob, target: str | None
) -> tuple[tuple[KernelFacts, ...], TritonOptions]:
    """The kernels of a module, with the launch from Triton's JSON or AOTriton's pack, and the
    options from the JSON.

    Raises `ReadError` if the JSON cannot be read, or is for another target or kernel.
    """
    kernels = module.kernels
    if blob.launch is not None:
        return tuple(_with(kernel, blob.launch) for kernel in kernels), ()
    if (sidecar := _stated_with(blob)) is None:
        return kernels, ()
    source = _NEXT_TO_IT if blob.sidecar is None else _METADATA
    if sidecar.arch not in (None, target):
        raise ReadError(say("sidecar-other-target", source=source, arch=sidecar.arch))
    if sidecar.kernel not in {*module.passed_over, *(kernel.symbol for kernel in kernels)}:
        kernel = shortened(sidecar.kernel)
        raise ReadError(say("sidecar-other-kernel", source=source, kernel=kernel))
    with_sidecar = (_with(k, sidecar.launch) if k.symbol == sidecar.kernel else k for k in kernels)
    return tuple(with_sidecar), sidecar.options


def _with(kernel: KernelFacts, launch: Numbers) -> KernelFacts:
    return kernel._replace(stated=(*kernel.stated, ("sidecar", launch)))


def _load(path: str) -> Any:
    """Decoded JSON of a file; None if there is no such file. Raises `ValueError` and `OSError`."""
    if not os.path.isfile(path):  # False, too, for a path with a NUL
        return None
    import json

    with open_regular(path) as file:
        data = file.read(formats.SIDECAR_BYTES + 1)
    if len(data) > formats.SIDECAR_BYTES:
        raise ValueError(say("sidecar-large", most=formats.SIDECAR_BYTES))
    try:
        return json.loads(data)
    except json.JSONDecodeError as error:
        raise ValueError(say("json-damaged", error=error.msg, line=error.lineno)) from None


def _sidecar(values: Mapping[str, Any]) -> Sidecar:
    """The sidecar of decoded JSON. Raises `ValueError` for values that Triton does not write for
    AMD GPUs."""
    target = values.get("target", {})
    if not isinstance(target, dict) or target.get("backend", "hip") != "hip":
        raise ValueError(say("sidecar-not-amd"))
    kernel, arch = values.get("name"), _agreed("arch", values, target)
    if not isinstance(kernel, str) or not isinstance(arch, str | None):
        raise ValueError(say("sidecar-names"))
    waves = _count(_agreed("num_warps", values), _MOST_WORKITEMS)
    lanes = _count(_agreed("warp_size", values, target), _MOST_WORKITEMS)
    lds_bytes = _count(_agreed("shared", values), _MOST_LDS_BYTES)
    workitems = _count(waves * lanes, _MOST_WORKITEMS) if waves and lanes else None
    waves_per_simd = values.get("waves_per_eu")  # 0 asks for none
    is_count = type(waves_per_simd) is int and 0 < waves_per_simd <= _MOST_WAVES
    launch = Numbers(
        dynamic_lds_bytes=lds_bytes,
        required_workgroup=(workitems, 1, 1) if workitems else None,
        asked_waves=waves_per_simd if is_count else None,
    )
    return Sidecar(kernel, arch, launch, _options(values))


def _options(values: Mapping[str, Any]) -> TritonOptions:
    """Constants and compile options. Triton 2 writes constants of named parameters
    (`_get_jsonable_constants` in triton/compiler/compiler.py); Triton 3 writes none."""
    constants = values.get("constants")
    options = [*constants.items()][:_MOST_CONSTANTS] if isinstance(constants, dict) else []
    options += [(name, values[name]) for name in _OPTIONS if name in values]
    return tuple(
        (name, str(value))
        for name, value in options
        if name.isidentifier() and isinstance(value, int | float | str)
        if len(name) <= _LONGEST_CONSTANT and len(str(value)) <= _LONGEST_CONSTANT
    )


def _agreed(key: str, *maps: Mapping[str, Any]) -> Any:
    """Value of a key; None if no map has it. Raises `ValueError` for null or if two maps differ."""
    stated = [values[key] for values in maps if key in values]
    if any(value is None or value != stated[0] for value in stated):
        raise ValueError(
            say("sidecar-contradiction", key=key, values=" and ".join(map(shortened, stated)))
        )
    return stated[0] if stated else None


def _count(value: Any, largest: int) -> int | None:
    if value is None:
        return None
    if type(value) is not int or not 0 <= value <= largest:
        raise ValueError(say("sidecar-number", value=shortened(value), most=largest))
    return value
