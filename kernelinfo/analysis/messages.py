"""What a run over inputs tells users: every sentence, by its code."""

from kernelinfo.errors import wording

MESSAGES = {
    # Inputs and targets.
    "file-without-kernels": (
        "no AMD GPU kernel found; give the compiler's output for the device, such as its .s, .co "
        "or .hsaco"
    ),
    "file-without-code-objects": "no code object found; give a library, an object or a bundle",
    "object-without-target": "holds code objects that name no target; give --arch",
    "log-without-target": "a build log names no target; occupancy needs --arch",
    "input-without-target": "the input names no target; give one with --arch",
    "process-ended": "the process that read it was killed, maybe out of memory; read it alone",
    "process-not-started": "cannot start a process: {error}; try again with --jobs 1",
    "target-other": (
        "is compiled for {target}, not for {arch}; drop --arch, or ask what-if with --as {arch}"
    ),
    "entry-contradiction": (
        "the entry's id says {entry}, but its code is for {target}; using the code's target"
    ),
    "spirv": "{count} SPIR-V {entries}: compiled at load time, so there are no registers to report",
    "problems-more": "{more} not listed; the last one: {reason}",
    "notes-more": "{reason} ({count} more like this)",
    # Kernels.
    "cxx-names-mangled": "C++ names stay mangled; install pycxxfilt to demangle them",
    "kernel-launch": "{kernel}: {reason}",
    "workgroup-size-refused": (
        "{count} {are} skipped: not compiled for this workgroup size; select one with -k to "
        "evaluate it anyway"
    ),
    "workgroup-size-of-none": "no kernel is compiled for this workgroup size; give another",
    # Choices of kernels.
    "choice-of-none": "no {sought} matches {choice} ({there}){mend}",
    "choice-unmatched": "{option} {value} matches no {sought}{mend}",
    "kernel-not-named": "no kernel is named {name!r} ({among} in the {kind}){mend}",
    "kernels-explained": "; `kernelinfo explain {path}` lists them",
    "kernels-there": "; it has {names}",
    "kernels-left-out": "{count} in the {kind}",
    "kernels-for-targets": ", for {targets}",
    "targets-others": "there are kernels for {targets}",
    "glob-expanded": "; {file} is a file here: quote a glob, as in -k '{start}*'",
    "targets-left-out": "{kernels} {are} for targets other than {chosen}",
    "members-left-out": "{kernels} {are} in members other than {chosen}",
    "kernels-shown": "{shown} of {kernels} {conditions}",
    "kernels-limited": "are limited by {limiters}",
    "kernels-spill": "spill",
    "kernels-match": "match --where",
}

say = wording(MESSAGES)
