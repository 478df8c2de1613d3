"""Finds the bulk copies out of shared memory that may still read their sources when the issuing thread exits.

The manual states that the source must not be modified before it is read, not how long the memory of an exited CTA
remains valid, and libraries do not wait for their last copies. A thread that waits for none of its copies is a
different case: it has no wait, or a wait that covers no copy, or a wait before its first copy only.

Source: PTX ISA, "cp.async.bulk.wait_group", "Completion Mechanisms for Asynchronous Copy Operations".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ptxkit.analysis.cfg.repeated_steps import may_repeat
from ptxkit.analysis.context.kernel_facts import KernelFacts
from ptxkit.analysis.context.thread_view import ThreadView
from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.memory.bulk_source_reads import bulk_source_reads, is_bulk_wait
from ptxkit.analysis.sync.async_groups import AsyncCopy
from ptxkit.fast_dataclasses import dataclass
from ptxkit.isa.effects import Effect, WaitGroup


@dataclass(frozen=True, slots=True)
class CopyAtExit:
    """A bulk copy out of shared memory whose thread exits.

    is_pending: whether the copy may still read its source. is_unawaited: whether its thread waits for none of its
    copies; otherwise it may wait for all but the last ones.
    """

    copy: AsyncCopy
    is_pending: bool
    is_unawaited: bool


class CopiesAtExit:
    """Finds the copies of the threads of a kernel at their exits."""

    def __init__(self, kernel: KernelFacts) -> None:
        self._ineffective_waits = _find_ineffective_waits(kernel)
        self._later_waits = _LaterBulkWaits(kernel)

    def find(self, issuer: ThreadView, sources: Sequence[AsyncCopy]) -> Iterator[CopyAtExit]:
        """Yields the committed copies of a thread that exits; PTX301 reports those that are never committed.

        sources: the bulk copies of the thread out of shared memory.
        """
        if issuer.trace.end_reason != "exit":
            return
        waits = [(at, event.step) for at, event in issuer.positions(WaitGroup) if is_bulk_wait(event)]
        may_be_awaited = bool(waits) and any(
            copy.source_free_position is not None or self._later_waits.may_follow(copy.event.step) for copy in sources
        )
        for copy in sources:
            if copy.commit_position is not None:
                is_unawaited = not may_be_awaited or any(
                    at > copy.position and step in self._ineffective_waits for at, step in waits
                )
                yield CopyAtExit(copy, copy.source_free_position is None, is_unawaited)


def _find_ineffective_waits(kernel: KernelFacts) -> frozenset[Step]:
    """Returns the waits for bulk copies of a kernel in which no wait ever covers a copy out of shared memory.

    Waits in loops are omitted: they may be executed more often than the explored threads execute them.
    """
    threads = [thread for facts in kernel.scenarios for thread in facts.threads.values()]
    if any(copy.source_free_position is not None for thread in threads for copy in bulk_source_reads(thread)):
        return frozenset()
    waits = {event.step for thread in threads for _, event in thread.positions(WaitGroup) if is_bulk_wait(event)}
    return frozenset(step for step in waits if not may_repeat(kernel.program, step))


class _LaterBulkWaits:
    """Decides after which instructions of a kernel a wait for bulk copies may be executed, on any path."""

    def __init__(self, kernel: KernelFacts) -> None:
        self._cfg = kernel.explorer.input_independence.cfg
        self._program = kernel.program
        self._waits = kernel.program.own_steps_with(_waits_for_bulk_copies)
        self._cache: dict[Step, bool] = {}

    def may_follow(self, step: Step) -> bool:
        """Returns whether a wait may follow a step, in the kernel or in a function; true for a function's step."""
        if step not in self._cache:
            self._cache[step] = not self._program.contains(step) or self._is_wait_reachable(step)
        return self._cache[step]

    def _is_wait_reachable(self, step: Step) -> bool:
        flow = self._cfg
        block = flow.block_of(step)
        reachable = flow.reachable(flow.successors[block])
        waits = [(flow.block_of(wait), wait.index) for wait in self._waits]
        return any(at in reachable or (at == block and index > step.index) for at, index in waits)


def _waits_for_bulk_copies(effect: Effect) -> bool:
    return isinstance(effect, WaitGroup) and effect.group == "bulk"
