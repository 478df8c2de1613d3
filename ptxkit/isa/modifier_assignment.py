"""Assigns the words of an opcode to the modifiers of a form, or determines why the opcode does not have that form."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import takewhile

from ptxkit.fast_dataclasses import dataclass
from ptxkit.isa.constant_folding import Assignment, fold, is_true
from ptxkit.isa.forms import Constraint, Form, Modifier
from ptxkit.isa.functions import is_type

# Modifiers that ptxas accepts twice without a warning.
_REPEATABLE = frozenset({"sync", "sat", "satfinite", "NaN", "approx", "uni", "cc", "relu", "shiftamt"})
# Words directly after the name that are not part of the instruction's name for ptxas and may be anywhere.
_MOVABLE = frozenset({"sync", "aligned", "sp", "ca", "cg"})

# Words that keep their order as types do: the layouts of two matrices, an operation on bits and the count after it, the
# first and the second priority in a cache, a kind of access to a texture and the geometry.
_ORDER_SENSITIVE = (
    frozenset({"row", "col"}),
    frozenset({"and", "xor", "popc"}),
    frozenset({"f32", "b16", "b8", "b2"}),
    frozenset({"base", "level", "grad", "a1d", "a2d", "acube", "a2dms"}),
    frozenset({"L2::evict_last", "L2::evict_normal", "L2::evict_first", "L2::evict_unchanged"}),
)


@dataclass(frozen=True, slots=True)
class ModifierMismatch:
    """The reason why an opcode does not have a form. score: how much of it fits; higher is nearer."""

    form: Form
    score: int
    word: str | None = None
    missing: str | None = None
    rule: Constraint | None = None


def assign_modifiers(form: Form, words: Sequence[str], *, lax: bool = False) -> Assignment | ModifierMismatch:
    """Assigns a value to each modifier of `form` for an opcode with these words after its name, or returns why it does
    not fit.

    lax: as ptxas does, accepts `.sync` and similar words of the stem anywhere, and twice.
    """
    stem = [slot.name for slot in form.modifiers if slot.stem]
    if lax:
        stem = fixed_stem(stem)
        words = [*words[: len(stem)], *_without_repeats(words[len(stem) :])]
    if list(words[: len(stem)]) != stem:
        fitting = sum(1 for _ in _common_prefix(words, stem))
        wrong = words[fitting] if fitting < len(words) else None
        return ModifierMismatch(form, fitting - len(stem), word=wrong, missing=stem[fitting])
    return _assign(form, form.modifiers[len(stem) :], stem, words[len(stem) :])


def fixed_stem(stem: Sequence[str]) -> list[str]:
    """Returns the words of a stem that are part of the instruction's name for ptxas, too, and cannot be elsewhere."""
    return list(takewhile(lambda word: word not in _MOVABLE, stem))


def _assign(
    form: Form, slots: Sequence[Modifier], stem: Sequence[str], rest: Sequence[str]
) -> Assignment | ModifierMismatch:
    if len(rest) > len(slots):
        return ModifierMismatch(form, len(stem), word=_surplus_word(slots, rest))
    for position, word in enumerate(rest):
        if not any(word in slot.values for slot in slots):
            return ModifierMismatch(form, len(stem) + position - 1, word=word)
    broken: ModifierMismatch | None = None
    for chosen in _placements(slots, rest, 0, ()):
        filled: dict[str, str | None] = {name: name for name in stem}
        missing = None
        for index, slot in enumerate(slots):
            value = rest[chosen.index(index)] if index in chosen else None
            if value is None and not slot.optional:
                missing = slot.name
                break
            if filled.get(slot.name, value) != value:
                missing = slot.name
                break
            filled[slot.name] = value
        if missing is not None:
            broken = broken or ModifierMismatch(form, len(stem) + len(rest), missing=missing)
            continue
        failing = next((rule for rule in form.rules if not is_true(fold(rule.condition, form, filled))), None)
        if failing is None:
            return filled
        broken = ModifierMismatch(form, len(stem) + len(rest) + 1, rule=failing)
    return broken or ModifierMismatch(form, len(stem), word=rest[-1] if rest else None)


def _surplus_word(slots: Sequence[Modifier], words: Sequence[str]) -> str:
    """Returns the surplus word: one that no slot accepts, else one that occurs twice, else the last."""
    legal = {value for slot in slots for value in slot.values}
    seen: set[str] = set()
    for word in words:
        if word not in legal or word in seen:
            return word
        seen.add(word)
    return words[-1]


def _without_repeats(words: Sequence[str]) -> list[str]:
    """Returns the words, with only the first of each repeatable one."""
    seen: set[str] = set()
    kept = []
    for word in words:
        if word not in _REPEATABLE or word not in seen:
            kept.append(word)
        seen.add(word)
    return kept


def _common_prefix(words: Sequence[str], stem: Sequence[str]) -> Iterator[str]:
    for word, wanted in zip(words, stem, strict=False):
        if word != wanted:
            return
        yield word


def _placements(
    slots: Sequence[Modifier], words: Sequence[str], position: int, chosen: tuple[int, ...]
) -> Iterator[tuple[int, ...]]:
    """Yields every assignment of each word to a separate slot, first slots first.

    Two words that could be exchanged keep their order if both are types, state spaces or layouts, whose order has
    meaning.
    """
    if position == len(words):
        yield chosen
        return
    word = words[position]
    for index, slot in enumerate(slots):
        if index in chosen or word not in slot.values:
            continue
        if all(_keeps_order(slots, words[k], chosen[k], word, index) for k in range(position)):
            yield from _placements(slots, words, position + 1, (*chosen, index))


def _keeps_order(slots: Sequence[Modifier], earlier: str, left: int, later: str, right: int) -> bool:
    if left < right:
        return True
    if (is_type(earlier) and is_type(later)) or (_is_space(earlier) and _is_space(later)):
        return False
    if any(earlier in group and later in group for group in _ORDER_SENSITIVE):
        return False
    return not (later in slots[left].values and earlier in slots[right].values)


def _is_space(word: str) -> bool:
    return word.partition("::")[0] in ("global", "shared", "local", "const", "param")
