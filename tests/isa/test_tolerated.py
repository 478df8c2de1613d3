"""What assemblers take beyond the manual: every entry has its reason, and ptxas still takes it."""

from __future__ import annotations

from random import Random

import pytest

from ptxkit.isa import table
from ptxkit.isa.forms import Form
from ptxkit.isa.instances import instances, scaffold
from ptxkit.isa.loader import load_texts
from ptxkit.isa.table import Table
from ptxkit.testing.agreement import PAIRS, why_refused
from ptxkit.testing.ptxas import installed

TOLERATED = [form for name in table().names for form in table().forms(name) if form.tolerated]


def is_taken(form: Form) -> bool:
    """Whether ptxas and ptxkit take some instance of the form, on some version and target."""
    newest = installed()[0]
    for version, target in reversed(PAIRS):
        made = instances(form, table().value_gates, Random(form.syntax), 12)
        modules = [scaffold([each.text], version, target) for each in made]
        # One by one: texturing modes must not differ among the modules of one process.
        if any(why_refused(module) is None and newest.refusal(module, target) is None for module in modules):
            return True
    return False


@pytest.mark.parametrize("form", TOLERATED, ids=lambda form: f"{form.file}:{form.line}")
def test_a_tolerated_form_has_a_reason_and_is_taken(form: Form) -> None:
    assert len(form.tolerated) > 15
    assert is_taken(form), form.syntax


def test_the_manuals_forms_come_before_those_that_are_tolerated() -> None:
    for name in table().names:
        order = [form.tolerated != "" for form in table().forms(name)]
        assert order == sorted(order), name


NOTATION = """
chapter "Test"
tolerance odd_order "in an odd order"
tolerance ignored_modifier "not seen"
ignored .blind
section "Test: frob"
summary "Does nothing."
  tolerate "no manual has it"
form frob.<t>.<u> d:.u32
  t = .one
  u = .two .three
section "Test: frob"
summary "Does nothing."
form frob.<t> d:.u32
  t = .one
"""


@pytest.mark.parametrize(
    ("opcode", "tolerated"),
    [("frob.one", ""), ("frob.one.two", "no manual has it"), ("frob.one.blind", "not seen")],
)
def test_a_match_says_why_it_is_tolerated(opcode: str, tolerated: str) -> None:
    (match,) = Table(load_texts({"test.isa": NOTATION})).candidates(opcode)
    assert match.tolerated == tolerated


def test_what_nobody_tolerates_has_no_match() -> None:
    known = Table(load_texts({"test.isa": NOTATION}))
    assert known.candidates("frob.two") == ()
    assert known.candidates("frob.one.blond") == ()
