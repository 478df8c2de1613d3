"""What decides whether the steps that no walk reached are executed: another guess, or another size, may lead there.

By control dependence: the branches that lead to a step, those that lead to these, and what feeds their conditions.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import cached_property

from ptxkit.analysis.certainty import Certainty
from ptxkit.analysis.definitions import Definitions
from ptxkit.analysis.dependence import Leaf
from ptxkit.analysis.program import Program, Step
from ptxkit.analysis.scenario import Launch
from ptxkit.syntax.tree import Integer

#: Missed steps that are looked at.
MAX_STEPS = 16


class Openings:
    """The branches of a program before what was missed. pointers: places of parameters that hold addresses."""

    def __init__(self, program: Program, launch: Launch, pointers: Collection[tuple[str, int]]) -> None:
        self._program = program
        self._launch = launch
        self._pointers = pointers
        self._definitions = Definitions(program)

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
            self._is_size(leaf) for step in list(missed)[:MAX_STEPS] for leaf in self._certainty.leaves(step, None)
        )

    def sizes(self, missed: Collection[Step]) -> tuple[int, ...]:
        """The constants that such integers are compared with on the way to one of those, each once; and the numbers
        behind them."""
        found: dict[int, None] = {}
        for step in list(missed)[:MAX_STEPS]:
            for deciding, _ in self._certainty.decided_by(step, set()):
                found.update((number + more, None) for number in self._compared(deciding) for more in (0, 1))
        return tuple(found)

    def _compared(self, deciding: Step) -> Iterator[int]:
        """The constants that the predicate of a branch, or of a step, is made from by a comparison with a size."""
        guard = deciding.instruction.guard
        if guard is None:
            return
        for source in self._definitions.before(deciding, deciding.scope.register(guard.predicate)):
            constants = [each.value for each in source.instruction.operands if isinstance(each, Integer)]
            others = (each for each in source.instruction.operands[1:] if not isinstance(each, Integer))
            if constants and any(
                self._is_size(leaf) for each in others for leaf in self._certainty.dependence.of(source, each)
            ):
                yield from constants

    def _is_size(self, leaf: Leaf) -> bool:
        return leaf.kind == "parameter" and not any(leaf.holds(place) for place in self._pointers)
