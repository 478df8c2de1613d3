"""Derives of which numbers an address or a size in a parameter must be a multiple.

Addresses are those of vector, asynchronous and bulk accesses, and of tensor maps. Numbers are the sizes of bulk copies,
and the thread counts of barriers.

Source: PTX ISA, "Addresses as Operands", "cp.async.bulk", "Tensor-map Objects", "bar, barrier".
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.contract.certain_steps import CertainSteps
from ptxkit.analysis.contract.derived_condition import DerivedCondition, scope_of
from ptxkit.analysis.contract.linear_parameters import LinearParameters
from ptxkit.analysis.dataflow.param_variables import param_variable, param_variable_writes
from ptxkit.analysis.ir.called_functions import sole_calls
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.symexec.check_address_space import address_operands
from ptxkit.analysis.symexec.check_operands import numbers_with_limits, required_alignment
from ptxkit.isa.effects import Access
from ptxkit.model.launch_contract import ParameterMultiple
from ptxkit.syntax.tree import Address, Name, Operand, Vector, operand_names
from ptxkit.tensormap_limits import MAP_ALIGNMENT

#: The alignment in bytes that is not worth a condition, because elements of most arrays have it.
_USUAL_ALIGNMENT = 4


def find_parameter_multiples(
    program: Program, linear: LinearParameters, certain: CertainSteps
) -> Iterator[DerivedCondition]:
    """Yields the conditions that follow from each instruction."""
    for step, wanted in find_multiples(program, linear):
        declared = wanted.is_address and not linear.declared_alignment(wanted.parameter) % wanted.divisor
        scope = scope_of(certain.is_certain(step))
        yield DerivedCondition(wanted, step, scope, is_declared=declared and not wanted.remainder)


def find_multiples(program: Program, linear: LinearParameters) -> Iterator[tuple[Step, ParameterMultiple]]:
    """Yields the instructions that need a parameter to be a multiple of a number."""
    for step in program.own_effectful_steps:
        for operand, divisor, is_address in _divisors(step):
            for form in linear.forms_of(step, operand):
                solution = form.solve(divisor)
                if solution is not None and not (is_address and solution[0] <= _USUAL_ALIGNMENT):
                    yield step, ParameterMultiple(form.parameter, *solution, is_address=is_address)


def find_multiples_of_callees(
    program: Program, linear: LinearParameters
) -> Iterator[tuple[Step, Step, ParameterMultiple]]:
    """Yields (call, instruction, condition) for the numbers in functions that only one call of the kernel enters.

    linear: the parameters of the kernel, from which the arguments of the call are computed.
    """
    for call, code in sole_calls(program):
        own, arguments = LinearParameters(code), stored_arguments(program, call, code)
        for step in code.own_effectful_steps:
            for operand, divisor, is_address in _divisors(step):
                for form in own.forms_of(step, operand) if not is_address else ():
                    store = arguments.get(form.parameter.symbol)
                    for argument in linear.forms_of(store, store.instruction.operands[1]) if store is not None else ():
                        solution = form.substitute(argument).solve(divisor)
                        if solution is not None:
                            yield call, step, ParameterMultiple(argument.parameter, *solution, is_address=False)


def stored_arguments(program: Program, call: Step, code: Program) -> dict[str, Step]:
    """Returns the only store to each argument of a call, by the name of the parameter."""
    passed = list(operand_names(call.operand("parameters")))
    names = [each.name for declaration in code.function.parameters for each in declaration.declarators]
    writes = program.analysis(param_variable_writes)
    stores = (
        (name, writes.get(param_variable(call.scope, given) or "", ()))
        for name, given in zip(names, passed, strict=False)
    )
    return {name: steps[0] for name, steps in stores if len(steps) == 1}


def _divisors(step: Step) -> Iterator[tuple[Operand, int, bool]]:
    """Yields the operands of a step that must be multiples of a number: (operand, number, whether an address)."""
    if step.match is None:
        return
    if is_wide_access(step):
        for form, _ in address_operands(step.match):
            operand = step.operand(form.role)
            needed = MAP_ALIGNMENT if form.object == "tensormap" else required_alignment(step, form) or 1
            if isinstance(operand, Address) and needed > 1:
                yield operand, needed, True
    for role, limits in numbers_with_limits(step.match):
        operand = step.operand(role)
        if isinstance(operand, Name) and limits.step > 1:
            yield operand, limits.step, False


def is_wide_access(step: Step) -> bool:
    """Returns whether an access is asynchronous or of a vector, so that it needs more than its element's alignment."""
    accesses = [effect for effect in step.effects if isinstance(effect, Access)]
    is_vector = any(isinstance(operand, Vector) for operand in step.instruction.operands)
    return any(access.completion is not None or access.proxy != "generic" or is_vector for access in accesses)
