"""Triton's own compiler: run by a Python that has Triton, which need not be the tests'.

Reads JSON from standard input: a list of targets, answered by those that the compiler knows; or one
unit of LLVM IR with its target, answered by assembly and linked object in a folder. Assembly,
assembler and linker are those of Triton's last steps (backends/amd/compiler.py, `make_amdgcn` and
`make_hsaco`).
"""

from __future__ import annotations

import json
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

from triton._C.libtriton import amd
from triton.backends.amd import compiler


def known(targets: list[str]) -> list[str]:
    found = []
    for target in targets:
        try:
            compiler.get_amd_codegen_target_triple(target)
            found.append(target)
        except ValueError:
            continue
    return found


def build(ir: str, target: str, features: str, folder: str) -> None:
    triple = compiler.get_amd_codegen_target_triple(target)
    assembly = compiler.compile_amdgpu(
        ir.replace("TRIPLE", triple),
        triple,
        target,
        features,
        flags=[],
        enable_fp_fusion=True,
        disable_optimization=False,
        canonicalize_gep=False,
        disabled_passes="",
        dump_ir=False,
        enable_timing=False,
    )
    Path(folder, "unit.s").write_text(assembly, "utf-8")
    relocatable = Path(folder, "unit.o")
    relocatable.write_bytes(compiler.assemble_amdgcn(assembly, target, features))
    amd.link_hsaco(str(relocatable), str(Path(folder, "unit.co")))


def main(asked: Any) -> None:
    if isinstance(asked, list):
        json.dump({"version": version("triton"), "targets": known(asked)}, sys.stdout)
    else:
        build(**asked)


if __name__ == "__main__":
    main(json.load(sys.stdin))
