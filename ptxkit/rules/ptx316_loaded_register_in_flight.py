"""PTX316: a register that `tcgen05.ld` writes is used before `tcgen05.wait::ld` (only under `--policy strict`).

What it does
    Under `--policy strict`, finds an instruction that reads or writes a register that a `tcgen05.ld` writes, if no path
    from the load to the instruction has a `tcgen05.wait::ld`. Plain moves are followed and not reported, because they
    only rename registers.

Why it matters
    `tcgen05.ld` is asynchronous, and the manual promises the values of its registers only after the wait. `ptxas` makes
    each use of such a register wait for the load, so that compilers move uses before the wait. Code that relies on this
    depends on the assembler, and not on the ISA. PTX706 finds what `ptxas` does not order: later accesses to the
    columns.

Example
    tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r3}, [%r1];
    st.global.u32 [%rd1], %r3;

Use instead
    tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r3}, [%r1];
    tcgen05.wait::ld.sync.aligned;
    st.global.u32 [%rd1], %r3;

ISA section
    "tcgen05.ld", "tcgen05.wait". Catalogue: TC9.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from ptxkit.analysis.context.kernel_facts import KernelFacts
from ptxkit.analysis.registers.wgmma_hazards import WgmmaHazard
from ptxkit.diagnostics.catalogue import ptx3xx
from ptxkit.rules.model import Finding, Observation, OpenObligation, Rule, StepEdit, add_statement
from ptxkit.rules.register_hazards import find_executed_hazards, prove_registers_free, register_sites

_GROUP = "tcgen05.ld"


def check(kernel: KernelFacts) -> Iterator[Observation | OpenObligation]:
    """Checks each use of a register in flight, in the threads that execute both instructions."""
    if kernel.policy != "strict":
        return
    for number, thread, hazard in find_executed_hazards(kernel, _GROUP):
        if hazard.may_have_waited:
            yield OpenObligation(hazard.step, ptx3xx.PATH_WITHOUT_WAIT_FOR_LOAD())
        else:
            yield Observation((hazard.step, hazard.issue), number, thread.trace.is_certain(), _finding(hazard))


def _finding(hazard: WgmmaHazard) -> Finding:
    return Finding(
        primary=hazard.step,
        message=ptx3xx.USES_LOADED_REGISTER(),
        labels=((hazard.issue, ptx3xx.WRITES_REGISTER()),),
        help=ptx3xx.ADD_WAIT_FOR_LOADS(),
        properties={"register": hazard.register, "policy": "strict"},
        group_key=hazard.issue,
        fixes=(add_statement(StepEdit(hazard.issue, "tcgen05.wait::ld.sync.aligned;", "after")),),
        lacks=((hazard.issue,),),
    )


RULE = Rule(
    ptx3xx.LOADED_REGISTER_IN_FLIGHT,
    check,
    asynchronous=True,
    sites=register_sites(_GROUP),
    policy="strict",
    prove=partial(prove_registers_free, _GROUP),
    needs_proof=True,
)
