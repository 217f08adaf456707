"""What the gate finds: every sentence, by its code."""

from __future__ import annotations

from kernelinfo.errors import wording

MESSAGES = {
    # Baselines that cannot be read or written.
    "baseline-missing": "{error}; make it by `kernelinfo check --update-baseline`",
    "baseline-unreadable": "{error}; give another file",
    "baseline-unwritable": "{error}; give another file",
    "baseline-binary": "is not a baseline; delete it and pin anew with --update-baseline",
    "baseline-other-document": (
        "is not a baseline; give another file, or delete it and pin anew with --update-baseline"
    ),
    "baseline-newer": (
        "was written by a newer kernelinfo ({schema}); update kernelinfo, or delete it and pin "
        "anew with --update-baseline"
    ),
    "baseline-older": (
        "was written by an older kernelinfo ({schema}); delete it and pin anew with "
        "--update-baseline"
    ),
    "baseline-conflict": (
        "has conflict markers of a merge; settle them, or take either side and run `kernelinfo "
        "check --update-baseline`"
    ),
    "baseline-too-large": "has more than {most}; give another file",
    "baseline-kernels-many": "pins more than {most} kernels; give another file",
    "baseline-reformatted": (
        "has more than {most} bytes and not one entry a line, as kernelinfo writes it; undo its "
        "formatting, or pin anew with --update-baseline"
    ),
    "baseline-damaged": (
        "is damaged at {place}; restore it, or delete it and pin anew with --update-baseline"
    ),
    "baseline-unchanged": "left unchanged: {reason}",
    "inputs-unread": "not all inputs could be read{first}",
    # Places of damage.
    "baseline-cut-off": "its end: lines are missing",
    "baseline-gzip-damaged": "its compressed data end early or are wrong ({error})",
    "baseline-json-damaged": "line {line}, {error} at column {column}",
    "baseline-key-unknown": "{key}, an unknown key",
    "baseline-key-twice": "the key {key!r:.100}, which stands twice",
    "baseline-symbol-twice": "{symbol}, which stands twice",
    "baseline-library-twice": "line {line}: {library} stands twice",
    "baseline-library-long": "line {line}: a library's name of {length} characters",
    # Kernels and their pinned numbers.
    "baseline-pin": "pin it with --update-baseline",
    "baseline-tighten": "slack until --tighten pins it",
    "regression-mend": "mend it (`explain` shows the steps), or pin it with --update-baseline",
    "waves-lost": "lost {waves} ({old} → {new}): {causes}{name}",
    "waves-step": "{amount}, the step is ≤ {most}",
    "number-moved": "{change} since the baseline{name}",
    "number-improved": "better than pinned: {change}{name}",
    "number-change": "{old} → {new} {noun}",
    "name-pinned": " (as {name})",
    "matrix-vanished": "matrix instructions vanished: {count} → 0 since the baseline",
    "matrix-mend": (
        "see what the compiler emits instead by `pressure`, or pin it with --update-baseline"
    ),
    "numbers-unpinned": "the baseline does not have {names}: not compared",
    "number-unstated": "{kernel}: {judge} asks for {names}, which the input does not state",
    "judge-budget": "its budget",
    "judge-baseline": "the baseline",
    "finding-ended": "{rule} {name}, which the baseline accepts, has ended",
    "pinned-elsewhere": "{reason} (pinned in {file})",
    "kernel-unpinned": "not in the baseline",
    "kernel-vanished": "in the baseline, from {file}, and not in the build",
    "kernel-vanished-mend": "build it, or drop it with --update-baseline",
    "kernels-vanished": "all {count} pinned kernels are gone",
    # Kernels with another name.
    "rename-likely": "not in the build; {old} → {new} likely: {change}",
    "rename-likely-mend": "compare them by --rename {rename}, or drop it with --update-baseline",
    "rename-lost": (
        "{old} is gone, and {new} is likely the same kernel: {change}; pin it as renamed with "
        "--rename {rename}, or drop {old} with --rename {drop}"
    ),
    "numbers-same": "no number differs",
    "rename-malformed": "--rename {rename}: no OLD=NEW; write the names with = between them",
    "rename-old-unknown": "--rename {rename}: no pinned kernel {old} is gone; {hint}",
    "rename-new-unknown": "--rename {rename}: no new kernel {new} for {old} ({target}); {hint}",
    "rename-ambiguous": (
        "--rename {rename}: {count} new kernels of {target} fit {old}; give its whole name"
    ),
    "renames-impossible": "no kernel is gone",
    "renames-unbuilt": "{target} has no new kernel",
    # Files of the baseline.
    "file-renamed": "{kernels} of {old} found in {new}; pin the change with --update-baseline",
    "files-renamed-more": (
        "kernels of {files} found in other files; pin the change with --update-baseline"
    ),
    # The compiler.
    "toolchain-changed": "built by {built}, the baseline by {pinned}: {effect}{judgement}{worst}",
    "toolchain-mend": "`kernelinfo check --update-baseline` pins the new compiler",
    "toolchain-report": "its kernels' waves and registers are noted, spills and scratch fail",
    "toolchain-strict": "judged as if it were the same",
    "toolchain-accept": "all that moved is accepted",
    "toolchain-moved": "{moved} of {kernels} moved",
    "toolchain-waves": "waves/SIMD {change} %",
    "toolchain-lost": "{kernels} lost waves ({causes})",
    "toolchain-spilling": "{kernels} with more spills or scratch",
    "toolchain-worst": "; worst: {kernel}",
    # Budgets and suppressions.
    "budget-exceeded": "{number}, and the budget is {key} {bound} ({place})",
    "budget-shadowed": (
        "all its kernels belong to an earlier budget ({budgets}): this one guards nothing"
    ),
    "budget-shadowed-mend": "put it before that, for the first that matches counts",
    "budget-unmatched": "no kernel{target} is named {kernel}: the budget guards nothing",
    "budget-unmatched-mend": "correct its kernel, or remove it",
    "budget-target": " on {target}",
    "suppression-expired": "the suppression of {findings} ended on {day}",
    "suppression-expired-mend": "mend the kernel, or set a later day",
    "suppression-unused": "the suppression of {findings} excuses nothing",
    "suppression-unused-mend": "remove it",
    # Expectations that are not met.
    "kernels-too-few": "{kernels} found, at least {least} expected; see {key}",
    "target-of-none": "none of {kernels} is for {targets}, but for {built}; see target",
    "target-unbuilt": (
        "no kernel is for {target}, those built are for {built}; build it, or remove it from target"
    ),
    "baseline-pins-none": (
        "pins none of the {kernels} found: nothing is compared; pin them with --update-baseline"
    ),
    "baseline-without-numbers": (
        "has no comparable number of {kernel}{more}; pin anew with --update-baseline"
    ),
    "kernels-and-more": " and {count} more",
    "gate-without-claims": (
        "no rule, budget or baseline is selected: nothing is checked; see select and ignore"
    ),
    # What a run leaves unchecked.
    "check-left-out": "not checked: {reason}",
    "check-note": "note: {reason}",
    "left-out-min-kernels": "expect.min-kernels = {count}",
    "left-out-targets": "target {targets}, which no kernel of this part is for",
    "left-out-choices": "{choices}, which no kernel of this part matches",
    "left-out-budgets": "[[budget]] {budgets}, which no kernel of this part matches",
    "left-out-sizes": "[workgroup-size] {sizes}, which no kernel of this part matches",
    "left-out-pinned": "{count} of the baseline's kernels, which are not in this part",
    "left-out-suppressions": "[[suppress]] {names}, which excuse nothing in this part",
    "left-out-occupancy": "the occupancy of {kernels} of build logs; give --arch",
    "budgets-unselected": "[[budget]]; KI206 is not selected",
    "baseline-unselected": "what got worse since {baseline}; KI501 is not selected",
    "workgroup-size-unmatched": (
        "{file}: [workgroup-size] {pattern!r} is the first for no kernel; correct it, or remove it"
    ),
}

say = wording(MESSAGES)
