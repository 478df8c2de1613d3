"""What may settle a finding about a group of asynchronous operations: a commit, a wait, a wait for more of them.

A commit that is missing belongs after the last operation before a wait; a wait that is missing, before the barrier or
the arrival by which its thread signals others, else before what needs it. The largest count that holds is taken: what
it leaves pending is not needed yet.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice

from ptxkit.analysis.ir.program import Step
from ptxkit.diagnostics import Diagnostic, Edit, Fix, Severity
from ptxkit.diagnostics.catalogue import ptx3xx
from ptxkit.fixes.insertion_points import FunctionContext
from ptxkit.fixes.limits import MAX_GROUP_INSERTION_POINTS
from ptxkit.fixes.snippets import with_guard_of
from ptxkit.fixes.statement_edits import labelled_steps, locate_finding
from ptxkit.isa.effects import Access, AsyncRegisters, Barrier, CommitGroup, MbarrierArrive, WaitGroup
from ptxkit.syntax import statement_spans
from ptxkit.syntax.tree import Integer

PENDING = (2, 1, 0)
"""Counts of a wait that are tried."""

_GROUP_CODES = {
    ptx3xx.READ_BEFORE_WAIT,
    ptx3xx.SOURCE_REUSED_IN_FLIGHT,
    ptx3xx.OVERLAPPING_COPIES,
    ptx3xx.REGISTERS_IN_FLIGHT,
    ptx3xx.OPERANDS_REUSED,
}
_COMMIT: Mapping[str, str] = {
    "cp.async": "cp.async.commit_group;",
    "bulk": "cp.async.bulk.commit_group;",
    "wgmma": "wgmma.commit_group.sync.aligned;",
}
_WAIT: Mapping[str, str] = {
    "cp.async": "cp.async.wait_group {};",
    "bulk": "cp.async.bulk.wait_group {};",
    "wgmma": "wgmma.wait_group.sync.aligned {};",
}


def propose_group_fixes(item: Diagnostic) -> Iterator[Fix]:
    """Commits and waits near a finding about an operation that belongs to a group."""
    if item.code not in _GROUP_CODES or item.severity is not Severity.ERROR:
        return
    here = locate_finding(item)
    if here is None:
        return
    around, step = here
    others = labelled_steps(item, around)
    group = next((found for each in (*others, step) if (found := _group_of(each)) in _WAIT), None)
    if group is None:
        return
    if item.code == ptx3xx.OVERLAPPING_COPIES:
        text = f"{_COMMIT[group]}\n{_WAIT[group].format(0)}"
        yield _insert_line(around, step.start, text)
    yield from islice(_insert_commits(around, group), 2 * MAX_GROUP_INSERTION_POINTS)
    for each in others:
        yield from _wait_for_more(around, each, group)
    for place in dict.fromkeys(islice(_wait_insertion_points(around, step, others), 2 * MAX_GROUP_INSERTION_POINTS)):
        for count in PENDING:
            yield _insert_line(around, place, _WAIT[group].format(count))


def _insert_commits(around: FunctionContext, group: str) -> Iterator[Fix]:
    """A commit after each operation that a wait follows, and none yet."""
    last: Step | None = None
    for step in around.program.steps:
        if _group_of(step) == group:
            last = step
        elif any(isinstance(effect, CommitGroup) and effect.group == group for effect in step.effects):
            last = None
        elif last is not None and _is_wait_for(step, group):
            for place in islice(around.points_after(last), MAX_GROUP_INSERTION_POINTS):
                yield _insert_line(around, place, with_guard_of(last, _COMMIT[group]))
            last = None


def _wait_for_more(around: FunctionContext, step: Step, group: str) -> Iterator[Fix]:
    """A wait that leaves fewer groups pending."""
    operands = step.instruction.operands
    if _is_wait_for(step, group) and operands and isinstance(operands[-1], Integer):
        span = statement_spans(around.source, step.start).operands[-1]
        for count in (count for count in PENDING if count < operands[-1].value):
            yield Fix(f"wait with {count}", (Edit(span, str(count)),))


def _wait_insertion_points(around: FunctionContext, step: Step, others: list[Step]) -> Iterator[int]:
    """Before what signals other threads, between an operation and what needs it; and before that."""
    steps = around.program.steps
    before = [each for each in steps[: step.index] if _signals_others(each)]
    after = [each for each in steps[others[0].index + 1 :] if _signals_others(each)] if others else []
    yield from (each.start for each in reversed(before[-MAX_GROUP_INSERTION_POINTS:]))
    yield step.start
    yield from (each.start for each in after)


def _signals_others(step: Step) -> bool:
    """Whether a thread signals others that it has come so far."""
    return any(
        isinstance(effect, MbarrierArrive) or (isinstance(effect, Barrier) and effect.level != "warp")
        for effect in step.effects
    )


def _group_of(step: Step) -> str | None:
    """The kind of group that an operation of this instruction belongs to."""
    for effect in step.effects:
        if isinstance(effect, AsyncRegisters):
            return effect.group
        if isinstance(effect, Access) and effect.completion in _WAIT:
            return effect.completion
    return None


def _is_wait_for(step: Step, group: str) -> bool:
    return any(isinstance(effect, WaitGroup) and effect.group == group for effect in step.effects)


def _insert_line(around: FunctionContext, place: int, text: str) -> Fix:
    return Fix(f"add `{' '.join(text.split())}`", (around.insert_line(place, text),))
