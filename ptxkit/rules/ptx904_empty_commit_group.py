"""PTX904: a commit has no effect: its group is empty, or no wait needs it (a note, reported with `--notes`).

What it does
    Finds `cp.async.commit_group`, `cp.async.bulk.commit_group` and `wgmma.commit_group` before which no thread has
    started an operation of that kind since its last commit. Nothing is reported if a wait leaves a number of groups
    pending, because empty groups are included in that number. Also finds a commit if another one follows on each path
    before the next wait, which leaves no group pending, or if that wait is `cp.async.wait_all`, which completes the
    copies of no group, too.

Why it matters
    An empty group is complete at once, so the kernel is correct. But a copy that should belong to the group is
    elsewhere, or of another kind. A commit that no wait needs has no effect at all.

Example
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group.read 0;

Use instead
    cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r2], 512;
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group.read 0;

ISA section
    "cp.async.commit_group", "cp.async.bulk.commit_group", "wgmma.commit_group". Catalogue: CA4, CA9.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.context.kernel_facts import KernelFacts
from ptxkit.analysis.redundancy.empty_groups import find_commits_of_nothing
from ptxkit.diagnostics.catalogue import ptx9xx
from ptxkit.rules.model import Finding, Observation, Rule


def check(kernel: KernelFacts) -> Iterator[Observation]:
    """Checks for each commit whether a wait needs it, and whether its group is empty in all executions."""
    empty, needless = find_commits_of_nothing(kernel)
    found = [(step, ptx9xx.GROUP_ALWAYS_EMPTY(), ptx9xx.REMOVE_OR_MOVE_COMMIT()) for step in empty]
    found += [(step, ptx9xx.GROUP_NOT_AWAITED(), ptx9xx.REMOVE_COMMIT()) for step in needless]
    for step, message, help_text in found:
        yield Observation((step, None), 0, True, Finding(step, message, help=help_text))


RULE = Rule(ptx9xx.EMPTY_GROUP, check)
