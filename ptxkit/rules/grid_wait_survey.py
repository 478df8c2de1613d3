"""Compares the kernels of a module: whether they wait for the grids on which they depend.

Whether a launch overlaps earlier grids is not in the text. If most kernels of a module that read global memory wait for
such grids, the module is written for overlapping launches, and a kernel that does not wait is a question.

Source: PTX ISA, "griddepcontrol".
"""

from __future__ import annotations

from ptxkit.analysis.dataflow.slicing import has_grid_dependency_wait
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.diagnostics.catalogue import ptx6xx
from ptxkit.isa.effects import Access, Effect
from ptxkit.rules.obligation_sites import is_global_access
from ptxkit.rules.verdict_builder import VerdictBuilder


class GridWaitSurvey:
    """The kernels of one module that read global memory."""

    def __init__(self) -> None:
        self._waiting_count = 0
        self._others: list[tuple[VerdictBuilder, Step]] = []

    def add(self, judge: VerdictBuilder, program: Program) -> None:
        """Adds a kernel with its verdict."""
        first = next((step for step in program.effectful_steps if any(map(_reads_global, step.effects))), None)
        if first is not None and has_grid_dependency_wait(program):
            self._waiting_count += 1
        elif first is not None:
            self._others.append((judge, first))

    def mark_deviations(self) -> None:
        """Adds the questions about the kernels that do not wait, if more kernels wait than do not."""
        if self._waiting_count > len(self._others):
            for judge, first in self._others:
                judge.mark_undecided(ptx6xx.READ_BEFORE_GRID_WAIT, [first], ptx6xx.OTHER_KERNELS_WAIT())


def _reads_global(effect: Effect) -> bool:
    return isinstance(effect, Access) and is_global_access(effect) and effect.kind != "write"
