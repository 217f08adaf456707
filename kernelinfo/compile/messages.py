"""What compilers and their inputs tell users: every sentence, by its code."""

from __future__ import annotations

from kernelinfo.errors import wording

MESSAGES = {
    # Compile commands.
    "commands-without-entry": (
        "{commands}: has no entry for {path}; give its flags behind -- and --arch"
    ),
    "commands-no-json": "not JSON",
    "commands-unreadable": "{commands}: {error}; give a compile_commands.json",
    "commands-no-list": "{commands}: not a list of compile commands; give a compile_commands.json",
    "commands-words": "{commands}: {entry}: {error}; configure the build again",
    "commands-and-more": " and {count} more",
    "commands-left-out": (
        "{commands}: {path}: left out {words}; numbers may differ; type what matters behind --"
    ),
    "commands-target": "{commands}: unknown --offload-arch={target}; give --arch",
    # Compilers and what they print.
    "clang-no-program": "{path}: no such program; give --compiler the path of a clang",
    "clang-other-program": "{path}: not a clang; give --compiler the path of a clang",
    "llvmlite-missing": "llvmlite is not installed; pip install 'kernelinfo[compile]'",
    "clang-or-newer": "clang-{version} or newer",
    "clang-missing": "no {made} found; give --compiler, or pip install 'kernelinfo[compile]'",
    "compiler-target": "this compiler does not know {target}; give a newer one by --compiler",
    "compiler-target-elsewhere": "this compiler does not know {target}; {others}",
    "compilers-know": "{names} {verb} it: --compiler {first}{lack}",
    "compiler-without-library": (
        "; it has no device libraries here: sources without HIP's headers only, "
        "-- -nogpuinc -nogpulib"
    ),
    "compiler-without-cl-library": "; it has no device libraries here: -- -nogpulib",
    "compiler-without-headers": (
        "; it has no HIP here: sources without HIP's headers only, -- -nogpuinc -nogpulib"
    ),
    "compiler-no-program": "{given}: no such program; give --compiler the path of a compiler",
    "compilers-of-hip": "hipcc, amdclang++ or clang++",
    "compiler-missing": "no {looked} found to compile the source; give one by --compiler",
    "compiler-output-large": "{program}: wrote more than {most} bytes",
    "compiler-see-option": "see {option}",
    "compiler-fewer-kernels": "give a source with fewer kernels",
    "compiler-timeout": "no answer within {seconds:g} s; {mend}",
    "compiler-outside": "not run: a compiler reads any file; leave out --only-below",
    "compiler-not-executable": "{program}: not a program; give another --compiler",
    "compiler-not-started": "{program}: {error}; give another --compiler",
    "compiler-killed": "killed by signal {signal}",
    "compiler-exit-code": "failed with exit code {code}",
    "compiler-output-unread": "the compiler's output {error}",
    "compiler-silent": (
        "{program}: does not say which clang it runs; give the path of a clang++ by --compiler"
    ),
    "compiler-failed": "{error}",
    "compiler-interrupted": "interrupted",
    "llvmlite-flag": "{flag}: llvmlite takes only -O and -mllvm; give a clang by --compiler",
    # Sources.
    "source-cuda": "is CUDA without HIP; translate it by hipify-clang or hipify-perl",
    "source-not-compiled": "not compiled for {target}; see the compiler's messages",
    "source-targets": "{path}: several targets ({targets}); give one by --arch",
    "source-without-target": "{path}: no target to compile for; add --arch gfx942",
    "source-without-kernels": (
        "no kernel for the device in it; give a source with a __global__ function, and instantiate "
        "its templates"
    ),
    "device-library-old": (
        "the ROCm device library is older than this compiler; add -- -mcode-object-version=5, or "
        "give a folder by -- --rocm-device-lib-path=DIR"
    ),
    "device-library-missing": (
        "no ROCm device library for {target}; give its folder by -- --rocm-device-lib-path=DIR, or "
        "leave it out by -- -nogpulib"
    ),
    "hip-headers-missing": (
        "HIP's headers are missing; install them, or add -- -nogpuinc -nogpulib for kernels "
        "without headers"
    ),
    "hip-headers-left-out": (
        "HIP's headers are missing, as -nogpuinc leaves them out; leave out their #include, or the "
        "flag where they are installed"
    ),
    # LLVM IR.
    "ir-not-amd": "{path}: not for an AMD GPU; give the .bc whose name has amdgcn in it",
    "ir-other-target": "{path}: IR for {stated}, not for {target}; give --arch {stated}",
    "ir-producer": "; made by {producer}",
    "ir-unreadable": "{path}: {error}",
    "ir-too-large": "more than {most} bytes",
    "ir-no-llvm": "neither LLVM bitcode nor textual IR",
    "ir-malformed": "{path}: {error}; give the .bc of --save-temps or Triton's .llir",
    "ir-empty": "empty",
    "ir-for-other-gpu": "{path}: IR for {stated}, not for an AMD GPU",
    "ir-unread": "{path}: {compiler} cannot read it: {error}{hint}",
}

say = wording(MESSAGES)
