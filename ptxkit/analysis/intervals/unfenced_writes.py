"""The writes by the generic proxy that no proxy fence orders before reads of the same bytes by the async proxy.

A fence of the writing thread before the barrier counts, and one of the reading thread after it.

Source: PTX ISA, "Proxies", "membar / fence: fence.proxy.async".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping

from ptxkit.analysis.intervals.cta_states import CtaStates, IntervalState
from ptxkit.analysis.intervals.interval_accesses import IntervalAccesses, StateAccess, solve_states
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.isa.effects import ProxyFence

Unfenced = Mapping[StateAccess, int]
"""The writes, each with the threads that have executed no fence since, as a bit mask."""


class UnfencedWrites:
    """The writes without a fence in one kernel.

    everyone: all threads, as a bit mask. may_share: whether two accesses may use the same bytes.
    """

    def __init__(
        self,
        program: Program,
        states: CtaStates,
        accesses: IntervalAccesses,
        everyone: int,
        may_share: Callable[[StateAccess, StateAccess], bool],
    ) -> None:
        self._program, self._accesses, self._everyone = program, accesses, everyone
        self.pairs: dict[Step, set[Step]] = defaultdict(set)
        if not any(_is_async_read(each) for state in states.states for each in accesses.of_state(state)):
            return
        before = solve_states(states, self._leave, self._follow, _join)
        for state in states.states:
            unfenced = dict(before.get(state, {}))
            for step in self._steps_of(state):
                for access in self._of_step(state, step):
                    if _is_async_read(access):
                        self.pairs[step].update(
                            write.step
                            for write, threads in unfenced.items()
                            if threads & access.threads and may_share(write, access)
                        )
                self._apply(state, step, unfenced)

    def _steps_of(self, state: IntervalState) -> list[Step]:
        return [step for step in self._program.steps[state.first : state.end] if step.effects]

    def _of_step(self, state: IntervalState, step: Step) -> list[StateAccess]:
        return [each for each in self._accesses.of_state(state) if each.step is step]

    def _leave(self, state: IntervalState, unfenced: dict[StateAccess, int]) -> None:
        for step in self._steps_of(state):
            self._apply(state, step, unfenced)

    def _apply(self, state: IntervalState, step: Step, unfenced: dict[StateAccess, int]) -> None:
        for access in self._of_step(state, step):
            if access.writes and access.effect.proxy == "generic":
                unfenced[access] = access.threads
        if any(map(_is_fence, step.effects)):
            executing = self._accesses.executing(state, step)
            for access, threads in list(unfenced.items()):
                if threads & ~executing:
                    unfenced[access] = threads & ~executing
                else:
                    del unfenced[access]

    def _follow(self, unfenced: Unfenced, threads: int, state: IntervalState) -> Unfenced:
        if state.barrier is not None:
            return dict.fromkeys(unfenced, self._everyone)
        return {each: own & threads for each, own in unfenced.items() if own & threads}


def _join(first: Unfenced, second: Unfenced) -> Unfenced:
    return {each: first.get(each, 0) | second.get(each, 0) for each in {**first, **second}}


def _is_fence(effect: object) -> bool:
    if not isinstance(effect, ProxyFence) or (effect.proxy, effect.direction) != ("async", "both"):
        return False
    return not effect.spaces or any(space.startswith("shared") for space in effect.spaces)


def _is_async_read(access: StateAccess) -> bool:
    return access.effect.proxy == "async" and access.effect.kind != "write"
