"""Registers that are constant at a merge of the control flow, or always a multiple of a counter plus a constant.

Compilers replace products of a counter by registers of their own, which they advance in step with it. That registers
are related is guessed from the states that have been explored, and then proven: registers of a class stay together if
they do so on each edge to their block, given the classes of all blocks; otherwise their class is divided.

Source: Ernst et al., "The Daikon System for Dynamic Detection of Likely Invariants" (the guesses); Alpern, Wegman, and
Zadeck, "Detecting Equality of Variables in Programs" (the proof).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise

from ptxkit.analysis.abstract_interpretation.value_graph import Assignment, Merge, ValueNode
from ptxkit.analysis.values.counter_fractions import fraction_of
from ptxkit.analysis.values.cta_values import CtaValue, apply
from ptxkit.analysis.values.uniform_terms import Numbers, UniformTerm, atom
from ptxkit.fast_dataclasses import dataclass, replace
from ptxkit.semantics.value_ops import bit_mask, interpret

Sample = Mapping[Merge, Numbers]
Evaluate = Callable[[ValueNode, Mapping[Merge | Assignment, CtaValue]], CtaValue]


@dataclass(frozen=True, slots=True)
class LinearRelation:
    """A register at a merge that is the product of another one at the same block and a factor, plus an offset.

    counter: None for a constant; it has the same value in all threads. width: that of the register in bits. spread: by
    how much the register of each thread is greater than that of the first one.
    """

    counter: Merge | None
    factor: int
    offset: int
    width: int
    spread: Numbers = 0

    def value(self, counter: CtaValue) -> CtaValue:
        """Returns the value of the register, given that of the counter."""
        offset = apply("add", (self.width, self.spread, self.offset & bit_mask(self.width)))
        if self.counter is None:
            return offset
        product = None if counter is None else apply("mul", (self.width, counter, self.factor & bit_mask(self.width)))
        return None if product is None else apply("add", (self.width, product, offset))

    def counter_for(self, value: CtaValue) -> CtaValue:
        """Returns the value of the counter for one of the register; None if it is not known."""
        value = apply("sub", (self.width, value, self.spread))
        if isinstance(value, int):
            number, rest = divmod(interpret(value - self.offset, self.width, True), self.factor)
            return None if rest else number
        if not isinstance(value, UniformTerm) or not isinstance(value.offset, int):
            return None
        moved = interpret(value.offset - self.offset, self.width, True)
        unknown: CtaValue = replace(value, offset=0)
        if self.factor < 0:
            unknown = apply("neg", (self.width, unknown))
        unknown = (
            fraction_of(unknown, Fraction(1, abs(self.factor)), self.width)
            if isinstance(unknown, UniformTerm)
            else None
        )
        return None if unknown is None or moved % self.factor else replace(unknown, offset=moved // self.factor)


class RelationFinder:
    """Looks for relations in one function.

    sources_of: the values that reach a merge, each with the block before. evaluate: the value of a node, given those at
    merges. width_of: that of a register in bits. samples: for each block, some values of registers at its start
    together.
    """

    def __init__(
        self,
        sources_of: Callable[[Merge], Mapping[int | None, ValueNode]],
        evaluate: Evaluate,
        width_of: Callable[[Merge], int],
        samples: Iterable[Sequence[Sample]],
    ) -> None:
        self._sources_of, self._evaluate, self._width_of = sources_of, evaluate, width_of
        self._columns: dict[Merge, Sequence[int]] = {}
        self._spreads: dict[Merge, Numbers] = {}
        self._related: dict[Merge, LinearRelation] = {}
        self._classes: list[list[Merge]] = []
        for own in samples:
            merges = [
                merge for merge in own[0] if all(merge in sample for sample in own) and self._has_spread(merge, own)
            ]
            for merge in merges:
                width = width_of(merge)
                column = self._columns[merge] = [interpret(_first(sample[merge]), width, True) for sample in own]
                if len(set(column)) == 1:
                    self._related[merge] = LinearRelation(None, 0, column[0], width, self._spreads[merge])
            self._classify([merge for merge in merges if merge not in self._related])

    def find(self) -> dict[Merge, LinearRelation]:
        """Returns the proven relations."""
        while self._divide_constants() or self._divide_classes():
            pass
        return self._related

    def _has_spread(self, merge: Merge, samples: Sequence[Sample]) -> bool:
        """Returns whether the register has the same difference between each thread and the first one in all samples."""
        width = self._width_of(merge)
        first = self._spreads[merge] = _spread(samples[0][merge], width)
        return all(_spread(sample[merge], width) == first for sample in samples)

    def _classify(self, merges: Iterable[Merge]) -> None:
        """Relates registers of one block to others there with which their values agree."""
        waiting = sorted(merges, key=lambda each: (self._spreads[each] != 0, *_preference(each, self._columns[each])))
        while waiting:
            counter, *others = waiting
            self._related.pop(counter, None)
            own, waiting = [counter], []
            for merge in others:
                relation = self._relate(counter, merge)
                if relation is not None:
                    self._related[merge] = relation
                (waiting if relation is None else own).append(merge)
            self._classes.append(own)

    def _relate(self, counter: Merge, merge: Merge) -> LinearRelation | None:
        """Returns the relation of two registers with some values; if these are constant, both advance together."""
        if self._spreads[counter] != 0:
            return None
        numbers, others = self._columns[counter], self._columns[merge]
        at = next((at for at, number in enumerate(numbers) if number != numbers[0]), None)
        factor, rest = (1, 0) if at is None else divmod(others[at] - others[0], numbers[at] - numbers[0])
        offset = others[0] - factor * numbers[0]
        holds = all(other == factor * number + offset for number, other in zip(numbers, others, strict=True))
        if not holds or not factor or rest:
            return None
        return LinearRelation(counter, factor, offset, self._width_of(merge), self._spreads[merge])

    def _divide_constants(self) -> bool:
        """Classifies the registers that are not constant; returns whether there are such."""
        symbols = _Symbols(self._related)
        wrong: dict[int, list[Merge]] = defaultdict(list)
        for merge, relation in self._related.items():
            if relation.counter is None:
                sources = self._sources_of(merge).values()
                held = (self._evaluate(source, symbols) for source in sources)
                if any(value != relation.value(None) for value in held):
                    wrong[merge.block].append(merge)
        for merges in wrong.values():
            self._classify(merges)
        return bool(wrong)

    def _divide_classes(self) -> bool:
        """Divides the classes whose registers do not stay together; returns whether there are such."""
        symbols, classes = _Symbols(self._related), self._classes
        self._classes = []
        for own in classes:
            parts: dict[tuple[object, ...], list[Merge]] = defaultdict(list)
            for merge in own:
                parts[self._signature(merge, symbols)].append(merge)
            if len(parts) == 1:
                self._classes.append(own)
            else:
                for part in parts.values():
                    self._classify(part)
        return len(self._classes) > len(classes)

    def _signature(self, merge: Merge, symbols: _Symbols) -> tuple[object, ...]:
        """Returns the values of the counter with which a register would agree, on each edge to its block."""
        relation = self._related.get(merge) or LinearRelation(merge, 1, 0, self._width_of(merge))
        found = []
        for before, source in self._sources_of(merge).items():
            value = relation.counter_for(self._evaluate(source, symbols))
            found.append((before, merge if value is None else value))
        return tuple(found)


def _first(value: Numbers) -> int:
    """Returns the number in the first thread."""
    return value if isinstance(value, int) else value[0]


def _spread(value: Numbers, width: int) -> Numbers:
    """Returns the differences between the number in each thread and that in the first one; 0 if all are equal."""
    if isinstance(value, int):
        return 0
    return tuple((each - value[0]) & bit_mask(width) for each in value)


def _preference(merge: Merge, values: Sequence[int]) -> tuple[object, ...]:
    """Returns what makes a register a good counter: others are multiples of it, with offsets that are not negative."""
    step = min((after - before for before, after in pairwise(sorted(set(values)))), default=1)
    return min(values) < 0, step, min(values), merge.register


class _Symbols(dict[Merge | Assignment, CtaValue]):
    """A symbol for each merge, of which the related ones are expressed by their counter."""

    def __init__(self, relations: Mapping[Merge, LinearRelation]) -> None:
        super().__init__()
        self._relations = relations

    def get(self, node: object, default: CtaValue = None) -> CtaValue:  # type: ignore[override]  # noqa: ARG002
        relation = self._relations.get(node) if isinstance(node, Merge) else None
        if relation is None:
            return UniformTerm(atom("symbol", node))
        return relation.value(UniformTerm(atom("symbol", relation.counter)))
