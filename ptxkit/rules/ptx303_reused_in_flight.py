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

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING

from ptxkit.analysis.context.barrier_placement import find_barrier_between
from ptxkit.analysis.context.kernel_facts import KernelFacts, ScenarioFacts
from ptxkit.analysis.context.races import Race
from ptxkit.analysis.context.thread_view import ThreadView
from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.memory.bulk_source_reads import WaitCoverage, bulk_source_reads, first_wait_after
from ptxkit.analysis.memory.copies_at_exit import CopiesAtExit, CopyAtExit
from ptxkit.analysis.memory.copy_overwrites import (
    CopyOverwrite,
    find_overwrite_races,
    find_source_overwrites,
    find_target_overwrites,
)
from ptxkit.analysis.memory.unlocated_accesses import unlocated_accesses
from ptxkit.analysis.symexec.trace import TraceEvent
from ptxkit.analysis.sync.async_groups import AsyncCopy
from ptxkit.diagnostics import Message, Severity
from ptxkit.diagnostics.catalogue import obligation_words, ptx3xx
from ptxkit.isa.effects import Access
from ptxkit.rules.barrier_help import barrier_fixes, format_barrier_help, release_label
from ptxkit.rules.model import (
    STEP_LINES,
    Evidence,
    Finding,
    FixCandidate,
    Observation,
    OpenObligation,
    ProofResult,
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
from ptxkit.rules.order_proofs import proves_order

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
    at_exit = CopiesAtExit(kernel)
    for number, facts in enumerate(kernel.scenarios):
        if facts.has_unknown_call:
            continue
        for issuer in facts.threads.values():
            for found in find_target_overwrites(issuer):
                yield _overwrite_result(number, found, _destination_overwrite)
            sources = bulk_source_reads(issuer)
            if sources:
                yield from _check_exit(number, issuer, at_exit.find(issuer, sources), kernel.policy == "strict")
                describe = partial(_source_overwrite, facts, issuer)
                for writer in facts.threads.values():
                    for found in find_source_overwrites(facts, issuer, sources, writer):
                        yield _overwrite_result(number, found, describe)
    for number, race in find_overwrite_races(kernel):
        finding = _early_release(kernel.scenarios[number], race)
        exact = race.is_certain
        yield Observation((race.write.event.step, race.read.event.step), number, exact, finding)


def ask(kernel: KernelFacts) -> Iterator[OpenObligation]:
    """Yields the writes at unknown addresses that may be of bytes in flight."""
    for unlocated in unlocated_accesses(kernel):
        for step in unlocated.overwrites_of_sources():
            yield OpenObligation(step, ptx3xx.WRITE_MAY_OVERLAP_SOURCE())
        for step in unlocated.overwrites_of_targets():
            yield OpenObligation(step, ptx3xx.WRITE_MAY_OVERLAP_TARGET())


def _overwrite_result(
    number: int, found: CopyOverwrite, describe: Callable[[AsyncCopy, TraceEvent], Finding]
) -> Observation:
    finding = None if found.is_safe else describe(found.copy, found.write)
    return Observation((found.write.step, found.copy.event.step), number, found.is_certain, finding)


def _check_exit(number: int, issuer: ThreadView, copies: Iterable[CopyAtExit], strict: bool) -> Iterator[Observation]:
    """Checks the exit of a thread whose copies may still read.

    A thread that waits for none of its copies is an error. A thread that does not wait for the last copies is not,
    except under `strict`.
    """
    for each in copies:
        finding = None
        if each.is_pending and (strict or each.is_unawaited):
            severity = Severity.ERROR if each.is_unawaited else Severity.WARNING
            finding = _pending_at_exit(issuer, each.copy, severity)
        yield Observation((each.copy.event.step, None), number, issuer.trace.is_certain(), finding)


def _early_release(facts: ScenarioFacts, race: Race) -> Finding:
    write, read = race.write, race.read
    assert read.completion_wait is not None
    wait = read.path.group.events[read.completion_wait].step
    barrier = find_barrier_between(facts, read, write)
    noun = operation_noun(read.event.step)
    labels = (
        (read.event.step, ptx3xx.COPY_OUT_OF_THESE_BYTES(operation=noun)),
        (wait, ptx3xx.WAIT_OF_ITS_THREAD()),
        *release_label(barrier),
    )
    return Finding(
        primary=write.event.step,
        message=ptx3xx.WRITE_DURING_COPY(operation=noun, variable=facts.name_of(write.event)),
        labels=labels,
        help=format_barrier_help(barrier, ptx3xx.BETWEEN_WAIT_AND_WRITE(), "issuing threads", (2, 3)),
        properties={"completion": "bulk", "barrier": barrier.sole_text},
        fixes=barrier_fixes(barrier, wait, write.event.step),
        lacks=((read.event.step, write.event.step),),
    )


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


def _source_overwrite(facts: ScenarioFacts, issuer: ThreadView, copy: AsyncCopy, event: TraceEvent) -> Finding:
    waits, wait_help = _first_wait(issuer, copy)
    noun = operation_noun(copy.event.step)
    return Finding(
        primary=event.step,
        message=ptx3xx.WRITE_DURING_COPY(operation=noun, variable=facts.name_of(event)),
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


def prove(proofs: FunctionProofs, site: Site) -> ProofResult:
    """Proves that a source has been read before each exit, or that no operation uses the bytes of another operand."""
    reads = (effect for effect in site.step.effects if is_source_of_group(effect))
    if not any(isinstance(effect, Access) and effect.address == site.subject for effect in reads):
        return _prove_unused(proofs, site)
    proof = proofs.groups.proof_of_read_sources(site.step)
    if proof is None:
        return None
    words = obligation_words.SOURCE_READ(lines=STEP_LINES) if proof else obligation_words.NO_PATH_TO_EXIT()
    return Evidence("waited for", words, proof)


_ASYNC_ACCESS = both(may_touch_shared, is_async)
_prove_unused = proves_order(writes_shared, _ASYNC_ACCESS)

RULE = Rule(
    ptx3xx.SOURCE_REUSED_IN_FLIGHT,
    check,
    ask,
    asynchronous=True,
    sites=sites_of(either(is_source_of_group, writes_shared), _ASYNC_ACCESS),
    prove=prove,
)
