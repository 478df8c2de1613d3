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

from ptxkit.analysis.kernel import Kernel, World
from ptxkit.analysis.program import Step
from ptxkit.analysis.rehearsal import Stuck
from ptxkit.isa.effects import Barrier
from ptxkit.rules.finding import Doubt, Finding, Observation, Rule
from ptxkit.rules.rehearsed import first_to_stick, of_cta, told


def check(kernel: Kernel) -> Iterator[Observation | Doubt]:
    """Looks at each barrier: those that open keep the rule."""
    for number, world in enumerate(kernel.worlds):
        broken: dict[Step, Finding] = {}
        for rehearsal in world.rehearsals:
            stuck = first_to_stick(world, rehearsal)
            if stuck is not None and stuck.state is None and isinstance(stuck.event.effect, Barrier):
                elsewhere = [s for s in rehearsal.stuck if s.event.step is not stuck.event.step]
                broken.setdefault(stuck.event.step, _finding(world, stuck, elsewhere))
        barriers = {e.step for a in world.cast.actors for e in a.events if isinstance(e.effect, Barrier)}
        yield from told(kernel, number, barriers, broken)


def _finding(world: World, stuck: Stuck, elsewhere: list[Stuck]) -> Finding:
    effect, actor = stuck.event.effect, world.cast.actors[stuck.actor]
    where = " of all CTAs" if isinstance(effect, Barrier) and effect.level == "cluster" else of_cta(world, actor.rank)
    steps = list(dict.fromkeys(other.event.step for other in elsewhere))
    come = f"{stuck.arrived} of {stuck.wanted} threads{where} come"
    return Finding(
        primary=stuck.event.step,
        message=f"waits at a barrier that never opens: {come}",
        labels=tuple((step, "others wait here") for step in steps),
        help="let all threads that the barrier counts execute it, as often as each other",
        properties={"arrived": stuck.arrived, "wanted": stuck.wanted},
    )


RULE = Rule("PTX601", "barrier-never-opens", ("bar, barrier", "barrier.cluster"), check)
