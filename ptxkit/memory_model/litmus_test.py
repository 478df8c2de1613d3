"""A litmus test: threads, where they run, the initial memory, and a question about all executions."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Protocol, TypeAlias

from ptxkit.fast_dataclasses import dataclass, field
from ptxkit.memory_model.conditions import Condition
from ptxkit.memory_model.events import MemoryEvent, Placement

Input: TypeAlias = str | tuple[int, ...]
"""What an operation depends on: the value at a location, or one of some outcomes."""

ThreadState: TypeAlias = Hashable
"""Where a thread is, and its registers: opaque, except for the code that made it."""

TimedEvent: TypeAlias = tuple[MemoryEvent, int]
"""An event, and the value that it reads or writes."""


@dataclass(frozen=True, slots=True)
class Operation:
    """The next events of a thread. perform: returns them and the following state, for a value of each input and the
    number of events before.
    """

    inputs: tuple[Input, ...]
    perform: Callable[[Sequence[int], int], tuple[Sequence[TimedEvent], ThreadState]]


class ThreadCode(Protocol):
    """The instructions of a thread, as a function from its states to its events."""

    @property
    def start(self) -> ThreadState:
        """The state before the first instruction."""

    def settle(self, state: ThreadState) -> ThreadState:
        """Returns the state at the next instruction that other threads may notice, or at the end."""

    def next_operation(self, state: ThreadState) -> Operation | None:
        """Returns what the thread does next, in a settled state; None where it ends."""

    def loop_key(self, state: ThreadState) -> Hashable:
        """Returns what determines all that the thread does from a settled state on: its place and live registers."""

    def final_registers(self, state: ThreadState) -> Mapping[str, int]:
        """Returns the registers by name, in a settled state at the end."""


@dataclass(frozen=True, slots=True)
class LitmusThread:
    """A thread of a test. name: `P0`. lines: its instructions, as they are drawn."""

    name: str
    place: Placement
    code: ThreadCode


@dataclass(frozen=True, slots=True)
class LitmusTest:
    """A test. initial: the values of locations; others are 0.

    quantifier: `exists`, `~exists` or `forall` with a condition on final states, or `race`, that is, whether some
    execution has a data race. expected: the answer that the test itself states, or an empty text. notes: its comments.
    """

    name: str
    threads: tuple[LitmusThread, ...]
    initial: Mapping[str, int]
    quantifier: str
    condition: Condition | None
    expected: str = ""
    notes: tuple[str, ...] = ()
    sections: tuple[str, ...] = field(default=())
