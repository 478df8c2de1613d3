"""Finds instructions that address Tensor Memory by constants, and not by an address that an allocation returned.

Kernels that allocate all of Tensor Memory ignore the allocated address, because its first column is then 0. Many also
omit the lanes, which the manual does not allow but GPUs accept: each warp accesses its own lanes.
"""

from __future__ import annotations

from collections.abc import Iterable

from ptxkit.analysis.dataflow.dependence import Dependence, DependenceSource
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.isa.effects import Access


def find_absolute_tmem_steps(program: Program) -> frozenset[int]:
    """Returns the start offsets of the instructions whose addresses of Tensor Memory do not depend on memory."""
    steps = [(step, roles) for step in program.steps if (roles := _tmem_address_roles(step))]
    if not steps:
        return frozenset()
    dependence = program.analysis(Dependence)
    return frozenset(
        step.start
        for step, roles in steps
        if all(_is_independent_of_memory(dependence.sources_of(step, step.operand(role))) for role in roles)
    )


def _tmem_address_roles(step: Step) -> list[str]:
    """Returns the roles of the operands that are addresses of Tensor Memory."""
    return [
        effect.address
        for effect in step.effects
        if isinstance(effect, Access) and effect.space == "tensor" and effect.address is not None
    ]


def _is_independent_of_memory(leaves: Iterable[DependenceSource]) -> bool:
    return not any(leaf.kind == "memory" or (leaf.kind == "unknown" and leaf.name) for leaf in leaves)
