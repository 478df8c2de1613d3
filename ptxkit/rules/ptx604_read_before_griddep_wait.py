"""PTX604: a location is read before `griddepcontrol.wait` and again after it (only under `--policy strict`).

What it does
    Warns under `--policy strict` of an ordinary read of global memory before the `griddepcontrol.wait` of its thread,
    if this thread or another one reads the same location again after the wait. Two cases are open questions under both
    policies: a thread reads without a wait what others read only after their wait; and a kernel has no wait, although
    most kernels of its module that read global memory have one.

Why it matters
    A grid that is launched early runs concurrently with the grids that it depends on until it waits for them. Their
    writes are visible after the wait; before it, a read may return the old value or part of the new one. A kernel does
    not show which locations an earlier grid writes, and others, such as weights, may be read early. A location that is
    read again after the wait is probably written by an earlier grid.

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
from ptxkit.analysis.memory.grid_dependency_reads import EarlyRead, find_early_reads, find_reads_without_wait
from ptxkit.diagnostics.catalogue import ptx6xx
from ptxkit.isa.effects import Access, Grid
from ptxkit.rules.model import Finding, Observation, OpenObligation, Rule
from ptxkit.rules.obligation_sites import both, is_a, is_global_access, sites_of


def check(kernel: KernelFacts) -> Iterator[Observation | OpenObligation]:
    """Checks the reads before a wait, or without one. Under the policy `isa`, early reads are permitted."""
    if not has_grid_dependency_wait(kernel.program):
        return
    for facts in kernel.scenarios:
        for read in find_reads_without_wait(facts):
            yield OpenObligation(read.step, ptx6xx.OTHER_THREADS_WAIT())
    if kernel.policy == "strict":
        yield from _check_early_reads(kernel)


def _check_early_reads(kernel: KernelFacts) -> Iterator[Observation]:
    for number, facts in enumerate(kernel.scenarios):
        pair_budget = PairBudget(facts.budget)
        for early in find_early_reads(facts):
            step = early.read.step
            if pair_budget.allow((early.thread.tid, step)):
                finding = None if early.repeated_read is None else _finding(early)
                yield Observation((step, None), number, early.thread.trace.is_certain(early.position), finding)


def _finding(early: EarlyRead) -> Finding:
    assert early.repeated_read is not None
    return Finding(
        primary=early.read.step,
        message=ptx6xx.READ_AGAIN_AFTER_GRID_WAIT(),
        labels=(
            (early.repeated_read.step, ptx6xx.READS_SAME_LOCATION()),
            (early.wait.step, ptx6xx.WAITS_FOR_GRIDS()),
        ),
        help=ptx6xx.READ_ON_ONE_SIDE_OF_WAIT(),
    )


RULE = Rule(
    ptx6xx.READ_BEFORE_GRID_WAIT,
    check,
    sites=sites_of(both(is_global_access, is_a(Access)), is_a(Grid, action="wait")),
    policy="strict",
)
