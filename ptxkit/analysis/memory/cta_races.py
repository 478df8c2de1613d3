"""Finds data races of two CTAs of a grid in global memory, where nothing can order the CTAs.

A weak store whose execution or address the number of the CTA decides is of one CTA. If another CTA accesses the same
bytes weakly, only an acquire pattern in one of them that observes a release pattern in the other one orders the two.
Only positions, arguments and the sizes of the launch may decide the accesses. A kernel of this kind is taken to be
launched with several CTAs along the axes of the grid that it reads. Where the kernel polls a flag that it does not
write, what writes it may order the CTAs.

Source: PTX ISA, "Conflict and Data-races", "Causality Order", "Release and Acquire Patterns".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import TypeAlias

from ptxkit.analysis.dataflow.dependence import Dependence, DependenceSource, may_be_one_buffer
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.memory.cta_pair_order import CtaRaceSearch
from ptxkit.analysis.memory.flag_accesses import find_global_accesses, global_accesses
from ptxkit.analysis.sync.warp_convergence import is_collective_step
from ptxkit.syntax.tree import Operand

#: An instruction and an address of its operands.
_Use: TypeAlias = tuple[Step, Operand | None]
_Buffers: TypeAlias = frozenset[DependenceSource]
_BufferUse: TypeAlias = tuple[_Use, _Buffers]


def find_cta_races(search: CtaRaceSearch) -> Iterator[tuple[Step, Step]]:
    """Yields the stores by one CTA and the loads by another one that certainly race."""
    program = search.program
    if has_no_shared_buffer(program):
        return
    stores, loads = program.analysis(_weak_uses)
    written = {buffers for use, buffers in _with_buffers(program, _uses(program, "write", "update"))}
    for use, buffers in _with_buffers(program, _uses(program, "read", "update")):
        if use[0] in search.polls and not any(may_be_one_buffer(buffers, each) for each in written):
            return
    readers: dict[_Buffers, set[Step]] = defaultdict(set)
    for load, buffers in _shared_with(loads, stores):
        if not search.inputs.inputs_of(*load).is_data:
            readers[buffers].add(load[0])
    writers = [(store, search.inputs.inputs_of(*store[0])) for store in _shared_with(stores, loads)]
    partners = {
        buffers: frozenset[Step]().union(*(each for of, each in readers.items() if may_be_one_buffer(buffers, of)))
        for (_, buffers), _ in writers
    }
    found = set[tuple[Step, Step]]()
    for axis in search.axes:
        numbers = {f"%ctaid.{axis}", f"%clusterid.{axis}"}
        wanted: dict[Step, frozenset[Step]] = {}
        for ((store, _), buffers), decided in writers:
            if not decided.is_data and not numbers.isdisjoint(decided.special_registers):
                known = partners[buffers]
                wanted[store] = wanted[store] | known if store in wanted else known
        for store, other in found:
            wanted[store] = wanted.get(store, frozenset()) - {other}
        wanted = {store: others for store, others in wanted.items() if others}
        for pair in search.find_races(wanted, axis) if wanted else ():
            found.add(pair)
            yield pair


def has_no_shared_buffer(program: Program) -> bool:
    """Returns whether no weak store and weak load of a kernel may be of the same buffer."""
    stores, loads = program.analysis(_weak_uses)
    return not _shared_with(stores, loads)


def _weak_uses(program: Program) -> tuple[list[_BufferUse], list[_BufferUse]]:
    """Returns the weak stores to global memory and the weak loads from it; for `Program.analysis`."""
    stores, loads = (list(_with_buffers(program, _uses(program, kind, order="weak"))) for kind in ("write", "read"))
    return stores, loads


def _with_buffers(program: Program, uses: Iterable[_Use]) -> Iterator[_BufferUse]:
    dependence = program.analysis(Dependence)
    return ((use, dependence.buffers_of(*use)) for use in uses)


def _shared_with(uses: Iterable[_BufferUse], others: Iterable[_BufferUse]) -> list[_BufferUse]:
    """Returns those that may be of the buffer of one of the others."""
    buffers = {each for _, each in others}
    return [use for use in uses if any(may_be_one_buffer(use[1], each) for each in buffers)]


def _uses(program: Program, *kinds: str, order: str | None = None) -> Iterator[_Use]:
    """Yields the instructions with a synchronous access of some kinds, and maybe of one order, and their addresses."""
    for step in program.analysis(find_global_accesses):
        for effect in global_accesses(step, *kinds) if not is_collective_step(step) else ():
            if effect.completion is None and effect.coherent and order in (None, effect.order):
                yield step, step.operand(effect.address)
