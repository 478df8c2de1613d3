"""Which instructions may come before others, and behind them, on some path through a function.

An instruction may come before itself only round a loop. What a called function does has no place here: it counts as
coming both before all others and behind them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from ptxkit.analysis.flow import Flow
from ptxkit.analysis.program import Program, Step


class Steps:
    """Steps of one program, and all of others."""

    def __init__(self, program: Program, inside: Collection[int] | None) -> None:
        self._program = program
        self._inside = inside

    def __contains__(self, step: Step) -> bool:
        steps = self._program.steps
        own = step.index < len(steps) and steps[step.index] is step
        return not own or self._inside is None or step.index in self._inside


class Reach:
    """Reachability between the steps of one program."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._flow = Flow(program)

    def of(self, steps: Iterable[Step]) -> Steps:
        """The steps that may come behind one of these, and these."""
        return self._spread(steps, self._flow.after, forward=True)

    def to(self, steps: Iterable[Step]) -> Steps:
        """The steps that may come before one of these, and these."""
        return self._spread(steps, self._flow.before, forward=False)

    def _spread(self, steps: Iterable[Step], next_of: list[tuple[int, ...]], *, forward: bool) -> Steps:
        own = self._program.steps
        found: set[int] = set()
        waiting: list[int] = []
        for step in steps:
            if step.index >= len(own) or own[step.index] is not step:
                return Steps(self._program, None)
            block = self._flow.block_of(step)
            found.update(each.index for each in self._flow.steps(block) if (each.index >= step.index) is forward)
            found.add(step.index)
            waiting.extend(next_of[block])
        seen: set[int] = set()
        while waiting:
            block = waiting.pop()
            if block not in seen:
                seen.add(block)
                found.update(each.index for each in self._flow.steps(block))
                waiting.extend(next_of[block])
        return Steps(self._program, found)


def reachable(program: Program) -> Steps:
    """The steps to which some path from the beginning of a program leads; nothing executes the others."""
    return Reach(program).of(program.steps[:1])
