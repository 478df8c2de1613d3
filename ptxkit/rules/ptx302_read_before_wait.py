"""PTX302: shared memory is read while the copy that fills it may still be in flight.

What it does
    Finds a read of bytes that an asynchronous copy writes, if the issuing thread has not waited for the copy: there is
    no wait, a `wait_group` leaves the group of the copy pending, the wait is for another kind of group, or no thread
    waits on the mbarrier of the copy. It also finds reads by another thread if the issuing thread waited but nothing
    orders that wait before the read, and reads of data that another CTA copied, if that CTA observes the completion on
    its own mbarrier and does not signal it to the reader.

Why it matters
    Until its completion is observed, the copy may write at any time. The read returns old bytes, new bytes, or a
    mixture.

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
from ptxkit.analysis.context.barrier_placement import (
    CTA_BARRIER,
    WARP_BARRIER,
    PathPoint,
    find_ordering_barrier,
    path_point_of,
)
from ptxkit.analysis.context.kernel_facts import KernelFacts, ScenarioFacts
from ptxkit.analysis.context.races import AccessInstance
from ptxkit.analysis.context.thread_view import PairBudget, ThreadView
from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.memory.copy_completion import (
    CopyStatus,
    copy_status_at,
    is_copy_race,
    is_group_copy,
    last_copy_before,
)
from ptxkit.analysis.symexec.trace import TraceEvent
from ptxkit.analysis.sync.async_groups import AsyncCopy
from ptxkit.analysis.sync.sync_edges import find_unordered_release
from ptxkit.analysis.values.scenario import LaunchConfig
from ptxkit.diagnostics import Message
from ptxkit.diagnostics.catalogue import ptx3xx
from ptxkit.fast_dataclasses import dataclass
from ptxkit.isa.effects import Access, WaitGroup
from ptxkit.rules.barrier_help import barrier_fixes, format_barrier_help, release_label
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
    """Checks every copy into shared memory and every read of its bytes, in one thread and between two."""
    for number, facts in enumerate(kernel.scenarios):
        if facts.has_unknown_call:
            continue
        for thread in facts.threads.values():
            yield from _check_thread(number, facts, thread)
        if facts.scenario.launch.cluster_size > 1:
            yield from _check_remote_copies(kernel, number, facts)
    yield from _check_early_releases(kernel)


def _check_early_releases(kernel: KernelFacts) -> Iterator[Observation | OpenObligation]:
    """Yields reads by threads that another thread signalled before it had waited for its copies, or did not signal."""
    by_steps: dict[tuple[Step, Step], set[LaunchConfig]] = defaultdict(set)
    found = [(number, conflict) for number, conflict in kernel.races if is_copy_race(conflict)]
    for number, conflict in found:
        steps = (conflict.write.event.step, conflict.read.event.step)
        by_steps[steps].add(kernel.scenarios[number].scenario.launch)
    for number, conflict in found:
        facts, write, read = kernel.scenarios[number], conflict.write, conflict.read
        launch = facts.scenario.launch
        others = {other.scenario.launch for other in kernel.scenarios} - by_steps[(write.event.step, read.event.step)]
        if launch.is_exact or (launch.is_limit and (conflict.completes_late or not others)):
            exact = write.is_certain and read.is_certain
            finding = _incomplete_copy(facts, write, read)
            yield Observation((read.event.step, write.event.step), number, exact, finding, 2)
        elif not launch.is_limit:
            yield OpenObligation(read.event.step, ptx3xx.BLOCK_SIZE_MAY_BE_ONE_WARP(), "block")


def _check_remote_copies(
    kernel: KernelFacts, number: int, facts: ScenarioFacts
) -> Iterator[Observation | OpenObligation]:
    """Yields copies into this CTA that another CTA of its cluster issues."""
    if may_poll_memory(kernel.program):
        return
    looks, departures = PairBudget(facts.budget), OutgoingSignals(facts)
    signals: frozenset[int] | None = None
    for copy in find_remote_copies(kernel.scenarios, facts):
        signals = find_signalled_mbarriers(kernel.scenarios) if signals is None else signals
        for reader in facts.threads.values():
            for position, event in reads_of_copy(reader, copy):
                key = (event.step, copy.event.step)
                if not looks.allow(key):
                    continue
                kept = is_completion_observed(facts, reader, position, copy, signals, departures)
                if kept is False and facts.may_acquire_from_truncated(reader, position):
                    yield OpenObligation(event.step, TRUNCATED)
                elif kept is not None:
                    exact = copy.issuer.trace.is_certain(copy.position) and reader.trace.is_certain(position)
                    finding = None if kept else _unobserved_remote_copy(facts.name_of(event), copy, event)
                    yield Observation(key, number, exact, finding, 2)


def _check_thread(number: int, facts: ScenarioFacts, issuer: ThreadView) -> Iterator[Observation | OpenObligation]:
    if not issuer.copies_by_range:
        return
    for reader in facts.threads.values():
        settled: set[tuple[Step, Step]] = set()
        looks = PairBudget(facts.budget)
        for position, event, fills in reader.reads_of(issuer, facts.budget):
            if facts.budget.is_exhausted:
                return
            for step, copies in last_copy_before(position, fills) if reader is issuer else fills:
                key = (event.step, step)
                if key in settled:
                    continue
                for copy in copies:
                    if not looks.allow(key):
                        settled.add(key)
                        break
                    observation = _check_pair(number, facts, (issuer, copy), (reader, position, event))
                    if observation is not None:
                        yield observation
                        if isinstance(observation, Observation) and observation.finding is not None:
                            settled.add(key)
                            break


def _check_pair(
    number: int, facts: ScenarioFacts, write: tuple[ThreadView, AsyncCopy], read: tuple[ThreadView, int, TraceEvent]
) -> Observation | OpenObligation | None:
    (issuer, copy), (reader, position, event) = write, read
    status = copy_status_at(facts, issuer, copy, reader, position)
    if status is CopyStatus.UNKNOWN:
        return None
    if status is CopyStatus.TRUNCATED:
        return OpenObligation(event.step, TRUNCATED)
    exact = issuer.trace.is_certain(copy.position) and reader.trace.is_certain(position)
    is_complete = status is CopyStatus.COMPLETE
    finding = None if is_complete else _finding(facts, issuer, copy, reader, position, event)
    return Observation((event.step, copy.event.step), number, exact, finding, 1 if reader is issuer else 2)


def _finding(
    facts: ScenarioFacts, issuer: ThreadView, copy: AsyncCopy, reader: ThreadView, position: int, event: TraceEvent
) -> Finding:
    labels: list[tuple[Step, Message]] = [(copy.event.step, ptx3xx.COPY_INTO_THESE_BYTES())]
    grouped = is_group_copy(copy)
    own = reader is issuer
    until = position if own and copy.completion_position is not None else len(issuer.trace.events)
    waits = [
        found.step
        for at, found in issuer.positions(WaitGroup)
        if copy.position < at < until and isinstance(found.effect, WaitGroup) and found.effect.group == copy.group
    ]
    leaves = bool(waits) and (own or copy.completion_position is None)
    fixes: list[FixCandidate] = []
    properties: dict[str, object] = {"completion": copy.group}
    if not grouped:
        what = ptx3xx.NO_WAIT_ON_MBARRIER()
        fix = ptx3xx.WAIT_FOR_MBARRIER_PHASE()
    elif copy.commit_position is None:
        what = ptx3xx.GROUP_NOT_COMMITTED()
        fix = ptx3xx.COMMIT_BEFORE_WAIT() if waits else ptx3xx.COMMIT_AND_WAIT()
    elif leaves:
        what, fix = ptx3xx.WAIT_LEAVES_GROUP_PENDING(), ptx3xx.LOWER_WAIT_COUNT()
        labels.append((waits[0], ptx3xx.MAY_LEAVE_GROUP_UNFINISHED()))
    elif copy.completion_position is None:
        what, fix = ptx3xx.NOTHING_WAITS(), ptx3xx.ADD_WAIT_AND_BARRIER(group=copy.group)
    elif own:
        what, fix = ptx3xx.WAIT_TOO_LATE(), ptx3xx.WAIT_EARLIER()
        labels.append((issuer.trace.events[copy.completion_position].step, ptx3xx.FIRST_COVERING_WAIT()))
    else:
        started, over = (
            path_point_of(facts, issuer, copy.position),
            path_point_of(facts, issuer, copy.completion_position),
        )
        lack = _missing_order(facts, started, over, path_point_of(facts, reader, position))
        what, fix, fixes = lack.reason, lack.help, [*lack.fixes]
        labels += lack.labels
        properties["barrier"] = lack.barrier
    if grouped:
        fixes += _fixes(copy, waits, event.step, own=own)
    who = "" if own else ptx3xx.BY_ANOTHER_THREAD()
    return Finding(
        primary=event.step,
        message=ptx3xx.READ_DURING_COPY(variable=facts.name_of(event), issuer=who, reason=what),
        labels=tuple(labels),
        help=fix,
        properties=properties,
        group_key=(what, copy.group, waits[0] if waits else None),
        fixes=tuple(fixes),
    )


def _fixes(copy: AsyncCopy, waits: list[Step], read: Step, *, own: bool) -> Iterator[FixCandidate]:
    """The edits: a smaller count if the wait leaves the copy pending; a barrier or a wait before the read."""
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
    """The missing order between a thread that has waited for its copies and a reader.

    reason, help: of a finding; labels: those after the label of the copy. barrier: the text of the missing one; None if
    no barrier is missing.
    """

    reason: Message
    help: Message
    labels: tuple[tuple[Step, Message], ...]
    barrier: str | None = None
    fixes: tuple[FixCandidate, ...] = ()


def _missing_order(facts: ScenarioFacts, copy: PathPoint, over: PathPoint, read: PathPoint) -> _MissingOrder:
    """What is missing between the wait of the issuing thread and the read of another thread."""
    what, wait = ptx3xx.ONLY_ISSUER_WAITED(), (over.step, ptx3xx.WAIT_OF_ISSUER())
    release = find_unordered_release(
        copy.tid, copy.events, copy.position, over.position, read.path.release_acquire_points, read.position
    )
    if release is not None and not release.is_relaxed:
        label = (release.step, ptx3xx.HANDOVER_BEFORE_WAIT())
        return _MissingOrder(ptx3xx.WAIT_AFTER_HANDOVER(), ptx3xx.MOVE_WAIT_BEFORE_HANDOVER(), (wait, label))
    barrier = find_ordering_barrier(facts, over, read)
    fix = format_barrier_help(barrier, ptx3xx.BETWEEN_WAIT_AND_READ(), "issuing threads", (2, 3))
    what = ptx3xx.ONLY_ISSUER_WAITED_AND_RELAXED() if barrier.is_relaxed else what
    fixes = barrier_fixes(barrier, over.step, read.step)
    return _MissingOrder(what, fix, (wait, *release_label(barrier)), barrier.sole_text, fixes)


def _incomplete_copy(facts: ScenarioFacts, write: AccessInstance, read: AccessInstance) -> Finding:
    copy, reader = PathPoint(write.path, write.tid, write.position), PathPoint(read.path, read.tid, read.position)
    effect = write.event.effect
    if write.completion_wait is None:
        fix = ptx3xx.WAIT_IN_ISSUING_THREADS()
        lack = _MissingOrder(ptx3xx.NOT_ORDERED(), fix, ())
    else:
        lack = _missing_order(facts, copy, PathPoint(write.path, write.tid, write.completion_wait), reader)
    labels = ((write.event.step, ptx3xx.COPY_INTO_THESE_BYTES()), *lack.labels)
    name = facts.name_of(read.event)
    return Finding(
        primary=read.event.step,
        message=ptx3xx.READ_DURING_COPY_OF_OTHER_THREAD(variable=name, reason=lack.reason),
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
        message=ptx3xx.READ_DURING_COPY_OF_OTHER_CTA(variable=name, rank=rank),
        labels=((copy.event.step, ptx3xx.COPY_INTO_BYTES_OF_OTHER_CTA()),),
        help=ptx3xx.WAIT_FOR_MBARRIER_PHASE(),
        properties={"completion": "mbarrier", "cta": rank},
        group_key=("another CTA", copy.event.step),
    )


RULE = Rule(ptx3xx.READ_BEFORE_WAIT, check, asynchronous=True)
