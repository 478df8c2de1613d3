"""The explored executions of each transfer, by thread and scenario."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence

from ptxkit.analysis.context.kernel_facts import ScenarioFacts
from ptxkit.analysis.context.plain_copies import IMMEDIATE
from ptxkit.analysis.context.thread_view import ThreadView
from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.limits import MAX_TRANSFER_EXECUTIONS
from ptxkit.analysis.sync.async_groups import AsyncCopy
from ptxkit.fast_dataclasses import dataclass
from ptxkit.isa.effects import Access


@dataclass(frozen=True, slots=True)
class TransferExecution:
    """One execution of one access of a transfer by one thread."""

    facts: ScenarioFacts
    thread: ThreadView
    copy: AsyncCopy


class TransferExecutions:
    """The executions of a kernel's asynchronous accesses, and of the plain copies at `stores`, by instruction."""

    def __init__(self, scenarios: Sequence[ScenarioFacts], stores: Collection[Step] = ()) -> None:
        self._executions_by_step: dict[Step, list[TransferExecution]] = defaultdict(list)
        for facts in scenarios:
            for thread in facts.threads.values():
                seen: dict[tuple[Step, int], int] = defaultdict(int)
                for copy in (*thread.copies, *_plain_copies(thread, stores)):
                    key = (copy.event.step, id(copy.event.effect))
                    seen[key] += 1
                    if seen[key] <= MAX_TRANSFER_EXECUTIONS:
                        self._executions_by_step[copy.event.step].append(TransferExecution(facts, thread, copy))

    def executions_of(self, step: Step, access: Access | None) -> Sequence[TransferExecution]:
        """Returns the executions of one access of an instruction."""
        return [seen for seen in self._executions_by_step.get(step, ()) if seen.copy.event.effect is access]


def _plain_copies(thread: ThreadView, stores: Collection[Step]) -> Iterator[AsyncCopy]:
    for position, event in thread.accesses if stores else ():
        if event.step in stores:
            yield AsyncCopy(position, event, IMMEDIATE, completion_position=position)
