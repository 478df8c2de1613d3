"""PTX202: an offset in a state space is used as a generic address.

What it does
    Finds the address of a shared variable, which is an offset in the shared window, in an instruction that takes a
    generic address.

Why it matters
    Generic addressing maps a small number to global memory. The access is to that memory, or faults.

Example
    mov.u64 %rd0, tile;
    ld.b32 %r1, [%rd0];

Use instead
    mov.u64 %rd0, tile;
    ld.shared.b32 %r1, [%rd0];

ISA section
    "Generic Addressing", "cvta". Catalogue: AS2.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.context.kernel_facts import KernelFacts
from ptxkit.analysis.symexec.trace import WrongAddressKind
from ptxkit.diagnostics.catalogue import ptx2xx
from ptxkit.rules.address_proofs import prove_generic
from ptxkit.rules.model import Finding, Observation, OpenObligation, Rule
from ptxkit.rules.obligation_sites import sites_of_address_operands
from ptxkit.rules.operand_agreement import observe_wrong_address_kinds


def check(kernel: KernelFacts) -> Iterator[Observation | OpenObligation]:
    """Checks every address operand of an instruction that names no state space."""
    yield from observe_wrong_address_kinds(kernel, _is_offset, _finding)


def _is_offset(misuse: WrongAddressKind) -> bool:
    return misuse.expected_space == "generic" and misuse.origin not in ("generic", "global")


def _finding(misuse: WrongAddressKind) -> Finding:
    return Finding(
        primary=misuse.step,
        message=ptx2xx.OFFSET_IN_GENERIC_OPERAND(origin=misuse.origin),
        help=ptx2xx.NAME_SPACE_OR_CONVERT(origin=misuse.origin),
        properties={"operand": misuse.role, "space": misuse.origin},
    )


RULE = Rule(
    ptx2xx.SPACE_OFFSET_AS_GENERIC,
    check,
    sites=sites_of_address_operands(named=False, generic=True),
    prove=prove_generic,
)
