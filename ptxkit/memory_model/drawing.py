"""Draws an execution as text: the threads side by side, and the edges between their events.

Each event has a letter. The edges are those of communication (`rf`: the write whose value a read returns, `co`: a later
write, `fr`: a write later than the one that is read) and, for a pair that breaks an axiom or races, the path of
causality between the two, step by step.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ptxkit.fast_dataclasses import dataclass
from ptxkit.memory_model.axioms import Axiom, OrderedExecution
from ptxkit.memory_model.events import EventKind, MbarrierUse, SyncUse
from ptxkit.memory_model.executions import Candidate
from ptxkit.memory_model.litmus_test import LitmusTest
from ptxkit.memory_model.relations import Relation, members
from ptxkit.memory_model.skeletons import Skeleton

_GAP = "   "
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True, slots=True)
class Edge:
    """A labeled edge between two events, by number."""

    label: str
    source: int
    target: int


def event_names(skeleton: Skeleton) -> list[str]:
    """Returns a short name for each event: `init x` for an initial write, else letters."""
    names, drawn = [], 0
    for at, event in enumerate(skeleton.events):
        if skeleton.threads[at] < 0:
            names.append(f"init {event.location}")
            continue
        names.append(_LETTERS[drawn % len(_LETTERS)] + (str(drawn // len(_LETTERS)) if drawn >= len(_LETTERS) else ""))
        drawn += 1
    return names


def draw_execution(test: LitmusTest, candidate: Candidate) -> Iterator[str]:
    """Yields the lines of the threads' events, one column a thread, and of the edges of communication."""
    skeleton = candidate.skeleton
    names = event_names(skeleton)
    columns = []
    for number, thread in enumerate(test.threads):
        place = thread.place
        head = f"{thread.name} @ cta {place.cta}" + (f", gpu {place.gpu}" if _has_several_gpus(test) else "")
        events = [at for at, owner in enumerate(skeleton.threads) if owner == number]
        columns.append([head, *(_event_text(candidate, names, at) for at in events)])
    widths = [max(map(len, column)) for column in columns]
    for row in range(max(map(len, columns))):
        cells = (column[row] if row < len(column) else "" for column in columns)
        yield _GAP.join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip()
    for edge in communication_edges(candidate.execution):
        yield f"{edge.label}  {names[edge.source]} -> {names[edge.target]}"


def _has_several_gpus(test: LitmusTest) -> bool:
    return len({thread.place.gpu for thread in test.threads}) > 1


def _event_text(candidate: Candidate, names: Sequence[str], at: int) -> str:
    event = candidate.skeleton.events[at]
    text = f"{names[at]}: {event.text}"
    if event.issue is not None:
        what = f"{event.kind.name.lower()} {event.location}" if event.is_access else _use_text(event.use)
        text = f"{names[at]}:   {what}"
    if event.kind is EventKind.READ:
        text = f"{text}  = {candidate.values[at]}"
    if event.is_atomic and event.kind is EventKind.WRITE:
        text = f"{text}  := {candidate.values[at]}"
    return text


def _use_text(use: SyncUse | None) -> str:
    return f"{use.action} {use.location}" if isinstance(use, MbarrierUse) else "complete"


def communication_edges(execution: OrderedExecution) -> Iterator[Edge]:
    """Yields the edges of communication: `rf`, and of `co` and `fr` those that others do not imply."""
    skeleton = execution.model.skeleton
    yield from (Edge("rf", *pair) for pair in execution.orders.reads_from.pairs())
    coherence = execution.coherence.between(~skeleton.initial)
    yield from (Edge("co", *pair) for pair in (coherence - coherence @ coherence).pairs())
    coherence = execution.coherence
    nearest = execution.from_reads - execution.from_reads @ coherence
    yield from (Edge("fr", *pair) for pair in nearest.pairs())


def causality_path(execution: OrderedExecution, source: int, target: int) -> list[Edge]:
    """Returns the steps of causality order from one event to another; none if they are not ordered."""
    orders = execution.orders
    if not orders.causality.has(source, target):
        return []
    if orders.proxy_preserved.has(source, target):
        return base_path(execution, source, target)
    start = next(members(orders.observation.rows[source] & orders.proxy_preserved.inverse.rows[target]))
    return [Edge("observation", source, start), *base_path(execution, start, target)]


def base_path(execution: OrderedExecution, source: int, target: int) -> list[Edge]:
    """Returns the steps of base causality order from one event to another; none if they are not ordered."""
    orders, model = execution.orders, execution.model
    if not orders.base_causality.has(source, target):
        return []
    steps = [
        ("po", model.program_order),
        ("fence-sc", orders.fence_sc),
        ("synchronizes", orders.synchronizes),
        ("issue", model.issue_order),
        ("completion", orders.completion),
        ("same instruction", model.skeleton.inner_order),
    ]
    return _shortest_path(steps, source, target)


def _shortest_path(steps: Sequence[tuple[str, Relation]], source: int, target: int) -> list[Edge]:
    reached: dict[int, Edge | None] = {source: None}
    todo = [source]
    for at in todo:
        for label, relation in steps:
            for other in members(relation.rows[at]):
                if other not in reached:
                    reached[other] = Edge(label, at, other)
                    todo.append(other)
    path = []
    at = target
    while at in reached and (edge := reached[at]) is not None:
        path.append(edge)
        at = edge.source
    return path[::-1]


def describe_violation(execution: OrderedExecution, axiom: Axiom, found: Relation) -> Iterator[str]:
    """Yields what breaks an axiom: the edge, and the path of causality that contradicts it."""
    names = event_names(execution.model.skeleton)
    one, other = next(found.pairs())
    labels = [
        label
        for label, relation in (
            ("rf", execution.orders.reads_from),
            ("fr", execution.from_reads),
            ("co", execution.coherence),
            ("fence-sc", execution.orders.fence_sc),
            ("po", execution.model.program_order),
        )
        if relation.has(one, other)
    ]
    yield f"axiom {axiom.name}: {names[one]} {'/'.join(labels) or 'precedes'} {names[other]}"
    path = causality_path(execution, other, one) or causality_path(execution, one, other)
    if path:
        yield f"  causality: {path_text(names, path)}"


def path_text(names: Sequence[str], path: Sequence[Edge]) -> str:
    """Returns a path as text: `a -po-> b -synchronizes-> c`."""
    return names[path[0].source] + "".join(f" -{edge.label}-> {names[edge.target]}" for edge in path)
