"""KI507: kernels that another compiler built than those of the baseline."""

from __future__ import annotations

from collections.abc import Iterable

from kernelinfo.gate.config import ToolchainChange
from kernelinfo.kernel import CodeObject, Finding
from kernelinfo.reading.stamps import makers
from kernelinfo.rules.documented import documented

_TOOLCHAIN = documented("KI507")
_JUDGED: dict[ToolchainChange, str] = {
    "report": "its kernels' waves and registers are noted, spills and scratch fail",
    "strict": "judged as if it were the same",
}


class Toolchain:
    """The compilers of a build compared with those of its baseline, where that names any."""

    def __init__(self, pinned: Iterable[str], code_objects: Iterable[CodeObject]) -> None:
        self._pinned = tuple(stamp.strip() for stamp in pinned)
        foreign = filter(self.is_foreign, {id(one): one for one in code_objects}.values())
        self._foreign = {stamp for one in foreign for stamp in makers(one.stamps)}

    def is_foreign(self, code_object: CodeObject) -> bool:
        """True if no compiler that had a part in it had one in the baseline.

        A code object that both had a part in does not tell which of them built a kernel.
        """
        made = makers(code_object.stamps)
        return bool(made and self._pinned) and not set(made) & set(self._pinned)

    def changed(self, how: ToolchainChange) -> Finding | None:
        """A note that names the compilers, if they changed; `how` they are judged then."""
        old = {stamp: _brief(stamp) for stamp in self._pinned}
        new = sorted(self._foreign)
        if not new:
            return None
        brief = [_brief(stamp) for stamp in new]
        if set(brief) & set(old.values()):
            brief, old = new, {stamp: stamp for stamp in old}
        built, before = (" and ".join(dict.fromkeys(stamps)) for stamps in (brief, old.values()))
        return _TOOLCHAIN.found(f"built by {built}, the baseline by {before}: {_JUDGED[how]}")


def _brief(stamp: str) -> str:
    return stamp.partition(" (")[0]
