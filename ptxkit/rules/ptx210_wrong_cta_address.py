"""PTX210: an address is in the shared memory of a CTA that the instruction does not accept.

What it does
    Finds copies from the shared memory of the CTA to `.shared::cluster`, and `red.async` operations, whose destination
    is in the same CTA although the instruction requires another one. It also finds copies, stores and reductions whose
    mbarrier is in another CTA than their destination. (With `.cta_group::2`, the mbarrier may be in either CTA of the
    pair.)

Why it matters
    The behavior is undefined. An H200 counts the bytes at the mbarrier at the same offset in the CTA of the
    destination, so a thread that waits for them here never continues.

Example
    cvta.shared::cluster.u64 %rd1, %rd0;
    st.async.mbarrier::complete_tx::bytes.shared::cluster.u32 [%r1], %r2, [%r3];

Use instead
    mapa.shared::cluster.u32 %r4, %r3, %r5;
    st.async.mbarrier::complete_tx::bytes.shared::cluster.u32 [%r1], %r2, [%r4];

ISA section
    "cp.async.bulk", "cp.async.bulk.tensor", "st.async", "red.async". Catalogue: BK3, BK4, SA1.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.context.kernel_facts import KernelFacts
from ptxkit.analysis.symexec.trace import OperandViolation
from ptxkit.diagnostics.catalogue import ptx2xx
from ptxkit.isa.effects import Home
from ptxkit.rules.address_proofs import prove_home
from ptxkit.rules.model import Finding, Observation, OpenObligation, Rule
from ptxkit.rules.obligation_sites import is_a, sites_of
from ptxkit.rules.operand_agreement import observe_operand_violations


def check(kernel: KernelFacts) -> Iterator[Observation | OpenObligation]:
    """Checks every address that must be in a certain CTA."""
    certainty = kernel.explorer.input_independence

    def is_reported(misfit: OperandViolation) -> bool | None:
        step = misfit.step
        if misfit.kind != "home" or step.match is None:
            return False
        if not certainty.program.contains(step):
            return None
        operands = [step.operand(role) for role in (misfit.role, misfit.rule)]
        if all(
            certainty.is_input_independent(step, each) or certainty.has_fixed_value(step, each) for each in operands
        ):
            return True
        return False if any(certainty.depends_on_arguments(step, each) for each in operands) else None

    yield from observe_operand_violations(kernel, is_reported, _finding)


def _finding(misfit: OperandViolation) -> Finding:
    properties = {"operand": misfit.role}
    if misfit.rule == "other":
        return Finding(
            primary=misfit.step,
            message=ptx2xx.ADDRESS_IN_OWN_CTA(),
            help=ptx2xx.MAP_ADDRESS_TO_OTHER_CTA(),
            properties=properties,
        )
    return Finding(
        primary=misfit.step,
        message=ptx2xx.MBARRIER_IN_OTHER_CTA(),
        help=ptx2xx.MAP_BOTH_TO_ONE_CTA(),
        properties=properties,
    )


RULE = Rule(ptx2xx.WRONG_CTA_ADDRESS, check, sites=sites_of(is_a(Home)), prove=prove_home)
