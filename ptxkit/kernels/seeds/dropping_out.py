"""Leaving a barrier: a sum by halves, in which each half that has given its part away drops out.

What it shows. Threads that have no more work should not keep the others waiting, nor wait for them. A thread that
drops out arrives for the last time and lowers the count of all later phases, so a phase waits only for those that stay.

What it becomes. `mbarrier.arrive_drop` in the leaving half, and `mbarrier.arrive` with a wait for its token in the
staying one. The last arrival of a thread is still an arrival: what it wrote before is seen by those who wait. A
thread that left without it would be waited for endlessly (PTX504).

The twin in CUDA C++: `corpus/seeds/src/dropping_out.cu`, with `cuda::barrier::arrive_and_drop`.
"""

from __future__ import annotations

from ptxkit.build import Global, Kernel, f32
from ptxkit.kernels.seeds.tile_folding import THREADS, FloatArray


def dropping_out(*, debug: bool = False) -> Kernel:
    """The sum of the THREADS elements of each CTA, added by halves.

    Parameters: source, target: f32 arrays, THREADS elements and one for each CTA. Block: THREADS; grid: any.
    """
    k = Kernel("dropping_out", threads=THREADS, debug=debug)
    source, target = k.param(Global[f32], "source"), k.param(Global[f32], "target")
    parts, meeting = k.shared(f32, THREADS, name="parts"), k.mbarrier("meeting")
    thread = k.tid.x
    with k.thread_is(0):
        meeting.init(THREADS)
    k.cta_sync()
    total = source[k.ctaid.x * THREADS + thread].load()
    half = THREADS // 2
    while half:
        with k.if_(thread >= half):
            parts[thread].store(total)
            meeting.arrive_drop()
            k.ret()
        meeting.wait(token=meeting.arrive())
        total = total + parts[thread + half].load()
        half //= 2
    target[k.ctaid.x].store(total)
    return k


def sum_by_halves(source: FloatArray) -> FloatArray:
    """The same of whole CTAs."""
    left = source.reshape(-1, THREADS)
    while left.shape[1] > 1:
        half = left.shape[1] // 2
        left = left[:, :half] + left[:, half:]
    return left.ravel()
