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
from collections.abc import Callable, Iterator
from functools import cache, partial

from ptxkit.analysis.cluster.cluster_facts import find_signaled_mbarriers, may_poll_memory
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
from ptxkit.analysis.mbarrier.tx_balance import find_late_expects
from ptxkit.analysis.memory.copy_completion import (
    CopyStatus,
    copy_status_at,
    is_copy_race,
    is_group_copy,
    last_copy_before,
)
from ptxkit.analysis.memory.unlocated_accesses import UnlocatedAccesses
from ptxkit.analysis.symexec.trace import TraceEvent
from ptxkit.analysis.sync.async_groups import AsyncCopy
from ptxkit.analysis.sync.bounded_wait import find_unchecked_waits
from ptxkit.analysis.sync.sync_edges import find_unordered_release
from ptxkit.analysis.values.scenario import LaunchConfig
from ptxkit.analysis.values.symbolic_values import Value
from ptxkit.diagnostics import LabelLine, Message
from ptxkit.diagnostics.catalogue import fix_titles, ptx3xx
from ptxkit.fast_dataclasses import dataclass
from ptxkit.isa.effects import Access, WaitGroup
from ptxkit.isa.group_opcodes import wait_opcode
from ptxkit.rules.barrier_help import barrier_fixes, format_barrier_help, release_label
from ptxkit.rules.model import (
    TRUNCATED,
    Finding,
    FixCandidate,
    Observation,
    OpenObligation,
    Rule,
    StepEdit,
    add_statement,
    decrease_constant,
)
from ptxkit.rules.obligation_sites import both, is_async, reads_shared, sites_of, writes_shared
from ptxkit.rules.operation_nouns import operation_noun


def check(kernel: KernelFacts) -> Iterator[Observation | OpenObligation]:
    """Checks every copy into shared memory and every read of its bytes, in one thread and between two."""
    for number, facts in enumerate(kernel.scenarios):
        if facts.has_unknown_call:
            continue
        late_mbarriers = cache(partial(_find_late_mbarriers, facts))
        for thread in facts.threads.values():
            yield from _check_thread(number, facts, thread, late_mbarriers)
        for read in UnlocatedAccesses(facts, kernel.extents_of(facts)).early_reads():
            yield OpenObligation(read, ptx3xx.READ_MAY_OVERLAP_COPY())
        if facts.scenario.launch.cluster_size > 1:
            yield from _check_remote_copies(kernel, number, facts)
    yield from _check_early_releases(kernel)
    for wait in find_unchecked_waits(kernel.program):
        yield OpenObligation(wait, ptx3xx.WAIT_MAY_GIVE_UP())


def _find_late_mbarriers(facts: ScenarioFacts) -> frozenset[Value | None]:
    """Returns the addresses of the mbarriers on which bytes are expected too late."""
    return frozenset(late.expect.address for _, late in find_late_expects(facts))


def _check_early_releases(kernel: KernelFacts) -> Iterator[Observation | OpenObligation]:
    """Yields reads by threads that another thread signaled before it had waited for its copies, or did not signal."""
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
    pair_budget, departures = PairBudget(facts.budget), OutgoingSignals(facts)
    signals: frozenset[int] | None = None
    for copy in find_remote_copies(kernel.scenarios, facts):
        signals = find_signaled_mbarriers(kernel.scenarios) if signals is None else signals
        for reader in facts.threads.values():
            for position, event in reads_of_copy(reader, copy):
                key = (event.step, copy.event.step)
                if not pair_budget.allow(key):
                    continue
                kept = is_completion_observed(facts, reader, position, copy, signals, departures)
                if kept is False and facts.may_acquire_from_truncated(reader, position):
                    yield OpenObligation(event.step, TRUNCATED)
                elif kept is not None:
                    exact = copy.issuer.trace.is_certain(copy.position) and reader.trace.is_certain(position)
                    finding = None if kept else _unobserved_remote_copy(facts.name_of(event), copy, event)
                    yield Observation(key, number, exact, finding, 2)


def _check_thread(
    number: int, facts: ScenarioFacts, issuer: ThreadView, late_mbarriers: Callable[[], frozenset[Value | None]]
) -> Iterator[Observation | OpenObligation]:
    if not issuer.copies_by_range:
        return
    for reader in facts.threads.values():
        settled: set[tuple[Step, Step]] = set()
        pair_budget = PairBudget(facts.budget)
        for position, event, fills in reader.reads_of(issuer, facts.budget):
            if facts.budget.is_exhausted:
                return
            for step, copies in last_copy_before(position, fills) if reader is issuer else fills:
                key = (event.step, step)
                if key in settled:
                    continue
                for copy in copies:
                    if not pair_budget.allow(key):
                        settled.add(key)
                        break
                    observation = _check_pair(number, facts, (issuer, copy), (reader, position, event), late_mbarriers)
                    if observation is not None:
                        yield observation
                        if isinstance(observation, Observation) and observation.finding is not None:
                            settled.add(key)
                            break


def _check_pair(
    number: int,
    facts: ScenarioFacts,
    write: tuple[ThreadView, AsyncCopy],
    read: tuple[ThreadView, int, TraceEvent],
    late_mbarriers: Callable[[], frozenset[Value | None]],
) -> Observation | OpenObligation | None:
    (issuer, copy), (reader, position, event) = write, read
    status = copy_status_at(facts, issuer, copy, reader, position)
    if status is CopyStatus.UNKNOWN:
        return None
    if status is CopyStatus.TRUNCATED:
        return OpenObligation(event.step, TRUNCATED)
    if status is CopyStatus.GUESSED:
        return OpenObligation(event.step, ptx3xx.DEPENDS_ON_LAUNCH_OR_DATA())
    is_complete = status is CopyStatus.COMPLETE
    earlier = _last_phase_wait(reader, position, copy)
    if not is_complete and earlier is not None and earlier[1] and copy.barrier in late_mbarriers():
        return None  # the copy belongs to a later phase since its bytes are expected too late, which PTX503 reports
    exact = issuer.trace.is_certain(copy.position) and reader.trace.is_certain(position)
    finding = None if is_complete else _finding(facts, issuer, copy, reader, position, event)
    return Observation((event.step, copy.event.step), number, exact, finding, 1 if reader is issuer else 2)


def _finding(
    facts: ScenarioFacts, issuer: ThreadView, copy: AsyncCopy, reader: ThreadView, position: int, event: TraceEvent
) -> Finding:
    noun = operation_noun(copy.event.step)
    labels: list[tuple[Step, Message]] = [(copy.event.step, ptx3xx.COPY_INTO_THESE_BYTES(operation=noun))]
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
    lacks: tuple[Step, ...] = (copy.event.step,)
    if not grouped:
        earlier = _last_phase_wait(reader, position, copy)
        what, fix = ptx3xx.NO_WAIT_ON_MBARRIER(operation=noun), ptx3xx.WAIT_FOR_MBARRIER_PHASE()
        if earlier is not None and not earlier[1]:
            what = ptx3xx.WAIT_OBSERVES_NO_PHASE(operation=noun)
            labels.append((earlier[0], ptx3xx.PASSES_FOR_OTHER_PARITY()))
            fix = ptx3xx.WAIT_FOR_OTHER_PARITY(line=LabelLine(len(labels)))
        elif earlier is not None and copy.phase is not None:
            what = ptx3xx.WAITS_FOR_EARLIER_PHASE(operation=noun, phase=copy.phase)
            labels.append((earlier[0], ptx3xx.OBSERVES_EARLIER_PHASE(phase=earlier[1])))
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
        lacks = (copy.event.step, event.step)
    if grouped:
        fixes += _fixes(copy, waits, event.step, own=own)
    who = "" if own else ptx3xx.BY_ANOTHER_THREAD()
    return Finding(
        primary=event.step,
        message=ptx3xx.READ_DURING_COPY(operation=noun, variable=facts.name_of(event), issuer=who, reason=what),
        labels=tuple(labels),
        help=fix,
        properties=properties,
        group_key=(what, copy.group, waits[0] if waits else None),
        fixes=tuple(fixes),
        lacks=(lacks,),
    )


def _last_phase_wait(reader: ThreadView, position: int, copy: AsyncCopy) -> tuple[Step, int] | None:
    """Returns the last wait of a thread on a copy's mbarrier, before a position, and the phase that it observes.

    The phase is 0 for a wait that is true at once on a fresh mbarrier. The result is None where no wait exists.
    """
    points, key = reader.release_acquire_points, ("mbarrier", copy.barrier)
    waits = zip(points.acquires.get(key, ()), points.acquire_phases.get(key, ()), strict=True)
    last = max((wait for wait in waits if wait[0] < position), default=None)
    return None if last is None else (reader.trace.events[last[0]].step, last[1])


def _fixes(copy: AsyncCopy, waits: list[Step], read: Step, *, own: bool) -> Iterator[FixCandidate]:
    """Yields the fixes: a smaller count if the wait leaves the copy pending; a barrier or a wait before the read."""
    for step in waits[:1] if own or copy.completion_position is None else ():
        for change in decrease_constant(step):
            yield FixCandidate(fix_titles.WAIT_WITH_COUNT(count=change.text), (change,))
    if waits and not own:
        yield add_statement(StepEdit(read, CTA_BARRIER), safe=False)
        yield add_statement(StepEdit(read, WARP_BARRIER), safe=False)
    if copy.commit_position is not None:
        wait = f"{wait_opcode(copy.event.step.instruction.name, copy.group)} 0;"
        yield add_statement(StepEdit(read, wait if own else f"{wait}\n{CTA_BARRIER}"), safe=own)


@dataclass(frozen=True, slots=True)
class _MissingOrder:
    """The missing order between a thread that has waited for its copies and a reader.

    reason, help: those of a finding. labels: those after the label of the copy. barrier: the text of the missing
    barrier; None if no barrier is missing.
    """

    reason: Message
    help: Message
    labels: tuple[tuple[Step, Message], ...]
    barrier: str | None = None
    fixes: tuple[FixCandidate, ...] = ()


def _missing_order(facts: ScenarioFacts, copy: PathPoint, over: PathPoint, read: PathPoint) -> _MissingOrder:
    """Returns what is missing between the wait of the issuing thread and the read of another thread."""
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
    noun = operation_noun(write.event.step)
    labels = ((write.event.step, ptx3xx.COPY_INTO_THESE_BYTES(operation=noun)), *lack.labels)
    name = facts.name_of(read.event)
    return Finding(
        primary=read.event.step,
        message=ptx3xx.READ_DURING_COPY_OF_OTHER_THREAD(operation=noun, variable=name, reason=lack.reason),
        labels=labels,
        help=lack.help,
        properties={"completion": effect.completion if isinstance(effect, Access) else None, "barrier": lack.barrier},
        group_key=(lack.reason, labels[-1][0]),
        fixes=lack.fixes,
        lacks=((write.event.step, read.event.step),),
    )


def _unobserved_remote_copy(name: str, copy: RemoteCopy, event: TraceEvent) -> Finding:
    rank = copy.source.scenario.rank
    return Finding(
        primary=event.step,
        message=ptx3xx.READ_DURING_COPY_OF_OTHER_CTA(variable=name, rank=rank),
        labels=((copy.event.step, ptx3xx.COPY_INTO_BYTES_OF_OTHER_CTA(operation=operation_noun(copy.event.step))),),
        help=ptx3xx.WAIT_FOR_MBARRIER_PHASE(),
        properties={"completion": "mbarrier", "cta": rank},
        group_key=("another CTA", copy.event.step),
        lacks=((copy.event.step,),),
    )


RULE = Rule(
    ptx3xx.READ_BEFORE_WAIT, check, asynchronous=True, sites=sites_of(reads_shared, both(writes_shared, is_async))
)
