"""Finds accesses whose alignment the number of the CTA decides.

The CTAs of a grid that rules inspect have the number 0, with which an offset that is a multiple of the number
vanishes. Here, the second CTA of the grid is executed. Of an address in global memory only the remainder is compared
with that in the first CTA: whatever the alignment of the pointer is, one of the two is misaligned if they differ.

Source: PTX ISA, "Addresses as Operands", "Special Registers: %ctaid".
"""

from __future__ import annotations

from collections.abc import Collection

from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.symexec.exploration import Exploration
from ptxkit.analysis.symexec.explorer import Explorer

_Remainder = tuple[Step, int, int, int]
"""An access, the term of its address, the alignment that it needs, and the remainder."""


def find_misaligned_in_next_cta(explorer: Explorer, steps: Collection[Step]) -> list[Step]:
    """Returns the steps that are aligned in the first CTA, but not in the second one, or that differ in the two."""
    if not explorer.explorations or explorer.launch.cluster_size > 1:
        return []
    first = explorer.explorations[0]
    scenario = first.scenario.of_rank(0)
    scenario.cluster_index = 1
    second = explorer.execute(scenario)
    before, after = _remainders(first), _remainders(second)
    known = {each[:3] for each in before}
    differing = {each[0] for each in after - before if each[:3] in known}
    misaligned = _misaligned_steps(second) - _misaligned_steps(first)
    return sorted((differing | misaligned).intersection(steps), key=lambda step: step.start)


def _misaligned_steps(exploration: Exploration) -> set[Step]:
    return {
        step
        for group in exploration.groups
        for (step, _), misfit in group.operand_violations.items()
        if misfit.kind == "alignment" and misfit.is_certain and group.first_guess is None
    }


def _remainders(exploration: Exploration) -> set[_Remainder]:
    return {
        (step, identity, needed, remainder)
        for group in exploration.groups
        if group.first_guess is None
        for identity, seen in group.pointer_alignments.items()
        for (needed, remainder), step in seen.items()
    }
