"""PTX902: a wait for asynchronous groups never has a group to wait for (a note, reported with `--notes`).

What it does
    Finds `cp.async.wait_group`, `cp.async.wait_all`, `cp.async.bulk.wait_group` and `wgmma.wait_group` whose groups are
    always complete, in all executions by all threads: the thread has started no operation, or has already waited for
    it, or no more groups are pending than the wait leaves pending. This is shown on all paths through the text, or in
    all executions; there, waits that leave groups pending are checked in kernels without loops only.

Why it matters
    The cost is small. But the wait suggests that an operation is in flight, or is written in place of the wait for
    another kind of group.

Example
    cp.async.ca.shared.global [%r4], [%rd5], 4;
    cp.async.commit_group;
    cp.async.wait_group 0;
    bar.sync 0;
    cp.async.wait_all;

Use instead
    cp.async.ca.shared.global [%r4], [%rd5], 4;
    cp.async.commit_group;
    cp.async.wait_group 0;
    bar.sync 0;

ISA section
    "cp.async.wait_group / cp.async.wait_all", "cp.async.bulk.wait_group", "wgmma.wait_group". Catalogue: CA9.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.context.kernel_facts import KernelFacts
from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.redundancy.empty_groups import find_waits_for_nothing
from ptxkit.diagnostics.catalogue import ptx9xx
from ptxkit.rules.model import Finding, Observation, Rule


def check(kernel: KernelFacts) -> Iterator[Observation]:
    """Checks each wait for groups on all paths, and in all executions if the kernel is completely known."""
    for step in find_waits_for_nothing(kernel):
        yield Observation((step, None), 0, True, _finding(step))


def _finding(step: Step) -> Finding:
    return Finding(
        primary=step,
        message=ptx9xx.WAIT_FOR_NO_GROUP(),
        help=ptx9xx.REMOVE_WAIT(),
    )


RULE = Rule(ptx9xx.EMPTY_WAIT, check)
