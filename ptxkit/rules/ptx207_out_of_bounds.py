"""PTX207: an access leaves the variable that its address is made from.

What it does
    Finds loads, stores, copies and mbarrier operations whose address is a variable of known size and an offset that
    every launch has, and which use bytes before the variable or behind its end, in a thread that surely comes there.
    The size of a copy counts: its last byte must lie in the variable too. Nothing is said where arguments or data
    decide the address or the path, nor of shared memory where the launch gives some (`.extern .shared`). An access to
    shared memory that begins behind a variable's end is a warning: assemblers put memory that a launch gives there.

Why it matters
    What lies beside a variable is up to the assembler: the access hits another variable, or nothing, and faults.

Example
    .shared .align 16 .b8 tile[256];
    ld.shared.v4.b32 {%r1, %r2, %r3, %r4}, [tile+248];

Use instead
    ld.shared.v4.b32 {%r1, %r2, %r3, %r4}, [tile+240];

ISA section
    "Variable Declarations", "Array Declarations", "Addresses as Operands". Catalogue: AS11, BK1, MB1.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.certainty import Certainty
from ptxkit.analysis.kernel import MAX_NAME, Kernel
from ptxkit.analysis.layout import Variable
from ptxkit.analysis.terms import signed
from ptxkit.analysis.trace import Misfit
from ptxkit.diagnostics import Severity
from ptxkit.rules.finding import Doubt, Finding, Observation, Rule
from ptxkit.rules.misuse import misfits


def check(kernel: Kernel) -> Iterator[Observation | Doubt]:
    """Looks at every access whose place is known."""
    certainty = kernel.explorer.certainty
    yield from misfits(kernel, lambda misfit: _beyond(certainty, misfit) is not None, lambda m: _finding(certainty, m))


def _beyond(certainty: Certainty, misfit: Misfit) -> tuple[Variable, int] | None:
    """The variable that an address is made from, and how many bytes from its start the access begins; None where
    that is no fault, or not sure."""
    step = misfit.step
    if misfit.kind != "bounds" or step.match is None or not certainty.is_own(step):
        return None
    name = certainty.base_of(step, step.match.operand(misfit.role, step.instruction))
    base = step.scope.variable(name) if name is not None else None
    if base is None or base.extent is None:
        return None
    where = misfit.value
    if misfit.variable is not base:
        where += (misfit.variable.address if misfit.variable is not None else 0) - base.address
        where = signed(where, 32 if where < 1 << 32 else 64)  # an offset below zero wraps
    return None if 0 <= where <= base.extent - misfit.needed else (base, where)


def _finding(certainty: Certainty, misfit: Misfit) -> Finding:
    found = _beyond(certainty, misfit)
    assert found is not None
    variable, where = found
    name = f"`{variable.name}`" if len(variable.name) <= MAX_NAME else f"a .{variable.space} variable"
    size = variable.extent or 0
    if where < 0:
        said = f"begins {_bytes(-where)} before {name}"
    elif where >= size:
        behind = f"{_bytes(where - size)} behind the end of" if where > size else "at the end of"
        said = f"begins {behind} {name}, which has {_bytes(size)}"
    else:
        said = f"runs {_bytes(where + misfit.needed - size)} past the end of {name}, which has {_bytes(size)}"
    may_be_given = variable.space == "shared" and where >= size
    return Finding(
        primary=misfit.step,
        message=f"uses {_bytes(misfit.needed)} from byte {where} on: {said}",
        help=f"keep the {_bytes(misfit.needed)} within {name}, or declare it larger",
        severity=Severity.WARNING if may_be_given else Severity.ERROR,
        properties={"operand": misfit.role, "variable": variable.name, "offset": where, "bytes": misfit.needed},
    )


def _bytes(number: int) -> str:
    return f"{number} byte{'' if number == 1 else 's'}"


RULE = Rule("PTX207", "out-of-bounds", ("Variable Declarations", "Array Declarations", "Addresses as Operands"), check)
