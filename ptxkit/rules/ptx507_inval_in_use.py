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

from ptxkit.analysis.context.barrier_placement import WARP_BARRIER, find_ordering_barrier
from ptxkit.analysis.context.collective_participation import WARP
from ptxkit.analysis.context.happens_before import WarpPath
from ptxkit.analysis.context.kernel_facts import KernelFacts, ScenarioFacts
from ptxkit.analysis.context.thread_view import ThreadView
from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.mbarrier.guarded_inval import AtomicGuardedInval
from ptxkit.analysis.symexec.trace import GroupEvent, TraceEvent
from ptxkit.isa.effects import MbarrierInit, MbarrierInvalidate, MbarrierWait, MemoryFence
from ptxkit.rules.barrier_help import barrier_fixes, format_barrier_help, path_point_of, release_label
from ptxkit.rules.mbarrier_helpers import find_initializations, is_ambiguous, mbarrier_of
from ptxkit.rules.model import Finding, FixCandidate, Observation, Rule, StepEdit

#: Where something happened: the thread, the position in its trace, the event.
_EventSite = tuple[ThreadView, int, TraceEvent]


def check(kernel: KernelFacts) -> Iterator[Observation]:
    """Looks at every end of an object's life."""
    answered = AtomicGuardedInval(kernel)
    for number, world in enumerate(kernel.scenarios):
        ends = {
            id(thread): [(thread, position, event) for position, event in thread.positions(MbarrierInvalidate)]
            for thread in world.threads.values()
        }
        if any(ends.values()) and not is_ambiguous(world):
            yield from _check_waits(number, world, [spot for spots in ends.values() for spot in spots], answered)
            yield from _check_excess_invals(number, world)


def _check_waits(
    number: int, world: ScenarioFacts, ends: Iterable[_EventSite], answered: AtomicGuardedInval
) -> Iterator[Observation]:
    """Ends of lives against the waits of other threads in the same life."""
    made = find_initializations(world.threads.values())
    waits = _waits_by_mbarrier(world)
    found: dict[
        tuple[Step, Step, bool], Finding
    ] = {}  # one report of a pair needs one finding, and its barrier is costly
    for end in ends:
        thread, position, event = end
        address = mbarrier_of(event)
        atomic = answered.guarding_atomic_of(event.step)
        others = [wait for wait in waits.get(address, ()) if wait[0] is not thread]
        # Threads of other warps need more than lanes of this one; and who does not count itself, more than a fence.
        others.sort(key=partial(_sort_key, thread, atomic))
        for other, last, wait in others:
            exact = thread.trace.is_certain(position) and other.trace.is_certain(last)
            finding = None
            if not _is_wait_finished(world, (other, last, wait), end, made.get(address or 0, [])):
                key = (event.step, wait.step, exact)
                finding = found[key] = found.get(key) or _finding(world, (other, last, wait), end)
                is_answered = atomic is not None and not exact and other.trace.is_certain(last)
                if (
                    atomic is not None
                    and is_answered
                    and not answered.may_be_ordered_after(world, (other, last), (thread, position))
                ):
                    exact, finding = True, _unreleased_wait(world, (other, last, wait), event, atomic)
            yield Observation((event.step, wait.step), number, exact, finding, 2)


def _waits_by_mbarrier(world: ScenarioFacts) -> dict[int | None, list[_EventSite]]:
    """The waits of each thread by object, each instruction's first and last ones."""
    found: dict[int | None, list[_EventSite]] = defaultdict(list)
    for thread in world.threads.values():
        by_place: dict[tuple[object, int | None], list[_EventSite]] = defaultdict(list)
        for position, event in thread.positions(MbarrierWait):
            address = mbarrier_of(event)
            if address is not None:
                by_place[(event.step, address)].append((thread, position, event))
        for (_, address), spots in by_place.items():
            found[address].extend(dict.fromkeys((spots[0], spots[-1])))
    return found


def _is_wait_finished(world: ScenarioFacts, wait: _EventSite, end: _EventSite, made: list[_EventSite]) -> bool:
    """Whether a wait comes before the end of the object's life, or in a later one."""
    other, at, _ = wait
    thread, position, _ = end
    if any(world.sync_edges(other, at, thread, position)):
        return True
    return any(
        _is_ordered_after(world, (thread, position), (maker, init))
        and _is_ordered_after(world, (maker, init), (other, at))
        for maker, init, _ in made
    )


def _is_ordered_after(world: ScenarioFacts, first: tuple[ThreadView, int], second: tuple[ThreadView, int]) -> bool:
    """Whether the second place is surely reached behind the first."""
    if first[0] is second[0]:
        return first[1] < second[1]
    return any(world.sync_edges(*first, *second))


def _check_excess_invals(number: int, world: ScenarioFacts) -> Iterator[Observation]:
    """Objects whose life ends more often than it begins, whichever thread does either."""
    everyone = world.all_threads(MbarrierInit, MbarrierInvalidate)
    if everyone is None or any(thread.trace.end_reason != "exit" for thread in everyone):
        return
    begun: Counter[int | None] = Counter()
    ended: dict[int | None, list[TraceEvent]] = defaultdict(list)
    for thread in everyone:
        for _, event in thread.positions(MbarrierInit):
            begun[mbarrier_of(event)] += 1
        for _, event in thread.positions(MbarrierInvalidate):
            ended[mbarrier_of(event)].append(event)
    sure = all(thread.trace.is_certain() for thread in everyone)
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


def _finding(world: ScenarioFacts, wait: _EventSite, end: _EventSite) -> Finding:
    barrier = find_ordering_barrier(world, path_point_of(world, *wait[:2]), path_point_of(world, *end[:2]))
    return Finding(
        primary=end[2].step,
        message="ends the life of an mbarrier on which another thread may still wait at line {1}",
        labels=((wait[2].step, "another thread waits on it"), *release_label(barrier)),
        help=format_barrier_help(barrier, "between the wait and line {0}", "waiting threads"),
        properties={"barrier": barrier.sole_text},
        fixes=barrier_fixes(barrier, wait[2].step, end[2].step),
    )


def _unreleased_wait(world: ScenarioFacts, wait: _EventSite, end: TraceEvent, atomic: Step) -> Finding:
    labels = ((wait[2].step, "other threads wait on it"), (atomic, "its answer leads here"))
    message = (
        "ends the life of an mbarrier on which another thread may still wait at line {1}, as the atomic at line {2} "
        "answers: "
    )
    fence = "fence.acq_rel.cta;"
    mate = _lanes_arriving_for(world, wait, atomic)
    if mate is None:
        return Finding(
            primary=end.step,
            message=f"{message}no release stands between the wait and the atomic",
            labels=labels,
            help=f"add `{fence}` before line {{2}}",
            group_key=atomic,
            fixes=(FixCandidate(f"add `{fence}`", (StepEdit(atomic, fence),)),),
        )
    text = WARP_BARRIER if _is_fenced(mate, wait[2], atomic) else f"{WARP_BARRIER}\n{fence}"
    return Finding(
        primary=end.step,
        message=f"{message}one lane executes the atomic for its warp, and nothing orders the other lanes before it",
        labels=labels,
        help=f"add `{' '.join(text.split())}` between line {{1}} and line {{2}}, where all lanes of the warp come by",
        properties={"barrier": text},
        group_key=atomic,
    )


def _lanes_arriving_for(world: ScenarioFacts, wait: _EventSite, atomic: Step) -> WarpPath | None:
    """The lanes of a waiting thread's warp that execute an atomic, where that thread does not, and does not meet them
    before."""
    thread, position, _ = wait
    if _executes(thread, atomic):
        return None
    own = path_point_of(world, thread, position)
    for path in world.happens_before.paths:
        at = next((at for at, event in enumerate(path.group.events) if event.step is atomic), None)
        if path.warp == thread.tid // WARP and at is not None:
            return None if world.happens_before.may_converge(own.path, own.position, path, at) else path
    return None


def _sort_key(thread: ThreadView, atomic: Step | None, wait: _EventSite) -> tuple[bool, bool]:
    """Whether a barrier of a warp will do for another thread's wait, and whether a fence may."""
    return wait[0].tid // WARP == thread.tid // WARP, _executes(wait[0], atomic)


def _executes(thread: ThreadView, step: Step | None) -> bool:
    return any(event.step is step for event in thread.trace.events)


def _is_fenced(path: WarpPath, wait: TraceEvent, atomic: Step) -> bool:
    """Whether a fence stands between a wait and an atomic of one path."""
    steps = [event.step for event in path.group.events]
    since = max((at for at, step in enumerate(steps[: steps.index(atomic)]) if step is wait.step), default=0)
    return any(
        isinstance(event, TraceEvent | GroupEvent) and isinstance(event.effect, MemoryFence)
        for event in path.group.events[since : steps.index(atomic)]
    )


RULE = Rule(
    "PTX507", "mbarrier-ended-in-use", ("mbarrier.inval", "Lifecycle of the mbarrier object"), check, asynchronous=True
)
