"""Files of a build that are gone since the baseline, or have another name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from kernelinfo.compare.changes import Pair
from kernelinfo.compare.summary import KernelSummary
from kernelinfo.errors import Message
from kernelinfo.gate.messages import say
from kernelinfo.kernel import counted

_MOST_NAMED = 5


def renamed(pairs: Iterable[Pair]) -> Iterator[Message]:
    """Files whose kernels are in another file now, in words."""
    changed = (pair for pair in pairs if pair.old is not pair.new)
    files = ((_file(pair.old), _file(pair.new)) for pair in changed)
    moved = Counter((old, new) for old, new in files if old != new)
    for (old, new), count in moved.most_common(_MOST_NAMED):
        yield say("file-renamed", kernels=counted(count, "kernel"), old=old, new=new)
    if (others := len(moved) - _MOST_NAMED) > 0:
        yield say("files-renamed-more", files=counted(others, "more file"))


def gone(missed: Iterable[KernelSummary], pairs: Iterable[Pair]) -> Iterator[Message]:
    """Files of which no pinned kernel is left, in words."""
    count = Counter(map(_file, missed))
    left = {_file(pair.old) for pair in pairs} if count else set()
    files = [(file, many) for file, many in count.most_common() if file not in left]
    for file, many in files[:_MOST_NAMED]:
        all_of = say("kernels-vanished", count=many) if many > 1 else say("kernel-vanished-only")
        yield say("file-vanished", file=file, kernels=all_of)
    if others := files[_MOST_NAMED:]:
        yield say("files-vanished-more", files=counted(len(others), "more file"))


def _file(kernel: KernelSummary) -> str:
    return kernel.code_object.partition(" › ")[0]
