"""PTX302: shared memory is read while the copy that fills it may still be in flight.

What it does
    Finds a read of bytes that an asynchronous copy writes, where the copy's thread has not waited for it: no wait at
    all, a `wait_group` that leaves the copy's group pending, a wait for the other kind of group, a missing wait on the
    mbarrier that the copy completes on; or where the issuing thread waited but nothing orders that wait before another
    thread's read, or another CTA copied, is told of the end on an mbarrier of its own, and tells nobody.

Why it matters
    Until its completion is observed, the copy may write at any time. The read gives old bytes, or a mixture.

Example
    cp.async.cg.shared.global [%r1], [%rd1], 16;
    cp.async.commit_group;
    cp.async.wait_group 1;
    bar.sync 0;
    ld.shared.b32 %r2, [%r1];

Use instead
    cp.async.wait_group 0;

ISA section
    "cp.async.wait_group / cp.async.wait_all", "Completion Mechanisms for Asynchronous Copy Operations",
    "mbarrier.test_wait / mbarrier.try_wait". Catalogue: CA1, CA2, CA4, CA5, CA9, BK4, BK7, PX5.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from ptxkit.analysis.cluster.cluster_facts import find_signalled_mbarriers, may_poll_memory
from ptxkit.analysis.cluster.remote_copies import (
    OutgoingSignals,
    RemoteCopy,
    find_remote_copies,
    is_completion_observed,
    reads_of_copy,
)
from ptxkit.analysis.context.barrier_placement import CTA_BARRIER, WARP_BARRIER, PathPoint, find_ordering_barrier
from ptxkit.analysis.context.kernel_facts import KernelFacts, ScenarioFacts
from ptxkit.analysis.context.races import AccessInstance, Race
from ptxkit.analysis.context.thread_view import CopiesByStep, PairBudget, ThreadView
from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.symexec.access_ranges import access_range
from ptxkit.analysis.symexec.trace import TraceEvent, UnknownCall
from ptxkit.analysis.sync.async_groups import GROUP_MECHANISMS, AsyncCopy
from ptxkit.analysis.sync.sync_edges import NEVER, find_unordered_release
from ptxkit.analysis.values.scenario import LaunchConfig
from ptxkit.fast_dataclasses import dataclass
from ptxkit.isa.effects import Access, MbarrierWait, WaitGroup
from ptxkit.rules.barrier_help import barrier_fixes, format_barrier_help, path_point_of, release_label
from ptxkit.rules.model import (
    TRUNCATED,
    Finding,
    FixCandidate,
    Observation,
    OpenObligation,
    Rule,
    StepEdit,
    decrease_constant,
)


def check(kernel: KernelFacts) -> Iterator[Observation | OpenObligation]:
    """Looks at every copy into shared memory and every read of its bytes, in one thread and between two."""
    for number, world in enumerate(kernel.scenarios):
        if world.has_unknown_call:
            continue
        for thread in world.threads.values():
            yield from _check_thread(number, world, thread)
        if world.scenario.launch.cluster_size > 1:
            yield from _check_remote_copies(kernel, number, world)
    yield from _check_early_releases(kernel)


def _check_early_releases(kernel: KernelFacts) -> Iterator[Observation | OpenObligation]:
    """Reads by threads that another one told of its copies before it had waited for them, or did not tell at all."""
    by_steps: dict[tuple[Step, Step], set[LaunchConfig]] = defaultdict(set)
    found = [(number, conflict) for number, conflict in kernel.races if _is_copy_race(conflict)]
    for number, conflict in found:
        steps = (conflict.write.event.step, conflict.read.event.step)
        by_steps[steps].add(kernel.scenarios[number].scenario.launch)
    for number, conflict in found:
        world, write, read = kernel.scenarios[number], conflict.write, conflict.read
        launch = world.scenario.launch
        others = {other.scenario.launch for other in kernel.scenarios} - by_steps[(write.event.step, read.event.step)]
        if launch.is_exact or (launch.is_limit and (conflict.completes_late or not others)):
            exact = write.is_certain and read.is_certain
            finding = _incomplete_copy(world, write, read)
            yield Observation((read.event.step, write.event.step), number, exact, finding, 2)
        elif not launch.is_limit:
            yield OpenObligation(
                read.event.step, "how many threads a block has is not said: it may be one warp", "block"
            )


def _is_copy_race(conflict: Race) -> bool:
    """Whether the threads' own copies are read by others, that do not know of their end."""
    write, read = conflict.write.event.effect, conflict.read.event.effect
    if conflict.is_write_after_read or not isinstance(write, Access) or not isinstance(read, Access):
        return False
    if conflict.completes_late:
        return conflict.write.completion_wait is not None and read.kind != "write"
    return write.completion == "cp.async" and (read.kind, read.proxy, read.completion) == ("read", "generic", None)


def _check_remote_copies(
    kernel: KernelFacts, number: int, world: ScenarioFacts
) -> Iterator[Observation | OpenObligation]:
    """Copies into this CTA that another one of its cluster issues."""
    if may_poll_memory(kernel.program):
        return
    looks, departures = PairBudget(world.budget), OutgoingSignals(world)
    signals: frozenset[int] | None = None
    for copy in find_remote_copies(kernel.scenarios, world):
        signals = find_signalled_mbarriers(kernel.scenarios) if signals is None else signals
        for reader in world.threads.values():
            for position, event in reads_of_copy(reader, copy):
                key = (event.step, copy.event.step)
                if not looks.allow(key):
                    continue
                kept = is_completion_observed(world, reader, position, copy, signals, departures)
                if kept is False and world.may_acquire_from_truncated(reader, position):
                    yield OpenObligation(event.step, TRUNCATED)
                elif kept is not None:
                    exact = copy.issuer.trace.is_certain(copy.position) and reader.trace.is_certain(position)
                    finding = None if kept else _unobserved_remote_copy(world.name_of(event), copy, event)
                    yield Observation(key, number, exact, finding, 2)


def _check_thread(number: int, world: ScenarioFacts, issuer: ThreadView) -> Iterator[Observation | OpenObligation]:
    if not issuer.copies_by_range:
        return
    for reader in world.threads.values():
        settled: set[tuple[Step, Step]] = set()
        looks = PairBudget(world.budget)
        for position, event, fills in reader.reads_of(issuer, world.budget):
            if world.budget.is_exhausted:
                return
            for step, copies in _last_copy_before(position, fills) if reader is issuer else fills:
                key = (event.step, step)
                if key in settled:
                    continue
                for copy in copies:
                    if not looks.allow(key):
                        settled.add(key)
                        break
                    observation = _check_pair(number, world, (issuer, copy), (reader, position, event))
                    if observation is not None:
                        yield observation
                        if isinstance(observation, Observation) and observation.finding is not None:
                            settled.add(key)
                            break


def _last_copy_before(position: int, fills: CopiesByStep) -> CopiesByStep:
    """Of the copies that write some bytes, the last one before a position: that is what is read there."""
    before = (copy for _, copies in fills for copy in copies if copy.position < position)
    last = max(before, key=lambda copy: copy.position, default=None)
    return ((last.event.step, [last]),) if last is not None else ()


def _check_pair(
    number: int, world: ScenarioFacts, write: tuple[ThreadView, AsyncCopy], read: tuple[ThreadView, int, TraceEvent]
) -> Observation | OpenObligation | None:
    (issuer, copy), (reader, position, event) = write, read
    key = (event.step, copy.event.step)
    exact = issuer.trace.is_certain(copy.position) and reader.trace.is_certain(position)
    if copy.group not in GROUP_MECHANISMS or (
        copy.track_position is not None and not _is_group_awaited(world, copy, write[0], read)
    ):
        kept = _is_mbarrier_awaited(world, issuer, copy, reader, position)
        if kept is False and world.may_acquire_from_truncated(reader, position):
            return OpenObligation(event.step, TRUNCATED)
    elif copy.commit_position is None and issuer.trace.end_reason == "exit" and _has_later_wait(issuer, copy):
        return None  # PTX301 speaks of it
    elif reader is issuer:
        kept = _is_complete_by(copy, position)
    else:
        kept = _is_complete_at_release(world, issuer, copy, reader, position)
    if kept is None:
        return None
    finding = None if kept else _finding(world, issuer, copy, reader, position, event)
    return Observation(key, number, exact, finding, 1 if reader is issuer else 2)


def _has_later_wait(issuer: ThreadView, copy: AsyncCopy) -> bool:
    return any(
        at > copy.position and isinstance(event.effect, WaitGroup) and event.effect.group == copy.group
        for at, event in issuer.positions(WaitGroup)
    )


def _is_group_awaited(
    world: ScenarioFacts, copy: AsyncCopy, issuer: ThreadView, read: tuple[ThreadView, int, TraceEvent]
) -> bool:
    """Whether a wait for the copy's group comes before the read, whatever the mbarrier that tracks it tells."""
    reader, position, _ = read
    if reader is issuer:
        return _is_complete_by(copy, position)
    return any(
        _is_complete_by(copy, way.release_position) for way in world.sync_edges(issuer, copy.position, reader, position)
    )


def _is_complete_by(copy: AsyncCopy, position: int) -> bool:
    return copy.completion_position is not None and copy.completion_position < position


def _is_complete_at_release(
    world: ScenarioFacts, issuer: ThreadView, copy: AsyncCopy, reader: ThreadView, position: int
) -> bool | None:
    """Whether another thread's copy is complete where the reader takes over; None where the two are not ordered."""
    ways = list(world.sync_edges(issuer, copy.position, reader, position))
    if ways:
        return any(_is_complete_by(copy, way.release_position) for way in ways)
    own = reader.copies_by_execution.get((copy.event.step, copy.event.visit), ())
    same_round = [other for other in own if other.position < position]
    if not same_round:
        return None
    # The reader issued its own part of this copy and met no barrier since: the other thread may be anywhere.
    since = same_round[-1].position
    return None if reader.release_acquire_points.acquires_between(since, position) else False


def _is_mbarrier_awaited(
    world: ScenarioFacts, issuer: ThreadView, copy: AsyncCopy, reader: ThreadView, position: int
) -> bool | None:
    """Whether a copy that completes on an mbarrier was waited for; None where that cannot be told."""
    if not isinstance(copy.barrier, int):
        return None
    if reader is issuer and copy.completion_position is not None and copy.completion_position < position:
        return True
    if copy.phase is not None and reader.phases:
        if reader.has_observed(copy.barrier, copy.phase, position):
            return True
        if reader.has_observed(copy.barrier, 1, position):
            return None  # what it reads came in an earlier phase; whether this copy comes too soon is another question
        if reader is issuer and position < copy.position:
            return True
        if reader is not issuer and any(world.sync_edges(reader, position, issuer, copy.position)):
            return True
    elif _has_wait_before(reader, copy.barrier, position):
        return True if reader is not issuer else None
    if reader is not issuer and not _only_copies_fill(world, copy, reader.trace.events[position]):
        return None
    if _has_other_waiter(world, copy, copy.phase, reader, position):
        return True
    if reader is not issuer and any(world.sync_edges(reader, position, issuer, copy.position)):
        return True  # it was read before the copy began
    if copy.phase is not None and _has_other_waiter(world, copy, 1, reader, position):
        return None  # as above, by what others waited for
    # A wait that no walk executes, or at an address nobody knows, may be the one that is missed here.
    return False if world.is_exhaustive_for(MbarrierWait) else None


def _has_wait_before(thread: ThreadView, barrier: int, until: int) -> bool:
    return any(thread.first_waits.get(key, until) < until for key in (barrier, None))


def _phase_observations(thread: ThreadView, copy: AsyncCopy, phase: int | None) -> list[int]:
    """From where on a thread knows, by its own waits, that a phase of a copy's mbarrier is complete."""
    if phase is not None and thread.phases:
        known = thread.release_acquire_points.first_acquire(("mbarrier", copy.barrier), phase)
        return [] if known is None or known == NEVER else [known]
    keys = (copy.barrier if isinstance(copy.barrier, int) else None, None)
    return [at for key in keys if (at := thread.first_waits.get(key, NEVER)) != NEVER]


def _has_other_waiter(
    world: ScenarioFacts, copy: AsyncCopy, phase: int | None, reader: ThreadView, position: int
) -> bool:
    """Whether another thread waits for a phase of the mbarrier and the reader learnt of it by a barrier, or its warp.

    Threads that take the reader's path have not waited earlier than it did.
    """
    for thread in world.threads.values():
        waits = _phase_observations(thread, copy, phase)
        if waits and (thread.trace.leader is None or thread.trace.leader != reader.trace.leader):
            same_warp = thread.tid // 32 == reader.tid // 32
            if same_warp or any(world.sync_edges(thread, min(waits), reader, position)):
                return True
    return False


def _only_copies_fill(world: ScenarioFacts, copy: AsyncCopy, read: TraceEvent | UnknownCall) -> bool:
    """Whether nothing but asynchronous copies fills these bytes before they are read: then it is a copy that is read.

    What threads write there behind their own reads in the same round is of later use.
    """
    low, high = access_range(copy.event) or (0, 0)
    place = (read.step, read.visit)
    return not any(
        at < thread.access_positions.get(place, NEVER) for thread, at in world.generic_stores.overlapping(low, high)
    )


def _finding(
    world: ScenarioFacts, issuer: ThreadView, copy: AsyncCopy, reader: ThreadView, position: int, event: TraceEvent
) -> Finding:
    labels: list[tuple[Step, str]] = [(copy.event.step, "asynchronous copy into these bytes")]
    grouped = copy.group in GROUP_MECHANISMS and copy.track_position is None
    own = reader is issuer
    until = position if own and copy.completion_position is not None else len(issuer.trace.events)
    waits = [
        found.step
        for at, found in issuer.positions(WaitGroup)
        if copy.position < at < until and isinstance(found.effect, WaitGroup) and found.effect.group == copy.group
    ]
    leaves = bool(waits) and (own or copy.completion_position is None)
    mends: list[FixCandidate] = []
    properties: dict[str, object] = {"completion": copy.group}
    if not grouped:
        what = "no thread waits on the mbarrier that the copy completes on"
        mend = "wait for the phase of that mbarrier (`mbarrier.try_wait.parity`, in a loop) before the read"
    elif copy.commit_position is None:
        what = "the copy was not committed to a group"
        mend = "commit the group before the wait" if waits else "commit the group, and wait for it before the read"
    elif leaves:
        what, mend = "the wait leaves its group pending", "lower the count of the wait at line {2}"
        labels.append((waits[0], "may leave this copy's group unfinished"))
    elif copy.completion_position is None:
        what, mend = "nothing waits for it", f"add `{copy.group}.wait_group 0;` and a barrier before the read"
    elif own:
        what, mend = "the wait comes too late", "wait for the copy's group before the read, not only at line {2}"
        labels.append((issuer.trace.events[copy.completion_position].step, "the first wait that covers the copy"))
    else:
        started, over = (
            path_point_of(world, issuer, copy.position),
            path_point_of(world, issuer, copy.completion_position),
        )
        lack = _missing_order(world, started, over, path_point_of(world, reader, position))
        what, mend, mends = lack.reason, lack.help, [*lack.fixes]
        labels += lack.labels
        properties["barrier"] = lack.barrier
    if grouped:
        mends += _fixes(copy, waits, event.step, own=own)
    who = "" if own else " by another thread"
    return Finding(
        primary=event.step,
        message=f"reads {world.name_of(event)}, which the copy at line {{1}}{who} may still be writing: {what}",
        labels=tuple(labels),
        help=mend,
        properties=properties,
        group_key=(what, copy.group, waits[0] if waits else None),
        fixes=tuple(mends),
    )


def _fixes(copy: AsyncCopy, waits: list[Step], read: Step, *, own: bool) -> Iterator[FixCandidate]:
    """A smaller count of the wait, where that leaves the copy pending; a barrier, or a wait, in front of the read."""
    for step in waits[:1] if own or copy.completion_position is None else ():
        yield from (FixCandidate(f"wait with {change.text}", (change,)) for change in decrease_constant(step))
    if waits and not own:
        yield FixCandidate(f"add `{CTA_BARRIER}`", (StepEdit(read, CTA_BARRIER),), safe=False)
        yield FixCandidate(f"add `{WARP_BARRIER}`", (StepEdit(read, WARP_BARRIER),), safe=False)
    if copy.commit_position is not None:
        wait = f"{copy.group if copy.group != 'bulk' else 'cp.async.bulk'}.wait_group 0;"
        yield FixCandidate(f"add `{wait}`", (StepEdit(read, wait if own else f"{wait}\n{CTA_BARRIER}"),), safe=own)


@dataclass(frozen=True, slots=True)
class _MissingOrder:
    """What a thread that has waited for its copies does not tell another one. what, mend: in words, for a finding with
    the labels behind that of the copy. barrier: the text of the one that is missing; None where it is none."""

    reason: str
    help: str
    labels: tuple[tuple[Step, str], ...]
    barrier: str | None = None
    fixes: tuple[FixCandidate, ...] = ()


def _missing_order(world: ScenarioFacts, copy: PathPoint, over: PathPoint, read: PathPoint) -> _MissingOrder:
    """What lacks between the issuing thread's wait and another thread's read."""
    what, wait = "only the issuing thread has waited for it", (over.step, "the issuing thread's wait for it")
    told = find_unordered_release(
        copy.tid, copy.events, copy.position, over.position, read.path.release_acquire_points, read.position
    )
    if told is not None and not told.is_relaxed:
        label = (told.step, "hands over before the wait")
        return _MissingOrder(
            "its wait comes behind what hands over", "move the wait in front of line {3}", (wait, label)
        )
    barrier = find_ordering_barrier(world, over, read)
    mend = format_barrier_help(barrier, "between the wait and the read", "issuing threads", (2, 3))
    what += ", and the arrival at line {3} is relaxed" if barrier.is_relaxed else ""
    mends = barrier_fixes(barrier, over.step, read.step)
    return _MissingOrder(what, mend, (wait, *release_label(barrier)), barrier.sole_text, mends)


def _incomplete_copy(world: ScenarioFacts, write: AccessInstance, read: AccessInstance) -> Finding:
    copy, reader = PathPoint(write.path, write.tid, write.position), PathPoint(read.path, read.tid, read.position)
    effect = write.event.effect
    if write.completion_wait is None:
        mend = "wait for the copy in the threads that issue it, then add a barrier"
        lack = _MissingOrder("nothing orders the two", mend, ())
    else:
        lack = _missing_order(world, copy, PathPoint(write.path, write.tid, write.completion_wait), reader)
    labels = ((write.event.step, "asynchronous copy into these bytes"), *lack.labels)
    name = world.name_of(read.event)
    return Finding(
        primary=read.event.step,
        message=f"reads {name}, which the copy at line {{1}} by another thread may still be writing: {lack.reason}",
        labels=labels,
        help=lack.help,
        properties={"completion": effect.completion if isinstance(effect, Access) else None, "barrier": lack.barrier},
        group_key=(lack.reason, labels[-1][0]),
        fixes=lack.fixes,
    )


def _unobserved_remote_copy(name: str, copy: RemoteCopy, event: TraceEvent) -> Finding:
    rank = copy.source.scenario.rank
    return Finding(
        primary=event.step,
        message=f"reads {name}, which CTA {rank} of the cluster may still be writing at line {{1}}: "
        "nobody has waited for the phase of the mbarrier that it completes on",
        labels=((copy.event.step, "asynchronous copy into these bytes of another CTA"),),
        help="wait for the phase of that mbarrier (`mbarrier.try_wait.parity`, in a loop) before the read",
        properties={"completion": "mbarrier", "cta": rank},
        group_key=("another CTA", copy.event.step),
    )


RULE = Rule(
    "PTX302",
    "read-before-wait",
    ("cp.async.wait_group / cp.async.wait_all", "Completion Mechanisms for Asynchronous Copy Operations"),
    check,
    asynchronous=True,
)
