"""Finds mbarriers that are initialized and never used, on all paths of a kernel and for all launches and data.

Source: PTX ISA, "Lifecycle of the mbarrier object".
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.abstract_interpretation.register_values import AbstractRegisters
from ptxkit.analysis.abstract_interpretation.returning_calls import is_self_contained
from ptxkit.analysis.intervals.accessed_bytes import AccessedBytes, bytes_at
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.isa.effects import MbarrierEffect, MbarrierInit
from ptxkit.semantics.object_names import MBARRIER_BYTES


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
    used: list[AccessedBytes] = []
    for step, effect in operations:
        if not isinstance(effect, MbarrierInit):
            places = bytes_at(values, step, effect.barrier, MBARRIER_BYTES)
            if places is None:
                return
            used += places
    for step, effect in operations:
        if isinstance(effect, MbarrierInit):
            places = bytes_at(values, step, effect.barrier, MBARRIER_BYTES)
            if places and not any(place.overlap(other) for place in places for other in used):
                yield step
