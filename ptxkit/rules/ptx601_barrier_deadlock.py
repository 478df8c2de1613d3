"""PTX601: threads wait at a barrier that others never come to.

What it does
    Plays through how all threads of the CTA, or of all CTAs of its cluster, meet at barriers, and finds one where some
    of them wait for ever: the others wait elsewhere, are counted wrong, or never execute it.

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
from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.sync.sync_schedule import BlockedThread
from ptxkit.isa.effects import Barrier
from ptxkit.rules.model import Finding, Observation, OpenObligation, Rule
from ptxkit.rules.sync_evidence import find_root_blocked_thread, format_cta, make_observations


def check(kernel: KernelFacts) -> Iterator[Observation | OpenObligation]:
    """Looks at each barrier: those that open keep the rule."""
    for number, world in enumerate(kernel.scenarios):
        broken: dict[Step, Finding] = {}
        for rehearsal in world.schedules:
            stuck = find_root_blocked_thread(world, rehearsal)
            if stuck is not None and stuck.mbarrier is None and isinstance(stuck.event.effect, Barrier):
                elsewhere = [s for s in rehearsal.blocked_threads if s.event.step is not stuck.event.step]
                broken.setdefault(stuck.event.step, _finding(world, stuck, elsewhere))
        barriers = {e.step for a in world.simulation.thread_classes for e in a.events if isinstance(e.effect, Barrier)}
        yield from make_observations(kernel, number, barriers, broken)


def _finding(world: ScenarioFacts, stuck: BlockedThread, elsewhere: list[BlockedThread]) -> Finding:
    effect, actor = stuck.event.effect, world.simulation.thread_classes[stuck.thread_class]
    where = (
        " of all CTAs" if isinstance(effect, Barrier) and effect.level == "cluster" else format_cta(world, actor.rank)
    )
    steps = list(dict.fromkeys(other.event.step for other in elsewhere))
    come = f"{stuck.arrived_threads} of {stuck.expected_threads} threads{where} come"
    return Finding(
        primary=stuck.event.step,
        message=f"waits at a barrier that never opens: {come}",
        labels=tuple((step, "others wait here") for step in steps),
        help="let all threads that the barrier counts execute it, as often as each other",
        properties={"arrived": stuck.arrived_threads, "wanted": stuck.expected_threads},
    )


RULE = Rule("PTX601", "barrier-never-opens", ("bar, barrier", "barrier.cluster"), check)
