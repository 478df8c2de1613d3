"""What a group of threads does between two steps that order something: its accesses, and where it may come to.

A group is a set of threads that execute the same ordering steps. Where they do not, the group must be divided.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from typing import TypeAlias

from ptxkit.analysis.intervals.cta_states import IntervalState
from ptxkit.analysis.intervals.interval_accesses import IntervalAccesses, StateAccess
from ptxkit.analysis.phase_order.comparisons import is_possible
from ptxkit.analysis.phase_order.order_state import SharedBranch
from ptxkit.analysis.phase_order.thread_states import Side, ThreadStates
from ptxkit.analysis.values.uniform_terms import Atom
from ptxkit.fast_dataclasses import dataclass, replace

Assumptions = Mapping[tuple[Atom, int], int]
"""The values of predicates that are unknown, but the same wherever they are computed."""
LocatedAccess: TypeAlias = tuple[IntervalState, StateAccess, int]
"""An access with its state and the threads that may execute it."""


class UnknownOrderError(Exception):
    """The order of the threads is not known, for a reason in words."""


class DividedGroupError(Exception):
    """The threads of a group do not execute the same steps: `parts` has those that do, as bit masks."""

    def __init__(self, parts: Collection[int]) -> None:
        super().__init__("the threads of a group execute different steps")
        self.parts = tuple(parts)


@dataclass(slots=True, eq=False)
class Segment:
    """A path through the states from a root to the next ordering steps.

    assumed: the predicates that were assumed in addition. decided: the shared branches that were passed, each with its
    side. ends: the states whose ordering step may be
    next; None stands for the end of the kernel.
    """

    assumed: Assumptions
    decided: tuple[tuple[SharedBranch, bool], ...]
    accesses: Sequence[LocatedAccess]
    ends: Sequence[IntervalState | None]

    def is_after(self, later: LocatedAccess, earlier: LocatedAccess) -> bool:
        """Returns whether a thread may execute one access after another one of the segment."""
        if later[0] is earlier[0] and later[1].step.index > earlier[1].step.index:
            return True
        seen, waiting = set[int](), list(_continuing(earlier[0]))
        while waiting:
            state = waiting.pop()
            if state is later[0]:
                return True
            if id(state) not in seen:
                seen.add(id(state))
                waiting.extend(_continuing(state))
        return False


def _continuing(state: IntervalState) -> Iterator[IntervalState]:
    if state.barrier is None:
        yield from state.following


@dataclass(frozen=True, slots=True)
class _Choices:
    """What is assumed on a path: the predicates, those of them that were added, and the sides of shared branches."""

    assumed: Assumptions
    added: Assumptions
    decided: Mapping[IntervalState, bool]

    def assume(self, key: tuple[Atom, int], value: int) -> _Choices:
        return replace(self, assumed={**self.assumed, key: value}, added={**self.added, key: value})

    def decide(self, state: IntervalState, *, stays: bool) -> _Choices:
        return replace(self, decided={**self.decided, state: stays})


class Segments:
    """The segments of one kernel.

    tracked: the unknown predicates that several branches test, with the blocks of these. shared: the branches whose
    outcomes groups share, by their index.
    """

    def __init__(
        self,
        states: ThreadStates,
        accesses: IntervalAccesses,
        tracked: Mapping[tuple[Atom, int], Collection[int]],
        shared: Mapping[int, SharedBranch],
    ) -> None:
        self._states = states
        self._accesses, self.tracked, self.shared = accesses, tracked, shared
        self._known: dict[tuple[IntervalState, int, frozenset[object]], list[Segment]] = {}

    def from_state(self, root: IntervalState, threads: int, assumed: Assumptions) -> Sequence[Segment]:
        """Returns the ways of a group from the state after an ordering step.

        Raises:
            DividedGroupError: some threads come to other steps than the others.
            UnknownOrderError: data may decide which threads come to a step.
        """
        key = (root, threads, frozenset(assumed.items()))
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = list(self._explore(root, threads, _Choices(assumed, {}, {})))
        return found

    def _explore(self, root: IntervalState, threads: int, choices: _Choices) -> Iterator[Segment]:
        reaching: dict[IntervalState, int] = {root: threads}
        waiting = deque([root])
        ends: dict[IntervalState | None, int] = {}
        divergent: list[IntervalState] = []
        while waiting:
            state = waiting.popleft()
            here = reaching[state]
            if state.barrier is not None or self._states.ends_kernel(state):
                end = state if state.barrier is not None else None
                ends[end] = ends.get(end, 0) | here
                continue
            for after, own, choice in self._departures(state):
                if isinstance(choice, Side) and not self._is_decided(state, choice) and here.bit_count() > 1:
                    divergent.append(state)
                passed = self._passing(state, choice, here, choices) if isinstance(choice, Side) else here
                if not isinstance(passed, int):
                    for more in passed:
                        yield from self._explore(root, threads, more)
                    return
                passed &= own
                if after is None and passed:
                    ends[None] = ends.get(None, 0) | passed
                elif after is not None and passed & ~reaching.get(after, 0):
                    reaching[after] = reaching.get(after, 0) | passed
                    waiting.append(after)
        self._divide(threads, ends)
        for state in divergent:
            if len(self._ends_after(state, reaching)) > 1:
                raise UnknownOrderError("data may divide the threads of a group")
        branches = tuple((self.shared[state.end - 1], stays) for state, stays in choices.decided.items())
        accesses = [
            (state, access, access.threads & here)
            for state, here in reaching.items()
            for access in self._accesses.of_state(state)
            if access.threads & here
        ]
        yield Segment(choices.added, branches, accesses, list(ends))

    def _is_decided(self, state: IntervalState, side: Side) -> bool:
        """Returns whether all threads take the same side of a branch."""
        return side.is_uniform or state.end - 1 in self.shared

    def _passing(self, state: IntervalState, side: Side, here: int, choices: _Choices) -> int | list[_Choices]:
        """Returns the threads that take a side of a branch, or what may be assumed about it if that matters.

        here: the threads that come to the branch.
        """
        if not here & side.threads:
            return here
        key, shared = (side.atom, side.offset), self.shared.get(state.end - 1)
        if key in choices.assumed:
            return here if choices.assumed[key] == side.value else here & ~side.threads
        if key in self.tracked:
            return [more for more in (choices.assume(key, value) for value in (0, 1)) if is_possible(more.assumed)]
        if shared is None or here & ~side.threads:
            return here
        if state not in choices.decided:
            return [choices.decide(state, stays=stays) for stays in (True, False)]
        return here if (side.value == shared.stays) == choices.decided[state] else 0

    def _departures(self, state: IntervalState) -> Iterator[tuple[IntervalState | None, int, Hashable]]:
        """Yields what may follow a state, None for the end of the kernel, with the threads and what decides it."""
        for after, own in state.following.items():
            yield after, own, state.choices.get(after)
        if state in self._states.leaving:
            yield None, *self._states.leaving[state]

    def _divide(self, threads: int, ends: Mapping[IntervalState | None, int]) -> None:
        """Raises an error if only some of the threads come to one of the ends."""
        parts = [threads]
        for own in ends.values():
            parts = [piece for part in parts for piece in (part & own, part & ~own) if piece]
        if len(parts) > 1:
            raise DividedGroupError(parts)

    def _ends_after(self, start: IntervalState, inside: Collection[IntervalState]) -> set[int]:
        seen, waiting, found = {id(start)}, [start], set[int]()
        while waiting:
            state = waiting.pop()
            if state.barrier is not None or self._states.ends_kernel(state):
                found.add(id(state) if state.barrier is not None else 0)
                continue
            if state in self._states.leaving:
                found.add(0)
            for after in state.following:
                if id(after) not in seen and after in inside:
                    seen.add(id(after))
                    waiting.append(after)
        return found
