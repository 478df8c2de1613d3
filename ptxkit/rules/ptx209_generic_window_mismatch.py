"""PTX209: a generic address lies outside the window that its instruction needs.

What it does
    Finds generic addresses of known place in instructions that take only those in some state spaces: atomic and
    ordered operations in local or constant memory, matrix loads and `st.bulk` outside shared memory, multimem
    operations outside global memory. And it finds accesses through what `cvta.to` made of an address that is not in
    the state space it converts to, or no generic address at all.

Why it matters
    The behaviour is undefined: the operation may not be atomic, hit other data, or fault. What `cvta.to` gives of an
    address outside its window is no address of anything.

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
from ptxkit.rules.model import Finding, Observation, OpenObligation, Rule
from ptxkit.rules.operand_agreement import observe_operand_violations


def check(kernel: KernelFacts) -> Iterator[Observation | OpenObligation]:
    """Looks at every generic address whose window is known, and at every address that was converted from one."""
    yield from observe_operand_violations(kernel, lambda misfit: misfit.kind == "window", _finding)


def _finding(misfit: OperandViolation) -> Finding:
    properties = {"operand": misfit.role, "lies": misfit.rule}
    if misfit.other is not None:
        converts = misfit.other.instruction.opcode
        return Finding(
            primary=misfit.step,
            message=ptx2xx.CONVERSION_OUTSIDE_WINDOW(conversion=converts, space=misfit.rule),
            labels=((misfit.other, ptx2xx.ADDRESS_SPACE_LABEL(space=misfit.rule)),),
            help=ptx2xx.CONVERT_ONLY_IN_SPACE(),
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


RULE = Rule(ptx2xx.OUTSIDE_THE_WINDOW, check)
