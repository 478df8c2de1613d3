"""Finds where the readers of a ring's slots should arrive at an mbarrier whose phase never completes.

The writer of a ring waits at an mbarrier until a slot has been read, and then writes the slot. Where no reader arrives
at that mbarrier, the races between the writes and the reads show which threads read the slots, and where the last read
is complete. The distance between this mbarrier and the one by which the writer signals a filled slot is the same for
all slots.

Source: PTX ISA, "Phase of the mbarrier object", "mbarrier.arrive".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ptxkit.analysis.cfg.control_flow_graph import ControlFlowGraph
from ptxkit.analysis.context.access_instances import AccessInstance
from ptxkit.analysis.context.barrier_placement import are_whole_warps, threads_reaching
from ptxkit.analysis.context.kernel_facts import KernelFacts, ScenarioFacts
from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.symexec.trace import TraceEvent
from ptxkit.analysis.sync.async_groups import async_copies_of
from ptxkit.fast_dataclasses import dataclass
from ptxkit.isa.effects import Access, MbarrierArrive, MbarrierComplete, MbarrierExpect, MbarrierInit, MbarrierWait
from ptxkit.syntax.constants import WARP_SIZE


@dataclass(frozen=True, slots=True)
class MissingRelease:
    """An arrival that the readers of a slot should execute.

    last_read: the last instruction in the text that completes a read of the slot. place: the arrival belongs after this
    step, or before it where `is_after` is false. wait: the readers' wait until the slot is filled. filled, empty:
    addresses of the mbarriers of one slot. count: the arrivals that a phase needs. threads: the number of threads that
    reach the place and form whole warps; 0 where it is unknown. unordered: the reads and writes of slots that
    it orders.
    """

    last_read: Step
    place: Step
    is_after: bool
    wait: Step
    filled: int
    empty: int
    count: int
    threads: int
    unordered: tuple[tuple[Step, Step], ...]

    @property
    def is_by_warp(self) -> bool:
        """Whether one lane of each warp should arrive."""
        return self.threads == self.count * WARP_SIZE and self.count != self.threads

    @property
    def is_by_thread(self) -> bool:
        """Whether each thread should arrive."""
        return self.threads == self.count


def find_missing_release(kernel: KernelFacts, wait: Step) -> MissingRelease | None:
    """Returns the missing arrival for the phase of a wait.

    The result is None where the races of the first scenario that has any do not show a single place for it.
    """
    found = [
        (number, race) for number, race in kernel.races if race.is_write_after_read and _last_wait(race.write) is wait
    ]
    if not found:
        return None
    number = found[0][0]
    facts, races = kernel.scenarios[number], [race for at, race in found if at == number]
    pairs = {pair for race in races for pair in _slot_mbarriers(race.write, wait)}
    waits = {_last_wait(race.read) for race in races}
    reader_wait = waits.pop() if len(waits) == 1 else None
    if not pairs or len({empty - filled for filled, empty in pairs}) != 1 or reader_wait is None:
        return None
    filled, empty = min(pairs)
    counts = {
        event.amount
        for _, each in pairs
        for event in facts.simulation.events_at((facts.scenario.rank, each))
        if isinstance(event.effect, MbarrierInit)
    }
    count = counts.pop() if len(counts) == 1 else None
    place = _place_after(facts, [_completing_step(race.read) for race in races], reader_wait)
    if place is None or not isinstance(count, int):
        return None
    last, step, is_after = place
    if facts.cfg.may_repeat(step) != facts.cfg.may_repeat(reader_wait):
        return None
    tids = threads_reaching(facts, facts.cfg.block_of(step))
    threads = len(tids) if are_whole_warps(facts, tids) else 0
    unordered = tuple(dict.fromkeys(race.steps for race in races))
    return MissingRelease(last, step, is_after, reader_wait, filled, empty, count, threads, unordered)


def _events(access: AccessInstance) -> Iterator[tuple[int, TraceEvent]]:
    """Yields the events of the thread of an access, with positions in its group."""
    index = access.path.group.tids.index(access.tid)
    for at, event in enumerate(access.path.group.events):
        own = event if isinstance(event, TraceEvent) else getattr(event, "for_thread", lambda _: None)(index)
        if own is not None:
            yield at, own


def _completing_step(read: AccessInstance) -> Step:
    """Returns the instruction after which a read is complete: the wait for its group, if it is asynchronous."""
    trace = read.path.group.for_thread(read.tid)
    event = read.event
    for copy in async_copies_of(trace) if isinstance(event.effect, Access) and event.effect.completion else ():
        if (copy.event.step, copy.event.visit) == (event.step, event.visit) and copy.source_free_position is not None:
            return trace.events[copy.source_free_position].step
    return event.step


def _last_wait(access: AccessInstance) -> Step | None:
    """Returns the last wait for an mbarrier before an access."""
    found = None
    for at, event in _events(access):
        if at >= access.position:
            break
        if isinstance(event.effect, MbarrierWait):
            found = event.step
    return found


def _slot_mbarriers(write: AccessInstance, wait: Step) -> set[tuple[int, int]]:
    """Returns the mbarriers of each slot: that of the filled slot, and that for which the writer waits before."""
    found: set[tuple[int, int]] = set()
    empty: int | None = None
    for _, event in _events(write):
        if isinstance(event.effect, MbarrierWait):
            empty = event.address if event.step is wait and isinstance(event.address, int) else None
        elif empty is not None and isinstance(event.effect, MbarrierArrive | MbarrierComplete | MbarrierExpect):
            found |= {(event.address, empty)} if isinstance(event.address, int) else set()
            empty = None
    return found


def _is_in_loops_of(flow: ControlFlowGraph, block: int, wait: Step) -> bool:
    """Returns whether a block is executed once for each wait: each loop that contains it also contains the wait."""
    loop = flow.loops.innermost_loop(block)
    return loop is None or flow.block_of(wait) in loop.nodes


def _place_after(facts: ScenarioFacts, reads: Sequence[Step], wait: Step) -> tuple[Step, Step, bool] | None:
    """Returns the nearest place that all reads reach, as (last read in the text, step, is after the step)."""
    if not all(map(facts.program.contains, reads)):
        return None
    flow = facts.cfg
    last = max(reads, key=lambda step: step.index)
    blocks = {flow.block_of(step) for step in reads}
    after = flow.post_dominators
    common: int | None = flow.block_of(last)
    while common is not None and not (
        _is_in_loops_of(flow, common, wait) and all(after.dominates(common, block) for block in blocks)
    ):
        common = after.parents[common]
    if common is None:
        return None
    if common in blocks:
        return last, max((step for step in reads if flow.block_of(step) == common), key=lambda step: step.index), True
    return last, flow.steps_of_block(common)[0], False
