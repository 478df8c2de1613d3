"""Every form of the instruction table can be written by its method's name, and with its full opcode."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

import pytest

from ptxkit.build import Kernel
from ptxkit.build.method_names import to_name_part
from ptxkit.build.operand_assignment import find_result_roles
from ptxkit.isa import table
from ptxkit.isa.forms import OperandForm
from ptxkit.isa.instance_generator import InstructionInstance, instances
from ptxkit.syntax import parse, tree

MODULE = ".version 9.0\n.target sm_100a\n.address_size 64\n.entry e()\n{{\n{}\n}}\n"


def some(name: str) -> Iterator[InstructionInstance]:
    """Returns an instance of each form of the manual that begins with that word."""
    random = Random(7)
    for form in table().forms(name):
        if not form.tolerated:
            yield from instances(form, table().value_gates, random, 1)


def instruction(text: str) -> tree.Instruction:
    function = parse(MODULE.format(text)).items[-1]
    assert isinstance(function, tree.Function)
    assert function.body is not None
    (found,) = [each for each in function.body.statements if isinstance(each, tree.Instruction)]
    return found


def give_operands(
    forms: Sequence[OperandForm], operands: Sequence[tree.Operand], results: frozenset[str]
) -> Iterator[tree.Operand]:
    """Returns the operands that are not results: the arguments of a method."""
    for form, operand in zip(forms, operands, strict=False):
        parts: Sequence[tree.Operand] = (operand,)
        if isinstance(operand, tree.Pair):
            parts = (operand.first, operand.second)
        elif isinstance(operand, tree.Vector):
            parts = operand.elements
        if form.kind in ("pair", "vector") and form.elements and any(each.role in results for each in form.elements):
            yield from give_operands(form.elements, parts, results)
        elif form.kind != "sink" and not (form.role in results and form.kind in ("register", "vector")):
            yield operand


@pytest.mark.parametrize("name", table().names)
def test_every_form_is_written_by_its_name_and_with_its_full_opcode(name: str) -> None:
    for each in some(name):
        wanted = instruction(each.text)
        k = Kernel("k")
        k.emit(wanted.opcode, *wanted.operands)
        operands = list(give_operands(each.match.operands, wanted.operands, find_result_roles(each.match)))
        k.instruction(to_name_part(wanted.opcode), operands)
        spelled_out, by_name = (entry.statement for entry in k.recorder.body)
        assert spelled_out == wanted
        assert isinstance(by_name, tree.Instruction)
        printed = set(by_name.opcode.split("."))
        assert printed >= set(wanted.opcode.split("."))  # and words that assemblers let users omit, the builder writes
