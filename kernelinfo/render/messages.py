"""What formats refuse, and what reports say of themselves: every sentence, by its code.

The words of tables and pages stand where they are drawn.
"""

from __future__ import annotations

from kernelinfo.errors import wording

MESSAGES = {
    "format-without-counts": "--by {by}: --format {format} has no counts; give one of {names}",
    "format-without-bytes": "--bytes: --format {format} has no bytes; give one of {names}",
    "format-without-columns": (
        "--columns: --format {format} has no columns to choose; leave it out"
    ),
    "format-without-targets": "--as {targets} has no {format}; give one target",
    "files-tied": (
        "{files} fit its launches equally; name the GPU with --device, or give the files that ran"
    ),
    "kernels-in-no-file": "none of the files has {kernels} of the run: {names}",
    "builds-unread": "{problems}: not all was read, kernels may be missing",
    "kernel-gone-and-new": "{kernels} shares its base name with a new one; --loose pairs them",
    "kernels-gone-and-new": "{kernels} share their base names with new ones; --loose pairs them",
}

say = wording(MESSAGES)
