"""Which barrier orders two accesses that nothing orders: the one for the fewest threads that can.

Lanes of one warp need a barrier of the warp. So does a warp of which one lane hands over for all others, before they
have come so far. Other threads need a barrier at a place that both come by: one of the whole CTA where all its threads
do, one with a number and a count of its own where only the warps of a role do. Two roles come by no such place: there
an mbarrier hands over.

Source: PTX ISA, "bar.warp.sync", "bar, barrier", "Causality Order".
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.causality import Path
from ptxkit.analysis.collectives import WARP
from ptxkit.analysis.flow import Flow
from ptxkit.analysis.kernel import World
from ptxkit.analysis.order import handovers
from ptxkit.analysis.program import Program, Step
from ptxkit.analysis.trace import Event, GroupEvent, Opaque
from ptxkit.isa.effects import Barrier
from ptxkit.records import dataclass
from ptxkit.syntax.tree import Integer

WARP_BARRIER = "bar.warp.sync -1;"
CTA_BARRIER = "bar.sync 0;"
#: Barriers that a CTA has.
BARRIERS = 16


@dataclass(frozen=True, slots=True)
class Spot:
    """What one thread does at a position of its path's group."""

    path: Path
    tid: int
    position: int

    @property
    def step(self) -> Step:
        return self.path.group.events[self.position].step

    @property
    def events(self) -> Iterator[tuple[int, Event]]:
        """What the thread does, with positions."""
        index = self.path.group.tids.index(self.tid)
        for at, event in enumerate(self.path.group.events):
            own = event.of(index) if isinstance(event, GroupEvent) else event
            if isinstance(own, Event):
                yield at, own


@dataclass(frozen=True, slots=True)
class OrderingBarrier:
    """A barrier that may stand between two accesses.

    text: the statement; None where no place is common to both threads. threads: how many come by its place; None for
    those of one warp. release: what one lane of the earlier access's warp hands over with, while the others are not
    known to have come so far; the barrier belongs in front of it.
    """

    text: str | None
    threads: int | None = None
    release: Step | None = None


def ordering_barrier(world: World, first: Spot, last: Spot) -> OrderingBarrier:
    """The narrowest barrier that orders one access before another."""
    if first.tid // WARP == last.tid // WARP:
        return OrderingBarrier(WARP_BARRIER)
    release = _release_by_a_mate(world, first, last)
    if release is not None:
        return OrderingBarrier(WARP_BARRIER, release=release)
    come_by = max(_comers(world, first, last), key=len, default=frozenset())
    if len(come_by) == world.scenario.launch.threads:
        return OrderingBarrier(CTA_BARRIER, len(come_by))
    number = _unused(world.program)
    if come_by and number is not None:
        return OrderingBarrier(f"bar.sync {number}, {len(come_by)};", len(come_by))
    return OrderingBarrier(None)


def _release_by_a_mate(world: World, first: Spot, last: Spot) -> Step | None:
    """The instruction by which another lane of the first thread's warp, which does the same, hands over to the last."""
    event = first.path.group.events[first.position]
    for mate in world.causality.paths:
        if mate.warp != first.path.warp or mate.tids == first.path.tids:
            continue
        at = world.causality.places(mate.group).get((event.step, event.visit))
        ways = () if at is None else handovers(mate.marks, at, last.path.marks, last.position)
        for way in ways:
            released = mate.group.events[way.released]
            if not isinstance(released, Opaque) and not _is_of_warp(released.effect):
                return released.step
    return None


def _is_of_warp(effect: object) -> bool:
    return isinstance(effect, Barrier) and effect.level == "warp"


def _comers(world: World, first: Spot, last: Spot) -> Iterator[frozenset[int]]:
    """The threads that come by each place between two accesses, both among them, where whole warps do."""
    program = world.program
    if not all(_is_in(program, each.step) for each in (first, last)):
        return
    flow = Flow(program)
    behind = _spread(flow.block_of(first.step), flow.after)
    ahead = _spread(flow.block_of(last.step), flow.before)
    if first.step.index < last.step.index and flow.block_of(first.step) == flow.block_of(last.step):
        behind = ahead = {flow.block_of(first.step)}
    for block in behind & ahead:
        steps = {step for step in flow.steps(block) if step.instruction.guard is None}
        tids = frozenset(tid for group in world.groups if not steps.isdisjoint(group.covered) for tid in group.tids)
        warps = {tid // WARP for tid in tids}
        is_whole = len(tids) == min(len(warps) * WARP, world.scenario.launch.threads)
        if is_whole and {first.tid, last.tid} <= tids:
            yield tids


def _is_in(program: Program, step: Step) -> bool:
    """Whether a step is one of this function, not of one that it calls."""
    return step.index < len(program.steps) and program.steps[step.index] is step


def _spread(start: int, next_of: list[tuple[int, ...]]) -> set[int]:
    """A block, and all to which the edges lead from it."""
    found, waiting = {start}, [start]
    while waiting:
        for block in next_of[waiting.pop()]:
            if block not in found:
                found.add(block)
                waiting.append(block)
    return found


def _unused(program: Program) -> int | None:
    """The first number from 1 on of a barrier that nothing in the function names; None where a register names one."""
    used: set[int] = set()
    for step in program.steps:
        for effect in step.effects:
            if isinstance(effect, Barrier) and effect.level == "cta":
                number = step.instruction.operands[0] if step.instruction.operands else None
                if number is not None and not isinstance(number, Integer):
                    return None
                used.add(number.value if number is not None else 0)
    return next((number for number in range(1, BARRIERS) if number not in used), None)
