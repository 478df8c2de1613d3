"""The basic blocks of a function and where control goes from each: for questions about paths that no walk answers."""

from __future__ import annotations

from bisect import bisect_right
from functools import cached_property

from ptxkit.analysis.definitions import successors
from ptxkit.analysis.dominance import Dominance, reversed_graph
from ptxkit.analysis.loops import Loop, Loops
from ptxkit.analysis.program import Program, Step
from ptxkit.isa.effects import Control
from ptxkit.syntax.tree import Name


class Flow:
    """Control flow by blocks, numbered in the order of the text; `starts` are the indices of their first steps.

    A call does not end a block; where an indexed branch leads is in its `.branchtargets`.
    """

    def __init__(self, program: Program) -> None:
        self._program = program
        leaders = {0, *program.entries}
        leaders.update(step.index + 1 for step in program.steps if leaves(step))
        self.starts = sorted(leader for leader in leaders if leader < len(program.steps))

    def block_of(self, step: Step) -> int:
        """The block that a step is in."""
        return bisect_right(self.starts, step.index) - 1

    def steps(self, block: int) -> tuple[Step, ...]:
        """The steps of a block."""
        end = self.starts[block + 1] if block + 1 < len(self.starts) else len(self._program.steps)
        return self._program.steps[self.starts[block] : end]

    @cached_property
    def after(self) -> list[tuple[int, ...]]:
        """By block: those that may come next; none behind the end of the function."""
        found = []
        for block in range(len(self.starts)):
            targets = successors(self._program, self.steps(block)[-1])
            found.append(tuple(dict.fromkeys(self.block_of(self._program.steps[index]) for index in targets)))
        return found

    @cached_property
    def before(self) -> list[tuple[int, ...]]:
        """By block: those that may come just before it."""
        return reversed_graph(self.after)

    @cached_property
    def ends(self) -> tuple[int, ...]:
        """The blocks from which a thread may leave the function in an orderly way: it returns, exits, or comes to the
        end of the text. A trap is no such way."""
        return tuple(block for block in range(len(self.starts)) if self._ends(self.steps(block)[-1]))

    @cached_property
    def dominators(self) -> Dominance:
        """Which blocks every path from the beginning to a block passes."""
        return Dominance(self.after, (0,))

    @cached_property
    def post_dominators(self) -> Dominance:
        """Which blocks every path from a block to an end passes; what never ends has none but itself."""
        return Dominance(self.before, self.ends)

    @cached_property
    def loops(self) -> Loops:
        """The loops of blocks."""
        return Loops(self.after)

    @cached_property
    def deciding(self) -> list[tuple[int, ...]]:
        """By block: the blocks whose last step decides whether control comes to it (control dependence).

        A block decides where it may go two ways, one of which surely leads to the other block, and the other may not.
        """
        found: list[list[int]] = [[] for _ in self.starts]
        behind = self.post_dominators
        for block, following in enumerate(self.after):
            if len(following) + (block in self.ends) < 2:
                continue
            stop = behind.parents[block]
            for other in following:
                at: int | None = other
                while at is not None and at != stop and block not in found[at][-1:]:
                    found[at].append(block)
                    at = behind.parents[at]
        return [tuple(each) for each in found]

    def dominates(self, first: Step, step: Step) -> bool:
        """Whether every path to a step passes the place of the first one. Whether that is executed, its guard says."""
        here, there = self.block_of(first), self.block_of(step)
        return first.index <= step.index if here == there else self.dominators.dominates(here, there)

    def post_dominates(self, last: Step, step: Step) -> bool:
        """Whether every path from a step to an end of the function passes the place of the last one."""
        here, there = self.block_of(last), self.block_of(step)
        return last.index >= step.index if here == there else self.post_dominators.dominates(here, there)

    def loop_of(self, step: Step) -> Loop | None:
        """The innermost loop that a step is in."""
        return self.loops.around(self.block_of(step))

    def repeats(self, step: Step) -> bool:
        """Whether a thread may come to a step more than once."""
        return self.loop_of(step) is not None

    def between(self, block: int) -> set[int] | None:
        """The blocks that may be executed from the end of one on until its paths meet again (where they do not: until
        an end); itself, where it is in a loop that ends later. None where its last step decides nothing."""
        following = self.after[block]
        if len(following) + (block in self.ends) < 2:
            return None
        stop = self.post_dominators.parents[block]
        seen: set[int] = set()
        waiting = list(following)
        while waiting:
            at = waiting.pop()
            if at not in seen and at != stop:
                seen.add(at)
                waiting.extend(self.after[at])
        return seen

    def _ends(self, step: Step) -> bool:
        controls = [effect for effect in step.effects if isinstance(effect, Control)]
        kinds = {effect.kind for effect in controls} - {"call"}
        if kinds & {"return", "exit"}:
            return True
        goes_on = not kinds or step.instruction.guard is not None
        end = len(self._program.steps)
        return (goes_on and step.index + 1 == end) or end in _targets(step)

    def reachable(self, blocks: tuple[int, ...]) -> set[int]:
        """The blocks that control may come to from any of these, themselves included."""
        seen = set(blocks)
        waiting = list(blocks)
        while waiting:
            for block in self.after[waiting.pop()]:
                if block not in seen:
                    seen.add(block)
                    waiting.append(block)
        return seen


def _targets(step: Step) -> list[int]:
    """Where a branch may go, the end of the text included."""
    last = step.instruction.operands[-1] if step.instruction.operands else None
    if not isinstance(last, Name) or not leaves(step):
        return []
    names = (last.text, *step.scope.branch_targets(last.text))
    return [target for name in names if (target := step.scope.label(name)) is not None]


def leaves(step: Step) -> bool:
    """Whether control may go elsewhere than to the next step for good: a branch, a return, an exit."""
    effects = step.effects
    return any(isinstance(effect, Control) and effect.kind != "call" for effect in effects)
