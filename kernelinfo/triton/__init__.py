"""Kernels that Triton compiles, before any of them runs; Triton 3.4 or newer, no GPU needed.

>>> import kernelinfo.triton
>>> kernelinfo.triton.of(compiled).limiters
>>> with kernelinfo.triton.collect() as collected:
...     model(inputs)
>>> collected.report.max("vgpr_spills")
>>> pruner = kernelinfo.triton.prune(
...     lambda: matmul, target=target, signature=signature, at_least_waves=2
... )
"""

from kernelinfo.triton.compiled import Collected as Collected
from kernelinfo.triton.compiled import collect as collect
from kernelinfo.triton.compiled import of as of
from kernelinfo.triton.pruning import prune as prune

__all__ = ["Collected", "collect", "of", "prune"]
