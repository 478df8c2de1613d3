"""PTX206: a register holds a value that its instruction does not accept.

What it does
    Finds invalid values in registers: sizes of bulk copies that are not a multiple of 16, arrival counts of an mbarrier
    that are 0 or above 2^20-1, more expected bytes than a phase can track, a `src-size` above the `cp-size`, barrier
    numbers above 15, and thread counts of a barrier that are not a multiple of 32. Constants in the instruction itself
    are PTX105. If the kernel declares the size of its clusters, masks and addresses that name a CTA outside the cluster
    are reported too.

Why it matters
    The behavior is undefined: the copy may fault or be incomplete, the mbarrier may never complete a phase or complete
    it at once, and data for a CTA that does not exist is lost.

Example
    mov.u32 %r1, 24;
    cp.async.bulk.prefetch.L2.global [%rd1], %r1;

Use instead
    mov.u32 %r1, 32;
    cp.async.bulk.prefetch.L2.global [%rd1], %r1;

ISA section
    "cp.async.bulk", "cp.async", "Contents of the mbarrier object", "mapa", "bar, barrier". Catalogue: AS13,
    BK1, BK14, BR1, CA7, MB1, MB8.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.cluster.cluster_facts import has_unknown_cluster_size
from ptxkit.analysis.context.kernel_facts import KernelFacts
from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.symexec.finding_validity import OperandValidity
from ptxkit.analysis.symexec.trace import OperandViolation
from ptxkit.diagnostics.catalogue import fix_titles, ptx2xx, ptx3xx
from ptxkit.rules.address_proofs import prove_number
from ptxkit.rules.function_proofs import FunctionProofs
from ptxkit.rules.model import Finding, FixCandidate, Observation, OpenObligation, Rule, StepEdit
from ptxkit.rules.obligation_sites import sites_of_numbers
from ptxkit.rules.operand_agreement import observe_further_ctas, observe_operand_violations

#: The kinds of violations by a number.
KINDS = ("multiple", "range", "rule", "rank", "mask")
#: Those that depend on the number of CTAs of a cluster.
_KINDS_OF_CLUSTERS = ("rank", "mask")


def check(kernel: KernelFacts) -> Iterator[Observation | OpenObligation]:
    """Checks every size, count and number of bytes that is known as a number."""
    grounds, proofs = OperandValidity(kernel.program, kernel.explorer.launch), kernel.program.analysis(FunctionProofs)
    is_size_unknown = has_unknown_cluster_size(kernel)

    def is_reported(misfit: OperandViolation) -> bool | None:
        if misfit.kind not in KINDS or (is_size_unknown and misfit.kind in _KINDS_OF_CLUSTERS):
            return False
        decided = grounds.is_launch_independent(misfit)
        return _is_constant(proofs, misfit) if decided is False else decided

    def is_certain(misfit: OperandViolation) -> bool:
        certainty, step = kernel.explorer.input_independence, misfit.step
        is_known = bool(is_reported(misfit)) and certainty.program.contains(step)
        is_fixed = is_known and certainty.has_fixed_value(step, step.operand(misfit.role))
        return is_fixed and not certainty.may_argument_select_threads(step, of_cta=True)

    known = list(observe_operand_violations(kernel, is_reported, _finding))
    yield from (*known, *observe_further_ctas(kernel, known, is_certain, _finding))
    if is_size_unknown:
        for step in _steps_for_larger_clusters(kernel):
            yield OpenObligation(step, ptx3xx.CLUSTER_SIZE_NOT_KNOWN(), "cluster")


def _steps_for_larger_clusters(kernel: KernelFacts) -> list[Step]:
    """Returns the instructions with the number or the mask of a CTA that the executed cluster does not have."""
    traces = (thread.trace for facts in kernel.scenarios for thread in facts.threads.values())
    found = (misfit for trace in traces for misfit in trace.operand_violations.values())
    return list(dict.fromkeys(misfit.step for misfit in found if misfit.kind in _KINDS_OF_CLUSTERS))


def _is_constant(proofs: FunctionProofs, misfit: OperandViolation) -> bool:
    """Returns whether a number is the same on all paths, though its register holds others elsewhere."""
    operand = misfit.step.operand(misfit.role)
    held = proofs.values.value_at(misfit.step, operand) if operand is not None else ()
    if len(held) != 1 or held[0].base is not None:
        return False
    low, high, _ = held[0].offset.unsigned
    return low == high == misfit.value


def _finding(misfit: OperandViolation) -> Finding:
    match misfit.kind:
        case "multiple":
            message = ptx2xx.NOT_A_MULTIPLE(value=misfit.value, role=misfit.role, required=misfit.required)
            fix = ptx2xx.ROUND_TO_MULTIPLE(required=misfit.required)
        case "rule":
            message = ptx2xx.BREAKS_OPERAND_RULE(value=misfit.value, role=misfit.role, rule=misfit.rule)
            fix = ptx2xx.KEEP_OPERAND_RULE()
        case "rank":
            message = ptx2xx.RANK_BEYOND_CLUSTER(value=misfit.value, required=misfit.required)
            fix = ptx2xx.KEEP_RANK_BELOW_SIZE()
        case "mask":
            message = ptx2xx.MASK_NAMES_MISSING_CTAS(value=misfit.value, required=misfit.required)
            fix = ptx2xx.KEEP_MASK_BELOW(required=misfit.required)
        case _:
            beyond = "below" if misfit.value < misfit.required else "above"
            message = ptx2xx.BEYOND_OPERAND_LIMIT(
                value=misfit.value, beyond=beyond, required=misfit.required, role=misfit.role
            )
            fix = ptx2xx.KEEP_WITHIN_LIMIT()
    return Finding(
        primary=misfit.step,
        message=message,
        help=fix,
        properties={"operand": misfit.role, "value": misfit.value},
        fixes=tuple(_fixes(misfit)),
    )


def _fixes(misfit: OperandViolation) -> Iterator[FixCandidate]:
    """Yields the nearest multiples on both sides; for a mask, the CTAs that exist."""
    needed, value, match = misfit.required, misfit.value, misfit.step.match
    if misfit.kind == "multiple":
        numbers = [value - value % needed + needed, value - value % needed]
    else:
        numbers = [value & (1 << needed) - 1] if misfit.kind == "mask" else []
    place = match.roles.get(misfit.role) if match is not None and not match.paths.get(misfit.role) else None
    if place is None:
        return
    for number in numbers:
        yield FixCandidate(fix_titles.WRITE(text=number), (StepEdit(misfit.step, str(number), place),), safe=False)


RULE = Rule(ptx2xx.NUMBER_OUT_OF_RANGE, check, sites=sites_of_numbers, prove=prove_number)
