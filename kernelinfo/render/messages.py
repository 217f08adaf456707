"""What formats refuse, and what reports say of themselves: every sentence, by its code.

The words of tables and pages stand where they are drawn.
"""

from kernelinfo.errors import wording

MESSAGES = {
    "format-without-counts": "--by {by}: --format {format} cannot show counts; give one of {names}",
    "format-without-bytes": "--bytes: --format {format} cannot show bytes; give one of {names}",
    "format-without-columns": "--columns does not apply to --format {format}; leave it out",
    "format-without-targets": (
        "--as {targets}: --format {format} cannot compare several targets; give one target"
    ),
    "files-tied": (
        "{files} match the launches equally well; name the GPU with --device, or give only the "
        "files that ran"
    ),
    "kernels-in-no-file": "none of the files has {kernels} of the run: {names}",
    "builds-unread": "{problems}: some input was not read, so kernels may be missing",
    "kernel-gone-and-new": "{kernels} shares its base name with a new one; --loose pairs them",
    "kernels-gone-and-new": "{kernels} share their base names with new ones; --loose pairs them",
}

say = wording(MESSAGES)
