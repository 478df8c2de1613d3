"""PTX507: an mbarrier's life is ended while another thread may still wait on it, or when it has none.

What it does
    Finds `mbarrier.inval` by one thread that nothing puts behind a wait of another thread on the same object, and
    objects that are invalidated more often than they are initialised. Where an atomic's answer says which thread comes
    last and ends the life, the others need a release between their waits and the atomic.

Why it matters
    Between the end of an object's life and its next initialisation its bytes are plain memory. A thread that still
    waits there reads whatever they hold, and may wait for ever.

Example
    wait:
    mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], 0;
    @!%p1 bra wait;
    @%p2 mbarrier.inval.shared::cta.b64 [bar];

Use instead
    wait:
    mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], 0;
    @!%p1 bra wait;
    bar.sync 0;
    @%p2 mbarrier.inval.shared::cta.b64 [bar];

ISA section
    "mbarrier.inval", "Lifecycle of the mbarrier object". Catalogue: MB2.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator

from ptxkit.analysis.answered_ends import AnsweredEnds
from ptxkit.analysis.kernel import Kernel, World
from ptxkit.analysis.program import Step
from ptxkit.analysis.thread import Thread
from ptxkit.analysis.trace import Event
from ptxkit.isa.effects import MbarrierInit, MbarrierInvalidate, MbarrierWait
from ptxkit.rules.finding import Change, Finding, Mend, Observation, Rule
from ptxkit.rules.mbarriers import initialisations, is_murky, object_of

#: Where something happened: the thread, the position in its trace, the event.
_Spot = tuple[Thread, int, Event]


def check(kernel: Kernel) -> Iterator[Observation]:
    """Looks at every end of an object's life."""
    answered = AnsweredEnds(kernel)
    for number, world in enumerate(kernel.worlds):
        ends = {
            id(thread): [(thread, position, event) for position, event in thread.positions(MbarrierInvalidate)]
            for thread in world.threads.values()
        }
        if any(ends.values()) and not is_murky(world):
            yield from _in_use(number, world, [spot for spots in ends.values() for spot in spots], answered)
            yield from _without_life(number, world)


def _in_use(number: int, world: World, ends: Iterable[_Spot], answered: AnsweredEnds) -> Iterator[Observation]:
    """Ends of lives against the waits of other threads in the same life."""
    made = initialisations(world.threads.values())
    waits = _waits(world)
    for end in ends:
        thread, position, event = end
        address = object_of(event)
        others = [wait for wait in waits.get(address, ()) if wait[0] is not thread]
        for other, last, wait in others:
            exact = thread.trace.is_sure(position) and other.trace.is_sure(last)
            finding = None
            if not _is_over(world, (other, last, wait), end, made.get(address or 0, [])):
                finding = _finding(event, wait)
                atomic = None if exact or not other.trace.is_sure(last) else answered.atomic_of(event.step)
                if atomic is not None and not answered.is_behind(world, (other, last), (thread, position)):
                    exact, finding = True, _unreleased(event, wait, atomic)
            yield Observation((event.step, wait.step), number, exact, finding, 2)


def _waits(world: World) -> dict[int | None, list[_Spot]]:
    """The waits of each thread by object, each instruction's first and last ones."""
    found: dict[int | None, list[_Spot]] = defaultdict(list)
    for thread in world.threads.values():
        by_place: dict[tuple[object, int | None], list[_Spot]] = defaultdict(list)
        for position, event in thread.positions(MbarrierWait):
            address = object_of(event)
            if address is not None:
                by_place[(event.step, address)].append((thread, position, event))
        for (_, address), spots in by_place.items():
            found[address].extend(dict.fromkeys((spots[0], spots[-1])))
    return found


def _is_over(world: World, wait: _Spot, end: _Spot, made: list[_Spot]) -> bool:
    """Whether a wait comes before the end of the object's life, or in a later one."""
    other, at, _ = wait
    thread, position, _ = end
    if any(world.order(other, at, thread, position)):
        return True
    return any(
        _follows(world, (thread, position), (maker, init)) and _follows(world, (maker, init), (other, at))
        for maker, init, _ in made
    )


def _follows(world: World, first: tuple[Thread, int], second: tuple[Thread, int]) -> bool:
    """Whether the second place is surely reached behind the first."""
    if first[0] is second[0]:
        return first[1] < second[1]
    return any(world.order(*first, *second))


def _without_life(number: int, world: World) -> Iterator[Observation]:
    """Objects whose life ends more often than it begins, whichever thread does either."""
    everyone = world.everyone(MbarrierInit, MbarrierInvalidate)
    if everyone is None or any(thread.trace.ended != "exit" for thread in everyone):
        return
    begun: Counter[int | None] = Counter()
    ended: dict[int | None, list[Event]] = defaultdict(list)
    for thread in everyone:
        for _, event in thread.positions(MbarrierInit):
            begun[object_of(event)] += 1
        for _, event in thread.positions(MbarrierInvalidate):
            ended[object_of(event)].append(event)
    sure = all(thread.trace.is_sure() for thread in everyone)
    for address, events in ended.items():
        if address is not None and len(events) > begun[address]:
            last = max((event.step for event in events), key=lambda step: step.index)
            first = min((event.step for event in events), key=lambda step: step.index)
            finding = Finding(
                primary=last,
                message="ends the life of an mbarrier that has none, or has none any more",
                labels=((first, "ends it, too"),) if first is not last else (),
                help="end each mbarrier's life once, in one thread",
            )
            yield Observation((last, None), number, sure, finding, len(everyone))


def _finding(end: Event, wait: Event) -> Finding:
    return Finding(
        primary=end.step,
        message="ends the life of an mbarrier on which another thread may still wait at line {1}",
        labels=((wait.step, "another thread waits on it"),),
        help="add `bar.sync 0;` between the wait and line {0}",
    )


def _unreleased(end: Event, wait: Event, atomic: Step) -> Finding:
    return Finding(
        primary=end.step,
        message="ends the life of an mbarrier on which another thread may still wait at line {1}, as the atomic at line"
        " {2} answers: no release stands between the wait and the atomic",
        labels=((wait.step, "other threads wait on it"), (atomic, "its answer leads here")),
        help="add `fence.acq_rel.cta;` before line {2}",
        cause=atomic,
        mends=(Mend("add `fence.acq_rel.cta;`", (Change(atomic, "fence.acq_rel.cta;"),)),),
    )


RULE = Rule(
    "PTX507", "mbarrier-ended-in-use", ("mbarrier.inval", "Lifecycle of the mbarrier object"), check, asynchronous=True
)
