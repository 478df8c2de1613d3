"""Instances of forms: instruction texts that are legal according to the table, for checks with an assembler.

Each variation of a form has its turn: every value of a modifier, every choice of optional operands, and every kind of
operand (`ptxkit.isa.operand_spellings`). One instance varies one operand; the others are plain, so that the reason of
an assembler's error is easily found.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from random import Random
from typing import TypeVar

from ptxkit.fast_dataclasses import dataclass
from ptxkit.isa.binding import bind_form
from ptxkit.isa.constant_folding import fold, fold_constants, is_true
from ptxkit.isa.expressions import ConstantExpr
from ptxkit.isa.forms import Form, Gate, Match
from ptxkit.isa.limits import MAX_FAILURES, MAX_TRIES
from ptxkit.isa.operand_spellings import instruction_spellings

_Key = TypeVar("_Key", bound=Hashable)


@dataclass(frozen=True, slots=True)
class InstructionInstance:
    """An instruction text, without a line end, and the match it was made from."""

    text: str
    match: Match


def instances(
    form: Form, value_gates: Mapping[str, tuple[Gate, ...]], random: Random, count: int
) -> Iterator[InstructionInstance]:
    """Yields up to `count` instances of a form, with different modifiers and operands."""
    turns = _LeastUsedPicker(random)
    made = failed = 0
    while made < count and failed < MAX_FAILURES:
        modifiers = _choose_modifiers(form, turns)
        text = None
        if modifiers is not None:
            matches = bind_form(form, modifiers, value_gates)
            if matches:
                match = matches[turns.pick([("operands", index) for index in range(len(matches))])[1]]
                text = _spell_match(match, turns)
        if text is None:
            failed += 1
            continue
        failed = 0
        made += 1
        yield InstructionInstance(text, match)


def modifier_choices(form: Form, random: Random, count: int) -> Iterator[dict[str, str | None]]:
    """Yields `count` choices of a form's modifiers, with each value in turn."""
    turns = _LeastUsedPicker(random)
    for _ in range(count):
        modifiers = _choose_modifiers(form, turns)
        if modifiers is not None:
            yield modifiers


def spell_instruction(match: Match, random: Random) -> str | None:
    """Returns a plain instruction of this match, or None if the harness module has no such operand."""
    return _spell_match(match, _LeastUsedPicker(random), vary=False)


class _LeastUsedPicker:
    """Selects the least used key, at random among equals."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self._uses: Counter[Hashable] = Counter()

    def pick(self, keys: Sequence[_Key]) -> _Key:
        """Returns the key that was used least, and counts its use."""
        chosen = min(keys, key=lambda key: (self._uses[key], self.random.random()))
        self._uses[chosen] += 1
        return chosen

    def mark_used(self, keys: Iterable[Hashable]) -> None:
        self._uses.update(keys)


def _choose_modifiers(form: Form, turns: _LeastUsedPicker) -> dict[str, str | None] | None:
    """Returns values for the modifiers, with a least used one, or None if the form's rules exclude it."""
    slots = {slot.name: (None, *slot.values) if slot.optional else slot.values for slot in form.modifiers}
    wanted = [("modifier", name, value) for name, values in slots.items() for value in values]
    if not wanted:
        return {}
    _, name, value = turns.pick(wanted)
    for _ in range(MAX_TRIES):
        chosen = {each: _any_value(values, turns.random) for each, values in slots.items()}
        chosen[name] = value
        if all(is_true(fold(rule.condition, form, chosen)) for rule in form.rules):
            turns.mark_used(("modifier", *pair) for pair in chosen.items() if pair != (name, value))
            return chosen
    return None


def _any_value(values: tuple[str | None, ...], random: Random) -> str | None:
    """Returns any value; an optional modifier is as often absent as present."""
    if values[0] is None and random.random() < 0.5:
        return None
    return random.choice(values)


def _spell_match(match: Match, turns: _LeastUsedPicker, *, vary: bool = True) -> str | None:
    offered = instruction_spellings(match.operands, turns.random)
    if not all(offered):
        return None
    words = [spellings["plain"] for spellings in offered]
    varied = [
        (match.operands[place].role, spelling) for place, spellings in enumerate(offered) for spelling in spellings
    ]
    for _ in range(MAX_FAILURES if varied and vary else 0):
        role, spelling = turns.pick(varied)
        place = next(place for place, operand in enumerate(match.operands) if operand.role == role)
        candidate = [*words[:place], offered[place][spelling], *words[place + 1 :]]
        if _satisfies_needs(match, candidate):
            words = candidate
            break
    if not _satisfies_needs(match, words):
        return None
    return f"{match.canonical} {', '.join(words)}".rstrip() + ";"


def _satisfies_needs(match: Match, words: Sequence[str]) -> bool:
    """Returns whether the constant operands satisfy the rules between operands."""
    values = {role: _integer(words[index]) for role, index in match.roles.items()}
    results = [fold_constants(need.condition, values) for need in match.needs]
    return all(not isinstance(result, ConstantExpr) or bool(result.value) for result in results)


def _integer(word: str) -> int | None:
    try:
        return int(word, 0)
    except ValueError:
        return None
