"""Every form of the arithmetic chapters has semantics for all its modifiers, and these can be computed."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, product
from random import Random

import numpy as np
import pytest

from ptxkit.emulator.core import semantics_registry
from ptxkit.emulator.core.dtypes import unsigned_dtype, width_of
from ptxkit.isa import table
from ptxkit.isa.binding import bind_form
from ptxkit.isa.constant_folding import fold, is_true
from ptxkit.isa.forms import Form, Match, OperandForm

CHAPTERS = [
    "Floating Point Instructions",
    "Half Precision Floating Point Instructions",
    "Mixed Precision Floating Point Instructions",
    "Alternate Floating Point Instructions",
    "Half Precision Comparison Instructions",
    "Comparison and Selection Instructions: set",
    "Data Movement and Conversion Instructions: cvt",
]
LANES = 40
COMBINATIONS = 60
"""Combinations of modifiers tried for each form."""

FORMS = [
    form
    for name in table().names
    for form in table().forms(name)
    if any(form.section.startswith(chapter) for chapter in CHAPTERS) and not form.section.endswith("cvta")
]


def matches(form: Form, random: Random) -> Iterator[Match]:
    values = [(None, *slot.values) if slot.optional else slot.values for slot in form.modifiers]
    combinations = list(islice(product(*values), 20_000))
    random.shuffle(combinations)
    found = 0
    for combination in combinations:
        chosen = dict(zip((slot.name for slot in form.modifiers), combination, strict=True))
        if all(is_true(fold(rule.condition, form, chosen)) for rule in form.rules):
            yield from bind_form(form, chosen, table().value_gates)
            found += 1
        if found == COMBINATIONS:
            return


def operand(match: Match, role: str) -> OperandForm:
    found = match.operands[match.roles[role]]
    for step in match.paths.get(role, ()):
        found = found.elements[step]
    return found


def patterns(word: str, generator: np.random.Generator) -> np.ndarray:
    kind = unsigned_dtype(width_of(word))
    if kind is np.bool_:
        return generator.integers(0, 2, LANES).astype(bool)
    return generator.integers(0, np.iinfo(kind).max, LANES, dtype=kind, endpoint=True)


@pytest.mark.parametrize("form", FORMS, ids=lambda form: f"{form.file.rpartition('/')[2]}:{form.line}")
def test_the_semantics_of_a_form_return_a_register_of_its_type(form: Form) -> None:
    generator = np.random.default_rng(1)
    for match in matches(form, Random(1)):
        meanings = table().semantics_of(match)
        if not meanings:
            exact = any(type(effect).__name__ == "Value" for effect in match.effects)
            assert exact or form.tolerated, match.canonical
        for meaning in meanings:
            function = semantics_registry.value_semantics_table()[meaning.function](**meaning.named_arguments)
            given = []
            for each in meaning.operands:
                if not hasattr(each, "name"):
                    given.append(None)
                    continue
                form_of = operand(match, each.name)
                word = str(form_of.type.value)
                one = [patterns(word, generator) for _ in range(form_of.count.value if form_of.count else 1)]
                given.append(tuple(one) if form_of.kind == "vector" else one[0])
            results = function(*given)
            results = results if isinstance(results, tuple) else (results,)
            for role, result in zip(meaning.results, results, strict=True):
                if role is not None:
                    word = str(operand(match, role).type.value)
                    assert result.dtype == unsigned_dtype(width_of(word)), (match.canonical, role, word)
                    assert result.shape == (LANES,), match.canonical
