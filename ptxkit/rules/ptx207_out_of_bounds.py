"""PTX207: an access is outside the variable that its address is derived from.

What it does
    Finds loads, stores, copies and mbarrier operations that access bytes before the beginning or after the end of a
    variable of known size, if the address is that variable plus an offset that is the same in every launch, and a
    thread certainly executes the access. It is a warning if arguments determine whether the threads of the CTA execute
    the access, and not which of them do, and the smallest arguments lead to it. For a copy, all of its bytes must be
    within the variable. Nothing is reported if arguments determine the address, or arguments or data determine the
    number of iterations before it, or for shared memory whose size the launch determines (`.extern .shared`) itself. It
    is undecided if data contribute to an address that is the same in each execution, if data determine whether a thread
    accesses it, or arguments together with its position, and if only threads leave the variable that not all launches
    have. An access to shared memory that begins after the end of a variable is a warning, because assemblers place
    dynamic shared memory there.

Why it matters
    The assembler decides what is placed next to a variable: the access uses another variable or unallocated memory, or
    faults.

Example
    .shared .align 16 .b8 tile[256];
    ld.shared.v4.b32 {%r1, %r2, %r3, %r4}, [tile+248];

Use instead
    ld.shared.v4.b32 {%r1, %r2, %r3, %r4}, [tile+240];

ISA section
    "Variable Declarations", "Array Declarations", "Addresses as Operands". Catalogue: AS11, BK1, MB1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import TypeAlias

from ptxkit.analysis.context.kernel_facts import KernelFacts
from ptxkit.analysis.dataflow.input_independence import InputIndependence
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.symexec.check_bounds import accessed_ranges
from ptxkit.analysis.symexec.further_violations import violations_at_smallest_sizes
from ptxkit.analysis.symexec.trace import OperandViolation
from ptxkit.diagnostics import Severity
from ptxkit.diagnostics.catalogue import ptx2xx
from ptxkit.fast_dataclasses import replace
from ptxkit.rules.address_proofs import prove_bounds
from ptxkit.rules.function_proofs import FunctionProofs
from ptxkit.rules.model import Finding, Observation, OpenObligation, Rule
from ptxkit.rules.obligation_sites import (
    either,
    is_mbarrier_operation,
    is_memory_access,
    sites_at_loaded_addresses,
    sites_of,
)
from ptxkit.rules.operand_agreement import observe_further_ctas, observe_operand_violations
from ptxkit.semantics.layout import DeclaredVariable
from ptxkit.semantics.object_names import quote_variable
from ptxkit.semantics.value_ops import to_signed

_BaseVariables: TypeAlias = "Callable[[Step, str, bool, bool], DeclaredVariable | None]"
"""The variable on which an address depends: `_base_variable` for the program of a check, once for each operand."""


def check(kernel: KernelFacts) -> Iterator[Observation | OpenObligation]:
    """Checks every access whose address is known."""
    certainty = kernel.explorer.input_independence
    bases: _BaseVariables = cache(partial(_base_variable, certainty))

    def is_always_executed(misfit: OperandViolation) -> bool:
        return certainty.sole_variable(misfit.step, misfit.step.operand(misfit.role)) is not None

    at_smallest_sizes = cache(lambda: violations_at_smallest_sizes(kernel.explorer))

    def is_executed_for_some_arguments(misfit: OperandViolation) -> bool:
        if not _is_by_thread_only(certainty, misfit):
            return False
        same = [each for each in at_smallest_sizes() if (each.step, each.role) == (misfit.step, misfit.role)]
        return any(each.is_certain and _variable_and_offset(bases, each) is not None for each in same)

    def is_reported(misfit: OperandViolation) -> bool | None:
        if misfit.kind == "bounds" and not certainty.program.contains(misfit.step):
            return (None if _is_outside(misfit) else False) if misfit.is_in_every_launch else False
        if not misfit.is_in_every_launch or _variable_and_offset(bases, misfit) is None:
            return False
        return is_always_executed(misfit) or is_executed_for_some_arguments(misfit) or None

    def depends_on_block(misfit: OperandViolation) -> bool | None:
        is_known = _variable_and_offset(bases, misfit) is not None
        if is_known:
            return False if misfit.is_in_every_launch else None
        return False if _variable_and_offset(bases, misfit, given_block=True) is None else None

    def finding(misfit: OperandViolation) -> Finding:
        found = _finding(bases, misfit)
        return found if is_always_executed(misfit) else replace(found, severity=Severity.WARNING)

    known = list(observe_operand_violations(kernel, is_reported, finding))
    known.extend(observe_further_ctas(kernel, known, lambda x: bool(is_reported(x)) and is_always_executed(x), finding))
    yield from known
    steps = map(_step_of, observe_operand_violations(kernel, depends_on_block, finding))
    for step in dict.fromkeys(steps).keys() - set(map(_step_of, known)):
        yield OpenObligation(step, ptx2xx.LAST_THREADS_MAY_NOT_EXIST(), "block")
    for step in dict.fromkeys(_indexed_by_data(kernel.program)).keys() - set(map(_step_of, known)):
        yield OpenObligation(step, ptx2xx.DATA_MAY_LEAVE_VARIABLE())


def _indexed_by_data(program: Program) -> Iterator[Step]:
    """Yields the accesses of a variable at an offset that loaded data decide, and that may be outside the variable.

    Variables in local memory are left out: only their own thread uses them, and library functions index tables there
    by data, such as the digits of 2/pi.
    """
    proofs = program.analysis(FunctionProofs)
    for site, leaves in program.analysis(sites_at_loaded_addresses):
        variables = [site.step.scope.variable(leaf.name) for leaf in leaves if leaf.kind == "variable"]
        is_bounded = any(v is not None and v.fixed_size is not None and v.space != "local" for v in variables)
        if is_bounded and prove_bounds(proofs, site) is None:
            yield site.step


def _is_by_thread_only(certainty: InputIndependence, misfit: OperandViolation) -> bool:
    """Returns whether arguments only lead all threads to an access, in the first iteration of its loops."""
    step = misfit.step
    operand = step.operand(misfit.role)
    is_fixed = misfit.is_certain and certainty.has_fixed_value(step, operand)
    is_decided_elsewhere = any(leaf.kind == "unknown" for leaf in certainty.dependence_sources(step, operand))
    return is_fixed and not is_decided_elsewhere and not certainty.may_argument_select_threads(step, of_cta=True)


def _step_of(observed: Observation | OpenObligation) -> Step:
    return observed.step if isinstance(observed, OpenObligation) else observed.key[0]


def _is_outside(misfit: OperandViolation) -> bool:
    """Returns whether an access leaves the variable in which it begins, or begins in none."""
    variable = misfit.variable
    if variable is None:
        return True
    return variable.fixed_size is not None and misfit.value > variable.fixed_size - misfit.required


def _variable_and_offset(
    bases: _BaseVariables, misfit: OperandViolation, *, given_block: bool = False
) -> tuple[DeclaredVariable, int] | None:
    """Returns the variable from which an address is derived, and the offset of the access in bytes.

    The result is None if the access is correct or unknown. given_block: whether only launches of one block size are
    considered, so that loops over the threads of a block have a known number of iterations.
    """
    base = bases(misfit.step, misfit.role, misfit.is_certain, given_block) if misfit.kind == "bounds" else None
    if base is None or base.fixed_size is None:
        return None
    where = misfit.value
    if misfit.variable is not base:
        where += (misfit.variable.address if misfit.variable is not None else 0) - base.address
        where = to_signed(where, 32 if where < 1 << 32 else 64)  # a negative offset wraps
    return None if 0 <= where <= base.fixed_size - misfit.required else (base, where)


def _base_variable(
    certainty: InputIndependence, step: Step, role: str, is_certain: bool, given_block: bool
) -> DeclaredVariable | None:
    """Returns the only variable on which an address depends in the state space of the access.

    The result is None where arguments may contribute to the address, or where arguments or data decide after how many
    iterations it is used. is_certain: as for an `OperandViolation`. given_block: as for
    `_variable_and_offset`.
    """
    if step.match is None or not certainty.program.contains(step):
        return None
    operand = step.operand(role)
    name = certainty.sole_variable(step, operand)
    if name is not None:
        return step.scope.variable(name)
    if not certainty.dependence.depends_on_position_only(step, operand) and certainty.depends_on_arguments(
        step, operand
    ):
        return None
    is_later = certainty.depends_on_iterations(step, operand) and not is_certain
    if is_later and certainty.may_input_decide_iterations(step, operand, given_block=given_block):
        return None
    spaces = {space.partition("::")[0] for each, space, _ in accessed_ranges(step.match) if each == role}
    sources = certainty.dependence.sources_of(step, operand)
    named = [step.scope.variable(source.name) for source in sources if source.kind == "variable"]
    inside = [variable for variable in named if variable is not None and variable.space in spaces]
    return inside[0] if len(inside) == 1 else None


def _finding(bases: _BaseVariables, misfit: OperandViolation) -> Finding:
    found = _variable_and_offset(bases, misfit)
    assert found is not None
    variable, where = found
    name = quote_variable(variable.name) or ptx2xx.VARIABLE_OF_SPACE(space=variable.space)
    size = variable.fixed_size or 0
    if where < 0:
        message = ptx2xx.BEGINS_BEFORE(distance=_format_bytes(-where), variable=name)
    elif where >= size:
        distance = ptx2xx.PAST_END_BY(distance=_format_bytes(where - size)) if where > size else ptx2xx.AT_END()
        message = ptx2xx.BEGINS_PAST_END(place=distance, variable=name, size=_format_bytes(size))
    else:
        message = ptx2xx.RUNS_PAST_END(
            distance=_format_bytes(where + misfit.required - size), variable=name, size=_format_bytes(size)
        )
    may_be_given = variable.space == "shared" and where >= size
    return Finding(
        primary=misfit.step,
        message=ptx2xx.ACCESS_OUTSIDE_VARIABLE(size=_format_bytes(misfit.required), start=where, reason=message),
        help=ptx2xx.KEEP_WITHIN_VARIABLE(size=_format_bytes(misfit.required), variable=name),
        severity=Severity.WARNING if may_be_given else Severity.ERROR,
        properties={"operand": misfit.role, "variable": variable.name, "offset": where, "bytes": misfit.required},
    )


def _format_bytes(number: int) -> str:
    return f"{number} byte{'' if number == 1 else 's'}"


RULE = Rule(
    ptx2xx.OUT_OF_BOUNDS, check, sites=sites_of(either(is_memory_access, is_mbarrier_operation)), prove=prove_bounds
)
