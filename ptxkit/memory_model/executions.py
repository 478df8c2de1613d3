"""The candidate executions of a test: what each read returns, and the orders that are chosen at runtime.

For each combination of executions of the threads, every write with the value that a read returns is tried as its
source, every order of morally strong `fence.sc` operations, and every coherence order. Coherence order relates the
writes that causality order relates, and those that are morally strong, in either direction; writes that race are not
related ("Coherence Order").
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import permutations, product

from ptxkit.fast_dataclasses import dataclass, field
from ptxkit.memory_model.axioms import CausalOrders, EventRelations, OrderedExecution
from ptxkit.memory_model.errors import TooManyExecutionsError
from ptxkit.memory_model.events import EventKind, MemoryEvent
from ptxkit.memory_model.limits import MAX_CANDIDATES, MAX_COMBINATIONS, MAX_EVENT_PAIRS
from ptxkit.memory_model.litmus_test import LitmusTest
from ptxkit.memory_model.relations import Relation, members
from ptxkit.memory_model.rendezvous import Rendezvous
from ptxkit.memory_model.skeletons import Skeleton
from ptxkit.memory_model.traces import Trace


@dataclass(frozen=True, slots=True)
class Candidate:
    """A candidate execution. traces: of each thread. values: of each event."""

    traces: tuple[Trace, ...]
    values: tuple[int, ...]
    execution: OrderedExecution

    @property
    def skeleton(self) -> Skeleton:
        """Its events."""
        return self.execution.model.skeleton

    @property
    def rendezvous(self) -> Rendezvous:
        """The phases of its barriers."""
        return self.execution.orders.rendezvous

    def final_values(self) -> Iterator[dict[str, int]]:
        """Yields the possible final memory: the value of a last write in coherence order, by location."""
        yield from self._memory_after(self.execution.coherence)

    def _memory_after(self, coherence: Relation) -> Iterator[dict[str, int]]:
        lasts = []
        for location in self.skeleton.locations:
            writes = [at for at in members(self.skeleton.writes) if self.skeleton.events[at].location == location]
            values = {self.values[at] for at in writes if not coherence.rows[at]}
            lasts.append([(location, value) for value in sorted(values)])
        for chosen in product(*lasts):
            yield dict(chosen)

    def sequential_memories(self) -> Iterator[dict[str, int]]:
        """Yields the final memory of each sequentially consistent execution with these values: one order of all events
        explains what every read returns.
        """
        skeleton, reads_from = self.skeleton, self.execution.orders.reads_from
        meetings = Relation.of_pairs(skeleton.count, self.rendezvous.synchronized | self.rendezvous.observed)
        order = skeleton.program_order | skeleton.program_order @ meetings @ skeleton.program_order | reads_from
        pairs = list(skeleton.same_location.between(skeleton.writes, skeleton.writes).pairs())
        for coherence in _extend_to_total(self.execution.coherence, pairs):
            from_reads = reads_from.inverse @ coherence
            is_atomic = not from_reads @ coherence & skeleton.atomic_pairs
            if is_atomic and not (order | coherence | from_reads).closure.loops:
                yield from self._memory_after(coherence)

    def registers(self, names: Sequence[str]) -> dict[str, int]:
        """Returns the final registers, named `P0:r1`. names: of the threads."""
        return {
            f"{name}:{register}": value
            for name, trace in zip(names, self.traces, strict=True)
            for register, value in trace.registers
        }


@dataclass(slots=True, eq=False)
class CandidateEnumerator:
    """Enumerates the candidate executions of a test. candidates, event_pairs: how many there were so far."""

    test: LitmusTest
    policy: str
    candidates: int = 0
    event_pairs: int = 0
    _models: dict[tuple[tuple[MemoryEvent, ...], ...], EventRelations] = field(default_factory=dict)

    def model_of(self, traces: Sequence[Trace]) -> EventRelations:
        """Returns the events of a combination, and their relations."""
        key = tuple(trace.events for trace in traces)
        found = self._models.get(key)
        if found is None:
            skeleton = Skeleton(key, [each.place for each in self.test.threads])
            self.event_pairs += skeleton.count**2
            if self.event_pairs > MAX_EVENT_PAIRS:
                raise TooManyExecutionsError(
                    f"the executions have more than {MAX_EVENT_PAIRS:,} pairs of events",
                    "write a test with fewer events, or fewer paths of its threads",
                )
            found = self._models[key] = EventRelations(skeleton, self.policy)
        return found

    def combinations(self, traces: Sequence[Sequence[Trace]]) -> Iterator[tuple[Trace, ...]]:
        """Yields the combinations in which each value that is read is written. Raises TooManyExecutionsError."""
        initial = self.test.initial
        prepared = [[(trace, trace.need, trace.offer) for trace in several] for several in traces]
        count = 1
        for several in prepared:
            count *= max(len(several), 1)
        if count > MAX_COMBINATIONS:
            raise TooManyExecutionsError(
                f"the threads have {count:,} combinations of executions, more than {MAX_COMBINATIONS:,}",
                "write a test with fewer reads, values or turns of loops",
            )
        for combination in product(*prepared):
            offered = frozenset().union(*(each[2] for each in combination))
            missing = frozenset().union(*(each[1] for each in combination)) - offered
            if all(initial.get(location, 0) == value for location, value in missing):
                yield tuple(each[0] for each in combination)

    def of_combination(self, traces: tuple[Trace, ...], *, is_forced: bool = True) -> Iterator[Candidate]:
        """Yields the candidates of a combination. is_forced: whether coherence order agrees with causality order; if
        not, it contradicts it at least once. Raises TooManyExecutionsError.
        """
        self._count_candidate()
        model = self.model_of(traces)
        skeleton = model.skeleton
        initial = [self.test.initial.get(location, 0) for location in skeleton.locations]
        values = (*initial, *(value for trace in traces for value in trace.values))
        sources = [
            [write for write in writes if values[write] == values[read] and not skeleton.atomic_pairs.has(read, write)]
            for read, writes in skeleton.reads_of_location
        ]
        reads = [read for read, _ in skeleton.reads_of_location]
        for rendezvous, chosen in product(skeleton.rendezvous, product(*sources)):
            reads_from = Relation.of_pairs(skeleton.count, zip(chosen, reads, strict=True))
            for fence_sc in self._fence_orders(model):
                orders = CausalOrders(model, rendezvous, reads_from, fence_sc)
                for coherence in self._coherence_orders(orders, is_forced=is_forced):
                    self._count_candidate()
                    yield Candidate(traces, values, OrderedExecution(orders, coherence))

    def _count_candidate(self) -> None:
        self.candidates += 1
        if self.candidates > MAX_CANDIDATES:
            raise TooManyExecutionsError(
                f"the test has more than {MAX_CANDIDATES:,} candidate executions",
                "write a test with fewer reads, writes or `fence.sc`",
            )

    def _fence_orders(self, model: EventRelations) -> Iterator[Relation]:
        """Yields the orders of morally strong `fence.sc`."""
        skeleton = model.skeleton
        fences = skeleton.where(lambda event: event.kind is EventKind.FENCE and event.order == "sc")
        related = model.morally_strong.between(fences, fences)
        kept = [at for at in members(fences) if related.rows[at]]
        seen = set()
        for order in permutations(kept):
            pairs = ((one, other) for at, one in enumerate(order) for other in order[at + 1 :])
            found = Relation.of_pairs(skeleton.count, pairs) & related
            if found not in seen and not found & model.program_order.inverse:
                seen.add(found)
                yield found

    def _coherence_orders(self, orders: CausalOrders, *, is_forced: bool) -> Iterator[Relation]:
        model = orders.model
        writes = model.skeleton.writes
        overlapping = model.skeleton.same_location.between(writes, writes)
        first = overlapping.between(model.skeleton.initial)
        strong = (model.morally_strong & overlapping).between(~model.skeleton.initial)
        causal = orders.causality & overlapping
        if is_forced:
            known = (first | causal).closure
            if not known.loops:
                yield from _extend_to_total(known, (strong | strong.inverse).pairs())
            return
        related = strong | causal
        for found in _extend_to_total(first, (related | related.inverse).pairs()):
            if causal - found:
                yield found


def _extend_to_total(known: Relation, pairs: Iterable[tuple[int, int]]) -> Iterator[Relation]:
    """Yields the transitive orders that contain a relation and relate some pairs."""
    todo = [known]
    wanted = [(one, other) for one, other in pairs if one < other]
    while todo:
        found = todo.pop()
        for one, other in wanted:
            if not (found.has(one, other) or found.has(other, one)):
                for pair in ((one, other), (other, one)):
                    extended = (found | Relation.of_pairs(len(found.rows), [pair])).closure
                    if not extended.loops:
                        todo.append(extended)
                break
        else:
            yield found
