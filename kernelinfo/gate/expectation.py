"""The least that a run must find, so that a gate that read nothing cannot pass."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kernelinfo.gate.config import Configuration
from kernelinfo.kernel import Report, Result
from kernelinfo.reading.blob import Problem


def judgeable(report: Report, configuration: Configuration) -> tuple[Result, ...]:
    """The kernels of the targets that the configuration asks for."""
    wanted = configuration.arch
    return tuple(r for r in report.results if not wanted or r.kernel.code_object.target in wanted)


def too_few(
    report: Report, found: Sequence[Result], configuration: Configuration
) -> Iterator[Problem]:
    """A `Problem` if fewer kernels were found than the configuration expects of a full run."""
    location, least = str(configuration.file or "kernelinfo"), configuration.min_kernels
    if report.results and not found:
        targets = " or ".join(configuration.arch)
        yield Problem(location, f"none of {len(report.results)} kernels is for {targets}; see arch")
    elif len(found) < least and (found or not report.problems):
        message = f"{len(found)} kernels found, at least {least} expected; see expect.min-kernels"
        yield Problem(location, message)
