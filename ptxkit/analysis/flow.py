"""The basic blocks of a function and where control goes from each: for questions about paths that no walk answers."""

from __future__ import annotations

from bisect import bisect_right
from functools import cached_property

from ptxkit.analysis.definitions import successors
from ptxkit.analysis.program import Program, Step
from ptxkit.isa.effects import Control


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
        found: list[list[int]] = [[] for _ in self.starts]
        for block, following in enumerate(self.after):
            for other in following:
                found[other].append(block)
        return [tuple(each) for each in found]

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


def leaves(step: Step) -> bool:
    """Whether control may go elsewhere than to the next step for good: a branch, a return, an exit."""
    effects = step.match.effects if step.match is not None else ()
    return any(isinstance(effect, Control) and effect.kind != "call" for effect in effects)
