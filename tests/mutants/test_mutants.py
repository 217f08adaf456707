"""Which mutations are made."""

from __future__ import annotations

from pathlib import Path

from .mutations import choose, function_of, mutants_of

ROOT = Path(__file__).parents[2]
TEXT = '''\
"""Documentation stays."""
LIMIT = 4


def size(of: "str", most: int = 1) -> "str":
    """As it is."""
    if not of or most < 2:
        return f"{most + 1}" if of else "empty"
    return of * 3
'''


def test_each_kind_changes_the_body_of_a_function() -> None:
    found = {
        kind: [one.new.strip() for one in mutants]
        for kind, mutants in mutants_of("kernelinfo/one.py", TEXT).items()
    }
    assert found == {
        "branch": ["if False:"],
        "and/or": ["if not of and most < 2:"],
        "not": ["if of or most < 2:"],
        "comparison": ["if not of or most <= 2:"],
        "number": ["if not of or most < 3:", "return of * 4"],
        "result": ['return "empty" if of else f"{most + 1}"'],
        "string": ['return f"{most + 1}" if of else "Xempty"'],
        "arithmetic": ["return of // 3"],
    }
    assert function_of(TEXT, 7) == "size"


def test_the_seed_alone_decides() -> None:
    files = ["kernelinfo/model/limits.py", "kernelinfo/errors.py"]
    chosen = choose(ROOT, files, 8, 1)
    assert len({*chosen}) == 8
    assert chosen == choose(ROOT, files[::-1], 8, 1) != choose(ROOT, files, 8, 2)
