"""What decides whether the steps that no walk reached are executed: another guess, or another size, may lead there.

By control dependence: the branches that lead to a step, those that lead to these, and what feeds their conditions.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import cached_property

from ptxkit.analysis.certainty import Certainty
from ptxkit.analysis.program import Program, Step
from ptxkit.analysis.scenario import Launch

#: Missed steps that are looked at.
MAX_STEPS = 16


class Openings:
    """The branches of a program before what was missed. pointers: places of parameters that hold addresses."""

    def __init__(self, program: Program, launch: Launch, pointers: Collection[tuple[str, int]]) -> None:
        self._program = program
        self._launch = launch
        self._pointers = pointers

    @cached_property
    def _certainty(self) -> Certainty:
        return Certainty(self._program, self._launch)

    def branches(self, missed: Collection[Step], asked: Collection[Step]) -> frozenset[Step]:
        """Of the steps that were `asked` for a guess, the last ones that decide whether one of those is executed."""
        found: set[Step] = set()
        for step in list(missed)[:MAX_STEPS]:
            found.update(self._certainty.last_deciding(step, asked))
        return frozenset(found)

    def hang_on_sizes(self, missed: Collection[Step]) -> bool:
        """Whether an integer that the kernel is given decides whether one of those is executed."""
        return any(
            leaf.kind == "parameter" and not any(leaf.holds(place) for place in self._pointers)
            for step in list(missed)[:MAX_STEPS]
            for leaf in self._certainty.leaves(step, None)
        )
