"""Redundant waits and barriers, as compilers generate them: their deletion is harmless.

Source: PTX ISA, "cp.async.wait_group / cp.async.wait_all", "bar, barrier", "wgmma.wait_group".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import prod

from ptxkit.analysis.ir.program import Step
from ptxkit.isa.effects import Access, Barrier, CommitGroup, Control, MbarrierArrive, MbarrierComplete, WaitGroup
from ptxkit.isa.expressions import ConstantExpr, Expression, OperandRole
from ptxkit.syntax.launch_extents import BLOCK_DIRECTIVES, launch_extents
from ptxkit.syntax.tree import Integer
from ptxkit.testing.mutation.function_analysis import FunctionAnalysis

#: The threads of a warpgroup.
WARPGROUP = 128


def is_repeated_wait(reading: FunctionAnalysis, step: Step, wait: WaitGroup) -> bool:
    """Returns whether every path to a wait comes from one that leaves no more groups pending, without a commit in
    between.
    """
    pending = _operand_value(step, wait.pending)

    def grows(each: Step) -> bool:
        calls = each.match is None or any(control.kind == "call" for control in reading.effects(each, Control))
        joins = reading.has_access(each, lambda access: access.completion == wait.group) and wait.commits
        return calls or joins or any(other.group == wait.group for other in reading.effects(each, CommitGroup))

    def waits(each: Step) -> bool:
        for other in reading.effects(each, WaitGroup):
            left = _operand_value(each, other.pending)
            enough = left is not None and pending is not None and left <= pending
            whole = wait.read_only or not other.read_only
            if other.group == wait.group and enough and whole and each.instruction.guard is None:
                return True
        return False

    return not reading.may_be_preceded_by(step, grows, waits)


def separates_only_reads(reading: FunctionAnalysis, step: Step) -> bool:
    """Returns whether all threads only read memory between the previous barriers of all threads and this one, and
    between this one and the next ones, so that nothing is published.
    """
    if not reading.is_cta_wide_barrier(step):
        return False

    def signals(each: Step) -> bool:
        return not (reading.is_cta_wide_barrier(each) or _is_read_only(reading, each))

    return not reading.may_be_preceded_by(
        step, signals, reading.is_cta_wide_barrier
    ) and not reading.may_be_followed_by(step, signals, reading.is_cta_wide_barrier)


def publishes_nothing(reading: FunctionAnalysis, step: Step) -> bool:
    """Returns whether the threads have done nothing since the previous barriers of all threads that this one would
    publish.

    They only computed, and started operations that continue after the barrier, whose completion other threads observe
    by other means. Bytes that are expected with the arrival that the phase needs may also be expected after the copy.
    """
    if not reading.is_cta_wide_barrier(step):
        return False
    reads_outside = False

    def signals(each: Step) -> bool:
        nonlocal reads_outside
        if reading.is_cta_wide_barrier(each) or reading.has_no_effects(each) or is_warp_sync(reading, each):
            return False
        if is_expect_tx(reading, each):
            return False
        if not reading.has_only_effects(each, (Access, CommitGroup, MbarrierComplete)) or each.match is None:
            return True
        if any(control.kind == "call" for control in reading.effects(each, Control)):
            return True
        outside = [access for access in reading.effects(each, Access) if not _is_asynchronous_or_private(access)]
        reads_outside |= bool(outside)
        return any(access.space != "global" or access.kind != "read" or access.order != "weak" for access in outside)

    def writes_outside(each: Step) -> bool:
        return reading.has_access(each, lambda access: access.kind != "read" and not access.space.startswith("shared"))

    if reading.may_be_preceded_by(step, signals, reading.is_cta_wide_barrier):
        return False
    return not (reads_outside and reading.may_be_followed_by(step, writes_outside, reading.is_cta_wide_barrier))


def is_expect_tx(reading: FunctionAnalysis, step: Step) -> bool:
    """Returns whether an instruction only expects bytes with the arrival that their phase needs."""
    arrives = reading.effects(step, MbarrierArrive)
    return bool(arrives) and all(each.expect is not None and not each.asynchronous for each in arrives)


def is_warp_sync(reading: FunctionAnalysis, step: Step) -> bool:
    """Returns whether an instruction is only a rendezvous of the lanes of a warp."""
    barriers = reading.effects(step, Barrier)
    return (
        bool(barriers) and reading.has_only_effects(step, (Barrier,)) and all(each.level == "warp" for each in barriers)
    )


def _is_asynchronous_or_private(access: Access) -> bool:
    """Returns whether an access continues after its instruction, or is visible to its own thread only."""
    return access.completion is not None or access.space.startswith(("local", "param")) or access.proxy == "tensormap"


def _is_read_only(reading: FunctionAnalysis, step: Step) -> bool:
    """Returns whether an instruction computes, branches, exits, or reads memory that does not change."""
    if is_warp_sync(reading, step):
        return True
    if step.match is None or not reading.has_only_effects(step, (Access, WaitGroup, CommitGroup)):
        return False
    if any(control.kind == "call" for control in reading.effects(step, Control)):
        return False
    if any(not is_repeated_wait(reading, step, wait) for wait in reading.effects(step, WaitGroup)):
        return False
    own = ("local", "param")
    reads = (("read", "generic", None, "weak"),)
    return all(
        access.space.startswith(own) or (access.kind, access.proxy, access.completion, access.order) in reads
        for access in reading.effects(step, Access)
    )


def is_warpgroup_barrier(reading: FunctionAnalysis, step: Step) -> bool:
    """Returns whether the threads at a barrier are one warpgroup: each of its warps waits for the products of all of
    them.
    """
    barriers = reading.barriers(step)
    threads = _operand_value(step, barriers[0].threads) if barriers and barriers[0].threads is not None else None
    if barriers and barriers[0].threads is None:
        block = launch_extents(reading.program.function, *BLOCK_DIRECTIVES)
        threads = prod(block) if block is not None else None
    return threads == WARPGROUP


def has_only_computation(reading: FunctionAnalysis, steps: Iterable[Step]) -> bool:
    """Returns whether there is only computation between two places."""
    still: Callable[[Step], bool] = reading.has_no_effects
    return all(still(each) for each in steps)


def _operand_value(step: Step, expression: Expression | None) -> int | None:
    """Returns the value of a constant operand, or 0."""
    if expression is None:
        return 0
    given = step.operand(expression.name) if isinstance(expression, OperandRole) else expression
    return given.value if isinstance(given, Integer | ConstantExpr) and isinstance(given.value, int) else None
