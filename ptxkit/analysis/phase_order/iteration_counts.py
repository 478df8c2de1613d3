"""How far groups of threads have counted in loops whose number of iterations is the same unknown.

Source: PTX ISA, "Causality order" (what is known of the number does not depend on the order of the groups).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable

from ptxkit.analysis.limits import MAX_LOOP_SHIFT
from ptxkit.analysis.phase_order.comparisons import bounds
from ptxkit.analysis.values.uniform_terms import Atom, UniformTerm
from ptxkit.fast_dataclasses import dataclass, replace

Assumed = frozenset[tuple[tuple[Atom, int], int]]
Limits = tuple[int | None, int | None]


@dataclass(frozen=True, slots=True)
class LoopExit:
    """A branch that compares an unknown with how far a loop has counted: at its end, or a test for a later iteration.

    number: the unknown, or another description of what decides the branch. offset: the loop continues while the number
    is greater than the position of the group plus this offset. step: by how much an iteration advances the position.
    stays: the value of the predicate with which the loop continues. advances: whether the next iteration follows.
    rest: the largest part of the number that a loop in larger steps leaves to the code after it, as a mask of its
    lowest bits. continues: the same mask in a branch that counts this part; `alone` describes such a branch where no
    loop has counted before. others: the other numbers with which predicates in the loop compare its counter, and their
    steps. bounded: a number, a limit, and the same branch where the number is not less than that. is_of_all: whether an
    unknown number decides the predicate in all threads.
    """

    number: Hashable
    offset: int
    stays: int
    step: int = 1
    advances: bool = True
    rest: int = 0
    continues: int = 0
    alone: LoopExit | None = None
    others: tuple[tuple[Hashable, int], ...] = ()
    bounded: tuple[UniformTerm, int, LoopExit] | None = None
    is_of_all: bool = True

    @property
    def numbers(self) -> tuple[Hashable, ...]:
        """What may identify the number, depending on what is known."""
        simpler = [each for each in (self.alone, self.bounded[2] if self.bounded else None) if each is not None]
        own = [self.number, *(number for number, _ in self.others)]
        return tuple(dict.fromkeys([*own, *(number for each in simpler for number in each.numbers)]))

    def as_test(self, *, is_passed: bool) -> LoopExit:
        """Returns a test for a later iteration in the same loop, which may be executed after the loop's own exit."""
        offset = self.offset - self.step if is_passed else self.offset
        return self._change_all(
            lambda each: each.as_test(is_passed=is_passed), replace(self, offset=offset, advances=False, rest=0)
        )

    def with_others(self, others: tuple[tuple[Hashable, int], ...]) -> LoopExit:
        """Returns the exit of a loop in which predicates compare the counter with other numbers."""
        return self._change_all(lambda each: each.with_others(others), replace(self, others=others))

    def _change_all(self, change: Callable[[LoopExit], LoopExit], changed: LoopExit) -> LoopExit:
        """Returns a changed exit in which the exits that may stand for it are changed, too."""
        alone = None if self.alone is None else change(self.alone)
        bounded = None if self.bounded is None else (*self.bounded[:2], change(self.bounded[2]))
        return replace(changed, alone=alone, bounded=bounded)

    def start(self, groups: int) -> IterationCount:
        return IterationCount((), (Position(),) * groups, self.step)

    def under(self, assumed: Assumed) -> LoopExit:
        """Returns the same exit where an assumption makes a maximum in the number of iterations superfluous."""
        if self.bounded is None:
            return self
        number, least, simpler = self.bounded
        known = bounds(number, assumed)[0]
        return simpler if known is not None and known >= least else self

    def limits(self, assumed: Assumed) -> Limits:
        """Returns the least and the largest value of the number, None where it is not limited."""
        return bounds(self.number, assumed) if isinstance(self.number, UniformTerm) else (None, None)


@dataclass(frozen=True, slots=True)
class Position:
    """How far a group has counted.

    run: how many loops it has left before. units: None if it is too far ahead of others. left: the mask of the part of
    the number that the last loop has left, if the group has come out of it.
    """

    run: int = 0
    units: int | None = 0
    left: int = 0


@dataclass(frozen=True, slots=True)
class IterationCount:
    """What is known of one number, in the runs of loops one after the other.

    runs: for each run, the least and the largest number that it may be, None if there is no limit. at: the position of
    each group. step: the largest step of a loop. is_relative: whether the numbers of the first run are relative to an
    earlier position.
    """

    runs: tuple[Limits, ...]
    at: tuple[Position, ...]
    step: int
    is_relative: bool = False

    @property
    def is_initial(self) -> bool:
        """Whether nothing is known, as at the start."""
        return not self.runs and all(each == _FIRST for each in self.at)

    def continues(self, group: int, mask: int, most: int | None) -> bool:
        """Returns whether a group may count the lowest bits of the number next that are in a mask.

        It has left a loop that counts the others, or there are no others. most: the largest number that it may be.
        """
        at = self.at[group]
        return at.left == mask or (not at.left and at.units == 0 and most is not None and most <= mask)

    def is_possible(self, limits: Limits) -> bool:
        """Returns whether what is known can hold together with limits of the number."""
        known = (_both(run, limits) for run in self.runs[self.is_relative :])
        return all(least is None or most is None or least <= most for least, most in known)

    def decide(self, group: int, leaving: LoopExit, limits: Limits, *, stays: bool) -> IterationCount | None:
        """Returns what is known after a group has decided whether to stay in the loop; None if it can't decide so.

        limits: the least and the largest value of the number.
        """
        at = self.at[group]
        if leaving.continues:
            at = replace(at, left=leaving.continues)
        elif at.left:
            at = Position(at.run + 1)
        runs = list(self.runs)
        if at.run == len(runs):
            runs.append(limits)
        bound = None if at.units is None else at.units + leaving.offset
        least, most = runs[at.run]
        if at.run or not self.is_relative:
            least, most = _both((least, most), limits)
        if bound is not None and stays:
            if most is not None and bound >= most:
                return None
            least = bound + 1 if least is None else max(least, bound + 1)
        elif bound is not None:
            if least is not None and bound < least:
                return None
            most = bound if most is None else min(most, bound)
        runs[at.run] = (least, most)
        if leaving.advances:
            at = _advance(at, leaving) if stays else _leave(at, leaving)
        return self._with(group, at, tuple(runs), leaving.step)

    def follow(self, group: int, step: int, *, stays: bool) -> IterationCount:
        """Returns the same after a group has begun the next iteration of the loop, or left it."""
        at = self.at[group]
        if at.left:
            at = Position(at.run + 1)
        runs = self.runs if at.run < len(self.runs) else (*self.runs, (None, None))
        units = None if at.units is None else at.units + step
        return self._with(group, replace(at, units=units) if stays else Position(at.run + 1), runs, step)

    def _with(self, group: int, at: Position, runs: tuple[Limits, ...], step: int) -> IterationCount:
        every = (*self.at[:group], at, *self.at[group + 1 :])
        return replace(self, runs=runs, at=every, step=max(self.step, step))

    def normalize(self, relevant: Collection[int]) -> IterationCount:
        """Returns the same with numbers that repeat: only the differences of the groups that may decide again count."""
        first = min((self.at[group].run for group in relevant), default=len(self.runs))
        known = [self.at[group].units for group in relevant if self.at[group].run == first]
        base = min((each for each in known if each is not None), default=0)
        furthest = MAX_LOOP_SHIFT * self.step

        def relative(number: int | None, run: int) -> int | None:
            if number is None or run:
                return number
            return max(number - base, -furthest)  # below this limit, all decisions are the same

        def position(at: Position) -> Position:
            units = relative(at.units, at.run - first)
            if units is not None and units > furthest:
                units = None
            return Position(at.run - first, units, at.left)

        runs = [
            _within(relative(least, run), relative(most, run), furthest)
            for run, (least, most) in enumerate(self.runs[first:])
        ]
        at = tuple(position(each) if group in relevant else _FIRST for group, each in enumerate(self.at))
        is_relative = bool(base) or (self.is_relative and not first)
        return IterationCount(tuple(runs), at, self.step, is_relative and bool(runs))


_FIRST = Position()


def _advance(at: Position, leaving: LoopExit) -> Position:
    return replace(at, units=None if at.units is None else at.units + leaving.step)


def _leave(at: Position, leaving: LoopExit) -> Position:
    if not leaving.rest:
        return Position(at.run + 1)
    units = None if at.units is None else at.units + leaving.offset - leaving.rest
    return Position(at.run, units, leaving.rest)


def _both(first: Limits, second: Limits) -> Limits:
    """Returns the limits of a number that is within two of them."""
    least = max((each for each in (first[0], second[0]) if each is not None), default=None)
    most = min((each for each in (first[1], second[1]) if each is not None), default=None)
    return least, most


def _within(least: int | None, most: int | None, furthest: int) -> Limits:
    """Returns limits without those that are so far away that they need not be known."""
    if least is not None:
        least = None if least <= -furthest else min(least, 2 * furthest)
    if most is not None and most > 2 * furthest:
        most = None
    return least, most
