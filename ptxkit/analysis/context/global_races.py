"""Finds data races of the threads of one CTA in global memory, where the bytes of both accesses are known.

The address of a buffer is unknown, but the distance between two addresses that are made from one argument of the
kernel, or from one variable, is not. Each such buffer is placed in another address range, in an execution that
records the accesses to global memory; then the search for races in shared memory applies. Accesses through different
arguments, or at addresses that depend on data, are not compared.

Only weak stores and loads, and asynchronous copies, are compared: many kernels read a word before they update it by an
atomic. A load is not compared in a thread that executes none of the stores that use the value: where a tile has fewer
elements than the CTA has threads, compilers let all warps load and compute it, and one store it.

Source: PTX ISA, "Conflict and Data-races", "Causality Order".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Set

from ptxkit.analysis.dataflow.dependence import Dependence, may_be_one_buffer
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.ir.step_registers import guard_registers, read_registers
from ptxkit.analysis.symexec.exploration import Exploration
from ptxkit.analysis.symexec.trace import GroupEvent, GroupTrace, TraceEvent, UnknownCall, make_event
from ptxkit.analysis.sync.warp_convergence import is_collective_step
from ptxkit.analysis.values.scenario import LaunchConfig
from ptxkit.analysis.values.symbolic_values import (
    GroupValue,
    LaneValues,
    SymbolicValue,
    SymbolicValueTable,
    Value,
    lift,
)
from ptxkit.fast_dataclasses import replace
from ptxkit.isa.effects import Access
from ptxkit.isa.effects import Value as ComputedValue
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
    return bool(program.analysis(_BufferUses).steps)


class _BufferUses:
    """The loads and stores of a kernel that may be of one buffer in global memory, apart from those of its callees."""

    def __init__(self, program: Program) -> None:
        self._program = program
        dependence = program.analysis(Dependence)
        stores, loads = (
            {
                step: dependence.buffers_of(*_address_of(step, kind))
                for step in program.own_effectful_steps
                if _has(step, kind)
            }
            for kind in ("write", "read")
        )
        self.steps = {
            step
            for uses, others in ((stores, set(loads.values())), (loads, set(stores.values())))
            for step, own in uses.items()
            if any(may_be_one_buffer(own, other) for other in others)
        }

    def may_conflict(self, step: Step) -> bool:
        """Returns whether a load or store may be of a buffer that another instruction stores to, or loads from."""
        return step in self.steps or not self._program.contains(step)


def find_reused_buffers(groups: Iterable[GroupTrace], program: Program) -> frozenset[Step]:
    """Returns the loads and stores of buffers to which the threads of some groups store and from which they load.

    These are accesses at known bytes of the buffers.
    """
    uses = program.analysis(_BufferUses)
    steps: dict[str, dict[int, set[Step]]] = {"read": defaultdict(set), "write": defaultdict(set)}
    for event in (event for group in groups for event in group.events):
        if isinstance(event, UnknownCall) or not _may_race(event) or not uses.may_conflict(event.step):
            continue
        address = _fields_of(event)[0][0]
        lanes = address.values if isinstance(address, LaneValues) else (address,)
        for pointer in {each.identity for each in lanes if isinstance(each, SymbolicValue) and each.pointer}:
            steps[event.effect.kind][pointer].add(event.step)  # type: ignore[union-attr]
    loads, stores = steps.values()
    return frozenset(step for each in loads.keys() & stores.keys() for step in loads[each] | stores[each])


class StoresOfLoads:
    """The stores to global memory that use loaded values, in one function."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._readers: dict[str, list[Step]] = defaultdict(list)
        for step in program.steps:
            for register in read_registers(step):
                self._readers[register].append(step)
        self._found: dict[Step, frozenset[Step]] = {}

    def stores_of(self, load: Step) -> frozenset[Step]:
        """Returns the stores that use the result of a load; none where anything else may use it, such as a branch."""
        if load not in self._found:
            self._found[load] = self._find_stores(load) if self._program.contains(load) else frozenset()
        return self._found[load]

    def _find_stores(self, load: Step) -> frozenset[Step]:
        stores: set[Step] = set()
        seen: set[str] = set()
        left = list(load.result_registers())
        while left:
            register = left.pop()
            if register in seen:
                continue
            seen.add(register)
            for step in self._readers[register]:
                if step.match is None or register in guard_registers(step):
                    return frozenset()
                if all(isinstance(effect, ComputedValue) for effect in step.effects):
                    left.extend(step.result_registers())
                elif all(isinstance(e, Access) and e.kind == "write" and _is_weak_global(e) for e in step.effects):
                    stores.add(step)
                else:
                    return frozenset()
        return frozenset(stores)


def place_buffers(
    exploration: Exploration, terms: SymbolicValueTable, is_wanted: Callable[[TraceEvent | GroupEvent], bool]
) -> list[GroupTrace]:
    """Returns the groups of an exploration with numbers as addresses in global memory, and none in shared memory.

    is_wanted: which accesses are to have addresses.
    """
    return [
        replace(group, events=[_place_event(e, (), len(group.tids), terms, is_wanted) for e in group.events])
        for group in exploration.groups
    ]


def place_reused_buffers(
    exploration: Exploration, program: Program, terms: SymbolicValueTable, reusing: Set[Step]
) -> list[GroupTrace]:
    """Returns the groups of an exploration with numbers as addresses of the accesses that may race.

    reusing: the loads and stores of buffers that are both read and written; no others can race.
    """
    uses = program.analysis(StoresOfLoads)
    return [replace(group, events=_place_events(group, uses, terms, reusing)) for group in exploration.groups]


def _place_events(
    group: GroupTrace, uses: StoresOfLoads, terms: SymbolicValueTable, reusing: Set[Step]
) -> list[TraceEvent | GroupEvent | UnknownCall]:
    using = {load: uses.stores_of(load) for load in reusing if _has(load, "read")}
    compared = {load for load, stores in using.items() if stores}.union(*using.values())
    executed: dict[Step, set[int]] = defaultdict(set)
    for event in group.events:
        if event.step in compared:
            who = event.participants if isinstance(event, GroupEvent) else None
            executed[event.step].update(n for n in range(len(group.tids)) if who is None or who[n])
    unused = {
        load: executed[load].difference(*(executed.get(store, ()) for store in stores))
        for load, stores in using.items()
        if stores and load in executed
    }

    def may_race(event: TraceEvent | GroupEvent) -> bool:
        return event.step in reusing and _may_race(event)

    return [_place_event(event, unused.get(event.step, ()), len(group.tids), terms, may_race) for event in group.events]


def _place_event(
    event: TraceEvent | GroupEvent | UnknownCall,
    unused: Collection[int],
    threads: int,
    terms: SymbolicValueTable,
    is_wanted: Callable[[TraceEvent | GroupEvent], bool],
) -> TraceEvent | GroupEvent | UnknownCall:
    """unused: the threads, by index, that do not use the result of a load; they are left out."""
    if isinstance(event, UnknownCall) or not isinstance(event.effect, Access):
        return event
    fields, who = _fields_of(event)
    users = tuple(index not in unused and (who is None or who[index]) for index in range(threads)) if unused else who
    if not is_wanted(event) or fields[0] is None or not any(users or (True,)):
        return make_event(event.step, event.visit, event.effect, (None, *fields[1:]), who)
    placed: GroupValue | None = lift(lambda value: _place(value, terms), fields[0])
    if isinstance(placed, SymbolicValue):
        placed = None
    return make_event(event.step, event.visit, event.effect, (placed, *fields[1:]), users)


def _may_race(event: TraceEvent | GroupEvent) -> bool:
    return isinstance(event.effect, Access) and _is_weak_global(event.effect) and not is_collective_step(event.step)


def _fields_of(event: TraceEvent | GroupEvent) -> tuple[tuple[GroupValue | None, ...], tuple[bool, ...] | None]:
    """Returns the fields of an event, and the threads that take part; None for all."""
    if isinstance(event, GroupEvent):
        return event.fields, event.participants
    return (event.address, event.size, event.amount, event.barrier, event.expect, event.ctas), None


def _place(address: Value, terms: SymbolicValueTable) -> Value:
    """Returns the number for an address in a buffer; any other address is returned as it is, if it is not a number."""
    if not isinstance(address, SymbolicValue):
        return terms.intern(("not in a buffer", address))
    if not address.pointer or abs(address.offset) >= _BUFFER_MIDDLE:
        return address
    return (address.identity + 1 << _BUFFER_BITS) + _BUFFER_MIDDLE + address.offset


def _is_weak_global(effect: Access) -> bool:
    is_plain = (effect.order, effect.via) == ("weak", "address") and effect.proxy in ("generic", "async")
    return is_plain and effect.coherent and effect.kind != "update" and effect.space in ("global", "generic")


def _has(step: Step, kind: str) -> bool:
    kinds = {each.kind for each in step.effects if isinstance(each, Access) and _is_weak_global(each)}
    return kind in kinds and not is_collective_step(step)


def _address_of(step: Step, kind: str) -> tuple[Step, Operand | None]:
    access = next(each for each in step.effects if isinstance(each, Access) and each.kind == kind)
    return step, step.operand(access.address)
