"""What a run over inputs tells users: every sentence, by its code."""

from __future__ import annotations

from kernelinfo.errors import wording

MESSAGES = {
    # Inputs and targets.
    "file-without-kernels": "no AMD GPU kernel found; give what the compiler left for the device",
    "file-without-code-objects": "no code object found; there is nothing to extract",
    "object-without-target": "holds code objects that name no target; give --arch",
    "log-without-target": "a build log names no target; occupancy needs --arch",
    "input-without-target": "the input names no target; give one by --arch",
    "process-ended": "the process that read it was ended, maybe for want of memory; read it alone",
    "process-not-started": "no process can be started: {error}; try again with --jobs 1",
    "target-other": (
        "is compiled for {target}, not for {arch}; leave --arch out; --as {arch} asks what if"
    ),
    "entry-contradiction": "its id says {entry}, the code says {target}; read as the latter",
    "spirv": "{count} SPIR-V {entries}: compiled when loaded, no registers to report",
    "problems-more": "{more} not listed; the last one is: {reason}",
    "notes-more": "{reason} (so {count} more)",
    # Kernels.
    "cxx-names-mangled": "C++ names stay mangled here; install pycxxfilt to read them",
    "kernel-launch": "{kernel}: {reason}",
    "workgroup-size-refused": (
        "{count} {are} not compiled for this workgroup size: the launch is refused; name one by -k "
        "to judge it"
    ),
    "workgroup-size-of-none": "no kernel is compiled for this workgroup size; give another",
    # Choices of kernels.
    "choice-of-none": "no {sought} matches {choice} ({there}){mend}",
    "choice-unmatched": "{option} {value} matches no {sought}{mend}",
    "kernel-not-named": "no kernel is named {name!r} ({among} in the {kind}){mend}",
    "kernels-explained": "; `kernelinfo explain {path}` lists them",
    "kernels-left-out": "{count} in the {kind}",
    "kernels-for-targets": ", for {targets}",
    "targets-others": "others are for {targets}",
    "glob-expanded": "; {file} is a file here: quote a glob, as in -k '{start}*'",
    "targets-left-out": "{kernels} {are} for other targets than {chosen}",
    "members-left-out": "{kernels} {are} in other members than {chosen}",
    "kernels-shown": "{shown} of {kernels} {conditions}",
    "kernels-limited": "are limited by {limiters}",
    "kernels-spill": "spill",
    "kernels-match": "match --where",
}

say = wording(MESSAGES)
