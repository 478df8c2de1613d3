"""Finds barriers of a CTA without which no two accesses lose their order, on all paths of a kernel.

If all threads execute the same barriers, these divide the execution of the CTA into intervals, and accesses of
different intervals are ordered. A barrier then is necessary only for the accesses of the two intervals that it
separates: those from which a path leads to it, and those to which a path leads from it, without another barrier
between. It is redundant if no two of these accesses could conflict, and nothing else in the two intervals orders or
signals.

Source: PTX ISA, "bar, barrier", "Memory Consistency Model: Causality Order".
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from ptxkit.analysis.abstract_interpretation.returning_calls import is_self_contained
from ptxkit.analysis.abstract_interpretation.uniform_execution import UniformExecution
from ptxkit.analysis.cfg.control_flow_graph import ControlFlowGraph
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.ir.worklist import Worklist
from ptxkit.fast_dataclasses import dataclass
from ptxkit.isa.effects import (
    Access,
    AsyncRegisters,
    Barrier,
    CommitGroup,
    Control,
    CtaGroup,
    Effect,
    Home,
    MbarrierEffect,
    MbarrierWait,
    Prefetch,
    ProxyFence,
    RegisterFence,
    Value,
    WaitGroup,
)
from ptxkit.semantics.ordering import is_cta_barrier
from ptxkit.syntax.tree import Integer

PRIVATE_SPACES = ("const", "local", "param")
INERT_EFFECTS = (AsyncRegisters, CommitGroup, CtaGroup, Home, Prefetch, RegisterFence, Value)
"""The effects that order nothing, and that concern the executing thread only."""

AccessClass = tuple[str, bool]
"""The state space of an access without its sub-qualifier, and whether it writes."""


@dataclass(frozen=True, slots=True)
class RedundantBarrier:
    """A barrier that is redundant; if `instead` is given, only as long as that one stays."""

    barrier: Step
    instead: Step | None = None


class CommonBarriers:
    """The barriers of a kernel that all threads of a CTA execute in the same order.

    steps: none if the kernel has other barriers of a CTA, too, or unknown code. Barriers of one number only: the order
    of those of different numbers would have to be the same, too.
    """

    def __init__(self, program: Program) -> None:
        barriers = [step for step in program.effectful_steps if _barrier_of(step) is not None]
        execution = UniformExecution(program)
        is_common = (
            is_self_contained(program)
            and all(_is_of_all_threads(step) and execution.in_cta(step) for step in barriers)
            and len({_number(step) for step in barriers}) == 1
        )
        self.steps = tuple(barriers) if is_common else ()


def find_redundant_barriers(program: Program, known: Collection[Step] = ()) -> Iterator[RedundantBarrier]:
    """Yields the barriers that could all be removed together, and then those that could go instead of one of them.

    known: barriers that are redundant for another reason, where the others are known, too.
    """
    flow, barriers = program.analysis(ControlFlowGraph), program.analysis(CommonBarriers).steps
    removed = set(known)
    candidates = [step for step in barriers if len(step.effects) == 1 and step.instruction.guard is None]
    for barrier in candidates:
        if barrier not in removed and _orders_nothing(program, barrier, set(barriers) - removed):
            removed.add(barrier)
            yield RedundantBarrier(barrier)
    for barrier in candidates:
        if barrier not in removed and _orders_nothing(program, barrier, set(barriers)):
            others = interval_of(flow, barrier, set(barriers), forward=False)[1]
            others |= interval_of(flow, barrier, set(barriers), forward=True)[1]
            if others.isdisjoint(known):
                yield RedundantBarrier(barrier, min(others & removed, key=lambda step: step.index, default=None))


def _barrier_of(step: Step) -> Barrier | None:
    return next((each for each in step.effects if isinstance(each, Barrier) and each.level == "cta"), None)


def _is_of_all_threads(step: Step) -> bool:
    effect = _barrier_of(step)
    return is_cta_barrier(effect) and _number(step) is not None


def _number(step: Step) -> int | None:
    """Returns the number of a barrier, if it is written as such."""
    operand = step.instruction.operands[0] if step.instruction.operands else None
    return operand.value if isinstance(operand, Integer) else None


def _orders_nothing(program: Program, barrier: Step, barriers: Collection[Step]) -> bool:
    """Returns whether nothing in the interval before a barrier could conflict with anything in the one after it."""
    first, second = accesses_around(program, barrier, barriers)
    if first == set() or second == set():
        return True
    return first is not None and second is not None and not may_conflict(first, second)


def accesses_around(
    program: Program, barrier: Step, barriers: Collection[Step], *, has_phases: bool = False
) -> tuple[set[AccessClass] | None, set[AccessClass] | None]:
    """Returns the classes of the accesses in the interval before a barrier, and in the one after it.

    One is None if something in the interval orders or signals. has_phases: whether mbarriers and proxy fences are
    examined elsewhere, so that they do not count as signals.
    """
    flow = program.analysis(ControlFlowGraph)
    before, _ = interval_of(flow, barrier, barriers, forward=False)
    after, _ = interval_of(flow, barrier, barriers, forward=True)
    return (
        _accesses_of_interval(program, before, completes=True, has_phases=has_phases),
        _accesses_of_interval(program, after, completes=False, has_phases=has_phases),
    )


def interval_of(
    flow: ControlFlowGraph, barrier: Step, barriers: Collection[Step], *, forward: bool
) -> tuple[list[Step], set[Step]]:
    """Returns the steps after or before a barrier up to other ones, and those."""
    found: list[Step] = []
    ends: set[Step] = set()

    def reaches_end(steps: Iterable[Step]) -> bool:
        for step in steps:
            if step in barriers and step is not barrier:
                ends.add(step)
                return True
            found.append(step)
        return False

    def in_order(steps: tuple[Step, ...]) -> Iterable[Step]:
        return steps if forward else reversed(steps)

    block = flow.block_of(barrier)
    own = [step for step in flow.steps_of_block(block) if (step.index > barrier.index) is forward]
    following = flow.successors if forward else flow.predecessors
    own = [step for step in own if step is not barrier]
    blocks = Worklist(() if reaches_end(in_order(tuple(own))) else following[block])
    for each in blocks:
        if not reaches_end(in_order(flow.steps_of_block(each))):
            blocks.add(following[each])
    return [step for step in found if step is not barrier], ends


def _accesses_of_interval(
    program: Program, steps: Iterable[Step], *, completes: bool, has_phases: bool
) -> set[AccessClass] | None:
    """Returns the classes of the accesses of one interval, as `accesses_around` does.

    completes: whether asynchronous accesses count that a wait in the interval completes, wherever they started.
    """
    found: set[AccessClass] = set()
    signals = False
    for step in steps:
        for effect in step.effects:
            match effect:
                case Access(space=space) if space.partition("::")[0] in PRIVATE_SPACES:
                    pass
                case Access(order="weak", kind=kind) if kind != "update":
                    found.add(_class(effect))
                case WaitGroup(group=group):
                    found.update(_async_accesses(program, group) if completes else ())
                case MbarrierWait() if has_phases:
                    found.update(_async_accesses(program, "mbarrier") if completes else ())
                case _ if has_phases and isinstance(effect, MbarrierEffect | ProxyFence):
                    pass
                case _ if not _is_inert(effect):
                    signals = True
    return None if signals else found


def _async_accesses(program: Program, group: str) -> Iterator[AccessClass]:
    for step in program.effectful_steps:
        for effect in step.effects:
            if isinstance(effect, Access) and effect.completion == group:
                yield _class(effect)


def _class(access: Access) -> AccessClass:
    return access.space.partition("::")[0], access.kind != "read"


def _is_inert(effect: Effect) -> bool:
    """Returns whether an effect concerns the executing thread only, or its warp, which the barrier does not order."""
    match effect:
        case Barrier(level=level):
            return level in ("warp", "cta")  # those of the CTA end intervals, except for the examined and removed ones
        case Control(kind=kind):
            return kind != "call"
    return isinstance(effect, INERT_EFFECTS)


def may_conflict(first: Collection[AccessClass], second: Collection[AccessClass]) -> bool:
    """Returns whether an access of one class may conflict with one of another class."""
    return any(
        (one[1] or other[1]) and (one[0] == other[0] or "generic" in (one[0], other[0]))
        for one in first
        for other in second
    )
