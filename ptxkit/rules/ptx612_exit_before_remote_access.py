"""PTX612: a CTA ends while its shared memory is still accessed from the cluster.

What it does
    In a cluster of up to eight CTAs, finds accesses to another CTA's shared memory, and signals to its mbarriers, that
    this CTA waits for in no way before it ends; and copies out of a CTA's own shared memory into another one, of whose
    completion nothing tells the CTA that issued them.

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
from ptxkit.rules.model import Finding, Observation, Rule


def check(kernel: KernelFacts) -> Iterator[Observation]:
    """Looks at the first CTAs of each cluster."""
    if not kernel.scenarios or kernel.scenarios[0].scenario.launch.cluster_size == 1 or may_poll_memory(kernel.program):
        return
    for number, world in enumerate(kernel.scenarios):
        rank = world.scenario.rank
        farewell = ExitSafety(world, [other for other in kernel.cluster_of(number) if other is not world])
        if not farewell.is_known:
            continue
        for thread, _, event in farewell.unprotected_accesses():
            own = thread in world.threads.values()
            yield Observation((event.step, None), number, exact=True, finding=_finding(event.step, rank, own=own))


def _finding(step: Step, rank: int, *, own: bool) -> Finding:
    if own:
        message = "copies out of shared memory of a CTA that may end before: nothing tells it that the copy is done"
    else:
        message = f"reaches into the shared memory of CTA {rank} of the cluster, which may have ended by then"
    return Finding(
        primary=step,
        message=message,
        help="let the cluster meet before it ends: `barrier.cluster.arrive.release.aligned;` and then"
        " `barrier.cluster.wait.acquire.aligned;`",
        properties={"rank": rank},
        group_key="exit",
    )


RULE = Rule("PTX612", "exit-too-early", ("Cluster of Cooperative Thread Arrays", "barrier.cluster"), check)
