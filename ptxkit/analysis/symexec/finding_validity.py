"""Determines whether a violation found by an execution holds for every launch and every placement of a variable."""

from __future__ import annotations

from ptxkit.analysis.dataflow.dependence import Dependence
from ptxkit.analysis.ir.program import Program
from ptxkit.analysis.symexec.trace import OperandViolation
from ptxkit.analysis.values.scenario import LaunchConfig

#: Special registers that the directives of a kernel fix if they fix its block.
_BLOCK = ("%ntid", "%nwarpid")
#: Special registers that a launch fixes, and no directive.
_GRID = ("%nctaid", "%nclusterid", "%cluster_nct", "%dynamic_smem_size", "%total_smem_size")


class OperandValidity:
    """The dependences of a program's operands, which are computed only where a violation was found."""

    def __init__(self, program: Program, launch: LaunchConfig) -> None:
        self._program = program
        self._launch_registers = _GRID if launch.is_exact else (*_BLOCK, *_GRID)

    def is_of_launch(self, misfit: OperandViolation) -> bool:
        """Returns whether the size of the block or of the grid may decide an operand of this function."""
        leaves = self._program.analysis(Dependence).sources_of(misfit.step, misfit.step.operand(misfit.role))
        return any(leaf.kind == "special" and leaf.name.startswith(self._launch_registers) for leaf in leaves)

    def is_launch_independent(self, misfit: OperandViolation) -> bool | None:
        """Returns whether neither the launch nor a test at run time decides the violation.

        The result is None for called functions, because it is not known there.
        """
        step = misfit.step
        if not self._program.contains(step) or step.match is None:
            return None
        operand = step.operand(misfit.role)
        if self.is_of_launch(misfit):
            return False
        variable = misfit.variable
        if misfit.is_certain or variable is None:
            return True
        return not self._program.analysis(Dependence).may_test_alignment(variable.name, step, operand)
