"""What compilers and their inputs tell users: every sentence, by its code."""

from __future__ import annotations

from kernelinfo.errors import wording

MESSAGES = {
    # Compile commands.
    "commands-without-entry": (
        "{commands}: no entry for {path}; give --arch, and its flags after --"
    ),
    "commands-no-json": "not JSON",
    "commands-unreadable": "{commands}: {error}; give a compile_commands.json",
    "commands-no-list": "{commands}: not a list of compile commands; give a compile_commands.json",
    "commands-words": "{commands}: {entry}: {error}; reconfigure the build",
    "commands-and-more": " and {count} more",
    "commands-left-out": (
        "{commands}: {path}: ignored {words}, so numbers may differ; repeat flags that matter "
        "after --"
    ),
    "commands-target": "{commands}: unknown --offload-arch={target}; give --arch",
    # Compilers and what they print.
    "clang-no-program": "{path}: no such program; point --compiler to a clang",
    "clang-other-program": "{path}: not a clang; point --compiler to a clang",
    "llvmlite-missing": "llvmlite is not installed; pip install 'kernelinfo[compile]'",
    "clang-or-newer": "clang-{version} or newer",
    "clang-missing": "no {made} found; give --compiler, or pip install 'kernelinfo[compile]'",
    "compiler-target": "this compiler does not know {target}; point --compiler to a newer one",
    "compiler-target-elsewhere": "this compiler does not know {target}; {others}",
    "compilers-know": "{names} {verb} it: --compiler {first}{lack}",
    "compiler-without-library": (
        "; it has no device libraries: only sources without HIP headers compile, with -- -nogpuinc "
        "-nogpulib"
    ),
    "compiler-without-cl-library": "; it has no device libraries: add -- -nogpulib",
    "compiler-without-headers": (
        "; it has no HIP: only sources without HIP headers compile, with -- -nogpuinc -nogpulib"
    ),
    "compiler-no-program": "{given}: no such program; point --compiler to a compiler",
    "compilers-of-hip": "hipcc, amdclang++ or clang++",
    "compiler-missing": "no {looked} found to compile the source; name one with --compiler",
    "compiler-output-large": "{program}: wrote more than {most} bytes",
    "compiler-see-option": "see {option}",
    "compiler-fewer-kernels": "give a source with fewer kernels",
    "compiler-timeout": "no answer within {seconds:g} s; {mend}",
    "compiler-outside": "not compiled: a compiler may read any file; leave out --only-below",
    "compiler-not-executable": "{program}: not executable; give another --compiler",
    "compiler-not-started": "{program}: {error}; give another --compiler",
    "compiler-killed": "killed by signal {signal}",
    "compiler-exit-code": "failed with exit code {code}",
    "compiler-output-unread": "the compiler's output {error}",
    "compiler-silent": "{program}: does not say which clang it runs; point --compiler to a clang++",
    "compiler-failed": "{error}",
    "compiler-interrupted": "interrupted",
    "llvmlite-flag": "{flag}: llvmlite takes only -O and -mllvm; point --compiler to a clang",
    # Sources.
    "source-cuda": "is CUDA, not HIP; translate it with hipify-clang or hipify-perl",
    "source-not-compiled": "not compiled for {target}; see the compiler's messages",
    "source-targets": "{path}: several targets ({targets}); name one with --arch",
    "source-without-target": "{path}: no target to compile for; add --arch gfx942",
    "source-without-kernels": (
        "contains no kernel for the device; give a source with a __global__ function, and "
        "instantiate its templates"
    ),
    "device-library-old": (
        "the ROCm device library is older than this compiler; add -- -mcode-object-version=5, or "
        "point to a newer one with -- --rocm-device-lib-path=DIR"
    ),
    "device-library-missing": (
        "no ROCm device library for {target}; name its folder with -- --rocm-device-lib-path=DIR, "
        "or do without it with -- -nogpulib"
    ),
    "hip-headers-missing": (
        "the HIP headers are missing; install them, or add -- -nogpuinc -nogpulib if the kernels "
        "do not need them"
    ),
    "hip-headers-left-out": (
        "the HIP headers are missing because of -nogpuinc; drop the flag if they are installed, or "
        "remove their #include"
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
