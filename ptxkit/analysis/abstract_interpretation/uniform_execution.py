"""Determines which instructions all threads of a CTA, or of a cluster, execute equally often, with equal operands.

This holds for an instruction if nothing that differs between the threads decides its guard, the branches on which it
is control dependent, or what these were computed from. Loaded data counts as different, arguments of the kernel do not.

Source: PTX ISA, "Special Registers", "Predicated Execution"; Coutinho et al., "Divergence Analysis and Optimizations".
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

from ptxkit.analysis.abstract_interpretation.returning_calls import ReturningCalls, has_known_paths
from ptxkit.analysis.dataflow.dependence import DependenceSource
from ptxkit.analysis.dataflow.input_independence import InputIndependence
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.values.scenario import launch_config_of
from ptxkit.syntax.tree import Operand

#: The special registers with one value in all threads of a grid.
_EQUAL_IN_GRID = ("%ntid", "%nctaid", "%nclusterid", "%cluster_nct", "%is_explicit_cluster", "%gridid", "WARP_SZ")
#: The special registers with one value in all threads of a cluster.
_EQUAL_IN_CLUSTER = (*_EQUAL_IN_GRID, "%clusterid")
#: The special registers with one value in all threads of a CTA.
_EQUAL_IN_CTA = (*_EQUAL_IN_CLUSTER, "%ctaid", "%cluster_ctaid", "%cluster_ctarank")


class UniformExecution:
    """The instructions of one kernel that threads execute equally often.

    Nothing is uniform in a function that kernels call, or in a kernel with unknown paths or a call that may exit.
    """

    def __init__(self, program: Program) -> None:
        self._program = program
        self._inputs = InputIndependence(program, launch_config_of(program))

    def in_cta(self, step: Step, operand: Operand | None = None) -> bool:
        """Returns whether all threads of a CTA execute a step equally often, each time with the same operand."""
        return self._is_equal(step, operand, _EQUAL_IN_CTA)

    def in_cluster(self, step: Step, operand: Operand | None = None) -> bool:
        """Returns whether all threads of a cluster execute a step equally often, each time with the same operand."""
        return self._is_equal(step, operand, _EQUAL_IN_CLUSTER)

    def in_role(self, step: Step, settled: Callable[[Step], bool]) -> bool:
        """Returns whether all threads of a role execute a step equally often.

        settled: whether the guard of a step has the same value in all threads of the role.
        """
        return self._is_equal(step, None, _EQUAL_IN_CTA, settled)

    def _is_equal(
        self,
        step: Step,
        operand: Operand | None,
        registers: tuple[str, ...],
        settled: Callable[[Step], bool] | None = None,
    ) -> bool:
        if not self._is_applicable or not self._program.contains(step):
            return False
        return all(_is_one_of(leaf, registers) for leaf in self._inputs.dependence_sources(step, operand, settled))

    @cached_property
    def _is_applicable(self) -> bool:
        calls = ReturningCalls(self._program)
        returns = all(calls.returns(step) for step in self._program.own_effectful_steps)
        return returns and self._program.is_kernel and has_known_paths(self._program)


def _is_one_of(leaf: DependenceSource, registers: tuple[str, ...]) -> bool:
    return leaf.kind in ("variable", "parameter") or (leaf.kind == "special" and leaf.name.startswith(registers))
