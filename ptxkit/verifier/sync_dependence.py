"""What decides how the threads of a kernel synchronize: whether they reach barriers and copies, and what these count.

A kernel that compares one number with another is made for launches with either outcome. One that computes with a
number, or reads it together with others, may rely on what only its host knows: a count of tiles, or a divisor and its
inverse.
"""

from __future__ import annotations

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
    MbarrierExpect,
    MbarrierInit,
    MbarrierInvalidate,
    MbarrierTrack,
    MbarrierWait,
    Value,
    WaitGroup,
)
from ptxkit.isa.expressions import CallExpr
from ptxkit.semantics.symbols import defined_functions

_COUNT_EFFECTS = (Barrier, MbarrierInit, MbarrierArrive, MbarrierExpect)
"""Effects whose operands say how many threads, or bytes, a phase needs."""

_SYNC_EFFECTS = (*_COUNT_EFFECTS, MbarrierInvalidate, MbarrierTrack, MbarrierWait, CommitGroup, WaitGroup)
_NON_CTA_SPACES = ("global", "generic", "const")


class SyncDependence:
    """The synchronization of a kernel, and what decides it."""

    def __init__(self, program: Program, certainty: InputIndependence) -> None:
        self._program, self._input_independence = program, certainty

    @cached_property
    def is_intraprocedural(self) -> bool:
        """Return whether all of it is in the kernel itself, and not in functions of the module that it calls."""
        names = defined_functions(self._program.module)
        return all(callee_of(step) not in names and step.match is not None for step in self._program.steps)

    @cached_property
    def count_sources(self) -> frozenset[DependenceSource]:
        """Return the sources of the thread and byte counts of barriers."""
        dependence = self._input_independence.dependence
        counted = [step for step in self._steps if any(isinstance(effect, _COUNT_EFFECTS) for effect in step.effects)]
        return frozenset(
            leaf for step in counted for operand in read_operands(step) for leaf in dependence.sources_of(step, operand)
        )

    @cached_property
    def control_sources(self) -> frozenset[DependenceSource]:
        """Return what decides whether a thread reaches a barrier or a copy."""
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
        """Whether what plain loads bring from outside the CTA decides it."""
        return any(
            not self._controlling_registers.isdisjoint(step.result_registers())
            for step in self._program.effectful_steps
            if any(_is_plain_load(effect) for effect in step.effects)
        )

    @cached_property
    def _steps(self) -> list[Step]:
        return [
            step for step in self._program.effectful_steps if any(_is_sync_effect(effect) for effect in step.effects)
        ]

    @cached_property
    def _block_representatives(self) -> list[Step]:
        """One of the steps for each block and guard."""
        flow = self._input_independence.cfg
        found = {(flow.block_of(step), step.instruction.guard): step for step in self._steps}
        return list(found.values())

    @cached_property
    def _controlling_registers(self) -> set[str]:
        """The registers that decide it, and all that they are made from."""
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
            if any(isinstance(effect, Value) and _is_comparison(effect.value) for effect in step.effects):
                for register in step.result_registers():
                    found.setdefault(register, []).append(step)
        return found


def _is_sync_effect(effect: object) -> bool:
    if isinstance(effect, Access):
        return effect.completion is not None
    return isinstance(effect, _SYNC_EFFECTS) and not (isinstance(effect, Barrier) and effect.level == "warp")


def _is_plain_load(effect: object) -> bool:
    return (
        isinstance(effect, Access)
        and (effect.kind, effect.order) == ("read", "weak")
        and effect.space in _NON_CTA_SPACES
    )


def _is_comparison(value: object) -> bool:
    if not isinstance(value, CallExpr):
        return False
    return value.function == "compare" or any(_is_comparison(each) for each in value.arguments)
