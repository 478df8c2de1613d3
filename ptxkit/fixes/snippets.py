"""Pieces of text that fixes are made of: a statement for the threads that it is meant for, and how many these are;
the mbarrier that it is about."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import TypeAlias

from ptxkit.analysis.context.collective_participation import WARP
from ptxkit.analysis.ir.program import Step
from ptxkit.fixes.insertion_points import FunctionContext
from ptxkit.isa.effects import (
    MbarrierArrive,
    MbarrierComplete,
    MbarrierExpect,
    MbarrierInit,
    MbarrierTrack,
    MbarrierWait,
)
from ptxkit.syntax.launch_extents import BLOCK_DIRECTIVES, launch_extents
from ptxkit.syntax.printer import print_operand
from ptxkit.syntax.tree import Address, Guard

MbarrierEffect: TypeAlias = (
    MbarrierArrive | MbarrierComplete | MbarrierExpect | MbarrierInit | MbarrierTrack | MbarrierWait
)


def with_guard_of(step: Step, text: str) -> str:
    """The text for the threads that a step is for."""
    guard: Guard | None = step.instruction.guard
    return text if guard is None else f"@{'!' if guard.negated else ''}{guard.predicate} {text}"


def on_first_thread(text: str) -> str:
    """The text for the first thread of a block of one dimension."""
    return (
        "{\n\t.reg .pred %first;\n\t.reg .b32 %thread;\n\tmov.u32 %thread, %tid.x;\n"
        f"\tsetp.eq.u32 %first, %thread, 0;\n\t@%first {text}\n}}"
    )


def thread_counts(around: FunctionContext) -> Iterator[int]:
    """How many threads a block has, and how many warps, where the kernel says it."""
    block = launch_extents(around.program.function, *BLOCK_DIRECTIVES)
    if block is not None:
        count = prod(block)
        yield from (count, count // WARP) if count % WARP == 0 else (count,)


def mbarrier_operand_text(step: Step, kind: type[MbarrierEffect]) -> str | None:
    """The address, as it is written, of the mbarrier on which a step has an effect of a kind."""
    operand = mbarrier_operand(step, kind)
    return None if operand is None else print_operand(operand)


def mbarrier_operand(step: Step, kind: type[MbarrierEffect]) -> Address | None:
    for effect in step.effects:
        if isinstance(effect, kind):
            operand = step.operand(effect.barrier)
            return operand if isinstance(operand, Address) else None
    return None


def is_duplicate(around: FunctionContext, step: Step) -> bool:
    """Whether the same statement precedes a step, or follows it."""
    neighbours = around.program.steps[max(step.index - 1, 0) : step.index + 2]
    return any(each is not step and each.instruction == step.instruction for each in neighbours)
