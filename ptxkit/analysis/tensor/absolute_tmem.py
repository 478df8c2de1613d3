"""Instructions that name Tensor Memory by constants, and not by an address that an allocation gave.

Kernels that take all of Tensor Memory for theirs leave the allocated address aside, as its first column is 0 then. Many
leave out the lanes, too, which the manual does not allow and machines forgive: each warp reaches its own.
"""

from __future__ import annotations

from collections.abc import Iterable

from ptxkit.analysis.dataflow.dependence import Dependence, DependenceSource
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.isa.effects import Access


def find_absolute_tmem_steps(program: Program) -> frozenset[int]:
    """The instructions, by where they start, whose addresses of Tensor Memory nothing decides that is in memory."""
    steps = [(step, roles) for step in program.steps if (roles := _tmem_address_roles(step))]
    if not steps:
        return frozenset()
    dependence = Dependence(program)
    return frozenset(
        step.start
        for step, roles in steps
        if all(_is_independent_of_memory(dependence.sources_of(step, step.operand(role))) for role in roles)
    )


def _tmem_address_roles(step: Step) -> list[str]:
    """The roles of the operands that are addresses of Tensor Memory."""
    return [
        effect.address
        for effect in step.effects
        if isinstance(effect, Access) and effect.space == "tensor" and effect.address is not None
    ]


def _is_independent_of_memory(leaves: Iterable[DependenceSource]) -> bool:
    return not any(leaf.kind == "memory" or (leaf.kind == "unknown" and leaf.name) for leaf in leaves)
