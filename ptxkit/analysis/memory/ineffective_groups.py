"""Finds commits and waits of asynchronous groups without effect, on all paths of a kernel and for all launches.

Source: PTX ISA, "cp.async.commit_group", "cp.async.wait_group / cp.async.wait_all", "wgmma.wait_group".
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.abstract_interpretation.async_group_proofs import AsyncGroupProofs
from ptxkit.analysis.abstract_interpretation.returning_calls import is_self_contained
from ptxkit.analysis.cfg.control_flow_graph import step_successors
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.ir.worklist import Worklist
from ptxkit.isa.effects import CommitGroup, Control, Effect, WaitGroup


def find_commits_before_full_waits(program: Program) -> Iterator[Step]:
    """Yields the commits after which a wait that completes the copies of no group, too, is the next one on each path.

    Later waits leave a number of groups pending, and these were committed after that wait.
    """
    if not any(isinstance(effect, WaitGroup) and effect.commits for _, effect in _effects(program)):
        return
    if is_self_contained(program):
        for step, effect in _effects(program):
            if isinstance(effect, CommitGroup) and _is_settled_by_full_wait(program, step, effect.group):
                yield step


def _is_settled_by_full_wait(program: Program, commit: Step, group: str) -> bool:
    """Returns whether no path from a commit leads to an exit, or to another wait for its group, before a full wait."""
    waiting = Worklist(step_successors(program, commit))
    for index in waiting:
        step = program.steps[index]
        waits = [effect for effect in step.effects if isinstance(effect, WaitGroup) and effect.group == group]
        if any(not effect.commits for effect in waits):
            return False
        if not waits or step.instruction.guard is not None:
            successors = step_successors(program, step)
            if not successors or _may_exit(step):
                return False
            waiting.add(successors)
    return True


def _may_exit(step: Step) -> bool:
    return any(isinstance(effect, Control) and effect.kind in ("return", "exit") for effect in step.effects)


def find_empty_waits(program: Program) -> Iterator[Step]:
    """Yields the waits for groups before which no operation of their kind can be incomplete in the executing thread."""
    waits = {step: effect for step, effect in _effects(program) if isinstance(effect, WaitGroup)}
    if not waits or not is_self_contained(program):
        return
    proofs = AsyncGroupProofs(program)
    pending = proofs.pending_before(waits) if proofs.is_applicable else {}
    for step, started in pending.items():
        if waits[step].group not in map(proofs.group_of, started):
            yield step


def _effects(program: Program) -> Iterator[tuple[Step, Effect]]:
    return ((step, effect) for step in program.effectful_steps for effect in step.effects)
