"""Solves forward dataflow problems: the least state at the start of each block that holds on all paths to it.

A domain has finite chains: joining more states changes a state a limited number of times. The result then is the least
fixed point, in whatever order the blocks are visited.

Source: Kildall, "A Unified Approach to Global Program Optimization"; Kam and Ullman, "Monotone Data Flow Analysis
Frameworks".
"""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heappop, heappush
from typing import Generic, Protocol, TypeVar

from ptxkit.analysis.abstract_interpretation.path_cases import PathCase
from ptxkit.analysis.ir.program import Step

State = TypeVar("State")


class Domain(Protocol[State]):
    """The states of an analysis of one thread, and the effect of an instruction on them."""

    def entry(self) -> State:
        """Returns the state at the start of the function."""

    def join(self, first: State, second: State) -> State:
        """Returns the least state that describes what either state describes."""

    def transfer(self, step: Step, state: State) -> State:
        """Returns the state after the execution of a step; the given state is not changed."""

    def is_relevant(self, step: Step) -> bool:
        """Returns whether a step may change a state."""


class ForwardSolution(Generic[State]):
    """The least fixed point of a domain on the paths of one case."""

    def __init__(self, case: PathCase, domain: Domain[State]) -> None:
        self._case, self._domain = case, domain
        cfg = case.cfg
        self._steps = [
            [step for step in cfg.steps_of_block(block) if domain.is_relevant(step)]
            for block in range(len(cfg.block_starts))
        ]
        self._at_start: dict[int, State] = {}
        self._solve()

    def _solve(self) -> None:
        if not self._steps:
            return
        self._at_start[0] = self._domain.entry()
        waiting, queued = [0], {0}
        while waiting:
            block = heappop(waiting)
            queued.discard(block)
            state = self._after(block)
            for following in self._case.successors(block):
                known = self._at_start.get(following)
                joined = state if known is None else self._domain.join(known, state)
                if known is None or joined != known:
                    self._at_start[following] = joined
                    if following not in queued:
                        queued.add(following)
                        heappush(waiting, following)

    def _after(self, block: int) -> State:
        state = self._at_start[block]
        for step in self._steps[block]:
            state = self.apply(step, state)
        return state

    def apply(self, step: Step, state: State) -> State:
        """Returns the state after a step that is executed, is not, or may be."""
        executes = self._case.executes(step)
        if executes is False:
            return state
        after = self._domain.transfer(step, state)
        return after if executes else self._domain.join(state, after)

    def states_before(self, block: int) -> Iterator[tuple[Step, State]]:
        """Yields the relevant steps of a block that some path reaches, each with the state before it."""
        if block not in self._at_start:
            return
        state = self._at_start[block]
        for step in self._steps[block]:
            yield step, state
            state = self.apply(step, state)

    def state_at_end(self, block: int) -> State | None:
        """Returns the state after the last step of a block; None if no path reaches it."""
        return self._after(block) if block in self._at_start else None
