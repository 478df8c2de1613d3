"""Determines which findings all runs have that lead to their instruction, whatever numbers are passed.

A kernel may compute with numbers on the path to a fault, so that one run proves nothing: the host may never pass those
numbers. If runs with several of them lead to the instruction, and each of those with whole tiles shows the fault, the
numbers only decide whether the instruction is executed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator
from typing import TypeAlias

from ptxkit.analysis.values.scenario import ParameterKey
from ptxkit.verifier.integer_guesses import LEAST_USUAL
from ptxkit.verifier.limits import MIN_AGREEING_NUMBERS

FindingKey: TypeAlias = tuple[str, int]
"""The code of a finding, and the offset of its instruction."""

Numbers: TypeAlias = tuple[tuple[ParameterKey, int], ...]
"""The integers that are chosen for a run, by their places."""

_TILE = 64
"""A number of which kernels for whole tiles support the multiples."""


class RunAgreement:
    """The numbers of the runs that show each finding, and those with which each instruction is executed."""

    def __init__(self) -> None:
        self._showing: dict[FindingKey, set[Numbers]] = defaultdict(set)
        self._executing: dict[int, set[Numbers]] = defaultdict(set)

    def note_run(self, numbers: Numbers, executed: frozenset[int]) -> None:
        """Notes the offsets of the instructions that a run with some numbers executes."""
        for offset in executed:
            self._executing[offset].add(numbers)

    def note_finding(self, numbers: Numbers, key: FindingKey) -> None:
        """Notes that a run with some numbers shows a finding."""
        self._showing[key].add(numbers)

    @property
    def places(self) -> list[ParameterKey]:
        """The places of all numbers of the runs."""
        return sorted({place for runs in self._executing.values() for numbers in runs for place, _ in numbers})

    def numbers_showing(self, key: FindingKey) -> list[Numbers]:
        """Returns the numbers of the runs that show a finding."""
        return sorted(self._showing[key])

    def is_shown_whatever_number(
        self, key: FindingKey, deciding: Collection[ParameterKey], *, in_global_memory: bool = False
    ) -> bool:
        """Returns whether runs with several numbers show a finding, and all with whole tiles that execute it.

        Smaller numbers than those of all runs that show it do not count, since loops may have too few iterations then.
        Two runs suffice if all their numbers are whole tiles. Where no such run executes the instruction, counts may
        decide that: then the numbers that do not decide it must be whole tiles, and several others must lead there.

        deciding: the places of the numbers that decide whether the instruction is executed. in_global_memory: whether
        two accesses meet there: numbers that do not fit the grid may cause that, so that several whole tiles must show
        it, and all that execute it.
        """
        shown = {each for each in self._showing[key] if _is_usual(each)}
        executing = {each for each in self._executing[key[1]] | shown if _is_usual(each)}
        whole = {each for each in executing if _is_whole(value for _, value in each)}
        if in_global_memory:
            return len(whole) >= MIN_AGREEING_NUMBERS and whole <= shown
        if whole:
            return _is_shown_from_some_on(whole, shown) and (
                len(shown) >= MIN_AGREEING_NUMBERS or len(whole & shown) > 1
            )
        others = {
            each
            for each in executing
            if any(place not in deciding for place, _ in each)
            and _is_whole(value for place, value in each if place not in deciding)
        }
        paths = {tuple(value for place, value in each if place in deciding) for each in others & shown}
        return _is_shown_from_some_on(others, shown) and len(paths) >= MIN_AGREEING_NUMBERS


def _is_shown_from_some_on(executing: set[Numbers], shown: set[Numbers]) -> bool:
    """Returns whether some runs show a finding, and none that executes its instruction with larger numbers does not."""
    showing = executing & shown
    return bool(showing) and not any(_is_below(each, other) for other in executing - shown for each in showing)


def _is_below(first: Numbers, second: Numbers) -> bool:
    return all(value <= other for (_, value), (_, other) in zip(first, second, strict=True))


def _is_usual(numbers: Numbers) -> bool:
    return all(value >= LEAST_USUAL for _, value in numbers)


def _is_whole(values: Iterator[int]) -> bool:
    return all(not value % _TILE for value in values)
