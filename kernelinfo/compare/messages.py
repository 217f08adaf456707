"""What comparisons say about saved reports and profiled runs: every sentence, by its code."""

from __future__ import annotations

from kernelinfo.errors import wording

MESSAGES = {
    # Saved reports.
    "saved-not-a-report": (
        "is {kind}, but not a report of kernelinfo: {error}; save one with `kernelinfo report "
        "--format json -o FILE`"
    ),
    "saved-older": (
        "was saved by an older kernelinfo ({made}); save it again with `kernelinfo report --format "
        "json -o FILE`"
    ),
    "saved-version": "is {schema}, made by kernelinfo {version}; this one reads {read}",
    "saved-may-be-cut": "rows do not show whether the report is complete; --format json does",
    "saved-for-other-launch": (
        "was saved for {saved}, not {given}; save it again with these options"
    ),
    # Why it is no report.
    "saved-key-missing": "has no {key}",
    "saved-schema": "its schema is {schema!r}",
    "saved-cut-off": "it is cut off or damaged",
    "saved-line": "line {line} is not a JSON object",
    "saved-cells": "line {line} does not have one cell per column",
    "saved-constant": "{constant} is not a number",
    "saved-value": "{key} is {value}",
    "saved-value-null": "{key} is null",
    "saved-value-number": "{key} is not a 64-bit number",
    "saved-value-item": "{key} contains {value!r}",
    # Loops of two builds.
    "loop-moved": "loop {loop}: {counts}",
    "loop-gone": "loop {loop} is gone: {matrix} matrix instructions out of {instructions}",
    "loop-new": "loop {loop} is new: {matrix} matrix instructions out of {instructions}",
    "loop-depth": "at depth {depth}",
    "loops-further": "{loops} more loops",
    # Profiled runs.
    "profile-not-read": (
        "{path}: {reason}; give rocprofv3's kernel trace or database, or rocprofiler-compute's "
        "pmc_perf.csv"
    ),
    "profile-empty": "has no kernel dispatches",
    "profile-json": "JSON is not supported",
    "profile-column-missing": "no column {column}",
    "profile-dispatch-unnamed": "a dispatch lacks its kernel name or workgroup size",
    "profile-compressed": "a compressed SQLite database; decompress it first",
    "profile-log-unread": (
        "its newest rows are still in {log}; stop the profiler, then open the database once with "
        "sqlite3 to merge them"
    ),
    "profile-damaged": "a damaged SQLite database: {error}",
    "profile-text-too-long": "claims more text than the file has bytes",
    "profile-of-rpd": "a trace of rocmProfileData (RPD), which records no registers",
    "profile-other-database": "an SQLite database without {table}, so not rocprofv3's",
    # The target of a run.
    "target-of-device": "--device names it",
    "target-of-run": "the run names it",
    "target-nearest": "its registers, LDS and scratch are nearer to the launches than {others}",
    "target-only": "no other target in the files has the run's kernels",
    # Differences between a run and its prediction.
    "run-of-other-build": "the run used another build or target: {differences}",
    "run-differs": "{resource} {run} in the run, {file} in the file",
    "run-refused": "{rule}: {finding}, so the run used another build",
    "run-rounds": "{rounds} and a tail of {tail}: {percent} on average",
    "run-grid-small": "the grid is {share} of what fits on the device at once: ≤ {percent}",
    "run-above-ceiling": "above the ceiling: another build ran, or other kernels at the same time",
    "run-without-device": "add --device to see whether the grid fills the device",
    "run-below-grid": (
        "below what the grid allows: start-up, imbalance, or other work on the device"
    ),
    # Kernels that moved.
    "moved-to-no-launch": "cannot launch now",
    "moved-to-limit": "now limited by {limiters}",
}

say = wording(MESSAGES)
