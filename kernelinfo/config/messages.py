"""What is wrong with a configuration: every sentence, by its code."""

from __future__ import annotations

from kernelinfo.errors import wording

MESSAGES = {
    "config-link-broken": "is a broken link; repair or remove it",
    "config-unreadable": "{error}; give another file",
    "config-invalid": "{error}; write valid TOML",
    "config-table-missing": "has no [tool.kernelinfo]; add it, or write {file}",
    "config-table-no-table": "tool.kernelinfo: {value!r}; write a table",
    "config-key-unknown": "unknown key; {hint}",
    "config-keys-known": "choose one of {names}",
    "config-key-below": (
        "is a key of the whole file, but it stands in the table {table}; move it above the first "
        "table"
    ),
    "config-key-missing": "{name} is missing; write {expected}",
    "config-key-twice": "is the former name of {name}, which is also set; keep one",
    "config-value": "{value!r}; write {expected}",
    "budget-without-bounds": "sets no bound; write one of {names}",
    "config-line": "{place}: {key}: {reason}",
}

say = wording(MESSAGES)
