"""Determines whether the source of a bulk copy out of shared memory is written only after the copy has read it.

Source: PTX ISA, "cp.async.bulk.wait_group", "Completion Mechanisms for Asynchronous Copy Operations".
"""

from __future__ import annotations

from enum import Enum

from ptxkit.analysis.context.kernel_facts import ScenarioFacts
from ptxkit.analysis.context.thread_view import ThreadView
from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.symexec.trace import TraceEvent
from ptxkit.analysis.sync.async_groups import AsyncCopy
from ptxkit.analysis.sync.warp_convergence import ConvergencePoints
from ptxkit.isa.effects import Access, WaitGroup
from ptxkit.syntax.constants import WARP_SIZE


class WaitCoverage(Enum):
    """The effect of a wait on a copy that precedes it."""

    COVERS = "waits until the copy has read its source"
    LEAVES_PENDING = "may leave the copy's group pending"
    BEFORE_COMMIT = "precedes the commit of the copy's group"


def bulk_source_reads(issuer: ThreadView) -> list[AsyncCopy]:
    """Returns the bulk copies that a thread starts out of shared memory."""
    return [copy for copy in issuer.copies if _is_bulk_source_read(copy)]


def _is_bulk_source_read(copy: AsyncCopy) -> bool:
    effect = copy.event.effect
    return copy.group == "bulk" and isinstance(effect, Access) and effect.kind == "read"


def has_read_source(
    facts: ScenarioFacts, issuer: ThreadView, copy: AsyncCopy, writer: ThreadView, position: int
) -> bool | None:
    """Returns whether a copy has read its source before the writer's access at a position.

    The result is None where this is unknown.
    """
    if copy.commit_position is None:
        return None
    if writer is issuer:
        if copy.position > position:
            return None
        return copy.source_free_position is not None and copy.source_free_position < position
    edges = list(facts.sync_edges(issuer, copy.position, writer, position))
    if not edges:
        return None
    if copy.source_free_position is not None and any(
        copy.source_free_position < edge.release_position for edge in edges
    ):
        return True
    if _have_converged(issuer, copy, writer, position):
        return None
    # A thread that waits for a consequence of its later steps is deadlocked, which PTX504 reports.
    return None if any(facts.is_cyclic_edge(issuer, edge, writer) for edge in edges) else False


def _have_converged(issuer: ThreadView, copy: AsyncCopy, writer: ThreadView, position: int) -> bool:
    """Returns whether two lanes converge after the wait that both execute and before the write of one of them.

    The issuing lane has then executed its wait, so that its copy has read its source.
    """
    if copy.source_free_position is None or issuer.tid // WARP_SIZE != writer.tid // WARP_SIZE:
        return False
    wait = issuer.trace.events[copy.source_free_position]
    own = [at for at, event in writer.positions(WaitGroup) if (event.step, event.visit) == (wait.step, wait.visit)]
    return any(at < position and ConvergencePoints(writer.trace).converges_between(at, position) for at in own)


def is_bulk_wait(event: TraceEvent) -> bool:
    """Returns whether an event waits for groups of bulk copies."""
    return isinstance(event.effect, WaitGroup) and event.effect.group == "bulk"


def first_wait_after(issuer: ThreadView, copy: AsyncCopy) -> tuple[Step, WaitCoverage] | None:
    """Returns the first wait for bulk copies that its thread executes after a copy, and its effect on the copy."""
    for at, event in issuer.positions(WaitGroup):
        if at > copy.position and is_bulk_wait(event):
            if at == copy.source_free_position:
                return event.step, WaitCoverage.COVERS
            is_early = copy.commit_position is None or at < copy.commit_position
            return event.step, WaitCoverage.BEFORE_COMMIT if is_early else WaitCoverage.LEAVES_PENDING
    return None
