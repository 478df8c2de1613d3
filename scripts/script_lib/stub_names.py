"""The names of the builder's instruction methods that editors and type checkers know.

At run time, a name may spell out any of an instruction's modifiers: there are a million. The signatures have those that
are written: with the modifiers that a name must spell out, and the usual additions, of which each name has one kind.
All other modifiers are keywords, which have types: `k.ld(a, sem="acquire", sc="gpu", vec="v2")`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from math import prod

from ptxkit.build.method_names import SPACES, VECTORS, find_readings, to_name_part
from ptxkit.isa import table
from ptxkit.isa.forms import Form, Modifier
from ptxkit.isa.functions import is_type
from script_lib.stub_signatures import is_valid_name

MAX_COMBINATIONS = 8
"""The number of names that one kind of addition may have in a form; others are keywords only."""

MAX_FIXED_NAMES = 4
"""The same for names that also have the types that all opcodes of the form have, as `cvt_rn_bf16x2_f32` has."""

MAX_TYPED_NAMES = 200
"""The same for names with all types, of forms that need nothing else, as `cvt` has."""


@dataclass(frozen=True)
class MethodNames:
    """The names: `plain` ones have the stem and what they must spell out, `others` omit or add words."""

    plain: frozenset[str]
    others: frozenset[str]


def list_method_names() -> MethodNames:
    """Returns the names that some form has."""
    found: tuple[set[str], set[str]] = set(), set()
    for opcode in table().names:
        for form in table().forms(opcode):
            for name, is_other in _names(form):
                found[is_other].add(name)
    plain, others = (frozenset(filter(is_valid_name, names)) for names in found)
    return MethodNames(plain, others - plain)


def _names(form: Form) -> Iterator[tuple[str, bool]]:
    """Yields the names of one form, and whether they are longer or shorter than the plain ones.

    A plain name has the stem and the mandatory modifiers. Others omit words of the stem, have the words that all
    opcodes of the form have, or one addition: all types, all state spaces, or one optional modifier.
    """
    if form.tolerated:
        return
    slots = form.modifiers
    mandatory = [index for index, slot in enumerate(slots) if is_mandatory(slot)]
    fixed = [index for index, slot in enumerate(slots) if _is_fixed(slot) and not _is_space(slot)]
    untyped = [index for index in fixed if not is_type(slots[index].values[0])]
    types = [index for index, slot in enumerate(slots) if _is_type(slot)]
    spaces = [index for index, slot in enumerate(slots) if _is_space(slot) and not slot.stem]
    optional = [index for index, slot in enumerate(slots) if slot.optional and not _is_space(slot) and not slot.stem]
    stem, shortest = _stem(form), _shortest_stem(form)
    yield from ((name, False) for name in _spell(form, stem, {*mandatory}))
    for beginning, implied in product((stem, shortest), ([], untyped, fixed)):
        yield from ((name, True) for name in _spell(form, beginning, {*mandatory, *implied}))
    for more in (types, spaces, *([index] for index in (*optional, *spaces))):
        for implied in ([], untyped, fixed) if more else ():
            chosen = {*mandatory, *more, *implied}
            limit = MAX_FIXED_NAMES if implied is fixed else MAX_COMBINATIONS
            limit = MAX_TYPED_NAMES if more is types and not mandatory else limit
            if prod(len(slots[index].values) for index in chosen) <= limit:
                yield from ((name, True) for name in _spell(form, stem, chosen))


def _spell(form: Form, stem: tuple[str, ...], chosen: set[int]) -> Iterator[str]:
    values = [slot.values for index, slot in enumerate(form.modifiers) if index in chosen]
    for words in product(*values):
        yield "_".join([form.name, *stem, *map(to_name_part, words)])


def _stem(form: Form) -> tuple[str, ...]:
    return tuple(to_name_part(slot.name) for slot in form.modifiers if slot.stem)


def _shortest_stem(form: Form) -> tuple[str, ...]:
    """Returns the words that all names of a form begin with: those of its stem that no name may omit."""
    shortest = _stem(form)
    for index in reversed(range(len(shortest))):
        without = (*shortest[:index], *shortest[index + 1 :])
        rest = "_".join([form.name, *without, *(to_name_part(s.values[0]) for s in form.modifiers if is_mandatory(s))])
        if any(reading.form is form for reading in find_readings(rest)):
            shortest = without
    return shortest


def _is_space(slot: Modifier) -> bool:
    return frozenset(slot.values) <= SPACES


def _is_type(slot: Modifier) -> bool:
    return not slot.stem and not slot.optional and len(slot.values) > 1 and any(map(is_type, slot.values))


def _is_fixed(slot: Modifier) -> bool:
    return not slot.stem and not slot.optional and len(slot.values) == 1


def is_mandatory(slot: Modifier) -> bool:
    """Returns whether a name must spell the modifier out: it has several values, which no operand implies."""
    implied = slot.optional or _is_space(slot) or frozenset(slot.values) <= VECTORS or _is_type(slot)
    return not (slot.stem or implied or _is_fixed(slot))
