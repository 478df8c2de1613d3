"""PTX907: a fence, a barrier or an arrival has no effect in the kernel (a note, reported with `--notes`).

What it does
    Finds `fence.mbarrier_init` in a kernel without any instruction that concerns other CTAs of its cluster, or without
    relaxed arrivals and flags that such a fence could precede,
    `bar.warp.sync` and barriers of the CTA that precede all accesses and all other synchronization on all paths,
    barriers of all threads that order nothing which those before and after them do not order, `wgmma.fence` if no
    instruction accesses the registers since the last fence or multiplication on each path, and
    `cp.async.mbarrier.arrive` without `.noinc` if the thread tracks the same copies again before it synchronizes.
    It also finds waits, commits and barriers that nothing depends on: without one, later waits complete the same
    operations in time, or the order of all accesses to the same bytes is proven.

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

import itertools
from collections.abc import Iterator

from ptxkit.analysis.context.kernel_facts import KernelFacts
from ptxkit.analysis.mbarrier.repeated_tracking import find_repeated_tracking
from ptxkit.analysis.memory.ineffective_sync import find_first_barriers, find_redundant_init_fences
from ptxkit.analysis.memory.redundant_barriers import RedundantBarrier, find_redundant_barriers
from ptxkit.analysis.memory.redundant_sync import find_redundant_sync
from ptxkit.analysis.redundancy.empty_groups import find_commits_of_nothing, find_waits_for_nothing
from ptxkit.analysis.redundancy.needless_sync import find_needless_sync
from ptxkit.analysis.redundancy.order_without import NeedlessSync
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
    pairs = list(find_redundant_sync(kernel))  # which PTX903 reports
    repeated = [each.redundant for each in pairs]
    known = [*first, *repeated, *(each.other for each in pairs)]
    for each in find_redundant_barriers(kernel.program, (*first, *repeated)):
        known.append(each.barrier)
        yield Observation((each.barrier, each.instead), 0, True, _barrier_finding(each))
    known += itertools.chain(find_waits_for_nothing(kernel), *find_commits_of_nothing(kernel))
    # Under `strict`, the threads that write execute a proxy fence, which the proofs do not examine.
    for needless in find_needless_sync(kernel.program, known) if kernel.policy == "isa" else ():
        yield Observation((needless.step, None), 0, True, _needless_finding(needless))
    for step, following in find_repeated_tracking(kernel.program):
        labels = ((following, ptx9xx.TRACKS_AS_WELL()),)
        finding = Finding(step, ptx9xx.COPIES_TRACKED_AGAIN(), labels, help=ptx9xx.REMOVE_INEFFECTIVE())
        yield Observation((step, following), 0, True, finding)


def _barrier_finding(found: RedundantBarrier) -> Finding:
    if found.instead is None:
        return Finding(found.barrier, ptx9xx.OTHERS_ORDER_THE_SAME(), help=ptx9xx.REMOVE_INEFFECTIVE())
    labels = ((found.instead, ptx9xx.STAYS_INSTEAD()),)
    return Finding(found.barrier, ptx9xx.OTHER_ORDERS_THE_SAME(), labels, help=ptx9xx.REMOVE_EITHER())


def _needless_finding(found: NeedlessSync) -> Finding:
    template = ptx9xx.COMPLETED_IN_TIME if found.in_time else ptx9xx.ORDERED_WITHOUT
    label = ptx9xx.STAYS_INSTEAD() if found.kind == "barrier" else ptx9xx.COMPLETES_THE_SAME()
    labels = tuple((step, label) for step in found.instead)
    return Finding(found.step, template(kind=found.kind), labels, help=ptx9xx.REMOVE_INEFFECTIVE())


RULE = Rule(ptx9xx.INEFFECTIVE_SYNC, check)
