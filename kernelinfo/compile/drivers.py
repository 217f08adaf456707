"""Compilers of sources, and the commands that they compile a source for a device with."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from kernelinfo.compile.compilers import NEWEST, ROCM
from kernelinfo.compile.processes import find_program
from kernelinfo.errors import CompilerError
from kernelinfo.reading.paths import SourceLanguage

_OLDEST = 13
ASSEMBLY = ("-S",)
BITCODE = ("-c", "-emit-llvm", "-Xclang", "-disable-llvm-passes")
"""Options for the IR before optimisation, as `--save-temps` leaves it."""
_SILENT = "-Wno-unused-command-line-argument"  # hipcc adds libraries for the linker


def find_driver(language: SourceLanguage, given: str | None) -> str:
    """Absolute path of the compiler of a language: `given`, or the first one that is found.

    HIP: $HIPCC, hipcc, amdclang++, the newest clang++. OpenCL: ROCm's clang, the newest clang.
    Raises `CompilerError` if there is none.
    """
    if given is None and language == "hip":
        given = os.environ.get("HIPCC") or None
    for name in [given] if given else _candidates(language):
        if found := find_program(name):
            return found
    if given:
        raise CompilerError(f"{given}: no such program; give --compiler the path of a compiler")
    looked = "hipcc, amdclang++ or clang++" if language == "hip" else "clang"
    raise CompilerError(f"no {looked} found to compile the source; give one by --compiler")


def _candidates(language: SourceLanguage) -> Iterator[str]:
    clang = "clang++" if language == "hip" else "clang"
    if language == "hip":
        yield "hipcc"
    rocm = os.environ.get("ROCM_PATH") or ROCM
    if os.path.isabs(rocm):
        yield os.path.join(rocm, "bin/hipcc" if language == "hip" else "llvm/bin/clang")
    yield f"amd{clang}"
    yield from (f"{clang}-{version}" for version in range(NEWEST, _OLDEST - 1, -1))
    yield clang


def device_command(
    compiler: str,
    language: SourceLanguage,
    target: str,
    flags: Sequence[str],
    form: Sequence[str] = ASSEMBLY,
) -> tuple[str, ...]:
    """The command, without input and output, that compiles a source for one target.

    `form` is `ASSEMBLY` or `BITCODE`.
    """
    if language == "hip":
        device = ("-x", "hip", "--cuda-device-only", f"--offload-arch={target}")
    else:
        device = ("-x", "cl", "--target=amdgcn-amd-amdhsa", f"-mcpu={target}")
    level = () if any(flag.startswith("-O") for flag in flags) else ("-O3",)
    return (compiler, *device, *form, *level, "-gline-tables-only", _SILENT, *flags)
