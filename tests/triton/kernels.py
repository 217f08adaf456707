"""Kernels for Triton's own compiler, which evaluates annotations as part of the kernel."""
# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget

POINTERS, NUMBERS = ("a_ptr", "b_ptr", "c_ptr"), ("M", "N", "K", "stride_a", "stride_b", "stride_c")
SIGNATURE = dict.fromkeys(POINTERS, "*fp16:16S") | dict.fromkeys(NUMBERS, "i32:16")
TARGETS = {
    name: GPUTarget("hip", name, 64 if name.startswith("gfx9") else 32)
    for name in ("gfx942", "gfx950", "gfx1100", "gfx1201")
}


def matmul(
    a_ptr,
    b_ptr,
    c_ptr,
    M,
    N,
    K,
    stride_a,
    stride_b,
    stride_c,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr = 32,
):
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    depth = tl.arange(0, BLOCK_K)
    a = a_ptr + rows[:, None] * stride_a + depth[None, :]
    b = b_ptr + depth[:, None] * stride_b + columns[None, :]
    sums = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for _ in range(0, K, BLOCK_K):
        sums = tl.dot(tl.load(a), tl.load(b), sums)
        a += BLOCK_K
        b += BLOCK_K * stride_b
    inside = (rows[:, None] < M) & (columns[None, :] < N)
    c = c_ptr + rows[:, None] * stride_c + columns[None, :]
    tl.store(c, sums.to(tl.float16), mask=inside)


def strict(x_ptr, n, BLOCK: tl.constexpr):
    tl.static_assert(BLOCK <= 256, "blocks of at most 256")
    places = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + places, tl.load(x_ptr + places, mask=places < n), mask=places < n)


MATMUL, STRICT = triton.jit(matmul), triton.jit(strict)
