"""Finds the inputs that decide a step's execution and address: special registers, results of atomics, or data.

A load from shared memory is followed if one thread stores a flag at a variable's name and all threads load it from
there. All other loads, except those of parameters, are data.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

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

    def inputs_of(self, step: Step, operand: Operand | None) -> InputSet:
        """Returns the inputs that decide an operand of a step, and whether the step is executed."""
        found = InputSet()
        uses = Worklist[tuple[Step, str]](())
        passed: set[int] = set()
        variables: set[str] = set()

        def note(place: Step, own: Operand | None) -> None:
            registers, leaves = self._independence.dependence.operand_dependences(place, own)
            uses.add((place, register) for register in registers)
            _add_sources(found, leaves)

        def come_to(place: Step) -> None:
            for deciding, selector in self._independence.deciding_operands(place, passed):
                note(deciding, selector)
                uses.add((deciding, register) for register in guard_registers(deciding))

        def make(definition: Step) -> None:
            come_to(definition)
            variable = _shared_variable(definition)
            copied = self._forwarded_loads.get(definition)
            if copied is not None:
                note(definition, copied)
            elif definition in self._atomics:
                found.atomics.add(definition)
            elif variable is None:
                found.is_data |= _loads_data(definition)
                for each in read_operands(definition):
                    note(definition, each)
            elif variable.name not in variables:
                variables.add(variable.name)
                for store in self._stores(variable, found):
                    come_to(store)
                    for each in read_operands(store):
                        note(store, each)

        note(step, operand)
        come_to(step)
        for place, register in uses:
            sources = self._definitions.definitions_reaching(place, register)
            found.is_data |= not sources or len(uses.seen) > MAX_TRACED_REGISTERS
            for definition in sources:
                make(definition)
            if found.is_data:
                break
        return found

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
