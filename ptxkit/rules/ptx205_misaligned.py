"""PTX205: the address of an access is misaligned.

What it does
    Finds misaligned addresses in shared and local memory, and of variables in global and constant memory. The required
    alignment is the size of the access, 16 bytes for bulk copies, 128 bytes for tensor copies (a warning, if the
    address is a multiple of 16), and 8 bytes for an mbarrier. The check covers each thread of a warp; for `ldmatrix`
    and `stmatrix`, it covers each thread that supplies the address of a row.

    The alignment of a variable is the one that it declares. If an mbarrier or an asynchronous copy needs more than
    `.align` guarantees, the finding is an error. For other accesses it is a warning, because much code relies on
    assemblers aligning arrays to 16 bytes; it is a warning of `--policy strict` only if the launch determines the size
    of the memory. Nothing is reported if the kernel tests the address itself. The alignment of a pointer to global
    memory is unknown; but if the distance of two accesses is not a multiple of the alignment that both need, one of
    them is misaligned. The question is open where the size of the grid decides the alignment, or the number of the CTA:
    the second CTA is executed where an address depends on it. It is also open where loaded data decide the alignment of
    a vector or of an asynchronous copy. What arguments decide is a condition of the launch contract.

Why it matters
    A misaligned access faults, or ignores the low bits of the address. If the variable happens to be aligned, the
    kernel works until another variable is declared before it.

Example
    .shared .align 16 .b8 tile[256];
    mov.u32 %r1, tile;
    cp.async.cg.shared.global [%r1+8], [%rd1], 16;

Use instead
    cp.async.cg.shared.global [%r1+16], [%rd1], 16;

ISA section
    "Addresses as Operands", "Alignment", "Size and alignment of mbarrier object". Catalogue: AS11,
    BK1, CA7, MB1.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.context.kernel_facts import KernelFacts
from ptxkit.analysis.contract.parameter_multiples import is_wide_access
from ptxkit.analysis.dataflow.address_distances import AddressDistances
from ptxkit.analysis.dataflow.input_independence import InputIndependence
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.memory.cta_scope_atomics import reads_cta_position
from ptxkit.analysis.symexec.finding_validity import OperandValidity
from ptxkit.analysis.symexec.next_cta_alignment import find_misaligned_in_next_cta
from ptxkit.analysis.symexec.trace import OperandViolation
from ptxkit.diagnostics import Severity
from ptxkit.diagnostics.catalogue import ptx2xx
from ptxkit.isa.effects import Access
from ptxkit.rules.address_proofs import prove_alignment
from ptxkit.rules.function_proofs import FunctionProofs
from ptxkit.rules.model import Finding, Observation, OpenObligation, Rule
from ptxkit.rules.obligation_sites import is_memory_access, sites_at_loaded_addresses, sites_of
from ptxkit.rules.operand_agreement import observe_operand_violations
from ptxkit.semantics.object_names import quote_variable

#: The alignment in bytes of a bulk copy.
_BULK_COPY = 16


def check(kernel: KernelFacts) -> Iterator[Observation | OpenObligation]:
    """Checks every address that must be aligned and is known as a number."""
    grounds = OperandValidity(kernel.program, kernel.explorer.launch)
    strict = kernel.policy == "strict"

    yield from (OpenObligation(step, ptx2xx.MISALIGNED_IN_NEXT_CTA()) for step in _misaligned_in_next_cta(kernel))
    yield from (OpenObligation(step, ptx2xx.DATA_DECIDE_ALIGNMENT()) for step in _aligned_by_data(kernel.program))

    def is_reported(misfit: OperandViolation) -> bool | None:
        if misfit.kind not in ("alignment", "apart"):
            return False
        if misfit.kind == "apart":
            return True if misfit.is_certain else None
        return misfit.is_certain or strict or (misfit.variable is not None and not misfit.variable.is_open)

    # The dependences of an operand need the whole kernel, so they are computed only for a finding.
    if not any(observe_operand_violations(kernel, is_reported, _finding)):
        return
    certainty = kernel.explorer.input_independence

    def is_certain(misfit: OperandViolation) -> bool | None:
        reported = is_reported(misfit)
        decided = reported if reported is False else grounds.is_launch_independent(misfit)
        if decided is False and reported is not False and grounds.is_of_launch(misfit):
            return None
        if decided and (reported is None or not _is_reached_with_first_thread(certainty, misfit)):
            return None
        if decided and misfit.other is not None and not _is_distance_fixed(kernel, misfit, misfit.other):
            return None
        return decided

    yield from observe_operand_violations(kernel, is_certain, _finding)


def _aligned_by_data(program: Program) -> Iterator[Step]:
    """Yields the vector and asynchronous accesses at addresses whose alignment loaded data decide."""
    proofs = program.analysis(FunctionProofs)
    for site, _ in program.analysis(sites_at_loaded_addresses):
        if is_wide_access(site.step) and prove_alignment(proofs, site) is None:
            yield site.step


def _misaligned_in_next_cta(kernel: KernelFacts) -> list[Step]:
    """Returns the accesses that are misaligned in the second CTA of a grid only, or in one of the first two.

    Only addresses are examined that the number of the CTA decides, and no number among the arguments, if it is not
    proven that they are aligned.
    """
    program, dependence = kernel.program, kernel.explorer.input_independence.dependence
    proofs = program.analysis(FunctionProofs)
    asked: set[Step] = set()
    for site in sites_of(is_memory_access)(program) if reads_cta_position(program) else ():
        operand = site.step.operand(site.subject)
        if not program.contains(site.step) or dependence.depends_on_numbers(
            site.step, operand, kernel.explorer.pointers
        ):
            continue
        leaves = dependence.sources_of(site.step, operand)
        if any(leaf.name.startswith("%ctaid") for leaf in leaves) and prove_alignment(proofs, site) is None:
            asked.add(site.step)
    return find_misaligned_in_next_cta(kernel.explorer, asked) if asked else []


def _is_reached_with_first_thread(certainty: InputIndependence, misfit: OperandViolation) -> bool:
    """Returns whether the thread with that address reaches the access if the first thread does."""
    step = misfit.step
    if misfit.thread is None or (step.match is not None and step.match.is_aligned):
        return True
    return certainty.program.contains(step) and certainty.is_input_independent(step, None)


def _is_distance_fixed(kernel: KernelFacts, misfit: OperandViolation, other: Step) -> bool:
    """Returns whether no argument decides the distance of two addresses, modulo the alignment that both need."""
    if not (kernel.program.contains(misfit.step) and kernel.program.contains(other)):
        return False
    distances = kernel.program.analysis(AddressDistances)
    return distances.is_fixed(misfit.step, misfit.role, other, misfit.required)


def _finding(misfit: OperandViolation) -> Finding:
    variable = misfit.variable
    if misfit.other is not None:
        return _inconsistent_offsets(misfit, misfit.other)
    assert variable is not None
    name = quote_variable(variable.name) or ptx2xx.UNNAMED_VARIABLE(space=variable.space)
    properties = {"operand": misfit.role, "alignment": misfit.required, "variable": variable.name}
    needs = ptx2xx.NEEDS_ALIGNMENT(required=misfit.required)
    if not misfit.is_certain:
        severity = Severity.ERROR if not variable.is_open and _is_declared_for(misfit) else Severity.WARNING
        return Finding(
            primary=misfit.step,
            message=ptx2xx.DECLARATION_PROMISES_LESS(needs=needs, variable=name, alignment=variable.alignment),
            help=ptx2xx.DECLARE_ALIGNMENT(variable=name, required=misfit.required),
            severity=severity,
            properties=properties,
            group_key=("declaration", variable, misfit.required, severity),
        )
    step = min(misfit.required, variable.alignment)
    whose = ptx2xx.THIS_THREAD() if misfit.thread is None else ptx2xx.OTHER_THREAD(thread=misfit.thread)
    is_box_of_vectors = misfit.required > _BULK_COPY and not misfit.value % _BULK_COPY
    return Finding(
        primary=misfit.step,
        severity=Severity.WARNING if is_box_of_vectors else None,
        message=ptx2xx.ADDRESS_OFF_ALIGNMENT(needs=needs, whose=whose, rest=misfit.value % step, step=step),
        help=ptx2xx.MOVE_TO_MULTIPLE(required=misfit.required, variable=name),
        properties=properties,
    )


def _inconsistent_offsets(misfit: OperandViolation, other: Step) -> Finding:
    return Finding(
        primary=misfit.step,
        message=ptx2xx.ADDRESSES_OFF_EACH_OTHER(required=misfit.required, distance=misfit.value),
        labels=((other, ptx2xx.ADDRESS_BY_SAME_POINTER()),),
        help=ptx2xx.ALIGN_DISTANCE(),
        properties={"operand": misfit.role, "alignment": misfit.required},
    )


def _is_declared_for(misfit: OperandViolation) -> bool:
    """Returns whether the declaration must guarantee the alignment: for an mbarrier, or the operand of a bulk copy."""
    effects = misfit.step.effects
    accesses = [effect for effect in effects if isinstance(effect, Access) and effect.address == misfit.role]
    return not accesses or any(access.completion is not None for access in accesses)


RULE = Rule(ptx2xx.MISALIGNED_ADDRESS, check, sites=sites_of(is_memory_access), prove=prove_alignment)
