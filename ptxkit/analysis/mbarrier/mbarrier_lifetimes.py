"""Finds uses of mbarriers after their invalidation, and invalidations of what is no mbarrier, by any thread of the CTA.

Source: PTX ISA, "mbarrier.inval", "Lifecycle of the mbarrier object".
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import islice
from typing import get_args

from ptxkit.analysis.context.kernel_facts import ScenarioFacts
from ptxkit.analysis.context.thread_view import ThreadView
from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.mbarrier.mbarrier_objects import find_initializations, mbarrier_of
from ptxkit.fast_dataclasses import dataclass
from ptxkit.isa.effects import MbarrierInit, MbarrierInvalidate, MbarrierUse


@dataclass(frozen=True, slots=True)
class UseAfterInval:
    """An invalidation, and a use that follows it. is_certain: whether no guess precedes the two."""

    inval: Step
    use: Step
    is_certain: bool


def find_uses_after_inval(facts: ScenarioFacts) -> Iterator[UseAfterInval]:
    """Yields the first use of each thread after an invalidation that all initializations of the mbarrier precede."""
    made = find_initializations(facts.threads.values())
    for thread in facts.threads.values():
        for position, event in thread.positions(MbarrierInvalidate):
            end, address = (thread, position), mbarrier_of(event)
            if address is None or not all(is_reached_after(facts, each[:2], end) for each in made.get(address, ())):
                continue
            for other in facts.threads.values():
                uses = (
                    (at, use.step)
                    for at, use in other.positions(*get_args(MbarrierUse))
                    if mbarrier_of(use) == address and is_reached_after(facts, end, (other, at))
                )
                for at, step in islice(uses, 1):
                    is_certain = thread.trace.is_certain(position) and other.trace.is_certain(at)
                    yield UseAfterInval(event.step, step, is_certain)


def find_excess_invals(facts: ScenarioFacts) -> Iterator[tuple[Step, Step, bool]]:
    """Yields (first, last, is certain): the invalidations of an mbarrier that has more of them than initializations."""
    known_threads = facts.all_threads(MbarrierInit, MbarrierInvalidate)
    if known_threads is None or any(thread.trace.end_reason != "exit" for thread in known_threads):
        return
    begun: Counter[int | None] = Counter()
    ended: dict[int | None, list[Step]] = defaultdict(list)
    for thread in known_threads:
        for _, event in thread.positions(MbarrierInit):
            begun[mbarrier_of(event)] += 1
        for _, event in thread.positions(MbarrierInvalidate):
            ended[mbarrier_of(event)].append(event.step)
    is_certain = all(thread.trace.is_certain() for thread in known_threads)
    for address, steps in ended.items():
        if address is not None and len(steps) > begun[address]:
            in_text = sorted(steps, key=lambda step: step.index)
            yield in_text[0], in_text[-1], is_certain


def is_reached_after(facts: ScenarioFacts, first: tuple[ThreadView, int], second: tuple[ThreadView, int]) -> bool:
    """Returns whether the second position is certainly reached after the first, by the same or by another thread."""
    if first[0] is second[0]:
        return first[1] < second[1]
    return facts.is_ordered(*first, *second)
