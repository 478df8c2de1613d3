"""PTX208: an address of one state space is used in another one.

What it does
    Finds the address of a variable, or the result of a `cvta.to`, in an instruction for another state space, and an
    address in the shared memory of another CTA (from `mapa`) in an instruction whose form without `::cluster` accesses
    the shared memory of its own CTA. A run on the reference machine also finds a tensor copy whose tensor map is in
    shared memory.

Why it matters
    An address is valid only in its own state space. In another state space, the same number is another location or an
    invalid one: the access faults, or uses unrelated data.

Example
    mov.u64 %rd1, tile;
    ld.global.b32 %r1, [%rd1];

Use instead
    mov.u64 %rd1, tile;
    ld.shared.b32 %r1, [%rd1];

ISA section
    "State Spaces", "Generic Addressing", "Shared State Space". Catalogue: AS1, AS3, AS5, AS15.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.context.kernel_facts import KernelFacts
from ptxkit.analysis.symexec.check_address_space import REMOTE
from ptxkit.analysis.symexec.trace import WrongAddressKind
from ptxkit.diagnostics.catalogue import ptx2xx
from ptxkit.rules.address_proofs import prove_space
from ptxkit.rules.model import Finding, Observation, OpenObligation, Rule
from ptxkit.rules.obligation_sites import sites_of_address_operands
from ptxkit.rules.operand_agreement import observe_wrong_address_kinds


def check(kernel: KernelFacts) -> Iterator[Observation | OpenObligation]:
    """Checks every address operand of which both the required and the actual state space are known."""
    yield from observe_wrong_address_kinds(kernel, is_wrong_space, _finding)


def is_wrong_space(misuse: WrongAddressKind) -> bool:
    """Returns whether an operand holds an address in one state space while its instruction accepts another one."""
    return misuse.origin == "global" or "generic" not in (misuse.origin, misuse.expected_space)


def _finding(misuse: WrongAddressKind) -> Finding:
    taken = "shared" if misuse.expected_space == "generic" else misuse.expected_space
    properties = {"operand": misuse.role, "space": taken, "origin": misuse.origin}
    if misuse.origin == REMOTE:
        return Finding(
            primary=misuse.step,
            message=ptx2xx.REMOTE_SHARED_ADDRESS(),
            help=ptx2xx.NAME_SHARED_CLUSTER(),
            properties=properties,
        )
    return Finding(
        primary=misuse.step,
        message=ptx2xx.ADDRESS_OF_OTHER_SPACE(origin=misuse.origin, space=taken),
        help=ptx2xx.NAME_SPACE_OF_ADDRESS(origin=misuse.origin, space=taken),
        properties=properties,
    )


RULE = Rule(
    ptx2xx.ADDRESS_OF_ANOTHER_SPACE, check, sites=sites_of_address_operands(named=True, generic=True), prove=prove_space
)
