"""The events of an execution, in order, with concrete addresses.

A group of threads that take the same path is executed as one. Its `GroupTrace` holds each event once, with `LaneValues`
where the threads differ; `GroupTrace.for_thread` returns the `ThreadTrace` of one thread.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from itertools import repeat
from typing import NamedTuple

from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.values.input_data import InputWord
from ptxkit.analysis.values.symbolic_values import GroupValue, LaneValues, Value, select_lanes
from ptxkit.fast_dataclasses import dataclass, field, replace
from ptxkit.isa.effects import Effect
from ptxkit.semantics.layout import DeclaredVariable


class TraceEvent(NamedTuple):
    """One effect as it happened to one thread.

    step: the instruction. visit: how often the thread had executed that step before. address: the address of the access
    or of the mbarrier: a shared-memory offset where it is known to be shared, else a term or None. size: the number of
    bytes, None where unknown; of a barrier, the number of threads for which it waits; of an arrival, its token. amount:
    the number of arrivals or of pending groups, the number of the barrier, or the mask of the CTAs to which a copy
    goes. barrier: the mbarrier on which an access completes. expect: the bytes added by an arrive.expect_tx. ctas: the
    mask of the CTAs whose mbarriers are used.

    (It is a tuple because traces have millions of events, and Python creates tuples faster than other objects.)
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
        """`[low, high)` in shared memory, or None where the address or the size is not known as a number."""
        if isinstance(self.address, int) and isinstance(self.size, int):
            return self.address, self.address + self.size
        return None


@dataclass(frozen=True, slots=True)
class GroupEvent:
    """One effect as it happened to a group whose threads differ in it.

    fields: those of a `TraceEvent` from `address` on. participants: whether each of the group's threads took part, by
    index; None for all.
    """

    step: Step
    visit: int
    effect: Effect
    fields: tuple[GroupValue | None, ...]
    participants: tuple[bool, ...] | None = None

    def for_thread(self, index: int) -> TraceEvent | None:
        """Returns the event of the thread at an index of the group; None where the thread took no part."""
        if self.participants is not None and not self.participants[index]:
            return None
        own = [held.at(index) if isinstance(held, LaneValues) else held for held in self.fields]
        return TraceEvent(self.step, self.visit, self.effect, *own)

    def subset(self, indices: Sequence[int]) -> TraceEvent | GroupEvent | None:
        """Returns the event of a smaller group; None where none of its threads took part."""
        who = None if self.participants is None else tuple(self.participants[index] for index in indices)
        if who is not None and not any(who):
            return None
        fields = tuple(None if held is None else select_lanes(held, indices) for held in self.fields)
        return make_event(self.step, self.visit, self.effect, fields, who)


def make_event(
    step: Step, visit: int, effect: Effect, fields: tuple[GroupValue | None, ...], who: tuple[bool, ...] | None
) -> TraceEvent | GroupEvent:
    """Returns the event of a group: a single `TraceEvent` where its threads do not differ."""
    if (who is None or all(who)) and not any(isinstance(held, LaneValues) for held in fields):
        return TraceEvent(step, visit, effect, *fields)  # type: ignore[arg-type]
    return GroupEvent(step, visit, effect, fields, None if who is None or all(who) else who)


def differences_of_lanes(events: Iterable[GroupEvent], count: int) -> list[tuple[Hashable, ...]]:
    """Returns, for each of the `count` threads of a group, what distinguishes it from the others in some events.

    Threads to which the same events happened have equal results.
    """
    columns: list[Sequence[Hashable]] = []
    for event in events:
        differing = [held.values for held in event.fields if isinstance(held, LaneValues)]
        if event.participants is None:
            columns.extend(differing)
        else:
            own = zip(*differing, strict=True) if differing else repeat(())
            columns.append([values if part else None for part, values in zip(event.participants, own, strict=False)])
    return list(zip(*columns, strict=True)) if columns else [()] * count


@dataclass(frozen=True, slots=True)
class UnknownCall:
    """A call of code that is not available and may have any effect."""

    step: Step
    visit: int


@dataclass(frozen=True, slots=True)
class WrongAddressKind:
    """An address operand that certainly holds an address of another kind than its instruction accepts.

    role: the role of the operand. expected_space: the state space that the instruction accepts (`generic` where it
    names none). value: the operand's value, a number or a term that results from a conversion. origin: `generic` for a
    generic address, else the space of the address `value`; `shared::cluster` for shared memory of another CTA.
    is_certain: no guess led to the step.
    """

    step: Step
    role: str
    expected_space: str
    value: Value
    origin: str
    is_certain: bool = False


@dataclass(frozen=True, slots=True)
class OperandViolation:
    """A numeric address or value that its operand cannot accept, or must not have.

    kind: the kind of the violation:

    * `alignment`: an address must be a multiple of `required` bytes and is `value` bytes into a `variable`.
    * `apart`: two addresses derived from one pointer, here and at `other`, must be multiples of `required`, and their
      distance is not (`value` is the remainder).
    * `multiple`: a number is not a multiple of `required`.
    * `range`: a number exceeds the limit `required`.
    * `bounds`: `required` bytes from `value` on leave the `variable`, or no variable is declared there.
    * `window`: a generic address is in a window that `rule` describes, and must not be: at a conversion at `other`, or
      here.
    * `member`: lane `value` is not in the mask `required`.
    * `rank` and `mask`: a CTA, or one of several, is not in a cluster of `required` CTAs.
    * `rule`: the operands violate the table's `rule`.
    * `home`: an address is in the executing CTA, and must be in another one (`rule` is `other`), or is in another CTA
      than that of role `rule`.

    is_certain: of an alignment, no placement of the variable is valid; otherwise the declaration of the variable does
    not guarantee the alignment. Of two addresses, no guess precedes them. Of bounds, no guess precedes them, the size
    is a constant, and the thread executes the instruction for the first time. thread: the thread with this address,
    where that of the first two threads is aligned. is_in_every_launch: every launch has the thread, however small its
    block is. is_first: of an alignment, no guess precedes it, and the thread executes the instruction for the first
    time.
    """

    step: Step
    role: str
    value: int
    kind: str
    required: int
    variable: DeclaredVariable | None = None
    is_certain: bool = True
    rule: str = ""
    other: Step | None = None
    thread: int | None = None
    is_in_every_launch: bool = True
    is_first: bool = False


@dataclass(slots=True)
class ThreadTrace:
    """The execution of thread `tid` (linear).

    end_reason: `exit`, `trap`, or `budget` where the execution was cut short.

    first_guess: the number of events before a decision first depended on unknown data; None if no decision did. Up to
    that event, some input certainly takes this path.

    leader: the first of the threads that take the same path.
    """

    tid: int
    events: list[TraceEvent | UnknownCall] = field(default_factory=list)
    covered_steps: set[Step] = field(default_factory=set)
    wrong_address_kinds: dict[tuple[Step, str], WrongAddressKind] = field(default_factory=dict)
    operand_violations: dict[tuple[Step, str], OperandViolation] = field(default_factory=dict)
    end_reason: str = "exit"
    first_guess: int | None = None
    has_unknown_call: bool = False
    leader: int | None = None

    def is_certain(self, position: int | None = None) -> bool:
        """Returns whether no guess precedes a position, or the end where no position is given."""
        return self.first_guess is None or (position is not None and position < self.first_guess)


@dataclass(slots=True)
class GroupTrace:
    """The execution of the threads `tids` (linear, ascending), which all take one path.

    pointer_alignments: the accesses by the term of their address, then by the alignment in bytes and the remainder.
    polled_arrivals: the arrivals, by step and visit, before which the threads polled a phase and did not wait.
    order_sides: the guarded steps that decide an order, each with whether a thread executed it.
    deciding_words: the data of the host that have decided the path. block_violations: what is added to the violations
    where every launch has all threads of the block. depends_on_block: whether other checks of operands may have another
    result there. The other fields are those of `ThreadTrace`.
    """

    tids: tuple[int, ...]
    events: list[TraceEvent | GroupEvent | UnknownCall] = field(default_factory=list)
    covered_steps: set[Step] = field(default_factory=set)
    wrong_address_kinds: dict[tuple[Step, str], WrongAddressKind] = field(default_factory=dict)
    operand_violations: dict[tuple[Step, str], OperandViolation] = field(default_factory=dict)
    pointer_alignments: dict[int, dict[tuple[int, int], Step]] = field(default_factory=dict)
    polled_arrivals: set[tuple[Step, int]] = field(default_factory=set)
    order_sides: set[tuple[Step, bool]] = field(default_factory=set)
    deciding_words: frozenset[InputWord] = frozenset()
    block_violations: dict[tuple[Step, str], OperandViolation] = field(default_factory=dict)
    depends_on_block: bool = False
    end_reason: str = "exit"
    first_guess: int | None = None
    has_unknown_call: bool = False

    def for_thread(self, tid: int) -> ThreadTrace:
        """Returns the trace of one thread of the group."""
        return self._trace_of(self.tids.index(tid))

    def thread_traces(self) -> list[ThreadTrace]:
        """Returns the traces of all threads; those to which the same events happened share the list of events."""
        differing = [event for event in self.events if isinstance(event, GroupEvent)]
        by_story: dict[tuple[Hashable, ...], ThreadTrace] = {}
        found: list[ThreadTrace] = []
        for index, story in enumerate(differences_of_lanes(differing, len(self.tids))):
            same = by_story.get(story)
            if same is None:
                found.append(by_story.setdefault(story, self._trace_of(index)))
            else:
                found.append(replace(same, tid=self.tids[index]))
        return found

    def _trace_of(self, index: int) -> ThreadTrace:
        """Returns the trace of the thread at an index of the group."""
        events: list[TraceEvent | UnknownCall] = []
        guessed = None
        for position, event in enumerate(self.events):
            if position == self.first_guess:
                guessed = len(events)
            own = event.for_thread(index) if isinstance(event, GroupEvent) else event
            if own is not None:
                events.append(own)
        if self.first_guess is not None and guessed is None:
            guessed = len(events)
        return ThreadTrace(
            self.tids[index],
            events,
            self.covered_steps,
            self.wrong_address_kinds,
            self.operand_violations,
            self.end_reason,
            guessed,
            self.has_unknown_call,
            self.tids[0],
        )

    def fork(self, indices: Sequence[int]) -> GroupTrace:
        """Returns the state from which a smaller group continues.

        It has everything except the events, which `ptxkit.analysis.symexec.trace_prefix` reconstructs.
        """
        return replace(
            self,
            tids=tuple(self.tids[index] for index in indices),
            events=[],
            covered_steps=set(self.covered_steps),
            wrong_address_kinds=dict(self.wrong_address_kinds),
            operand_violations=dict(self.operand_violations),
            block_violations=dict(self.block_violations),
            pointer_alignments={term: dict(seen) for term, seen in self.pointer_alignments.items()},
            polled_arrivals=set(self.polled_arrivals),
            first_guess=None if self.first_guess is None else 0,
        )

    def filter_effects(self, *kinds: type) -> GroupTrace:
        """Returns the trace restricted to events whose effect is of one of these classes, without calls."""
        kept = [isinstance(event, UnknownCall) or isinstance(event.effect, kinds) for event in self.events]
        events = [event for event, keep in zip(self.events, kept, strict=True) if keep]
        guessed = None if self.first_guess is None else sum(kept[: self.first_guess])
        return replace(self, events=events, first_guess=guessed)

    def thread_events(self, wanted: Callable[[TraceEvent | GroupEvent], bool]) -> Iterator[tuple[int, TraceEvent]]:
        """Yields (thread, event) for the wanted events, for each thread of the group."""
        for event in self.events:
            if isinstance(event, UnknownCall) or not wanted(event):
                continue
            for index, tid in enumerate(self.tids):
                own = event.for_thread(index) if isinstance(event, GroupEvent) else event
                if own is not None:
                    yield tid, own
