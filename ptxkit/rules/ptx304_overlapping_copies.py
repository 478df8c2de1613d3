"""PTX304: two copies that complete together write the same shared memory.

What it does
    Finds two `cp.async` of one thread in one group whose destinations overlap. A copy that ignores its source, or reads
    less than it writes, fills the rest with zeros, so it always writes its whole destination. It also finds two bulk
    copies of one thread that complete in one phase of an mbarrier, if the thread does not synchronize between them.

Why it matters
    Such copies are not ordered with each other: which of the two values remains is undefined.

Example
    cp.async.cg.shared.global [%r1], [%rd1], 16;
    cp.async.cg.shared.global [%r1], [%rd1+16], 16;
    cp.async.commit_group;

Use instead
    cp.async.cg.shared.global [%r1], [%rd1], 16;
    cp.async.cg.shared.global [%r1+16], [%rd1+16], 16;
    cp.async.commit_group;

ISA section
    "cp.async.commit_group", "cp.async", "cp.async.bulk". Catalogue: CA6.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator

from ptxkit.analysis.cluster.cluster_facts import may_poll_memory
from ptxkit.analysis.context.kernel_facts import KernelFacts, ScenarioFacts
from ptxkit.analysis.context.thread_view import ThreadView
from ptxkit.analysis.ir.interval_index import IntervalIndex
from ptxkit.analysis.ir.program import Program
from ptxkit.analysis.memory.unlocated_accesses import UnlocatedAccesses
from ptxkit.analysis.symexec.access_ranges import access_range, is_async_write, is_generic_write
from ptxkit.analysis.symexec.trace import UnknownCall
from ptxkit.analysis.sync.async_groups import AsyncCopy
from ptxkit.diagnostics.catalogue import ptx3xx
from ptxkit.isa.effects import Access, Barrier, MbarrierWait
from ptxkit.rules.model import Finding, Observation, OpenObligation, Rule
from ptxkit.rules.obligation_sites import both, either, is_a, sites_of, writes_shared
from ptxkit.rules.order_proofs import proves_order


def check(kernel: KernelFacts) -> Iterator[Observation | OpenObligation]:
    """Checks the copies of each thread's groups, and reports pairs that certainly share bytes."""
    for number, facts in enumerate(kernel.scenarios):
        for thread in facts.threads.values():
            yield from _check_thread(number, facts, thread)
        if not facts.has_unknown_call:
            for step in UnlocatedAccesses(facts, kernel.extents_of(facts)).overlapping_copies():
                yield OpenObligation(step, ptx3xx.COPIES_MAY_OVERLAP())


def _check_thread(number: int, facts: ScenarioFacts, thread: ThreadView) -> Iterator[Observation]:
    if thread.trace.has_unknown_call:
        return  # a called function may commit a group
    groups: dict[Hashable, IntervalIndex[AsyncCopy]] = defaultdict(IntervalIndex)
    for copy in thread.copies:
        touched, together = access_range(copy.event), _completed_together(copy)
        if together is None or touched is None:
            continue
        group = groups[together]
        is_new = True
        for earlier in group.overlapping(*touched):
            # An mbarrier that tracks the earlier copy may have signaled its completion.
            if earlier.track_position is None and not _may_observe_between(facts.program, thread, earlier, copy):
                exact = thread.trace.is_certain(copy.position)
                finding = _finding(facts.name_of(copy.event), earlier, copy)
                yield Observation((copy.event.step, earlier.event.step), number, exact, finding)
                is_new = is_new and not _covers_range(earlier, touched)
        if is_new:  # other overlapping copies overlap the earlier one as well
            group.add(*touched, copy)


def _completed_together(copy: AsyncCopy) -> Hashable | None:
    """Returns what copies share that complete together: a group, or a phase of an mbarrier; None for other accesses.

    No thread can have observed that one of them is complete when another one of them starts.
    """
    effect = copy.event.effect
    if copy.group == "cp.async":
        return ("group", copy.commit_position) if is_generic_write(copy.event) else None
    is_store = isinstance(effect, Access) and effect.kind == "write" and effect.multicast is None
    if not is_store or not is_async_write(copy.event) or copy.phase is None or not isinstance(copy.barrier, int):
        return None
    return (copy.barrier, copy.phase)


def _may_observe_between(program: Program, thread: ThreadView, earlier: AsyncCopy, copy: AsyncCopy) -> bool:
    """Returns whether a thread synchronizes between two bulk copies, so that the first one may be complete.

    In another iteration, other rules report the missing wait.
    """
    if copy.group == "cp.async":
        return False
    if earlier.event.step is copy.event.step or may_poll_memory(program):
        return True
    return any(
        isinstance(event, UnknownCall)
        or isinstance(event.effect, Barrier | MbarrierWait)
        or (isinstance(event.effect, Access) and event.effect.order != "weak")
        for event in thread.trace.events[earlier.position + 1 : copy.position]
    )


def _covers_range(copy: AsyncCopy, touched: tuple[int, int]) -> bool:
    """Returns whether a copy writes all bytes of a range."""
    own = access_range(copy.event)
    return own is not None and own[0] <= touched[0] and touched[1] <= own[1]


def _finding(name: str, earlier: AsyncCopy, copy: AsyncCopy) -> Finding:
    same = earlier.event.step is copy.event.step
    where = ptx3xx.IN_EARLIER_ROUND() if same else ptx3xx.AT_LABELED_LINE()
    words = ptx3xx.COPIES_OF_GROUP_OVERLAP if copy.group == "cp.async" else ptx3xx.COPIES_OF_PHASE_OVERLAP
    return Finding(
        primary=copy.event.step,
        message=words(variable=name, place=where),
        labels=() if same else ((earlier.event.step, ptx3xx.WRITES_SAME_BYTES()),),
        help=ptx3xx.GIVE_COPIES_OWN_BYTES(),
        properties={"group": copy.group},
    )


_COPY = both(is_a(Access, completion="cp.async"), writes_shared)

RULE = Rule(
    ptx3xx.OVERLAPPING_COPIES,
    check,
    asynchronous=True,
    sites=sites_of(either(_COPY, both(is_a(Access, proxy="async"), writes_shared))),
    prove=proves_order(_COPY, _COPY),
)
