"""Outcomes of a scan's tasks, run by the workers of a named dask scheduler."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from distributed import Client, as_completed
from distributed.scheduler import KilledWorker

from kernelinfo.errors import KernelinfoError, OptionError
from kernelinfo.fleet.listing import ScanTask
from kernelinfo.fleet.messages import say
from kernelinfo.fleet.worker import ScanRequest, read
from kernelinfo.opening import bound

_PATIENCE = "20s"


def client(scheduler: str) -> Client:
    """A client for a `with` block, connected to the dask scheduler at an address such as
    `tls://head:8786`.

    TLS uses the certificates that dask's configuration names. Raises `KernelinfoError` if the
    scheduler does not answer within 20 s, or if this process may use files in one folder only.
    """
    if bound():
        raise OptionError(say("scheduler-bound"))
    try:
        return Client(scheduler, timeout=_PATIENCE)
    except Exception as error:  # tornado, ssl and the configuration raise their own
        message = say("scheduler-unreachable", address=scheduler, error=error)
        raise KernelinfoError(message) from None


def workers(client: Client) -> int:
    """Number of workers; 1 if the scheduler has none yet."""
    return len(client.scheduler_info(n_workers=-1)["workers"]) or 1


def outcomes(client: Client, request: ScanRequest, work: Sequence[ScanTask]) -> Iterator[ScanTask]:
    """The outcome of each task, as it ends.

    If a worker dies, its tasks are cut into units and each unit runs alone: dask also blames tasks
    that were only queued on that worker. A unit that kills its worker again is given up.
    """
    futures = dict(zip(client.map(read, work, request=request, pure=False), work, strict=True))
    killed: list[ScanTask] = []
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
            yield request.given_up(unit)
