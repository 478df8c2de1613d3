"""PTX507: an mbarrier is invalidated while another thread may still wait on it, or when it is not valid.

What it does
    Finds `mbarrier.inval` by one thread that nothing orders after a wait of another thread on the same object, and
    objects that are invalidated more often than they are initialized, or used after that without another
    initialization. If the result of an atomic determines the last
    thread, which invalidates the object, the other threads need a release between their waits and the atomic.

Why it matters
    After `mbarrier.inval`, and until the next initialization, the bytes of the object are ordinary memory. A thread
    that still waits there reads arbitrary values, and may never continue.

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

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from functools import partial

from ptxkit.analysis.context.barrier_placement import WARP_BARRIER, find_ordering_barrier, path_point_of
from ptxkit.analysis.context.kernel_facts import KernelFacts, ScenarioFacts
from ptxkit.analysis.context.thread_view import ThreadView
from ptxkit.analysis.context.warp_paths import WarpPath
from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.mbarrier.guarded_inval import AtomicGuardedInval
from ptxkit.analysis.mbarrier.mbarrier_lifetimes import find_excess_invals, find_uses_after_inval, is_reached_after
from ptxkit.analysis.mbarrier.mbarrier_objects import find_initializations, is_ambiguous, mbarrier_of
from ptxkit.analysis.symexec.trace import GroupEvent, TraceEvent
from ptxkit.diagnostics.catalogue import ptx5xx
from ptxkit.isa.effects import MbarrierInvalidate, MbarrierWait, MemoryFence
from ptxkit.rules.barrier_help import barrier_fixes, format_barrier_help, release_label
from ptxkit.rules.model import Finding, Observation, Rule, StepEdit, add_statement
from ptxkit.rules.obligation_sites import is_a, sites_of
from ptxkit.syntax.constants import WARP_SIZE

#: An event with its thread, and the position in the trace.
_EventSite = tuple[ThreadView, int, TraceEvent]


def check(kernel: KernelFacts) -> Iterator[Observation]:
    """Checks every invalidation of an mbarrier."""
    guarded_invals = AtomicGuardedInval(kernel)
    is_whole = [all(each.trace.end_reason != "budget" for each in facts.threads.values()) for facts in kernel.scenarios]
    for number, facts in enumerate(kernel.scenarios):
        if any(is_whole) and not is_whole[number]:
            continue  # a limit ended threads before what orders their waits
        ends = {
            id(thread): [(thread, position, event) for position, event in thread.positions(MbarrierInvalidate)]
            for thread in facts.threads.values()
        }
        if any(ends.values()) and not is_ambiguous(facts):
            spots = [spot for spots in ends.values() for spot in spots]
            yield from _check_waits(number, facts, spots, guarded_invals)
            yield from _check_later_uses(number, facts)
            yield from _check_excess_invals(number, facts)


def _check_waits(
    number: int, facts: ScenarioFacts, ends: Iterable[_EventSite], guarded_invals: AtomicGuardedInval
) -> Iterator[Observation]:
    """Yields the results for invalidations and waits of other threads for the same mbarrier."""
    made = find_initializations(facts.threads.values())
    waits = _waits_by_mbarrier(facts)
    executing: dict[Step | None, set[int]] = {}  # the threads that execute each atomic
    found: dict[
        tuple[Step, Step, bool], Finding
    ] = {}  # a pair is reported once, and its barrier is costly to determine
    for end in ends:
        thread, position, event = end
        address = mbarrier_of(event)
        atomic = guarded_invals.guarding_atomic_of(event.step)
        others = [wait for wait in waits.get(address, ()) if wait[0] is not thread]
        # Waits of other warps come first because they need more than those of this warp. Threads that do not execute
        # the atomic come next because they need more than a fence.
        if atomic not in executing:
            executing[atomic] = {tid for tid, each in facts.threads.items() if _executes(each, atomic)}
        others.sort(key=partial(_sort_key, thread, executing[atomic]))
        for other, last, wait in others:
            exact = thread.trace.is_certain(position) and other.trace.is_certain(last)
            exact = exact and other.trace.end_reason != "budget"
            finding = None
            if not _is_wait_finished(facts, (other, last, wait), end, made.get(address or 0, [])):
                exact = exact and not facts.may_guess_order(other, last, thread, position)
                key = (event.step, wait.step, exact)
                finding = found[key] = found.get(key) or _finding(facts, (other, last, wait), end)
                if (
                    atomic is not None
                    and not exact
                    and other.trace.is_certain(last)
                    and guarded_invals.is_path_known(facts, (other, last), atomic)
                    and not guarded_invals.may_be_ordered_after(facts, (other, last), (thread, position))
                ):
                    exact, finding = True, _unreleased_wait(facts, (other, last, wait), event, atomic)
            yield Observation((event.step, wait.step), number, exact, finding)


def _waits_by_mbarrier(facts: ScenarioFacts) -> dict[int | None, list[_EventSite]]:
    """Returns the waits of each thread by mbarrier: the first and the last execution of each instruction."""
    found: dict[int | None, list[_EventSite]] = defaultdict(list)
    for thread in facts.threads.values():
        by_place: dict[tuple[object, int | None], list[_EventSite]] = defaultdict(list)
        for position, event in thread.positions(MbarrierWait):
            address = mbarrier_of(event)
            if address is not None:
                by_place[(event.step, address)].append((thread, position, event))
        for (_, address), spots in by_place.items():
            found[address].extend(dict.fromkeys((spots[0], spots[-1])))
    return found


def _is_wait_finished(facts: ScenarioFacts, wait: _EventSite, end: _EventSite, made: list[_EventSite]) -> bool:
    """Returns whether a wait precedes the invalidation, or follows a later initialization."""
    other, at, _ = wait
    thread, position, _ = end
    if facts.is_ordered(other, at, thread, position):
        return True
    return any(
        is_reached_after(facts, (thread, position), (maker, init))
        and is_reached_after(facts, (maker, init), (other, at))
        for maker, init, _ in made
    )


def _check_later_uses(number: int, facts: ScenarioFacts) -> Iterator[Observation]:
    """Yields the results for invalidations that uses of the same mbarrier follow."""
    for found in find_uses_after_inval(facts):
        finding = Finding(
            primary=found.inval,
            message=ptx5xx.INVAL_BEFORE_USE(),
            labels=((found.use, ptx5xx.USED_AFTERWARDS()),),
            help=ptx5xx.INVALIDATE_AFTER_LAST_USE(),
        )
        yield Observation((found.inval, found.use), number, found.is_certain, finding)


def _check_excess_invals(number: int, facts: ScenarioFacts) -> Iterator[Observation]:
    """Yields mbarriers that are invalidated more often than they are initialized, by any threads."""
    for first, last, is_certain in find_excess_invals(facts):
        finding = Finding(
            primary=last,
            message=ptx5xx.INVAL_OF_NO_MBARRIER(),
            labels=((first, ptx5xx.INVALIDATES_TOO()),) if first is not last else (),
            help=ptx5xx.INVALIDATE_ONCE(),
        )
        yield Observation((last, None), number, is_certain, finding)


def _finding(facts: ScenarioFacts, wait: _EventSite, end: _EventSite) -> Finding:
    barrier = find_ordering_barrier(facts, path_point_of(facts, *wait[:2]), path_point_of(facts, *end[:2]))
    return Finding(
        primary=end[2].step,
        message=ptx5xx.INVAL_DURING_WAIT(),
        labels=((wait[2].step, ptx5xx.OTHER_THREAD_WAITS()), *release_label(barrier)),
        help=format_barrier_help(barrier, ptx5xx.BETWEEN_WAIT_AND_INVAL(), "waiting threads"),
        properties={"barrier": barrier.sole_text},
        fixes=barrier_fixes(barrier, wait[2].step, end[2].step),
    )


def _unreleased_wait(facts: ScenarioFacts, wait: _EventSite, end: TraceEvent, atomic: Step) -> Finding:
    labels = ((wait[2].step, ptx5xx.OTHER_THREADS_WAIT()), (atomic, ptx5xx.ANSWER_LEADS_HERE()))
    fence = "fence.acq_rel.cta;"
    peer = _lanes_arriving_for(facts, wait, atomic)
    if peer is None:
        return Finding(
            primary=end.step,
            message=ptx5xx.INVAL_AFTER_UNRELEASED_WAIT(),
            labels=labels,
            help=ptx5xx.ADD_FENCE_BEFORE_ATOMIC(fence=fence),
            group_key=atomic,
            fixes=(add_statement(StepEdit(atomic, fence)),),
        )
    text = WARP_BARRIER if _is_fenced(peer, wait[2], atomic) else f"{WARP_BARRIER}\n{fence}"
    return Finding(
        primary=end.step,
        message=ptx5xx.INVAL_AFTER_UNORDERED_LANES(),
        labels=labels,
        help=ptx5xx.ADD_WARP_BARRIER_BEFORE_ATOMIC(statements=" ".join(text.split())),
        properties={"barrier": text},
        group_key=atomic,
    )


def _lanes_arriving_for(facts: ScenarioFacts, wait: _EventSite, atomic: Step) -> WarpPath | None:
    """Returns the lanes of a waiting thread's warp that execute an atomic which that thread does not execute.

    The result is None if the thread may converge with them before the atomic.
    """
    thread, position, _ = wait
    if _executes(thread, atomic):
        return None
    own = path_point_of(facts, thread, position)
    for path in facts.happens_before.paths:
        at = next((at for at, event in enumerate(path.group.events) if event.step is atomic), None)
        if path.warp == thread.tid // WARP_SIZE and at is not None:
            return None if facts.happens_before.may_converge(own.path, own.position, path, at) else path
    return None


def _sort_key(thread: ThreadView, executing: Collection[int], wait: _EventSite) -> tuple[bool, bool]:
    """Returns whether a barrier of a warp suffices for another thread's wait, and whether a fence may."""
    return wait[0].tid // WARP_SIZE == thread.tid // WARP_SIZE, wait[0].tid in executing


def _executes(thread: ThreadView, step: Step | None) -> bool:
    return any(event.step is step for event in thread.trace.events)


def _is_fenced(path: WarpPath, wait: TraceEvent, atomic: Step) -> bool:
    """Returns whether there is a fence between a wait and an atomic of one path."""
    steps = [event.step for event in path.group.events]
    since = max((at for at, step in enumerate(steps[: steps.index(atomic)]) if step is wait.step), default=0)
    return any(
        isinstance(event, TraceEvent | GroupEvent) and isinstance(event.effect, MemoryFence)
        for event in path.group.events[since : steps.index(atomic)]
    )


RULE = Rule(ptx5xx.MBARRIER_INVAL_IN_USE, check, asynchronous=True, sites=sites_of(is_a(MbarrierInvalidate)))
