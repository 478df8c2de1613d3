"""Determines which instructions all threads of a role execute equally often: of a warp, a warpgroup, or some of these.

This holds if what decides whether an instruction is executed has the same value in all threads of the role: it depends
on their positions only, and these agree, or on nothing that differs between the threads of a CTA.

Source: PTX ISA, "Predicated Execution", "Special Registers"; Coutinho et al., "Divergence Analysis and Optimizations".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection

from ptxkit.analysis.abstract_interpretation.thread_roles import Roles, ThreadRoles
from ptxkit.analysis.abstract_interpretation.uniform_execution import UniformExecution
from ptxkit.analysis.ir.program import Step


class RoleExecution:
    """The instructions of one kernel that the threads of roles execute equally often."""

    def __init__(self, roles: ThreadRoles, uniform: UniformExecution) -> None:
        self._roles, self._uniform = roles, uniform

    def is_equal(self, step: Step, parts: Collection[Roles]) -> bool:
        """Returns whether all threads of each part execute a step equally often."""

        def is_settled(deciding: Step) -> bool:
            guarded = self._roles.passing_guard(deciding)
            return guarded is not None and all(part <= guarded or part.isdisjoint(guarded) for part in parts)

        return self._uniform.in_role(step, is_settled)

    def groups_of(self, step: Step, size: int, *, may_be_partial: bool = False) -> int | None:
        """Returns the least number of threads of a block in which groups execute a step equally often, or not at all.

        size: the number of consecutive threads of a group. may_be_partial: whether the last group of the block may have
        fewer, all of which then execute the step. The result is 0 if all threads of the largest block may
        execute the step, and None if some threads of a group may execute it, and others not, or less often.
        """
        count = self._roles.vectors.threads
        groups: dict[int, set[int]] = defaultdict(set)
        for role in self._roles.executing(step):
            groups[role % count // size].add(role)
        parts = [frozenset(each) for each in groups.values()]
        most = {group: min(size, count - group * size) if may_be_partial else size for group in groups}
        if any(len(held) < 2 * most[group] for group, held in groups.items()) or not self.is_equal(step, parts):
            return None
        return 0 if len(parts) * size >= count else min(size * (max(groups, default=0) + 1), count)
