"""What the watch tells users: every sentence, by its code."""

from __future__ import annotations

from kernelinfo.errors import wording

MESSAGES = {
    "command-killed": "killed by signal {signal}",
    "command-exit-code": "ended with exit code {code}",
    "file-not-yet": "no such file yet; waits until it is built",
}

say = wording(MESSAGES)
