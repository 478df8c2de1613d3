"""PTX201: a generic address is used where an address of a state space is needed.

What it does
    Finds a generic address (a `cvta` result, a converted pointer) in an instruction that names a state space.

Why it matters
    A generic address is not an offset in a state space: the access uses another location, or faults.

Example
    cvta.shared.u64 %rd1, %rd0;
    ld.shared.b32 %r1, [%rd1];

Use instead
    ld.shared.b32 %r1, [%rd0];

ISA section
    "Generic Addressing", "cvta". Catalogue: AS1, AS5.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.context.kernel_facts import KernelFacts
from ptxkit.analysis.symexec.trace import WrongAddressKind
from ptxkit.diagnostics.catalogue import ptx2xx
from ptxkit.rules.address_proofs import prove_no_generic_address
from ptxkit.rules.model import Finding, Observation, OpenObligation, Rule
from ptxkit.rules.obligation_sites import sites_of_address_operands
from ptxkit.rules.operand_agreement import observe_wrong_address_kinds


def check(kernel: KernelFacts) -> Iterator[Observation | OpenObligation]:
    """Checks every address operand of an instruction that names a state space."""
    yield from observe_wrong_address_kinds(kernel, lambda misuse: misuse.origin == "generic", _finding)


def _finding(misuse: WrongAddressKind) -> Finding:
    space = misuse.expected_space
    return Finding(
        primary=misuse.step,
        message=ptx2xx.GENERIC_ADDRESS_IN_OPERAND(space=space),
        help=ptx2xx.USE_ADDRESS_OF_SPACE(space=space.partition("::")[0]),
        properties={"operand": misuse.role, "space": space},
    )


RULE = Rule(
    ptx2xx.GENERIC_ADDRESS_IN_SPACE,
    check,
    sites=sites_of_address_operands(named=True, generic=False),
    prove=prove_no_generic_address,
)
