"""Threads that stand at one place of the program together, and what makes them part.

A group is what an action knows as its context: the threads that execute the instruction, their registers, their CTA.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from ptxkit.emulate.lanes import Lanes
from ptxkit.emulate.registry import Bits
from ptxkit.records import dataclass

if TYPE_CHECKING:
    from ptxkit.emulate.cta import Cta
    from ptxkit.emulate.program import Code
    from ptxkit.emulate.waiting import Waitable

LOCAL_BASE = 0
"""The place in each frame of where its local memory begins."""

STACK_POINTER = 1
"""The place in each frame of where the next one's can begin."""


CARRY = 2
"""The place in each frame of the carry that instructions with `.cc` keep."""


class Activation:
    """A call of a function, the same for all threads of a CTA that came there by the same calls.

    registers: an array over all threads for each place of the frame. caller: the activation that called, at `place`.
    """

    __slots__ = ("_called", "caller", "code", "depth", "flying", "place", "registers", "site", "written")

    def __init__(self, code: Code, cta: Cta, caller: Activation | None = None, place: int = -1) -> None:
        self.code, self.caller, self.place = code, caller, place
        self.depth: int = caller.depth + 1 if caller is not None else 0
        self.registers: list[Bits] = code.registers(cta)
        self._called: dict[tuple[int, int], Activation] = {}
        self.site: Any = None
        self.flying: Any = None
        """What is known of registers that asynchronous operations use."""
        self.written: dict[int, Any] = {}
        """Which threads have written the registers of which that is not certain, by their places."""

    def called(self, code: Code, cta: Cta, place: int) -> Activation:
        """The activation of a function that this one calls at a place."""
        found = self._called.get((id(code), place))
        if found is None:
            found = self._called[id(code), place] = Activation(code, cta, self, place)
        return found


class Group:
    """Threads of a CTA at one place.

    lanes: those that execute; within a guarded instruction, those for which the guard holds. active: which of them a
    signal is about, None for all. token: what they have waited for, where the instruction is executed again. idle:
    turns of a loop that changed nothing, since the moment `since` of the machine; turn: where the last one ended, where
    it leads back to, and the registers then.
    """

    __slots__ = (
        *("activation", "active", "cta", "idle", "lanes", "pc", "penalty", "registers", "since", "spins", "token"),
        "turn",
    )

    def __init__(self, cta: Cta, activation: Activation, lanes: Lanes, pc: int = 0) -> None:
        self.cta, self.activation, self.lanes, self.pc = cta, activation, lanes, pc
        self.registers = activation.registers
        self.active: Lanes | None = None
        self.token: Any = None
        self.spins = 0
        self.penalty = 0
        self.idle = 0
        self.since = 0
        self.turn: tuple[int, int, Any] | None = None

    def turns_idly(self, target: int, moment: int) -> bool:
        """Whether a turn that ends here, and leads back to `target`, left the registers as the turn before had."""
        before, now = self.turn, list(self.registers)
        self.turn = self.pc, target, now
        if before is None or before[:2] != (self.pc, target):
            self.idle = 0
            return False
        where = slice(None) if self.lanes.where is None else self.lanes.where
        same = len(before[2]) == len(now) and all(
            old is new or bool((old[where] == new[where]).all()) for old, new in zip(before[2], now, strict=True)
        )
        self.idle = 0 if not same else self.idle + 1 if self.since == moment else 1
        self.since = moment
        return same

    def held(self) -> bytes:
        """What its threads' registers hold, and which threads they are."""
        index = self.lanes.index
        return b"".join((index.tobytes(), *(each[index].tobytes() for each in self.registers)))

    def is_in_turn(self) -> bool:
        """Whether the group is still in the loop that it turned in last."""
        return self.turn is not None and self.turn[1] <= self.pc <= self.turn[0]

    def split(self, lanes: Lanes, pc: int) -> Group:
        """A group of some of the threads, elsewhere."""
        made = Group(self.cta, self.activation, lanes, pc)
        made.spins, made.penalty = self.spins, self.penalty
        return made


@dataclass(frozen=True, slots=True)
class Jump:
    """Go on elsewhere."""

    target: int


@dataclass(frozen=True, slots=True)
class Scatter:
    """Go on at places of one's own. targets: one for each thread."""

    targets: Any


@dataclass(frozen=True, slots=True)
class Enter:
    """Call a function. parts: the code and the call site, or several of them, each with its threads."""

    parts: tuple[tuple[Any, ...], ...]


@dataclass(frozen=True, slots=True)
class Leave:
    """Return from a function, or end the thread. ends: always end it."""

    ends: bool = False


@dataclass(frozen=True, slots=True)
class Blocked:
    """Wait until an object changes, and execute the instruction again. is_over: at once, with those who have waited."""

    on: Waitable
    is_over: bool = False


@dataclass(frozen=True, slots=True)
class Pause:
    """Let others go first."""


Signal: TypeAlias = "Jump | Scatter | Enter | Leave | Blocked | Pause"
