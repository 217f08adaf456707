"""What does not fit in one text, as far as anybody will read of it."""

from __future__ import annotations

from kernelinfo.reading.facts import Remark

_MOST = 1000


class Remarks:
    """The first thousand are kept; a text could be nothing but mistakes."""

    def __init__(self) -> None:
        self._kept = 0
        self._untold = 0
        self._new: list[Remark] = []

    def add(self, message: str, line: int | None = None) -> None:
        if self._kept < _MOST:
            self._kept += 1
            self._new.append(Remark(message, line))
        else:
            self._untold += 1

    def take(self) -> tuple[Remark, ...]:
        """Those that were not taken before."""
        taken = tuple(self._new)
        self._new.clear()
        return taken

    def rest(self) -> tuple[Remark, ...]:
        """That there are more, where there are."""
        more = f"{self._untold} more remarks on this text are not told; mend these first"
        return (Remark(more),) if self._untold else ()
