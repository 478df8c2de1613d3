"""PTX205: an address is not aligned as its access needs.

What it does
    Finds addresses in shared and local memory, and of variables in global and constant memory, that are no multiple
    of what the access needs: of its size, of 16 bytes for bulk and tensor copies, of 8 bytes for an mbarrier. Each
    thread of a warp counts, of those that execute `ldmatrix` and `stmatrix` each that gives the address of a row.
    What is known of a variable's place is its declared alignment: where an mbarrier or an asynchronous copy needs
    more than `.align` promises, that is an error too. It is a warning of other accesses, as much code leaves it to
    the assembler to align arrays to 16 bytes, and one of policy `strict` where the launch gives the size of the
    memory. Nothing is said where the kernel looks at the address itself. Of a pointer to global memory nothing is
    known; but two accesses that are apart by less than both must be aligned to cannot both be right.

Why it matters
    Such an access faults, or goes to another address: the low bits may be masked off. Where the
    variable happens to be aligned, it works until another one is declared before it.

Example
    .shared .align 16 .b8 tile[256];
    mov.u32 %r1, tile;
    cp.async.cg.shared.global [%r1+8], [%rd1], 16;

Use instead
    cp.async.cg.shared.global [%r1+16], [%rd1], 16;

ISA section
    "Addresses as Operands", "Alignment", "Size and alignment of mbarrier object". Catalogue: AS11,
    BK1, CA7, MB1.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.certainty import Certainty
from ptxkit.analysis.grounds import Grounds
from ptxkit.analysis.kernel import MAX_NAME, Kernel
from ptxkit.analysis.program import Step
from ptxkit.analysis.trace import Misfit
from ptxkit.diagnostics import Severity
from ptxkit.isa.effects import Access
from ptxkit.rules.finding import Doubt, Finding, Observation, Rule
from ptxkit.rules.misuse import misfits


def check(kernel: Kernel) -> Iterator[Observation | Doubt]:
    """Looks at every address that must be aligned and is known by number."""
    grounds = Grounds(kernel.program, kernel.explorer.launch)
    strict = kernel.policy == "strict"

    def wanted(misfit: Misfit) -> bool:
        if misfit.kind not in ("alignment", "apart"):
            return False
        return misfit.surely or strict or (misfit.variable is not None and misfit.variable.size is not None)

    # What an operand depends on takes a look at the whole kernel: only where there is something to be said.
    if not any(misfits(kernel, wanted, _finding)):
        return
    certainty = kernel.explorer.certainty
    yield from misfits(
        kernel, lambda misfit: wanted(misfit) and grounds.hold(misfit) and _is_met(certainty, misfit), _finding
    )
    unsure = misfits(
        kernel, lambda misfit: wanted(misfit) and grounds.hold(misfit) and not _is_met(certainty, misfit), _finding
    )
    for observed in unsure:
        yield Doubt(observed.key[0], "misaligned in some threads, if those come there: that hangs on arguments or data")


def _is_met(certainty: Certainty, misfit: Misfit) -> bool:
    """Whether the thread whose address it is comes there if the first one does."""
    step = misfit.step
    if misfit.thread is None or "aligned" in step.instruction.opcode.split("."):
        return True
    return certainty.is_own(step) and certainty.is_sure(step, None)


def _finding(misfit: Misfit) -> Finding:
    variable = misfit.variable
    if misfit.other is not None:
        return _apart(misfit, misfit.other)
    assert variable is not None
    name = f"`{variable.name}`" if len(variable.name) <= MAX_NAME else f"the .{variable.space} variable"
    properties = {"operand": misfit.role, "alignment": misfit.needed, "variable": variable.name}
    needs = f"needs an address that is a multiple of {misfit.needed}"
    if not misfit.surely:
        return Finding(
            primary=misfit.step,
            message=f"{needs}, and the declaration of {name} promises a multiple of {variable.alignment} only",
            help=f"declare {name} with `.align {misfit.needed}`",
            severity=Severity.ERROR if variable.size is not None and _is_declared_for(misfit) else Severity.WARNING,
            properties=properties,
        )
    step = min(misfit.needed, variable.alignment)
    whose = "this one" if misfit.thread is None else f"that of thread {misfit.thread}"
    return Finding(
        primary=misfit.step,
        message=f"{needs}, and {whose} is {misfit.value % step} bytes past a multiple of {step}",
        help=f"move it to a multiple of {misfit.needed} in {name}, or use an access that needs less",
        properties=properties,
    )


def _apart(misfit: Misfit, other: Step) -> Finding:
    return Finding(
        primary=misfit.step,
        message=f"needs an address that is a multiple of {misfit.needed}, as line {{1}} does; but the two are "
        f"{misfit.value} bytes off such a distance, so that one is misaligned",
        labels=((other, "an address by the same pointer"),),
        help="make the distance of the two addresses a multiple of what both need",
        properties={"operand": misfit.role, "alignment": misfit.needed},
    )


def _is_declared_for(misfit: Misfit) -> bool:
    """Whether the declaration must provide for the access: the variable holds an mbarrier, or bulk copies go there."""
    effects = misfit.step.effects
    accesses = [effect for effect in effects if isinstance(effect, Access) and effect.address == misfit.role]
    return not accesses or any(access.completion is not None for access in accesses)


RULE = Rule(
    "PTX205",
    "misaligned-address",
    ("Addresses as Operands", "Alignment", "Size and alignment of mbarrier object"),
    check,
)
