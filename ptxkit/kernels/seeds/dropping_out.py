"""Threads that leave a barrier: a pairwise sum, in which half of the threads drop out in each step.

Purpose. Threads without further work should neither delay the others nor wait for them. A thread that drops out arrives
for the last time and lowers the count of all later phases, so that a phase waits only for the remaining threads.

Generated PTX. `mbarrier.arrive_drop` in the threads that leave, and `mbarrier.arrive` with a wait for its token in
those that remain. The last arrival of a thread is still an arrival: its earlier writes are visible to the waiting
threads. If a thread left without it, the others would wait endlessly (PTX504).

The equivalent in CUDA C++: `corpus/seeds/src/dropping_out.cu`, with `cuda::barrier::arrive_and_drop`.
"""

from __future__ import annotations

from ptxkit.build import Global, Kernel, f32
from ptxkit.kernels.seeds.tile_folding import THREADS, FloatArray


def dropping_out(*, debug: bool = False) -> Kernel:
    """Returns a kernel that computes the pairwise sum of the THREADS elements of each CTA.

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
    """Returns the expected sums for whole CTAs."""
    left = source.reshape(-1, THREADS)
    while left.shape[1] > 1:
        half = left.shape[1] // 2
        left = left[:, :half] + left[:, half:]
    return left.ravel()
