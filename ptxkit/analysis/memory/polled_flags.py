"""Finds threads that poll a flag in global memory and then copy global memory through the async proxy.

A poll is a loop that only reads a flag, strongly and in a scope beyond its own CTA, until it has the expected value.
What another CTA, grid or GPU stored before it set the flag is then visible to the generic proxy of the thread only.

Source: PTX ISA, "Causality Order", "Async Proxy", "membar / fence", "Release and Acquire Patterns".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ptxkit.analysis.cfg.control_flow_graph import ControlFlowGraph
from ptxkit.analysis.cfg.loops import CfgLoop
from ptxkit.analysis.cfg.reaching_definitions import ReachingDefinitions
from ptxkit.analysis.dataflow.dependence import Dependence
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.ir.referenced_names import registers_in
from ptxkit.analysis.ir.step_registers import guard_registers, read_registers
from ptxkit.analysis.ir.worklist import Worklist
from ptxkit.fast_dataclasses import dataclass
from ptxkit.isa.effects import Access, Barrier, Control, Effect, MemoryFence, Value
from ptxkit.semantics.ordering import ACQUIRE_ORDERS, GPU_LEVEL, connects_proxies, fence_level, scope_level
from ptxkit.syntax.tree import Address


@dataclass(frozen=True, slots=True)
class PolledCopy:
    """A copy out of global memory, and a poll that every path to it passes, with no proxy fence between them."""

    poll: Step
    copy: Step


def find_polled_copies(program: Program) -> Iterator[PolledCopy]:
    """Yields the copies of a function that follow a poll in the same thread."""
    copies = [step for step in program.own_effectful_steps if any(map(_is_copy, step.effects))]
    strong = (step for step in program.own_effectful_steps if any(map(is_strong_global_read, step.effects)))
    reads = list(strong) if copies else []
    if not reads:
        return
    flow = program.analysis(ControlFlowGraph)
    fences = program.own_steps_with(_fences_global)
    for copy in copies:
        polls = [
            read for read in reads if _is_poll(flow, read, copy) and _is_acquired_before(flow, program, read, copy)
        ]
        if polls and not any(_is_between(flow, polls[-1], fence, copy) for fence in fences):
            yield PolledCopy(polls[-1], copy)


def _is_copy(effect: Effect) -> bool:
    return isinstance(effect, Access) and (effect.kind, effect.space, effect.proxy) == ("read", "global", "async")


def is_strong_global_read(effect: Effect) -> bool:
    """Returns whether an effect is a strong read of global memory in a scope beyond the CTA.

    Other CTAs may write such memory at the same time.
    """
    if not isinstance(effect, Access) or effect.kind == "write" or effect.proxy != "generic":
        return False
    is_strong = effect.order != "weak" and scope_level(effect.scope) >= GPU_LEVEL
    return effect.space in ("global", "generic") and is_strong


def _fences_global(effect: Effect) -> bool:
    return connects_proxies(effect, "async", "global")


def _is_poll(flow: ControlFlowGraph, read: Step, copy: Step) -> bool:
    """Returns whether a read is repeated in a loop without other effects before a copy can be reached."""
    loop = flow.loop_of(read)
    if loop is None or flow.block_of(copy) in loop.nodes or not flow.dominates(read, copy):
        return False
    return read.instruction.guard is None and is_in_read_only_loop(flow, read)


def is_in_read_only_loop(flow: ControlFlowGraph, read: Step) -> bool:
    """Returns whether the loop that contains a read, if any, changes nothing that other threads can read.

    It may have barriers, and calls of system functions.
    """
    loop = flow.loop_of(read)
    others = (step for block in loop.nodes for step in flow.steps_of_block(block) if step is not read) if loop else ()
    return all(step.is_system_call or all(map(_is_side_effect_free, step.effects)) for step in others)


def is_polling_read(step: Step, flow: ControlFlowGraph, dependence: Dependence) -> bool:
    """Returns whether a loop reads one address until it holds the expected value."""
    loop = flow.loop_of(step)
    if loop is None or not is_in_read_only_loop(flow, step) or not decides_loop_end(step, flow, dependence):
        return False
    assigned = {name for block in loop.nodes for each in flow.steps_of_block(block) for name in each.result_registers()}
    addresses = [each for each in step.instruction.operands if isinstance(each, Address)]
    named = {name for each in addresses for name in registers_in(each, step.scope)}
    return not _may_change(dependence, named & assigned, assigned)


def decides_loop_end(step: Step, flow: ControlFlowGraph, dependence: Dependence) -> bool:
    """Returns whether the result of a step may decide a branch in the loop that contains the step."""
    loop = flow.loop_of(step)
    ends = [flow.steps_of_block(block)[-1] for block in loop.nodes] if loop is not None else []
    return loop is not None and not _deciding_registers(flow, dependence, loop, ends).isdisjoint(
        step.result_registers()
    )


def _may_change(dependence: Dependence, registers: Iterable[str], assigned: set[str]) -> bool:
    """Returns whether registers that a loop assigns may differ between rounds, by loaded data or their last value."""
    found = Worklist(registers)
    for register in found:
        inputs, leaves = dependence.direct_dependences(register)
        own = Worklist(inputs & assigned)
        for each in own:
            own.add(dependence.direct_dependences(each)[0] & assigned)
        if register in own.seen or any(leaf.kind in ("memory", "unknown") for leaf in leaves):
            return True
        found.add(inputs & assigned)
    return False


def _deciding_registers(
    flow: ControlFlowGraph, dependence: Dependence, loop: CfgLoop, branches: Iterable[Step]
) -> set[str]:
    """Returns the registers that decide branches in a loop, also through barriers that combine values of threads."""
    barriers = [
        step for block in loop.nodes for step in flow.steps_of_block(block) if any(map(_is_barrier, step.effects))
    ]
    found = dependence.source_registers(name for branch in branches for name in guard_registers(branch))
    for step in barriers:
        if not found.isdisjoint(step.result_registers()):
            found |= dependence.source_registers(read_registers(step))
    return found


def _is_barrier(effect: Effect) -> bool:
    return isinstance(effect, Barrier)


def is_read_by_value_only(read: Step, flow: ControlFlowGraph, program: Program) -> bool:
    """Returns whether nothing that changes in the loop of a polling read decides its end, except for the read value."""
    loop = flow.loop_of(read)
    inside = {step for block in loop.nodes for step in flow.steps_of_block(block)} if loop is not None else set()
    definitions = program.analysis(ReachingDefinitions)
    ends = [flow.steps_of_block(inner)[-1] for inner, _ in flow.loops.exit_edges(loop)] if loop is not None else []
    uses = Worklist((end, name) for end in ends for name in guard_registers(end))
    for place, name in uses:
        for definition in definitions.definitions_reaching(place, name) & inside:
            if definition.index >= place.index or (definition is not read and any(map(_is_access, definition.effects))):
                return False  # a value of the last round, such as a counter, or another value that is loaded
            if definition is not read:
                uses.add((definition, each) for each in read_registers(definition))
    return True


def _is_access(effect: Effect) -> bool:
    return isinstance(effect, Access)


def _is_side_effect_free(effect: Effect) -> bool:
    if isinstance(effect, Access):
        is_of_thread = effect.space.startswith(("local", "param"))
        return (effect.kind == "read" or is_of_thread) and effect.proxy == "generic"
    if isinstance(effect, Barrier):
        return effect.level != "cluster"
    return isinstance(effect, Value | MemoryFence | Control)


def _is_acquired_before(flow: ControlFlowGraph, program: Program, read: Step, copy: Step) -> bool:
    """Returns whether the thread acquires what was released with the flag, by the read itself or by a later fence."""
    if any(isinstance(effect, Access) and effect.order in ACQUIRE_ORDERS for effect in read.effects):
        return True
    fences = program.own_steps_with(_is_acquire_fence)
    return any(flow.dominates(read, fence) and flow.dominates(fence, copy) for fence in fences)


def _is_acquire_fence(effect: Effect) -> bool:
    level = fence_level(effect, restricted=False, orders=ACQUIRE_ORDERS)
    return level is not None and level >= GPU_LEVEL


def _is_between(flow: ControlFlowGraph, first: Step, fence: Step, last: Step) -> bool:
    """Returns whether some path leads from one step through a fence to another step."""
    return _is_reachable(flow, first, fence) and _is_reachable(flow, fence, last)


def _is_reachable(flow: ControlFlowGraph, first: Step, second: Step) -> bool:
    here, there = flow.block_of(first), flow.block_of(second)
    if here == there and first.index < second.index:
        return True
    return there in flow.reachable(flow.successors[here])
