"""Real compiler output for the rules' tests, and what a rule says of it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from kernelinfo import Kernel, Options, Result, analyse
from kernelinfo.kernel import Finding
from kernelinfo.rules import Selection

from ..conftest import CORPUS, FIXTURES

TUTORIAL = "occupancy-hip-amdgcn-amd-amdhsa-gfx90a.s"


@cache
def results(
    name: str, rule: str, workgroup_size: int | None = None, dynamic_lds: int | None = None
) -> tuple[Result, ...]:
    """All kernels of a fixture, or of a file of the corpus, judged by one rule alone."""
    path = FIXTURES / "assembly" / name
    options = Options(
        workgroup_size=workgroup_size,
        dynamic_lds_bytes=dynamic_lds,
        selection=Selection(select=(rule,)),
    )
    paths = [str(path if path.exists() else CORPUS / name)]
    return tuple(item for item in analyse(paths, options) if isinstance(item, Result))


def messages_of(
    name: str,
    rule: str,
    kernel: str,
    workgroup_size: int | None = None,
    dynamic_lds: int | None = None,
) -> list[str]:
    """The messages on the kernel whose name begins so."""
    found = [
        result
        for result in results(name, rule, workgroup_size, dynamic_lds)
        if result.kernel.name.startswith(kernel)
    ]
    assert found, kernel
    return [finding.message for result in found for finding in result.findings]


def of_corpus(pattern: str, rule: str) -> Iterator[tuple[Kernel, Finding]]:
    """(kernel, finding) of a rule over the matching files of the corpus."""
    for path in sorted(CORPUS.glob(pattern)):
        for result in results(str(path.relative_to(CORPUS)), rule):
            for finding in result.findings:
                yield result.kernel, finding
