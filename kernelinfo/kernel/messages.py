"""What a choice of kernels, columns or a target tells users: every sentence, by its code."""

from __future__ import annotations

from kernelinfo.errors import wording

MESSAGES = {
    # Kernels by name.
    "pattern-no-utf8": "it is no UTF-8",
    "pattern-malformed": "re:{pattern}: {error}; give a regular expression as RE2 reads them",
    "kernels-listed": "`report.kernels` lists them",
    "kernel-unknown": "no kernel is named {name!r} ({count} in all); {mend}",
    "kernel-ambiguous": "{count} kernels are named {name!r}; name one: {listed}",
    "numbers-listed": "known are {names}",
    "number-unknown": "{number!r} is no number of a kernel; {hint}",
    "pattern-mangled": (
        "{pattern}: may be the C++ name of {symbol}, which cannot be read; needs pycxxfilt, or "
        "write the mangled name"
    ),
    # Columns and conditions.
    "columns-listed": "give one of {names}",
    "column-unknown": "{option} {text}: no column {name!r}; {hint}",
    "condition-too-long": "--where: {size} characters; write at most {most}",
    "condition-malformed": "write COLUMN = VALUE, joined by and, or, not",
    "condition-column": "no column {name!r}; {hint}",
    "condition-number": "{column} is a number, and {value!r} is none",
    "condition-order": "{operator} compares numbers; use = or ~ for {column}",
    "condition-mistake": "--where: {reason}\n  {text}\n  {caret}",
    # Kernels on other targets.
    "kernel-wave-size": "{target} has no waves of {lanes} lanes, as the kernel needs",
    "kernel-agprs": "{target} has no AGPRs, and the kernel uses {agprs}",
}

say = wording(MESSAGES)
