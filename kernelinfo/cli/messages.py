"""What the command line says beyond answers, and its lines on standard error."""

from __future__ import annotations

import os
import sys
from typing import TextIO

from kernelinfo.errors import wording

MESSAGES = {
    # The command line.
    "memory-full": "out of memory; give fewer or smaller files at once",
    "command-unknown": "{word}: no such file or command; {suggestion}",
    "only-below-no-folder": "--only-below {folder}: not a folder; give a folder",
    "flags-before-dashes": "{flags}: put compiler flags after `--`: {line}",
    "flags-without-source": "{flags}: a compiler flag, but no PATH is a source; leave it out",
    "option-meant": "{option}: write {meant}",
    "number-without-calc": (
        "{option}: to compute from given numbers, write `kernelinfo calc GFX {name} N`; to bound a "
        "kernel, add a [[budget]] for `check` (`kernelinfo explain gate`)"
    ),
    "never-fail": "; to never fail, {mend}",
    "argument-leave-out": "; leave it out",
    "argument-is-number": "; numbers are options: kernelinfo calc GFX --vgpr {number}",
    "glob-unquoted": "; the shell may have expanded a glob: quote it, as in 'gemm*'",
    # Values of options.
    "bytes-malformed": "{text!r} is not a number of bytes; write 4096, 64k or 64KiB",
    "workgroup-size-malformed": "{text!r} is not a workgroup size; write 256 or 16x16x1",
    "workgroup-size-zero": "a workgroup has at least one workitem",
    "workgroup-sizes-malformed": "{text!r} ends before it begins; write 64..1024",
    "bound-unknown": "{text!r} is not a bound; the defaults are {names}",
    "label-malformed": "--label {label}: give NAME=VALUE, such as commit=1a2b3c",
    "format-unknown": "--format {text}: give one of {names}",
    "resource-unknown": "{name!r} is not one of {names}",
    "color-unknown": "--color {color}: give auto, always or never",
    "severity-malformed": "--severity {text}: write RULE=error, RULE=warning or RULE=note",
    "target-twice": "{argument} and --arch {option} differ; name one target",
    # Output.
    "output-is-option": "-o {output}: looks like an option; give a file, such as ./{output}",
    "output-unwritable": "{output}: {error}; give another file",
    "output-other-format": "-o {output} implies --format {means}, not {format}; change one of them",
    "output-no-format": (
        "-o {output}: no format has this suffix; give .txt, .html, .md, .json, .jsonl or .csv"
    ),
    "format-without-blocks": (
        "--as {targets}: --format {format} reports one target at a time; give one target"
    ),
    "object-read": "read as {kind} for {target}",
    "summary-unwritable": "$GITHUB_STEP_SUMMARY, {path}: {error}",
    # Inputs and sources.
    "run-as-same": "--as {target}: already compiled for {target}, so nothing differs",
    "stdin-once": "--as {targets}: standard input can be read only once; give one target",
    "source-alone": (
        "{source}: is a source; add --arch gfx942 or --compile-commands FILE to compile it"
    ),
    "source-among-inputs": (
        "{source}: a source among other inputs; give only sources to compile them, or leave out "
        "--arch"
    ),
    "source-not-there": "{path}: no such file or directory",
    "option-for-sources": "{option}: only for sources, and a PATH is not a source; leave it out",
    "targets-for-sources": (
        "--arch {several}: only sources can be compiled for several targets; give one target, or "
        "ask what-if with --as"
    ),
    "compiled-by": "compiled by: {names}",
    # Kernels by name.
    "kernels-named-alike": (
        "{path}: {kernels} are named {name!r}; give more of the name, --target, --member or "
        "--where, or a glob for all:"
    ),
    # `report` and `explain`.
    "by-excludes": "--by {by} counts kernels instead of listing them; leave out {option}",
    "bytes-excludes": (
        "--bytes covers all code of a code object, not single kernels; leave out {option}"
    ),
    "by-unknown": "{text!r}: give one of {names}, or two joined by a comma",
    "devices-without-targets": "--device replaces targets by devices; add --by library,target",
    "instructions-of-report": (
        "--instructions adds to --format json, jsonl and csv; `explain` and `pressure` show "
        "instructions as text"
    ),
    "source-of-report": "--source needs --format html",
    "device-one-target": "--device names one target; give one --as, or none",
    "grid-without-device": (
        "--grid needs --device, and both need --format text; for other formats use `calc`"
    ),
    "manual-without-folder": "--format html writes the manual's pages to a folder; give -o DIR",
    "manual-unwritable": "-o {folder}: {error}; give another folder",
    "topics-listed": "`kernelinfo explain` lists the topics",
    "kernel-without-file": "`kernelinfo explain FILE {name}` explains a kernel",
    "target-explained": "{name}: a target; `kernelinfo arch {name}` has its constants",
    "topic-unknown": "{name}: not a file, rule or topic; {suggestion}",
    # `calc` and `limits`.
    "grid-without-product": "--grid {grid} needs a product; name one with --device",
    "html-of-curves": (
        "--format html draws all curves of one launch; leave out --vary, --best, --grid, --as-llvm "
        "and --as-hip"
    ),
    "vary-excludes": "--vary and --best exclude --grid, --as-llvm and --as-hip; leave out one side",
    "vary-of-range": (
        "--vary needs a single --workgroup-size, not a range; give one size, or --vary "
        "workgroup-size"
    ),
    "best-varies": "--best varies the workgroup size itself; leave out --vary",
    "vary-names": "--vary {vary}: give one or two of {names}, joined by a comma",
    "vary-given": "{asked} tries all values; leave out --{name}",
    "workgroup-size-none": (
        "no workgroup size can launch with these numbers; use fewer registers or less LDS"
    ),
    "limits-without-target": "no target is named; give one, such as gfx942 or MI300X",
    # `pressure`.
    "source-of-pressure": "--source needs one KERNEL, or --format html",
    "at-malformed": "--at {at}: give a line of the assembly, or FILE:LINE of the source",
    "at-without-instruction": "--at {at}: no instruction of the kernel on that line; {mend}",
    "at-see-top": "see --top 0",
    "at-of-source": "for a source line write --at {places}",
    "at-nearest": "the nearest is on line {near}",
    # `check`.
    "check-without-paths": "nothing to check; give a path, or `paths` in kernelinfo.toml",
    "check-not-built": "not checked: nothing is built at {names}",
    "config-ignored": "note: {other}: [tool.kernelinfo] is ignored next to {file}; keep one",
    "config-exists": "{file}: already exists; edit it, or remove it first",
    "config-without-kernels": "{names}: no kernels; build first",
    "where-of-baseline": (
        "is a baseline, which lacks columns that --where reads; give the build, or a saved report "
        "of it"
    ),
    "baseline-not-named": "no baseline is named; give --baseline, or `baseline` in TOML",
    "check-tighten-or-update": (
        "--tighten and --update-baseline exclude each other; --update-baseline alone pins "
        "everything"
    ),
    "check-tighten-or-rename": (
        "--tighten cannot pin a rename; add --update-baseline to --rename to pin it, or give "
        "--rename alone to compare"
    ),
    # `diff`, `trend` and `compare-profile`.
    "diff-without-targets": (
        "note: OLD and NEW share no target; --across-targets pairs kernels by name"
    ),
    "choice-of-either-build": "{line} of either build",
    "choice-of-these-builds": "{dataset}: {line} of these builds",
    "trend-problems": "{dataset}: {problems} in {build}{gap}: kernels may be missing there",
    "trend-gap": " (incomplete: {gaps})",
    "trend-unfinished": "{dataset}: {name} is left out: its scan has not ended; run it again",
    "trend-first": "{dataset}: {first} is the first build, so nothing was compared: passed",
    "run-without-kernel": "{run}: no kernel of the run is {where}; it ran {ran}",
    "run-files": "in the files given",
    "run-files-of-device": "in the files given for {device}",
    # `extract`.
    "extract-exists": "already exists; --force overwrites it",
    "extract-unwritable": "{where}: {error}; give another folder",
    # `sweep` and `watch`.
    "sweep-list": "{option} {text}: not a list of numbers; write {option} 64,128",
    "sweep-failed": "{path}: no variant was compiled: {error}",
    "sweep-begins": "compiling without changes first",
    "sweep-progress": "{done} of {total} variants",
    "sweep-targets": "--arch {several}: a sweep takes one target; give one of them",
    "watch-stdin": "-: standard input does not change; give files or folders",
    "watch-source-and-run": (
        "{source}: is a source, but --run builds; give the files that the command builds, or leave "
        "out --run"
    ),
    # `scan` and `mcp`.
    "remove-alone": "--remove reads nothing; leave out URL... and --build",
    "scan-without-build": "give URL... and --build NAME, or --remove BUILD",
    "scan-workers": "--workers starts workers here; leave it out with --scheduler",
    "scan-update": (
        "--update writes the list of accepted problems; name its file with --accept-problems FILE"
    ),
    "root-no-folder": "--root {root}: not a folder; give a folder",
    "mcp-missing": "mcp not installed; run pip install 'kernelinfo[mcp]'",
}

say = wording(MESSAGES)

CANNOT_ANSWER = 2  # unreadable or partly read input, an unknown target, no kernel, wrong usage


def complain(line: str) -> None:
    """Print a line on standard error. If that is closed, only the exit code tells."""
    from kernelinfo.render.paint import printable, without_commands

    try:
        print(without_commands(printable(line)), file=sys.stderr)
    except OSError:
        give_up(sys.stderr)


def give_up(stream: TextIO) -> None:
    """Redirect a broken stream to devnull: flushing its buffer at exit would fail again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
