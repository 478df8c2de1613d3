"""The writes by the generic proxy that no proxy fence orders before reads of the same bytes by the async proxy.

A fence of the writing thread before the barrier counts, and one of the reading thread after it.

Source: PTX ISA, "Proxies", "membar / fence: fence.proxy.async".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping

from ptxkit.analysis.intervals.cta_states import CtaStates, IntervalState
from ptxkit.analysis.intervals.interval_accesses import IntervalAccesses, StateAccess, solve_states
from ptxkit.analysis.ir.program import Step
from ptxkit.isa.effects import ProxyFence

Unfenced = Mapping[StateAccess, int]
"""The writes, each with the threads that have executed no fence since, as a bit mask."""


class UnfencedWrites:
    """The writes without a fence in one kernel.

    everyone: all threads, as a bit mask. may_share: whether two accesses may use the same bytes.
    """

    def __init__(
        self,
        states: CtaStates,
        accesses: IntervalAccesses,
        everyone: int,
        may_share: Callable[[StateAccess, StateAccess], bool],
    ) -> None:
        self._accesses, self._everyone = accesses, everyone
        self.pairs: dict[Step, set[Step]] = defaultdict(set)
        if not any(is_async_read(each) for state in states.states for each in accesses.of_state(state)):
            return
        before = solve_states(states, self._leave, self._follow, _join)
        for state in states.states:
            unfenced = dict(before.get(state, {}))
            for item in self._items(state):
                if isinstance(item, StateAccess) and is_async_read(item):
                    self.pairs[item.step].update(
                        write.step
                        for write, threads in unfenced.items()
                        if threads & item.threads and may_share(write, item)
                    )
                self._apply(item, unfenced)

    def _items(self, state: IntervalState) -> Iterator[StateAccess | int]:
        """Yields the accesses of a state, and for each proxy fence the threads that execute it, in order."""
        for step, accesses in self._accesses.by_step(state):
            yield from accesses
            if any(map(is_shared_fence, step.effects)):
                yield self._accesses.executing(state, step)

    def _leave(self, state: IntervalState, unfenced: dict[StateAccess, int]) -> None:
        for item in self._items(state):
            self._apply(item, unfenced)

    def _apply(self, item: StateAccess | int, unfenced: dict[StateAccess, int]) -> None:
        if isinstance(item, StateAccess):
            if item.writes and item.effect.proxy == "generic":
                unfenced[item] = item.threads
            return
        for access, threads in list(unfenced.items()):
            if threads & ~item:
                unfenced[access] = threads & ~item
            else:
                del unfenced[access]

    def _follow(self, unfenced: Unfenced, threads: int, state: IntervalState) -> Unfenced:
        if state.barrier is not None:
            return dict.fromkeys(unfenced, self._everyone)
        return {each: own & threads for each, own in unfenced.items() if own & threads}


def _join(first: Unfenced, second: Unfenced) -> Unfenced:
    return {each: first.get(each, 0) | second.get(each, 0) for each in {**first, **second}}


def is_shared_fence(effect: object) -> bool:
    """Returns whether an effect is a proxy fence between all accesses to shared memory."""
    if not isinstance(effect, ProxyFence) or (effect.proxy, effect.direction) != ("async", "both"):
        return False
    return not effect.spaces or any(space.startswith("shared") for space in effect.spaces)


def is_async_read(access: StateAccess) -> bool:
    """Returns whether the async proxy reads in an access."""
    return access.effect.proxy == "async" and access.effect.kind != "write"
