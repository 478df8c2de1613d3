"""Finds mbarriers that are initialized and never used, on all paths of a kernel and for all launches and data.

Source: PTX ISA, "Lifecycle of the mbarrier object".
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.abstract_interpretation.register_values import AbstractRegisters
from ptxkit.analysis.abstract_interpretation.returning_calls import is_self_contained
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.fast_dataclasses import dataclass
from ptxkit.isa.effects import MbarrierEffect, MbarrierInit
from ptxkit.semantics.object_names import MBARRIER_BYTES


@dataclass(frozen=True, slots=True)
class _Places:
    """Where an mbarrier may start: from `low` to `high`, in the layout of the variables in shared memory."""

    low: int
    high: int

    def may_overlap(self, other: _Places) -> bool:
        return self.low < other.high + MBARRIER_BYTES and other.low < self.high + MBARRIER_BYTES


def find_unused_initializations(program: Program) -> Iterator[Step]:
    """Yields the initializations of mbarriers to which no other operation can refer, in the thread's CTA or another."""
    operations = [
        (step, effect)
        for step in program.effectful_steps
        for effect in step.effects
        if isinstance(effect, MbarrierEffect)
    ]
    made = [step for step, effect in operations if isinstance(effect, MbarrierInit)]
    if not made or not is_self_contained(program):
        return
    values = program.analysis(AbstractRegisters)
    used: list[_Places] = []
    for step, effect in operations:
        if not isinstance(effect, MbarrierInit):
            places = _find_places(values, step, effect)
            if places is None:
                return
            used += places
    for step, effect in operations:
        if isinstance(effect, MbarrierInit):
            places = _find_places(values, step, effect)
            if places and not any(place.may_overlap(other) for place in places for other in used):
                yield step


def _find_places(values: AbstractRegisters, step: Step, effect: MbarrierEffect) -> list[_Places] | None:
    """Returns where the mbarrier of an operation may be; None if this is unknown."""
    found: list[_Places] = []
    for each in values.value_at(step, step.operand(effect.barrier)):
        if each.base is None or each.base.kind != "variable" or each.is_opaque:
            return None
        low, high = each.known_offsets
        found.append(_Places(each.base.position + low, each.base.position + high))
    return found
