"""The texts of which fixes consist: guarded statements, thread counts, and operands of mbarriers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import reduce
from math import prod
from typing import TypeAlias

from ptxkit.analysis.ir.program import Step
from ptxkit.diagnostics.catalogue import fix_titles
from ptxkit.fixes.insertion_points import FunctionContext
from ptxkit.isa.effects import MbarrierInit, MbarrierUse
from ptxkit.syntax.constants import WARP_SIZE
from ptxkit.syntax.launch_extents import BLOCK_DIRECTIVES, launch_extents
from ptxkit.syntax.printer import print_operand
from ptxkit.syntax.tree import Address, Guard

MbarrierTarget: TypeAlias = MbarrierInit | MbarrierUse
"""Effects on an mbarrier whose operand a fix may change."""


def with_guard_of(step: Step, text: str) -> str:
    """Returns the text with the guard of a step."""
    guard: Guard | None = step.instruction.guard
    return text if guard is None else f"@{'!' if guard.negated else ''}{guard.predicate} {text}"


def join_words(words: Iterable[str]) -> str:
    """Returns opcodes or directives as a list in a title. There must be at least one word."""
    return reduce(lambda first, second: fix_titles.AND(first=first, second=second), words)


def on_first_thread(text: str) -> str:
    """Returns the text with a guard for the first thread of a block of one dimension."""
    return (
        "{\n\t.reg .pred %first;\n\t.reg .b32 %thread;\n\tmov.u32 %thread, %tid.x;\n"
        f"\tsetp.eq.u32 %first, %thread, 0;\n\t@%first {text}\n}}"
    )


def thread_counts(around: FunctionContext) -> Iterator[int]:
    """Yields the number of threads of a block, and of its warps, if the kernel declares it."""
    block = launch_extents(around.program.function, *BLOCK_DIRECTIVES)
    if block is not None:
        count = prod(block)
        yield from (count, count // WARP_SIZE) if count % WARP_SIZE == 0 else (count,)


def mbarrier_operand_text(step: Step, kind: type[MbarrierTarget]) -> str | None:
    """Returns the address, as it is written, of the mbarrier on which a step has an effect of a kind."""
    operand = mbarrier_operand(step, kind)
    return None if operand is None else print_operand(operand)


def mbarrier_operand(step: Step, kind: type[MbarrierTarget]) -> Address | None:
    for effect in step.effects:
        if isinstance(effect, kind):
            operand = step.operand(effect.barrier)
            return operand if isinstance(operand, Address) else None
    return None


def is_duplicate(around: FunctionContext, step: Step) -> bool:
    """Returns whether the same statement precedes a step, or follows it."""
    neighbors = around.program.steps[max(step.index - 1, 0) : step.index + 2]
    return any(each is not step and each.instruction == step.instruction for each in neighbors)
