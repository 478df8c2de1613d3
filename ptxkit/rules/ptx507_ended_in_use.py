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
from functools import partial

from ptxkit.analysis.answered_ends import AnsweredEnds
from ptxkit.analysis.causality import Path
from ptxkit.analysis.collectives import WARP
from ptxkit.analysis.kernel import Kernel, World
from ptxkit.analysis.ordering_barriers import WARP_BARRIER, ordering_barrier
from ptxkit.analysis.program import Step
from ptxkit.analysis.thread import Thread
from ptxkit.analysis.trace import Event, GroupEvent
from ptxkit.isa.effects import MbarrierInit, MbarrierInvalidate, MbarrierWait, MemoryFence
from ptxkit.rules.barriers import mends_of, release_label, spot, words_of
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
    found: dict[
        tuple[Step, Step, bool], Finding
    ] = {}  # one report of a pair needs one finding, and its barrier is costly
    for end in ends:
        thread, position, event = end
        address = object_of(event)
        atomic = answered.atomic_of(event.step)
        others = [wait for wait in waits.get(address, ()) if wait[0] is not thread]
        # Threads of other warps need more than lanes of this one; and who does not count itself, more than a fence.
        others.sort(key=partial(_needs_less, thread, atomic))
        for other, last, wait in others:
            exact = thread.trace.is_sure(position) and other.trace.is_sure(last)
            finding = None
            if not _is_over(world, (other, last, wait), end, made.get(address or 0, [])):
                key = (event.step, wait.step, exact)
                finding = found[key] = found.get(key) or _finding(world, (other, last, wait), end)
                is_answered = atomic is not None and not exact and other.trace.is_sure(last)
                if (
                    atomic is not None
                    and is_answered
                    and not answered.is_behind(world, (other, last), (thread, position))
                ):
                    exact, finding = True, _unreleased(world, (other, last, wait), event, atomic)
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


def _finding(world: World, wait: _Spot, end: _Spot) -> Finding:
    barrier = ordering_barrier(world, spot(world, *wait[:2]), spot(world, *end[:2]))
    return Finding(
        primary=end[2].step,
        message="ends the life of an mbarrier on which another thread may still wait at line {1}",
        labels=((wait[2].step, "another thread waits on it"), *release_label(barrier)),
        help=words_of(barrier, "between the wait and line {0}", "waiting threads"),
        properties={"barrier": barrier.alone},
        mends=mends_of(barrier, wait[2].step, end[2].step),
    )


def _unreleased(world: World, wait: _Spot, end: Event, atomic: Step) -> Finding:
    labels = ((wait[2].step, "other threads wait on it"), (atomic, "its answer leads here"))
    message = (
        "ends the life of an mbarrier on which another thread may still wait at line {1}, as the atomic at line {2} "
        "answers: "
    )
    fence = "fence.acq_rel.cta;"
    mate = _counted_by(world, wait, atomic)
    if mate is None:
        return Finding(
            primary=end.step,
            message=f"{message}no release stands between the wait and the atomic",
            labels=labels,
            help=f"add `{fence}` before line {{2}}",
            cause=atomic,
            mends=(Mend(f"add `{fence}`", (Change(atomic, fence),)),),
        )
    text = WARP_BARRIER if _is_fenced(mate, wait[2], atomic) else f"{WARP_BARRIER}\n{fence}"
    return Finding(
        primary=end.step,
        message=f"{message}one lane executes the atomic for its warp, and nothing orders the other lanes before it",
        labels=labels,
        help=f"add `{' '.join(text.split())}` between line {{1}} and line {{2}}, where all lanes of the warp come by",
        properties={"barrier": text},
        cause=atomic,
    )


def _counted_by(world: World, wait: _Spot, atomic: Step) -> Path | None:
    """The lanes of a waiting thread's warp that execute an atomic, where that thread does not, and does not meet them
    before."""
    thread, position, _ = wait
    if _executes(thread, atomic):
        return None
    own = spot(world, thread, position)
    for path in world.causality.paths:
        at = next((at for at, event in enumerate(path.group.events) if event.step is atomic), None)
        if path.warp == thread.tid // WARP and at is not None:
            return None if world.causality.meet(own.path, own.position, path, at) else path
    return None


def _needs_less(thread: Thread, atomic: Step | None, wait: _Spot) -> tuple[bool, bool]:
    """Whether a barrier of a warp will do for another thread's wait, and whether a fence may."""
    return wait[0].tid // WARP == thread.tid // WARP, _executes(wait[0], atomic)


def _executes(thread: Thread, step: Step | None) -> bool:
    return any(event.step is step for event in thread.trace.events)


def _is_fenced(path: Path, wait: Event, atomic: Step) -> bool:
    """Whether a fence stands between a wait and an atomic of one path."""
    steps = [event.step for event in path.group.events]
    since = max((at for at, step in enumerate(steps[: steps.index(atomic)]) if step is wait.step), default=0)
    return any(
        isinstance(event, Event | GroupEvent) and isinstance(event.effect, MemoryFence)
        for event in path.group.events[since : steps.index(atomic)]
    )


RULE = Rule(
    "PTX507", "mbarrier-ended-in-use", ("mbarrier.inval", "Lifecycle of the mbarrier object"), check, asynchronous=True
)
