"""The unknown outcomes of branches that all threads of a role execute equally often, and in the same way.

The n-th outcome of such a branch is the same in all groups of threads that execute it. Only branches count that decide
whether ordering steps are executed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

from ptxkit.analysis.abstract_interpretation.uniform_execution import UniformExecution
from ptxkit.analysis.cfg.control_flow_graph import ControlFlowGraph, is_control_transfer
from ptxkit.analysis.ir.program import Step
from ptxkit.fast_dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class UniformBranch:
    """A branch whose outcomes all groups share. index: that of its step. stays: the outcome that is called `stays`."""

    index: int
    stays: int = 1

    @property
    def numbers(self) -> tuple[int]:
        """What identifies its outcomes."""
        return (self.index,)

    def start(self, groups: int) -> BranchOutcomes:
        return BranchOutcomes((), (0,) * groups)


@dataclass(frozen=True, slots=True)
class BranchOutcomes:
    """The outcomes of one branch that some groups have not executed yet, and how many of them each group has."""

    outcomes: tuple[bool, ...]
    at: tuple[int, ...]

    @property
    def is_initial(self) -> bool:
        """Whether nothing is known, as at the start."""
        return not self.outcomes and not any(self.at)

    def decide(self, group: int, *, stays: bool) -> BranchOutcomes | None:
        """Returns what is known after a group has taken a side; None if it can't."""
        place = self.at[group]
        if place < len(self.outcomes) and self.outcomes[place] != stays:
            return None
        outcomes = self.outcomes if place < len(self.outcomes) else (*self.outcomes, stays)
        return BranchOutcomes(outcomes, (*self.at[:group], place + 1, *self.at[group + 1 :]))

    def normalize(self, relevant: Collection[int]) -> BranchOutcomes:
        """Returns the same without the outcomes that no group will need."""
        first = min((self.at[group] for group in relevant), default=len(self.outcomes))
        at = tuple(place - first if group in relevant else 0 for group, place in enumerate(self.at))
        return BranchOutcomes(self.outcomes[first:], at)


def deciding_blocks(cfg: ControlFlowGraph, ordering: Iterable[Step]) -> set[int]:
    """Returns the blocks whose last step decides whether, or how often, ordering steps are executed."""
    deciding: set[int] = set()
    waiting = [cfg.block_of(step) for step in ordering]
    seen = set(waiting)
    while waiting:
        for block in cfg.control_dependences[waiting.pop()]:
            deciding.add(block)
            if block not in seen:
                seen.add(block)
                waiting.append(block)
    return deciding


def uniform_branches(
    cfg: ControlFlowGraph,
    execution: UniformExecution,
    deciding: Iterable[int],
    is_settled: Callable[[Step], bool],
    *,
    in_cluster: bool,
) -> dict[int, UniformBranch]:
    """Returns the branches with shared outcomes at the end of some blocks, by their index.

    is_settled: whether the position of a thread decides the guard of a step. in_cluster: whether the threads of several
    CTAs share the outcomes.
    """
    found: dict[int, UniformBranch] = {}
    for block in deciding:
        last = cfg.steps_of_block(block)[-1]
        is_branch = last.instruction.guard is not None and is_control_transfer(last)
        if is_branch and not is_settled(last) and execution.in_role(last, is_settled, in_cluster=in_cluster):
            found[last.index] = UniformBranch(last.index)
    return found
