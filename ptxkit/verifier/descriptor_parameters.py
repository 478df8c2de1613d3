"""Finds the parameters that a kernel passes to matrix multiplications as instruction descriptors.

A host computes these numbers with the types and the shape of the matrices; no small number is valid.

Source: PTX ISA, "Instruction descriptor".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ptxkit.analysis.contract.linear_parameters import LinearParameters
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.values.scenario import ParameterKey
from ptxkit.emulator.tensor.instruction_descriptor import MmaKind, usual_descriptors

_DESCRIPTOR_ROLE = "idesc"
"""The name of the operand in the instruction table."""


def find_descriptor_parameters(program: Program) -> Mapping[ParameterKey, Sequence[int]]:
    """Returns the parameters that are instruction descriptors, with numbers that are valid for the multiplication."""
    using = [step for step in program.steps if step.operand(_DESCRIPTOR_ROLE) is not None]
    linear, found = LinearParameters(program), {}
    for step in using:
        place = linear.parameter_of(step, step.operand(_DESCRIPTOR_ROLE))
        numbers = usual_descriptors(_kind_of(step)) if place is not None else ()
        if place is not None and numbers:
            found[place.symbol, place.offset] = numbers
    return found


def _kind_of(step: Step) -> MmaKind:
    assert step.match is not None
    modifiers = {name: str(value) for name, value in step.match.modifiers.items()}
    name, group = modifiers.get("kind", "").rpartition("::")[2], modifiers.get("cg", "1")
    return MmaKind(name, int(group[-1]), sparse="meta" in step.match.roles)
