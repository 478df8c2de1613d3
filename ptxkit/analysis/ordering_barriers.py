"""Which barrier orders two accesses that nothing orders: the one for the fewest threads that can.

Lanes of one warp need a barrier of the warp. So does a warp of which one lane hands over for all others, before they
have come so far. Other threads need a barrier at a place that both come by: one of the whole CTA where all its threads
do, one with a number and a count of its own where only the warps of a role do. Two roles come by no such place: they
meet at such a barrier from two places, where neither is in a loop; else an mbarrier hands over.

Source: PTX ISA, "bar.warp.sync", "bar, barrier", "Causality Order".
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.causality import Path
from ptxkit.analysis.collectives import WARP
from ptxkit.analysis.kernel import World
from ptxkit.analysis.order import handovers, unordered_release
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

    text: the statement; None where none will do. threads: how many come by its place; None for those of one warp.
    release: what one lane of the earlier access's warp hands over with, while the others are not known to have come so
    far; the barrier belongs in front of it. is_relaxed: the earlier thread itself hands over by `release`, which is
    relaxed and orders nothing: no barrier is missing. is_parted: the barrier belongs behind the one access and in front
    of the other, as no place is common to both threads.
    """

    text: str | None
    threads: int | None = None
    release: Step | None = None
    is_relaxed: bool = False
    is_parted: bool = False

    @property
    def alone(self) -> str | None:
        """The statement, where one is enough."""
        return None if self.is_parted else self.text


def ordering_barrier(world: World, first: Spot, last: Spot) -> OrderingBarrier:
    """The narrowest barrier that orders one access before another."""
    if first.tid // WARP == last.tid // WARP:
        return OrderingBarrier(WARP_BARRIER)
    told = unordered_release(first.tid, first.events, first.position, first.position, last.path.marks, last.position)
    if told is not None:
        return OrderingBarrier(None, release=told.step, is_relaxed=True)
    release = _release_by_a_mate(world, first, last)
    if release is not None:
        return OrderingBarrier(WARP_BARRIER, release=release)
    if not all(_is_in(world.program, each.step) for each in (first, last)):
        return OrderingBarrier(CTA_BARRIER)
    flow, number = world.flow, _unused(world.program)
    come_by = max(_comers(world, first, last), key=len, default=frozenset())
    if len(come_by) == world.scenario.launch.threads:
        return OrderingBarrier(CTA_BARRIER, len(come_by))
    if come_by and number is not None:
        return OrderingBarrier(f"bar.sync {number}, {len(come_by)};", len(come_by))
    roles = [_at_block(world, flow.block_of(each.step)) for each in (first, last)]
    is_once = not any(flow.repeats(each.step) for each in (first, last))
    if (
        is_once
        and number is not None
        and all(_are_warps(world, role) for role in roles)
        and roles[0].isdisjoint(roles[1])
    ):
        threads = sum(map(len, roles))
        return OrderingBarrier(f"bar.sync {number}, {threads};", threads, is_parted=True)
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
    flow = world.flow
    behind = _spread(flow.block_of(first.step), flow.after)
    ahead = _spread(flow.block_of(last.step), flow.before)
    if first.step.index < last.step.index and flow.block_of(first.step) == flow.block_of(last.step):
        behind = ahead = {flow.block_of(first.step)}
    for block in behind & ahead:
        tids = _at_block(world, block)
        if {first.tid, last.tid} <= tids and _are_warps(world, tids):
            yield tids


def _at_block(world: World, block: int) -> frozenset[int]:
    """The threads that come by a block; none where all of it is guarded, so that nobody can tell."""
    steps = {step for step in world.flow.steps(block) if step.instruction.guard is None}
    return frozenset(tid for group in world.groups if not steps.isdisjoint(group.covered) for tid in group.tids)


def _are_warps(world: World, tids: frozenset[int]) -> bool:
    """Whether some threads are whole warps."""
    return len(tids) == min(len({tid // WARP for tid in tids}) * WARP, world.scenario.launch.threads)


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
