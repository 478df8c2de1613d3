"""The conditions of a kernel's contract against which each launch is checked, as plain tuples that caches can store.

Only conditions of every launch that the kernel does not declare are used: the declared ones are checked by the
signature and the driver.
"""

from __future__ import annotations

from typing import TypeAlias

from ptxkit.contract_survey import derive_contracts
from ptxkit.kernel_model.source_lines import Assembled, with_source_offsets
from ptxkit.model.launch_contract import (
    BlockLimits,
    ClusterLimits,
    ConditionScope,
    DynamicShared,
    LaunchCondition,
    ParameterMultiple,
)

LaunchLimit: TypeAlias = tuple[str, int, tuple[int, ...], str]
"""The kind of a condition, the index of a parameter (0 for others), its numbers, and the condition with its line.

The kinds are `block` (the numbers of threads that fail), `cluster` and `shared` (the least number), and `alignment`.
"""


def find_launch_limits(assembled: Assembled, name: str) -> dict[str, tuple[LaunchLimit, ...]]:
    """Returns the conditions of each kernel of an assembled or a parsed module, by the kernel's name."""
    contracts = derive_contracts(with_source_offsets(assembled, name))
    return {
        contract.kernel: tuple(
            limit
            for each in contract.undeclared
            if each.scope is ConditionScope.LAUNCH and (limit := _limit_of(each)) is not None
        )
        for contract in contracts
    }


def _limit_of(condition: LaunchCondition) -> LaunchLimit | None:
    words = f"{condition.sentence.removesuffix('.')} (ptx:{condition.line})"
    match condition.requirement:
        case BlockLimits(failing=failing) if failing:
            return "block", 0, failing, words
        case ClusterLimits(least=int() as least):
            return "cluster", 0, (least,), words
        case DynamicShared(least=int() as least):
            return "shared", 0, (least,), words
        case ParameterMultiple(parameter=place, divisor=divisor, remainder=0, is_address=True) if not place.offset:
            return "alignment", place.index, (divisor,), words
    return None
