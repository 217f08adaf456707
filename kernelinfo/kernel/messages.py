"""What a choice of kernels, columns or a target tells users: every sentence, by its code."""

from __future__ import annotations

from kernelinfo.errors import wording

MESSAGES = {
    # Kernels by name.
    "pattern-no-utf8": "it is not valid UTF-8",
    "pattern-malformed": "re:{pattern}: {error}; write a regular expression that RE2 accepts",
    "re2-missing": (
        "re:{pattern}: regular expressions need google-re2; run pip install 'kernelinfo[re]', or "
        "give a glob"
    ),
    "kernels-listed": "`report.kernels` lists them",
    "kernel-unknown": "no kernel is named {name!r} ({count} in all); {mend}",
    "kernel-ambiguous": "{count} kernels match {name!r}; choose one: {listed}",
    "numbers-listed": "choose one of {names}",
    "number-unknown": "{number!r} is not a number of a kernel; {hint}",
    "pattern-mangled": (
        "{pattern}: may be the C++ name of {symbol}, which cannot be demangled here; install "
        "pycxxfilt, or give the mangled name"
    ),
    # Columns and conditions.
    "column-needs-instructions": (
        "{column} is counted from the code; add --instructions (report, diff, scan and check have "
        "it)"
    ),
    "columns-listed": "give one of {names}",
    "column-unknown": "{option} {text}: no column {name!r}; {hint}",
    "condition-too-long": "--where: {size} characters; write at most {most}",
    "condition-malformed": "write COLUMN = VALUE, joined by and, or, not",
    "condition-column": "no column {name!r}; {hint}",
    "condition-number": "{column} is a number; {value!r} is not",
    "condition-order": "{operator} compares numbers; use = or ~ for {column}",
    "condition-mistake": "--where: {reason}\n  {text}\n  {caret}",
    # Kernels on other targets.
    "kernel-wave-size": "{target} has no waves of {lanes} lanes, which the kernel needs",
    "kernel-agprs": "{target} has no AGPRs; the kernel uses {agprs}",
    # What code needs.
    "needs": "the code needs {what}",
    "needs-registers": "{least}{number} {noun}{place}",
    "needs-least": "at least ",
    "needs-at": " at {place}",
    "needs-line": "line {line}",
    "needs-step": "; usually {vgprs} hold them ({waves})",
    "needs-none": "; this launch allows at most {most}{roomier}",
    "needs-roomier": ", a launch of {size} allows {vgprs}",
    "needs-fit": ", and {given} are allocated, but {why}",
    "needs-apart": "VGPRs alone reach {vgprs} and AGPRs {agprs}, of {most} each",
    "needs-tuples": "tuples need consecutive registers, which may not be free",
}

say = wording(MESSAGES)
