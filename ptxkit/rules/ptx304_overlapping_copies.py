"""PTX304: two copies that may be in flight together write the same shared memory.

What it does
    Finds two `cp.async` of one thread in one group whose destinations overlap. A copy that ignores its source, or reads
    less than it writes, fills the rest with zeros, so it always writes its whole destination. It also finds a bulk copy
    that starts before the completion of another one has been observed, of the same thread or of another one. Two
    `cp.async` in different groups are an open question unless a wait between them is proven.

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

from ptxkit.analysis.context.kernel_facts import KernelFacts, ScenarioFacts
from ptxkit.analysis.context.thread_view import ThreadView
from ptxkit.analysis.ir.interval_index import IntervalIndex
from ptxkit.analysis.memory.copy_overwrites import find_bulk_collisions
from ptxkit.analysis.memory.unlocated_accesses import unlocated_accesses
from ptxkit.analysis.symexec.access_ranges import access_range, is_generic_write
from ptxkit.analysis.symexec.trace import TraceEvent
from ptxkit.analysis.sync.async_groups import AsyncCopy
from ptxkit.diagnostics import MessageTemplate
from ptxkit.diagnostics.catalogue import ptx3xx
from ptxkit.isa.effects import Access
from ptxkit.rules.function_proofs import FunctionProofs
from ptxkit.rules.model import Evidence, Finding, Observation, OpenObligation, Rule
from ptxkit.rules.obligation_sites import Site, both, either, is_a, sites_of, writes_shared
from ptxkit.rules.order_proofs import prove_order


def check(kernel: KernelFacts) -> Iterator[Observation | OpenObligation]:
    """Checks the copies of each thread's groups, and reports pairs that certainly share bytes."""
    for number, facts in enumerate(kernel.scenarios):
        for thread in facts.threads.values():
            yield from _check_thread(number, facts, thread)
        for found in find_bulk_collisions(facts):
            key = (found.write.step, found.copy.event.step)
            words = _finding(facts.name_of(found.write), found.copy, found.write, ptx3xx.BULK_COPIES_OVERLAP)
            yield Observation(key, number, found.is_certain, None if found.is_safe else words)


def ask(kernel: KernelFacts) -> Iterator[OpenObligation]:
    """Yields the copies at unknown addresses that may overlap with others."""
    for unlocated in unlocated_accesses(kernel):
        for step in unlocated.overlapping_copies():
            yield OpenObligation(step, ptx3xx.COPIES_MAY_OVERLAP())


def _check_thread(number: int, facts: ScenarioFacts, thread: ThreadView) -> Iterator[Observation]:
    if thread.trace.has_unknown_call:
        return  # a called function may commit a group
    groups: dict[Hashable, IntervalIndex[AsyncCopy]] = defaultdict(IntervalIndex)
    for copy in thread.copies:
        touched = access_range(copy.event)
        if touched is None or copy.group != "cp.async" or not is_generic_write(copy.event):
            continue
        group = groups[copy.commit_position]
        is_new = True
        for earlier in group.overlapping(*touched):
            # An mbarrier that tracks the earlier copy may have signaled its completion.
            if earlier.track_position is None:
                exact = thread.trace.is_certain(copy.position)
                finding = _finding(facts.name_of(copy.event), earlier, copy.event, ptx3xx.COPIES_OF_GROUP_OVERLAP)
                yield Observation((copy.event.step, earlier.event.step), number, exact, finding)
                is_new = is_new and not _covers_range(earlier, touched)
        if is_new:  # other overlapping copies overlap the earlier one as well
            group.add(*touched, copy)


def _covers_range(copy: AsyncCopy, touched: tuple[int, int]) -> bool:
    """Returns whether a copy writes all bytes of a range."""
    own = access_range(copy.event)
    return own is not None and own[0] <= touched[0] and touched[1] <= own[1]


def _finding(name: str, earlier: AsyncCopy, event: TraceEvent, words: MessageTemplate) -> Finding:
    same = earlier.event.step is event.step
    repeated = ptx3xx.IN_EARLIER_ROUND if earlier.group == "cp.async" else ptx3xx.OF_OTHER_THREAD
    where = repeated() if same else ptx3xx.AT_LABELED_LINE()
    return Finding(
        primary=event.step,
        message=words(variable=name, place=where),
        labels=() if same else ((earlier.event.step, ptx3xx.WRITES_SAME_BYTES()),),
        help=ptx3xx.GIVE_COPIES_OWN_BYTES(),
        properties={"group": earlier.group},
        lacks=() if earlier.group == "cp.async" else ((earlier.event.step,),),
    )


_COPY = both(is_a(Access, completion="cp.async"), writes_shared)
_BULK_COPY = both(is_a(Access, proxy="async"), writes_shared)


def _prove(proofs: FunctionProofs, site: Site) -> Evidence | None:
    return prove_order(_COPY, _COPY, proofs, site) or prove_order(_BULK_COPY, _BULK_COPY, proofs, site)


RULE = Rule(
    ptx3xx.OVERLAPPING_COPIES,
    check,
    ask,
    asynchronous=True,
    sites=sites_of(either(_COPY, _BULK_COPY)),
    prove=_prove,
)
