"""Determines the inputs of a kernel's synchronization: of the control flow to barriers and copies, and of counts.

A kernel that compares one number with another supports launches with either outcome. A kernel that computes with a
number, or reads it together with others, may rely on properties that only its host ensures: a count of tiles, or a
divisor and its inverse.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from ptxkit.analysis.dataflow.dependence import DependenceSource
from ptxkit.analysis.dataflow.input_independence import InputIndependence
from ptxkit.analysis.dataflow.pointer_params import parameter_values
from ptxkit.analysis.ir.program import Program, Step, callee_of
from ptxkit.analysis.ir.referenced_names import registers_in
from ptxkit.analysis.ir.step_registers import guard_registers, read_operands
from ptxkit.isa.effects import (
    Access,
    Barrier,
    CommitGroup,
    MbarrierArrive,
    MbarrierComplete,
    MbarrierExpect,
    MbarrierInit,
    MbarrierInvalidate,
    MbarrierTrack,
    MbarrierWait,
    Value,
    WaitGroup,
)
from ptxkit.isa.expressions import CallExpr, roles_in
from ptxkit.semantics.ordering import is_warp_barrier
from ptxkit.semantics.symbols import defined_functions
from ptxkit.syntax.tree import Operand

_COUNT_EFFECTS = (Barrier, MbarrierInit, MbarrierArrive, MbarrierExpect)
"""The effects whose operands state how many threads, or bytes, a phase needs."""

_SYNC_EFFECTS = (*_COUNT_EFFECTS, MbarrierInvalidate, MbarrierTrack, MbarrierWait, CommitGroup, WaitGroup)
_NON_CTA_SPACES = ("global", "generic", "const")


class SyncDependence:
    """The synchronization of a kernel, and the inputs on which it depends."""

    def __init__(self, program: Program, certainty: InputIndependence) -> None:
        self._program, self._input_independence = program, certainty

    @cached_property
    def is_intraprocedural(self) -> bool:
        """Whether all synchronization is in the kernel itself, and not in functions of the module that it calls."""
        names = defined_functions(self._program.module)
        return self._program.is_fully_matched and all(callee_of(step) not in names for step in self._program.steps)

    @cached_property
    def count_sources(self) -> frozenset[DependenceSource]:
        """The sources of the thread and byte counts of barriers, and of the bytes that copies complete on mbarriers."""
        sources_of = self._input_independence.dependence.sources_of
        return frozenset(
            leaf for step in self._steps for operand in _count_operands(step) for leaf in sources_of(step, operand)
        )

    @cached_property
    def control_sources(self) -> frozenset[DependenceSource]:
        """The sources that decide whether a thread reaches a barrier or a copy."""
        return frozenset(
            leaf
            for step in self._block_representatives
            for leaf in self._input_independence.dependence_sources(step, None)
        )

    @cached_property
    def compared_parameters(self) -> frozenset[str]:
        """The parameters that decide it by themselves: they are compared as they were passed, and not computed with."""
        values = parameter_values(self._program)
        dependence = self._input_independence.dependence
        direct: set[str] = set()
        computed: set[str] = set()
        for register in self._controlling_registers:
            for step in self._comparisons.get(register, ()):
                for operand in read_operands(step):
                    names = list(registers_in(operand, step.scope))
                    known = [values[name][0] for name in names if name in values]
                    if known:
                        direct.update(known)
                    else:
                        computed.update(
                            leaf.name for leaf in dependence.sources_of(step, operand) if leaf.kind == "parameter"
                        )
        return frozenset(direct - computed)

    @cached_property
    def depends_on_data(self) -> bool:
        """Whether values that plain loads read from outside the CTA decide it."""
        return any(
            not self._controlling_registers.isdisjoint(step.result_registers())
            for step in self._program.own_effectful_steps
            if any(_is_plain_load(effect) for effect in step.effects)
        )

    @cached_property
    def _steps(self) -> list[Step]:
        return [
            step
            for step in self._program.own_effectful_steps
            if any(_is_sync_effect(effect) for effect in step.effects)
        ]

    @cached_property
    def _block_representatives(self) -> list[Step]:
        """One step for each block and guard."""
        flow = self._input_independence.cfg
        found = {(flow.block_of(step), step.instruction.guard): step for step in self._steps}
        return list(found.values())

    @cached_property
    def _controlling_registers(self) -> set[str]:
        """The registers that decide it, and all registers on which these depend."""
        registers: list[str] = []
        for step in self._block_representatives:
            for deciding, own in self._input_independence.deciding_operands(step, set()):
                registers += guard_registers(deciding)
                registers += self._input_independence.dependence.operand_dependences(deciding, own)[0]
        return self._input_independence.dependence.source_registers(registers)

    @cached_property
    def _comparisons(self) -> dict[str, list[Step]]:
        found: dict[str, list[Step]] = {}
        for step in self._program.steps:
            if is_comparison(step):
                for register in step.result_registers():
                    found.setdefault(register, []).append(step)
        return found


def _count_operands(step: Step) -> Iterator[Operand]:
    """Yields the operands that state a number of threads or bytes: of a copy, only its size."""
    if any(isinstance(effect, _COUNT_EFFECTS) for effect in step.effects):
        yield from read_operands(step)
    for effect in step.effects:
        if isinstance(effect, MbarrierComplete) and effect.size is not None:
            found = (step.operand(role) for role in roles_in(effect.size))
            yield from (operand for operand in found if operand is not None)


def _is_sync_effect(effect: object) -> bool:
    if isinstance(effect, Access):
        return effect.completion is not None
    return isinstance(effect, _SYNC_EFFECTS) and not is_warp_barrier(effect)


def _is_plain_load(effect: object) -> bool:
    return (
        isinstance(effect, Access)
        and (effect.kind, effect.order) == ("read", "weak")
        and effect.space in _NON_CTA_SPACES
    )


def is_comparison(step: Step) -> bool:
    """Returns whether a step compares values."""
    return any(isinstance(effect, Value) and _compares(effect.value) for effect in step.effects)


def _compares(value: object) -> bool:
    if not isinstance(value, CallExpr):
        return False
    return value.function == "compare" or any(_compares(each) for each in value.arguments)
