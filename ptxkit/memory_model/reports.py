"""The verdicts on tests as lines of text and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from ptxkit.fast_dataclasses import dataclass
from ptxkit.memory_model.checker import Answer, LitmusVerdict
from ptxkit.memory_model.conditions import condition_text
from ptxkit.memory_model.drawing import (
    base_path,
    communication_edges,
    describe_violation,
    draw_execution,
    event_names,
    path_text,
)
from ptxkit.memory_model.events import MbarrierUse
from ptxkit.memory_model.executions import Candidate


@dataclass(frozen=True, slots=True)
class FileVerdict:
    """The verdict on a test of a file. error: why it has no verdict, with what to do about it."""

    path: str
    verdict: LitmusVerdict | None = None
    error: str = ""
    remedy: str = ""


def verdict_lines(found: FileVerdict, *, is_drawn: bool) -> Iterator[str]:
    """Yields the lines of a verdict. is_drawn: whether the execution that shows it follows."""
    verdict = found.verdict
    if verdict is None:
        yield f"{found.path}: no verdict: {found.error}"
        if found.remedy:
            yield f"  = help: {found.remedy}"
        return
    test = verdict.test
    yield f"{found.path}: {test.name}: {verdict.answer.value}{_remark(verdict)}"
    if verdict.undefined:
        yield f"  {verdict.undefined}"
    if test.condition is not None:
        outcome = "holds" if verdict.does_hold else "does not hold"
        yield f"  {test.quantifier} {condition_text(test.condition)}: {outcome}"
    if is_drawn:
        yield from (f"  {line}" for line in _explanation(verdict))


def _remark(verdict: LitmusVerdict) -> str:
    parts = []
    if verdict.answer in (Answer.ALLOWED, Answer.FORBIDDEN) and verdict.race is not None:
        parts.append("an execution has a data race")
    if not verdict.ends and not verdict.undefined:
        parts.append("no execution ends")
    if verdict.is_bounded:
        parts.append("loops were followed for a bounded number of turns")
    return f" ({'; '.join(parts)})" if parts else ""


def _explanation(verdict: LitmusVerdict) -> Iterator[str]:
    if verdict.answer is Answer.RACY and verdict.race is not None:
        yield from draw_execution(verdict.test, verdict.race.candidate)
        yield from race_lines(verdict)
    elif verdict.witness is not None:
        yield from draw_execution(verdict.test, verdict.witness)
        for axiom, pairs in verdict.axioms:
            yield from describe_violation(verdict.witness.execution, axiom, pairs)


def race_lines(verdict: LitmusVerdict) -> Iterator[str]:
    """Yields the race of a verdict in words, and what is missing on the path between the accesses if there is one."""
    assert verdict.race is not None
    execution = verdict.race.candidate.execution
    names = event_names(verdict.race.candidate.skeleton)
    events = verdict.race.candidate.skeleton.events
    one, other = verdict.race.first, verdict.race.second
    use = events[one].use
    location = use.location if isinstance(use, MbarrierUse) else events[one].location
    yield (
        f"data race: {names[one]} and {names[other]} access {location}, and neither causality order nor moral strength "
        "relates them (Conflict and Data-races)"
    )
    path = base_path(execution, one, other) or base_path(execution, other, one)
    if path and events[one].is_access:
        yield f"  base causality: {path_text(names, path)}; the proxy fence that it needs is missing"


def verdicts_json(found: Sequence[FileVerdict]) -> str:
    """Returns the document as ASCII text with a final line end."""
    return json.dumps({"version": 1, "tests": [_test(each) for each in found]}, indent=2) + "\n"


def _test(found: FileVerdict) -> dict[str, object]:
    verdict = found.verdict
    if verdict is None:
        return {"path": found.path, "answer": None, "error": found.error, "help": found.remedy or None}
    test = verdict.test
    race = verdict.race
    return {
        "path": found.path,
        "name": test.name,
        "answer": verdict.answer.value,
        "holds": verdict.does_hold,
        "expected": test.expected or None,
        "quantifier": test.quantifier,
        "condition": None if test.condition is None else condition_text(test.condition),
        "axioms": [{"name": axiom.name, "section": axiom.section} for axiom, _ in verdict.axioms],
        "race": None if race is None else _race(race.candidate, race.first, race.second),
        "undefined": verdict.undefined or None,
        "ends": verdict.ends,
        "bounded": verdict.is_bounded,
        "execution": None if verdict.witness is None else _execution(verdict.witness),
    }


def _race(candidate: Candidate, one: int, other: int) -> dict[str, object]:
    return {"events": [one, other], "execution": _execution(candidate)}


def _execution(candidate: Candidate) -> dict[str, object]:
    skeleton = candidate.skeleton
    events = [
        {
            "number": at,
            "thread": None if skeleton.threads[at] < 0 else skeleton.threads[at],
            "text": event.text,
            "kind": event.kind.name.lower(),
            "location": event.location or None,
            "value": candidate.values[at] if event.is_access else None,
        }
        for at, event in enumerate(skeleton.events)
    ]
    edges = [
        {"label": edge.label, "from": edge.source, "to": edge.target}
        for edge in communication_edges(candidate.execution)
    ]
    return {"events": events, "edges": edges}
