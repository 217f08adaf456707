"""What answers for agents refuse or leave out: every sentence, by its code."""

from kernelinfo.errors import wording

MESSAGES = {
    "rule-not-there": "{rule!r}: no such rule; call `rules` without arguments",
    "path-outside": "{path!r}: lies outside of {root}; give a path below it",
    "path-missing": "{path!r}: no such file or directory; globs are not expanded here",
    "tool-unknown": "{name!r:.100}: no such tool",
    "tool-argument": "{place}: {mistake}; see the tool's schema",
    "tool-timeout": (
        "no answer within {seconds:g} s; name a file, target or member, or start the server with a "
        "longer --timeout"
    ),
    "tool-killed": "the reading process was killed, maybe out of memory; name a smaller file",
    "answer-cut-off": (
        "… truncated; {count} lines in total; name a kernel, target or member to get fewer"
    ),
}

say = wording(MESSAGES)
