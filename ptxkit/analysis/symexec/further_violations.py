"""Invalid operands in further executions than those that rules inspect: with the smallest sizes, and of other CTAs.

A loop that a compiler has unrolled accesses several elements before it compares its counter with a size again. Whether
a kernel ever reaches the last of them depends on what its host passes. With all integer arguments at one, only what
each larger size executes too is reached.

Rules inspect the first CTAs of a cluster; all of them are executed in small clusters.

Source: PTX ISA, "Variable Declarations", "Addresses as Operands", "Cluster of Cooperative Thread Arrays".
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.limits import MAX_ANALYZED_CTAS
from ptxkit.analysis.symexec.explorer import Explorer
from ptxkit.analysis.symexec.trace import OperandViolation
from ptxkit.analysis.values.scenario import Scenario

#: The value of all integer parameters.
_SMALLEST_SIZE = 1


def violations_at_smallest_sizes(explorer: Explorer) -> list[OperandViolation]:
    """Returns the invalid operands of the first CTA if all integer arguments are one."""
    found = explorer.execute(Scenario(explorer.launch, _SMALLEST_SIZE))
    return [misfit for group in found.groups for misfit in group.operand_violations.values()]


def violations_in_further_ctas(explorer: Explorer) -> Iterator[OperandViolation]:
    """Yields the invalid operands of the CTAs of a cluster that rules do not inspect, in the first scenario.

    Threads that have guessed are left out.
    """
    for exploration in explorer.explorations[:1]:
        for cta in exploration.cluster[MAX_ANALYZED_CTAS:]:
            for group in cta.groups:
                yield from group.operand_violations.values() if group.first_guess is None else ()
