"""The code of a thread in the notations of litmus tests: loads, stores, updates, fences, barriers and branches on
registers, without PTX's declarations and types.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TypeAlias

from ptxkit.fast_dataclasses import dataclass, field, replace
from ptxkit.memory_model.errors import LitmusError
from ptxkit.memory_model.events import (
    CONSTANT,
    GENERIC,
    SURFACE,
    TEXTURE,
    BarrierUse,
    EventKind,
    FencedProxy,
    MemoryEvent,
)
from ptxkit.memory_model.limits import MAX_LOCAL_STEPS
from ptxkit.memory_model.litmus_test import Operation, ThreadState, TimedEvent
from ptxkit.semantics.value_ops import COMPARISONS, WRAPPING

Value: TypeAlias = str | int
"""A register, or a number."""

COMPUTATIONS: dict[str, Callable[[int, int], int]] = {
    **{name: WRAPPING[name] for name in ("add", "sub", "mul", "and", "or", "xor")},
    "div": lambda a, b: a // b if b else 0,
    "min": min,
    "max": max,
    "exch": lambda _, b: b,
}
"""The operations of updates and of computations, of the old value and an operand."""

ACCESSES = {
    "ld": ("load", GENERIC),
    "tld": ("load", TEXTURE),
    "suld": ("load", SURFACE),
    "cold": ("load", CONSTANT),
    "ldc": ("load", CONSTANT),
    "st": ("store", GENERIC),
    "sust": ("store", SURFACE),
    "atom": ("update", GENERIC),
    "suatom": ("update", SURFACE),
    "red": ("update", GENERIC),
    "sured": ("update", SURFACE),
}
"""The accesses of the notations, which have names of their own for those of other proxies."""

BRANCH_TESTS = {"b" + name: COMPARISONS[name] for name in ("eq", "ne", "lt", "le", "gt", "ge")}
"""The conditional branches by name."""


@dataclass(frozen=True, slots=True)
class RegisterStep:
    """One instruction.

    kind: `load`, `store`, `update`, `fence`, `proxy_fence`, `barrier`, `branch`, `goto` or `compute`. word: the
    operation, or the test of a branch. register: the result. operands: the other values. target: the step that a branch
    leads to. event: what the events of the step have in common. quorum: the threads for which a barrier waits.
    """

    kind: str
    word: str = ""
    register: str = ""
    operands: tuple[Value, ...] = ()
    target: int = 0
    event: MemoryEvent = MemoryEvent(EventKind.FENCE, "")
    quorum: Value | None = None


@dataclass(frozen=True, slots=True)
class RegisterState:
    """A state of the thread. values: the registers that are not 0, by name. taints: the reads on which each depends.
    control: those on which the execution of the next step depends.
    """

    at: int = 0
    values: tuple[tuple[str, int], ...] = ()
    taints: tuple[tuple[str, frozenset[int]], ...] = ()
    control: frozenset[int] = frozenset()


@dataclass(slots=True, eq=False)
class RegisterCode:
    """The code of one thread. initial: registers that do not begin with 0."""

    steps: Sequence[RegisterStep]
    initial: Mapping[str, int]
    _live: list[frozenset[str]] = field(default_factory=list)

    @property
    def start(self) -> ThreadState:
        """The state before the first step."""
        return RegisterState(values=tuple(sorted((name, value) for name, value in self.initial.items() if value)))

    def final_registers(self, state: ThreadState) -> Mapping[str, int]:
        """Returns the registers that are not 0."""
        assert isinstance(state, RegisterState)
        return dict(state.values)

    def loop_key(self, state: ThreadState) -> Hashable:
        """Returns the place and the live registers."""
        assert isinstance(state, RegisterState)
        if not self._live:
            self._live = _live_registers(self.steps)
        live = self._live[state.at]
        return state.at, tuple(each for each in state.values if each[0] in live)

    def settle(self, state: ThreadState) -> ThreadState:
        """Executes the computations and branches that come next. Raises LitmusError at an endless loop of these."""
        assert isinstance(state, RegisterState)
        for _ in range(MAX_LOCAL_STEPS):
            if state.at >= len(self.steps) or self.steps[state.at].kind not in ("branch", "goto", "compute"):
                return state
            state = self._compute(self.steps[state.at], state)
        raise LitmusError("a loop without an access to memory does not end", "let it read a location, or remove it")

    def next_operation(self, state: ThreadState) -> Operation | None:
        """Returns the next step."""
        assert isinstance(state, RegisterState)
        return self._operation(self.steps[state.at], state) if state.at < len(self.steps) else None

    def _compute(self, step: RegisterStep, state: RegisterState) -> RegisterState:
        values = [_value(state, each) for each in step.operands]
        taint = _taint(state, step.operands)
        if step.kind == "goto":
            return replace(state, at=step.target)
        if step.kind == "branch":
            taken = BRANCH_TESTS[step.word](*values)
            return replace(state, at=step.target if taken else state.at + 1, control=state.control | taint)
        result = COMPUTATIONS[step.word](*values) if step.word else values[0]
        return _assign(replace(state, at=state.at + 1), step.register, result, taint)

    def _operation(self, step: RegisterStep, state: RegisterState) -> Operation:
        following = replace(state, at=state.at + 1)
        depends = _taint(state, step.operands) | state.control
        event = replace(step.event, depends=depends) if depends else step.event
        if step.kind in ("load", "update"):
            return Operation((event.location,), lambda read, at: self._read(step, event, state, read[0], at))
        value = _value(state, step.operands[0]) if step.kind == "store" else 0
        if step.kind == "barrier":
            use = event.use
            assert isinstance(use, BarrierUse)
            number = _value(state, step.operands[0])
            awaited = None if step.quorum is None else _value(state, step.quorum)
            event = replace(event, use=replace(use, number=number, awaited=awaited))
        made: tuple[TimedEvent, ...] = ((event, value),)
        return Operation((), lambda _values, _at: (made, following))

    def _read(
        self, step: RegisterStep, event: MemoryEvent, state: RegisterState, old: int, at: int
    ) -> tuple[Sequence[TimedEvent], ThreadState]:
        following = replace(state, at=state.at + 1)
        if step.register:
            following = _assign(following, step.register, old, frozenset({at}))
        if step.kind == "load":
            return ((event, old),), following
        values = [_value(state, each) for each in step.operands]
        new = (
            COMPUTATIONS[step.word](old, values[0]) if step.word != "cas" else (values[1] if values[0] == old else old)
        )
        order = event.order
        read = replace(event, order=_part(order, "acquire"), kind=EventKind.READ)
        write = replace(event, order=_part(order, "release"), kind=EventKind.WRITE, depends=event.depends | {at})
        return ((read, old), (write, new)), following


def _update(operation: str, old: int, values: Sequence[int]) -> int:
    if operation == "cas":
        return values[1] if values[0] == old else old
    return COMPUTATIONS[operation](old, *values)


OPERAND_COUNTS = {"load": 0, "store": 1, "update": 1, "branch": 2, "goto": 0, "barrier": 1}
"""The operands of the kinds of steps, besides results, locations and labels; an update by `cas` has one more."""


def check_step(step: RegisterStep, text: str) -> RegisterStep:
    """Returns a step whose operands are complete. Raises LitmusError."""
    wanted = OPERAND_COUNTS.get(step.kind, len(step.operands)) + (step.word == "cas")
    if step.kind == "compute":
        wanted = 2 if step.word else 1
    is_unnamed = step.event.is_access and not step.event.location.isidentifier()
    if len(step.operands) != wanted or is_unnamed or "" in step.operands:
        raise LitmusError(f"`{text}` cannot be read", "it lacks an operand, or has one too many")
    return step


def _part(order: str, side: str) -> str:
    """Returns the order of the read (`acquire`) or write (`release`) of an update."""
    return side if order in (side, "acq_rel") else "relaxed"


def _value(state: RegisterState, operand: Value) -> int:
    return operand if isinstance(operand, int) else dict(state.values).get(operand, 0)


def _taint(state: RegisterState, operands: Sequence[Value]) -> frozenset[int]:
    if not state.taints:
        return frozenset()
    taints = dict(state.taints)
    return frozenset().union(*(taints.get(each, frozenset()) for each in operands if isinstance(each, str)))


def _assign(state: RegisterState, register: str, value: int, taint: frozenset[int]) -> RegisterState:
    values = {name: old for name, old in state.values if name != register}
    taints = {name: old for name, old in state.taints if name != register}
    if value:
        values[register] = value
    if taint:
        taints[register] = taint
    return replace(state, values=tuple(sorted(values.items())), taints=tuple(sorted(taints.items(), key=_first)))


_first = operator.itemgetter(0)


def _live_registers(steps: Sequence[RegisterStep]) -> list[frozenset[str]]:
    """Returns the registers that may be read before they are written, by step and at the end."""
    live: list[frozenset[str]] = [frozenset() for _ in range(len(steps) + 1)]
    changed = True
    while changed:
        changed = False
        for at in reversed(range(len(steps))):
            step = steps[at]
            following = [step.target] if step.kind == "goto" else [at + 1]
            following += [step.target] if step.kind == "branch" else []
            after = frozenset().union(*(live[each] for each in following)) - {step.register}
            used = {each for each in (*step.operands, step.quorum) if isinstance(each, str)}
            if (found := after | used) != live[at]:
                live[at], changed = found, True
    return live


def proxy_fence(text: str, proxy: str) -> RegisterStep:
    """Returns a fence between the generic proxy and another one in both directions."""
    return RegisterStep("proxy_fence", event=MemoryEvent(EventKind.PROXY_FENCE, text, fenced=FencedProxy(proxy)))
