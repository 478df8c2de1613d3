"""Chooses runs by the instructions that they reach, so that the race checker works on runs that arrive.

Runs without the checks of races are made with many inputs. Of those that reach an instruction with an open question,
the fewest that reach all of them are chosen, those with few steps first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Generic, TypeVar

from ptxkit.fast_dataclasses import dataclass

_Input = TypeVar("_Input")


@dataclass(frozen=True, slots=True)
class ReachingRun(Generic[_Input]):
    """What a run with some inputs has shown. reached: the offsets of instructions; steps: of the run."""

    inputs: _Input
    reached: frozenset[int]
    steps: int


def choose_runs(tried: Iterable[ReachingRun[_Input]], asked: frozenset[int]) -> Iterator[ReachingRun[_Input]]:
    """Yields runs until all instructions are reached that any run reaches: first the one that reaches the most others.

    asked: the offsets of the instructions that should be reached.
    """
    left, runs = asked, list(tried)
    while left:
        best = max(runs, key=lambda each: (len(each.reached & left), -each.steps), default=None)
        if best is None or not best.reached & left:
            return
        yield best
        left -= best.reached
