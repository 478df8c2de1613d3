"""The executions of a litmus test: its sequentially consistent final states, and whether one of them has a race.

Executions are built event by event. A set of events is a number, in which each has a bit. For each event the set of all
that precede it in base causality order is kept: by program order, release and acquire patterns, barriers and Fence-SC
order. Two conflicting accesses race unless they are morally strong, or the first precedes the second, or a read that
observes the first does.

An iteration of a loop that changes nothing does not count as a separate execution.

Source: PTX ISA, "Memory Consistency Model".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from litmus_lib.litmus_tests import State, Step, Test

MASK = 0xFFFF_FFFF
MAX_STATES = 300_000
_EVENTS = 64
"""The largest number of events of a thread; a thread with more is in an endless loop."""
_RELEASES, _ACQUIRES = ("release", "acq_rel", "sc"), ("acquire", "acq_rel", "sc")


class TooManyExecutionsError(Exception):
    """There are more executions than the limit."""


@dataclass
class ExploredBehavior:
    """The outcomes of the executions of a test. states: final ones. hangs: whether one deadlocks."""

    states: set[State] = field(default_factory=set)
    races: bool = False
    hangs: bool = False


@dataclass(frozen=True, order=True)
class ExecutionEvent:
    """One event. level: of its scope, -1 for a weak access. base: the events before it. firsts: the first events of the
    release patterns that end in it. observed: the writes that it observes.
    """

    bit: int
    thread: int
    kind: str
    place: str
    level: int
    base: int
    firsts: int = 0
    observed: int = 0


@dataclass(frozen=True)
class _LocationState:
    """The state of a location. chain: the writes that a morally strong read of it observes; writer: the last of
    them.
    """

    value: int
    writer: int = 0
    chain: int = 0


@dataclass(frozen=True)
class _ThreadState:
    """The state of a thread. base: the events before its next event. fences, released: its own events that may begin
    release patterns. observed: locations, each with the first event of a release pattern that the thread has observed
    there. waits: the barrier that it waits for. turns: its states at the backward branches that it has taken.
    """

    pc: int
    registers: tuple[int, ...]
    base: int = 0
    count: int = 0
    fences: int = 0
    released: tuple[tuple[str, int], ...] = ()
    observed: frozenset[tuple[str, int]] = frozenset()
    waits: tuple[int, int] | None = None
    turns: frozenset[object] = frozenset()


_Barriers = tuple[tuple[tuple[int, int], int, tuple[tuple[int, str, int], ...]], ...]


@dataclass(frozen=True)
class _ExecutionState:
    """One execution so far. barriers: by CTA and number, the expected number of arrivals, and the arrived threads."""

    threads: tuple[_ThreadState, ...]
    memory: tuple[_LocationState, ...]
    events: tuple[ExecutionEvent, ...] = ()
    barriers: _Barriers = ()


def explore(test: Test) -> ExploredBehavior:
    """Returns all executions of a test. Raises TooManyExecutionsError."""
    return _Explorer(test).run()


class _Explorer:
    def __init__(self, test: Test) -> None:
        self.test, self.outcome = test, ExploredBehavior()
        self.names = [list(each.registers) for each in test.threads]
        self.places = list(test.places)

    def run(self) -> ExploredBehavior:
        registers = [tuple(each.registers.values()) for each in self.test.threads]
        first = _ExecutionState(
            tuple(_ThreadState(0, each) for each in registers), tuple(map(_LocationState, self.test.places.values()))
        )
        seen, todo = {first}, [first]
        while todo:
            facts = todo.pop()
            following = list(self._following(facts))
            if not following:
                self._end(facts)
            todo += [each for each in following if each not in seen]
            seen.update(following)
            if len(seen) > MAX_STATES:
                raise TooManyExecutionsError
        return self.outcome

    def _end(self, facts: _ExecutionState) -> None:
        if any(place.waits is not None or not self._is_over(facts, at) for at, place in enumerate(facts.threads)):
            self.outcome.hangs = True
            return
        state = [
            tuple(zip(names, place.registers, strict=True))
            for names, place in zip(self.names, facts.threads, strict=True)
        ]
        memory = tuple(zip(self.places, (each.value for each in facts.memory), strict=True))
        self.outcome.states.add((*state, memory))

    def _is_over(self, facts: _ExecutionState, number: int) -> bool:
        return facts.threads[number].pc >= len(self.test.threads[number].steps)

    # ---------------------------------------------------------------------------------------------------- steps

    def _following(self, facts: _ExecutionState) -> Iterator[_ExecutionState]:
        for number, place in enumerate(facts.threads):
            if place.waits is not None or self._is_over(facts, number):
                continue
            step = self.test.threads[number].steps[place.pc]
            if step.kind in ("branch", "goto", "add"):
                found = self._compute(facts, number, place, step)
            elif step.kind == "barrier":
                found = self._arrive(facts, number, place, step)
            elif step.kind == "fence":
                found = self._fence(facts, number, place, step)
            else:
                found = self._access(facts, number, place, step)
            if found is not None:
                yield self._open_barriers(found)

    def _compute(self, facts: _ExecutionState, number: int, place: _ThreadState, step: Step) -> _ExecutionState | None:
        values = [self._value(number, place, each) for each in step.operands]
        if step.kind == "add":
            registers = self._set(number, place, step.register, sum(values) & MASK)
            return _with_thread(facts, number, replace(place, pc=place.pc + 1, registers=registers))
        if step.kind == "branch" and (values[0] == values[1]) != (step.word == "eq"):
            return _with_thread(facts, number, replace(place, pc=place.pc + 1))
        turns = place.turns
        if step.target <= place.pc:
            mark = (place.pc, place.registers, tuple(each.value for each in facts.memory))
            if mark in turns or place.count > _EVENTS - 8:
                return None
            turns |= {mark}
        return _with_thread(facts, number, replace(place, pc=step.target, turns=turns))

    def _value(self, number: int, place: _ThreadState, operand: str | int) -> int:
        known = operand if isinstance(operand, int) else place.registers[self.names[number].index(operand)]
        return known & MASK

    def _set(self, number: int, place: _ThreadState, register: str, value: int) -> tuple[int, ...]:
        return tuple(
            value if name == register else old for name, old in zip(self.names[number], place.registers, strict=True)
        )

    # ------------------------------------------------------------------------------------------- order

    def _holds(self, first: ExecutionEvent, second: ExecutionEvent) -> bool:
        """Returns whether two strong operations are morally strong: of one thread, or with scopes that include both
        threads.
        """
        threads = self.test.threads
        apart = 0 if threads[first.thread].cta == threads[second.thread].cta else 2
        return first.thread == second.thread or min(first.level, second.level) >= apart

    def _fence(self, facts: _ExecutionState, number: int, place: _ThreadState, step: Step) -> _ExecutionState:
        kind = "fence.sc" if step.order == "sc" else "fence"
        event = ExecutionEvent(_bit(number, place), number, kind, "", step.scope, 0)
        base = place.base | self._acquire(facts, event, (first for _, first in place.observed))
        if kind == "fence.sc":
            base |= _union(e.base | e.bit for e in facts.events if e.kind == kind and self._holds(e, event))
        event = replace(event, base=base)
        return _with_thread(facts, number, replace(_after_event(place, event), fences=place.fences | event.bit), event)

    def _acquire(self, facts: _ExecutionState, last: ExecutionEvent, firsts: Iterator[int]) -> int:
        """Returns the events that release patterns publish whose first events are morally strong with the last one of
        the acquire pattern.
        """
        chosen = _union(firsts)
        return _union(e.base | e.bit for e in facts.events if e.bit & chosen and self._holds(e, last))

    def _access(self, facts: _ExecutionState, number: int, place: _ThreadState, step: Step) -> _ExecutionState:
        at, where = self.places.index(step.place), step.place
        old, level = facts.memory[at], -1 if step.order == "weak" else step.scope
        event = ExecutionEvent(_bit(number, place), number, step.kind, where, level, place.base)
        if step.kind != "store" and level >= 0:
            writer = next((each for each in facts.events if each.bit == old.writer), None)
            if writer is not None and writer.level >= 0 and self._holds(writer, event):
                event = replace(event, observed=old.chain)
        firsts = _union(each.firsts for each in facts.events if each.bit & event.observed)
        observed = place.observed | {(where, each.bit) for each in facts.events if each.bit & firsts}
        if step.kind != "store" and step.order in _ACQUIRES:
            acquired = self._acquire(facts, event, (first for there, first in observed if there == where))
            event = replace(event, base=event.base | acquired)
        value = old.value if step.kind == "load" else self._new_value(number, place, step, old.value)
        self._check(facts, event, is_silent=value == old.value)
        released = place.released
        if step.kind != "load" and level >= 0:
            if step.order in _RELEASES:
                released = (*released, (where, event.bit))
            event = replace(event, firsts=place.fences | _union(bit for there, bit in released if there == where))
        memory = facts.memory
        if step.kind != "load":
            chain = event.bit | (event.observed if step.kind == "update" else 0)
            memory = (*memory[:at], _LocationState(value, event.bit, chain), *memory[at + 1 :])
        made = replace(_after_event(place, event), observed=observed, released=released)
        if step.kind != "store":
            made = replace(made, registers=self._set(number, place, step.register, old.value))
        return replace(_with_thread(facts, number, made, event), memory=memory)

    def _new_value(self, number: int, place: _ThreadState, step: Step, old: int) -> int:
        values = [self._value(number, place, each) for each in step.operands]
        if step.word == "cas":
            return values[1] if old == values[0] else old
        results = {"add": old + values[0], "sub": old - values[0], "and": old & values[0], "or": old | values[0]}
        results |= {"xor": old ^ values[0], "min": min(old, values[0]), "max": max(old, values[0])}
        return results.get(step.word, values[0]) & MASK

    def _check(self, facts: _ExecutionState, event: ExecutionEvent, *, is_silent: bool) -> None:
        """Checks whether an access races with an earlier one; a store of the value that is there already races with no
        write.
        """
        for other in facts.events:
            if other.place != event.place or other.thread == event.thread or other.bit & event.base:
                continue
            if other.kind == event.kind == "load" or (min(other.level, event.level) >= 0 and self._holds(other, event)):
                continue
            if event.kind == "store" and is_silent and other.kind != "load":
                continue
            if not any(each.bit & event.base and each.observed & other.bit for each in facts.events):
                self.outcome.races = True

    # ------------------------------------------------------------------------------------------------- barriers

    def _arrive(self, facts: _ExecutionState, number: int, place: _ThreadState, step: Step) -> _ExecutionState:
        key = (self.test.threads[number].cta, self._value(number, place, step.operands[0]))
        wanted = self._value(number, place, step.operands[1])
        come = next((who for known, _, who in facts.barriers if known == key), ())
        others = tuple(each for each in facts.barriers if each[0] != key)
        made = replace(place, pc=place.pc + 1, waits=key if step.word == "sync" else None)
        barriers = tuple(sorted((*others, (key, wanted, tuple(sorted((*come, (number, step.word, place.base))))))))
        return replace(_with_thread(facts, number, made), barriers=barriers)

    def _open_barriers(self, facts: _ExecutionState) -> _ExecutionState:
        """Lets those threads continue whose barrier is complete."""
        for each in facts.barriers:
            key, wanted, come = each
            alive = sum(
                thread.cta == key[0] and (place.waits is not None or not self._is_over(facts, at))
                for at, (place, thread) in enumerate(zip(facts.threads, self.test.threads, strict=True))
            )
            if len(come) < (wanted or alive):
                continue
            released, threads = _union(base for _, _, base in come), list(facts.threads)
            for who, word, _ in come:
                if word == "sync":
                    threads[who] = replace(threads[who], base=threads[who].base | released, waits=None)
            rest = tuple(other for other in facts.barriers if other is not each)
            return replace(facts, threads=tuple(threads), barriers=rest)
        return facts


def _bit(number: int, place: _ThreadState) -> int:
    return 1 << (number * _EVENTS + place.count)


def _union(sets: Iterator[int]) -> int:
    found = 0
    for each in sets:
        found |= each
    return found


def _after_event(place: _ThreadState, event: ExecutionEvent) -> _ThreadState:
    return replace(place, pc=place.pc + 1, base=place.base | event.base | event.bit, count=place.count + 1)


def _with_thread(
    facts: _ExecutionState, number: int, made: _ThreadState, event: ExecutionEvent | None = None
) -> _ExecutionState:
    threads = (*facts.threads[:number], made, *facts.threads[number + 1 :])
    events = facts.events if event is None else tuple(sorted((*facts.events, event)))
    return replace(facts, threads=threads, events=events)
