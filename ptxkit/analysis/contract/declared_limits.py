"""Reads the sizes of blocks and clusters that the directives of a kernel declare.

Source: PTX ISA, "Performance-Tuning Directives", "Cluster Dimension Directives".
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from ptxkit.analysis.contract.derived_condition import DerivedCondition
from ptxkit.model.launch_contract import BlockLimits, ClusterLimits
from ptxkit.syntax.constants import directive_constants
from ptxkit.syntax.launch_extents import launch_extents
from ptxkit.syntax.tree import Function


def find_declared_limits(function: Function) -> Iterator[DerivedCondition]:
    """Yields the conditions that directives declare."""
    block, most = launch_extents(function, "reqntid"), launch_extents(function, "maxntid")
    if block is not None:
        yield _make_declared(BlockLimits(exact=block))
    elif most is not None:
        yield _make_declared(BlockLimits(most=prod(most)))
    cluster = launch_extents(function, "reqnctapercluster")
    if cluster is not None:
        yield _make_declared(ClusterLimits(exact=cluster))
    for number in directive_constants(function.directive("maxclusterrank"))[:1]:
        yield _make_declared(ClusterLimits(most=number))


def _make_declared(limits: BlockLimits | ClusterLimits) -> DerivedCondition:
    return DerivedCondition(limits, None, is_declared=True)
