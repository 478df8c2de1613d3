"""PTX613: `barrier.cluster.arrive` and `barrier.cluster.wait` do not alternate.

What it does
    Finds a `barrier.cluster.arrive` by a thread that has already arrived and has not waited since, and a
    `barrier.cluster.wait` by a thread that has not arrived.

Why it matters
    A thread arrives once in each phase of the barrier, and waits before it arrives again. A second arrival counts for a
    phase that other threads have not completed; a wait without an arrival waits for the thread's own arrival, and
    the kernel hangs.

Example
    barrier.cluster.arrive.release.aligned;
    barrier.cluster.arrive.release.aligned;
    barrier.cluster.wait.acquire.aligned;

Use instead
    barrier.cluster.arrive.release.aligned;
    barrier.cluster.wait.acquire.aligned;

ISA section
    "barrier.cluster". Catalogue: CL3.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.abstract_interpretation.cluster_arrivals import surely_unpaired_steps
from ptxkit.analysis.context.kernel_facts import KernelFacts
from ptxkit.analysis.context.thread_view import ThreadView
from ptxkit.analysis.ir.program import Step
from ptxkit.diagnostics import Severity
from ptxkit.diagnostics.catalogue import ptx6xx
from ptxkit.fast_dataclasses import replace
from ptxkit.isa.effects import Barrier
from ptxkit.rules.execution_proofs import prove_cluster_pair
from ptxkit.rules.model import Finding, Observation, Rule
from ptxkit.rules.obligation_sites import is_a, sites_of


def check(kernel: KernelFacts) -> Iterator[Observation]:
    """Checks each arrival and each wait at the cluster's barrier."""
    certain = set[Step]()
    for number, facts in enumerate(kernel.scenarios):
        for thread in facts.threads.values() if not facts.has_unknown_call else ():
            for each in _check_thread(number, thread):
                certain |= {each.key[0]} if each.exact else set()
                yield each
    for step in kernel.program.analysis(surely_unpaired_steps) - certain if kernel.scenarios else ():
        yield Observation((step, None), 0, exact=True, finding=_on_all_paths(step))


def _check_thread(number: int, thread: ThreadView) -> Iterator[Observation]:
    arrived: Step | None = None
    for position, event in thread.positions(Barrier):
        effect = event.effect
        if not isinstance(effect, Barrier) or effect.level != "cluster":
            continue
        step, finding = event.step, None
        if effect.action == "arrive":
            finding = _repeated_arrival(step, arrived) if arrived is not None else None
            arrived = step
        elif effect.action == "wait":
            finding = _without_arrival(step) if arrived is None else None
            arrived = None
        # Two guesses prove nothing, because their conditions may be the same.
        yield Observation((step, None), number, thread.trace.is_certain(position), finding)


def _on_all_paths(step: Step) -> Finding:
    """Returns the finding about a step that no execution certainly reaches, and that each path to it violates."""
    waits = any(isinstance(effect, Barrier) and effect.action == "wait" for effect in step.effects)
    found = _without_arrival(step) if waits else _repeated_arrival(step, step)
    message = found.message if waits else ptx6xx.ARRIVES_AGAIN_ON_ALL_PATHS()
    return replace(found, severity=Severity.WARNING, message=message)


def _repeated_arrival(step: Step, before: Step) -> Finding:
    again = step is before
    return Finding(
        primary=step,
        message=ptx6xx.ARRIVES_AGAIN_ITSELF() if again else ptx6xx.ARRIVES_AGAIN_WITHOUT_WAIT(),
        labels=() if again else ((before, ptx6xx.HAS_ARRIVED_HERE()),),
        help=ptx6xx.ADD_CLUSTER_WAIT(),
        properties={"half": "arrive"},
    )


def _without_arrival(step: Step) -> Finding:
    return Finding(
        primary=step,
        message=ptx6xx.WAITS_WITHOUT_ARRIVAL(),
        help=ptx6xx.ADD_CLUSTER_ARRIVE(),
        properties={"half": "wait"},
    )


RULE = Rule(
    ptx6xx.UNPAIRED_CLUSTER_BARRIER,
    check,
    sites=sites_of(is_a(Barrier, level="cluster")),
    prove=prove_cluster_pair,
    needs_proof=True,
)
