"""Whole texts of the command line, in which each sentence is its code and its facts.

`python -m tests.whole_texts` prints them as JSON, from a process of its own: sentences are changed
where they stand. What they say is held by fixtures/expected/messages.txt.
"""

from __future__ import annotations

import json
import re
import sys

from .test_golden import TEXTS, run
from .test_messages import TABLES


def main() -> None:
    """Print file → text."""
    for table in TABLES.values():
        for code, sentence in table.items():
            facts = re.findall(r"\{[^{}]+\}", sentence.replace("{{", "").replace("}}", ""))
            table[code] = " ".join((code, *facts))
    texts = {}
    for name, words in TEXTS.items():
        out, err, exit_code = run(*words.split())
        texts[name] = out + (f"--- standard error, exit code {exit_code}\n{err}" if err else "")
    json.dump(texts, sys.stdout)


if __name__ == "__main__":
    main()
