"""Finds the loads of a kernel whose data the host prepares, as it does the arguments; the kernel writes none of them.

A launch with distinct buffers exists for every kernel, so that a store through one pointer is not considered to change
what another pointer parameter addresses. Source: PTX ISA, "Constant State Space", "ld.global.nc", "Kernel Function
Parameter Attributes".
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TypeAlias

from ptxkit.analysis.dataflow.dependence import Dependence, DependenceSource
from ptxkit.analysis.dataflow.pointer_params import pointer_parameters
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.isa.effects import Access

_Places: TypeAlias = "set[tuple[str, int]]"
"""The parameters and variables whose memory an access may use; empty where they are not known."""


def input_loads(program: Program) -> frozenset[Step]:
    """Returns the loads from constant memory, and from global memory that nothing in the kernel writes."""
    buffers = _Buffers(program)
    accesses = [(step, each) for step in program.effectful_steps for each in step.effects if isinstance(each, Access)]
    writes = [(step, each) for step, each in accesses if each.kind != "read" and each.via != "tensormap"]
    written = [buffers.of_access(step, each) for step, each in writes if each.space in ("global", "generic")]
    return frozenset(step for step, each in accesses if each.kind == "read" and buffers.is_input(step, each, written))


class _Buffers:
    """The memory that the accesses of a kernel use."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._pointers = pointer_parameters(program)
        self._dependence = program.analysis(Dependence)

    def of_access(self, step: Step, access: Access) -> _Places:
        """Returns the pointer parameters and the variables on which an address depends, not those in memory."""
        leaves = self._leaves(step, access)
        places = {place for place in self._pointers for leaf in leaves if leaf.covers(place)}
        return places | {(leaf.name, 0) for leaf in leaves if leaf.kind == "variable"}

    def is_input(self, step: Step, access: Access, written: Collection[_Places]) -> bool:
        """Returns whether a read certainly returns what the host prepared. written: what the writes may use."""
        if (access.proxy, access.completion, access.order, access.via) != ("generic", None, "weak", "address"):
            return False
        if any(leaf.kind == "variable" and _has_own_value(step, leaf.name) for leaf in self._leaves(step, access)):
            return False
        if access.space == "const" or not access.coherent:
            return True
        places = self.of_access(step, access)
        is_global = access.space == "global" or (access.space == "generic" and bool(places))
        return (
            is_global and self._program.contains(step) and all(other and places.isdisjoint(other) for other in written)
        )

    def _leaves(self, step: Step, access: Access) -> frozenset[DependenceSource]:
        """Returns what decides an address; it is not known in called functions."""
        is_known = self._program.contains(step) and step.match is not None
        return self._dependence.sources_of(step, step.operand(access.address)) if is_known else frozenset()


def _has_own_value(step: Step, name: str) -> bool:
    """Returns whether a variable is not in memory that the host may fill, or the module contains its data."""
    located = step.scope.locate(name)
    if located is None or name not in located[0].variables:
        return True
    return located[0].variables[name].space not in ("global", "const") or any(
        each.name == name and each.initialiser is not None for _, each in located[0].declared_variables()
    )
