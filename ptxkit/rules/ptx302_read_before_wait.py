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

from ptxkit.analysis.clusters import polls, signalled
from ptxkit.analysis.conflicts import Conflict, Touch
from ptxkit.analysis.incoming import Departures, Incoming, incoming, is_known, reads
from ptxkit.analysis.inflight import GROUPED, Copy
from ptxkit.analysis.kernel import Kernel, World
from ptxkit.analysis.order import NEVER, unordered_release
from ptxkit.analysis.ordering_barriers import CTA_BARRIER, WARP_BARRIER, Spot, ordering_barrier
from ptxkit.analysis.program import Step
from ptxkit.analysis.scenario import Launch
from ptxkit.analysis.thread import Fills, Looks, Thread
from ptxkit.analysis.touches import extent
from ptxkit.analysis.trace import Event, Opaque
from ptxkit.isa.effects import Access, MbarrierWait, WaitGroup
from ptxkit.records import dataclass
from ptxkit.rules.barriers import mends_of, release_label, spot, words_of
from ptxkit.rules.finding import CUT, Change, Doubt, Finding, Mend, Observation, Rule, smaller_constants


def check(kernel: Kernel) -> Iterator[Observation | Doubt]:
    """Looks at every copy into shared memory and every read of its bytes, in one thread and between two."""
    for number, world in enumerate(kernel.worlds):
        if world.is_opaque:
            continue
        for thread in world.threads.values():
            yield from _thread(number, world, thread)
        if world.scenario.launch.cluster_size > 1:
            yield from _from_other_ctas(kernel, number, world)
    yield from _told_too_early(kernel)


def _told_too_early(kernel: Kernel) -> Iterator[Observation | Doubt]:
    """Reads by threads that another one told of its copies before it had waited for them, or did not tell at all."""
    by_steps: dict[tuple[Step, Step], set[Launch]] = defaultdict(set)
    found = [(number, conflict) for number, conflict in kernel.conflicts if _is_of_copies(conflict)]
    for number, conflict in found:
        steps = (conflict.write.event.step, conflict.read.event.step)
        by_steps[steps].add(kernel.worlds[number].scenario.launch)
    for number, conflict in found:
        world, write, read = kernel.worlds[number], conflict.write, conflict.read
        launch = world.scenario.launch
        others = {other.scenario.launch for other in kernel.worlds} - by_steps[(write.event.step, read.event.step)]
        if launch.is_exact or (launch.is_limit and (conflict.late or not others)):
            exact = write.is_sure and read.is_sure
            finding = _not_over(world, write, read)
            yield Observation((read.event.step, write.event.step), number, exact, finding, 2)
        elif not launch.is_limit:
            yield Doubt(read.event.step, "how many threads a block has is not said: it may be one warp", "block")


def _is_of_copies(conflict: Conflict) -> bool:
    """Whether the threads' own copies are read by others, that do not know of their end."""
    write, read = conflict.write.event.effect, conflict.read.event.effect
    if conflict.returns or not isinstance(write, Access) or not isinstance(read, Access):
        return False
    if conflict.late:
        return conflict.write.over is not None and read.kind != "write"
    return write.completion == "cp.async" and (read.kind, read.proxy, read.completion) == ("read", "generic", None)


def _from_other_ctas(kernel: Kernel, number: int, world: World) -> Iterator[Observation | Doubt]:
    """Copies into this CTA that another one of its cluster issues."""
    if polls(kernel.program):
        return
    looks, departures = Looks(world.budget), Departures(world)
    signals: frozenset[int] | None = None
    for copy in incoming(kernel.worlds, world):
        signals = signalled(kernel.worlds) if signals is None else signals
        for reader in world.threads.values():
            for position, event in reads(reader, copy):
                key = (event.step, copy.event.step)
                if not looks.allow(key):
                    continue
                kept = is_known(world, reader, position, copy, signals, departures)
                if kept is False and world.may_hear_behind_a_cut(reader, position):
                    yield Doubt(event.step, CUT)
                elif kept is not None:
                    exact = copy.issuer.trace.is_sure(copy.position) and reader.trace.is_sure(position)
                    finding = None if kept else _unknown(world.name_of(event), copy, event)
                    yield Observation(key, number, exact, finding, 2)


def _thread(number: int, world: World, issuer: Thread) -> Iterator[Observation | Doubt]:
    if not issuer.fills:
        return
    for reader in world.threads.values():
        settled: set[tuple[Step, Step]] = set()
        looks = Looks(world.budget)
        for position, event, fills in reader.reads_of(issuer, world.budget):
            if world.budget.is_over:
                return
            for step, copies in _last_before(position, fills) if reader is issuer else fills:
                key = (event.step, step)
                if key in settled:
                    continue
                for copy in copies:
                    if not looks.allow(key):
                        settled.add(key)
                        break
                    observation = _look(number, world, (issuer, copy), (reader, position, event))
                    if observation is not None:
                        yield observation
                        if isinstance(observation, Observation) and observation.finding is not None:
                            settled.add(key)
                            break


def _last_before(position: int, fills: Fills) -> Fills:
    """Of the copies that write some bytes, the last one before a position: that is what is read there."""
    before = (copy for _, copies in fills for copy in copies if copy.position < position)
    last = max(before, key=lambda copy: copy.position, default=None)
    return ((last.event.step, [last]),) if last is not None else ()


def _look(
    number: int, world: World, write: tuple[Thread, Copy], read: tuple[Thread, int, Event]
) -> Observation | Doubt | None:
    (issuer, copy), (reader, position, event) = write, read
    key = (event.step, copy.event.step)
    exact = issuer.trace.is_sure(copy.position) and reader.trace.is_sure(position)
    if copy.group not in GROUPED or (copy.tracked is not None and not _waited_for(world, copy, write[0], read)):
        kept = _barrier_kept(world, issuer, copy, reader, position)
        if kept is False and world.may_hear_behind_a_cut(reader, position):
            return Doubt(event.step, CUT)
    elif copy.committed is None and issuer.trace.ended == "exit" and _waits_later(issuer, copy):
        return None  # PTX301 speaks of it
    elif reader is issuer:
        kept = _known_by(copy, position)
    else:
        kept = _handed_over(world, issuer, copy, reader, position)
    if kept is None:
        return None
    finding = None if kept else _finding(world, issuer, copy, reader, position, event)
    return Observation(key, number, exact, finding, 1 if reader is issuer else 2)


def _waits_later(issuer: Thread, copy: Copy) -> bool:
    return any(
        at > copy.position and isinstance(event.effect, WaitGroup) and event.effect.group == copy.group
        for at, event in issuer.positions(WaitGroup)
    )


def _waited_for(world: World, copy: Copy, issuer: Thread, read: tuple[Thread, int, Event]) -> bool:
    """Whether a wait for the copy's group comes before the read, whatever the mbarrier that tracks it tells."""
    reader, position, _ = read
    if reader is issuer:
        return _known_by(copy, position)
    return any(_known_by(copy, way.released) for way in world.order(issuer, copy.position, reader, position))


def _known_by(copy: Copy, position: int) -> bool:
    return copy.done is not None and copy.done < position


def _handed_over(world: World, issuer: Thread, copy: Copy, reader: Thread, position: int) -> bool | None:
    """Whether another thread's copy is complete where the reader takes over; None where the two are not ordered."""
    ways = list(world.order(issuer, copy.position, reader, position))
    if ways:
        return any(_known_by(copy, way.released) for way in ways)
    own = reader.copies_at.get((copy.event.step, copy.event.visit), ())
    same_round = [other for other in own if other.position < position]
    if not same_round:
        return None
    # The reader issued its own part of this copy and met no barrier since: the other thread may be anywhere.
    since = same_round[-1].position
    return None if reader.marks.takes_between(since, position) else False


def _barrier_kept(world: World, issuer: Thread, copy: Copy, reader: Thread, position: int) -> bool | None:
    """Whether a copy that completes on an mbarrier was waited for; None where that cannot be told."""
    if not isinstance(copy.barrier, int):
        return None
    if reader is issuer and copy.done is not None and copy.done < position:
        return True
    if copy.phase is not None and reader.phases:
        if reader.knows(copy.barrier, copy.phase, position):
            return True
        if reader.knows(copy.barrier, 1, position):
            return None  # what it reads came in an earlier phase; whether this copy comes too soon is another question
        if reader is issuer and position < copy.position:
            return True
        if reader is not issuer and any(world.order(reader, position, issuer, copy.position)):
            return True
    elif _waits(reader, copy.barrier, position):
        return True if reader is not issuer else None
    if reader is not issuer and not _only_copies_fill(world, copy, reader.trace.events[position]):
        return None
    if _others_waited(world, copy, copy.phase, reader, position):
        return True
    if reader is not issuer and any(world.order(reader, position, issuer, copy.position)):
        return True  # it was read before the copy began
    if copy.phase is not None and _others_waited(world, copy, 1, reader, position):
        return None  # as above, by what others waited for
    # A wait that no walk executes, or at an address nobody knows, may be the one that is missed here.
    return False if world.is_clear_about(MbarrierWait) else None


def _waits(thread: Thread, barrier: int, until: int) -> bool:
    return any(thread.waits.get(key, until) < until for key in (barrier, None))


def _waits_for(thread: Thread, copy: Copy, phase: int | None) -> list[int]:
    """From where on a thread knows, by its own waits, that a phase of a copy's mbarrier is complete."""
    if phase is not None and thread.phases:
        known = thread.marks.acquire_of(("mbarrier", copy.barrier), phase)
        return [] if known is None or known == NEVER else [known]
    keys = (copy.barrier if isinstance(copy.barrier, int) else None, None)
    return [at for key in keys if (at := thread.waits.get(key, NEVER)) != NEVER]


def _others_waited(world: World, copy: Copy, phase: int | None, reader: Thread, position: int) -> bool:
    """Whether another thread waits for a phase of the mbarrier and the reader learnt of it by a barrier, or its warp.

    Threads that take the reader's path have not waited earlier than it did.
    """
    for thread in world.threads.values():
        waits = _waits_for(thread, copy, phase)
        if waits and (thread.trace.leader is None or thread.trace.leader != reader.trace.leader):
            same_warp = thread.tid // 32 == reader.tid // 32
            if same_warp or any(world.order(thread, min(waits), reader, position)):
                return True
    return False


def _only_copies_fill(world: World, copy: Copy, read: Event | Opaque) -> bool:
    """Whether nothing but asynchronous copies fills these bytes before they are read: then it is a copy that is read.

    What threads write there behind their own reads in the same round is of later use.
    """
    low, high = extent(copy.event) or (0, 0)
    place = (read.step, read.visit)
    return not any(at < thread.accesses_at.get(place, NEVER) for thread, at in world.stores.overlapping(low, high))


def _finding(world: World, issuer: Thread, copy: Copy, reader: Thread, position: int, event: Event) -> Finding:
    labels: list[tuple[Step, str]] = [(copy.event.step, "asynchronous copy into these bytes")]
    grouped = copy.group in GROUPED and copy.tracked is None
    own = reader is issuer
    until = position if own and copy.done is not None else len(issuer.trace.events)
    waits = [
        found.step
        for at, found in issuer.positions(WaitGroup)
        if copy.position < at < until and isinstance(found.effect, WaitGroup) and found.effect.group == copy.group
    ]
    leaves = bool(waits) and (own or copy.done is None)
    mends: list[Mend] = []
    properties: dict[str, object] = {"completion": copy.group}
    if not grouped:
        what = "no thread waits on the mbarrier that the copy completes on"
        mend = "wait for the phase of that mbarrier (`mbarrier.try_wait.parity`, in a loop) before the read"
    elif copy.committed is None:
        what = "the copy was not committed to a group"
        mend = "commit the group before the wait" if waits else "commit the group, and wait for it before the read"
    elif leaves:
        what, mend = "the wait leaves its group pending", "lower the count of the wait at line {2}"
        labels.append((waits[0], "may leave this copy's group unfinished"))
    elif copy.done is None:
        what, mend = "nothing waits for it", f"add `{copy.group}.wait_group 0;` and a barrier before the read"
    elif own:
        what, mend = "the wait comes too late", "wait for the copy's group before the read, not only at line {2}"
        labels.append((issuer.trace.events[copy.done].step, "the first wait that covers the copy"))
    else:
        started, over = spot(world, issuer, copy.position), spot(world, issuer, copy.done)
        lack = _untold(world, started, over, spot(world, reader, position))
        what, mend, mends = lack.what, lack.mend, [*lack.mends]
        labels += lack.labels
        properties["barrier"] = lack.barrier
    if grouped:
        mends += _mends(copy, waits, event.step, own=own)
    who = "" if own else " by another thread"
    return Finding(
        primary=event.step,
        message=f"reads {world.name_of(event)}, which the copy at line {{1}}{who} may still be writing: {what}",
        labels=tuple(labels),
        help=mend,
        properties=properties,
        cause=(what, copy.group, waits[0] if waits else None),
        mends=tuple(mends),
    )


def _mends(copy: Copy, waits: list[Step], read: Step, *, own: bool) -> Iterator[Mend]:
    """A smaller count of the wait, where that leaves the copy pending; a barrier, or a wait, in front of the read."""
    for step in waits[:1] if own or copy.done is None else ():
        yield from (Mend(f"wait with {change.text}", (change,)) for change in smaller_constants(step))
    if waits and not own:
        yield Mend(f"add `{CTA_BARRIER}`", (Change(read, CTA_BARRIER),), safe=False)
        yield Mend(f"add `{WARP_BARRIER}`", (Change(read, WARP_BARRIER),), safe=False)
    if copy.committed is not None:
        wait = f"{copy.group if copy.group != 'bulk' else 'cp.async.bulk'}.wait_group 0;"
        yield Mend(f"add `{wait}`", (Change(read, wait if own else f"{wait}\n{CTA_BARRIER}"),), safe=own)


@dataclass(frozen=True, slots=True)
class _Untold:
    """What a thread that has waited for its copies does not tell another one. what, mend: in words, for a finding with
    the labels behind that of the copy. barrier: the text of the one that is missing; None where it is none."""

    what: str
    mend: str
    labels: tuple[tuple[Step, str], ...]
    barrier: str | None = None
    mends: tuple[Mend, ...] = ()


def _untold(world: World, copy: Spot, over: Spot, read: Spot) -> _Untold:
    """What lacks between the issuing thread's wait and another thread's read."""
    what, wait = "only the issuing thread has waited for it", (over.step, "the issuing thread's wait for it")
    told = unordered_release(copy.tid, copy.events, copy.position, over.position, read.path.marks, read.position)
    if told is not None and not told.is_relaxed:
        label = (told.step, "hands over before the wait")
        return _Untold("its wait comes behind what hands over", "move the wait in front of line {3}", (wait, label))
    barrier = ordering_barrier(world, over, read)
    mend = words_of(barrier, "between the wait and the read", "issuing threads", (2, 3))
    what += ", and the arrival at line {3} is relaxed" if barrier.is_relaxed else ""
    mends = mends_of(barrier, over.step, read.step)
    return _Untold(what, mend, (wait, *release_label(barrier)), barrier.alone, mends)


def _not_over(world: World, write: Touch, read: Touch) -> Finding:
    copy, reader = Spot(write.path, write.tid, write.position), Spot(read.path, read.tid, read.position)
    effect = write.event.effect
    if write.over is None:
        mend = "wait for the copy in the threads that issue it, then add a barrier"
        lack = _Untold("nothing orders the two", mend, ())
    else:
        lack = _untold(world, copy, Spot(write.path, write.tid, write.over), reader)
    labels = ((write.event.step, "asynchronous copy into these bytes"), *lack.labels)
    name = world.name_of(read.event)
    return Finding(
        primary=read.event.step,
        message=f"reads {name}, which the copy at line {{1}} by another thread may still be writing: {lack.what}",
        labels=labels,
        help=lack.mend,
        properties={"completion": effect.completion if isinstance(effect, Access) else None, "barrier": lack.barrier},
        cause=(lack.what, labels[-1][0]),
        mends=lack.mends,
    )


def _unknown(name: str, copy: Incoming, event: Event) -> Finding:
    rank = copy.source.scenario.rank
    return Finding(
        primary=event.step,
        message=f"reads {name}, which CTA {rank} of the cluster may still be writing at line {{1}}: "
        "nobody has waited for the phase of the mbarrier that it completes on",
        labels=((copy.event.step, "asynchronous copy into these bytes of another CTA"),),
        help="wait for the phase of that mbarrier (`mbarrier.try_wait.parity`, in a loop) before the read",
        properties={"completion": "mbarrier", "cta": rank},
        cause=("another CTA", copy.event.step),
    )


RULE = Rule(
    "PTX302",
    "read-before-wait",
    ("cp.async.wait_group / cp.async.wait_all", "Completion Mechanisms for Asynchronous Copy Operations"),
    check,
    asynchronous=True,
)
