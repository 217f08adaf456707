"""Waits of the main thread, each of which a signal ends.

Python runs a signal's handler between two steps of the main thread. A signal that comes after the
last step before a wait, or that the system gives to another thread, does not end the wait: the
handler runs when the wait is over ("Execution of Python signal handlers" in the documentation of
`signal`). Therefore no wait is longer than `LONGEST`; it begins again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from math import inf
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future

_T = TypeVar("_T")
LONGEST = 0.2
"""Seconds after which a signal is handled at the latest."""


def wait_in_turns(wait: Callable[[float], _T], seconds: float = inf) -> _T:
    """Call `wait` again and again, each time with at most `LONGEST` seconds, until its answer is
    true or until `seconds` have passed in all.

    Returns the last answer.
    """
    end = time.monotonic() + seconds
    while True:
        left = max(end - time.monotonic(), 0)
        if (answer := wait(min(left, LONGEST))) or left <= LONGEST:
            return answer


def result(future: Future[_T]) -> _T:
    """The result of a future. Raises what it raised."""

    def ends(seconds: float) -> bool:
        with suppress(TimeoutError):
            future.exception(seconds)
        return future.done()

    wait_in_turns(ends)
    return future.result()


def results(pool: Executor, work: Callable[[Any], _T], items: Iterable[Any]) -> Iterator[_T]:
    """The results of `work` for all items, in the order of the items.

    Raises the error of the first item that failed. Items that have not started by then are
    cancelled.
    """
    futures = [pool.submit(work, item) for item in items]
    try:
        yield from map(result, futures)
    finally:
        for future in futures:
            future.cancel()
