"""What decides how the threads of a kernel synchronise: whether they come to barriers and copies, and what these count.

A kernel that compares one number with another asks for launches with either outcome. One that computes with a number,
or reads it beside others, may rely on what only its host knows: a count of tiles, or a divisor and its inverse.
"""

from __future__ import annotations

from functools import cached_property

from ptxkit.analysis.certainty import Certainty
from ptxkit.analysis.dependence import Leaf
from ptxkit.analysis.pointers import parameter_values
from ptxkit.analysis.program import Program, Step, callee_of
from ptxkit.analysis.slicing import registers_in
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
from ptxkit.isa.expressions import Call
from ptxkit.verifier.registers import operands_read, results_of

_COUNTED = (Barrier, MbarrierInit, MbarrierArrive, MbarrierExpect)
"""Effects whose operands say how many threads, or bytes, a phase needs."""

_MEETING = (*_COUNTED, MbarrierInvalidate, MbarrierTrack, MbarrierWait, CommitGroup, WaitGroup)
_OUTSIDE = ("global", "generic", "const")


class Protocol:
    """The synchronisation of a kernel, and what decides it."""

    def __init__(self, program: Program, certainty: Certainty) -> None:
        self._program, self._certainty = program, certainty

    @cached_property
    def is_whole(self) -> bool:
        """Whether all of it stands in the kernel itself, and not in functions of the module that it calls."""
        names = {each.name for each in self._program.module.functions() if each.body is not None}
        return all(callee_of(step) not in names and step.match is not None for step in self._program.steps)

    @cached_property
    def counts(self) -> frozenset[Leaf]:
        """What the numbers are made of that tell barriers of threads and bytes."""
        dependence = self._certainty.dependence
        counted = [step for step in self._steps if any(isinstance(effect, _COUNTED) for effect in step.effects)]
        return frozenset(
            leaf for step in counted for operand in operands_read(step) for leaf in dependence.of(step, operand)
        )

    @cached_property
    def ways(self) -> frozenset[Leaf]:
        """What decides whether a thread comes to a barrier, or to a copy."""
        return frozenset(leaf for step in self._ends for leaf in self._certainty.leaves(step, None))

    @cached_property
    def tested(self) -> frozenset[str]:
        """The parameters that decide it by themselves: they are compared as they were passed, and not computed with."""
        values = parameter_values(self._program)
        dependence = self._certainty.dependence
        direct: set[str] = set()
        computed: set[str] = set()
        for register in self._behind:
            for step in self._comparing.get(register, ()):
                for operand in operands_read(step):
                    names = list(registers_in(operand, step.scope))
                    known = [values[name][0] for name in names if name in values]
                    if known:
                        direct.update(known)
                    else:
                        computed.update(leaf.name for leaf in dependence.of(step, operand) if leaf.kind == "parameter")
        return frozenset(direct - computed)

    @cached_property
    def asks_data(self) -> bool:
        """Whether what plain loads bring from outside the CTA decides it."""
        return any(
            not self._behind.isdisjoint(results_of(step))
            for step in self._program.acting
            if any(_is_plain_load(effect) for effect in step.effects)
        )

    @cached_property
    def _steps(self) -> list[Step]:
        return [step for step in self._program.acting if any(_synchronises(effect) for effect in step.effects)]

    @cached_property
    def _ends(self) -> list[Step]:
        """One of the steps for each block and guard."""
        flow = self._certainty.flow
        found = {(flow.block_of(step), step.instruction.guard): step for step in self._steps}
        return list(found.values())

    @cached_property
    def _behind(self) -> set[str]:
        """The registers that decide it, and all that they are made from."""
        waiting: list[str] = []
        for step in self._ends:
            for deciding, own in self._certainty.decided_by(step, set()):
                guard = deciding.instruction.guard
                waiting += [deciding.scope.register(guard.predicate)] if guard is not None else []
                waiting += self._certainty.dependence.reads(deciding, own)[0]
        found: set[str] = set()
        while waiting:
            register = waiting.pop()
            if register not in found:
                found.add(register)
                waiting.extend(self._certainty.dependence.straight(register)[0])
        return found

    @cached_property
    def _comparing(self) -> dict[str, list[Step]]:
        found: dict[str, list[Step]] = {}
        for step in self._program.steps:
            if any(isinstance(effect, Value) and _is_comparison(effect.value) for effect in step.effects):
                for register in results_of(step):
                    found.setdefault(register, []).append(step)
        return found


def _synchronises(effect: object) -> bool:
    if isinstance(effect, Access):
        return effect.completion is not None
    return isinstance(effect, _MEETING) and not (isinstance(effect, Barrier) and effect.level == "warp")


def _is_plain_load(effect: object) -> bool:
    return isinstance(effect, Access) and (effect.kind, effect.order) == ("read", "weak") and effect.space in _OUTSIDE


def _is_comparison(value: object) -> bool:
    if not isinstance(value, Call):
        return False
    return value.function == "compare" or any(_is_comparison(each) for each in value.arguments)
