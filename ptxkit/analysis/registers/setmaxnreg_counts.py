"""Determines how many registers threads have: the maximum at the start, and the counts that `setmaxnreg` sets.

Source: PTX ISA, "setmaxnreg", "Performance-Tuning Directives".
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.context.thread_view import ThreadView
from ptxkit.analysis.ir.program import Program
from ptxkit.analysis.limits import MAX_THREAD_REGISTERS
from ptxkit.analysis.symexec.trace import TraceEvent
from ptxkit.fast_dataclasses import dataclass
from ptxkit.isa.effects import Barrier, MbarrierWait, RegisterCount
from ptxkit.semantics.ordering import is_warp_barrier
from ptxkit.syntax.constants import WARP_SIZE
from ptxkit.syntax.launch_extents import BLOCK_DIRECTIVES, launch_extents
from ptxkit.syntax.tree import Integer

#: The registers of a multiprocessor, which a CTA cannot exceed, and the unit in which threads allocate registers.
CTA_REGISTERS, REGISTER_STEP = 1 << 16, 8


@dataclass(frozen=True, slots=True)
class SetmaxnregExecution:
    """One execution of `setmaxnreg` by a thread.

    previous: the thread's previous execution; None if none exists.
    """

    position: int
    event: TraceEvent
    count: int
    previous: SetmaxnregExecution | None

    @property
    def is_increase(self) -> bool:
        effect = self.event.effect
        return isinstance(effect, RegisterCount) and effect.action == "increase"


def has_setmaxnreg(program: Program) -> bool:
    return any(isinstance(effect, RegisterCount) for step in program.effectful_steps for effect in step.effects)


def max_initial_registers(program: Program, threads: int) -> int | None:
    """Returns the maximum number of registers of a thread at the start, in blocks of up to `threads` threads.

    The result is None where no directive determines it: either `.maxnreg`, or both the size of a block and the number
    of blocks per multiprocessor. Without these an assembler ignores `setmaxnreg`, unless an option sets the number.
    """
    limit = program.function.directive("maxnreg")
    if limit is not None:
        return _round_up(_first_number(limit.words))
    ctas = program.function.directive("minnctapersm")
    if ctas is None or launch_extents(program.function, *BLOCK_DIRECTIVES) is None:
        return None
    resident = -(-threads // WARP_SIZE) * WARP_SIZE * max(_first_number(ctas.words), 1)
    return min(CTA_REGISTERS // resident // REGISTER_STEP * REGISTER_STEP, MAX_THREAD_REGISTERS)


def setmaxnreg_executions_of(thread: ThreadView) -> list[SetmaxnregExecution]:
    """Returns the executions of `setmaxnreg` by a thread, in order."""
    found: list[SetmaxnregExecution] = []
    for position, event in thread.positions(RegisterCount):
        if isinstance(event.amount, int):
            found.append(SetmaxnregExecution(position, event, event.amount, found[-1] if found else None))
    return found


def may_synchronize_between(thread: ThreadView, since: int, until: int) -> bool:
    """Returns whether a thread synchronizes, or may synchronize, with threads of other warps between two positions."""
    return thread.trace.has_unknown_call or any(
        since < position < until and not is_warp_barrier(event.effect)
        for position, event in thread.positions(Barrier, MbarrierWait)
    )


def setmaxnreg_operands_of(program: Program) -> Iterator[int]:
    """Yields the register counts that a kernel sets anywhere."""
    for step in program.effectful_steps:
        if step.match and any(isinstance(effect, RegisterCount) for effect in step.match.effects):
            operand = step.instruction.operands[0]
            yield operand.value if isinstance(operand, Integer) else 0


def _first_number(words: tuple[str, ...]) -> int:
    return next((int(word, 0) for word in words if word.strip(",").isdigit()), 0)


def _round_up(count: int) -> int:
    """Rounds up to the unit in which registers are allocated."""
    return min(-(-count // REGISTER_STEP) * REGISTER_STEP, MAX_THREAD_REGISTERS)
