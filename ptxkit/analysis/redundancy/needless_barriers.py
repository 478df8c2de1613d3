"""Finds the barriers of a CTA that nothing depends on: without one, all accesses to shared memory are proven in order.

A barrier of all threads separates two intervals (`redundant_barriers`). Of what happens in them, the proof about the
kernel without the barrier covers accesses to shared memory, mbarriers and proxy fences. The barrier is kept if the two
intervals may access the same other memory, or contain anything else that orders or signals.

Source: PTX ISA, "bar, barrier", "Memory Consistency Model: Causality Order".
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from ptxkit.analysis.cfg.control_flow_graph import ControlFlowGraph
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.memory.redundant_barriers import CommonBarriers, accesses_around, interval_of, may_conflict
from ptxkit.analysis.redundancy.order_without import NeedlessSync, OrderWithout
from ptxkit.analysis.values.scenario import launch_config_of
from ptxkit.isa.effects import Access, Barrier, Effect, MbarrierComplete, TensorFence, TensorMemory


def find_needless_barriers(program: Program, known: Collection[Step], order: OrderWithout) -> Iterator[NeedlessSync]:
    """Yields the barriers of a CTA without which the order is proven. known: those that are redundant anyway."""
    barriers = program.analysis(CommonBarriers).steps
    effects = (effect for step in program.effectful_steps for effect in step.effects)
    if launch_config_of(program).cluster_size > 1 or any(map(_exceeds_cta, effects)):
        return
    for barrier in barriers:
        is_candidate = barrier not in known and len(barrier.effects) == 1 and barrier.instruction.guard is None
        is_candidate = is_candidate and _separates_shared_only(program, barrier, set(barriers))
        if is_candidate and order.is_ordered_without(barrier, lambda _: True):
            yield NeedlessSync("barrier", barrier, _neighbors(program, barrier, set(barriers)), in_time=False)


def _exceeds_cta(effect: Effect) -> bool:
    """Returns whether an effect concerns Tensor Memory or other CTAs of the cluster."""
    match effect:
        case Access(completion="mbarrier") | MbarrierComplete(asynchronous=True):
            return effect.multicast is not None  # a copy names its own CTA by an address of the cluster, too
        case Barrier(level=level):
            return level == "cluster"
    return getattr(effect, "space", "") == "shared::cluster" or isinstance(effect, TensorFence | TensorMemory)


def _neighbors(program: Program, barrier: Step, barriers: Collection[Step]) -> tuple[Step, ...]:
    """Returns the barriers that end the two intervals which a barrier separates."""
    flow = program.analysis(ControlFlowGraph)
    ends = [interval_of(flow, barrier, barriers, forward=forward)[1] for forward in (False, True)]
    return tuple(sorted(set().union(*ends), key=lambda step: step.index))


def _separates_shared_only(program: Program, barrier: Step, barriers: Collection[Step]) -> bool:
    """Returns whether nothing but the order of accesses to shared memory could depend on a barrier."""
    before, after = accesses_around(program, barrier, barriers, has_phases=True)
    if before is None or after is None:
        return False
    return not may_conflict(*({each for each in found if each[0] != "shared"} for found in (before, after)))
