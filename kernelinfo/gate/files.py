"""Files of a build that are gone since the baseline, or have another name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from kernelinfo.compare.changes import Pair
from kernelinfo.compare.summary import KernelSummary
from kernelinfo.kernel import counted

_MOST_NAMED = 5
_PIN = "pin the change with --update-baseline"
_DROP = "drop it with --update-baseline"


def renamed(pairs: Iterable[Pair]) -> Iterator[str]:
    """Files whose kernels are in another file now, in words."""
    changed = (pair for pair in pairs if pair.old is not pair.new)
    files = ((_file(pair.old), _file(pair.new)) for pair in changed)
    moved = Counter((old, new) for old, new in files if old != new)
    for (old, new), count in moved.most_common(_MOST_NAMED):
        yield f"{counted(count, 'kernel')} of {old} found in {new}; {_PIN}"
    if (others := len(moved) - _MOST_NAMED) > 0:
        yield f"kernels of {counted(others, 'more file')} found in other files; {_PIN}"


def gone(missed: Iterable[KernelSummary], pairs: Iterable[Pair]) -> Iterator[str]:
    """Files of which no pinned kernel is left, in words."""
    count = Counter(map(_file, missed))
    left = {_file(pair.old) for pair in pairs} if count else set()
    files = [(file, many) for file, many in count.most_common() if file not in left]
    for file, many in files[:_MOST_NAMED]:
        kernels = f"all {many} pinned kernels are" if many > 1 else "its 1 pinned kernel is"
        yield f"{file}: {kernels} gone; build it, or {_DROP}"
    if others := files[_MOST_NAMED:]:
        yield f"{counted(len(others), 'more file')} without any pinned kernel; {_DROP}"


def _file(kernel: KernelSummary) -> str:
    return kernel.code_object.partition(" › ")[0]
