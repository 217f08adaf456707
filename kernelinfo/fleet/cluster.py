"""The tasks of a scan, done by the workers of a dask scheduler that the user names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from distributed import Client, as_completed
from distributed.scheduler import KilledWorker

from kernelinfo.errors import KernelinfoError
from kernelinfo.fleet.listing import Task
from kernelinfo.fleet.worker import Done, Request, given_up, read

_PATIENCE = "20s"


@contextmanager
def client(scheduler: str) -> Iterator[Client]:
    """A client of the scheduler at this address, with the certificates that dask's configuration
    names for `tls://`. Raises `KernelinfoError`."""
    try:
        found = Client(scheduler, timeout=_PATIENCE)
    except Exception as error:  # of tornado, of ssl, of the configuration
        message = f"--scheduler {scheduler}: {error}; start one by `dask scheduler`"
        raise KernelinfoError(message) from None
    with found:
        yield found


def workers(client: Client) -> int:
    """The number of workers, at least one."""
    return len(client.scheduler_info(n_workers=-1)["workers"]) or 1


def outcomes(client: Client, request: Request, work: Sequence[Task]) -> Iterator[Done]:
    """The outcome of every task. If a worker ends, the files of its task are read again, each
    alone: dask also blames tasks that merely sat on that worker."""
    futures = dict(zip(client.map(read, work, request=request, pure=False), work, strict=True))
    killed: list[Task] = []
    for future in as_completed(futures):
        try:
            yield future.result()
        except KilledWorker:
            killed.append(futures[future])
        future.release()
    for unit in (unit for task in killed for unit in task.by_unit()):
        try:
            yield client.submit(read, unit, request=request, pure=False).result()
        except KilledWorker:
            yield given_up(unit, request)
