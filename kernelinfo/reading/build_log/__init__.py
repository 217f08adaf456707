"""Kernels in the output of `-Rpass-analysis=kernel-resource-usage`.

A log holds remarks; an optimization record holds the same numbers as YAML. Neither names a target.
Source: llvm/lib/Target/AMDGPU/AMDGPUAsmPrinter.cpp, `emitResourceUsageRemarks`.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator

from kernelinfo.errors import TooManyKernelsError
from kernelinfo.reading.budget import BY_DEFAULT, UNBOUNDED, KernelBudget
from kernelinfo.reading.build_log import log, records
from kernelinfo.reading.build_log.blocks import Blocks
from kernelinfo.reading.data import Lines, Text, find_all
from kernelinfo.reading.facts import Features, KernelFacts, Module, ReadWarnings
from kernelinfo.reading.messages import say
from kernelinfo.reading.target_id import parse_target_id

_RECORD = rb"(?m)^Pass: +kernel-resource-usage\s"
_PASS = b"kernel-resource-usage"
_FAILED = rb"(?m)^FAILED: |(?:^|: |m)(?:fatal )?error: |^g?make(?:\[\d+\])?: \*\*\* "
_FAILURES = (b"FAILED: ", b"error: ", b": *** ")
"""Every line that `_FAILED` matches holds one of these, which are found ten times as fast."""
_FUNCTIONS = say("log-of-functions")


def accepts(text: Text) -> bool:
    """True if a text holds a compiler's resource usage, or too many lines that look like it."""
    if _holds_record(text):
        return True
    try:
        named = text.find(b"Function Name: ") >= 0
        return named and any(log.statements(text, KernelBudget(BY_DEFAULT.kernels)))
    except TooManyKernelsError:
        return True


def read(
    text: Text, *, arch: str | None = None, budget: KernelBudget = UNBOUNDED
) -> Iterator[Module]:
    """Modules of a log or record: the first kernel of each name, then the second of each, and so
    on.

    A build for several targets, or a template in several units, gives several kernels of one name.
    `arch` is the target of the build. A statement that cannot be read becomes a warning.
    """
    warnings = ReadWarnings()
    blocks = Blocks(warnings, budget)
    try:
        for statement in log.statements(text, budget):
            blocks.take(statement)
        if _holds_record(text):
            for statement in records.statements(text, warnings, budget):
                blocks.take(statement)
    except TooManyKernelsError as error:
        warnings.add(error.message)
    may_have_failed = any(text.find(mark) >= 0 for mark in _FAILURES)
    if may_have_failed and (failed := next(find_all(re.compile(_FAILED), text), None)):
        line = Lines(text).number(failed[0])
        warnings.add(say("build-failed"), line)
    target_id = parse_target_id(arch or "")
    target = target_id.hardware if target_id else None
    modules = _by_occurrence(blocks.kernels(target))
    for number, kernels in enumerate(modules or [[]], 1):
        yield Module(
            kind="build-log",
            target=target_id.processor if target_id else None,
            features=target_id.features(None) if target_id else Features(),
            code_object_version=None,
            stamps=(),
            kernels=tuple(kernels),
            warnings=warnings.take(),
            notes=(_FUNCTIONS,) if blocks.are_all_functions else (),
            part=f"occurrence {number}" if number > 1 else None,
        )


def _holds_record(text: Text) -> bool:
    """True if the text holds a document of an optimization record on resource usage."""
    return text.find(_PASS) >= 0 and any(find_all(re.compile(_RECORD), text))


def _by_occurrence(kernels: Iterator[KernelFacts]) -> list[list[KernelFacts]]:
    """Lists of kernels: the first kernel of each name, the second of each, and so on."""
    seen: Counter[str] = Counter()
    found = defaultdict[int, list[KernelFacts]](list)
    for kernel in kernels:
        found[seen[kernel.symbol]].append(kernel)
        seen[kernel.symbol] += 1
    return list(found.values())
