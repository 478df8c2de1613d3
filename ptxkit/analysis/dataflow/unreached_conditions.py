"""Finds the conditions of the steps that no execution reached: another guess, or another size, may lead to them.

The conditions are found by control dependence: the branches that lead to a step, those that lead to these branches, and
the inputs of their conditions.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import cached_property

from ptxkit.analysis.cfg.reaching_definitions import ReachingDefinitions
from ptxkit.analysis.dataflow.dependence import DependenceSource
from ptxkit.analysis.dataflow.input_independence import InputIndependence
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.ir.step_registers import guard_registers
from ptxkit.analysis.limits import MAX_DECIDING_STEPS
from ptxkit.analysis.values.scenario import LaunchConfig, ParameterKey
from ptxkit.syntax.tree import Integer


class UnreachedConditions:
    """The branches of a program that lead to missed steps.

    pointers: the parameters, by name and offset, that hold addresses.
    """

    def __init__(self, program: Program, launch: LaunchConfig, pointers: Collection[tuple[str, int]]) -> None:
        self._program = program
        self._launch = launch
        self._pointers = pointers
        self._definitions = program.analysis(ReachingDefinitions)

    @cached_property
    def _independence(self) -> InputIndependence:
        return InputIndependence(self._program, self._launch)

    def deciding_branches(self, missed: Collection[Step], asked: Collection[Step]) -> frozenset[Step]:
        """Returns the last of the steps in `asked` that decide whether one of the missed steps is executed.

        asked: the steps at which an execution guessed.
        """
        found: set[Step] = set()
        for step in list(missed)[:MAX_DECIDING_STEPS]:
            found.update(self._independence.last_deciding_steps(step, asked))
        return frozenset(found)

    def depends_on_sizes(self, missed: Collection[Step]) -> bool:
        """Returns whether an integer argument of the kernel decides whether one of the missed steps is executed."""
        return any(
            self._is_size(leaf)
            for step in list(missed)[:MAX_DECIDING_STEPS]
            for leaf in self._independence.dependence_sources(step, None)
        )

    def depends_on_position(self, missed: Collection[Step]) -> bool:
        """Returns whether the place of its CTA in the grid decides whether one of the missed steps is executed."""
        return any(
            leaf.kind == "special" and leaf.name.startswith("%ctaid")
            for step in list(missed)[:MAX_DECIDING_STEPS]
            for leaf in self._independence.dependence_sources(step, None)
        )

    def sizes_deciding(self, branch: Step) -> frozenset[ParameterKey]:
        """Returns the integer parameters on which the guard of a branch depends."""
        return frozenset((leaf.name, leaf.offset) for leaf in self._leaves_of_guard(branch) if self._is_size(leaf))

    def _leaves_of_guard(self, branch: Step) -> Iterator[DependenceSource]:
        dependence = self._independence.dependence
        registers = dependence.source_registers(guard_registers(branch))
        return (leaf for register in registers for leaf in dependence.direct_dependences(register)[1])

    def deciding_inputs(self, branch: Step, *, registers: bool) -> Iterator[tuple[tuple[ParameterKey, int], ...]]:
        """Yields values of the inputs on which the guard of a branch depends: around the numbers that it compares.

        registers: whether the number of the CTA is such an input, as well as integer arguments.
        """
        inputs = sorted(self.sizes_deciding(branch) | (self._cta_numbers_deciding(branch) if registers else set()))
        if not inputs:
            return
        for number in self.compared_numbers(branch):
            yield tuple((key, number) for key in inputs)

    def inputs_leading_to(self, missed: Collection[Step]) -> Iterator[tuple[tuple[ParameterKey, int], ...]]:
        """Yields values of integer arguments that may lead to missed steps: around the numbers with which branches
        compare them that decide whether such a step is executed. The first ones have a value for each of the branches.
        """
        branches = dict.fromkeys(self.deciding_steps(missed))
        found = [own for each in branches if (own := list(self.deciding_inputs(each, registers=False)))]
        for each in zip(*found, strict=False):
            yield tuple(dict(pair for values in each for pair in values).items())
        for values in found:
            yield from values

    def _cta_numbers_deciding(self, branch: Step) -> set[ParameterKey]:
        leaves = self._leaves_of_guard(branch)
        return {(leaf.name, 0) for leaf in leaves if leaf.kind == "special" and leaf.name.startswith("%ctaid.")}

    def compared_sizes(self, missed: Collection[Step]) -> tuple[int, ...]:
        """Returns the constants with which such integers are compared on the path to a missed step.

        The successor of each constant is included. Each number occurs once.
        """
        found: dict[int, None] = {}
        for deciding in self.deciding_steps(missed):
            found.update((number + more, None) for number in self._compared_constants(deciding) for more in (0, 1))
        return tuple(found)

    def deciding_steps(self, missed: Collection[Step]) -> Iterator[Step]:
        """Yields the steps that decide whether missed steps are executed; one may occur several times."""
        for step in list(missed)[:MAX_DECIDING_STEPS]:
            yield from (deciding for deciding, _ in self._independence.deciding_operands(step, set()))

    def compared_numbers(self, branch: Step) -> Iterator[int]:
        """Yields the numbers with which the guard of a branch compares inputs, and the numbers next to them."""
        for number in self._compared_constants(branch, all_inputs=True):
            yield from (each for each in (number, number + 1, number - 1) if each >= 0)

    def _compared_constants(self, deciding: Step, *, all_inputs: bool = False) -> Iterator[int]:
        """Yields the constants with which a size, or any input, is compared to compute the guard of a step."""
        guard = deciding.instruction.guard
        if guard is None:
            return
        for source in self._definitions.definitions_reaching(deciding, deciding.scope.register_name(guard.predicate)):
            constants = [each.value for each in source.instruction.operands if isinstance(each, Integer)]
            others = (each for each in source.instruction.operands[1:] if not isinstance(each, Integer))
            if constants and any(
                all_inputs or self._is_size(leaf)
                for each in others
                for leaf in self._independence.dependence.sources_of(source, each)
            ):
                yield from constants

    def _is_size(self, leaf: DependenceSource) -> bool:
        return leaf.kind == "parameter" and not any(leaf.covers(place) for place in self._pointers)
