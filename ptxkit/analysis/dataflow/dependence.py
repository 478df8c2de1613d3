"""Computes the transitive dependences of a register's value, through all definitions of all registers in any order.

The leaves are kernel parameters, special registers, variables, and memory. The host may write constant memory before a
launch, so that it counts as memory, also where the variable has an initial value.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Set
from functools import cached_property

from ptxkit.analysis.cfg.reaching_definitions import ReachingDefinitions
from ptxkit.analysis.dataflow.forwarded_loads import forwarded_loads
from ptxkit.analysis.dataflow.param_variables import param_variable, param_variable_writes
from ptxkit.analysis.dataflow.pointer_params import location_of, parameter_locations
from ptxkit.analysis.ir.program import Program, Step, callee_of
from ptxkit.analysis.ir.worklist import Worklist
from ptxkit.fast_dataclasses import dataclass
from ptxkit.isa import table
from ptxkit.isa.effects import Access, Value
from ptxkit.isa.expressions import CallExpr, ConstantExpr, Expression, roles_in
from ptxkit.syntax.tree import (
    Address,
    Name,
    Operand,
    operand_names,
)

#: The value operations that inspect the bits of an address, as tests of its alignment or its state space do.
_INSPECTS_BITS = ("and", "rem", "bfe", "lop3", "shl", "is_space")

#: The kinds of leaves that are addresses, where nothing is loaded from them.
_ADDRESSES = ("variable", "parameter")
#: The special registers that identify the thread in the block.
_THREAD_POSITION = ("%tid", "%laneid")


@dataclass(frozen=True, slots=True)
class DependenceSource:
    """A leaf of the dependences.

    kind: `parameter`, `special`, `variable`, `memory` or `unknown`. name: the name of the parameter, register or
    variable. offset, size: the bytes of a parameter; size 0 where all of it may count.
    """

    kind: str
    name: str = ""
    offset: int = 0
    size: int = 0

    def covers(self, place: tuple[str, int]) -> bool:
        """Returns whether the source is a part of a parameter that contains this name and offset."""
        name, offset = place
        within = not self.size or self.offset <= offset < self.offset + self.size
        return self.kind == "parameter" and self.name == name and within


#: What decides the result of a value operation in addition to its operands.
_LEAVES = {
    **dict.fromkeys(("unknown", "float", "shuffle", "redux", "ballot", "vote"), DependenceSource("unknown")),
    "elected": DependenceSource("special", "%laneid"),
}


class Dependence:
    """The dependences of one function. A `.param` variable of its body counts as a register.

    param_variable_writes: the steps that assign such a variable, by its unique name.
    """

    def __init__(self, program: Program) -> None:
        self._inputs: dict[str, set[str]] = defaultdict(set)
        self._sources: dict[str, set[DependenceSource]] = defaultdict(set)
        self._bit_inspections: dict[str, set[str]] = defaultdict(set)
        self._predicates: set[str] = set()
        self._loaded_registers: set[str] = set()
        self._registers_from_memory: set[str] = set()
        self._stored_registers: set[str] = set()
        self._spaces: set[str] = set()
        self._parameter_locations: dict[str, tuple[str, int]] = {}
        self._low_bit_cache: dict[str, set[str]] = {}
        self._known_sources: dict[str, frozenset[DependenceSource]] = {}
        self._forwarded_loads = program.analysis(forwarded_loads)
        for step in program.steps:
            self._parameter_locations.update(parameter_locations(step, self._parameter_locations))
            for effect in step.effects:
                if isinstance(effect, Value):
                    self._define(step, effect)
                elif isinstance(effect, Access) and effect.kind != "read" and effect.completion is None:
                    self._stored_registers |= _register_operands(step)
        self.param_variable_writes = param_variable_writes(program)
        for variable, steps in self.param_variable_writes.items():
            for step in steps:
                self._assign_param_variable(program, variable, step)

    def sources_of(self, step: Step, operand: Operand | None) -> frozenset[DependenceSource]:
        """Returns the leaves on which an operand of a step depends; for an address operand, those of the address."""
        first, leaves = self.operand_dependences(step, operand)
        return leaves.union(*map(self._sources_of_register, first))

    def _sources_of_register(self, register: str) -> frozenset[DependenceSource]:
        """Returns the leaves on which a register depends; the result is cached, because addresses share registers."""
        if register not in self._known_sources:
            found, registers = set[DependenceSource](), Worklist([register])
            for each in registers:
                if each in self._known_sources:
                    found |= self._known_sources[each]
                else:
                    inputs, own = self.direct_dependences(each)
                    registers.add(inputs)
                    found |= own
            self._known_sources[register] = frozenset(found)
        return self._known_sources[register]

    def sources_reaching(self, program: Program, step: Step, operand: Operand | None) -> frozenset[DependenceSource]:
        """Returns the leaves of `sources_of` on the paths to a step: only assignments count that reach their uses."""
        first, leaves = self.operand_dependences(step, operand)
        found = set(leaves)
        uses = Worklist((step, register) for register in first)
        for user, register in uses:
            for definition, inputs, own in self.definitions_reaching(program, user, register):
                found |= own
                uses.add((definition or user, each) for each in inputs)
        return frozenset(found)

    def definitions_reaching(
        self, program: Program, user: Step, register: str
    ) -> Iterator[tuple[Step | None, Set[str], Set[DependenceSource]]]:
        """Yields each assignment of a register that may reach a step, with the registers and leaves that it reads.

        A `.param` variable, and a register that nothing assigns before the step, have one result without a step.
        """
        reaching = program.analysis(ReachingDefinitions).definitions_reaching(user, register)
        if not reaching or register in self.param_variable_writes:
            yield None, *self.direct_dependences(register)
        for definition in reaching:
            values = [
                self._value_dependences(definition, effect)
                for effect in definition.effects
                if isinstance(effect, Value) and register in _result_registers(definition, effect)
            ]
            for inputs, leaves in values or [self.direct_dependences(register)]:
                yield definition, inputs, leaves

    def may_share_buffer(self, first: tuple[Step, Operand | None], second: tuple[Step, Operand | None]) -> bool:
        """Returns whether two addresses depend on one parameter or variable, or one of them depends on none.

        Each address is an operand of a step.
        """
        return may_be_one_buffer(self.buffers_of(*first), self.buffers_of(*second))

    def buffers_of(self, step: Step, operand: Operand | None) -> frozenset[DependenceSource]:
        """Returns the parameters and variables on which an address depends."""
        return frozenset(each for each in self.sources_of(step, operand) if each.kind in _ADDRESSES)

    def depends_on_numbers(self, step: Step, operand: Operand | None, pointers: Collection[tuple[str, int]]) -> bool:
        """Returns whether an address depends on a parameter that is not one of these pointers, such as a stride."""
        leaves = (leaf for leaf in self.sources_of(step, operand) if leaf.kind == "parameter")
        return not all(any(leaf.covers(place) for place in pointers) for leaf in leaves)

    def source_registers(self, registers: Iterable[str]) -> set[str]:
        """Returns the registers, and all registers on which their values depend."""
        found = Worklist(registers)
        for register in found:
            found.add(self.direct_dependences(register)[0])
        return found.seen

    def depends_on_position_only(self, step: Step, operand: Operand | None, further: tuple[str, ...] = ()) -> bool:
        """Returns whether an operand depends only on addresses, constants and the thread's position in the block.

        further: the first letters of other special registers on which it may depend.
        It then depends on nothing that is loaded, neither from parameters nor from memory. A `.param` variable of the
        body counts as a register.
        """
        first, leaves = self.operand_dependences(step, operand)
        found, registers = set(leaves), Worklist(first)
        for register in registers:
            if register in self._loaded_registers:
                return False
            inputs, own = self.direct_dependences(register)
            found |= own
            registers.add(inputs)
        return all(leaf.kind in _ADDRESSES or leaf.name.startswith((*_THREAD_POSITION, *further)) for leaf in found)

    @property
    def own_sources(self) -> frozenset[DependenceSource]:
        """The leaves, other than the parameters, that may decide what the function returns."""
        return frozenset(leaf for leaves in self._sources.values() for leaf in leaves if leaf.kind != "parameter")

    def direct_dependences(self, register: str) -> tuple[Set[str], Set[DependenceSource]]:
        """Returns the registers and leaves that a register's definitions read."""
        inputs, leaves = self._inputs.get(register), self._sources.get(register)
        if inputs is None and leaves is None:
            return frozenset(), frozenset([DependenceSource("unknown", register)])
        return inputs or frozenset(), leaves or frozenset()

    def operand_dependences(
        self, step: Step, operand: Operand | None
    ) -> tuple[frozenset[str], frozenset[DependenceSource]]:
        """Returns the registers and leaves that an operand of a step reads."""
        leaves: set[DependenceSource] = set()
        registers = {register for name in _names(operand) for register in self._input(step, name, leaves)}
        return frozenset(registers), frozenset(leaves)

    def registers_testing_addresses(self, pointers: Collection[tuple[str, int]]) -> set[str]:
        """Returns the registers that depend on the low bits, or the state space, of an address in these parameters.

        pointers: the parameters, by name and offset.
        """
        given = {
            register
            for register, leaves in self._sources.items()
            if any(leaf.covers(place) for leaf in leaves for place in pointers)
        }
        addresses = self._transitive_dependents(given, but=self._predicates)
        return self._transitive_dependents(
            {register for register, inputs in self._bit_inspections.items() if inputs & addresses}
        )

    def may_test_alignment(self, variable: str, step: Step, operand: Operand | None) -> bool:
        """Returns whether the low bits of a variable's address may decide a branch, or an operand of a step."""
        looking = self._low_bit_dependents(variable)
        own = {step.scope.register_name(name) for name in _names(operand)}
        return not looking.isdisjoint(self._predicates) or not looking.isdisjoint(own)

    def _low_bit_dependents(self, variable: str) -> set[str]:
        """Returns the registers that may depend on the low bits of a variable's address, also through memory.

        The result is cached, because each access to a variable queries it.
        """
        known = self._low_bit_cache.get(variable)
        if known is None:
            leaf = DependenceSource("variable", variable)
            addresses = self._dependents_through_memory(
                {r for r, leaves in self._sources.items() if leaf in leaves}, self._predicates
            )
            tests = {register for register, inputs in self._bit_inspections.items() if not inputs.isdisjoint(addresses)}
            known = self._low_bit_cache[variable] = self._dependents_through_memory(tests)
        return known

    def _dependents_through_memory(self, first: Collection[str], but: Collection[str] = ()) -> set[str]:
        """Returns the transitive dependents, where each load may read what any of them was stored to."""
        found = self._transitive_dependents(first, but)
        if found.isdisjoint(self._stored_registers):
            return found
        return self._transitive_dependents(found | self._registers_from_memory, but)

    @property
    def space_tests(self) -> set[str]:
        """The registers that depend on the state space of some address."""
        return self._transitive_dependents(self._spaces)

    def _transitive_dependents(self, first: Collection[str], but: Collection[str] = ()) -> set[str]:
        """Returns the registers and all that depend on them, except dependences through the registers in `but`."""
        found = Worklist(first, set(but))
        for register in found:
            found.add(self._dependents[register])
        return found.seen.difference(but)

    @cached_property
    def _dependents(self) -> dict[str, list[str]]:
        feeds: dict[str, list[str]] = defaultdict(list)
        for register, inputs in self._inputs.items():
            for each in inputs:
                feeds[each].append(register)
        return feeds

    def _assign_param_variable(self, program: Program, variable: str, step: Step) -> None:
        """Adds the dependences of a variable that a step stores to, or that is the result of a call."""
        leaves: set[DependenceSource] = set()
        is_call = callee_of(step) is not None
        values = (step.operand("parameters"),) if is_call else step.instruction.operands
        for operand in values:
            names = _names(operand) if not isinstance(operand, Address) else ()
            self._inputs[variable].update(each for name in names for each in self._input(step, name, leaves))
        self._sources[variable] |= leaves
        if is_call:
            called = _dependence_of_callee(program, step)
            self._sources[variable] |= called.own_sources if called else {DependenceSource("unknown")}
            if called is None or called._bit_inspections:
                self._bit_inspections[variable] |= self._inputs[variable]

    def _define(self, step: Step, effect: Value) -> None:
        registers = _result_registers(step, effect)
        inputs, leaves = self._value_dependences(step, effect)
        calls = list(_calls(effect.value))
        is_load = self._forwarded_loads.get(step) is None and any(call.function == "load" for call in calls)
        for register in registers:
            self._inputs[register] |= inputs
            self._sources[register] |= leaves
            if is_load and not self._loads_parameter(step):
                self._registers_from_memory.add(register)
            if is_load and not self._loads_param_variable(step):
                self._loaded_registers.add(register)
            if any(call.function == "is_space" for call in calls):
                self._spaces.add(register)
            if any(call.function == "compare" for call in calls):
                self._predicates.add(register)
            if any(call.function in _INSPECTS_BITS for call in calls):
                self._bit_inspections[register] |= inputs

    def _value_dependences(self, step: Step, effect: Value) -> tuple[Set[str], Set[DependenceSource]]:
        """Returns the registers and leaves that a value of a step reads."""
        leaves: set[DependenceSource] = set()
        inputs: set[str] = set()
        calls = list(_calls(effect.value))
        leaves.update(_LEAVES[call.function] for call in calls if call.function in _LEAVES)
        copied = self._forwarded_loads.get(step)
        if copied is not None:
            inputs.update(self._input(step, copied.text, leaves))
            return inputs, leaves
        if any(call.function == "load" for call in calls) and not self._loads_parameter(step):
            leaves.add(DependenceSource("memory"))  # the address does not determine the loaded value
            return inputs, leaves
        for role in roles_in(effect.value):
            operand = step.operand(role)
            part = self._part_of_parameter(step, operand)
            if part is not None:
                leaves.add(part)
                continue
            for name in _names(operand):
                inputs.update(self._input(step, name, leaves))
        return inputs, leaves

    def _loads_parameter(self, step: Step) -> bool:
        return any(
            isinstance(effect, Access) and effect.kind == "read" and effect.space.startswith("param")
            for effect in step.effects
        )

    def _loads_param_variable(self, step: Step) -> bool:
        """Returns whether an instruction loads from a `.param` variable of the body."""
        named = (name for operand in step.instruction.operands for name in _names(operand))
        return self._loads_parameter(step) and any(param_variable(step.scope, name) is not None for name in named)

    def _part_of_parameter(self, step: Step, operand: Operand | None) -> DependenceSource | None:
        """Returns the bytes of a parameter that an instruction loads, by its name or by an address in a register."""
        match operand:
            case Address(base=Name(text=text), offset=offset) if self._loads_parameter(step):
                place = location_of(step, text, self._parameter_locations)
                if place is not None:
                    sizes = [e.size for e in step.effects if isinstance(e, Access)]
                    size = sizes[0].value if len(sizes) == 1 and isinstance(sizes[0], ConstantExpr) else 0
                    return DependenceSource(
                        "parameter", place[0], place[1] + offset, size if isinstance(size, int) else 0
                    )
        return None

    def _input(self, step: Step, name: str, leaves: set[DependenceSource]) -> Iterator[str]:
        """Yields the register or `.param` variable with a name; for any other name, adds a leaf."""
        register = step.scope.register_name(name)
        variable = param_variable(step.scope, name)
        if variable is not None:
            yield variable
        elif step.scope.parameter(name) is not None:
            leaves.add(DependenceSource("parameter", name))
        elif register == name and step.scope.variable(name) is not None:
            leaves.add(DependenceSource("variable", name))
        elif table().special(name) is not None and not step.scope.shadows_special_register(name):
            leaves.add(DependenceSource("special", name))
        else:
            yield register


def may_be_one_buffer(one: Set[DependenceSource], other: Set[DependenceSource]) -> bool:
    """Returns whether two addresses may be of one buffer, given the parameters and variables on which they depend."""
    return not (one and other) or not one.isdisjoint(other)


def _dependence_of_callee(program: Program, call: Step) -> Dependence | None:
    """Returns the dependences of a called function; None if they are unknown."""
    callee = program.callees.get(callee_of(call) or "")
    # The callees of a callee are not followed, because they may call each other.
    is_known = callee is not None and program.is_kernel and callee.is_fully_matched
    return callee.analysis(Dependence) if callee is not None and is_known else None


def _result_registers(step: Step, effect: Value) -> list[str]:
    return [step.scope.register_name(name) for name in _names(step.operand(effect.result))]


def _register_operands(step: Step) -> set[str]:
    """Returns the registers among the operands of a step, without those in addresses."""
    operands = (each for each in step.instruction.operands if not isinstance(each, Address))
    return {step.scope.register_name(name) for operand in operands for name in _names(operand)}


def _calls(expression: Expression) -> Iterator[CallExpr]:
    if isinstance(expression, CallExpr):
        yield expression
        for argument in expression.arguments:
            yield from _calls(argument)


def _names(operand: Operand | None) -> Iterator[str]:
    """Yields the names in an operand; of an address, the name of its base."""
    return operand_names(operand.base if isinstance(operand, Address) else operand)
