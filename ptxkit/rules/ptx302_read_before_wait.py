"""PTX302: memory is read while the copy that fills it may still be in flight.

What it does
    Finds a read of bytes that an asynchronous copy writes, if the issuing thread has not waited for the copy: there is
    no wait, a `wait_group` leaves the group of the copy pending, the wait is for another kind of group, or no thread
    waits on the mbarrier of the copy. It also finds reads by another thread if the issuing thread waited but nothing
    orders that wait before the read, and reads of data that another CTA copied, if that CTA observes the completion on
    its own mbarrier and does not signal it to the reader. In global memory, it finds reads of what a bulk copy out of
    shared memory writes, if the issuing thread has not waited for the writes: `wait_group.read` waits only until the
    source has been read. The operands of an instruction of a pair of CTAs are an open question unless it is proven that
    the copies of both are complete.

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

from collections.abc import Iterator, Sequence

from ptxkit.analysis.cluster.remote_copies import RemoteCopy, RemoteRead, find_remote_reads
from ptxkit.analysis.context.access_instances import AccessInstance
from ptxkit.analysis.context.barrier_placement import CTA_BARRIER, WARP_BARRIER, PathPoint
from ptxkit.analysis.context.kernel_facts import KernelFacts, ScenarioFacts
from ptxkit.analysis.context.races import Race
from ptxkit.analysis.context.races_on_all_paths import RacesOnAllPaths
from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.memory.copy_completion import CopyStatus, is_group_copy
from ptxkit.analysis.memory.copy_reads import CopyRead, find_copy_reads, find_racing_reads
from ptxkit.analysis.memory.copy_wait_faults import CopyWaitCause, find_wait_fault
from ptxkit.analysis.memory.global_copy_reads import find_global_copy_reads
from ptxkit.analysis.memory.unlocated_accesses import unlocated_accesses
from ptxkit.analysis.symexec.trace import TraceEvent
from ptxkit.analysis.sync.bounded_wait import find_unchecked_waits
from ptxkit.diagnostics.catalogue import fix_titles, ptx3xx
from ptxkit.isa.effects import Access, CtaGroup
from ptxkit.isa.group_opcodes import wait_opcode
from ptxkit.rules.copy_order_help import OrderHelp, explain_missing_order, explain_wait_fault
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
from ptxkit.rules.obligation_sites import Site, both, is_async, reads_shared, sites_of, subject_of, writes_shared
from ptxkit.rules.operation_nouns import operation_noun
from ptxkit.rules.order_proofs import proves_order
from ptxkit.syntax.constants import WARP_SIZE


def check(kernel: KernelFacts) -> Iterator[Observation | OpenObligation]:
    """Checks every copy into shared memory and every read of its bytes, in one thread and between two."""
    for number, facts in enumerate(kernel.scenarios):
        if facts.has_unknown_call:
            continue
        for read in find_copy_reads(facts):
            yield _check_read(number, facts, read)
        for remote in find_remote_reads(kernel, facts):
            yield _check_remote_read(number, facts, remote)
    for number, facts, read in find_global_copy_reads(kernel):
        yield _check_read(number, facts, read)
    for number, race, is_proof in find_racing_reads(kernel):
        yield _check_race(kernel, number, race, is_proof=is_proof)


def ask(kernel: KernelFacts) -> Iterator[OpenObligation]:
    """Yields the reads at unknown addresses that may be too early, and the waits that may give up."""
    for unlocated in unlocated_accesses(kernel):
        for step in unlocated.early_reads():
            yield OpenObligation(step, ptx3xx.READ_MAY_OVERLAP_COPY())
    for code in kernel.program.functions:
        for wait in find_unchecked_waits(code):
            yield OpenObligation(wait, ptx3xx.WAIT_MAY_GIVE_UP())


def _check_read(number: int, facts: ScenarioFacts, read: CopyRead) -> Observation | OpenObligation:
    if read.status is CopyStatus.TRUNCATED:
        return OpenObligation(read.event.step, TRUNCATED)
    if read.status is CopyStatus.GUESSED:
        return OpenObligation(read.event.step, ptx3xx.DEPENDS_ON_LAUNCH_OR_DATA())
    finding = None if read.status is CopyStatus.COMPLETE else _early_read(facts, read)
    if finding is not None and not _exist_in_any_block(facts, read):
        return OpenObligation(read.event.step, ptx3xx.BLOCK_SIZE_MAY_BE_ONE_WARP(), "block")
    key = (read.event.step, read.copy.event.step)
    exact = finding is not None and facts.is_certain_pair(read.issuer, read.copy.position, read.reader, read.position)
    return Observation(key, number, exact, finding)


def _exist_in_any_block(facts: ScenarioFacts, read: CopyRead) -> bool:
    """Returns whether a block of any size that the kernel may support has both threads."""
    launch = facts.scenario.launch
    return launch.is_exact or launch.is_limit or max(read.issuer.tid, read.reader.tid) < WARP_SIZE


def _check_remote_read(number: int, facts: ScenarioFacts, read: RemoteRead) -> Observation | OpenObligation:
    """Returns the result for a copy into this CTA that another CTA of its cluster issues."""
    if read.is_observed is None:
        return OpenObligation(read.event.step, TRUNCATED)
    finding = None if read.is_observed else _unobserved_remote_copy(facts.name_of(read.event), read.copy, read.event)
    return Observation((read.event.step, read.copy.event.step), number, read.is_certain, finding)


def _check_race(kernel: KernelFacts, number: int, race: Race, *, is_proof: bool) -> Observation | OpenObligation:
    """Returns the result for a thread that another one signaled before it had waited for its copies, or not at all."""
    facts, write, read = kernel.scenarios[number], race.write, race.read
    if not is_proof:
        return OpenObligation(read.event.step, ptx3xx.BLOCK_SIZE_MAY_BE_ONE_WARP(), "block")
    finding = _incomplete_copy(facts, write, read)
    is_certain = kernel.analysis(RacesOnAllPaths).is_certain(race, facts.scenario)
    return Observation((read.event.step, write.event.step), number, is_certain, finding)


def _early_read(facts: ScenarioFacts, read: CopyRead) -> Finding:
    copy, fault = read.copy, find_wait_fault(read)
    noun, waits = operation_noun(copy.event.step), fault.group_waits
    lack = explain_wait_fault(facts, read, fault)
    is_unordered = fault.cause is CopyWaitCause.UNORDERED_READER
    return Finding(
        primary=read.event.step,
        message=ptx3xx.READ_DURING_COPY(
            operation=noun,
            variable=facts.name_of(read.event),
            issuer="" if read.is_own else ptx3xx.BY_ANOTHER_THREAD(),
            reason=lack.reason,
        ),
        labels=((copy.event.step, ptx3xx.COPY_INTO_THESE_BYTES(operation=noun)), *lack.labels),
        help=lack.help,
        properties={"completion": copy.group, **({"barrier": lack.barrier} if is_unordered else {})},
        group_key=(lack.reason, copy.group, waits[0] if waits else None),
        fixes=(*lack.fixes, *(_fixes(read, waits) if is_group_copy(copy) else ())),
        lacks=((copy.event.step, read.event.step) if is_unordered else (copy.event.step,),),
    )


def _fixes(found: CopyRead, waits: Sequence[Step]) -> Iterator[FixCandidate]:
    """Yields the fixes: a smaller count if the wait leaves the copy pending; a barrier or a wait before the read."""
    copy, read, own = found.copy, found.event.step, found.is_own
    for step in waits[:1] if own or copy.completion_position is None else ():
        for change in decrease_constant(step):
            yield FixCandidate(fix_titles.WAIT_WITH_COUNT(count=change.text), (change,))
    if waits and not own:
        yield add_statement(StepEdit(read, CTA_BARRIER), safe=False)
        yield add_statement(StepEdit(read, WARP_BARRIER), safe=False)
    if copy.commit_position is not None:
        wait = f"{wait_opcode(copy.event.step.instruction.name, copy.group)} 0;"
        yield add_statement(StepEdit(read, wait if own else f"{wait}\n{CTA_BARRIER}"), safe=own)


def _incomplete_copy(facts: ScenarioFacts, write: AccessInstance, read: AccessInstance) -> Finding:
    copy, reader = PathPoint(write.path, write.tid, write.position), PathPoint(read.path, read.tid, read.position)
    effect = write.event.effect
    if write.completion_wait is None:
        fix = ptx3xx.WAIT_IN_ISSUING_THREADS()
        lack = OrderHelp(ptx3xx.NOT_ORDERED(), fix)
    else:
        lack = explain_missing_order(facts, copy, PathPoint(write.path, write.tid, write.completion_wait), reader)
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


_ASYNC_WRITE = both(writes_shared, is_async)


def _reads_both_ctas(site: Site) -> bool:
    """Returns whether an instruction reads shared memory of both CTAs of a pair.

    What the other one copies there completes on a barrier of either CTA, so that the executions of one do not show it.
    """
    is_paired = any(isinstance(effect, CtaGroup) and effect.ctas > 1 for effect in site.step.effects)
    return is_paired and any(
        isinstance(effect, Access) and effect.via == "descriptor" and subject_of(effect) == site.subject
        for effect in site.step.effects
    )


RULE = Rule(
    ptx3xx.READ_BEFORE_WAIT,
    check,
    ask,
    asynchronous=True,
    sites=sites_of(reads_shared, _ASYNC_WRITE),
    prove=proves_order(reads_shared, _ASYNC_WRITE),
    needs_proof=_reads_both_ctas,
)
