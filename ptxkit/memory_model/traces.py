"""The executions of single threads, for all values that their reads may return.

A location may have its initial value and each value that some execution of a thread writes to it; these are found by
iteration. Since no value comes out of thin air, a value that occurs depends on a chain of writes, each of which is
found in one round.

A turn of a loop that only reads and fences, and after which the thread is where it was, with the same live registers,
changes nothing: without it an execution has fewer constraints and the same final state. Such a turn is therefore left
out, and stands for the endless loop where an execution need not end. Any other loop is followed for a bounded number
of turns.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from enum import Enum
from itertools import product

from ptxkit.fast_dataclasses import dataclass, field
from ptxkit.memory_model.errors import LitmusError, TooManyExecutionsError
from ptxkit.memory_model.events import BarrierUse, EventKind, MbarrierUse, MemoryEvent
from ptxkit.memory_model.limits import MAX_EVENTS_OF_THREAD, MAX_LOCATIONS, MAX_LOOP_TURNS, MAX_TRACE_STEPS
from ptxkit.memory_model.litmus_test import LitmusTest, ThreadCode, ThreadState, TimedEvent

Domain = Mapping[str, frozenset[int]]
"""The values that each location may have."""


class Ending(Enum):
    """How an execution of a thread ends."""

    FINISHED = "finished"
    SPINNING = "spinning"
    """In an endless loop whose turns only read."""
    BLOCKED = "blocked"
    """At a barrier or a wait that never ends."""
    CUT = "cut"
    """Where the limit of turns is reached; how it continues is not known."""


@dataclass(frozen=True, slots=True)
class Trace:
    """One execution of one thread. values: what its events read or write. repeated: the reads of the endless turn."""

    events: tuple[MemoryEvent, ...]
    values: tuple[int, ...]
    registers: tuple[tuple[str, int], ...]
    ending: Ending = Ending.FINISHED
    repeated: frozenset[int] = frozenset()

    @property
    def offer(self) -> frozenset[tuple[str, int]]:
        """The values that it writes, with their locations."""
        return frozenset(self._of_kind(EventKind.WRITE))

    @property
    def need(self) -> frozenset[tuple[str, int]]:
        """The values that it reads, with their locations."""
        return frozenset(self._of_kind(EventKind.READ))

    def _of_kind(self, kind: EventKind) -> Iterator[tuple[str, int]]:
        for event, value in zip(self.events, self.values, strict=True):
            if event.kind is kind:
                yield event.location, value


@dataclass(slots=True)
class ThreadTraces:
    """The executions of the threads of a test, by thread. is_bounded: whether a loop may have more turns."""

    traces: list[list[Trace]] = field(default_factory=list)
    is_bounded: bool = False


def enumerate_traces(test: LitmusTest) -> ThreadTraces:
    """Returns the executions of each thread. Raises TooManyExecutionsError or LitmusError."""
    domain: dict[str, frozenset[int]] = {}
    found = ThreadTraces([[] for _ in test.threads])
    known: list[dict[str, frozenset[int]] | None] = [None for _ in test.threads]
    rounds = steps = 0
    while True:
        before, rounds = dict(domain), rounds + 1
        for at, thread in enumerate(test.threads):
            relevant = known[at]
            if relevant is not None and all(domain.get(name) == values for name, values in relevant.items()):
                continue
            explorer = _ThreadExplorer(thread.code, domain, test.initial, steps)
            found.traces[at] = list(explorer.run())
            steps = explorer.steps
            known[at] = explorer.used
        for traces in found.traces:
            for trace in traces:
                for location, value in trace.offer:
                    domain[location] = domain.get(location, frozenset({test.initial.get(location, 0)})) | {value}
        if len(domain) > MAX_LOCATIONS:
            raise LitmusError(f"the test uses more than {MAX_LOCATIONS} locations", "copy fewer bytes")
        if domain == before or rounds > _longest_chain(found.traces):
            break
    found.is_bounded = any(each.ending is Ending.CUT for traces in found.traces for each in traces)
    return found


def _longest_chain(traces: Sequence[Sequence[Trace]]) -> int:
    """Returns the number of writes of an execution at most, which bounds the chain on which a value depends."""
    counts = ((sum(event.kind is EventKind.WRITE for event in trace.events) for trace in several) for several in traces)
    return sum(max(each, default=0) for each in counts)


@dataclass(frozen=True, slots=True)
class _Path:
    """An execution so far. marks: by loop key, the number of events before it."""

    state: ThreadState
    events: tuple[TimedEvent, ...] = ()
    marks: Mapping[Hashable, int] = field(default_factory=dict)
    visits: Mapping[Hashable, int] = field(default_factory=dict)


class _ThreadExplorer:
    def __init__(self, code: ThreadCode, domain: Domain, initial: Mapping[str, int], steps: int) -> None:
        self.code, self.domain, self.initial, self.steps = code, domain, initial, steps
        self.used: dict[str, frozenset[int]] = {}

    def run(self) -> Iterator[Trace]:
        todo = [_Path(self.code.settle(self.code.start))]
        while todo:
            path = todo.pop()
            operation = self.code.next_operation(path.state)
            if operation is None:
                yield self._trace(path, Ending.FINISHED, self.code.final_registers(path.state))
                continue
            key = self.code.loop_key(path.state)
            first = path.marks.get(key)
            if first is not None and all(_changes_nothing(event) for event, _ in path.events[first:]):
                yield self._trace(path, Ending.SPINNING, {}, first)
                continue
            visits = path.visits.get(key, 0)
            if visits > MAX_LOOP_TURNS or len(path.events) > MAX_EVENTS_OF_THREAD:
                yield self._trace(path, Ending.CUT, {})
                continue
            marks = {**path.marks, key: len(path.events)}
            turns = {**path.visits, key: visits + 1}
            choices = [self._values(each) if isinstance(each, str) else each for each in operation.inputs]
            for chosen in product(*choices):
                self.steps += 1
                if self.steps > MAX_TRACE_STEPS:
                    raise TooManyExecutionsError(
                        f"the executions of single threads have more than {MAX_TRACE_STEPS:,} operations",
                        "write a test with fewer values, reads or copies",
                    )
                made, state = operation.perform(chosen, len(path.events))
                todo.append(_Path(self.code.settle(state), (*path.events, *made), marks, turns))

    def _values(self, location: str) -> Sequence[int]:
        values = self.domain.get(location, frozenset({self.initial.get(location, 0)}))
        if location in self.domain:
            self.used[location] = values
        else:
            self.used.setdefault(location, frozenset())
        return sorted(values)

    def _trace(self, path: _Path, ending: Ending, registers: Mapping[str, int], first: int = 0) -> Trace:
        repeated = frozenset(range(first, len(path.events))) if ending is Ending.SPINNING else frozenset()
        events = tuple(event for event, _ in path.events)
        return Trace(events, tuple(value for _, value in path.events), tuple(registers.items()), ending, repeated)


def _changes_nothing(event: MemoryEvent) -> bool:
    """Returns whether no other thread notices an event."""
    if isinstance(event.use, MbarrierUse):
        return event.use.action == "wait"
    return event.kind in (EventKind.READ, EventKind.FENCE, EventKind.PROXY_FENCE) and not event.is_atomic


def blocked_prefixes(trace: Trace) -> Iterator[Trace]:
    """Yields the beginnings of an execution that end at a barrier or a wait, at which the thread may stay."""
    for at, event in enumerate(trace.events):
        use = event.use
        waits = isinstance(use, BarrierUse) and use.action != "arrive"
        if waits:
            yield Trace(trace.events[: at + 1], trace.values[: at + 1], (), Ending.BLOCKED)
