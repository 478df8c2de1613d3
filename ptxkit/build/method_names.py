"""From method names to opcodes: `cp_async_cg` is `cp.async.cg...`.

A method's name is the opcode with `_` for its dots and colons. Modifiers may be omitted if they follow from the form
(`.shared.global` of cp.async) or from the operands: their types, state spaces and vector lengths. All other modifiers
may be omitted only if they are optional in the form.

The module depends on no specific instruction; it reads the forms of the table.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import product

from ptxkit.build.limits import MAX_CACHED_NAMES
from ptxkit.fast_dataclasses import dataclass
from ptxkit.isa import table
from ptxkit.isa.constant_folding import fold, is_true
from ptxkit.isa.forms import Form, Modifier
from ptxkit.isa.functions import as_bits, is_type

SPACES = frozenset(
    ("shared", "shared::cta", "shared::cluster", "global", "local", "const", "param", "param::entry", "param::func")
)
VECTORS = frozenset(("v2", "v4", "v8"))
_SEPARATOR = re.compile(r"\W+")


@dataclass(frozen=True, slots=True)
class MethodNameReading:
    """One interpretation of a method's name: a form, and the modifiers that the name spells out, by their position."""

    form: Form
    explicit_words: tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class OperandHints:
    """The modifiers that operands imply: the words of their types, and the lengths of tuples."""

    types: tuple[str, ...] = ()
    vectors: tuple[int, ...] = ()


def to_name_part(word: str) -> str:
    """Returns a modifier as part of a method's name."""
    return _SEPARATOR.sub("_", word)


@lru_cache(maxsize=MAX_CACHED_NAMES)
def find_readings(name: str) -> tuple[MethodNameReading, ...]:
    """Returns every form of the manual that the name may denote, or an empty tuple."""
    head, _, rest = name.rstrip("_").partition("_")
    forms = [form for form in table().forms(head) if not form.tolerated]
    stems = frozenset(_stem_words(form) for form in forms)
    return tuple(
        MethodNameReading(form, explicit) for form in forms for explicit in _parse_modifiers(form, rest, stems)
    )


def _stem_words(form: Form) -> tuple[str, ...]:
    return tuple(slot.name for slot in form.modifiers if slot.stem)


def _parse_modifiers(form: Form, rest: str, stems: frozenset[tuple[str, ...]]) -> list[tuple[str | None, ...]]:
    """Yields every split of `rest` into values for some of the slots, with the stem first and the others in any order.

    A word of the stem may be omitted if all forms continue in the same way: `wgmma_fence` denotes
    `wgmma.fence.sync...`.
    """
    stem = _stem_words(form)
    explicit: list[str | None] = [None] * len(form.modifiers)
    for index, word in enumerate(stem):
        tail = _strip_word(word, rest)
        if tail is not None:
            explicit[index], rest = word, tail
        elif not is_type(word) and len({each[: index + 1] for each in stems if each[:index] == stem[:index]}) > 1:
            return []
    return list(dict.fromkeys(_assign_modifiers(form.modifiers, rest, tuple(explicit))))


def _assign_modifiers(
    slots: tuple[Modifier, ...], rest: str, explicit: tuple[str | None, ...]
) -> Iterator[tuple[str | None, ...]]:
    if not rest:
        yield explicit
        return
    for index, slot in enumerate(slots):
        if explicit[index] is not None or slot.stem:
            continue
        for value in slot.values:
            tail = _strip_word(value, rest)
            if tail is None or (is_type(value) and any(word and is_type(word) for word in explicit[index + 1 :])):
                continue  # the order of two types is significant
            yield from _assign_modifiers(slots, tail, (*explicit[:index], value, *explicit[index + 1 :]))


def _strip_word(word: str, rest: str) -> str | None:
    """Returns the rest of a name after a modifier, or None if the name does not continue with it."""
    text = to_name_part(word)
    if rest == text:
        return ""
    return rest[len(text) + 1 :] if rest.startswith(text + "_") else None


def count_implied_words(reading: MethodNameReading) -> int:
    """Returns the number of words that a reading implies beyond those that operands determine: `.noComplete`,
    `.bulk_group`.
    """
    slots = zip(reading.form.modifiers, reading.explicit_words, strict=True)
    return sum(
        explicit is None
        and not (slot.optional or slot.stem or frozenset(slot.values) <= SPACES | VECTORS)
        and not any(map(is_type, slot.values))
        for slot, explicit in slots
    )


def find_expected_words(name: str) -> tuple[str, ...]:
    """Returns the words that may follow the longest valid prefix of a name, for a message."""
    parts = name.rstrip("_").split("_")
    for length in range(len(parts), 0, -1):
        found = {
            to_name_part(value)
            for form in table().forms(parts[0])
            for explicit in _parse_name_prefix(form.modifiers, "_".join(parts[1:length]))
            for value in _next_words(form.modifiers, explicit)
        }
        if found:
            return tuple(sorted(found))
    return ()


def _parse_name_prefix(slots: tuple[Modifier, ...], rest: str) -> list[tuple[str | None, ...]]:
    """Parses a name as `_parse_modifiers` does, but accepts names that end within the stem."""
    free = tuple(Modifier(slot.name, slot.values, slot.optional) for slot in slots)
    return list(_assign_modifiers(free, rest, (None,) * len(free)))


def _next_words(slots: tuple[Modifier, ...], explicit: tuple[str | None, ...]) -> tuple[str, ...]:
    """Returns the values of the next slot that must be spelled out."""
    for slot, value in zip(slots, explicit, strict=True):
        if value is None and (slot.stem or not (slot.optional or slot.is_literal)):
            return slot.values
    return ()


class MissingModifierError(Exception):
    """A mandatory modifier is missing."""

    def __init__(self, slot: Modifier, form: Form) -> None:
        super().__init__(slot.name)
        self.slot = slot
        self.form = form


def enumerate_opcodes(
    reading: MethodNameReading, keywords: Mapping[str, str | bool], hints: OperandHints
) -> Iterator[tuple[str, int]]:
    """Yields the opcodes that a reading may denote, each with the distance of its types from those of the operands.

    `keywords` are modifiers by the names of their slots in the form. Raises `MissingModifierError` if one is missing.
    """
    choices = [
        _list_choices(slot, explicit, keywords, hints, reading.form)
        for slot, explicit in zip(reading.form.modifiers, reading.explicit_words, strict=True)
    ]
    for chosen in product(*choices):
        words = [value for value, _ in chosen if value is not None]
        yield ".".join([reading.form.name, *words]), sum(far for _, far in chosen)


def _list_choices(
    slot: Modifier, explicit: str | None, keywords: Mapping[str, str | bool], hints: OperandHints, form: Form
) -> list[tuple[str | None, int]]:
    if explicit is not None:
        return [(explicit, 0)]
    keyword = keywords.get(slot.name)
    if isinstance(keyword, str):
        return [(keyword.removeprefix("."), 0)]
    usual = [value for value in slot.values if not _is_only_tolerated(form, slot, value)]
    if keyword is True or (len(usual) == 1 and not slot.optional):
        return [(usual[0], int(is_type(usual[0])))]  # an implied type ranks after the type of an operand
    absent: list[tuple[str | None, int]] = [(None, 0)] if slot.optional else []
    values = frozenset(slot.values)
    if keyword is False:
        return absent
    if values <= SPACES:
        return absent + [(value, 0) for value in slot.values]
    if values <= VECTORS:
        return absent + [(f"v{length}", 0) for length in hints.vectors if f"v{length}" in values]
    if slot.optional:
        # Assemblers accept opcodes without the `.aligned` of wgmma, which the manual requires.
        return absent + [(value, 0) for value in slot.values if form.tolerances and len(slot.values) == 1]
    if any(is_type(value) for value in values):
        return _list_type_choices(values, hints)
    raise MissingModifierError(slot, form)


def _is_only_tolerated(form: Form, slot: Modifier, value: str) -> bool:
    """Returns whether assemblers accept the value although the manual does not have it, and no other slot decides
    that.
    """
    others = [other for other in form.modifiers if other is not slot]
    if not form.tolerances or any(other.optional or len(other.values) > 1 for other in others):
        return False
    chosen = {other.name: other.values[0] for other in others} | {slot.name: value}
    return any(is_true(fold(each.condition, form, chosen)) for each in form.tolerances)


def _list_type_choices(values: frozenset[str], hints: OperandHints) -> list[tuple[str | None, int]]:
    """Returns the operands' types that a slot accepts, followed by the untyped ones of the same widths."""
    found: dict[str | None, int] = {}
    for word in hints.types:
        if word in values:
            found.setdefault(word, 0)
        if (untyped := as_bits(word)) in values and word != "pred":
            found.setdefault(untyped, 1)
    return list(found.items())
