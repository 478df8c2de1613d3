"""PTX604: a read before `griddepcontrol.wait` of what is read again after it. Only under the policy `strict`.

What it does
    Warns of an ordinary read of global memory that a thread makes before its `griddepcontrol.wait`, where the same
    place is read again behind the wait, by this thread or by another one.

Why it matters
    A grid that is launched early runs beside those that it depends on until it waits for them. What these write is
    there after the wait; before it, a read may give the old value, or part of the new one. Nothing in one kernel says
    who writes a place, and what no earlier grid writes, such as weights, may be read early. A place that is read
    again behind the wait looks like one of the others.

Example
    ld.global.u32 %r1, [%rd1];
    griddepcontrol.wait;
    ld.global.u32 %r2, [%rd1];

Use instead
    griddepcontrol.wait;
    ld.global.u32 %r1, [%rd1];

ISA section
    "griddepcontrol". Catalogue: BR10.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.context.kernel_facts import KernelFacts
from ptxkit.analysis.context.thread_view import PairBudget
from ptxkit.analysis.dataflow.slicing import has_grid_dependency_wait
from ptxkit.analysis.memory.grid_dependency_reads import EarlyRead, find_early_reads
from ptxkit.diagnostics import Severity
from ptxkit.rules.model import Finding, Observation, Rule


def check(kernel: KernelFacts) -> Iterator[Observation]:
    """Looks at the reads before a wait; the policy `isa` leaves it to the kernel what it reads early."""
    if kernel.policy != "strict" or not has_grid_dependency_wait(kernel.program):
        return
    for number, world in enumerate(kernel.scenarios):
        looks = PairBudget(world.budget)
        for early in find_early_reads(world):
            step = early.read.step
            if looks.allow((early.thread.tid, step)):
                finding = None if early.repeated_read is None else _finding(early)
                yield Observation((step, None), number, early.thread.trace.is_certain(early.position), finding)


def _finding(early: EarlyRead) -> Finding:
    assert early.repeated_read is not None
    return Finding(
        primary=early.read.step,
        message="reads before `griddepcontrol.wait` what line {1} reads again after it; an earlier grid may not have "
        "written it yet",
        labels=(
            (early.repeated_read.step, "reads the same place, behind a wait"),
            (early.wait.step, "waits for the grids that this one depends on"),
        ),
        help="read it after the wait alone, or before it alone where no earlier grid writes it",
        severity=Severity.WARNING,
    )


RULE = Rule("PTX604", "read-before-grid-wait", ("griddepcontrol",), check)
