"""Predicated instructions as branches around them, and branches around instructions as predicated ones."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from random import Random
from typing import ClassVar

from ptxkit.analysis.ir.program import Step
from ptxkit.fast_dataclasses import replace
from ptxkit.isa.effects import Control
from ptxkit.syntax.tree import Guard, Instruction, LabelStatement, Name
from ptxkit.syntax.tree_edit import TreeEdit
from ptxkit.testing.limits import MAX_PREDICATED_STEPS
from ptxkit.testing.mutation.function_analysis import FunctionAnalysis, written_registers
from ptxkit.testing.rewriting.kernel_rewrite import RewritePlace


class GuardToBranch:
    """Replaces the guard of an instruction by a branch around it with the opposite guard.

    A thread whose guard is false executes nothing of the instruction in either form.
    """

    name: ClassVar[str] = "guard-to-branch"

    def places(self, function: FunctionAnalysis) -> Iterator[RewritePlace]:
        for step in function.steps:
            if step.instruction.guard is not None and step.match is not None and not _changes_control(step):
                yield partial(self._edit, step.linear.instruction, step.start)

    @staticmethod
    def _edit(instruction: Instruction, start: int, _chance: Random) -> TreeEdit:
        assert instruction.guard is not None
        label = f"$rw{start}_skip"
        opposite = Guard(instruction.guard.predicate, not instruction.guard.negated)
        branch = Instruction("bra", (Name(label),), opposite)
        return TreeEdit({start: (branch, replace(instruction, guard=None), LabelStatement(label))})


class BranchToGuards:
    """Replaces a branch around a few instructions by the opposite guard on each of them.

    The instructions have no guards, leave the predicate as it is, and do not branch, so each thread executes those that
    it would execute after the branch. Nothing else branches to a place among them.
    """

    name: ClassVar[str] = "branch-to-guards"

    def places(self, function: FunctionAnalysis) -> Iterator[RewritePlace]:
        for step in function.steps:
            targets = step.targets
            if step.instruction.guard is None or len(targets) != 1:
                continue
            between = function.steps[step.index + 1 : targets[0]]
            if 0 < len(between) <= MAX_PREDICATED_STEPS and all(_can_be_guarded(function, step, e) for e in between):
                yield partial(self._edit, step, between)

    @staticmethod
    def _edit(branch: Step, between: tuple[Step, ...], _chance: Random) -> TreeEdit:
        guard = branch.instruction.guard
        assert guard is not None
        opposite = Guard(guard.predicate, not guard.negated)
        guarded = {each.start: (replace(each.linear.instruction, guard=opposite),) for each in between}
        return TreeEdit({branch.start: (), **guarded})


def _changes_control(step: Step) -> bool:
    return any(isinstance(each, Control) for each in step.effects)


def _can_be_guarded(function: FunctionAnalysis, branch: Step, step: Step) -> bool:
    guard = branch.instruction.guard
    assert guard is not None
    return (
        step.match is not None
        and step.instruction.guard is None
        and step.scope.block is branch.scope.block
        and step.index not in _targets(function)
        and not _changes_control(step)
        and guard.predicate not in written_registers(step)
    )


def _targets(function: FunctionAnalysis) -> set[int]:
    return {target for step in function.steps for target in step.targets}
