"""Groups of threads that execute the same instruction, and the signals that divide them.

The executing group is the context of an action: the threads that execute the instruction, their registers, and their
CTA.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

from ptxkit.emulator.core.lane_set import LaneSet
from ptxkit.emulator.core.semantics_registry import Bits
from ptxkit.fast_dataclasses import dataclass

if TYPE_CHECKING:
    from ptxkit.emulator.core.findings import ExecutionFault
    from ptxkit.emulator.threads.machine_state import CtaState, FunctionCode
    from ptxkit.emulator.threads.waitable import Waitable

LOCAL_BASE_SLOT = 0
"""The slot of each frame that holds the start of its local memory."""

STACK_POINTER_SLOT = 1
"""The slot of each frame that holds the address at which the frame of a callee may start."""


CARRY_SLOT = 2
"""The slot of each frame that holds the carry of instructions with `.cc`."""


class Activation:
    """A call of a function, which all threads of a CTA with the same call stack share.

    `registers` has an array over all threads of the CTA for each slot of the frame. `caller` is the activation of the
    caller, at the step `call_pc`.
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

    def __init__(self, code: FunctionCode, cta: CtaState, caller: Activation | None = None, place: int = -1) -> None:
        self.function, self.caller, self.call_pc = code, caller, place
        self.depth: int = caller.depth + 1 if caller is not None else 0
        self.registers: list[Bits] = code.new_registers(cta)
        self._callees: dict[tuple[int, int], Activation] = {}
        self.call_site: Any = None
        self.register_hazards: Any = None
        """The state of registers that asynchronous operations use, for the checks."""
        self.initialized: dict[int, Any] = {}
        """The threads that have written each register that may be read before it is written, by its slot."""

    def callee(self, code: FunctionCode, cta: CtaState, place: int) -> Activation:
        """Returns the activation of a function that this one calls at a step."""
        found = self._callees.get((id(code), place))
        if found is None:
            found = self._callees[id(code), place] = Activation(code, cta, self, place)
        return found


class ThreadGroup:
    """Threads of a CTA that are at the same instruction.

    `lanes` are the threads that execute; within a guarded instruction, those for which the guard holds. `active_lanes`
    are the threads that a signal concerns, or None for all. `wait_token` is the object that the threads have waited
    for, if they execute their instruction again. `idle_iterations` counts the iterations of a loop that changed nothing
    since the machine's progress count was `idle_since`. `may_access` states that the group has paused before an access
    to global memory and now performs it. `last_iteration` has the end of the last iteration, the target of its jump,
    and the contents of the registers.
    """

    __slots__ = (
        *(
            "activation",
            "active_lanes",
            "cta",
            "idle_iterations",
            "lanes",
            "may_access",
            "pc",
            "yield_count",
            "registers",
            "idle_since",
            "backward_jumps",
            "wait_token",
        ),
        "last_iteration",
    )

    def __init__(self, cta: CtaState, activation: Activation, lanes: LaneSet, pc: int = 0) -> None:
        self.cta, self.activation, self.lanes, self.pc = cta, activation, lanes, pc
        self.registers = activation.registers
        self.active_lanes: LaneSet | None = None
        self.wait_token: Any = None
        self.may_access = False
        self.backward_jumps = 0
        self.yield_count = 0
        self.idle_iterations = 0
        self.idle_since = 0
        self.last_iteration: tuple[int, int, Any] | None = None

    def is_idle_iteration(self, target: int, moment: int) -> bool:
        """Returns whether an iteration that ends here and jumps to `target` did not change the registers."""
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

    def report(self, fault: ExecutionFault) -> None:
        """Reports a fault of the group's instruction that has an obvious effect, so that the run continues."""
        fault.location, fault.cta = (self.activation.function, self.pc), self.cta
        self.cta.machine.report_fault(fault)

    def register_state(self) -> bytes:
        """Returns the contents of the registers of the threads, and the threads."""
        index = self.lanes.index
        return b"".join((index.tobytes(), *(each[index].tobytes() for each in self.registers)))

    def is_in_last_loop(self) -> bool:
        """Returns whether the group is still in the loop of its last iteration."""
        return self.last_iteration is not None and self.last_iteration[1] <= self.pc <= self.last_iteration[0]

    def split(self, lanes: LaneSet, pc: int) -> ThreadGroup:
        """Returns a group of some of the threads, at another instruction."""
        made = ThreadGroup(self.cta, self.activation, lanes, pc)
        made.backward_jumps, made.yield_count = self.backward_jumps, self.yield_count
        return made


@dataclass(frozen=True, slots=True)
class JumpSignal:
    """The group continues at another instruction."""

    target: int


@dataclass(frozen=True, slots=True)
class IndexedBranch:
    """Each thread continues at the instruction that `targets` has for it."""

    targets: Any


@dataclass(frozen=True, slots=True)
class CalledFunction:
    """A function that some threads of a group call, or all of them if `lanes` is None, with the site of the call."""

    function: FunctionCode
    call_site: Any
    lanes: LaneSet | None = None


@dataclass(frozen=True, slots=True)
class CallSignal:
    """The threads call a function; through a register, they may call different ones."""

    callees: tuple[CalledFunction, ...]


@dataclass(frozen=True, slots=True)
class ReturnSignal:
    """The threads return from a function, or exit if there is no caller, or if `exits_thread` is set."""

    exits_thread: bool = False


@dataclass(frozen=True, slots=True)
class BlockSignal:
    """The threads wait until an object changes, and then execute the instruction again.

    If `is_satisfied` is set, they do so at once, merged with the threads that have waited.
    """

    on: Waitable
    is_satisfied: bool = False


@dataclass(frozen=True, slots=True)
class YieldSignal:
    """The threads yield to others."""


Signal: TypeAlias = "JumpSignal | IndexedBranch | CallSignal | ReturnSignal | BlockSignal | YieldSignal"

Step: TypeAlias = Callable[[ThreadGroup], "Signal | None"]
"""A decoded instruction, which is called with a group and returns a signal unless the group continues at the next
instruction.
"""
