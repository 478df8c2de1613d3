"""Finds commits and waits of asynchronous groups without effect, on all paths of a kernel and for all launches.

Source: PTX ISA, "cp.async.commit_group", "cp.async.wait_group / cp.async.wait_all", "wgmma.wait_group".
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from ptxkit.analysis.abstract_interpretation.async_group_proofs import AsyncGroupProofs
from ptxkit.analysis.abstract_interpretation.async_groups import pending_groups
from ptxkit.analysis.abstract_interpretation.group_counts import Counts, largest_group_counts
from ptxkit.analysis.abstract_interpretation.returning_calls import is_self_contained, is_sole_function
from ptxkit.analysis.cfg.control_flow_graph import step_successors
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.ir.worklist import Worklist
from ptxkit.analysis.limits import MAX_PENDING_COMMITS
from ptxkit.analysis.sync.async_groups import GROUP_MECHANISMS
from ptxkit.isa.effects import CommitGroup, Control, Effect, WaitGroup


def find_needless_commits(program: Program, empty: Collection[Step]) -> Iterator[Step]:
    """Yields the commits without which each wait still completes the same operations.

    On each path from such a commit, another commit comes before the next wait and the exit, or that wait completes the
    copies of no group, too. Until a wait leaves no group pending, no wait leaves a number of groups pending, so that
    none counts them. empty: commits that are redundant for another reason, which cannot replace one.
    """
    groups = {effect.group for _, effect in _effects(program) if isinstance(effect, WaitGroup)}
    if not groups or not is_self_contained(program):
        return
    commits = ((step, effect.group) for step, effect in _effects(program) if isinstance(effect, CommitGroup))
    for step, group in commits:
        if group in groups and step not in empty and _is_needless(program, step, group, empty):
            yield step


def _is_needless(program: Program, commit: Step, group: str, empty: Collection[Step]) -> bool:
    """Returns whether all paths from a commit continue as `find_needless_commits` describes."""
    waiting = Worklist((index, False) for index in step_successors(program, commit))
    for index, was_committed in waiting:
        step, is_committed = program.steps[index], was_committed
        has_guard, is_settled = step.instruction.guard is not None, False
        for effect in step.effects:
            if isinstance(effect, WaitGroup) and effect.group == group:
                if pending_groups(step, effect) != 0 or not (is_committed or effect.commits):
                    return False
                is_settled = not has_guard and not effect.read_only
            elif isinstance(effect, CommitGroup) and effect.group == group:
                is_committed = is_committed or not (has_guard or step is commit or step in empty)
        if not is_settled:
            successors = step_successors(program, step)
            if not is_committed and (not successors or _may_exit(step)):
                return False
            waiting.add((each, is_committed) for each in successors)
    return True


def _may_exit(step: Step) -> bool:
    return any(isinstance(effect, Control) and effect.kind in ("return", "exit") for effect in step.effects)


def find_empty_commits(program: Program) -> Iterator[Step]:
    """Yields the commits before which the executing thread has no operation that is in no group, on any path.

    No wait counts their groups, as none of the kind leaves a number of groups pending.
    """
    commits = {step: effect for step, effect in _effects(program) if isinstance(effect, CommitGroup)}
    if not commits or not is_self_contained(program):
        return
    counting = {
        effect.group
        for step, effect in _effects(program)
        if isinstance(effect, WaitGroup) and pending_groups(step, effect) != 0
    }
    proofs = program.analysis(AsyncGroupProofs)
    uncommitted = proofs.uncommitted_before(commits) if proofs.is_applicable else {}
    for step, effect in commits.items():
        is_counted = effect.group in counting or step not in uncommitted
        if not is_counted and effect.group not in map(proofs.group_of, uncommitted[step]):
            yield step


def find_empty_waits(program: Program) -> Iterator[Step]:
    """Yields the waits before which the executing thread has no group to wait for, on any path.

    No operation of their kind can be incomplete there, or no more groups than the wait leaves pending.
    """
    waits = {step: effect for step, effect in _effects(program) if isinstance(effect, WaitGroup)}
    if not waits or not is_self_contained(program):
        return
    proofs = program.analysis(AsyncGroupProofs)
    pending = proofs.pending_before(waits) if proofs.is_applicable else {}
    counts = largest_group_counts(program) if is_sole_function(program) else {}
    for step, effect in waits.items():
        has_none = step in pending and effect.group not in map(proofs.group_of, pending[step])
        if has_none or _leaves_as_many(step, effect, counts):
            yield step


def _leaves_as_many(step: Step, effect: WaitGroup, counts: Mapping[Step, Counts]) -> bool:
    """Returns whether a wait leaves as many groups pending as there may be before it."""
    left = pending_groups(step, effect)
    if left is None or effect.commits or effect.group not in GROUP_MECHANISMS or step not in counts:
        return False
    incomplete, read = counts[step].get(effect.group, (0, 0))
    return (read if effect.read_only else incomplete) <= left < MAX_PENDING_COMMITS


def _effects(program: Program) -> Iterator[tuple[Step, Effect]]:
    return ((step, effect) for step in program.effectful_steps for effect in step.effects)
