"""What scans and trends tell: every sentence, by its code."""

from __future__ import annotations

from kernelinfo.errors import wording

MESSAGES = {
    # Options and addresses.
    "scan-of-stdin": "scan reads files, not standard input; give a path or URL",
    "build-name": "--build {name}: use only letters, digits, `.`, `_` and `-`",
    "shard-name": "--shard {name}: use only letters, digits, `_` and `-`",
    "destination-read-only": "--to {address}: cannot be written; give a folder or s3://…",
    "build-unknown": "{option}: not a build of {dataset}; it has {builds}",
    "builds-none": "none",
    "builds-repeated": "--builds {names}: lists a build twice; list each once",
    "libraries-missing": "{names} not installed; run pip install 'kernelinfo[{extras}]'",
    "scheduler-bound": (
        "--scheduler: other machines do not enforce --only-below; drop one of the two"
    ),
    "scheduler-unreachable": "--scheduler {address}: {error}; start one with `dask scheduler`",
    "store-bound": "lies outside of {bound}; drop --only-below to use a store",
    "folder-deleted": "the current folder was deleted; give an absolute path",
    # Accepted problems.
    "accepted-missing": "{error}; --update writes it",
    "accepted-unreadable": "{error}",
    "accepted-unwritable": "{error}; give another file",
    "accepted-other-file": (
        "is not a list of accepted problems; --accept-problems with --update writes one"
    ),
    # Listings.
    "store-failed": "{error}; check the address and the credentials",
    "store-silent": "no answer in time (--timeout)",
    "file-not-listed": "{error}",
    "file-listed-twice": "listed twice with different queries; give one of them",
    "name-not-utf8": "the name is not UTF-8; rename the file",
    "name-of-two-addresses": "`::` in the name, which fsspec takes for two addresses; rename it",
    "name-not-printable": "an unprintable character in the name; rename it",
    "name-of-folder": "the name ends in `/`, like that of a folder; rename it",
    "folders-nested": "folders nested more than {deepest} deep",
    "folders-too-many": "more than {most} folders; scan fewer at once",
    # Files that are read.
    "fetch-failed": "cannot be fetched: {error}; scan it again",
    "fetch-incomplete": "received {came} of {size} bytes, the file changed during the transfer",
    "fetch-too-large": (
        "more than the {most} bytes allowed here; --bound fetch=N and ratio=N allow more"
    ),
    "worker-ended": (
        "its worker ended: it took more than {seconds} s (--timeout) or {memory} MiB (--bound "
        "memory), or crashed; read the file alone"
    ),
    "worker-memory": "needs more memory than a worker has; read it with `kernelinfo report`",
    "worker-version": (
        "the workers have kernelinfo {worker}, this is {version}; install the same version on both"
    ),
    # Scans of one build.
    "build-taken-over": "{build} was taken over by {scan}; scan it again",
    "build-locked": (
        "{build} is being written by {scan}; --wait waits for it, --shard NAME scans another part "
        "of the build"
    ),
    "build-waiting": "waiting for {scan}",
    "build-of-dataset": "{dataset}: build {build}{shard}",
    "shard-of-build": ", shard {shard}",
    "scan-holding": "a scan on {host} (process {process}) since {since}",
    "scan-unknown": "the lock of {build} is gone or damaged; scan it again",
    # Datasets.
    "dataset-not-regular": "is not a regular file; delete it",
    "dataset-empty": "has no build; `kernelinfo scan` adds one",
    "dataset-row-damaged": "a row is damaged, {error}; scan its build again",
    "dataset-file-damaged": "{file} {wrong}; delete it, and scan its build again",
    "dataset-columns": "has other columns than a scan writes",
    "dataset-rows-too-many": "claims {rows} rows in {size} bytes, which no scan writes",
    "scan-unfinished": "the scan of {builds} did not finish; run it again",
    "builds-too-few": "has {builds}, but a comparison needs two; scan another one into it",
    "builds-without-kernels": "none of these builds has a kernel",
    "builds-without-choice": "no kernel matches {choice}{others}",
    "targets-there": "; there are kernels for {targets}",
    "roots-without-choice": "no kernel matches {choices}",
}

say = wording(MESSAGES)
