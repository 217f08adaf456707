"""IR on standard input -> text or assembly on standard output, by llvmlite in a child process.

python llvmlite_child.py version
python llvmlite_child.py text TRIPLE
python llvmlite_child.py assembly TRIPLE TARGET_ID LEVEL yes|no [OPTION]...
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import llvmlite
import llvmlite.binding as llvm

_SPEED = {"s": 2, "z": 2}
"""-Os and -Oz optimise as -O2, for functions with `optsize` (CompilerInvocation.cpp,
getOptimizationLevel)."""


def main() -> None:
    """Run one command. A failure is one line `error: …` on standard error, exit code 1."""
    command, *words = sys.argv[1:]
    try:
        sys.stdout.buffer.write(_COMMANDS[command](*words).encode("utf-8", "surrogateescape"))
    except RuntimeError as error:
        sys.exit("error: " + " ".join(str(error).split()))


def version() -> str:
    """Version of llvmlite and its LLVM: `llvmlite 0.50.0 (LLVM 22.1.0)`."""
    return f"llvmlite {llvmlite.__version__} (LLVM {'.'.join(map(str, llvm.llvm_version_info))})"


def text(triple: str) -> str:
    """The module as text. Raises `RuntimeError` if it cannot be read or has another triple."""
    module = _parse(sys.stdin.buffer.read())
    if module.triple != triple:
        raise RuntimeError(f"overriding the module target triple {module.triple} with {triple}")
    return str(module)


def assembly(triple: str, target_id: str, level: str, run_passes: str, *options: str) -> str:
    """The module as assembly. `run_passes` (yes or no) runs LLVM's optimisation pipeline first."""
    for option in options:
        llvm.set_option("kernelinfo", option)
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    module = _parse(sys.stdin.buffer.read())
    processor, *settings = target_id.split(":")
    speed = _SPEED.get(level) or int(level)
    machine = llvm.Target.from_triple(triple).create_target_machine(
        cpu=processor,
        features=",".join(setting[-1] + setting[:-1] for setting in settings),
        opt=speed,
        reloc="pic",
        codemodel="default",
    )
    machine.set_asm_verbosity(True)
    if run_passes == "yes":
        tuning = llvm.create_pipeline_tuning_options(speed)
        tuning.loop_vectorization = tuning.slp_vectorization = speed > 1
        passes = llvm.create_pass_builder(machine, tuning)
        passes.getModulePassManager().run(module, passes)
    return str(machine.emit_assembly(module))


def _parse(data: bytes) -> llvm.ModuleRef:
    if data.startswith((b"BC\xc0\xde", b"\xde\xc0\x17\x0b")):
        return llvm.parse_bitcode(data)
    return llvm.parse_assembly(data.decode("utf-8", "surrogateescape"))


_COMMANDS: dict[str, Callable[..., str]] = {"version": version, "text": text, "assembly": assembly}

if __name__ == "__main__":
    main()
