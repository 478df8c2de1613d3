"""PTX303: the shared memory of an asynchronous copy is reused or released while the copy may still access it.

What it does
    Finds shared memory that a bulk store or reduction reads, and that is written again, or released by the exit of the
    CTA, before the issuing thread has waited for the copy (`cp.async.bulk.wait_group`; `.read` suffices). It also finds
    stores to the destination of a copy before the wait for that copy.

Why it matters
    A bulk copy reads shared memory at any time until it completes, so it may transfer the data that was written in the
    meantime.

    The lifetime of shared memory is that of its CTA; then another CTA may use it. The manual does not state that a
    pending copy extends it. Libraries that wait for the copies of earlier iterations often do not wait for the last
    ones, so these are reported under `--policy strict` only.

Example
    @%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r3], 4096;
    @%p1 cp.async.bulk.commit_group;
    ret;

Use instead
    @%p1 cp.async.bulk.commit_group;
    @%p1 cp.async.bulk.wait_group.read 0;
    ret;

ISA section
    "Completion Mechanisms for Asynchronous Copy Operations", "cp.async.bulk.wait_group". Catalogue: BK7, BK8, BK12,
    PX5.
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from typing import TYPE_CHECKING

from ptxkit.analysis.context.barrier_placement import find_barrier_between
from ptxkit.analysis.context.kernel_facts import KernelFacts, ScenarioFacts
from ptxkit.analysis.context.thread_view import PairBudget, ThreadView
from ptxkit.analysis.ir.interval_index import IntervalIndex
from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.memory.bulk_source_reads import (
    LaterBulkWaits,
    WaitCoverage,
    bulk_source_reads,
    find_ineffective_waits,
    first_wait_after,
    has_read_source,
    is_bulk_wait,
)
from ptxkit.analysis.memory.unlocated_accesses import UnlocatedAccesses
from ptxkit.analysis.symexec.access_ranges import access_range, is_async_write, is_generic_write, is_operand_read
from ptxkit.analysis.symexec.trace import TraceEvent
from ptxkit.analysis.sync.async_groups import AsyncCopy
from ptxkit.diagnostics import Message, Severity
from ptxkit.diagnostics.catalogue import obligation_words, ptx3xx
from ptxkit.isa.effects import Access, WaitGroup
from ptxkit.rules.barrier_help import barrier_fixes, format_barrier_help, release_label
from ptxkit.rules.model import (
    STEP_LINES,
    Evidence,
    Finding,
    FixCandidate,
    Observation,
    OpenObligation,
    Rule,
    StepEdit,
    add_statement,
)
from ptxkit.rules.obligation_sites import (
    Site,
    both,
    either,
    is_async,
    is_source_of_group,
    may_touch_shared,
    sites_of,
    writes_shared,
)
from ptxkit.rules.operation_nouns import operation_noun

if TYPE_CHECKING:
    from ptxkit.rules.function_proofs import FunctionProofs

_WAIT = "cp.async.bulk.wait_group.read 0;"
_WAIT_HELP = {
    WaitCoverage.COVERS: (ptx3xx.THE_WAIT_FOR_IT, ptx3xx.WAIT_IN_ISSUING_THREAD),
    WaitCoverage.LEAVES_PENDING: (ptx3xx.DOES_NOT_COVER_IT, ptx3xx.LOWER_COUNT_OR_WAIT_AGAIN),
    WaitCoverage.BEFORE_COMMIT: (ptx3xx.COMES_BEFORE_COMMIT, ptx3xx.COMMIT_BEFORE_THIS_WAIT),
}
"""The label of the first wait after a copy, and the help, by the effect of the wait on the copy."""


def check(kernel: KernelFacts) -> Iterator[Observation | OpenObligation]:
    """Checks each bulk copy from shared memory, each later write of its bytes, and the exit of its thread."""
    ineffective, waits = find_ineffective_waits(kernel), LaterBulkWaits(kernel)
    for number, facts in enumerate(kernel.scenarios):
        if facts.has_unknown_call:
            continue
        unlocated = UnlocatedAccesses(facts, kernel.extents_of(facts))
        for step in unlocated.overwrites_of_sources():
            yield OpenObligation(step, ptx3xx.WRITE_MAY_OVERLAP_SOURCE())
        for step in unlocated.overwrites_of_targets():
            yield OpenObligation(step, ptx3xx.WRITE_MAY_OVERLAP_TARGET())
        for issuer in facts.threads.values():
            yield from _check_destinations(number, issuer)
            sources = bulk_source_reads(issuer)
            if sources:
                lone = not any(
                    copy.source_free_position is not None or waits.may_follow(copy.event.step) for copy in sources
                )
                yield from _check_exit(
                    number, issuer, sources, None if lone else ineffective, kernel.policy == "strict"
                )
                for writer in facts.threads.values():
                    yield from _check_overwrites(number, facts, issuer, sources, writer)
    yield from _check_early_releases(kernel)


def _check_early_releases(kernel: KernelFacts) -> Iterator[Observation]:
    """Yields writes by threads that another thread signaled before it had waited for its copies."""
    for number, conflict in kernel.races:
        facts, write, read = kernel.scenarios[number], conflict.write, conflict.read
        launch = facts.scenario.launch
        known = launch.is_exact or launch.is_limit
        if known and conflict.is_early_release and read.completion_wait is not None and not is_operand_read(read.event):
            wait = read.path.group.events[read.completion_wait].step
            barrier = find_barrier_between(facts, read, write)
            noun = operation_noun(read.event.step)
            labels = (
                (read.event.step, ptx3xx.COPY_OUT_OF_THESE_BYTES(operation=noun)),
                (wait, ptx3xx.WAIT_OF_ITS_THREAD()),
                *release_label(barrier),
            )
            finding = Finding(
                primary=write.event.step,
                message=ptx3xx.WRITE_DURING_COPY(operation=noun, variable=facts.name_of(write.event)),
                labels=labels,
                help=format_barrier_help(
                    barrier,
                    ptx3xx.BETWEEN_WAIT_AND_WRITE(),
                    "issuing threads",
                    (2, 3),
                ),
                properties={"completion": "bulk", "barrier": barrier.sole_text},
                fixes=barrier_fixes(barrier, wait, write.event.step),
                lacks=((read.event.step, write.event.step),),
            )
            exact = write.is_certain and read.is_certain
            yield Observation((write.event.step, read.event.step), number, exact, finding, 2)


def _check_exit(
    number: int, issuer: ThreadView, sources: list[AsyncCopy], ineffective: Set[Step] | None, strict: bool
) -> Iterator[Observation]:
    """Checks the exit of a thread whose copies may still read.

    ineffective: the waits that cover no copy; None if no wait follows any of the copies.

    The manual states that the source must not be modified, not how long the memory of an exited CTA remains valid;
    libraries do not wait for their last copies. A thread that waits for none of its copies is an error: it has no wait,
    or a wait that does not cover the copy, or a wait before its first copy only. A thread that does not wait for the
    last copies is not an error, except under `strict`.
    """
    if issuer.trace.end_reason != "exit":
        return
    waits = [(at, event.step) for at, event in issuer.positions(WaitGroup) if is_bulk_wait(event)]
    for copy in sources:
        if copy.commit_position is None:
            continue  # PTX301 reports it
        left = not waits or ineffective is None or any(at > copy.position and step in ineffective for at, step in waits)
        finding = None
        if copy.source_free_position is None and (strict or left):
            finding = _pending_at_exit(issuer, copy, Severity.ERROR if left else Severity.WARNING)
        yield Observation((copy.event.step, None), number, issuer.trace.is_certain(), finding)


def _check_overwrites(
    number: int, facts: ScenarioFacts, issuer: ThreadView, sources: list[AsyncCopy], writer: ThreadView
) -> Iterator[Observation]:
    index: IntervalIndex[AsyncCopy] = IntervalIndex()
    for copy in sources:
        touched = access_range(copy.event)
        if touched is not None:
            index.add(*touched, copy)
    pair_budget = PairBudget(facts.budget)
    for position, event in writer.accesses:
        if facts.budget.is_exhausted:
            return
        if not (is_generic_write(event) or is_async_write(event)):
            continue
        for copy in index.overlapping(*(access_range(event) or (0, 1))):
            if not pair_budget.allow((event.step, copy.event.step)):
                continue
            safe = has_read_source(facts, issuer, copy, writer, position)
            exact = issuer.trace.is_certain(copy.position) and writer.trace.is_certain(position)
            if safe is not None:
                finding = None if safe else _source_overwrite(facts.name_of(event), issuer, copy, event)
                threads = 1 if issuer is writer else 2
                yield Observation((event.step, copy.event.step), number, exact, finding, threads)


def _check_destinations(number: int, issuer: ThreadView) -> Iterator[Observation]:
    """Checks stores of a thread to the destination of its own copy before the wait for it."""
    if not issuer.copies_by_range:
        return
    for position, event in issuer.accesses:
        effect = event.effect
        if not is_generic_write(event) or (isinstance(effect, Access) and effect.completion is not None):
            continue
        for copy in issuer.copies_by_range.overlapping(*(access_range(event) or (0, 1))):
            if copy.position < position and copy.completion_position is not None:
                finding = None if copy.completion_position < position else _destination_overwrite(copy, event)
                yield Observation((event.step, copy.event.step), number, issuer.trace.is_certain(position), finding)


def _pending_at_exit(issuer: ThreadView, copy: AsyncCopy, severity: Severity) -> Finding:
    labels, _ = _first_wait(issuer, copy)
    lack = ptx3xx.NO_WAIT_COVERS_COPY() if labels else ptx3xx.THREAD_NEVER_WAITS()
    return Finding(
        primary=copy.event.step,
        message=ptx3xx.EXIT_DURING_COPY(operation=operation_noun(copy.event.step), reason=lack),
        labels=labels,
        help=ptx3xx.WAIT_BEFORE_EXIT(),
        severity=severity,
        properties={"completion": "bulk"},
        fixes=_fixes(issuer, copy),
        lacks=((copy.event.step,),),
    )


def _fixes(issuer: ThreadView, copy: AsyncCopy) -> tuple[FixCandidate, ...]:
    """Returns the fix that inserts a wait after the commit."""
    if copy.commit_position is None:
        return ()
    commit = issuer.trace.events[copy.commit_position].step
    return (add_statement(StepEdit(commit, _WAIT, "after")),)


def _source_overwrite(name: str, issuer: ThreadView, copy: AsyncCopy, event: TraceEvent) -> Finding:
    waits, wait_help = _first_wait(issuer, copy)
    noun = operation_noun(copy.event.step)
    return Finding(
        primary=event.step,
        message=ptx3xx.WRITE_DURING_COPY(operation=noun, variable=name),
        labels=((copy.event.step, ptx3xx.COPY_OUT_OF_THESE_BYTES(operation=noun)), *waits),
        help=ptx3xx.THEN_BARRIER_BEFORE_WRITE(wait=wait_help),
        properties={"completion": "bulk"},
        fixes=_fixes(issuer, copy),
        lacks=((copy.event.step,) if copy.source_free_position is None else (copy.event.step, event.step),),
    )


def _destination_overwrite(copy: AsyncCopy, event: TraceEvent) -> Finding:
    noun = operation_noun(copy.event.step)
    return Finding(
        primary=event.step,
        message=ptx3xx.WRITE_INTO_TARGET_OF_COPY(operation=noun),
        labels=((copy.event.step, ptx3xx.COPY_INTO_THESE_BYTES(operation=noun)),),
        help=ptx3xx.WAIT_BEFORE_STORE(operation=noun),
        properties={"completion": copy.group},
        lacks=((copy.event.step,),),
    )


def _first_wait(issuer: ThreadView, copy: AsyncCopy) -> tuple[tuple[tuple[Step, Message], ...], Message]:
    """Returns the label of the first wait after a copy, if any, and the help for that wait."""
    found = first_wait_after(issuer, copy)
    if found is None:
        return (), _WAIT_HELP[WaitCoverage.COVERS][1]()
    step, coverage = found
    label, wait_help = _WAIT_HELP[coverage]
    return ((step, label()),), wait_help()


def prove(proofs: FunctionProofs, site: Site) -> Evidence | None:
    """Returns the waits after which the operations of a step have read their sources, on each path to an exit."""
    reads = (effect for effect in site.step.effects if is_source_of_group(effect))
    if not any(isinstance(effect, Access) and effect.address == site.subject for effect in reads):
        return None
    proof = proofs.groups.proof_of_read_sources(site.step)
    if proof is None:
        return None
    words = obligation_words.SOURCE_READ(lines=STEP_LINES) if proof else obligation_words.NO_PATH_TO_EXIT()
    return Evidence("waited for", words, proof)


RULE = Rule(
    ptx3xx.SOURCE_REUSED_IN_FLIGHT,
    check,
    asynchronous=True,
    sites=sites_of(either(is_source_of_group, writes_shared), both(may_touch_shared, is_async)),
    prove=prove,
)
