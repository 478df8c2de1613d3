"""PTX611: the shared memory of another CTA is accessed before that CTA is known to have started.

What it does
    Finds accesses to the shared memory of another CTA of the cluster, and operations on its mbarriers, that no cluster
    barrier precedes. It also finds operations on a remote mbarrier whose initialization is not published to the
    cluster: the arrival at the cluster barrier is relaxed, and no `fence.mbarrier_init` precedes it.

    The question is left open where data chooses the CTA, and where the kernel uses results of strong loads or atomics,
    which may show that the CTA has started.

Why it matters
    The shared memory of a CTA exists only after the CTA has started. An earlier store or arrival is lost or faults; an
    arrival before the initialization is lost, and the kernel hangs.

Example
    mapa.shared::cluster.u32 %r8, %r9, %r10;
    st.shared::cluster.u32 [%r8], %r11;

Use instead
    barrier.cluster.arrive.release.aligned;
    barrier.cluster.wait.acquire.aligned;
    mapa.shared::cluster.u32 %r8, %r9, %r10;
    st.shared::cluster.u32 [%r8], %r11;

ISA section
    "Cluster of Cooperative Thread Arrays", "barrier.cluster", "membar / fence". Catalogue: CL1, CL4, MB5.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.cluster.cluster_facts import (
    RemoteAccess,
    cluster_barrier_arrivals,
    find_accesses_of_unknown_ctas,
    find_remote_accesses,
    find_signaled_mbarriers,
    has_observed_cluster_start,
    has_observed_signal,
    is_init_ordered_by_cluster_barrier,
    last_arrival_before,
    may_poll_memory,
    scenario_of_rank,
)
from ptxkit.analysis.context.kernel_facts import KernelFacts, ScenarioFacts
from ptxkit.analysis.context.thread_view import ThreadView
from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.mbarrier.mbarrier_objects import find_initializations, is_ambiguous
from ptxkit.analysis.symexec.trace import TraceEvent
from ptxkit.diagnostics.catalogue import ptx6xx
from ptxkit.isa.effects import Barrier
from ptxkit.rules.model import Finding, Observation, OpenObligation, Rule
from ptxkit.rules.obligation_sites import is_remote, sites_of
from ptxkit.rules.partner_proofs import prove_own_cta


def check(kernel: KernelFacts) -> Iterator[Observation | OpenObligation]:
    """Checks each thread's first remote access by each instruction."""
    if not kernel.scenarios or kernel.scenarios[0].scenario.launch.cluster_size == 1:
        return
    polls = may_poll_memory(kernel.program)
    signaled = find_signaled_mbarriers(kernel.scenarios)
    for number, facts in enumerate(kernel.scenarios):
        if facts.has_unknown_call:
            continue
        seen: set[tuple[int, Step]] = set()
        for reach in find_remote_accesses(facts):
            key = (reach.thread.tid, reach.event.step)
            if key not in seen and not has_observed_signal(reach.thread, reach.position, signaled):
                seen.add(key)
                for observed in _check_access(kernel, number, facts, reach):
                    if polls and observed.finding is not None:
                        yield OpenObligation(reach.event.step, ptx6xx.FLAG_MAY_SHOW_START())
                    else:
                        yield observed
        for thread, position, event in find_accesses_of_unknown_ctas(facts):
            if not has_observed_cluster_start(facts, thread, position) and not has_observed_signal(
                thread, position, signaled
            ):
                yield OpenObligation(event.step, ptx6xx.ACCESSED_CTA_NOT_KNOWN())


def _check_access(kernel: KernelFacts, number: int, facts: ScenarioFacts, reach: RemoteAccess) -> Iterator[Observation]:
    step, thread = reach.event.step, reach.thread
    exact = thread.trace.is_certain(reach.position) and not facts.may_guess_before(thread, reach.position)
    known = has_observed_cluster_start(facts, thread, reach.position)
    yield Observation((step, None), number, exact, None if known else _access_before_start(reach))
    other = scenario_of_rank(kernel.scenarios, facts, reach.rank)
    if not known or reach.mbarrier is None or other is None or is_ambiguous(other):
        return
    makers = find_initializations(other.threads.values()).get(reach.mbarrier, [])
    for maker, made, init in makers:
        published = last_arrival_before(maker, facts, thread, reach.position)
        exact = exact and maker.trace.is_certain(max(made, published))
        if is_init_ordered_by_cluster_barrier(maker, made, facts, thread, reach.position):
            yield Observation((step, init.step), number, exact)
            return
    for maker, made, init in makers[:1]:
        yield Observation((step, init.step), number, exact, _unordered_init(reach, maker, made, init))


def _access_before_start(reach: RemoteAccess) -> Finding:
    return Finding(
        primary=reach.event.step,
        message=ptx6xx.REMOTE_CTA_MAY_NOT_HAVE_STARTED(rank=reach.rank),
        help=ptx6xx.MEET_BEFORE_ACCESS(),
        properties={"rank": reach.rank},
        group_key=ptx6xx.NO_BARRIER_BEFORE(),
    )


def _unordered_init(reach: RemoteAccess, maker: ThreadView, made: int, init: TraceEvent) -> Finding:
    after = [at for at in cluster_barrier_arrivals(maker) if at > made]
    arrival = maker.trace.events[after[0]] if after else None
    relaxed = (
        isinstance(arrival, TraceEvent) and isinstance(arrival.effect, Barrier) and arrival.effect.order == "relaxed"
    )
    between = ((arrival.step, ptx6xx.RELAXED_ARRIVAL()),) if arrival is not None and relaxed else ()
    return Finding(
        primary=reach.event.step,
        message=ptx6xx.REMOTE_MBARRIER_NOT_PUBLISHED(),
        labels=((init.step, ptx6xx.MBARRIER_MADE_HERE()), *between),
        help=ptx6xx.ADD_INIT_FENCE() if between else ptx6xx.ADD_INIT_FENCE_AND_BARRIER(),
        properties={"rank": reach.rank},
        group_key=init.step,
    )


RULE = Rule(ptx6xx.REMOTE_ACCESS_TOO_EARLY, check, sites=sites_of(is_remote), prove=prove_own_cta)
