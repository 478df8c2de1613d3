"""A memory copy at the full memory bandwidth: bulk copies in and out, with one thread for each piece.

Algorithm. A copy needs no registers and no arithmetic: bulk copies move a piece of global memory to shared memory and
back, and one thread starts them. Each CTA copies one piece and exits. This is faster than a persistent loop: the
hardware starts CTAs in order, so that all multiprocessors access a narrow range of addresses at the same time, which
suits the memory system; the CTAs of a persistent loop drift apart.

Two cache hints improve it further. Lines that are read are kept (`evict_last`) until they are written, and lines that
are written are evicted first (`evict_first`), because the kernel does not read them again.

The rules that make the kernel correct:

* The thread that initializes the mbarrier is the only one that uses it, so no barrier is needed.
* After the wait for the phase the bytes are in shared memory; the copy out reads them through the same proxy, so no
  proxy fence is needed either.
* The CTA may exit only after its shared memory has been read (`wait_group.read`).

Source: PTX ISA, "Data Movement and Conversion Instructions: cp.async.bulk", "... createpolicy".
"""

from __future__ import annotations

from ptxkit.build import Global, Kernel, b8, u32, u64

PIECE = 2048
"""The bytes that a CTA copies."""
UNIT = 16
"""The bytes of which bulk copies move multiples."""


def bulk_copy(*, debug: bool = False) -> Kernel:
    """Returns a kernel that computes `target[:] = source[:]` for a multiple of UNIT bytes below 2**42.

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
    """Returns the number of CTAs for a copy of `size` bytes."""
    return -(-size // PIECE)
