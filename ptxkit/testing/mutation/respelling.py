"""Spells an instruction with other effects: finds a form of the same name that has them.

No opcode is named here. Words of an opcode are replaced, removed and added until a form of the table has the wanted
effects; the result is in the order of the manual.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from itertools import combinations

from ptxkit.analysis.ir.program import Step
from ptxkit.fast_dataclasses import fields, replace
from ptxkit.isa import table
from ptxkit.isa.effects import Effect
from ptxkit.isa.forms import Match
from ptxkit.syntax.tree import Instruction, Operand

_ORDERS_AND_SCOPES = ("relaxed", "acquire", "release", "acq_rel", "cta", "cluster", "gpu", "sys")
"""Orders and scopes occur together or not at all, so two words change at once."""


def respell(step: Step, *changes: tuple[Effect, Effect]) -> Instruction | None:
    """Returns the instruction with these effects replaced, old by new, and otherwise equal; None if no form has
    them.
    """
    if step.match is None:
        return None
    exchanged = dict(changes)
    wanted = tuple(exchanged.get(each, each) for each in step.match.effects)
    words = tuple(dict.fromkeys(word for old, new in changes for word in _candidate_words(step.match, old, new)))
    for opcode in _similar_opcodes(step.instruction.opcode, words):
        found = _match(opcode, step.instruction.operands)
        if found is not None and found.effects == wanted:
            return replace(step.instruction, opcode=found.canonical or opcode)
    return None


def shorten(step: Step, without: Iterable[str], *wanted: Effect) -> Instruction | None:
    """Returns the instruction without some operands (by role) and words, whose only effect is one of `wanted`, or
    None.
    """
    if step.match is None:
        return None
    gone = {step.match.roles[role] for role in without if role in step.match.roles}
    operands = tuple(each for place, each in enumerate(step.instruction.operands) if place not in gone)
    name, *words = step.instruction.opcode.split(".")
    for count in range(len(words)):
        for kept in combinations(words, len(words) - count):
            found = _match(".".join([name, *kept]), operands)
            if found is not None and len(found.effects) == 1 and found.effects[0] in wanted:
                return replace(step.instruction, opcode=found.canonical, operands=operands)
    return None


def form_with_effects(name: str, wanted: tuple[Effect, ...]) -> Instruction | None:
    """Returns an instruction with a name, without operands, that has these effects."""
    for opcode in _all_opcodes(name):
        found = _match(opcode, ())
        if found is not None and found.effects == wanted:
            return Instruction(found.canonical or opcode)
    return None


def _match(opcode: str, operands: tuple[Operand, ...]) -> Match | None:
    if not table().candidates(opcode):
        return None
    found = table().match(Instruction(opcode, operands))
    return found if isinstance(found, Match) and not found.form.tolerated else None


def _candidate_words(match: Match, old: Effect, new: Effect) -> Iterator[str]:
    """Yields the modifier values that may distinguish two effects."""
    for each in fields(new):
        before, value = getattr(old, each.name, None), getattr(new, each.name)
        if before == value:
            continue
        if each.name in ("order", "scope"):
            yield from _ORDERS_AND_SCOPES
        elif isinstance(value, bool):
            yield from (slot.values[0] for slot in match.form.modifiers if slot.optional and len(slot.values) == 1)
        elif isinstance(value, int):
            values = [word for slot in match.form.modifiers for word in slot.values]
            yield from (word for word in values if word.endswith((f"::{value}", f"::{before}")))
        elif isinstance(value, str):
            yield from (value, str(before))
        elif isinstance(value, tuple) and isinstance(before, tuple):
            yield from (*value, *before)


@cache
def _similar_opcodes(opcode: str, words: tuple[str, ...]) -> tuple[str, ...]:
    """Opcodes of the same name that differ in one word, or in an order and a scope."""
    paired = [word for word in words if word in _ORDERS_AND_SCOPES]
    twice = [again for first in _opcode_variants(opcode, paired) for again in _opcode_variants(first, paired)]
    return tuple(dict.fromkeys([*_opcode_variants(opcode, words), *twice]))


def _opcode_variants(opcode: str, vocabulary: Iterable[str]) -> Iterator[str]:
    """Opcodes with one word of the vocabulary removed, replaced or added; the table orders the words."""
    name, *words = opcode.split(".")
    known = tuple(vocabulary)
    new = [word for word in known if word not in words]
    for place, old in enumerate(words):
        if old in known:
            yield ".".join([name, *words[:place], *words[place + 1 :]])
            yield from (".".join([name, *words[:place], word, *words[place + 1 :]]) for word in new)
    for word in new:
        yield ".".join([name, *words[:1], word, *words[1:]])
        yield ".".join([name, *words, word])


@cache
def _all_opcodes(name: str) -> tuple[str, ...]:
    """Returns opcodes of the forms of a name with each value of each modifier, for names with few forms."""
    found: list[str] = []
    for form in table().forms(name):
        partial = [name]
        for slot in form.modifiers:
            options = [f".{value}" for value in slot.values] + ([""] if slot.optional else [])
            partial = [start + option for start in partial for option in options]
        found += partial
    return tuple(dict.fromkeys(found))
