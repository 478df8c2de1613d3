"""Finds the accesses to shared memory that no execution reached, although some launch may reach them.

The races of a kernel are those between accesses that executions reached, so that nothing is known about the others.
Code is left out where it never runs. A thread that executed a branch, and did not take one of its sides, never takes it
if only constants and the thread's number decide the branch, or if its condition has one value on all paths. This is the
case with the remainder of a loop whose length the block's size determines, and with an unrolled loop of which a minimum
bounds the length.
"""

from __future__ import annotations

from functools import cached_property
from operator import is_
from typing import TYPE_CHECKING

from ptxkit.analysis.abstract_interpretation.abstract_values import integers_in
from ptxkit.analysis.abstract_interpretation.register_values import AbstractRegisters
from ptxkit.analysis.cfg.reachability import reachable_steps
from ptxkit.analysis.cfg.reaching_definitions import ReachingDefinitions
from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.ir.step_registers import guard_registers, read_registers
from ptxkit.analysis.ir.worklist import Worklist
from ptxkit.isa.effects import Access, Effect
from ptxkit.syntax.tree import Name

if TYPE_CHECKING:
    from ptxkit.analysis.symexec.exploration import Exploration
    from ptxkit.analysis.symexec.explorer import Explorer

#: The special registers whose values all executions of all threads of the block have seen.
_POSITION = ("%tid.x", "%laneid", "%lanemask", "WARP_SZ")


def unreached_shared_accesses(explorer: Explorer) -> list[Step]:
    """Returns the accesses to shared memory that no execution reached and that may conflict with others.

    Asynchronous accesses are not among them: `Explorer.unreached_steps` has those. The result is empty where nothing
    writes to shared memory.
    """
    program = explorer.program
    accesses = [step for step in program.effectful_steps if any(map(_is_shared_access, step.effects))]
    if not any(map(_may_write_shared, (effect for step in program.effectful_steps for effect in step.effects))):
        return []
    covered = explorer.covered_steps()
    missed = [step for step in accesses if step not in covered]
    own = [step for step in missed if program.contains(step)]
    others = [step for step in missed if step not in own and step in reachable_steps(program.function_of(step))]
    return [*explorer.unreached_code.possible_steps(own), *others]


def _is_shared_access(effect: Effect) -> bool:
    return (
        isinstance(effect, Access)
        and effect.space.startswith("shared")
        and effect.proxy == "generic"
        and effect.completion is None
    )


def _may_write_shared(effect: Effect) -> bool:
    return isinstance(effect, Access) and effect.kind != "read" and effect.space.startswith(("shared", "generic"))


class UnreachedCode:
    """The code of a kernel that no execution reached, and some thread may reach in some launch."""

    def __init__(self, explorer: Explorer) -> None:
        self._explorer, self._program = explorer, explorer.program
        self._cfg = explorer.input_independence.cfg
        self._definitions = self._program.analysis(ReachingDefinitions)
        self._decided: dict[int, bool] = {}
        self._examined: list[Exploration] = []
        self._enterable: set[int] = set()

    def possible_steps(self, missed: list[Step]) -> list[Step]:
        """Returns the steps that some launch may reach."""
        if not missed:
            return []
        executed = self._explorer.explorations
        if not self._examined or len(executed) != len(self._examined) or not all(map(is_, executed, self._examined)):
            self._examined = list(executed)
            self._enterable = set().union(*map(self._enterable_blocks, self._covered_blocks()))
        return [step for step in missed if self._cfg.block_of(step) in self._enterable]

    def _covered_blocks(self) -> set[frozenset[int]]:
        """Returns the blocks that each thread reached in any execution; equal sets of different threads only once."""
        nothing: frozenset[int] = frozenset()
        by_thread = dict.fromkeys(range(self._explorer.launch.threads), nothing)
        for exploration in self._explorer.explorations:
            for group in exploration.groups:
                blocks = {
                    block
                    for block, start in enumerate(self._cfg.block_starts)
                    if self._program.steps[start] in group.covered_steps
                }
                unions: dict[frozenset[int], frozenset[int]] = {}  # most threads of a group reached the same before
                for tid in group.tids:
                    before = by_thread.get(tid, nothing)
                    if before not in unions:
                        unions[before] = before | blocks
                    by_thread[tid] = unions[before]
        return set(by_thread.values())

    def _enterable_blocks(self, covered: frozenset[int]) -> set[int]:
        """Returns the blocks that a thread which reached some blocks may reach in any launch."""
        blocks = Worklist([0])
        for block in blocks:
            blocks.add(
                each
                for each in self._cfg.successors[block]
                if each in covered or block not in covered or not self._is_decided(block)
            )
        return blocks.seen

    def _is_decided(self, block: int) -> bool:
        """Returns whether a thread leaves a block to the same side whenever it is there."""
        if block not in self._decided:
            launch, branch = self._explorer.launch, self._cfg.steps_of_block(block)[-1]
            fixed = (launch.is_exact or launch.is_limit) and launch.block[1:] == (1, 1)
            self._decided[block] = self._program.is_fully_matched and (
                (fixed and self._depends_on_position(branch)) or self._is_constant(branch)
            )
        return self._decided[block]

    def _is_constant(self, branch: Step) -> bool:
        """Returns whether the condition of a branch has the same value on all paths."""
        guard = branch.instruction.guard
        found = None if guard is None else integers_in(self._values.value_at(branch, Name(guard.predicate)))
        return found is not None and found.is_single

    @cached_property
    def _values(self) -> AbstractRegisters:
        return self._program.analysis(AbstractRegisters)

    def _depends_on_position(self, branch: Step) -> bool:
        """Returns whether only constants and the thread's number decide the condition of a branch.

        Each register on which it depends has one definition there, as the path to one of several decides the value.
        """
        dependence = self._explorer.input_independence.dependence
        uses = Worklist([(branch, register) for register in guard_registers(branch)])
        for place, register in uses:
            _, leaves = dependence.direct_dependences(register)
            definitions = self._definitions.definitions_reaching(place, register)
            if len(definitions) != 1 or any(
                leaf.kind != "special" or not leaf.name.startswith(_POSITION) for leaf in leaves
            ):
                return False
            (source,) = definitions
            uses.add((source, name) for name in read_registers(source) if not name.startswith(_POSITION))
        return bool(uses.seen)
