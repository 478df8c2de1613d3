"""Proves that the accesses of a kernel to shared memory keep their order without one of its instructions.

The kernel is examined without the instruction, with all accesses: also those of which no rule demands an order, such as
stores of one value, because the instruction may order them.

Source: PTX ISA, "Memory Consistency Model: Causality Order", "Conflict and Data-races".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from ptxkit.analysis.intervals.interval_accesses import StateAccess
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.limits import MAX_DELETION_STEPS
from ptxkit.analysis.phase_order.interval_proofs import IntervalProofs
from ptxkit.analysis.phase_order.shared_order import shared_order, strict_shared_order
from ptxkit.fast_dataclasses import dataclass
from ptxkit.isa.effects import MbarrierEffect


@dataclass(frozen=True, slots=True)
class NeedlessSync:
    """An instruction that orders nothing which is not ordered without it.

    instead: the instructions that order the same. in_time: whether their positions show it, because nothing that
    comes before them depends on it; otherwise the proof compares the accesses.
    """

    kind: Literal["wait", "commit", "barrier"]
    step: Step
    instead: tuple[Step, ...]
    in_time: bool


class OrderWithout:
    """The order of the accesses of one kernel without one instruction at a time, within a limit of the work."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._steps_left = MAX_DELETION_STEPS
        effects = (effect for step in program.effectful_steps for effect in step.effects)
        self._has_phases = any(isinstance(effect, MbarrierEffect) for effect in effects)

    def is_ordered_without(self, step: Step, counts: Callable[[StateAccess], bool]) -> bool:
        """Returns whether the accesses that count are proven to be ordered without an instruction.

        A pair of accesses counts if one of them does. The phases of mbarriers must be proven as well, if all count.
        """
        if not self._is_ordered(self._program.analysis(shared_order), counts):
            return False  # nor are they without the instruction
        self._steps_left -= len(self._program.steps)
        if self._steps_left < 0:
            return False
        order = self._program.without(step).analysis(strict_shared_order)
        return self._is_ordered(order, counts)

    def _is_ordered(self, order: IntervalProofs, counts: Callable[[StateAccess], bool]) -> bool:
        if not order.is_solved or (self._has_phases and not order.follows_phases):
            return False
        if any(counts(one) or counts(other) for pairs in order.all_pairs() for one, other in pairs):
            return False
        unfenced = {write for _, writes in order.all_unfenced() for write in writes}
        return not any(counts(access) for write in unfenced for access in order.accesses_of(write))
