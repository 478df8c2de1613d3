"""What may settle a finding about a group of asynchronous operations: a commit, a wait, a wait for more of them.

A commit that is missing belongs behind the last operation in front of a wait; a wait that is missing, in front of the
barrier or the arrival by which its thread tells others, else in front of what needs it. The largest count that holds is
taken: what it leaves pending, nobody needs yet.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice

from ptxkit.analysis.program import Step
from ptxkit.diagnostics import Diagnostic, Edit, Fix, Severity
from ptxkit.isa.effects import Access, AsyncRegisters, Barrier, CommitGroup, MbarrierArrive, WaitGroup
from ptxkit.mending.changes import others_of, place_of
from ptxkit.mending.pieces import guarded
from ptxkit.mending.places import Surroundings
from ptxkit.syntax import statement_spans
from ptxkit.syntax.tree import Integer

MOST_PLACES = 3
"""Places at which a statement is tried: each costs a check of the whole text."""
PENDING = (2, 1, 0)
"""Counts of a wait that are tried."""

_CODES = {"PTX302", "PTX303", "PTX304", "PTX311", "PTX314"}
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


def other_groups(item: Diagnostic) -> Iterator[Fix]:
    """Commits and waits near a finding about an operation that belongs to a group."""
    if item.code not in _CODES or item.severity is not Severity.ERROR:
        return
    here = place_of(item)
    if here is None:
        return
    around, step = here
    others = others_of(item, around)
    group = next((found for each in (*others, step) if (found := _group(each)) in _WAIT), None)
    if group is None:
        return
    if item.code == "PTX304":
        text = f"{_COMMIT[group]}\n{_WAIT[group].format(0)}"
        yield _added(around, step.start, text)
    yield from islice(_commits(around, group), 2 * MOST_PLACES)
    for each in others:
        yield from _for_more(around, each, group)
    for place in dict.fromkeys(islice(_places(around, step, others), 2 * MOST_PLACES)):
        for count in PENDING:
            yield _added(around, place, _WAIT[group].format(count))


def _commits(around: Surroundings, group: str) -> Iterator[Fix]:
    """A commit behind each operation that a wait follows, and none yet."""
    last: Step | None = None
    for step in around.program.steps:
        if _group(step) == group:
            last = step
        elif any(isinstance(effect, CommitGroup) and effect.group == group for effect in step.effects):
            last = None
        elif last is not None and _waits(step, group):
            for place in islice(around.behind(last), MOST_PLACES):
                yield _added(around, place, guarded(last, _COMMIT[group]))
            last = None


def _for_more(around: Surroundings, step: Step, group: str) -> Iterator[Fix]:
    """A wait that leaves fewer groups pending."""
    operands = step.instruction.operands
    if _waits(step, group) and operands and isinstance(operands[-1], Integer):
        span = statement_spans(around.source, step.start).operands[-1]
        for count in (count for count in PENDING if count < operands[-1].value):
            yield Fix(f"wait with {count}", (Edit(span, str(count)),))


def _places(around: Surroundings, step: Step, others: list[Step]) -> Iterator[int]:
    """In front of what tells other threads, between an operation and what needs it; and in front of that."""
    steps = around.program.steps
    before = [each for each in steps[: step.index] if _tells(each)]
    after = [each for each in steps[others[0].index + 1 :] if _tells(each)] if others else []
    yield from (each.start for each in reversed(before[-MOST_PLACES:]))
    yield step.start
    yield from (each.start for each in after)


def _tells(step: Step) -> bool:
    """Whether a thread tells others that it has come so far."""
    return any(
        isinstance(effect, MbarrierArrive) or (isinstance(effect, Barrier) and effect.level != "warp")
        for effect in step.effects
    )


def _group(step: Step) -> str | None:
    """The kind of group that an operation of this instruction belongs to."""
    for effect in step.effects:
        if isinstance(effect, AsyncRegisters):
            return effect.group
        if isinstance(effect, Access) and effect.completion in _WAIT:
            return effect.completion
    return None


def _waits(step: Step, group: str) -> bool:
    return any(isinstance(effect, WaitGroup) and effect.group == group for effect in step.effects)


def _added(around: Surroundings, place: int, text: str) -> Fix:
    return Fix(f"add `{' '.join(text.split())}`", (around.added(place, text),))
