"""PTX602: threads meet at one barrier and name different numbers of threads.

What it does
    Finds executions of one barrier, in one round of it, that wait for different numbers of threads.

Why it matters
    All that take part in a round must name the same number; otherwise it is undefined when the barrier opens.

Example
    @%p1 bar.sync 1, 64;
    @!%p1 bar.arrive 1, 96;

Use instead
    @%p1 bar.sync 1, 96;
    @!%p1 bar.arrive 1, 96;

ISA section
    "bar, barrier". Catalogue: BR1.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.kernel import Kernel
from ptxkit.analysis.program import Step
from ptxkit.analysis.trace import Event
from ptxkit.isa.effects import Barrier
from ptxkit.rules.finding import Doubt, Finding, Mend, Observation, Rule, other_constant
from ptxkit.rules.rehearsed import told


def check(kernel: Kernel) -> Iterator[Observation | Doubt]:
    """Looks at each barrier that counts threads."""
    for number, world in enumerate(kernel.worlds):
        broken: dict[Step, Finding] = {}
        for pair in (rehearsal.uneven[0] for rehearsal in world.rehearsals if rehearsal.uneven):
            first, second = sorted(pair, key=lambda event: event.step.start)
            broken.setdefault(second.step, _finding(first, second))
        counting = {
            e.step for a in world.cast.actors for e in a.events if isinstance(e.effect, Barrier) and e.size is not None
        }
        yield from told(kernel, number, counting, broken)


def _finding(first: Event, second: Event) -> Finding:
    return Finding(
        primary=second.step,
        message=f"counts {second.size} threads at a barrier where others count {first.size} in the same round",
        labels=((first.step, f"counts {first.size}"),) if first.step is not second.step else (),
        help="name the same number of threads wherever they meet",
        properties={"counted": second.size, "others": first.size},
        mends=tuple(_mends(first, second)),
    )


def _mends(first: Event, second: Event) -> Iterator[Mend]:
    """The number of the others, here; and this one there."""
    for event, other in ((second, first), (first, second)):
        if isinstance(event.size, int) and isinstance(other.size, int):
            for change in other_constant(event.step, event.size, other.size):
                yield Mend(f"count {other.size} threads", (change,), safe=False)


RULE = Rule("PTX602", "barrier-uneven-counts", ("bar, barrier",), check)
