"""Determines which threads of a CTA may execute an instruction, and on which paths they come to it.

The position of a thread in its block, and whether it is the elected lane of its warp, decide the guards of most roles:
one thread, one warp, some warpgroups. Guards that data or arguments decide exclude no thread.

Source: PTX ISA, "Predicated Execution", "Special Registers: %tid", "elect.sync".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property
from typing import TypeAlias

from ptxkit.analysis.abstract_interpretation.thread_vectors import ThreadVectors
from ptxkit.analysis.abstract_interpretation.value_graph import ValueGraph
from ptxkit.analysis.cfg.control_flow_graph import ControlFlowGraph
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.syntax.constants import WARP_SIZE

Roles: TypeAlias = frozenset[int]
"""Represented threads of `ThreadVectors`: those below its `threads` are not elected, the others are elected lanes."""


class ThreadRoles:
    """The threads that may execute the steps of one function with known paths."""

    def __init__(self, program: Program) -> None:
        self.program, self.cfg = program, program.analysis(ControlFlowGraph)
        self.vectors = ThreadVectors(program, ValueGraph(program, self.cfg), self._coming_from)
        self.everyone: Roles = frozenset(range(2 * self.vectors.threads))
        self._of_block: dict[int, Roles] = {}
        self._of_guard: dict[int, Roles | None] = {}
        self._reached: dict[object, dict[int, set[tuple[int, int]]]] = {}

    def executing(self, step: Step) -> Roles:
        """Returns the threads that may execute a step: all others are excluded by guards and branches."""
        found = self._arriving.get(self.cfg.block_of(step), frozenset())
        guarded = self.passing_guard(step)
        return found if guarded is None else found & guarded

    def passing_guard(self, step: Step) -> Roles | None:
        """Returns the threads whose guard of a step is true; None if other things than their positions decide it."""
        guard = step.instruction.guard
        if guard is None:
            return self.everyone
        if step.index not in self._of_guard:
            vector = self.vectors.predicate(step, guard.predicate)
            self._of_guard[step.index] = (
                None
                if vector is None
                else frozenset(role for role, value in enumerate(vector) if bool(value) != guard.negated)
            )
        return self._of_guard[step.index]

    def is_one_thread(self, roles: Roles) -> bool:
        """Returns whether roles are of one thread of a CTA, or of the elected lane of one warp."""
        count = self.vectors.threads
        if not roles:
            return False
        if len({role % count for role in roles}) == 1:
            return True
        return min(roles) >= count and len({self.vectors.warps[role] for role in roles}) == 1

    def least_block(self, roles: Roles) -> int | None:
        """Returns the least number of threads of a block that certainly has one with one of some roles.

        The result is None if a block of that number of threads may have none: an elected lane may have another role.
        """
        count, warps = self.vectors.threads, self.vectors.warps
        threads = [tid + 1 for tid in range(count) if {tid, tid + count} <= roles]
        elected = {warps[role] for role in roles if role >= count}
        excluded = {warps[role] for role in range(count, 2 * count) if role not in roles}
        return min((*threads, *(warp * WARP_SIZE + 1 for warp in elected - excluded)), default=None)

    def may_come_to(
        self, roles: Roles, goal: Step, avoiding: frozenset[Step] = frozenset(), start: Step | None = None
    ) -> bool:
        """Returns whether a thread with one of some roles may come to a step without executing some other steps.

        start: the step after which the paths begin; None for the entry.
        """
        key = (roles, avoiding, start)
        if key not in self._reached:
            self._reached[key] = self._reach(roles, avoiding, start)
        return any(first <= goal.index <= last for first, last in self._reached[key][self.cfg.block_of(goal)])

    def _reach(self, roles: Roles, avoiding: frozenset[Step], start: Step | None) -> dict[int, set[tuple[int, int]]]:
        """Returns the first and the last step of each part of a block that threads may come to, by block."""
        found: dict[int, set[tuple[int, int]]] = defaultdict(set)
        ends: dict[int, list[int]] = defaultdict(list)
        for step in avoiding:
            if self._certainly_executes(step, roles):
                ends[self.cfg.block_of(step)].append(step.index)
        starts = self.cfg.block_starts
        waiting = [(0, 0)] if start is None else [(self.cfg.block_of(start), start.index + 1)]
        while waiting:
            block, first = waiting.pop()
            after = starts[block + 1] if block + 1 < len(starts) else len(self.program.steps)
            last = min((index for index in ends[block] if index >= first), default=after)
            if (first, last) in found[block]:
                continue
            found[block].add((first, last))
            if last == after:
                waiting.extend((each, starts[each]) for each in self._successors(block, roles))
        return found

    def _certainly_executes(self, step: Step, roles: Roles) -> bool:
        guarded = self.passing_guard(step)
        return guarded is not None and roles <= guarded

    def _successors(self, block: int, roles: Roles) -> Iterator[int]:
        """Yields the blocks that threads with some roles may come to after a block."""
        for following in self.cfg.successors[block]:
            passing = self._passing_edge(block, following)
            if passing is self.everyone or not roles.isdisjoint(passing):
                yield following

    @cached_property
    def _arriving(self) -> dict[int, Roles]:
        """The threads that may come to each block on some path, by all branches on it."""
        found: dict[int, Roles] = {0: self.everyone}
        waiting = [0]
        while waiting:
            block = waiting.pop()
            for following in self.cfg.successors[block]:
                known = found.get(following)
                joined = (found[block] & self._passing_edge(block, following)) | (known or frozenset())
                if joined != known:
                    found[following] = joined
                    waiting.append(following)
        return found

    def _block(self, block: int) -> Roles:
        """Returns the threads that may come to a block, by the branches that dominate it."""
        passed: list[int] = []
        at: int | None = block
        while at is not None and at not in self._of_block:
            passed.append(at)
            at = self.cfg.dominators.parents[at]
        found = self.everyone if at is None else self._of_block[at]
        for each in reversed(passed):
            predecessors = self.cfg.predecessors[each]
            if len(predecessors) == 1 and each != 0:
                found &= self._passing_edge(predecessors[0], each)
            self._of_block[each] = found
        return found

    def _passing_edge(self, block: int, following: int) -> Roles:
        """Returns the threads that may come from one block to another, which follows it."""
        side = self.cfg.guarded_side(block, following)
        guarded = self.passing_guard(self.cfg.steps_of_block(block)[-1]) if side is not None else None
        if guarded is None:
            return self.everyone
        return guarded if side else self.everyone - guarded

    def _coming_from(self, block: int, following: int) -> Roles:
        """Returns the threads that may come to a block from another one, by the branches that dominate the edge."""
        return self._block(block) & self._passing_edge(block, following)
