"""Facts that executions show about synchronizing instructions: mbarriers, numbers, and threads."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence

from ptxkit.analysis.context.kernel_facts import KernelFacts, ScenarioFacts
from ptxkit.analysis.context.mbarrier_waits import cta_offset
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.symexec.trace import TraceEvent
from ptxkit.analysis.values.symbolic_values import Value
from ptxkit.fast_dataclasses import dataclass, field
from ptxkit.isa.effects import (
    Effect,
    MbarrierArrive,
    MbarrierExpect,
    MbarrierInit,
    MbarrierInvalidate,
    MbarrierTrack,
    MbarrierWait,
)
from ptxkit.number_runs import format_runs
from ptxkit.semantics.object_names import describe_objects
from ptxkit.syntax.constants import WARP_SIZE

_KINDS = (MbarrierInit, MbarrierArrive, MbarrierExpect, MbarrierTrack, MbarrierWait, MbarrierInvalidate)


@dataclass(slots=True)
class _EffectValues:
    barriers: set[int | None] = field(default_factory=set)
    amounts: set[Value | None] = field(default_factory=set)
    bytes: set[Value | None] = field(default_factory=set)


class OperandValues:
    """The values of each effect on an mbarrier, by the offset of its instruction in the text: the program of the
    executions is not the one that is shown."""

    def __init__(self, facts: KernelFacts) -> None:
        self._program: Program = facts.program
        self._values: dict[tuple[int, type], _EffectValues] = defaultdict(_EffectValues)
        for scenario in facts.scenarios:
            for thread in scenario.threads.values():
                for _, event in thread.positions(*_KINDS):
                    self._add(event)
        self._executors = dict(_executors(facts.scenarios))
        self._initialized = initialized_mbarriers(facts.scenarios)

    def _add(self, event: TraceEvent) -> None:
        values = self._values[event.step.start, type(event.effect)]
        values.barriers.add(cta_offset(event.address))
        values.amounts.add(event.amount)
        values.bytes.add(event.size if isinstance(event.effect, MbarrierExpect) else event.expect)

    def barrier(self, step: Step, effect: Effect) -> str | None:
        """Returns the mbarriers, as `full`, `full[1]`, `full[0..2]`; None where one is not known."""
        places = self._of(step, effect).barriers
        known = {place for place in places if place is not None}
        is_known = known and len(known) == len(places)
        return describe_objects(self._program.variable_at, known, self._initialized) if is_known else None

    def amount(self, step: Step, effect: Effect) -> int | None:
        """Returns the number of arrivals or the parity, where it is the same number in all executions."""
        return _only_number(self._of(step, effect).amounts)

    def bytes(self, step: Step, effect: Effect) -> int | None:
        """Returns the number of bytes that an mbarrier is made to expect, where it is the same in all executions."""
        return _only_number(self._of(step, effect).bytes)

    def threads(self, step: Step) -> str:
        """Returns the threads that execute a step, in words, as far as those show that were explored; else nothing."""
        return self._executors.get(step.start, "")

    def _of(self, step: Step, effect: Effect) -> _EffectValues:
        return self._values.get((step.start, type(effect)), _EffectValues())


def _executors(scenarios: Sequence[ScenarioFacts]) -> Iterator[tuple[int, str]]:
    """Yields the threads of each instruction, by its offset, from the first scenario in which it is executed."""
    seen: set[int] = set()
    for scenario in scenarios:
        threads: dict[int, set[int]] = defaultdict(set)
        for thread in scenario.threads.values():
            for event in thread.trace.events:
                threads[event.step.start].add(thread.tid)
        all_threads = {thread.tid for thread in scenario.threads.values()}
        yield from ((start, describe_threads(own, all_threads)) for start, own in threads.items() if start not in seen)
        seen |= threads.keys()


def describe_threads(threads: Collection[int], all_threads: Collection[int]) -> str:
    """Returns threads in words: `all`, `thread 128`, `warp 4`, `warps 0..3`, `1 thread each of warps 0..3`.

    everyone: all threads that are known, some of each warp that matters.
    """
    if set(threads) == set(all_threads):
        return "all"
    if len(threads) == 1:
        return f"thread {min(threads)}"
    warps = sorted({thread // WARP_SIZE for thread in threads})
    words = f"warp{'' if len(warps) == 1 else 's'} {format_runs(warps, '..')}"
    if {thread for thread in all_threads if thread // WARP_SIZE in warps} == set(threads):
        return words
    return f"1 thread each of {words}" if len(warps) == len(threads) else f"some threads of {words}"


def initialized_mbarriers(scenarios: Sequence[ScenarioFacts]) -> frozenset[int]:
    """Returns the offsets of the mbarriers that the kernel initializes, as far as they are known."""
    threads = [thread for scenario in scenarios for thread in scenario.threads.values()]
    places = {cta_offset(event.address) for thread in threads for _, event in thread.positions(MbarrierInit)}
    return frozenset(place for place in places if place is not None)


def _only_number(values: set[Value | None]) -> int | None:
    found = next(iter(values), None)
    return found if len(values) == 1 and isinstance(found, int) else None
