"""PTX211: a multimem address is used by an instruction other than `multimem`.

What it does
    Finds loads, stores and atomic operations on bytes that the same kernel also accesses by `multimem` instructions
    through the same pointer, which is therefore a multimem address.

Why it matters
    A multimem address denotes locations on several devices. Only `multimem` instructions may access it; the behavior
    of other instructions is undefined. The location of each device also has an ordinary address.

Example
    multimem.red.relaxed.sys.global.add.u32 [%rd1], 1;
    ld.global.u32 %r1, [%rd1];

Use instead
    multimem.red.relaxed.sys.global.add.u32 [%rd1], 1;
    multimem.ld_reduce.relaxed.sys.global.add.u32 %r1, [%rd1];

ISA section
    "Multimem Addresses", "multimem.ld_reduce, multimem.st, multimem.red". Catalogue: AS17.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.context.kernel_facts import KernelFacts
from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.memory.pointer_overlap import find_overlaps, is_multimem, is_plain_global_access
from ptxkit.diagnostics.catalogue import ptx2xx
from ptxkit.rules.model import Finding, Observation, Rule
from ptxkit.rules.obligation_sites import is_global_access, is_multimem_access, sites_of


def check(kernel: KernelFacts) -> Iterator[Observation]:
    """Checks each access to memory that a `multimem` instruction accesses."""
    chosen = [step for step in kernel.program.effectful_steps if is_multimem(step)]
    others = (
        [step for step in kernel.program.effectful_steps if is_plain_global_access(step, "read", "write", "update")]
        if chosen
        else []
    )
    for each in find_overlaps(kernel.explorer, others, chosen):
        finding = None if each.overlap is None else _finding(each.first, each.other)
        yield Observation((each.first, each.other), each.scenario_index, each.is_exact, finding)


def _finding(step: Step, other: Step) -> Finding:
    return Finding(
        primary=step,
        message=ptx2xx.MULTIMEM_ADDRESS_ACCESSED(),
        labels=((other, ptx2xx.MULTIMEM_ACCESS_LABEL()),),
        help=ptx2xx.USE_UNICAST_ADDRESS(),
        properties={"space": "global"},
    )


RULE = Rule(ptx2xx.MULTIMEM_ADDRESS, check, sites=sites_of(is_global_access, is_multimem_access))
