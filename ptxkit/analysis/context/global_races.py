"""Finds data races of the threads of one CTA in global memory, where the bytes of both accesses are known.

The address of a buffer is unknown, but the distance between two addresses that are made from one argument of the
kernel, or from one variable, is not. Each such buffer is placed in another address range, in an execution that
records the accesses to global memory; then the search for races in shared memory applies. Accesses through different
arguments, or at addresses that depend on data, are not compared.

Only weak stores and loads are compared: many kernels read a word before they update it by an atomic.

Source: PTX ISA, "Conflict and Data-races", "Causality Order".
"""

from __future__ import annotations

from ptxkit.analysis.dataflow.dependence import Dependence
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.symexec.explorer import Exploration
from ptxkit.analysis.symexec.trace import GroupEvent, GroupTrace, TraceEvent, UnknownCall, make_event
from ptxkit.analysis.sync.warp_convergence import is_collective_step
from ptxkit.analysis.values.scenario import LaunchConfig
from ptxkit.analysis.values.symbolic_values import GroupValue, SymbolicValue, SymbolicValueTable, Value, lift
from ptxkit.fast_dataclasses import replace
from ptxkit.isa.effects import Access
from ptxkit.syntax.tree import Operand

#: The size of the address range of one buffer, as a power of two, and where the known addresses begin in it.
_BUFFER_BITS, _BUFFER_MIDDLE = 44, 1 << 43
#: The special registers that identify the thread in the block.
_THREAD_POSITION = ("%tid", "%laneid")


def may_race_in_global_memory(program: Program, launch: LaunchConfig) -> bool:
    """Returns whether a kernel stores to a buffer in global memory, and loads from one that may be the same.

    A kernel that declares no block size and does not read the position of a thread is one for a single thread.
    """
    dependence = program.analysis(Dependence)
    is_declared = launch.is_exact or launch.is_limit
    if not is_declared and not any(leaf.name.startswith(_THREAD_POSITION) for leaf in dependence.own_sources):
        return False
    uses = {kind: [step for step in program.own_effectful_steps if _has(step, kind)] for kind in ("read", "write")}
    return any(
        dependence.may_share_buffer(_address_of(store, "write"), _address_of(load, "read"))
        for store in uses["write"]
        for load in uses["read"]
    )


def place_buffers(exploration: Exploration, terms: SymbolicValueTable) -> list[GroupTrace]:
    """Returns the groups of an exploration with numbers as addresses in global memory, and none in shared memory."""
    return [
        replace(group, events=[_place_event(event, terms) for event in group.events]) for group in exploration.groups
    ]


def _place_event(
    event: TraceEvent | GroupEvent | UnknownCall, terms: SymbolicValueTable
) -> TraceEvent | GroupEvent | UnknownCall:
    if isinstance(event, UnknownCall) or not isinstance(event.effect, Access):
        return event
    is_compared = _is_weak_global(event.effect) and not is_collective_step(event.step)
    if isinstance(event, TraceEvent):
        place = _place(event.address, terms) if is_compared and event.address is not None else None
        return replace(event, address=place if isinstance(place, int) else None)
    address, *others = event.fields
    placed: GroupValue | None = None
    if is_compared and address is not None:
        placed = lift(lambda value: _place(value, terms), address)
    return make_event(event.step, event.visit, event.effect, (placed, *others), event.participants)


def _place(address: Value, terms: SymbolicValueTable) -> Value:
    """Returns the number for an address in a buffer; any other address is returned as it is, if it is not a number."""
    if not isinstance(address, SymbolicValue):
        return terms.intern(("not in a buffer", address))
    if not address.pointer or abs(address.offset) >= _BUFFER_MIDDLE:
        return address
    return (address.identity + 1 << _BUFFER_BITS) + _BUFFER_MIDDLE + address.offset


def _is_weak_global(effect: Access) -> bool:
    is_plain = (effect.order, effect.proxy, effect.completion, effect.via) == ("weak", "generic", None, "address")
    return is_plain and effect.coherent and effect.kind != "update" and effect.space in ("global", "generic")


def _has(step: Step, kind: str) -> bool:
    kinds = {each.kind for each in step.effects if isinstance(each, Access) and _is_weak_global(each)}
    return kind in kinds and not is_collective_step(step)


def _address_of(step: Step, kind: str) -> tuple[Step, Operand | None]:
    access = next(each for each in step.effects if isinstance(each, Access) and each.kind == kind)
    return step, step.operand(access.address)
