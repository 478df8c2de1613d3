"""Completion of a partial opcode: the modifiers that may come next, in the order of the manual.

A modifier is included if some instruction begins with the partial opcode and the modifier, and the rules between
modifiers hold.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from ptxkit.fast_dataclasses import dataclass
from ptxkit.isa import table
from ptxkit.isa.binding import bind_form
from ptxkit.isa.constant_folding import fold, is_true
from ptxkit.isa.expressions import CallExpr, ConstantExpr, Expression
from ptxkit.isa.forms import Form, Gate, Modifier
from ptxkit.isa.limits import MAX_GATE_CHECKS, MAX_SEARCH_STEPS
from ptxkit.isa.targets import Target, unmet_gates


@dataclass(frozen=True, slots=True)
class PartialForm:
    """A form whose modifiers up to `place` are chosen."""

    form: Form
    next_slot: int
    modifiers: Mapping[str, str | None]


@dataclass(frozen=True, slots=True)
class NextModifier:
    """A modifier that may come next, and its forms."""

    word: str
    partial_forms: tuple[PartialForm, ...]

    @property
    def forms(self) -> tuple[Form, ...]:
        return tuple(each.form for each in self.partial_forms)

    def unmet_gates(self, version: tuple[int, int] | None, target: Target | None) -> list[Gate]:
        """Returns the requirements that a module does not meet for any of its instructions, or nothing if it meets
        those of one.

        If there are very many instructions, only some are examined.
        """
        lacking: list[Gate] = []
        completions = islice(
            (each for start in self.partial_forms for each in _completed_gates(start)), MAX_GATE_CHECKS
        )
        for gates in completions:
            found = unmet_gates(gates, version, target)
            if not found:
                return []
            lacking = lacking or found
        return lacking


def complete_opcode(opcode: str) -> list[NextModifier]:
    """Returns the modifiers that may follow an opcode whose last modifier is complete (`cp.async`), or nothing."""
    name, *words = opcode.split(".")
    found: dict[str, list[PartialForm]] = {}
    for form in table().forms(name):
        if not form.tolerated:
            for word, beginning in _next_modifiers(form, tuple(words)):
                found.setdefault(word, []).append(beginning)
    return [NextModifier(word, tuple(beginnings)) for word, beginnings in found.items()]


def _completed_gates(start: PartialForm) -> Iterator[tuple[Gate, ...]]:
    """Yields the gates of the instructions with that prefix."""
    for modifiers in _ConstraintSearch(start.form).completions(start.next_slot, dict(start.modifiers)):
        for match in bind_form(start.form, modifiers, table().value_gates):
            yield match.gates


def _next_modifiers(form: Form, words: tuple[str, ...]) -> Iterator[tuple[str, PartialForm]]:
    slots, rules = form.modifiers, _ConstraintSearch(form)
    seen: set[str] = set()
    for place, filled in _place_words(slots, words, 0, {}):
        for index, before in _reachable_slots(slots, place, filled):
            slot = slots[index]
            for word in slot.values:
                if word in seen or filled.get(slot.name, word) != word:
                    continue
                chosen = {**before, slot.name: word}
                if rules.can_complete(index + 1, chosen):
                    seen.add(word)
                    yield word, PartialForm(form, index + 1, chosen)


def _place_words(
    slots: Sequence[Modifier], words: Sequence[str], place: int, filled: Mapping[str, str | None]
) -> Iterator[tuple[int, dict[str, str | None]]]:
    """Yields every assignment of the words to slots in order: the slot after the last word, and the filled ones."""
    if not words:
        yield place, dict(filled)
        return
    for index, before in _reachable_slots(slots, place, filled):
        slot = slots[index]
        if words[0] in slot.values and before.get(slot.name, words[0]) == words[0]:
            yield from _place_words(slots, words[1:], index + 1, {**before, slot.name: words[0]})


def _reachable_slots(
    slots: Sequence[Modifier], place: int, filled: Mapping[str, str | None]
) -> Iterator[tuple[int, dict[str, str | None]]]:
    """Yields the slots of the next word, with those that are omitted before each."""
    before = dict(filled)
    for index in range(place, len(slots)):
        yield index, dict(before)
        if not slots[index].optional:
            return
        before.setdefault(slots[index].name, None)


class _ConstraintSearch:
    """The rules between the modifiers of a form, and the modifiers that each mentions."""

    def __init__(self, form: Form) -> None:
        self._form = form
        lets = dict(form.lets)
        self._rules = [(rule.condition, frozenset(_modifiers_in(rule.condition, lets))) for rule in form.rules]
        self._remaining_steps = 0

    def can_complete(self, place: int, chosen: dict[str, str | None]) -> bool:
        """Returns whether the slots from one on can be filled so that all rules hold."""
        return next(self.completions(place, chosen), None) is not None or self._remaining_steps < 0

    def completions(self, place: int, chosen: dict[str, str | None]) -> Iterator[dict[str, str | None]]:
        """Yields assignments of the slots from one on for which all rules hold, up to a limit."""
        self._remaining_steps = MAX_SEARCH_STEPS
        yield from self._search(place, chosen)

    def _search(self, index: int, chosen: dict[str, str | None]) -> Iterator[dict[str, str | None]]:
        self._remaining_steps -= 1
        slots = self._form.modifiers
        if self._remaining_steps < 0 or not self._are_satisfied(chosen, whole=index == len(slots)):
            return
        if index == len(slots):
            yield chosen
            return
        slot = slots[index]
        if slot.name in chosen:
            if chosen[slot.name] is not None or slot.optional:
                yield from self._search(index + 1, chosen)
            return
        for word in (None, *slot.values) if slot.optional else slot.values:
            yield from self._search(index + 1, {**chosen, slot.name: word})

    def _are_satisfied(self, chosen: Mapping[str, str | None], *, whole: bool) -> bool:
        """Returns whether the rules that only mention chosen modifiers hold, or all rules if the opcode is complete."""
        return all(
            is_true(fold(condition, self._form, chosen))
            for condition, named in self._rules
            if whole or named <= chosen.keys()
        )


def _modifiers_in(expression: Expression, lets: Mapping[str, Expression]) -> Iterator[str]:
    match expression:
        case CallExpr(function="modifier", arguments=(ConstantExpr(value=name),)):
            yield str(name)
        case CallExpr(function="let", arguments=(ConstantExpr(value=name),)):
            yield from _modifiers_in(lets[str(name)], lets)
        case CallExpr(arguments=arguments):
            for argument in arguments:
                yield from _modifiers_in(argument, lets)
