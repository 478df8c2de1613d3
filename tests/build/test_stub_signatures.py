"""The signatures for type checkers accept every instance of the forms of the table."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from random import Random
from typing import Any

import pytest

from ptxkit.build.function_builder import FunctionBuilder
from ptxkit.build.operand_assignment import find_result_roles
from ptxkit.isa import table
from ptxkit.isa.forms import Form
from ptxkit.isa.instance_generator import InstructionInstance, instances
from ptxkit.syntax import tree
from tests.build.test_every_form import give_operands, instruction

SCRIPTS = Path(__file__).parents[2] / "scripts"
INSTANCES = 2


@pytest.fixture(scope="module")
def signatures() -> Any:
    sys.path.insert(0, str(SCRIPTS))
    try:
        return importlib.import_module("script_lib.stub_signatures"), importlib.import_module("script_lib.stub_names")
    finally:
        sys.path.remove(str(SCRIPTS))


def draw_instances(name: str) -> list[tuple[Form, InstructionInstance]]:
    random = Random(11)
    forms = [form for form in table().forms(name) if not form.tolerated]
    return [(form, each) for form in forms for each in instances(form, table().value_gates, random, INSTANCES)]


def plain_name(form: Form, each: InstructionInstance, names: Any) -> str:
    """Returns the name that spells out the stem and the mandatory modifiers of an instance."""
    words = [
        slot.name if slot.stem else each.match.modifiers[slot.name]
        for slot in form.modifiers
        if is_spelled(slot, names)
    ]
    return "_".join([form.name, *(names.to_name_part(word) for word in words if word)])


def is_spelled(slot: Any, names: Any) -> bool:
    return bool(slot.stem or names.is_mandatory(slot))


def accepts(kinds: tuple[str, ...], operand: tree.Operand) -> bool:
    """Returns whether annotations allow an operand, by its kind: an address, a number, several values, a register."""
    match operand:
        case tree.Address(index=index):
            return any("Address" in kind or kind.endswith("[Any]") or "§" in kind for kind in kinds) or bool(index)
        case tree.Integer() | tree.Float() | tree.Unary():
            return bool({"int", "float", "Value"} & {*kinds})
        case tree.Vector():
            return "Sequence[Value]" in kinds
    return any(kind.startswith(("Register", "Value", "Label", "Sequence")) for kind in kinds)


@pytest.mark.parametrize("name", table().names)
def test_every_instance_fits_a_signature_of_its_plain_name(name: str, signatures: Any) -> None:
    module, names = signatures
    for form, each in draw_instances(name):
        plain = plain_name(form, each, names)
        overloads = module.list_overloads(plain)
        if hasattr(FunctionBuilder, plain) or not overloads:
            continue  # a method of the builder, or any operands
        if any(isinstance(operand, tree.Element) for operand in instruction(each.text).operands):
            continue  # an element of an array is written as `array[i]` with the builder
        given = list(give_operands(each.match.operands, instruction(each.text).operands, find_result_roles(each.match)))
        fitting = [
            one
            for one in overloads
            if sum(not operand.optional for operand in one.operands) <= len(given) <= len(one.operands)
            and all(accepts(operand.kinds, value) for operand, value in zip(one.operands, given, strict=False))
        ]
        assert fitting, (plain, each.text, overloads)
