"""PTX601: threads wait at a barrier that other threads never reach.

What it does
    Simulates how all threads of the CTA, or of all CTAs of its cluster, synchronize at barriers, and finds a barrier at
    which some of them deadlock: the others wait elsewhere, are not included in the count, or never execute the barrier.

Why it matters
    The kernel hangs.

Example
    @%p1 bar.sync 0;                // by thread 0 only

Use instead
    bar.sync 0;

ISA section
    "bar, barrier", "barrier.cluster". Catalogue: BR2, BR3, BR11, CL3.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.context.kernel_facts import KernelFacts, ScenarioFacts
from ptxkit.analysis.sync.sync_schedule import BlockedThread
from ptxkit.diagnostics.catalogue import ptx6xx
from ptxkit.isa.effects import Barrier, MbarrierWait
from ptxkit.rules.execution_proofs import prove_barrier
from ptxkit.rules.model import Finding, Observation, OpenObligation, Rule
from ptxkit.rules.obligation_sites import is_a, sites_of
from ptxkit.rules.sync_evidence import (
    ScheduleFindings,
    ask_without_schedule,
    find_root_blocked_thread,
    format_cta,
    make_observations,
)


def check(kernel: KernelFacts) -> Iterator[Observation | OpenObligation]:
    """Checks each barrier: those that complete satisfy the rule."""
    if not any(isinstance(effect, MbarrierWait) for step in kernel.program.effectful_steps for effect in step.effects):
        yield from ask_without_schedule(kernel, Barrier)  # otherwise PTX504 yields it
    for number, facts in enumerate(kernel.scenarios):
        barriers = facts.simulation.steps_of(Barrier)
        yield from make_observations(kernel, number, barriers, _find_deadlocks)


def _find_deadlocks(facts: ScenarioFacts) -> ScheduleFindings:
    found = ScheduleFindings()
    for schedule in facts.schedules:
        blocked = find_root_blocked_thread(facts, schedule)
        if blocked is not None and blocked.mbarrier is None and isinstance(blocked.event.effect, Barrier):
            elsewhere = [s for s in schedule.blocked_threads if s.event.step is not blocked.event.step]
            found.add(blocked.event.step, _finding(facts, blocked, elsewhere), schedule.has_certain_end)
    return found


def _finding(facts: ScenarioFacts, blocked: BlockedThread, elsewhere: list[BlockedThread]) -> Finding:
    effect, actor = blocked.event.effect, facts.simulation.thread_classes[blocked.thread_class]
    where = (
        ptx6xx.OF_ALL_CTAS()
        if isinstance(effect, Barrier) and effect.level == "cluster"
        else format_cta(facts, actor.rank)
    )
    steps = list(dict.fromkeys(other.event.step for other in elsewhere))
    come = ptx6xx.THREADS_COME(arrived=blocked.arrived_threads, expected=blocked.expected_threads, where=where)
    return Finding(
        primary=blocked.event.step,
        message=ptx6xx.DEADLOCK_AT_BARRIER(threads=come),
        labels=tuple((step, ptx6xx.OTHERS_WAIT_HERE()) for step in steps),
        help=ptx6xx.EXECUTE_BARRIER_EQUALLY(),
        properties={"arrived": blocked.arrived_threads, "wanted": blocked.expected_threads},
    )


RULE = Rule(
    ptx6xx.BARRIER_DEADLOCK,
    check,
    sites=sites_of(is_a(Barrier)),
    prove=prove_barrier,
    compares_all_threads=True,
)
