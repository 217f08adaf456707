"""One writer per build: a lock file that names its holder and the time until it holds."""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from typing import NamedTuple

from kernelinfo.errors import KernelinfoError
from kernelinfo.fleet.dataset import Dataset, part_prefix
from kernelinfo.fleet.messages import say

_RENEWED = 60  # seconds between renewals
_HELD = 3600  # seconds from a renewal until another scan may take the lock over
_LONGEST = 7 * 86_400  # seconds; no scan holds a lock for longer without a renewal
_POLL = 1  # seconds between two looks at a lock that is waited for


class Holder(NamedTuple):
    """The scan that holds a lock."""

    host: str
    machine: str  # tells apart containers of one host
    process: int
    begun: str  # start of the process in the system's own words; empty if it does not say
    since: str  # ISO 8601, UTC
    until: float  # seconds since 1970

    @property
    def is_over(self) -> bool:
        """True if the time is over, or the process was one of this machine and has ended."""
        if time.time() > self.until:
            return True
        if self.machine != _machine():
            return False
        return not _lives(self.process) or _begun(self.process) not in ("", self.begun)

    def __str__(self) -> str:
        return say("scan-holding", host=self.host, process=self.process, since=self.since)


class Lock:
    """A lock on a build, or on one shard of it."""

    def __init__(self, dataset: Dataset, build: str, shard: str, patience: float) -> None:
        """`patience` in seconds is how long the holder may take for one file."""
        self._storage = dataset.storage
        self._path = f"{dataset.folder('inputs', build)}/{part_prefix(shard)}lock"
        part = say("shard-of-build", shard=shard) if shard else ""
        self._what = say("build-of-dataset", dataset=dataset.name, build=build, shard=part)
        self._patience = patience
        self._renewed = 0.0
        self._own: Holder | None = None

    def take(self) -> Holder | None:
        """Take the lock. Returns its holder if another scan holds it."""
        own = self._new()
        if not self._storage.create(self._path, _written(own)):
            holder = self.holder()
            if holder is not None and not holder.is_over:
                return holder
            self._storage.delete(self._path)
            if not self._storage.create(self._path, _written(own)):
                return self.holder() or own
        self._own, self._renewed = own, time.time()
        return None

    def _new(self) -> Holder:
        now, process = time.time(), os.getpid()
        return Holder(
            host=platform.node(),
            machine=_machine(),
            process=process,
            begun=_begun(process),
            since=datetime.now(UTC).isoformat(timespec="seconds"),
            until=now + min(_HELD + 2 * self._patience, _LONGEST / 2),
        )

    def holder(self) -> Holder | None:
        """The scan that holds the lock; None if none does, or the file is damaged."""
        content = self._storage.read(self._path)
        try:
            found = Holder(**json.loads(content or b""))
            found = found._replace(process=int(found.process), until=float(found.until))
            return found if found.until < time.time() + _LONGEST else None
        except (TypeError, ValueError, OverflowError, RecursionError):
            return None

    def renew(self) -> None:
        """Hold the lock longer, written at most once a minute. Raises `KernelinfoError` if it was
        taken over."""
        if self._own is not None and time.time() > self._renewed + _RENEWED:
            self.check()
            self._own = self._own._replace(until=self._new().until)
            self._storage.replace(self._path, _written(self._own))
            self._renewed = time.time()

    def check(self) -> None:
        """Raises `KernelinfoError` if another scan has taken the lock over."""
        holder = self.holder()
        if (
            self._own is None
            or holder is None
            or holder._replace(until=0) != self._own._replace(until=0)
        ):
            other = holder or say("scan-unknown")
            raise KernelinfoError(say("build-taken-over", build=self._what, scan=other))

    def release(self) -> None:
        """Delete the lock unless another scan has taken it over."""
        with suppress(KernelinfoError):
            self.check()
            self._storage.delete(self._path)
        self._own = None

    def refused(self, holder: Holder) -> KernelinfoError:
        """The error for a build that another scan writes."""
        return KernelinfoError(say("build-locked", build=self._what, scan=holder))


@contextmanager
def held(
    lock: Lock, *, wait: bool = False, tell: Callable[[str], object] = lambda text: None
) -> Iterator[None]:
    """Hold a lock. Raises `KernelinfoError` if another scan holds it, or with `wait` tells so once
    and waits until it does no longer."""
    told = False
    while holder := lock.take():
        if not wait:
            raise lock.refused(holder)
        if not told:
            tell(say("build-waiting", scan=holder))
        told = True
        time.sleep(_POLL)
    try:
        yield
    finally:
        lock.release()


def _written(holder: Holder) -> bytes:
    return json.dumps(holder._asdict()).encode()


def _machine() -> str:
    """Host and process namespace: process numbers compare only within one."""
    namespace = ""
    with suppress(OSError, AttributeError):
        namespace = os.readlink("/proc/self/ns/pid")
    return f"{platform.node()} {namespace}".rstrip()


def _lives(process: int) -> bool:
    """False if no process has this number; True if the system does not say."""
    if os.name == "posix":  # Windows has no signal 0
        with suppress(PermissionError, OverflowError):
            try:
                os.kill(process, 0)
            except ProcessLookupError:
                return False
    return True


def _begun(process: int) -> str:
    """When the process began, in ticks since the system started, or `ended`; empty if /proc does
    not say."""
    with suppress(OSError, IndexError):
        with open(f"/proc/{process}/stat", encoding="utf-8", errors="replace") as status:
            fields = status.read().rpartition(")")[2].split()
        return "ended" if fields[0] in "ZX" else fields[19]  # proc(5): state, starttime
    return ""
