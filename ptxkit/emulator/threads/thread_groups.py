"""Threads that stand at one place of the program together, and what makes them part.

A group is what an action knows as its context: the threads that execute the instruction, their registers, their CTA.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from ptxkit.emulator.core.lane_set import LaneSet
from ptxkit.emulator.core.semantics_registry import Bits
from ptxkit.fast_dataclasses import dataclass

if TYPE_CHECKING:
    from ptxkit.emulator.engine.cta import Cta
    from ptxkit.emulator.engine.executable import DecodedFunction
    from ptxkit.emulator.threads.waitable import Waitable

LOCAL_BASE_SLOT = 0
"""The place in each frame of where its local memory begins."""

STACK_POINTER_SLOT = 1
"""The place in each frame of where the next one's can begin."""


CARRY_SLOT = 2
"""The place in each frame of the carry that instructions with `.cc` keep."""


class Activation:
    """A call of a function, the same for all threads of a CTA that came there by the same calls.

    registers: an array over all threads for each place of the frame. caller: the activation that called, at `place`.
    """

    __slots__ = (
        "_callees",
        "call_pc",
        "call_site",
        "caller",
        "depth",
        "function",
        "initialized",
        "register_hazards",
        "registers",
    )

    def __init__(self, code: DecodedFunction, cta: Cta, caller: Activation | None = None, place: int = -1) -> None:
        self.function, self.caller, self.call_pc = code, caller, place
        self.depth: int = caller.depth + 1 if caller is not None else 0
        self.registers: list[Bits] = code.new_registers(cta)
        self._callees: dict[tuple[int, int], Activation] = {}
        self.call_site: Any = None
        self.register_hazards: Any = None
        """What is known of registers that asynchronous operations use."""
        self.initialized: dict[int, Any] = {}
        """Which threads have written the registers of which that is not certain, by their places."""

    def callee(self, code: DecodedFunction, cta: Cta, place: int) -> Activation:
        """The activation of a function that this one calls at a place."""
        found = self._callees.get((id(code), place))
        if found is None:
            found = self._callees[id(code), place] = Activation(code, cta, self, place)
        return found


class ThreadGroup:
    """Threads of a CTA at one place.

    lanes: those that execute; within a guarded instruction, those for which the guard holds. active: which of them a
    signal is about, None for all. token: what they have waited for, where the instruction is executed again. idle:
    turns of a loop that changed nothing, since the moment `since` of the machine; turn: where the last one ended, where
    it leads back to, and the registers then.
    """

    __slots__ = (
        *(
            "activation",
            "active_lanes",
            "cta",
            "idle_iterations",
            "lanes",
            "pc",
            "yield_count",
            "registers",
            "idle_since",
            "backward_jumps",
            "wait_token",
        ),
        "last_iteration",
    )

    def __init__(self, cta: Cta, activation: Activation, lanes: LaneSet, pc: int = 0) -> None:
        self.cta, self.activation, self.lanes, self.pc = cta, activation, lanes, pc
        self.registers = activation.registers
        self.active_lanes: LaneSet | None = None
        self.wait_token: Any = None
        self.backward_jumps = 0
        self.yield_count = 0
        self.idle_iterations = 0
        self.idle_since = 0
        self.last_iteration: tuple[int, int, Any] | None = None

    def is_idle_iteration(self, target: int, moment: int) -> bool:
        """Whether a turn that ends here, and leads back to `target`, left the registers as the turn before had."""
        before, now = self.last_iteration, list(self.registers)
        self.last_iteration = self.pc, target, now
        if before is None or before[:2] != (self.pc, target):
            self.idle_iterations = 0
            return False
        where = slice(None) if self.lanes.selector is None else self.lanes.selector
        same = len(before[2]) == len(now) and all(
            old is new or bool((old[where] == new[where]).all()) for old, new in zip(before[2], now, strict=True)
        )
        self.idle_iterations = 0 if not same else self.idle_iterations + 1 if self.idle_since == moment else 1
        self.idle_since = moment
        return same

    def register_state(self) -> bytes:
        """What its threads' registers hold, and which threads they are."""
        index = self.lanes.index
        return b"".join((index.tobytes(), *(each[index].tobytes() for each in self.registers)))

    def is_in_last_loop(self) -> bool:
        """Whether the group is still in the loop that it turned in last."""
        return self.last_iteration is not None and self.last_iteration[1] <= self.pc <= self.last_iteration[0]

    def split(self, lanes: LaneSet, pc: int) -> ThreadGroup:
        """A group of some of the threads, elsewhere."""
        made = ThreadGroup(self.cta, self.activation, lanes, pc)
        made.backward_jumps, made.yield_count = self.backward_jumps, self.yield_count
        return made


@dataclass(frozen=True, slots=True)
class JumpSignal:
    """Go on elsewhere."""

    target: int


@dataclass(frozen=True, slots=True)
class IndexedBranch:
    """Go on at places of one's own. targets: one for each thread."""

    targets: Any


@dataclass(frozen=True, slots=True)
class CallSignal:
    """Call a function. parts: the code and the call site, or several of them, each with its threads."""

    callees: tuple[tuple[Any, ...], ...]


@dataclass(frozen=True, slots=True)
class ReturnSignal:
    """Return from a function, or end the thread. ends: always end it."""

    exits_thread: bool = False


@dataclass(frozen=True, slots=True)
class BlockSignal:
    """Wait until an object changes, and execute the instruction again. is_over: at once, with those who have waited."""

    on: Waitable
    is_satisfied: bool = False


@dataclass(frozen=True, slots=True)
class YieldSignal:
    """Let others go first."""


Signal: TypeAlias = "JumpSignal | IndexedBranch | CallSignal | ReturnSignal | BlockSignal | YieldSignal"
