"""PTX612: a CTA exits while the cluster still accesses its shared memory.

What it does
    In a cluster of up to eight CTAs, finds accesses to the shared memory of another CTA, and operations on its
    mbarriers, whose completion that CTA does not wait for before it exits. It also finds copies from the shared memory
    of a CTA to another CTA if nothing signals their completion to the CTA that issued them.

    The question is left open where the kernel uses results of strong loads or atomics, for which a CTA may wait before
    it exits, and where only a collective instruction such as `elect.sync`, which orders no memory, is between the
    access and the signal of another lane.

Why it matters
    The shared memory of a CTA is released when the CTA exits, and may then belong to another CTA. A later access
    faults, or uses unrelated data.

Example
    cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r1], [%r2], 1024, [%r3];
    ret;

Use instead
    cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r1], [%r2], 1024, [%r3];
    // wait for the copy of the other CTA, then synchronize the cluster
    barrier.cluster.arrive.release.aligned;
    barrier.cluster.wait.acquire.aligned;
    ret;

ISA section
    "Cluster of Cooperative Thread Arrays", "barrier.cluster". Catalogue: CL2, BK12, SA5.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.cluster.cluster_facts import may_poll_memory
from ptxkit.analysis.cluster.cluster_lifetime import ExitSafety
from ptxkit.analysis.context.kernel_facts import KernelFacts
from ptxkit.analysis.ir.program import Step
from ptxkit.diagnostics.catalogue import ptx3xx, ptx6xx
from ptxkit.rules.model import Finding, Observation, OpenObligation, Rule
from ptxkit.rules.obligation_sites import is_remote, sites_of
from ptxkit.rules.partner_proofs import prove_own_cta


def check(kernel: KernelFacts) -> Iterator[Observation | OpenObligation]:
    """Checks the first CTAs of each cluster."""
    if not kernel.scenarios or kernel.scenarios[0].scenario.launch.cluster_size == 1:
        return
    polls = may_poll_memory(kernel.program)
    limit = kernel.scenarios[0].scenario.launch
    for number, facts in enumerate(kernel.scenarios):
        rank = facts.scenario.rank
        exit_safety = ExitSafety(facts, [other for other in kernel.cluster_of(number) if other is not facts])
        if not exit_safety.is_known:
            continue
        for thread, _, event in exit_safety.unprotected_accesses():
            if polls:
                yield OpenObligation(event.step, ptx6xx.FLAG_MAY_DELAY_EXIT())
                continue
            if exit_safety.may_await_unknown_signal:
                yield OpenObligation(event.step, ptx6xx.SIGNAL_MAY_DELAY_EXIT())
                continue
            if limit.is_limit and facts.scenario.launch.block != limit.block:  # a smaller block may lack who waits
                yield OpenObligation(event.step, ptx3xx.BLOCK_SIZE_NOT_KNOWN(), "block")
                continue
            own = thread in facts.threads.values()
            finding = _finding(event.step, rank, own=own)
            yield Observation((event.step, None), number, exit_safety.is_certain, finding)
        for event in exit_safety.converging_accesses():
            yield OpenObligation(event.step, ptx6xx.CONVERGENCE_MAY_DELAY_EXIT())


def _finding(step: Step, rank: int, *, own: bool) -> Finding:
    message = ptx6xx.COPY_FROM_CTA_THAT_MAY_EXIT() if own else ptx6xx.ACCESS_OF_CTA_THAT_MAY_EXIT(rank=rank)
    return Finding(
        primary=step,
        message=message,
        help=ptx6xx.MEET_BEFORE_EXIT(),
        properties={"rank": rank},
        group_key="exit",
    )


RULE = Rule(ptx6xx.EXIT_TOO_EARLY, check, sites=sites_of(is_remote), prove=prove_own_cta)
