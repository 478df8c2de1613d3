"""Finds fences and barriers without effect, on all paths of a kernel and for all launches and data.

Unlike `no_op_sync`, this needs no executions, and knows nothing about the order of different threads: an instruction is
found if the kernel contains nothing that it could order, or nothing that it orders can precede it in any thread.

Source: PTX ISA, "membar / fence" (`fence.mbarrier_init`), "Async Proxy", "bar.warp.sync", "bar, barrier",
"Cluster of Cooperative Thread Arrays".
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.abstract_interpretation.returning_calls import is_self_contained
from ptxkit.analysis.cfg.control_flow_graph import ControlFlowGraph
from ptxkit.analysis.cfg.reachability import reachable_steps
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.isa.effects import (
    Access,
    Barrier,
    CtaGroup,
    Effect,
    Grid,
    Home,
    MbarrierArrive,
    MbarrierEffect,
    MemoryFence,
    ProxyFence,
    TensorFence,
    TensorMemory,
    Value,
)
from ptxkit.isa.expressions import CallExpr
from ptxkit.syntax.tree import operand_names

_PRIVATE_SPACES = ("const", "local", "param")
_CLUSTER_REGISTERS = ("%cluster", "%ncluster", "%is_explicit_cluster")


def find_redundant_init_fences(program: Program) -> Iterator[Step]:
    """Yields each `fence.mbarrier_init` of a kernel in which no other CTA can depend on it.

    The threads of the CTA learn of the initialization by their own synchronization. Those of other CTAs do so by
    releases of the cluster's scope, unless the kernel has relaxed operations, which only a fence orders.
    """
    fences = [step for step in program.effectful_steps if _sole_effect(step, MemoryFence, only="mbarrier.init")]
    if not fences or not is_self_contained(program):
        return
    reachable = reachable_steps(program)
    steps = [step for step in program.steps if step in reachable]
    if not any(map(_concerns_other_ctas, steps)) or not any(
        _may_need_fence(effect) for step in steps for effect in step.effects
    ):
        yield from fences


def _may_need_fence(effect: Effect) -> bool:
    """Returns whether an effect may be the signal to another CTA that releases nothing by itself.

    An operation with the scope of the CTA is no such signal, with or without a fence.
    """
    match effect:
        case Barrier(level="cluster", action=action, order=order):
            return action != "wait" and order == "relaxed"
        case MbarrierArrive(order=order):
            return order == "relaxed"
        case Access(kind=kind, order=order):
            return kind != "read" and order not in ("weak", "release", "acq_rel")
    return False


def find_first_barriers(program: Program) -> Iterator[Step]:
    """Yields each barrier of a warp or CTA that comes before everything that threads can observe of each other.

    All paths to an access or to another synchronization, except for such barriers before it, lead through it, and it is
    executed once. What a function of the system does, such as printing, is not ordered by barriers.
    """
    barriers = [step for step in program.effectful_steps if _is_full_barrier(step)]
    if not barriers or not is_self_contained(program):
        return
    flow, reachable = program.analysis(ControlFlowGraph), reachable_steps(program)
    observable = [
        step for step in program.effectful_steps if step in reachable and any(map(_is_observable, step.effects))
    ]
    found: set[Step] = set()
    for barrier in barriers:
        others = (step for step in observable if step is not barrier and step not in found)
        if not flow.may_repeat(barrier) and all(flow.dominates(barrier, step) for step in others):
            found.add(barrier)
            yield barrier


def accesses_shared_through_one_proxy(program: Program) -> bool:
    """Returns whether a kernel accesses shared memory through the generic or the async proxy only, if at all.

    The operations on mbarriers need no fence, whatever the proxy.
    """
    if not is_self_contained(program):
        return False
    proxies = {
        effect.proxy
        for step in program.effectful_steps
        for effect in step.effects
        if isinstance(effect, Access) and effect.space.startswith(("shared", "generic"))
    }
    return not {"generic", "async"} <= proxies


def _sole_effect(step: Step, kind: type[Effect], **values: object) -> bool:
    """Returns whether an instruction has one effect, of a kind, with some values of its fields."""
    effects = step.effects
    return (
        len(effects) == 1
        and isinstance(effects[0], kind)
        and all(getattr(effects[0], name) == value for name, value in values.items())
    )


def _is_full_barrier(step: Step) -> bool:
    """Returns whether an instruction is only a barrier, of a warp or of all threads of a CTA, and has no guard."""
    is_warp = _sole_effect(step, Barrier, level="warp", order="acq_rel")
    is_cta = _sole_effect(step, Barrier, level="cta", action="sync", threads=None)
    return (is_warp or is_cta) and step.instruction.guard is None


def _concerns_other_ctas(step: Step) -> bool:
    names = (name for operand in step.instruction.operands for name in operand_names(operand))
    return any(map(_reaches_other_ctas, step.effects)) or any(name.startswith(_CLUSTER_REGISTERS) for name in names)


def _reaches_other_ctas(effect: Effect) -> bool:
    match effect:
        case Barrier(level=level):
            return level == "cluster"
        case CtaGroup(ctas=ctas):
            return ctas > 1
        case Home(where=where):
            return where == "other"
        case Value(value=CallExpr(function="map_rank" | "rank_of")):
            return True
        case Access(via="multimem"):
            return True
    return getattr(effect, "multicast", None) is not None


def _is_observable(effect: Effect) -> bool:
    """Returns whether other threads of the warp may observe an effect, or learn of earlier ones by it."""
    match effect:
        case Access(space=space):
            return space not in _PRIVATE_SPACES
        case Barrier(order=order):
            return order != "relaxed"
        case Grid(action=action):
            return action == "wait"
    return isinstance(effect, MbarrierEffect | MemoryFence | ProxyFence | TensorFence | TensorMemory)
