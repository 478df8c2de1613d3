"""PTX502: an mbarrier is initialised twice.

What it does
    Finds an `mbarrier.init` of an object that is already live: executed by several threads, or again by the same one
    with no `mbarrier.inval` between.

Why it matters
    Initialising a live object is undefined. A late second initialisation wipes out arrivals that were already counted.
    Where the lanes of one warp do it in one instruction, GPUs so far write it once: then this is a warning.

Example
    mbarrier.init.shared::cta.b64 [bar], 1;       // by every thread

Use instead
    setp.eq.u32 %p1, %tid_x, 0;
    @%p1 mbarrier.init.shared::cta.b64 [bar], 1;

ISA section
    "mbarrier.init", "Lifecycle of the mbarrier object". Catalogue: MB2, MB4.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from ptxkit.analysis.kernel import Kernel, World
from ptxkit.analysis.program import Step
from ptxkit.analysis.thread import Thread
from ptxkit.analysis.trace import Event
from ptxkit.diagnostics import Severity
from ptxkit.isa.effects import MbarrierInvalidate
from ptxkit.rules.finding import Doubt, Finding, Observation, Rule
from ptxkit.rules.mbarriers import initialisations, is_murky, object_of


def check(kernel: Kernel) -> Iterator[Observation | Doubt]:
    """Looks at every object that is initialised."""
    for number, world in enumerate(kernel.worlds):
        if not is_murky(world):
            yield from _world(number, world)


def _world(number: int, world: World) -> Iterator[Observation]:
    ended: dict[int | None, list[tuple[Thread, int]]] = defaultdict(list)
    for thread in world.threads.values():
        for position, event in thread.positions(MbarrierInvalidate):
            ended[object_of(event)].append((thread, position))
    for address, makers in initialisations(world.threads.values()).items():
        (thread, made, first), *others = makers
        again = [other for other in others if not _ended_between(world, ended[address], (thread, made), other[:2])]
        finding = None
        if again:
            together = all(_at_once((thread, first), (other, event)) for other, _, event in again)
            finding = _finding(first.step, again[0][2].step, again[0][0] is not thread, together)
        key = (first.step, again[0][2].step if again else None)
        exact = all(maker.trace.is_sure(position) for maker, position, _ in (makers[0], *again[:1]))
        yield Observation(key, number, exact, finding, 2 if again and again[0][0] is not thread else 1)


def _ended_between(
    world: World, ends: list[tuple[Thread, int]], first: tuple[Thread, int], second: tuple[Thread, int]
) -> bool:
    """Whether the object's life surely or possibly ended between two initialisations."""
    return any(
        (thread is not first[0] or position > first[1])
        and (position < second[1] if thread is second[0] else any(world.order(thread, position, *second)))
        for thread, position in ends
    )


def _at_once(first: tuple[Thread, Event], second: tuple[Thread, Event]) -> bool:
    """Whether two threads of one warp execute one instruction together."""
    (thread, init), (other, again) = first, second
    in_one_warp = thread is not other and thread.tid // 32 == other.tid // 32
    return in_one_warp and (init.step, init.visit) == (again.step, again.visit)


def _finding(first: Step, second: Step, threads_differ: bool, at_once: bool) -> Finding:
    if threads_differ:
        return Finding(
            primary=second,
            message="several threads initialise this mbarrier",
            labels=((first, "initialised here"),) if first is not second else (),
            help="initialise it in one thread only, and let a barrier follow",
            severity=Severity.WARNING if at_once else Severity.ERROR,
        )
    return Finding(
        primary=second,
        message="initialises an mbarrier that is live already",
        labels=((first, "initialised here"),) if first is not second else (),
        help="initialise it once, or end its life with `mbarrier.inval` when all its users are done",
    )


RULE = Rule(
    "PTX502", "mbarrier-double-init", ("mbarrier.init", "Lifecycle of the mbarrier object"), check, asynchronous=True
)
