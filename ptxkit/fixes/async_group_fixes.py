"""Proposes fixes of findings about groups of asynchronous operations: a commit, a wait, or a wait for more groups.

A missing commit belongs after the last operation before a wait. A missing wait belongs before the barrier or the
arrival by which its thread signals others, otherwise before the access that needs it. The largest valid count is used:
the groups that it leaves pending are not needed yet.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.sync.async_groups import GROUP_MECHANISMS
from ptxkit.diagnostics import Diagnostic, Edit, Fix, Severity
from ptxkit.diagnostics.catalogue import fix_titles, ptx3xx
from ptxkit.fixes.insertion_points import FunctionContext
from ptxkit.fixes.limits import MAX_GROUP_INSERTION_POINTS
from ptxkit.fixes.snippets import with_guard_of
from ptxkit.fixes.statement_edits import labeled_steps
from ptxkit.isa.effects import Access, AsyncRegisters, Barrier, CommitGroup, MbarrierArrive, WaitGroup
from ptxkit.isa.group_opcodes import commit_opcode, wait_opcode
from ptxkit.syntax import statement_spans
from ptxkit.syntax.tree import Integer

PENDING = (2, 1, 0)
"""The counts of a wait that are tried."""

_GROUP_CODES = {
    ptx3xx.READ_BEFORE_WAIT,
    ptx3xx.SOURCE_REUSED_IN_FLIGHT,
    ptx3xx.OVERLAPPING_COPIES,
    ptx3xx.REGISTERS_IN_FLIGHT,
    ptx3xx.OPERANDS_REUSED,
}


def propose_group_fixes(item: Diagnostic, around: FunctionContext, step: Step) -> Iterator[Fix]:
    """Yields commits and waits near a finding about an operation that belongs to a group."""
    if item.code not in _GROUP_CODES or item.severity is not Severity.ERROR:
        return
    others = labeled_steps(item, around)
    operation = next((each for each in (*others, step) if _group_of(each) in GROUP_MECHANISMS), None)
    group = None if operation is None else _group_of(operation)
    if operation is None or group is None:
        return
    wait = wait_opcode(operation.instruction.name, group)
    if item.code == ptx3xx.OVERLAPPING_COPIES:
        commit = commit_opcode(operation.instruction.name, group)
        yield _insert_line(around, step.start, f"{commit};\n{wait} 0;")
    yield from islice(_insert_commits(around, group), 2 * MAX_GROUP_INSERTION_POINTS)
    for each in others:
        yield from _wait_for_more(around, each, group)
    for place in dict.fromkeys(islice(_wait_insertion_points(around, step, others), 2 * MAX_GROUP_INSERTION_POINTS)):
        for count in PENDING:
            yield _insert_line(around, place, f"{wait} {count};")


def _insert_commits(around: FunctionContext, group: str) -> Iterator[Fix]:
    """Yields a commit after each operation that a wait, but no commit, follows."""
    last: Step | None = None
    for step in around.program.steps:
        if _group_of(step) == group:
            last = step
        elif any(isinstance(effect, CommitGroup) and effect.group == group for effect in step.effects):
            last = None
        elif last is not None and _is_wait_for(step, group):
            commit = f"{commit_opcode(last.instruction.name, group)};"
            for place in islice(around.points_after(last), MAX_GROUP_INSERTION_POINTS):
                yield _insert_line(around, place, with_guard_of(last, commit))
            last = None


def _wait_for_more(around: FunctionContext, step: Step, group: str) -> Iterator[Fix]:
    """Yields waits that leave fewer groups pending."""
    operands = step.instruction.operands
    if _is_wait_for(step, group) and operands and isinstance(operands[-1], Integer):
        span = statement_spans(around.source, step.start).operands[-1]
        for count in (count for count in PENDING if count < operands[-1].value):
            yield Fix(fix_titles.WAIT_WITH_COUNT(count=count), (Edit(span, str(count)),))


def _wait_insertion_points(around: FunctionContext, step: Step, others: list[Step]) -> Iterator[int]:
    """Yields the offsets before the signal to other threads between an operation and its use, and before the use."""
    steps = around.program.steps
    before = [each for each in steps[: step.index] if _signals_others(each)]
    after = [each for each in steps[others[0].index + 1 :] if _signals_others(each)] if others else []
    yield from (each.start for each in reversed(before[-MAX_GROUP_INSERTION_POINTS:]))
    yield step.start
    yield from (each.start for each in after)


def _signals_others(step: Step) -> bool:
    """Returns whether a thread signals other threads by this instruction."""
    return any(
        isinstance(effect, MbarrierArrive) or (isinstance(effect, Barrier) and effect.level != "warp")
        for effect in step.effects
    )


def _group_of(step: Step) -> str | None:
    """Returns the kind of group of an instruction's asynchronous operation."""
    for effect in step.effects:
        if isinstance(effect, AsyncRegisters):
            return effect.group
        if isinstance(effect, Access) and effect.completion in GROUP_MECHANISMS:
            return effect.completion
    return None


def _is_wait_for(step: Step, group: str) -> bool:
    return any(isinstance(effect, WaitGroup) and effect.group == group for effect in step.effects)


def _insert_line(around: FunctionContext, place: int, text: str) -> Fix:
    return Fix(fix_titles.ADD(text=" ".join(text.split())), (around.insert_line(place, text),))
