"""The outcomes of a small program that the memory consistency model allows, and its data races.

All combinations of the writes that reads observe, of the coherence orders and of the orders of `.sc` fences are
enumerated and checked with the axioms; programs have a handful of events. Atomic read-modify-writes, other proxies than
the generic one, and partially overlapping accesses are not supported.

Source: PTX ISA, "Memory Consistency Model": "Morally Strong Operations", "Release and Acquire Patterns", "Ordering of
memory operations", "Axioms".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations, product

from ptxkit.fast_dataclasses import dataclass, field

SCOPES = ("cta", "cluster", "gpu", "sys")
PLACEMENTS = ("lanes", "warps", "cluster", "grid")
"""The placement of the threads: in one warp, in one CTA, in the CTAs of a cluster, in any CTAs."""

_REQUIRED_SCOPE = {"lanes": 0, "warps": 0, "cluster": 1, "grid": 2}


@dataclass(frozen=True, slots=True)
class ModelEvent:
    """kind: `write`, `read`, `fence`, `barrier`. variable: the accessed location. value: the written value, or the
    value that a read waits for.

    order: `weak`, `relaxed`, `acquire`, `release`; for fences `acq_rel`, `sc`. register: the number of a read's
    register.
    """

    kind: str
    variable: int = 0
    value: int | None = None
    order: str = "weak"
    scope: str = ""
    register: int = 0


@dataclass(frozen=True, slots=True)
class LitmusProgram:
    """The events of each thread in program order. place: one of `PLACEMENTS`."""

    threads: tuple[tuple[ModelEvent, ...], ...]
    place: str

    def includes(self, scope: str) -> bool:
        """Returns whether a scope of one thread includes the others."""
        return bool(scope) and SCOPES.index(scope) >= _REQUIRED_SCOPE[self.place]


@dataclass(frozen=True, slots=True)
class AllowedBehavior:
    """outcomes: the values of the registers in executions without a race. always, ever: whether all executions, or any,
    have a race.
    """

    outcomes: frozenset[tuple[int, ...]]
    always_races: bool
    may_race: bool


def compute_behavior(program: LitmusProgram) -> AllowedBehavior:
    """Returns the behavior that the model allows for a program."""
    found = list(_AxiomaticModel(program).executions())
    raced = [race for _, race in found]
    outcomes = frozenset(outcome for outcome, race in found if not race)
    return AllowedBehavior(outcomes, bool(found) and all(raced), any(raced))


Edges = list[int]
"""For each event, the events after it, as bits."""


@dataclass(slots=True)
class _AxiomaticModel:
    """The events of a program by number: first the initial writes of zeros, one for each variable."""

    program: LitmusProgram
    events: list[ModelEvent] = field(default_factory=list)
    thread: list[int] = field(default_factory=list)

    def executions(self) -> Iterator[tuple[tuple[int, ...], bool]]:
        """Yields the consistent executions: the values of the registers, and whether there is a race."""
        variables = 1 + max(each.variable for events in self.program.threads for each in events)
        self.events = [ModelEvent("write", variable, 0) for variable in range(variables)]
        self.thread = [-1] * variables
        for number, events in enumerate(self.program.threads):
            self.events += events
            self.thread += [number] * len(events)
        reads = self.events_of_kind("read")
        writes = [
            [at for at in self.events_of_kind("write") if self.events[at].variable == each] for each in range(variables)
        ]
        sources = [self.readable_writes(at, writes[self.events[at].variable]) for at in reads]
        fences = [at for at in self.events_of_kind("fence") if self.events[at].order == "sc"]
        for taken in product(*sources):
            rf = dict(zip(reads, taken, strict=True))
            for orders in product(*(permutations(each[1:]) for each in writes)):
                co = {at: place for each, order in enumerate(orders) for place, at in enumerate((each, *order))}
                if any(self.is_consistent(rf, co, order) for order in permutations(fences)):
                    yield self.outcome(rf), self.has_race(rf, co, fences)

    def events_of_kind(self, kind: str) -> list[int]:
        return [at for at, event in enumerate(self.events) if event.kind == kind]

    def readable_writes(self, read: int, writes: Sequence[int]) -> list[int]:
        """Returns the writes that a read may observe."""
        wanted = self.events[read].value
        return [at for at in writes if wanted is None or self.events[at].value == wanted]

    def outcome(self, rf: dict[int, int]) -> tuple[int, ...]:
        values = {self.events[read].register: self.events[write].value or 0 for read, write in rf.items()}
        return tuple(values[register] for register in sorted(values))

    # ------------------------------------------------------------------------------------------- relations

    def is_morally_strong(self, one: int, other: int) -> bool:
        """Returns whether two events are morally strong."""
        if self.thread[one] == self.thread[other]:
            return True
        return all(
            self.thread[at] >= 0 and self.events[at].order != "weak" and self.program.includes(self.events[at].scope)
            for at in (one, other)
        )

    def base_causality(self, rf: dict[int, int], order: Sequence[int]) -> Edges:
        """Returns base causality order. order: of the `.sc` fences."""
        count = len(self.events)
        edges = [0] * count
        for one in range(count):
            for other in range(count):
                same = self.thread[one] == self.thread[other] and self.thread[one] >= 0
                first = self.thread[one] < 0 <= self.thread[other]
                both = self.events[one].kind == self.events[other].kind == "barrier"
                if first or (same and one < other) or (both and one != other):
                    edges[one] |= 1 << other
        for release, write in self.sync_patterns("release"):
            for acquire, read in self.sync_patterns("acquire"):
                if (
                    rf.get(read) == write
                    and self.is_morally_strong(write, read)
                    and self.is_morally_strong(release, acquire)
                ):
                    edges[release] |= 1 << acquire
        for place, one in enumerate(order):
            for other in order[place + 1 :]:
                if self.is_morally_strong(one, other):
                    edges[one] |= 1 << other
        return _transitive_closure(edges)

    def sync_patterns(self, side: str) -> Iterator[tuple[int, int]]:
        """Yields the event that releases or acquires, and the strong access of the pattern."""
        kind = "write" if side == "release" else "read"
        for access in self.events_of_kind(kind):
            if self.thread[access] < 0:
                continue
            if self.events[access].order == side:
                yield access, access
            if self.events[access].order == "weak":
                continue
            for fence in self.events_of_kind("fence"):
                before = fence < access if side == "release" else fence > access
                if before and self.thread[fence] == self.thread[access]:
                    yield fence, access

    def causality_order(self, rf: dict[int, int], base: Edges) -> Edges:
        """Returns causality order: the write that a read observes precedes all events that are after the read."""
        found = list(base)
        for read, write in rf.items():
            if self.thread[write] >= 0 and self.is_morally_strong(write, read):
                found[write] |= base[read]
        return found

    # ------------------------------------------------------------------------------------------- axioms

    def is_consistent(self, rf: dict[int, int], co: dict[int, int], order: Sequence[int]) -> bool:
        base = self.base_causality(rf, order)
        if any(base[at] >> at & 1 for at, event in enumerate(self.events) if event.kind != "barrier"):
            return False
        cause = self.causality_order(rf, base)
        if any(
            cause[later] >> earlier & 1
            for earlier, later in _ordered_pairs(order)
            if self.is_morally_strong(earlier, later)
        ):
            return False
        for one, place in co.items():
            for other, further in co.items():
                same = self.events[one].variable == self.events[other].variable
                if same and place > further and cause[one] >> other & 1:
                    return False
        for read, write in rf.items():
            if cause[read] >> write & 1:
                return False
            later = (each for each in self.writes_to_variable(read, co) if co[each] > co[write])
            if any(cause[each] >> read & 1 for each in later):
                return False
        return self.is_coherent(rf, co)

    def writes_to_variable(self, at: int, co: dict[int, int]) -> list[int]:
        """Returns all writes to a variable."""
        return [each for each in co if self.events[each].variable == self.events[at].variable]

    def is_coherent(self, rf: dict[int, int], co: dict[int, int]) -> bool:
        """Returns whether the communication between morally strong accesses of one location agrees with program
        order.
        """
        edges = [0] * len(self.events)
        accesses = [at for at, event in enumerate(self.events) if event.kind in ("read", "write")]
        for one, other in product(accesses, accesses):
            if one == other or self.events[one].variable != self.events[other].variable:
                continue
            first = self.thread[one] < 0
            if (self.thread[one] == self.thread[other] and one < other) or (
                (first or self.is_morally_strong(one, other)) and self.is_communication(one, other, rf, co)
            ):
                edges[one] |= 1 << other
        closed = _transitive_closure(edges)
        return not any(closed[at] >> at & 1 for at in accesses)

    def is_communication(self, one: int, other: int, rf: dict[int, int], co: dict[int, int]) -> bool:
        if one in rf:
            return other in co and co[rf[one]] < co[other]
        return rf[other] == one if other in rf else co[one] < co[other]

    def has_race(self, rf: dict[int, int], co: dict[int, int], fences: Sequence[int]) -> bool:
        """Returns whether two conflicting accesses are unordered, for one of the orders of the fences."""
        for order in permutations(fences):
            if not self.is_consistent(rf, co, order):
                continue
            cause = self.causality_order(rf, self.base_causality(rf, order))
            accesses = [at for at, event in enumerate(self.events) if event.kind in ("read", "write")]
            for one, other in product(accesses, accesses):
                conflict = self.events[one].kind == "write" and self.thread[one] != self.thread[other]
                conflict = conflict and self.events[one].variable == self.events[other].variable
                apart = not (cause[one] >> other & 1 or cause[other] >> one & 1)
                threads = min(self.thread[one], self.thread[other]) >= 0
                if conflict and apart and threads and not self.is_morally_strong(one, other):
                    return True
        return False


def _ordered_pairs(order: Sequence[int]) -> Iterator[tuple[int, int]]:
    for place, one in enumerate(order):
        for other in order[place + 1 :]:
            yield one, other


def _transitive_closure(edges: Edges) -> Edges:
    found = list(edges)
    for middle in range(len(found)):
        bit, reached = 1 << middle, found[middle]
        for at, each in enumerate(found):
            if each & bit:
                found[at] = each | reached
    return found
