"""What the gate finds: every sentence, by its code."""

from __future__ import annotations

from kernelinfo.errors import wording

MESSAGES = {
    # Baselines that cannot be read or written.
    "baseline-missing": "{error}; create it with `kernelinfo check --update-baseline`",
    "baseline-unreadable": "{error}; give another file",
    "baseline-unwritable": "{error}; give another file",
    "baseline-binary": "is not a baseline; delete it and recreate it with --update-baseline",
    "baseline-other-document": (
        "is not a baseline; give another file, or delete it and recreate it with --update-baseline"
    ),
    "baseline-newer": (
        "was written by a newer kernelinfo ({schema}); update kernelinfo, or delete it and "
        "recreate it with --update-baseline"
    ),
    "baseline-older": (
        "was written by an older kernelinfo ({schema}); delete it and recreate it with "
        "--update-baseline"
    ),
    "baseline-conflict": (
        "has merge conflict markers; resolve them, or take either side and run `kernelinfo check "
        "--update-baseline`"
    ),
    "baseline-too-large": "has more than {most}; give another file",
    "baseline-kernels-many": "pins more than {most} kernels; give another file",
    "baseline-reformatted": (
        "has more than {most} bytes that are not one entry per line; undo the reformatting, or "
        "recreate it with --update-baseline"
    ),
    "baseline-damaged": (
        "is corrupt ({place}); restore it from version control, or delete it and recreate it with "
        "--update-baseline"
    ),
    "baseline-unchanged": "left unchanged: {reason}",
    "inputs-unread": "not all inputs could be read{first}",
    # Damage.
    "baseline-cut-off": "lines are missing at the end",
    "baseline-gzip-damaged": "invalid compressed data: {error}",
    "baseline-json-damaged": "line {line}, column {column}: {error}",
    "baseline-key-unknown": "unknown key {key}",
    "baseline-key-twice": "duplicate key {key!r:.100}",
    "baseline-symbol-twice": "duplicate symbol {symbol}",
    "baseline-library-twice": "line {line}: duplicate library {library}",
    "baseline-library-long": "line {line}: library name of {length} characters",
    # Kernels and their pinned numbers.
    "baseline-pin": "record it with --update-baseline",
    "baseline-tighten": "pin it with --tighten; until then the old number still passes",
    "regression-mend": "fix it (`explain` shows the steps), or accept it with --update-baseline",
    "waves-lost": "lost {waves} ({old} → {new}): {causes}{name}",
    "waves-step": "{amount} (≤ {most} for {old} waves/SIMD)",
    "number-moved": "{change} since the baseline{name}",
    "loops-moved": "; {loops}",
    "number-improved": "better than pinned: {change}{name}",
    "number-change": "{old} → {new} {noun}",
    "name-pinned": " (as {name})",
    "copies-raised": "{reason}; {copies} at the baseline",
    "matrix-vanished": "matrix instructions vanished: {count} → 0 since the baseline",
    "matrix-mend": (
        "see what the compiler emits instead with `pressure`, or accept it with --update-baseline"
    ),
    "numbers-unpinned": "the baseline lacks {names}, so these were not compared",
    "number-unstated": "{kernel}: {judge} needs {names}, which the input does not state",
    "judge-budget": "its budget",
    "judge-baseline": "the baseline",
    "finding-ended": "accepted finding {rule} {name} no longer occurs",
    "pinned-elsewhere": "{reason} (pinned in {file})",
    "kernel-unpinned": "not in the baseline",
    "kernel-vanished": "in the baseline (from {file}), but not in the build",
    "kernel-vanished-mend": "build it, or drop it with --update-baseline",
    "kernel-given-up": (
        "in the baseline (from {file}), but not in the build; gone without a successor"
    ),
    "kernel-given-up-mend": "drop it with --update-baseline and the same --rename",
    "kernels-vanished": "all {count} pinned kernels are gone",
    # Kernels with another name.
    "rename-likely": "not in the build; {old} → {new} likely: {change}",
    "rename-likely-mend": "compare them with --rename {rename}, or drop it with --update-baseline",
    "rename-lost": (
        "{old} is gone, and {new} is likely the same kernel: {change}; pin it as renamed with "
        "--rename {rename}, or drop {old} with --rename {drop}"
    ),
    "numbers-same": "no number differs",
    "rename-malformed": "--rename {rename}: not OLD=NEW; join the two names with =",
    "rename-old-unknown": "--rename {rename}: no pinned kernel named {old} is gone; {hint}",
    "rename-new-unknown": "--rename {rename}: no new kernel {new} for {old} ({target}); {hint}",
    "rename-ambiguous": (
        "--rename {rename}: {count} new kernels of {target} fit {old}; give its whole name"
    ),
    "renames-impossible": "no kernel is gone",
    "renames-unbuilt": "{target} has no new kernel",
    # Files of the baseline.
    "file-renamed": "{kernels} moved from {old} to {new}; record it with --update-baseline",
    "files-renamed-more": (
        "kernels of {files} moved to other files; record it with --update-baseline"
    ),
    # The compiler.
    "toolchain-changed": (
        "built with {built}, the baseline with {pinned}: {effect}{judgement}{worst}"
    ),
    "toolchain-mend": "`kernelinfo check --update-baseline` records the new compiler",
    "toolchain-report": "changed waves and registers are notes, more spills or scratch fail",
    "toolchain-strict": "judged as if the compiler were the same",
    "toolchain-accept": "all changes are accepted",
    "toolchain-moved": "{moved} of {kernels} changed",
    "toolchain-waves": "waves/SIMD {change} %",
    "toolchain-lost": "{kernels} lost waves ({causes})",
    "toolchain-spilling": "{kernels} with more spills or scratch",
    "toolchain-worst": "; worst: {kernel}",
    # Budgets and suppressions.
    "budget-exceeded": "{number}, but the budget is {key} {bound} ({place})",
    "budget-shadowed": ("unused budget: all its kernels match an earlier one ({budgets})"),
    "budget-shadowed-mend": "move it before that one; the first match counts",
    "budget-unmatched": "unused budget: no kernel{target} matches {kernel}",
    "budget-unmatched-mend": "correct the pattern, or remove it",
    "budget-target": " on {target}",
    "suppression-expired": "the suppression of {findings} expired on {day}",
    "suppression-expired-mend": "fix the kernel, or set a later day",
    "suppression-unused": "unused suppression of {findings}",
    "suppression-unused-mend": "remove it",
    # Expectations that are not met.
    "kernels-too-few": "{kernels} found, at least {least} expected; see {key}",
    "target-of-none": (
        "{kernels} found, none for {targets}, only for {built}; build for the configured target, "
        "or change `target` in the configuration"
    ),
    "targets-uncovered": (
        "no code for {targets}, only for {built}; build it for all, or change `targets` in the "
        "configuration"
    ),
    "target-unbuilt": (
        "no kernel is for {target}, only for {built}; build it, or remove it from target"
    ),
    "baseline-pins-none": (
        "none of the {kernels} is in the baseline, so nothing was compared; add them with "
        "--update-baseline"
    ),
    "baseline-without-numbers": (
        "has no number in common with {kernel}{more}; recreate it with --update-baseline"
    ),
    "kernels-and-more": " and {count} more kernels",
    "gate-without-claims": (
        "no rule, budget or baseline is selected, so nothing is checked; see select and ignore"
    ),
    # What a run leaves unchecked.
    "check-left-out": "not checked: {reason}",
    "check-note": "note: {reason}",
    "left-out-min-kernels": "expect.min-kernels = {count}",
    "left-out-targets": "target {targets} (no kernel in this part)",
    "left-out-choices": "{choices} (no matching kernel in this part)",
    "left-out-budgets": "[[budget]] {budgets} (no matching kernel in this part)",
    "left-out-sizes": "[workgroup-size] {sizes} (no matching kernel in this part)",
    "left-out-pinned": "{count} pinned kernels outside this part",
    "left-out-suppressions": "[[suppress]] {names}, unused in this part",
    "left-out-occupancy": "the occupancy of {kernels} in build logs; give --arch",
    "budgets-unselected": "[[budget]]; KI206 is not selected",
    "baseline-unselected": "regressions since {baseline}; KI501 is not selected",
    "workgroup-size-unmatched": (
        "{file}: [workgroup-size] {pattern!r} applies to no kernel; correct it, or remove it"
    ),
}

say = wording(MESSAGES)
