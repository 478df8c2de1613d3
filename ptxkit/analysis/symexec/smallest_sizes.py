"""Executes a kernel with the smallest integer arguments, to find what it does whenever a size is not zero.

A loop that a compiler has unrolled accesses several elements before it compares its counter with a size again. Whether
a kernel ever reaches the last of them depends on what its host passes. With all integer arguments at one, only what
each larger size executes too is reached.

Source: PTX ISA, "Variable Declarations", "Addresses as Operands".
"""

from __future__ import annotations

from ptxkit.analysis.symexec.explorer import Explorer
from ptxkit.analysis.symexec.trace import OperandViolation
from ptxkit.analysis.values.scenario import Scenario

#: The value of all integer parameters.
_SMALLEST_SIZE = 1


def violations_at_smallest_sizes(explorer: Explorer) -> list[OperandViolation]:
    """Returns the invalid operands of the first CTA if all integer arguments are one."""
    found = explorer.execute(Scenario(explorer.launch, _SMALLEST_SIZE))
    return [misfit for group in found.groups for misfit in group.operand_violations.values()]
