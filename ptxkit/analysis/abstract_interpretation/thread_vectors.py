"""Computes registers that depend only on the position of a thread in its block, for all threads of a block at once.

Where the kernel declares no size of its blocks, a block is one row of threads, of the largest size that may be
launched. The lane that `elect.sync` elects is the same whenever the same mask is used, but unknown: each thread is
therefore represented twice, as a lane that is elected and as one that is not.

Source: PTX ISA, "Special Registers: %tid", "elect.sync", "shfl.sync", "Performance-Tuning Directives: .reqntid".
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import cached_property

from ptxkit.analysis.abstract_interpretation.graph_operands import GraphOperands, NumberVector
from ptxkit.analysis.abstract_interpretation.value_graph import ValueGraph
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.values.cta_values import CtaValue, per_thread
from ptxkit.analysis.values.scenario import launch_config_of
from ptxkit.analysis.values.value_reader import Reader
from ptxkit.fast_dataclasses import replace
from ptxkit.isa.effects import Barrier, Value
from ptxkit.isa.expressions import CallExpr, Expression
from ptxkit.limits import MAX_CTA_THREADS
from ptxkit.syntax.constants import WARP_SIZE

_ALL_LANES = 0xFFFF_FFFF


class ThreadVectors(GraphOperands):
    """The registers of one function that are the same in each execution of a thread, whatever the arguments are.

    A vector has the numbers of the represented threads: first those that are not elected, then the elected lanes.

    coming_from: returns the represented threads that may come to a block from another one. is_row: whether the block is
    assumed to be one row of threads.
    """

    def __init__(self, program: Program, graph: ValueGraph, coming_from: Callable[[int, int], frozenset[int]]) -> None:
        self._program, self._coming_from = program, coming_from
        launch = launch_config_of(program)
        self.is_row = not launch.is_exact
        if self.is_row:
            launch = replace(launch, block=(launch.threads if launch.is_limit else MAX_CTA_THREADS, 1, 1))
        self.threads = launch.threads
        sizes = ("%ntid.y", "%ntid.z") if self.is_row else ("%ntid",)
        super().__init__(graph, launch, (*range(self.threads),) * 2, sizes)

    @cached_property
    def warps(self) -> tuple[int, ...]:
        """The warp of each represented thread."""
        return tuple(tid // WARP_SIZE for tid in self.tids)

    def positions_coming_from(self, block: int, target: int) -> Collection[int]:
        return self._coming_from(block, target)

    def call(self, step: Step, call: CallExpr, read: Reader[CtaValue]) -> CtaValue:
        if call.function == "elected":
            return (0,) * self.threads + (1,) * self.threads if self._elects_one_lane else None
        if call.function == "shuffle":
            value = self.vector(self.expression(step, call.arguments[1], read))
            return per_thread(value) if value is not None and self._is_equal_in_warps(value) else None
        return super().call(step, call, read)

    @cached_property
    def _elects_one_lane(self) -> bool:
        """Whether each election of the function is among all lanes of a warp, so that the same lane is elected."""
        masks = ThreadVectors(self._program, self._graph, self._coming_from)
        masks.__dict__["_elects_one_lane"] = False  # no mask may depend on an election
        return all(
            masks.is_full_mask(step, effect.number)
            for step in self._program.own_effectful_steps
            if any(isinstance(each, Value) and _elects(each.value) for each in step.effects)
            for effect in step.effects
            if isinstance(effect, Barrier)
        )

    def is_full_mask(self, step: Step, mask: Expression | None) -> bool:
        """Returns whether a mask has all lanes of a warp in each thread."""
        found = self.vector(self.expression(step, mask, self._at_depth(0)) if mask is not None else None)
        return found is not None and {each & _ALL_LANES for each in found} == {_ALL_LANES}

    def _is_equal_in_warps(self, value: NumberVector) -> bool:
        found: dict[int, int] = {}
        return all(found.setdefault(warp, number) == number for warp, number in zip(self.warps, value, strict=True))


def _elects(expression: Expression) -> bool:
    if not isinstance(expression, CallExpr):
        return False
    return expression.function == "elected" or any(map(_elects, expression.arguments))
