"""One choice of the data that the host prepares for a kernel, as a witness for the branches that they decide.

A load from memory that only the host writes is an input, as an argument is. Its value remains an unknown for addresses
and operands, but a condition that is computed from such words is evaluated with one number for each word, for all
threads of all CTAs. A word gets its number when a condition first depends on it, and keeps it: the numbers are then a
memory with which a launch takes the path, however many conditions they decide.

The number of a word is `scale * (index + 1)`, where the index counts the words from where the pointer points to:
increasing, as offsets of sequences or experts are, and not zero. Where a step has decided so several times, as the test
for the end of a list does, a number is chosen with which the condition has its other side.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from typing import TypeAlias

from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.limits import MAX_INPUT_DEPTH
from ptxkit.analysis.values.symbolic_values import SymbolicValue, SymbolicValueTable
from ptxkit.fast_dataclasses import dataclass, field
from ptxkit.semantics.value_ops import INTEGER_OPERATIONS, bit_mask, to_signed

#: The numbers from here on may have wrapped around, or may be negative.
_WRAPPED = 1 << 31
#: The number of bytes for which the width of the word that contains them is remembered.
_CELL = 4
_POINTER_BITS = 64
#: The number of words after which the numbers are repeated, so that no loop has too many iterations.
_SERIES = 8
#: How often new words decide a branch in the same way; the next ones decide it otherwise.
INPUT_ROUNDS = 2
#: The numbers that are tried for a word besides the constants of the condition and their neighbors.
_USUAL_NUMBERS = (0, 1, 2, 3)

InputWord: TypeAlias = tuple[Hashable, int]
"""A word in memory: what a pointer addresses, and the byte in it."""


class _NotDecidedError(Exception):
    """A value depends on more than constants and data of the host."""


class _OutOfRangeError(Exception):
    """A value exceeds the numbers that are computed."""


@dataclass(slots=True)
class InputData:
    """The numbers of the words on which conditions have depended.

    terms: the table of the kernel's unknowns. loads: the steps that load data of the host. scale: the number of the
    first word of a buffer. sides: the sides that are wanted at some steps.
    """

    terms: SymbolicValueTable
    loads: frozenset[Step]
    scale: int
    sides: Mapping[Step, bool] = field(default_factory=dict)
    words: dict[InputWord, int] = field(default_factory=dict)
    _widths: dict[InputWord, tuple[int, int]] = field(default_factory=dict)
    _known: dict[int, tuple[int, frozenset[InputWord]]] = field(default_factory=dict)
    _fresh: dict[InputWord, int] = field(default_factory=dict)
    _balances: dict[Step, int] = field(default_factory=dict)
    _used: set[InputWord] = field(default_factory=set)

    @property
    def has_decided(self) -> bool:
        """Whether the data have decided a condition."""
        return bool(self.words)

    def side_of(
        self, condition: SymbolicValue, step: Step, trap: bool | None = None
    ) -> tuple[bool, frozenset[InputWord]] | None:
        """Returns the side that the data decide for a condition, and the words; None where not only they decide it.

        step: where it decides the path. trap: the side that leads to a trap.
        """
        try:
            side, chosen, used = self._evaluate(condition, {}), self._fresh, self._used
            wanted = self._wanted_side(step) if trap is None else not trap
            if wanted is not None and side != wanted:
                for trial in self._trials(condition, list(chosen)):
                    if self._evaluate(condition, trial) == wanted:
                        side, chosen, used = wanted, self._fresh, self._used
                        break
        except _NotDecidedError:
            return None
        if side is None:
            return None
        if chosen:
            self.words.update(chosen)
            self._balances[step] = self._balances.get(step, 0) + (1 if side else -1)
        return side, frozenset(used)

    def _wanted_side(self, step: Step) -> bool | None:
        """Returns the given side for a step, or the other one than new words have had several times there; None where
        both are the same.
        """
        if step in self.sides:
            return self.sides[step]
        balance = self._balances.get(step, 0)
        return balance < 0 if abs(balance) >= INPUT_ROUNDS else None

    def _trials(self, condition: SymbolicValue, words: list[InputWord]) -> Iterator[dict[InputWord, int]]:
        """Yields other numbers for each of some words."""
        constants = sorted(self._constants_of(condition, 0))
        near = [number + step for number in constants for step in (0, 1, -1)]
        for word in reversed(words):
            yield from ({word: number} for number in dict.fromkeys((*_USUAL_NUMBERS, *near)) if 0 <= number < _WRAPPED)

    def _constants_of(self, value: object, depth: int) -> set[int]:
        if isinstance(value, SymbolicValue) and depth < MAX_INPUT_DEPTH:
            key = self.terms.key_of(value)
            parts = key if isinstance(key, tuple) and key[0] not in ("input", "add") else ()
            return {-value.offset}.union(*(self._constants_of(part, depth + 1) for part in parts))
        return {value} if isinstance(value, int) and not isinstance(value, bool) else set()

    def _evaluate(self, condition: SymbolicValue, trial: dict[InputWord, int]) -> bool | None:
        """Returns the side of a condition, with numbers for new words; None where a number exceeds the range."""
        self._fresh, self._used = {}, set()
        try:
            return bool(self._number(condition, trial, 0) & 1)
        except _OutOfRangeError:
            return None

    def _number(self, value: object, trial: dict[InputWord, int], depth: int) -> int:
        """Returns the number of a value. trial: numbers for new words; those that were used are in `_fresh` then."""
        if not isinstance(value, SymbolicValue):
            if isinstance(value, int):
                return value
            raise _NotDecidedError
        known = self._known.get(value.identity)
        if known is None:
            outer, self._used = self._used, set()
            known = self._compute(self.terms.key_of(value), trial, depth), frozenset(self._used)
            self._used = outer
            if not self._fresh:
                self._known[value.identity] = known
        number, words = known
        self._used |= words
        least = -_WRAPPED if number < 0 else 0  # a counter that is increased up to zero
        if not least <= number + value.offset < _WRAPPED:
            raise _OutOfRangeError
        return number + value.offset

    def _compute(self, key: Hashable, trial: dict[InputWord, int], depth: int) -> int:
        if depth > MAX_INPUT_DEPTH or not isinstance(key, tuple):
            raise _NotDecidedError
        match key:
            case ("input", str(space), place, int(width)):
                return self._word(self._locate(space, place, trial, depth), width, trial)
            case ("add", int(first), int(other)):
                return sum(self._number(self.terms.term_of(each), trial, depth + 1) for each in (first, other))
            case ("unpack", whole, int(position), int(width), *_):
                return self._number(whole, trial, depth + 1) >> position * width & bit_mask(width)
        operation = INTEGER_OPERATIONS.get(str(key[0]))
        if operation is None:
            raise _NotDecidedError
        widths = operation.operand_widths(key[1:])
        count, masks = len(operation.static) + len(widths), map(bit_mask, widths)
        arguments = [
            each if position in operation.static else self._number(each, trial, depth + 1) & next(masks)
            for position, each in enumerate(key[1 : count + 1])
        ]
        number = operation.compute(*arguments)
        if number is None:
            raise _NotDecidedError
        return to_signed(number, operation.result_width(key[1:])) if key[0] == "neg" else number

    def _locate(self, space: str, place: object, trial: dict[InputWord, int], depth: int) -> InputWord:
        """Returns what an address points to, where the indices have numbers."""
        if isinstance(place, int):
            return space, place
        if not isinstance(place, SymbolicValue) or depth > MAX_INPUT_DEPTH:
            raise _NotDecidedError
        match self.terms.key_of(place):
            case ("add", int(first), int(other)):
                pair = self.terms.term_of(first), self.terms.term_of(other)
                base, index = pair if self._is_pointer(pair[0]) else reversed(pair)
                target, offset = self._locate(space, base, trial, depth + 1)
                return target, offset + place.offset + self._number(index, trial, depth + 1)
        if not self._is_pointer(place):
            raise _NotDecidedError
        return place.identity, place.offset

    def _is_pointer(self, term: SymbolicValue) -> bool:
        """Returns whether an unknown is a pointer, as an argument or loaded from memory."""
        match self.terms.key_of(term):
            case ("input", _, _, int(width)):
                return width == _POINTER_BITS
            case ("add", int(first), int(other)):
                return self._is_pointer(self.terms.term_of(first)) or self._is_pointer(self.terms.term_of(other))
        return term.pointer

    def _word(self, place: InputWord, width: int, trial: dict[InputWord, int]) -> int:
        target, offset = place
        size = width // 8
        cells = [(target, cell) for cell in range(offset // _CELL, (offset + size - 1) // _CELL + 1)]
        if any(self._widths.setdefault(cell, (width, offset % size)) != (width, offset % size) for cell in cells):
            raise _NotDecidedError  # words overlap
        self._used.add(place)
        known = self.words.get(place, self._fresh.get(place))
        if known is None:
            default = self.scale * (offset // size % _SERIES + 1) & bit_mask(width - 1)
            known = self._fresh[place] = trial.get(place, default)
        return known
