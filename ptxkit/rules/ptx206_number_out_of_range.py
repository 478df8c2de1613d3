"""PTX206: a register holds a number that its instruction does not take.

What it does
    Finds sizes of bulk copies that are no multiple of 16, counts of an mbarrier that are 0 or above
    2^20-1, more bytes than a phase can wait for, a `src-size` above the `cp-size`, barriers above
    15 and numbers of threads at a barrier that are no multiple of 32, where they come from a
    register. Constants in the instruction itself are PTX105. Of clusters whose size
    is declared, it finds masks and addresses that go to a CTA which the cluster does not have.

Why it matters
    The behaviour is undefined: the copy may fault or stop short, the mbarrier may never complete
    a phase, or do so at once; a CTA that is not there takes no bytes.

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

from ptxkit.analysis.context.kernel_facts import KernelFacts
from ptxkit.analysis.symexec.finding_validity import OperandValidity
from ptxkit.analysis.symexec.trace import OperandViolation
from ptxkit.diagnostics.catalogue import ptx2xx
from ptxkit.rules.model import Finding, FixCandidate, Observation, OpenObligation, Rule, StepEdit
from ptxkit.rules.operand_agreement import observe_operand_violations

#: What may be wrong with a number.
KINDS = ("multiple", "range", "rule", "rank", "mask")


def check(kernel: KernelFacts) -> Iterator[Observation | OpenObligation]:
    """Looks at every size, count and number of bytes that is known by number."""
    grounds = OperandValidity(kernel.program, kernel.explorer.launch)
    yield from observe_operand_violations(
        kernel, lambda misfit: misfit.kind in KINDS and grounds.is_launch_independent(misfit), _finding
    )


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
    """The multiples on both sides; of a mask, the CTAs that there are."""
    needed, value, match = misfit.required, misfit.value, misfit.step.match
    if misfit.kind == "multiple":
        numbers = [value - value % needed + needed, value - value % needed]
    else:
        numbers = [value & (1 << needed) - 1] if misfit.kind == "mask" else []
    place = match.roles.get(misfit.role) if match is not None and not match.paths.get(misfit.role) else None
    if place is None:
        return
    for number in numbers:
        yield FixCandidate(f"write {number}", (StepEdit(misfit.step, str(number), place),), safe=False)


RULE = Rule(ptx2xx.NUMBER_OUT_OF_RANGE, check)
