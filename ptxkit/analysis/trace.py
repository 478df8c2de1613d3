"""What threads do: the events of their walks, in order, with concrete places.

A group of threads that take the same path is walked as one. Its `GroupTrace` holds each event once, with `Lanes` where
the threads differ; `GroupTrace.of` gives one thread's own `Trace`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from ptxkit.analysis.layout import Variable
from ptxkit.analysis.program import Step
from ptxkit.analysis.terms import Held, Lanes, Value, held_among
from ptxkit.isa.effects import Effect
from ptxkit.records import dataclass, field, replace


@dataclass(frozen=True, slots=True)
class Event:
    """One effect as it happened to one thread.

    step: the instruction. visit: how often the thread had executed that step before. address: of the access or the
    mbarrier, a shared-memory offset where it is known to be shared, else a term or None. size: bytes, None where
    unknown; of a barrier, the threads it waits for. amount: arrivals, pending groups, the barrier's number, the mask of
    the CTAs that a copy goes to. barrier: the mbarrier of an access's completion. expect: bytes added by an
    arrive.expect_tx. ctas: the mask of the CTAs whose mbarriers are operated on.
    """

    step: Step
    visit: int
    effect: Effect
    address: Value | None = None
    size: Value | None = None
    amount: Value | None = None
    barrier: Value | None = None
    expect: Value | None = None
    ctas: Value | None = None

    @property
    def range(self) -> tuple[int, int] | None:
        """`[low, high)` in shared memory, or None where the place or the size is not known as a number."""
        if isinstance(self.address, int) and isinstance(self.size, int):
            return self.address, self.address + self.size
        return None


@dataclass(frozen=True, slots=True)
class GroupEvent:
    """One effect as it happened to a group whose threads differ in it.

    fields: those of an `Event` from `address` on. who: which of the group's threads it happened to, by index; None for
    all.
    """

    step: Step
    visit: int
    effect: Effect
    fields: tuple[Held | None, ...]
    who: tuple[bool, ...] | None = None

    def of(self, index: int) -> Event | None:
        """What the thread at an index of the group saw; None where it took no part."""
        if self.who is not None and not self.who[index]:
            return None
        own = [held.at(index) if isinstance(held, Lanes) else held for held in self.fields]
        return Event(self.step, self.visit, self.effect, *own)

    def among(self, indices: Sequence[int]) -> Event | GroupEvent | None:
        """The event as a smaller group saw it; None where none of it took part."""
        who = None if self.who is None else tuple(self.who[index] for index in indices)
        if who is not None and not any(who):
            return None
        fields = tuple(None if held is None else held_among(held, indices) for held in self.fields)
        return event_of(self.step, self.visit, self.effect, fields, who)


def event_of(
    step: Step, visit: int, effect: Effect, fields: tuple[Held | None, ...], who: tuple[bool, ...] | None
) -> Event | GroupEvent:
    """The event of a group: an `Event` that its threads share, where they do not differ."""
    if (who is None or all(who)) and not any(isinstance(held, Lanes) for held in fields):
        return Event(step, visit, effect, *fields)  # type: ignore[arg-type]
    return GroupEvent(step, visit, effect, fields, None if who is None or all(who) else who)


@dataclass(frozen=True, slots=True)
class Opaque:
    """A call of code that is not here: anything may have happened in it."""

    step: Step
    visit: int


@dataclass(frozen=True, slots=True)
class Misuse:
    """An address operand that surely holds an address of another kind than its instruction takes.

    role: of the operand. taken: the state space that the instruction takes (`generic` where it names none). value: what
    it holds, a number or a term that came from a conversion. origin: `generic` for a generic address, or the space that
    `value` is an address in; `shared::cluster` for shared memory of another CTA. exact: no guess led there.
    """

    step: Step
    role: str
    taken: str
    value: Value
    origin: str
    exact: bool = False


@dataclass(frozen=True, slots=True)
class Misfit:
    """An address or a number, by number, that its operand cannot take, or may not.

    kind: `alignment` where an address must be a multiple of `needed` bytes and is `value` bytes into a `variable`;
    `apart` where two addresses by one pointer, here and at `other`, must be multiples of `needed`, and are not a
    multiple of it apart (`value` is by how much); `multiple` where a number is none of `needed`; `range` where it is
    beyond the limit `needed`; `bounds` where `needed` bytes from `value` on leave the `variable`, or where none is
    declared there; `window` where a generic address lies where the words of `rule` say, and must not: at a conversion
    at `other`, or here; `member` where lane `value` is none of the mask `needed`; `rank` and `mask` where a CTA, or one
    of several, is none of a cluster of `needed`; `rule` where it breaks the table's `rule` between operands; `home`
    where an address lies in the own CTA, and must lie in another (`rule` is `other`), or in another CTA than that of
    role `rule`. surely: of an alignment, no place of the variable would do; else the declaration of the variable
    promises less. thread: whose address it is, where that of the first two threads is aligned.
    """

    step: Step
    role: str
    value: int
    kind: str
    needed: int
    variable: Variable | None = None
    surely: bool = True
    rule: str = ""
    other: Step | None = None
    thread: int | None = None


@dataclass(slots=True)
class Trace:
    """The walk of thread `tid` (linear).

    ended: `exit`, `trap`, or `budget` where the walk was cut short.

    guessed: how many events there were when a decision first depended on data that nobody knows, None where none did;
    up to there an input surely takes this path.

    leader: the first of the threads that take the same path.
    """

    tid: int
    events: list[Event | Opaque] = field(default_factory=list)
    covered: set[Step] = field(default_factory=set)
    misuses: dict[tuple[Step, str], Misuse] = field(default_factory=dict)
    misfits: dict[tuple[Step, str], Misfit] = field(default_factory=dict)
    ended: str = "exit"
    guessed: int | None = None
    opaque: bool = False
    leader: int | None = None

    def is_sure(self, position: int | None = None) -> bool:
        """Whether no guess comes before a position; before the end, where none is given."""
        return self.guessed is None or (position is not None and position < self.guessed)


@dataclass(slots=True)
class GroupTrace:
    """The walk of the threads `tids` (linear, ascending), which all take one path; fields as those of `Trace`.

    pointers: by term, the accesses where it stood: by bytes to which they are aligned, and how far it was from those.
    tested: the arrivals, by step and visit, before which the threads asked for a phase and did not wait.
    """

    tids: tuple[int, ...]
    events: list[Event | GroupEvent | Opaque] = field(default_factory=list)
    covered: set[Step] = field(default_factory=set)
    misuses: dict[tuple[Step, str], Misuse] = field(default_factory=dict)
    misfits: dict[tuple[Step, str], Misfit] = field(default_factory=dict)
    pointers: dict[int, dict[tuple[int, int], Step]] = field(default_factory=dict)
    tested: set[tuple[Step, int]] = field(default_factory=set)
    ended: str = "exit"
    guessed: int | None = None
    opaque: bool = False

    def of(self, tid: int) -> Trace:
        """One thread's part of it."""
        index = self.tids.index(tid)
        events: list[Event | Opaque] = []
        guessed = None
        for position, event in enumerate(self.events):
            if position == self.guessed:
                guessed = len(events)
            own = event.of(index) if isinstance(event, GroupEvent) else event
            if own is not None:
                events.append(own)
        if self.guessed is not None and guessed is None:
            guessed = len(events)
        return Trace(
            tid,
            events,
            self.covered,
            self.misuses,
            self.misfits,
            self.ended,
            guessed,
            self.opaque,
            self.tids[0],
        )

    def among(self, indices: Sequence[int]) -> GroupTrace:
        """What a smaller group goes on from: with all but the events, which `ptxkit.analysis.past` tells."""
        return replace(
            self,
            tids=tuple(self.tids[index] for index in indices),
            events=[],
            covered=set(self.covered),
            misuses=dict(self.misuses),
            misfits=dict(self.misfits),
            pointers={term: dict(seen) for term, seen in self.pointers.items()},
            tested=set(self.tested),
            guessed=None if self.guessed is None else 0,
        )

    def only(self, *kinds: type) -> GroupTrace:
        """The walk with no other events than those whose effect is of one of these classes, and calls away."""
        kept = [isinstance(event, Opaque) or isinstance(event.effect, kinds) for event in self.events]
        events = [event for event, keep in zip(self.events, kept, strict=True) if keep]
        guessed = None if self.guessed is None else sum(kept[: self.guessed])
        return replace(self, events=events, guessed=guessed)

    def each(self, wanted: Callable[[Event | GroupEvent], bool]) -> Iterator[tuple[int, Event]]:
        """(thread, event) of the events that are wanted, for each thread of the group."""
        for event in self.events:
            if isinstance(event, Opaque) or not wanted(event):
                continue
            for index, tid in enumerate(self.tids):
                own = event.of(index) if isinstance(event, GroupEvent) else event
                if own is not None:
                    yield tid, own
