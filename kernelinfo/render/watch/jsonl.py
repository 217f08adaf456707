"""One JSON object a look; watch-schema.json in this folder describes every key."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kernelinfo import __version__
from kernelinfo.compare.changes import Pair
from kernelinfo.kernel.report import Report
from kernelinfo.render import View
from kernelinfo.render.diff.rows import of_pair
from kernelinfo.render.json import as_json, picked
from kernelinfo.render.names import chosen_name
from kernelinfo.render.tables import json_lines
from kernelinfo.watch.nouns import PeakLine, WatchedKernel, WatchLook

SCHEMA = "kernelinfo/watch/1"


def render(look: WatchLook, view: View) -> Iterator[str]:
    document = {
        "schema": SCHEMA,
        "version": __version__,
        "look": look.number,
        "time": look.time.isoformat(timespec="milliseconds"),
        "build": look.build or None,
        "seconds": None if look.seconds is None else round(look.seconds, 3),
        "failure": look.failure or None,
        "kernels": [_kernel(one, view) for one in look.kernels],
        "gone": [picked(one, "symbol", "name", "target", "code_object") for one in look.gone],
        "problems": as_json(look.problems),
    }
    return json_lines([document])


def _kernel(one: WatchedKernel, view: View) -> dict[str, Any]:
    (row,) = Report((one.result,), ()).rows()
    return {
        "status": one.status,
        "previous": _moved(one.since_previous),
        "first": _moved(one.since_first),
        "row": row | {"Kernel_Name": chosen_name(one.result.kernel, view.names)},
        "findings": as_json(one.result.findings),
        "new": [finding.rule for finding in one.new_findings],
        "ended": [finding.rule for finding in one.ended_findings],
        "peak": _peak(one.peak),
    }


def _moved(pair: Pair | None) -> dict[str, Any] | None:
    """The numbers that moved; None without an earlier state or if none did."""
    return picked(of_pair(pair), "why", "moves") if pair and pair.moves else None


def _peak(line: PeakLine | None) -> dict[str, Any] | None:
    if line is None:
        return None
    at = line.peak.at
    return {
        "vector": line.peak.pressure.vector,
        "exact": line.exact,
        "source": as_json(at.source),
        **picked(at, "line", "address"),
        "instruction": line.peak.instruction,
        "text": line.text,
    }
