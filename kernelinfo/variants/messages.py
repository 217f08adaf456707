"""What sweeps tell users: every sentence, by its code."""

from __future__ import annotations

from kernelinfo.errors import wording

MESSAGES = {
    "module-without-kernels": "{path}: contains no kernel; give the IR of a module with kernels",
    "module-without-target": "{path}: names no target; name one with --arch",
    "sweep-no-source": "{path}: not a source; leave out compiler flags and --compile-commands",
    "sweep-level": "-O{level}: give 0, 1, 2, 3, s or z",
    "sweep-strategy": "--strategy {name}: give default, {strategies}",
    "sweep-numbers": "waves and launch bounds: give numbers from 1 to 9999",
    "sweep-where": "{path}: no kernel matches --where {condition!r}",
    "sweep-matches": "matches {choice}",
    "sweep-named": "is named {kernel!r}",
    "sweep-no-kernel": "no kernel {what} ({count} in the file){mend}",
    "sweep-not-compared": "not compared with {assembly}: {error}",
    "sweep-assembly-beside": "the assembly next to it",
    "sweep-assembly-own": "the source's own assembly",
    "variant-without-kernel": "the compiler dropped this kernel",
    "sweep-differs": "the unchanged kernel differs from {assembly}: {difference}",
    "sweep-bounds-left": "launch bounds left alone: the source requires workgroups of {workitems}",
    "sweep-forbidden": "{waves} waves: LDS allows only {allowed}",
    "sweep-forbidden-barriers": "{waves} waves: barriers allow only {allowed}",
    "sweep-refused": (
        "launch bounds {bounds}: launches with more workitems than the bound are refused"
    ),
    "sweep-whole": (
        "compiled together with the module's other kernels, because {name} differs without them "
        "({difference})"
    ),
    "sweep-alone": (
        "compiled without the module's other kernels, with which rows and lines may have other "
        "numbers; sweep all kernels to see those"
    ),
    "sweep-code": "other code",
    "module-not-compiled": "{told}{reason}",
}

say = wording(MESSAGES)
