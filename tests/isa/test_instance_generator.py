"""Generated instances cover everything that the table describes."""

from __future__ import annotations

from collections import defaultdict
from random import Random

import pytest

from ptxkit.isa import table
from ptxkit.isa.forms import Form
from ptxkit.isa.harness_module import harness_module
from ptxkit.isa.instance_generator import instances
from ptxkit.syntax import parse

FORMS = [form for name in table().names for form in table().forms(name)]
MANY = 400
"""The number of instances that suffice to generate each kind of operand."""


def make_one(form: Form, count: int) -> list[str]:
    return [each.text for each in instances(form, table().value_gates, Random(form.syntax), count)]


@pytest.mark.parametrize("name", table().names)
def test_every_form_has_an_instance_that_parses(name: str) -> None:
    for form in table().forms(name):
        (text,) = make_one(form, 1)
        assert parse(harness_module([text], (9, 5), "sm_100a")).functions()


def test_every_modifier_value_of_every_form_is_generated() -> None:
    """In some form of the section at least: rules in one of its forms restrict what is common to several."""
    missing: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    reached: set[tuple[str, str, str]] = set()
    for form in FORMS:
        values = {(slot.name, value) for slot in form.modifiers for value in slot.values}
        for each in instances(form, table().value_gates, Random(1), 2 * len(values) + 8):
            chosen = set(each.match.modifiers.items())
            values -= chosen
            reached |= {(form.section, name, value) for name, value in chosen if value is not None}
            if not values:
                break
        for name, value in values:
            missing[form.section, name, value].append(f"{form.file}:{form.line}")
    assert {value: places for value, places in missing.items() if value not in reached} == {}


def test_the_same_seed_gives_the_same_instances() -> None:
    for form in FORMS[::20]:
        assert make_one(form, 5) == make_one(form, 5)


def test_every_kind_of_operand_is_generated() -> None:
    forms = [form for form in table().forms("ld") if "{.<vec>}" in form.syntax]
    texts = " ".join(text for form in forms for text in make_one(form, MANY))
    for wanted in ("[global_", "[shared_", "[parameter", "+16]", "+-16]", "{%", "%v2"):
        assert wanted in texts
