"""What live registers tell users: every sentence, by its code."""

from __future__ import annotations

from kernelinfo.errors import wording

MESSAGES = {
    # Disassemblers.
    "objdump-needed": (
        "reading the code of an object needs llvm-objdump (LLVM 14 or newer; ROCm and the llvm "
        "packages have it); a .s of --save-temps needs no tool"
    ),
    "objdump-older": (
        "llvm-objdump {newest} does not know {name}; LLVM {llvm} does: install its llvm-objdump, "
        "or name one in LLVM_OBJDUMP"
    ),
    "objdump-silent": "{needed}; {program} printed no instructions of {function}",
    "objdump-no-program": "LLVM_OBJDUMP is {program}, which is not a program; give its full path",
    # Kernels and their instructions.
    "symbols-overlap": "function symbols overlap too often; rebuild it",
    "instructions-uncounted": "kernel {kernel}: instructions are not counted: {why}",
    "kernels-of-one-name": "{source}: {count} kernels named {kernel!r} have instructions; name one",
    "instructions-missing": "kernel {kernel}: no instructions found",
    "kernel-empty": "kernel {kernel} has no instructions",
    # Source text beside them.
    "source-root-no-folder": "--source-root {root}: not a folder; give an existing one",
    "source-path-long": "a path of {size} characters is too long to search for",
    "source-missing": "{file}: not found; give --source-root DIR",
    "source-of-system": "{path} is a system file, not source text",
    "source-outside": (
        "{path} lies outside of the current folder and the input's folder; give --source-root DIR"
    ),
    "source-unreadable": "{path}: {error}",
    "source-too-large": "{path} is larger than 4 MiB",
    "source-no-text": "{path} is not a text file",
    "source-left-out": "{path} is left out: the source files exceed 64 MiB",
}

NO_PROGRAM = ("objdump-needed", "objdump-older")
"""Codes of errors that name no file: no llvm-objdump is installed, or none knows the processor."""

say = wording(MESSAGES)
