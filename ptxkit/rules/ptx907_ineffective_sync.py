"""PTX907: a fence, a barrier or an arrival has no effect in the kernel (a note, reported with `--notes`).

What it does
    Finds `fence.mbarrier_init` in a kernel without any instruction that concerns other CTAs of its cluster, or without
    relaxed arrivals and flags that such a fence could precede,
    `bar.warp.sync` and barriers of the CTA that precede all accesses and all other synchronization on all paths,
    barriers of all threads that order nothing which those before and after them do not order, `wgmma.fence` if no
    instruction accesses the registers since the last fence or multiplication on each path, and
    `cp.async.mbarrier.arrive` without `.noinc` if the thread tracks the same copies again before it synchronizes.

Why it matters
    `fence.mbarrier_init` makes an initialization visible to other CTAs; threads of the same CTA learn of it by a
    barrier. A barrier orders accesses; the instructions after it need no barrier to be executed together.

Example
    @%p1 mbarrier.init.shared::cta.b64 [%r5], 1;
    @%p1 fence.mbarrier_init.release.cluster;
    bar.sync 0;

Use instead
    @%p1 mbarrier.init.shared::cta.b64 [%r5], 1;
    bar.sync 0;

ISA section
    "membar / fence", "bar.warp.sync", "bar, barrier", "wgmma.fence", "cp.async.mbarrier.arrive".
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.context.kernel_facts import KernelFacts
from ptxkit.analysis.mbarrier.repeated_tracking import find_repeated_tracking
from ptxkit.analysis.memory.ineffective_sync import find_first_barriers, find_redundant_init_fences
from ptxkit.analysis.memory.redundant_barriers import RedundantBarrier, find_redundant_barriers
from ptxkit.analysis.memory.redundant_sync import find_redundant_sync
from ptxkit.analysis.registers.redundant_register_fences import find_redundant_register_fences
from ptxkit.diagnostics.catalogue import ptx9xx
from ptxkit.rules.model import Finding, Observation, Rule


def check(kernel: KernelFacts) -> Iterator[Observation]:
    """Checks fences of initializations and registers, barriers, and arrivals that track copies, on all paths."""
    found = [(step, ptx9xx.NO_OTHER_CTA()) for step in find_redundant_init_fences(kernel.program)]
    first = list(find_first_barriers(kernel.program))
    found += [(step, ptx9xx.NOTHING_TO_ORDER()) for step in first]
    found += [(step, ptx9xx.NO_REGISTER_ACCESS()) for step in find_redundant_register_fences(kernel.program)]
    for step, message in found:
        yield Observation((step, None), 0, True, Finding(step, message, help=ptx9xx.REMOVE_INEFFECTIVE()))
    repeated = [each.redundant for each in find_redundant_sync(kernel)]  # which PTX903 reports
    for each in find_redundant_barriers(kernel.program, (*first, *repeated)):
        yield Observation((each.barrier, each.instead), 0, True, _barrier_finding(each))
    for step, following in find_repeated_tracking(kernel.program):
        labels = ((following, ptx9xx.TRACKS_AS_WELL()),)
        finding = Finding(step, ptx9xx.COPIES_TRACKED_AGAIN(), labels, help=ptx9xx.REMOVE_INEFFECTIVE())
        yield Observation((step, following), 0, True, finding)


def _barrier_finding(found: RedundantBarrier) -> Finding:
    if found.instead is None:
        return Finding(found.barrier, ptx9xx.OTHERS_ORDER_THE_SAME(), help=ptx9xx.REMOVE_INEFFECTIVE())
    labels = ((found.instead, ptx9xx.STAYS_INSTEAD()),)
    return Finding(found.barrier, ptx9xx.OTHER_ORDERS_THE_SAME(), labels, help=ptx9xx.REMOVE_EITHER())


RULE = Rule(ptx9xx.INEFFECTIVE_SYNC, check, on_request=True)
