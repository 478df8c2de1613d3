"""PTX301: an asynchronous copy is never committed to a group.

What it does
    Finds a `cp.async` or a bulk store whose thread exits without a commit that covers it. Where it is not known whether
    data lead to the copy, it is a warning if no path from there has a commit.

Why it matters
    A wait covers committed groups only. No wait covers a copy without a group: its bytes may arrive late, or be read
    from shared memory that already belongs to another CTA.

Example
    cp.async.cg.shared.global [%r1], [%rd1], 16;
    cp.async.wait_group 0;

Use instead
    cp.async.cg.shared.global [%r1], [%rd1], 16;
    cp.async.commit_group;
    cp.async.wait_group 0;

ISA section
    "cp.async.commit_group", "cp.async.bulk.commit_group", "Async-group mechanism". Catalogue: CA3, BK7, WG4.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ptxkit.analysis.cfg.reachability import Reachability
from ptxkit.analysis.context.kernel_facts import KernelFacts
from ptxkit.analysis.context.thread_view import ThreadView
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.sync.async_groups import GROUP_MECHANISMS, AsyncCopy
from ptxkit.diagnostics import Severity
from ptxkit.diagnostics.catalogue import obligation_words, ptx3xx
from ptxkit.isa.effects import CommitGroup, WaitGroup
from ptxkit.isa.group_opcodes import commit_opcode
from ptxkit.rules.model import STEP_LINES, Evidence, Finding, Observation, OpenObligation, Rule, StepEdit, add_statement
from ptxkit.rules.obligation_sites import Site, is_group_operation, sites_of
from ptxkit.rules.operation_nouns import operation_noun

if TYPE_CHECKING:
    from ptxkit.rules.function_proofs import FunctionProofs


def check(kernel: KernelFacts) -> Iterator[Observation | OpenObligation]:
    """Checks each copy of each thread whose execution was followed to its end."""
    for number, facts in enumerate(kernel.scenarios):
        for thread in facts.threads.values():
            if thread.trace.end_reason == "exit" and not thread.trace.has_unknown_call:
                yield from _check_thread(kernel.program, number, thread)


def _check_thread(program: Program, number: int, thread: ThreadView) -> Iterator[Observation]:
    exact = thread.trace.is_certain()
    seen: set[tuple[Step, bool]] = set()
    for copy in thread.copies:
        if copy.group not in GROUP_MECHANISMS or copy.track_position is not None:
            continue
        missing = copy.commit_position is None
        if (copy.event.step, missing) not in seen:
            seen.add((copy.event.step, missing))
            finding = _finding(thread, copy) if missing else None
            is_lost = finding is not None and not exact and not _may_be_committed(program, copy)
            yield Observation((copy.event.step, None), number, exact, finding, on_all_paths=is_lost)


def _may_be_committed(program: Program, copy: AsyncCopy) -> bool:
    """Returns whether a path from a copy has a commit; otherwise the copy is lost whatever data lead to it."""
    if not program.contains(copy.event.step):
        return True
    later = program.analysis(Reachability).steps_reachable_from([copy.event.step])
    return any(
        step in later and (step.is_opaque_call or any(_commits(effect, copy.group) for effect in step.effects))
        for function in program.functions
        for step in function.steps
    )


def _finding(thread: ThreadView, copy: AsyncCopy) -> Finding:
    waits = [
        e.step for at, e in thread.positions(WaitGroup) if at > copy.position and _group_of(e.effect) == copy.group
    ]
    commits = [
        e.step for at, e in thread.positions(CommitGroup) if at < copy.position and _group_of(e.effect) == copy.group
    ]
    noun = operation_noun(copy.event.step)
    labels = [(step, ptx3xx.WAITS_FOR_COMMITTED_ONLY()) for step in waits[:1]]
    labels += [(step, ptx3xx.LAST_COMMIT(operation=noun)) for step in commits[-1:]]
    opcode = commit_opcode(copy.event.step.instruction.name, copy.group)
    commit = f"{opcode};"
    consequence = ptx3xx.WAIT_DOES_NOT_COVER_COPY() if waits else ptx3xx.NOTHING_CAN_WAIT()
    return Finding(
        primary=copy.event.step,
        message=ptx3xx.COPY_WITHOUT_COMMIT(operation=noun, consequence=consequence),
        labels=tuple(labels),
        help=ptx3xx.ADD_COMMIT(operation=noun, commit=opcode),
        severity=Severity.ERROR if waits or copy.group == "bulk" else Severity.WARNING,
        properties={"group": copy.group},
        group_key=(copy.group, *waits[:1], *commits[-1:]),  # one commit after all of them fixes the finding
        fixes=tuple(
            add_statement(change, safe=False)
            for change in (*(StepEdit(step, commit) for step in waits[:1]), StepEdit(copy.event.step, commit, "after"))
        ),
    )


def _group_of(effect: object) -> str:
    return effect.group if isinstance(effect, CommitGroup | WaitGroup) else ""


def _commits(effect: object, group: str) -> bool:
    commits = isinstance(effect, CommitGroup) or (isinstance(effect, WaitGroup) and effect.commits)
    return commits and _group_of(effect) == group


def prove(proofs: FunctionProofs, site: Site) -> Evidence | None:
    """Returns the commits that follow an operation on each path."""
    proof = proofs.groups.proof_of_commit(site.step)
    if proof is None:
        return None
    words = obligation_words.COMMITTED(lines=STEP_LINES) if proof else obligation_words.NO_PATH_TO_EXIT()
    return Evidence("committed", words, proof)


RULE = Rule(
    ptx3xx.GROUP_NEVER_COMMITTED,
    check,
    asynchronous=True,
    sites=sites_of(is_group_operation),
    covers="paths",
    prove=prove,
    needs_proof=True,
)
