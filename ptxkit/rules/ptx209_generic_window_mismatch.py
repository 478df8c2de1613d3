"""PTX209: a generic address is outside the window that its instruction requires.

What it does
    Finds generic addresses whose state space is known in instructions that accept only some state spaces: atomic
    operations and operations with memory ordering on local or constant memory, matrix loads and `st.bulk` outside
    shared memory, and multimem operations outside global memory. It also finds accesses through the result of a
    `cvta.to` whose source is not an address in that state space, or is not a generic address, and of a `cvta` whose
    source is an address in another state space, or is a generic address already.

Why it matters
    The behavior is undefined: the operation may not be atomic, use unrelated data, or fault. The result of a conversion
    for an address that it does not accept is not a valid address.

Example
    cvta.local.u64 %rd2, %rd1;
    atom.add.u32 %r1, [%rd2], 1;

Use instead
    cvta.shared.u64 %rd2, %rd1;
    atom.add.u32 %r1, [%rd2], 1;

ISA section
    "Generic Addressing", "cvta", "isspacep". Catalogue: AS3, AS15, AS16, AS17.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.context.kernel_facts import KernelFacts
from ptxkit.analysis.symexec.check_generic_window import allowed_spaces
from ptxkit.analysis.symexec.trace import OperandViolation
from ptxkit.diagnostics.catalogue import ptx2xx
from ptxkit.rules.address_proofs import prove_window
from ptxkit.rules.model import Finding, Observation, OpenObligation, Rule
from ptxkit.rules.obligation_sites import sites_of_address_operands
from ptxkit.rules.operand_agreement import KINDS_OF_SPACES, observe_operand_violations


def check(kernel: KernelFacts) -> Iterator[Observation | OpenObligation]:
    """Checks every generic address whose window is known, and every address that was converted from one."""
    yield from observe_operand_violations(kernel, lambda misfit: misfit.kind in KINDS_OF_SPACES, _finding)


def _finding(misfit: OperandViolation) -> Finding:
    properties = {"operand": misfit.role, "lies": misfit.rule}
    if misfit.other is not None:
        converts = misfit.other.instruction.opcode
        return Finding(
            primary=misfit.step,
            message=ptx2xx.CONVERSION_OUTSIDE_WINDOW(conversion=converts, space=misfit.rule),
            labels=((misfit.other, ptx2xx.ADDRESS_SPACE_LABEL(space=misfit.rule)),),
            help=ptx2xx.CONVERT_FROM_NAMED_SPACE() if misfit.kind == "source" else ptx2xx.CONVERT_ONLY_IN_SPACE(),
            properties=properties,
        )
    match = misfit.step.match
    spaces = sorted(allowed_spaces(match.form)[misfit.role]) if match is not None else []
    taken = " or ".join(f".{space}" for space in spaces)
    return Finding(
        primary=misfit.step,
        message=ptx2xx.GENERIC_ADDRESS_OUTSIDE_WINDOW(expected=taken, actual=misfit.rule),
        help=ptx2xx.PASS_ADDRESS_IN_WINDOW(expected=taken, actual=misfit.rule),
        properties=properties,
    )


RULE = Rule(
    ptx2xx.GENERIC_WINDOW_MISMATCH, check, sites=sites_of_address_operands(named=True, generic=True), prove=prove_window
)
