"""A copy of memory at the speed of the chip: the bulk copy engine in and out, one thread for each piece.

The idea. A copy needs no registers and no arithmetic: the engine brings a piece of global memory to shared memory and
writes it back when one thread starts the copy. Each CTA copies one piece and ends. That beats a persistent loop: the
hardware starts CTAs in order, so that all multiprocessors work on one narrow front of addresses, which memory likes;
loops that run freely drift apart.

Two hints help further. What is read is kept (`evict_last`) until it is written, and what was written goes first
(`evict_first`), as nothing reads it again here.

The rules that make it right:

* The thread that initialises the mbarrier is the only one that uses it, so no barrier is needed.
* After the wait for the phase the bytes are there; the copy out reads them through the same proxy, so no proxy
  fence is needed either.
* The CTA may end only when its shared memory was read (`wait_group.read`).

Source: PTX ISA, "Data Movement and Conversion Instructions: cp.async.bulk", "... createpolicy".
"""

from __future__ import annotations

from ptxkit.build import Global, Kernel, b8, u32, u64

PIECE = 2048
"""Bytes that a CTA copies."""
UNIT = 16
"""Bytes of which the engine copies multiples."""


def bulk_copy(*, debug: bool = False) -> Kernel:
    """`target[:] = source[:]` for a number of bytes that is a multiple of UNIT, below 2**42.

    Parameters: source, target: b8 arrays, aligned to 16 bytes; bytes: u64. Block: 32; grid: `pieces(bytes)`.
    """
    k = Kernel("bulk_copy", threads=32, target="sm_90", debug=debug)
    source = k.param(Global[b8], "source", align=UNIT)
    target = k.param(Global[b8], "target", align=UNIT)
    size = k.param(u64, "bytes")
    piece, there = k.shared(b8, PIECE, align=128, name="piece"), k.mbarrier("there")

    with k.thread_is(0):
        keep = k.createpolicy_fractional_L2_evict_last(1.0)
        drop = k.createpolicy_fractional_L2_evict_first(1.0)
        begin = k.ctaid.x.convert(u64) * PIECE
        length = (k.min(size - begin, PIECE)).convert(u32) & -UNIT
        there.init(1)
        there.arrive_expect_tx(length)
        k.cp_async_bulk_L2_cache_hint(piece, source[begin], length, there, keep)
        there.wait(0)
        k.cp_async_bulk_L2_cache_hint(target[begin], piece, length, drop)
        k.tma_store_arrive()
        k.tma_store_wait()
    return k


def pieces(size: int) -> int:
    """The CTAs that a copy of so many bytes takes."""
    return -(-size // PIECE)
