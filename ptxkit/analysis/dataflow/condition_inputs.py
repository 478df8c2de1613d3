"""Finds the inputs that decide a step's execution and address: special registers, results of atomics, or data.

A load from shared memory is followed if one thread stores a flag at a variable's name and all threads load it from
there. All other loads, except those of parameters, are data.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import islice

from ptxkit.analysis.cfg.reaching_definitions import ReachingDefinitions
from ptxkit.analysis.dataflow.dependence import DependenceSource
from ptxkit.analysis.dataflow.forwarded_loads import forwarded_loads
from ptxkit.analysis.dataflow.input_independence import InputIndependence
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.ir.step_registers import guard_registers, read_operands
from ptxkit.analysis.ir.worklist import Worklist
from ptxkit.analysis.limits import MAX_TRACED_REGISTERS
from ptxkit.fast_dataclasses import dataclass, field
from ptxkit.isa.effects import Access, Effect, Value
from ptxkit.isa.expressions import CallExpr
from ptxkit.semantics.layout import DeclaredVariable
from ptxkit.semantics.ordering import is_warp_barrier
from ptxkit.syntax.tree import Address, Name, Operand

#: The kinds of leaves that are data, whatever their origin.
_DATA = ("memory", "unknown")


@dataclass(slots=True)
class InputSet:
    """The inputs of a condition.

    special_registers: those that are read. atomics: those whose result is read. is_data: whether other memory or an
    unknown source is read.
    """

    special_registers: set[str] = field(default_factory=set)
    atomics: set[Step] = field(default_factory=set)
    is_data: bool = False

    def add(self, other: InputSet) -> None:
        """Adds the inputs of another condition."""
        self.special_registers |= other.special_registers
        self.atomics |= other.atomics
        self.is_data |= other.is_data


@dataclass(slots=True)
class _Reads:
    """What some instructions read themselves: registers, each with the instruction, and inputs."""

    uses: set[tuple[Step, str]] = field(default_factory=set)
    inputs: InputSet = field(default_factory=InputSet)

    def add(self, other: _Reads) -> None:
        self.uses |= other.uses
        self.inputs.add(other.inputs)


class ConditionInputs:
    """The inputs that decide the steps of a program without calls.

    answering: the atomics of the program.
    """

    def __init__(self, program: Program, certainty: InputIndependence, answering: Collection[Step]) -> None:
        self._program = program
        self._independence = certainty
        self._atomics = answering
        self._definitions = program.analysis(ReachingDefinitions)
        self._forwarded_loads = program.analysis(forwarded_loads)
        self._of_definitions: dict[Step, _Reads] = {}
        self._of_branches: dict[int, _Reads] = {}
        self._of_variables: dict[str, _Reads] = {}

    def inputs_of(self, step: Step, operand: Operand | None) -> InputSet:
        """Returns the inputs that decide an operand of a step, and whether the step is executed."""
        first = _Reads()
        self._add_operand(first, step, operand)
        self._add_conditions(first, step)
        found, uses = first.inputs, Worklist(first.uses)
        for place, register in uses:
            sources = self._definitions.definitions_reaching(place, register)
            found.is_data |= not sources or len(uses.seen) > MAX_TRACED_REGISTERS
            for definition in sources:
                reads = self._reads_of_definition(definition)
                uses.add(reads.uses)
                found.add(reads.inputs)
            if found.is_data:
                break
        return found

    def _reads_of_definition(self, definition: Step) -> _Reads:
        """Returns what decides the result of a step, and whether it is executed."""
        reads = self._of_definitions.get(definition)
        if reads is None:
            reads = self._of_definitions[definition] = _Reads()
            self._add_conditions(reads, definition)
            variable = _shared_variable(definition)
            copied = self._forwarded_loads.get(definition)
            if copied is not None:
                self._add_operand(reads, definition, copied)
            elif definition in self._atomics:
                reads.inputs.atomics.add(definition)
            elif variable is None:
                reads.inputs.is_data |= _loads_data(definition)
                for each in read_operands(definition):
                    self._add_operand(reads, definition, each)
            else:
                reads.add(self._reads_of_variable(variable))
        return reads

    def _reads_of_variable(self, variable: DeclaredVariable) -> _Reads:
        """Returns what decides the stores to a shared variable."""
        if variable.name not in self._of_variables:
            reads = self._of_variables[variable.name] = _Reads()
            for store in self._stores(variable, reads.inputs):
                self._add_conditions(reads, store)
                for each in read_operands(store):
                    self._add_operand(reads, store, each)
        return self._of_variables[variable.name]

    def _add_operand(self, reads: _Reads, step: Step, operand: Operand | None) -> None:
        registers, leaves = self._independence.dependence.operand_dependences(step, operand)
        reads.uses.update((step, register) for register in registers)
        _add_sources(reads.inputs, leaves)

    def _add_conditions(self, reads: _Reads, step: Step) -> None:
        """Adds what decides whether a step is executed: its guard, and the branches that lead to its block."""
        reads.uses.update((step, register) for register in guard_registers(step))
        block = self._independence.cfg.block_of(step)
        branches = self._of_branches.get(block)
        if branches is None:
            branches = self._of_branches[block] = _Reads()
            for deciding, selector in islice(self._independence.deciding_operands(step, set()), 1, None):
                self._add_operand(branches, deciding, selector)
                branches.uses.update((deciding, register) for register in guard_registers(deciding))
        reads.add(branches)

    def _stores(self, variable: DeclaredVariable, found: InputSet) -> Iterator[Step]:
        """Yields the stores that may write a shared variable.

        Where a store has an unknown address, the variable counts as data.
        """
        for step in self._program.steps:
            for effect in step.effects:
                if not isinstance(effect, Access) or effect.kind == "read":
                    continue
                if not effect.space.startswith(("shared", "generic")):
                    continue
                operand = step.operand(effect.address)
                leaves = self._independence.dependence.sources_of(step, operand)
                bases = {leaf.name for leaf in leaves if leaf.kind == "variable"}
                if variable.name in bases:
                    yield step
                elif not bases and effect.space != "generic":
                    found.is_data = True


def _add_sources(found: InputSet, leaves: Collection[DependenceSource]) -> None:
    found.special_registers.update(leaf.name for leaf in leaves if leaf.kind == "special")
    found.is_data |= any(leaf.kind in _DATA for leaf in leaves)


def _loads_data(step: Step) -> bool:
    """Returns whether an instruction loads a register, except from a parameter, or sets it to an unknown value.

    An instruction that only computes a value, by itself or with the lanes of its warp, derives the value from its
    operands, whether or not the executor can evaluate it.
    """
    if all(isinstance(effect, Value) or is_warp_barrier(effect) for effect in step.effects):
        return False
    return any(_is_data(effect) for effect in step.effects)


def _is_data(effect: Effect) -> bool:
    if isinstance(effect, Access):
        return not effect.space.startswith(("param", "const"))
    return isinstance(effect, Value) and isinstance(effect.value, CallExpr) and effect.value.function == "unknown"


def _shared_variable(step: Step) -> DeclaredVariable | None:
    """Returns the shared variable from which an instruction loads by its name, without any other effect."""
    accesses = [effect for effect in step.effects if isinstance(effect, Access)]
    if len(accesses) != 1 or step.match is None or accesses[0].kind != "read":
        return None
    operand = step.operand(accesses[0].address)
    if not isinstance(operand, Address) or not isinstance(operand.base, Name):
        return None
    name = operand.base.text
    variable = step.scope.variable(name) if step.scope.register_name(name) == name else None
    return variable if variable is not None and variable.space == "shared" else None
