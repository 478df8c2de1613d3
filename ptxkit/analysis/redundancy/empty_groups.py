"""Finds the waits without a group to wait for, and the commits without an operation or a wait, on all paths or in all
executions.

Source: PTX ISA, "cp.async.commit_group", "cp.async.wait_group / cp.async.wait_all", "cp.async.bulk.wait_group",
"wgmma.wait_group".
"""

from __future__ import annotations

from ptxkit.analysis.context.kernel_facts import KernelFacts
from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.memory.ineffective_groups import find_empty_commits, find_empty_waits, find_needless_commits
from ptxkit.analysis.memory.no_op_sync import collect_group_usage, is_fully_executed, is_independent_of_loop_count
from ptxkit.isa.effects import CommitGroup, WaitGroup


def find_waits_for_nothing(kernel: KernelFacts) -> list[Step]:
    """Returns the waits whose groups are complete on all paths, or in all executions of a completely known kernel."""
    if not any(isinstance(effect, WaitGroup) for step in kernel.program.effectful_steps for effect in step.effects):
        return []
    empty = dict.fromkeys(find_empty_waits(kernel.program))
    groups = collect_group_usage(kernel) if is_fully_executed(kernel) else None
    for step, useful in groups.useful_waits.items() if groups is not None else ():
        if not useful and is_independent_of_loop_count(step, kernel):
            empty[step] = None
    return list(empty)


def find_commits_of_nothing(kernel: KernelFacts) -> tuple[list[Step], list[Step]]:
    """Returns the commits of empty groups, and those that no wait needs on any path.

    The groups are empty on all paths, or in all executions of a completely known kernel.
    """
    if not any(_kinds(step) for step in kernel.program.effectful_steps):
        return [], []
    empty = dict.fromkeys(find_empty_commits(kernel.program))
    groups = collect_group_usage(kernel) if is_fully_executed(kernel) else None
    for step, useful in groups.useful_commits.items() if groups is not None else ():
        if groups is not None and not useful and not groups.counted_kinds & _kinds(step):
            empty[step] = None
    return list(empty), list(find_needless_commits(kernel.program, empty.keys()))


def _kinds(step: Step) -> set[str]:
    return {effect.group for effect in step.effects if isinstance(effect, CommitGroup)}
