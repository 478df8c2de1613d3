"""Finds parameters that hold tensor maps which the kernel copies to other memory before a tensor copy uses them.

Kernels copy maps in order to change their fields. Memory is identified by the variables and parameters from which
addresses are derived; the order of stores is ignored.

Source: PTX ISA, "tensormap.replace", "tensormap.cp_fenceproxy".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import TypeAlias

from ptxkit.analysis.dataflow.dependence import Dependence, DependenceSource
from ptxkit.analysis.inventory.tensormap_params import TensorMapParameter, map_uses
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.ir.worklist import Worklist
from ptxkit.isa.effects import Access
from ptxkit.semantics.layout import variable_of
from ptxkit.syntax.tree import Address, Name
from ptxkit.tensormap_limits import MAP_ALIGNMENT, MAP_BYTES

_Place: TypeAlias = tuple[str, str]
"""A memory location: the kind and the name of the source from which its address is derived."""


def copied_map_locations(program: Program) -> dict[tuple[str, int], TensorMapParameter]:
    """Returns the copied tensor maps in parameters, by the parameter's name and the byte in it.

    The result has the form of that of `tensor_map_locations`.
    """
    uses = list(map_uses(program))
    sizes = _structure_sizes(program) if uses else {}
    if not sizes:
        return {}
    dependence = program.analysis(Dependence)
    stored = _stored_sources(program, dependence)
    found: dict[tuple[str, int], TensorMapParameter] = {}
    for step, base, _, use in uses:
        sources = _transitive_sources(_memory_places(dependence.sources_of(step, Name(base))), stored)
        for place in _first_bytes({(leaf.name, leaf.offset) for leaf in sources if leaf.name in sizes}):
            if place[1] + MAP_BYTES <= sizes[place[0]]:
                found[place] = use.merged_with(found.get(place))
    return found


def _first_bytes(parts: set[tuple[str, int]]) -> Iterator[tuple[str, int]]:
    """Yields the locations of the maps of which these parts are copied, as (name of the parameter, byte in it)."""
    name, end = "", 0
    for other, offset in sorted(parts):
        if other != name or offset >= end:
            start = offset // MAP_ALIGNMENT * MAP_ALIGNMENT
            name, end = other, start + MAP_BYTES
            yield name, start


def _structure_sizes(program: Program) -> dict[str, int]:
    """Returns the size in bytes of each parameter that has the alignment of a tensor map."""
    variables = (variable_of(given, each) for given in program.function.parameters for each in given.declarators)
    return {each.name: each.size for each in variables if each.is_aggregate and each.alignment >= MAP_ALIGNMENT}


def _stored_sources(program: Program, dependence: Dependence) -> dict[_Place, set[DependenceSource]]:
    """Returns the sources of the bytes that are stored or copied to each location."""
    found: dict[_Place, set[DependenceSource]] = defaultdict(set)
    for step in program.own_effectful_steps:
        written = {each.address for each in _accesses(step, "write")}
        if step.match is None or not written:
            continue
        sources = set(_value_sources(step, dependence))
        for role in written:
            for place in _memory_places(dependence.sources_of(step, step.operand(role))):
                found[place] |= sources
    return found


def _value_sources(step: Step, dependence: Dependence) -> Iterator[DependenceSource]:
    """Yields the sources of the values that a step stores, and of the addresses that it reads."""
    read = [step.operand(each.address) for each in _accesses(step, "read")]
    for operand in (*read, *(each for each in step.instruction.operands if not isinstance(each, Address))):
        yield from dependence.sources_of(step, operand)


def _accesses(step: Step, kind: str) -> Iterator[Access]:
    yield from (each for each in step.effects if isinstance(each, Access) and each.kind == kind)


def _memory_places(leaves: Iterable[DependenceSource]) -> set[_Place]:
    return {(leaf.kind, leaf.name) for leaf in leaves if leaf.kind in {"variable", "parameter"}}


def _transitive_sources(places: set[_Place], stored: dict[_Place, set[DependenceSource]]) -> set[DependenceSource]:
    """Returns the sources of the bytes that are stored to these locations, directly or through other locations."""
    found: set[DependenceSource] = set()
    worklist = Worklist(places)
    for place in worklist:
        sources = stored.get(place, set())
        found |= sources
        worklist.add(_memory_places(sources))
    return found
