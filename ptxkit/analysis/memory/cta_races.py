"""Finds data races of two CTAs of a grid in global memory, where nothing can order the CTAs.

A weak store whose execution or address the number of the CTA decides is of one CTA. If another CTA accesses the same
bytes weakly, only an acquire pattern in one of them that observes a release pattern in the other one orders the two.
Only positions, arguments and the sizes of the launch may decide the accesses. A kernel of this kind is taken to be
launched with several CTAs along the axes of the grid that it reads. Where the kernel polls a flag that it does not
write, what writes it may order the CTAs.

Source: PTX ISA, "Conflict and Data-races", "Causality Order", "Release and Acquire Patterns".
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from ptxkit.analysis.dataflow.dependence import Dependence
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.memory.cta_pair_order import CtaRaceSearch
from ptxkit.analysis.memory.flag_accesses import find_global_accesses, global_accesses
from ptxkit.analysis.sync.warp_convergence import is_collective_step
from ptxkit.syntax.tree import Operand

#: An instruction and an address of its operands.
_Use: TypeAlias = tuple[Step, Operand | None]


def find_cta_races(search: CtaRaceSearch) -> Iterator[tuple[Step, Step]]:
    """Yields the stores by one CTA and the loads by another one that certainly race."""
    program = search.program
    sharing = program.analysis(_sharing_accesses)
    if not sharing:
        return
    dependence = program.analysis(Dependence)
    writes = list(_uses(program, "write", "update"))
    awaited = [use for use in _uses(program, "read", "update") if use[0] in search.polls]
    if not all(any(dependence.may_share_buffer(poll, write) for write in writes) for poll in awaited):
        return
    decided = {use: search.inputs.inputs_of(*use) for use in {use for pair in sharing for use in pair}}
    known = [(store, load) for store, load in sharing if not (decided[store].is_data or decided[load].is_data)]
    found = set[tuple[Step, Step]]()
    for axis in search.axes:
        numbers = {f"%ctaid.{axis}", f"%clusterid.{axis}"}
        wanted = {(s[0], load[0]) for s, load in known if not numbers.isdisjoint(decided[s].special_registers)} - found
        for pair in search.find_races(wanted, axis) if wanted else ():
            found.add(pair)
            yield pair


def has_no_shared_buffer(program: Program) -> bool:
    """Returns whether no weak store and weak load of a kernel may be of the same buffer."""
    return not program.analysis(_sharing_accesses)


def _sharing_accesses(program: Program) -> list[tuple[_Use, _Use]]:
    """Returns the pairs of a weak store and a weak load that may be of one buffer of global memory."""
    dependence = program.analysis(Dependence)
    stores, loads = (list(_uses(program, kind, order="weak")) for kind in ("write", "read"))
    return [(store, load) for store in stores for load in loads if dependence.may_share_buffer(store, load)]


def _uses(program: Program, *kinds: str, order: str | None = None) -> Iterator[_Use]:
    """Yields the instructions with a synchronous access of some kinds, and maybe of one order, and their addresses."""
    for step in program.analysis(find_global_accesses):
        for effect in global_accesses(step, *kinds) if not is_collective_step(step) else ():
            if effect.completion is None and effect.coherent and order in (None, effect.order):
                yield step, step.operand(effect.address)
