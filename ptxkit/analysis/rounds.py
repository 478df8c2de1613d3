"""How far a walk that finds nothing new is from the ways out of what it goes round in.

Most loops in which a walk ends for want of budget count: up to a size that it was given, or to a number. After some of
their rounds it can be told that no way out comes within the budget, and the walk may as well end there and then.

A way out counts where the predicate behind it compares two numbers whose distance changes by the same in each round.
What hangs on data has come by then, or nobody can tell when: only asynchronous kernels, whose rings come round late,
are walked on for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, TypeAlias

from ptxkit.analysis.budget import STALLED_ROUNDS
from ptxkit.analysis.lanes import IN_THREAD
from ptxkit.analysis.operands import Operands, Reader
from ptxkit.analysis.program import Step
from ptxkit.analysis.terms import Term, Value, of_lane, signed
from ptxkit.analysis.type_words import is_float, width_of
from ptxkit.isa import effects as fx
from ptxkit.isa.expressions import Call, Const
from ptxkit.records import dataclass
from ptxkit.syntax.tree import Name

if TYPE_CHECKING:
    from ptxkit.analysis.code import Block
    from ptxkit.analysis.walker import Walker

#: So many times in a row a distance changes by the same before it is said to count.
STEADY = 3
#: From which distance on the first number of an ordered comparison is not below the second.
_BELOW = {"lt": 0, "lo": 0, "ge": 0, "hs": 0, "le": 1, "ls": 1, "gt": 1, "hi": 1}
_EQUAL = ("eq", "ne")

Compared: TypeAlias = "tuple[str, str, Reader, Reader]"
"""A comparison: its operator, the type as which it reads numbers, and the numbers."""


@dataclass(frozen=True, slots=True, eq=False)
class _Way:
    """A guarded step. sides: the indices where control may go on, where it leaves (None: it ends the walk, or nobody
    knows)."""

    step: Step
    predicate: str
    leaves: bool
    sides: tuple[int, ...] | None


def _ways(block: Block) -> Iterator[_Way]:
    for step, guard, _ in block.steps:
        if guard is not None:
            predicate, _, _, leaves = guard
            yield _Way(step, predicate, leaves, _sides(step, block.after))


def _written(block: Block) -> Iterator[tuple[str, Compared | None]]:
    """The registers that a block writes, each with the comparison that gives its value."""
    for step, guard, _ in block.steps:
        operands = Operands(step, IN_THREAD)
        for effect in step.effects:
            target = operands.role(effect.result) if isinstance(effect, fx.Value) else None
            if isinstance(effect, fx.Value) and isinstance(target, Name):
                yield operands.scope.register(target.text), None if guard else _comparison(operands, effect)


def _sides(step: Step, after: int) -> tuple[int, ...] | None:
    kinds = [effect.kind for effect in step.effects if isinstance(effect, fx.Control)]
    target = step.instruction.operands[-1] if kinds == ["branch"] else None
    there = step.scope.label(target.text) if isinstance(target, Name) else None
    return None if there is None else (there, after)


def _comparison(operands: Operands, effect: fx.Value) -> Compared | None:
    match effect.value:
        case Call(function="compare", arguments=(Const(value=str(operator)), Const(value=str(kind)), left, right)):
            first, second = operands.evaluator(left), operands.evaluator(right)
            if first is not None and second is not None and not is_float(kind) and operator in (*_BELOW, *_EQUAL):
                return operator, kind, first, second
    return None


class _Count:
    """How far the two numbers of a comparison are from each other, for the first and the last thread of a group."""

    def __init__(self, compared: Compared) -> None:
        self._operator, self._kind, self._first, self._second = compared
        self.is_known = True
        self._distances: list[int] = []
        self._changes: list[int] = []
        self._steady = self._began = 0

    def note(self, walker: Walker) -> None:
        """Looks at them once more; never again where nobody knows the numbers."""
        if not self.is_known:
            return
        first, second = self._first(walker), self._second(walker)
        distances = [self._distance(of_lane(first, at), of_lane(second, at)) for at in {0, len(walker.tids) - 1}]
        before, self._distances = self._distances, [each for each in distances if each is not None]
        self.is_known = len(self._distances) == len(distances)
        if len(before) != len(distances) or not self.is_known:
            self._steady = 0
            return
        changes = [now - then for then, now in zip(before, self._distances, strict=True)]
        if changes != self._changes:
            self._changes, self._steady, self._began = changes, 0, walker.taken
        self._steady += 1

    def _distance(self, first: Value, second: Value) -> int | None:
        if isinstance(first, Term) or isinstance(second, Term):
            same = isinstance(first, Term) and isinstance(second, Term) and first.identity == second.identity
            return first.offset - second.offset if same else None  # type: ignore[union-attr]
        if self._kind.startswith("s"):
            width = width_of(self._kind)
            return signed(first, width) - signed(second, width)
        return first - second

    def is_beyond(self, taken: int, left: int) -> bool:
        """Whether the predicate surely stays as it is for so many more steps."""
        if self._steady < STEADY:
            return False
        each = (taken - self._began) / self._steady
        rounds = [self._rounds(*one) for one in zip(self._distances, self._changes, strict=True)]
        return all(number is None or number * each > left for number in rounds)

    def _rounds(self, distance: int, change: int) -> int | None:
        """After how many more rounds the predicate changes; None: never."""
        if not change:
            return None
        if self._operator in _EQUAL:
            rounds, rest = divmod(-distance, change)
            return 1 if not distance else None if rest or rounds < 0 else rounds
        missing = _BELOW[self._operator] - distance
        if missing > 0:
            return -(-missing // change) if change > 0 else None
        return -missing // -change + 1 if change < 0 else None


class Rounds:
    """The blocks that a walk goes round in. newest: how many steps it had taken when it last found something new."""

    def __init__(self, walker: Walker, newest: int) -> None:
        self.newest = newest
        self._is_patient = walker.code.is_asynchronous
        self._began = walker.taken
        self._counts: dict[int, list[_Count]] = {}
        self._length = 0
        self._ways: list[_Way] = []
        self._written: dict[str, _Count | None] = {}
        self._next = 0

    def note(self, walker: Walker, block: Block) -> None:
        """The walk is before a block of the code at hand."""
        first = block.after - block.length
        counts = self._counts.get(first)
        if counts is None:
            counts = self._counts[first] = self._counts_in(block)
            self._ways.extend(_ways(block))
            self._length += block.length
        for count in counts:
            count.note(walker)

    def _counts_in(self, block: Block) -> list[_Count]:
        found: list[_Count] = []
        for register, compared in _written(block):
            count = None if compared is None or register in self._written else _Count(compared)
            self._written[register] = count
            if count is not None:
                found.append(count)
        return found

    def are_endless(self, walker: Walker, until: int) -> bool:
        """Whether the walk surely finds nothing new before it has taken so many steps, as far as it has counted."""
        taken = walker.taken
        if taken - self._began <= STALLED_ROUNDS * self._length or taken < self._next:
            return False
        self._next = taken + self._length
        return all(self._stays(way, taken, until) for way in self._ways if self._leads_on(way, walker))

    def _leads_on(self, way: _Way, walker: Walker) -> bool:
        """Whether a guarded step leads, or is, where the walk was not since it began to count."""
        if not way.leaves:
            return way.step not in walker.trace.covered
        return way.sides is None or not all(side in self._counts for side in way.sides)

    def _stays(self, way: _Way, taken: int, until: int) -> bool:
        """Whether what guards a step stays as it is: nothing here writes it, or it counts to something far off; or
        nobody can tell, and that is not waited for."""
        if way.predicate not in self._written:
            return True
        count = self._written[way.predicate]
        if count is None or not count.is_known:
            return not self._is_patient
        return count.is_beyond(taken, until - taken)
