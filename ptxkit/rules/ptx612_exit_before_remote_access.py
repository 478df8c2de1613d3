"""PTX612: a CTA ends while its shared memory is still accessed from the cluster.

What it does
    In a cluster of up to eight CTAs, finds accesses to another CTA's shared memory, and signals to its mbarriers, that
    this CTA waits for in no way before it ends; and copies out of a CTA's own shared memory into another one, whose
    completion nothing signals to the CTA that issued them.

Why it matters
    The shared memory of a CTA is gone when the CTA ends, and may be another one's then. What comes later faults, or
    hits what is not meant.

Example
    cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r1], [%r2], 1024, [%r3];
    ret;

Use instead
    cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r1], [%r2], 1024, [%r3];
    // wait for the other CTA's copy, then meet it
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
from ptxkit.diagnostics.catalogue import ptx6xx
from ptxkit.rules.model import Finding, Observation, Rule


def check(kernel: KernelFacts) -> Iterator[Observation]:
    """Looks at the first CTAs of each cluster."""
    if not kernel.scenarios or kernel.scenarios[0].scenario.launch.cluster_size == 1 or may_poll_memory(kernel.program):
        return
    for number, facts in enumerate(kernel.scenarios):
        rank = facts.scenario.rank
        farewell = ExitSafety(facts, [other for other in kernel.cluster_of(number) if other is not facts])
        if not farewell.is_known:
            continue
        for thread, _, event in farewell.unprotected_accesses():
            own = thread in facts.threads.values()
            yield Observation((event.step, None), number, exact=True, finding=_finding(event.step, rank, own=own))


def _finding(step: Step, rank: int, *, own: bool) -> Finding:
    message = ptx6xx.COPY_FROM_CTA_THAT_MAY_EXIT() if own else ptx6xx.ACCESS_OF_CTA_THAT_MAY_EXIT(rank=rank)
    return Finding(
        primary=step,
        message=message,
        help=ptx6xx.MEET_BEFORE_EXIT(),
        properties={"rank": rank},
        group_key="exit",
    )


RULE = Rule(ptx6xx.EXIT_TOO_EARLY, check)
