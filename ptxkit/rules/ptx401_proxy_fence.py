"""PTX401: a generic write is read through the async proxy without a `fence.proxy.async` between them.

What it does
    Finds shared memory that is written through the generic proxy (by a store, an atomic, a matrix store or a completed
    `cp.async`) and then read through the async proxy (by a bulk copy, a bulk reduction or a matrix instruction),
    without a `fence.proxy.async` between the two: in the writing thread, after the write and before its release, or in
    the issuing thread, after its acquire. If the unidirectional fences `generic.release` and `generic.acquire` are
    used, both are required.

    A fence in either place suffices under both policies: the ISA and the mixed-proxy model ("Mixed-proxy extensions for
    the NVIDIA PTX memory consistency model", ISCA 2022) require a proxy fence anywhere on the causality path from the
    write to the read, in the CTA of the access that is not generic.

Why it matters
    Barriers order threads, not proxies. Without a fence, the async proxy may read the bytes from before the write. The
    result is stale data, rarely and without any error.

Example
    st.shared.b32 [%r1], %r2;
    bar.sync 0;
    @%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r3], 4096;

Use instead
    st.shared.b32 [%r1], %r2;
    fence.proxy.async.shared::cta;
    bar.sync 0;
    @%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r3], 4096;

ISA section
    "Async Proxy", "membar / fence", "Causality Order". Catalogue: PX1, PX6, PX7, PX9, PX11, PX12, PX15.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.context.barrier_placement import OrderingBarrier
from ptxkit.analysis.context.kernel_facts import KernelFacts
from ptxkit.analysis.context.races import Race
from ptxkit.analysis.context.races_on_all_paths import RacesOnAllPaths
from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.memory.proxy_order import (
    MissingFence,
    MissingOrder,
    ProxyPair,
    find_proxy_pairs,
    find_unordered_reads,
)
from ptxkit.analysis.memory.unlocated_accesses import unlocated_accesses
from ptxkit.diagnostics.catalogue import fix_titles, ptx4xx
from ptxkit.fast_dataclasses import replace
from ptxkit.isa.effects import MbarrierWait
from ptxkit.rules.function_proofs import FunctionProofs
from ptxkit.rules.model import (
    Evidence,
    Finding,
    FixCandidate,
    Observation,
    OpenObligation,
    Rule,
    StepEdit,
    add_statement,
)
from ptxkit.rules.obligation_sites import Site, both, is_async_proxy, negation, reads_shared, sites_of, writes_shared
from ptxkit.rules.order_proofs import prove_fenced
from ptxkit.rules.partner_proofs import prove_apart

_FENCE = "fence.proxy.async.shared::cta;"


def check(kernel: KernelFacts) -> Iterator[Observation | OpenObligation]:
    """Checks each pair of a generic write and an async read that certainly overlap."""
    for number, facts in enumerate(kernel.scenarios):
        for pair in find_proxy_pairs(facts):
            missing = pair.check_order()
            if missing is False:
                yield OpenObligation(pair.read.step, ptx4xx.NO_FENCE_PROVEN(), others=(pair.write.step,))
            elif missing is not None:
                yield Observation(
                    (pair.read.step, pair.write.step), number, pair.is_proven(missing), _finding_of(pair, missing)
                )
    for number, race, missing_order in find_unordered_reads(kernel):
        yield _check_race(kernel, number, race, missing_order)


def ask(kernel: KernelFacts) -> Iterator[OpenObligation]:
    """Yields the reads at unknown addresses that may be of bytes without a fence after their write."""
    for unlocated in unlocated_accesses(kernel):
        for step in unlocated.unfenced_reads():
            yield OpenObligation(step, ptx4xx.READ_MAY_BE_UNFENCED())


def _check_race(kernel: KernelFacts, number: int, race: Race, missing: MissingOrder) -> Observation | OpenObligation:
    """Returns the result for a write and a read that nothing orders, in threads of two warps or of one."""
    facts = kernel.scenarios[number]
    read, write = race.read.event.step, race.write.event.step
    launch = facts.scenario.launch
    if not (launch.is_exact or launch.is_limit):
        return OpenObligation(read, ptx4xx.READER_MAY_BE_IN_ONE_WARP(), "block")
    finding = _unordered_finding(read, write, missing.fence, facts.name_of(race.read.event), missing.barrier)
    is_certain = kernel.analysis(RacesOnAllPaths).is_certain(race, facts.scenario)
    return Observation((read, write), number, is_certain, finding)


def _finding_of(pair: ProxyPair, missing: MissingFence | MissingOrder | bool) -> Finding | None:
    read, write, name = pair.read.step, pair.write.step, pair.facts.name_of(pair.read)
    match missing:
        case MissingOrder(fence=fence, barrier=barrier):
            return _unordered_finding(read, write, fence, name, barrier)
        case MissingFence(sync=sync, since=since, release_half=released, acquire_half=acquired):
            return _with_missing_half(_finding(read, write, sync, since, name), released, acquired)
    return None


def _with_missing_half(finding: Finding, released: Step | None, acquired: Step | None) -> Finding:
    """Returns the finding for a pair of one-way fences of which one is missing."""
    there = released or acquired
    if there is None:
        return finding
    if released is not None:
        missing, where = "acquire.sync_restrict::shared::cluster.cluster", ptx4xx.BEFORE_READ_IN_READER()
    else:
        missing, where = "release.sync_restrict::shared::cta.cluster", ptx4xx.AFTER_WRITE_IN_WRITERS()
    return replace(
        finding,
        labels=(*finding.labels[:1], (there, ptx4xx.HALF_OF_FENCE())),
        help=ptx4xx.ADD_ONE_WAY_FENCE(semantics=missing, place=where),
        group_key=there,
        fixes=(_one_way_fence_fix(f"fence.proxy.async::generic.{missing};", finding, released is not None),),
    )


def _one_way_fence_fix(fence: str, finding: Finding, in_reader: bool) -> FixCandidate:
    """Returns the fix that inserts a one-way fence, before the read or after the write."""
    write = finding.labels[0][0]
    return add_statement(StepEdit(finding.primary, fence) if in_reader else StepEdit(write, fence, "after"))


def _unordered_finding(read: Step, write: Step, fence: Step | None, name: str, barrier: OrderingBarrier) -> Finding:
    """Returns the finding for a write and a read that nothing orders.

    fence: the fence of the writers, which orders proxies but no threads; None if they have none. barrier: the missing
    barrier.
    """
    has_fence = fence is not None and write.start < fence.start < read.start
    after, line = (fence, ptx4xx.FENCE_AT_LINE()) if fence is not None and has_fence else (write, ptx4xx.THE_WRITE())
    both: tuple[FixCandidate, ...] = ()
    with_barrier: tuple[FixCandidate, ...] = ()
    if barrier.text is None:
        own_fence = "" if has_fence else ptx4xx.FENCE_BEFORE_ARRIVAL(fence=_FENCE)
        fix = ptx4xx.ORDER_BY_MBARRIER(after=line, fence=own_fence)
    else:
        places = ptx4xx.AFTER_AND_BEFORE(after=line) if barrier.is_split else ptx4xx.BETWEEN(after=line)
        fix = (
            ptx4xx.ADD_BARRIER(barrier=barrier.text, place=places)
            if has_fence
            else ptx4xx.ADD_FENCE_AND_BARRIER(fence=_FENCE, barrier=barrier.text, place=places)
        )
        second = (StepEdit(read, barrier.text),) if barrier.is_split else ()
        fenced = StepEdit(write, f"{_FENCE}\n{barrier.text}", "after")
        both = (FixCandidate(fix_titles.ADD_FENCE_AND_BARRIER(), (fenced, *second), safe=False),)
        with_barrier = (
            FixCandidate(fix_titles.ADD_BARRIER(), (StepEdit(after, barrier.text, "after"), *second), safe=False),
        )
    return Finding(
        primary=read,
        message=ptx4xx.UNORDERED_ASYNC_READ(variable=name),
        labels=(
            (write, ptx4xx.GENERIC_WRITE_BY_ALL()),
            *(((after, ptx4xx.ORDERS_PROXIES_ONLY()),) if has_fence else ()),
        ),
        help=fix,
        properties={"space": "shared::cta"},
        group_key=write,
        fixes=(*(with_barrier if has_fence else ()), *both),
    )


def _finding(read: Step, write: Step, sync: Step | None, since: Step, name: str) -> Finding:
    between = ((sync, ptx4xx.ORDERS_THREADS_ONLY()),) if sync is not None and sync is not read else ()
    place = ptx4xx.BEFORE_BARRIER() if between else ptx4xx.BEFORE_READ()
    if sync is not None and any(isinstance(effect, MbarrierWait) for effect in sync.effects):
        place = ptx4xx.BEFORE_ARRIVAL()
    return Finding(
        primary=read,
        message=ptx4xx.ASYNC_READ_WITHOUT_FENCE(variable=name),
        labels=((write, ptx4xx.GENERIC_WRITE()), *between),
        help=ptx4xx.ADD_PROXY_FENCE(place=place),
        properties={"space": "shared::cta"},
        group_key=between[0] if between else since,
        fixes=tuple(
            add_statement(change)
            for change in (
                *(StepEdit(step, _FENCE) for step, _ in between),
                StepEdit(write, _FENCE, "after"),
                StepEdit(read, _FENCE),
            )
        ),
    )


_ASYNC_READ = both(reads_shared, is_async_proxy)
_GENERIC_WRITE = both(writes_shared, negation(is_async_proxy))


def _prove(proofs: FunctionProofs, site: Site) -> Evidence | None:
    """Proves that the writes of other proxies are of other bytes, or fenced."""
    return prove_apart(_ASYNC_READ, _GENERIC_WRITE, proofs, site) or prove_fenced(
        _ASYNC_READ, _GENERIC_WRITE, proofs, site
    )


RULE = Rule(
    ptx4xx.MISSING_PROXY_FENCE,
    check,
    ask,
    asynchronous=True,
    sites=sites_of(_ASYNC_READ, _GENERIC_WRITE),
    prove=_prove,
)
