"""Finds the kernel parameters that are pointers: declared as such, used as an address, or converted as one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping
from itertools import permutations
from typing import TypeAlias

from ptxkit.analysis.ir.layout import SymbolScope
from ptxkit.analysis.ir.match_cache import cached_by_match
from ptxkit.analysis.ir.program import Program, Step, callee_of
from ptxkit.analysis.ir.referenced_names import registers_in
from ptxkit.analysis.ir.worklist import Worklist
from ptxkit.isa.effects import Access, Value
from ptxkit.isa.expressions import CallExpr, ConstantExpr, OperandRole
from ptxkit.isa.forms import Match
from ptxkit.isa.functions import bits
from ptxkit.semantics.value_ops import integer_type
from ptxkit.syntax.tree import Address, Integer, Name, Vector, operand_names

#: The value operations whose result is an address when an operand is.
_KEEPS_ADDRESS = ("add", "sub", "copy", "to_generic", "from_generic", "select")
#: The value operations that convert an address, whatever the result is used for.
_CONVERTS_ADDRESS = ("to_generic", "from_generic")
#: The value operations whose result is the same address, possibly plus a constant.
_MOVES_ADDRESS = ("add", "copy", "convert", "to_generic", "from_generic")
#: The field of a tensor map that holds the address of its tensor.
_TENSOR_ADDRESS = "global_address"


_Holder: TypeAlias = tuple[str, str] | int
"""What may hold an address: (function, register), or the place of a byte in the parameter space of calls."""


def pointer_parameters(program: Program) -> frozenset[tuple[str, int]]:
    """Returns the (parameter, byte offset) of every parameter that is used as an address, or declared `.ptr`.

    The functions that the program calls may use it so, too, or compute the address.
    """
    flow = program.analysis(_AddressFlow)
    found = flow.parameters_feeding(flow.addresses)
    for parameter in program.function.parameters:
        if parameter.pointer is not None:
            found.update((declarator.name, 0) for declarator in parameter.declarators)
    return frozenset(found)


def pointer_tables(program: Program) -> frozenset[tuple[str, int]]:
    """Returns the (parameter, byte offset) of every pointer to memory from which addresses are loaded."""
    flow = program.analysis(_AddressFlow)
    addresses = flow.holders_feeding(flow.addresses)
    return frozenset(flow.parameters_feeding(base for result, base in flow.memory_loads() if result in addresses))


def pointer_arrays(program: Program) -> frozenset[tuple[str, int]]:
    """Returns the (parameter, byte offset) of every array in a parameter of which an index selects an address."""
    flow, name = program.analysis(_AddressFlow), program.function.name
    addresses = flow.holders_feeding(flow.addresses)
    places: dict[str, tuple[str, int]] = {}
    elements: dict[str, tuple[str, int]] = {}
    found: set[tuple[str, int]] = set()
    for step in program.steps:
        places.update(parameter_locations(step, places))
        elements.update(_element_locations(step, places, elements))
        if not elements.keys().isdisjoint(_address_registers(step)):
            loads = parameter_loads(step, elements)
            found.update(place for register, place in loads if (name, register) in addresses)
    return frozenset(found)


class _AddressFlow:
    """Where the addresses of a program come from.

    addresses: what holds an address that is accessed.
    """

    def __init__(self, program: Program) -> None:
        self.addresses: set[_Holder] = set()
        self._program = program
        self._feeding: dict[_Holder, set[_Holder]] = defaultdict(set)
        self._loads: list[tuple[_Holder, tuple[str, int]]] = []
        for code in program.functions:
            name = code.function.name
            places: dict[str, tuple[str, int]] = {}
            for step in code.steps:
                self.addresses.update((name, register) for register in _bases(step))
                for result, sources in _copies(step):
                    self._feeding[(name, result)].update((name, source) for source in sources)
                places.update(parameter_locations(step, places))
                if code is program:
                    self._loads.extend(((name, register), place) for register, place in parameter_loads(step, places))
            for target, source in _moves_of_arguments(code) if program.callees else ():
                self._feeding[target].add(source)

    def memory_loads(self) -> Iterator[tuple[_Holder, _Holder]]:
        """Yields the result of each load of a word that may be an address from memory, and the base of its address."""
        for code in self._program.functions:
            for step in code.steps:
                for result, base in _loads_from_memory(step, code.module.address_size):
                    yield (code.function.name, result), (code.function.name, base)

    def holders_feeding(self, targets: Iterable[_Holder]) -> set[_Holder]:
        """Returns some holders, and all from which one of them has its value."""
        found = Worklist(targets)
        for holder in found:
            found.add(self._feeding[holder])
        return found.seen

    def parameters_feeding(self, targets: Iterable[_Holder]) -> set[tuple[str, int]]:
        """Returns the (parameter, byte offset) from which one of some holders has its value."""
        holders = self.holders_feeding(targets)
        return {place for holder, place in self._loads if holder in holders}


def _loads_from_memory(step: Step, address_size: int) -> Iterator[tuple[str, str]]:
    """Yields (result, base of the address) of loads from global memory of words with the size of an address in bits."""
    width = step.match.modifiers.get("t") if step.match is not None else None
    for effect in step.effects if isinstance(width, str) and bits(width) == address_size else ():
        if isinstance(effect, Access) and effect.kind == "read" and effect.space in ("global", "generic"):
            source, target = step.operand(effect.address), step.instruction.operands[0]
            if isinstance(source, Address) and isinstance(source.base, Name):
                base = step.scope.register_name(source.base.text)
                yield from ((each, base) for each in registers_in(target, step.scope))


def _bases(step: Step) -> Iterator[str]:
    """Yields the registers that hold addresses which a step accesses, converts, or writes into a tensor map."""
    is_map_address = step.match is not None and step.match.modifiers.get("field") == _TENSOR_ADDRESS
    for operand in step.instruction.operands:
        base = operand.base if isinstance(operand, Address) else operand if is_map_address else None
        if isinstance(base, Name):
            yield step.scope.register_name(base.text)
    for _, roles in _address_conversions(step.match) if step.match is not None else ():
        yield from (name for role in roles if (name := _register(step, role)) is not None)


def _moves_of_arguments(code: Program) -> Iterator[tuple[_Holder, _Holder]]:
    """Yields (target, source) of what a function moves to and from the parameter space, and of its calls."""
    for step in code.own_effectful_steps:
        for effect in step.effects:
            operand = step.operand(effect.address) if isinstance(effect, Access) else None
            if (
                isinstance(effect, Access)
                and effect.space.startswith("param")
                and isinstance(operand, Address)
                and isinstance(operand.base, Name)
                and (place := _holder(code, step.scope, operand.base.text, operand.offset)) is not None
            ):
                others = (each for each in step.instruction.operands if each is not operand)
                registers = ((code.function.name, each) for other in others for each in registers_in(other, step.scope))
                yield from ((place, each) if effect.kind == "write" else (each, place) for each in registers)
        callee = code.callees.get(callee_of(step) or "")
        if callee is not None and step.match is not None:
            for role, formals, is_result in (
                ("parameters", callee.function.parameters, False),
                ("results", callee.function.results, True),
            ):
                actual = step.operand(role) if role in step.match.roles else None
                names = [each.name for declaration in formals for each in declaration.declarators]
                for formal, given in zip(names, operand_names(actual), strict=False):
                    inner, outer = _holder(callee, callee.scope, formal), _holder(code, step.scope, given)
                    if inner is not None and outer is not None:
                        yield (outer, inner) if is_result else (inner, outer)


def _holder(code: Program, scope: SymbolScope, name: str, offset: int = 0) -> _Holder | None:
    """Returns the place of a parameter of a call, or the register with a name."""
    variable = scope.variable(name)
    if variable is not None and scope.register_name(name) == name:
        return variable.address + offset if variable.space == "param" else None
    return code.function.name, scope.register_name(name)


def _copies(step: Step) -> Iterator[tuple[str, set[str]]]:
    """Yields (result, operands) of the operations that propagate an address."""
    for given, roles in _address_propagations(step.match) if step.match is not None else ():
        result = _register(step, given)
        if result is not None:
            yield result, {name for role in roles if (name := _register(step, role)) is not None}
    for given, role, factor in _products(step.match) if step.match is not None else ():
        result, name, other = _register(step, given), _register(step, role), step.operand(factor)
        if result is not None and name is not None and isinstance(other, Integer) and other.value == 1:
            yield result, {name}


_AddressFlows: TypeAlias = tuple[tuple[str, tuple[str, ...]], ...]


@cached_by_match
def _address_propagations(match: Match) -> _AddressFlows:
    """Returns the roles of the result and of the operands, for each operation that propagates an address."""
    return _address_flows(match, _KEEPS_ADDRESS)


@cached_by_match
def _address_conversions(match: Match) -> _AddressFlows:
    """Returns the roles as `_address_propagations` does, for the conversions of addresses."""
    return _address_flows(match, _CONVERTS_ADDRESS)


@cached_by_match
def _address_offsets(match: Match) -> _AddressFlows:
    """Returns the roles as `_address_propagations` does, for the operations that copy an address or add to it."""
    return _address_flows(match, _MOVES_ADDRESS)


@cached_by_match
def _products(match: Match) -> tuple[tuple[str, str, str], ...]:
    """Returns the roles of the result, of a factor and of the other one, for products and sums with them.

    A product with 1 is an address if the other factor is one.
    """
    found: list[tuple[str, str, str]] = []
    for effect in (each for each in match.effects if isinstance(each, Value)):
        value = effect.value
        parts = value.arguments if isinstance(value, CallExpr) and value.function == "add" else (value,)
        for part in parts:
            factors = part.arguments if isinstance(part, CallExpr) and part.function == "mul" else ()
            roles = [each.name for each in factors if isinstance(each, OperandRole)]
            found += [(effect.result, first, second) for first, second in permutations(roles, 2)]
    return tuple(found)


def _address_flows(match: Match, functions: Container[str]) -> _AddressFlows:
    values = [
        (effect.result, effect.value)
        for effect in match.effects
        if isinstance(effect, Value) and isinstance(effect.value, CallExpr) and effect.value.function in functions
        if effect.value.function != "convert" or _keeps_all_bits(effect.value)
    ]
    return tuple(
        (result, tuple(each.name for each in call.arguments if isinstance(each, OperandRole)))
        for result, call in values
    )


def _keeps_all_bits(conversion: CallExpr) -> bool:
    """Returns whether the result type of a conversion is at least as wide as the type of the operand."""
    source, result = (integer_type(str(each.value)) for each in conversion.arguments if isinstance(each, ConstantExpr))
    return source is not None and result is not None and source[0] <= result[0]


def parameter_locations(step: Step, known: Mapping[str, tuple[str, int]]) -> Iterator[tuple[str, tuple[str, int]]]:
    """Yields (register, location) for registers that hold the address of a parameter plus a constant.

    Large structures are read through such registers.
    """
    form = step.match
    for given, roles in _address_offsets(form) if form is not None else ():
        result = _register(step, given)
        operands = [step.operand(role) for role in roles]
        bases = [location_of(step, each.text, known) for each in operands if isinstance(each, Name)]
        moved = sum(each.value for each in operands if isinstance(each, Integer))
        base = bases[0] if len(bases) == 1 else None  # the sum with another register is an element, or no address
        if result is not None and base is not None:
            yield result, (base[0], base[1] + moved)


def _address_registers(step: Step) -> Iterator[str]:
    """Yields the registers in which a step has addresses."""
    for operand in step.instruction.operands:
        base = operand.base if isinstance(operand, Address) else None
        if isinstance(base, Name) and step.scope.parameter(base.text) is None:
            yield step.scope.register_name(base.text)


def _element_locations(
    step: Step, known: Mapping[str, tuple[str, int]], elements: Mapping[str, tuple[str, int]]
) -> Iterator[tuple[str, tuple[str, int]]]:
    """Yields (register, location) for registers that hold the address of an element of an array in a parameter.

    The location is that of the array: an unknown index is added to its address.

    known: the addresses that are known. elements: those of elements.
    """
    for given, roles in _address_offsets(step.match) if step.match is not None else ():
        operands = [step.operand(role) for role in roles]
        names = [each.text for each in operands if isinstance(each, Name)]
        moved = sum(each.value for each in operands if isinstance(each, Integer))
        bases = [base for name in names if (base := location_of(step, name, known)) is not None]
        inner = [elements[at] for name in names if (at := step.scope.register_name(name)) in elements]
        result = _register(step, given)
        if result is not None and len(bases) + len(inner) == 1 and (inner or len(names) > 1):
            symbol, offset = (*bases, *inner)[0]
            yield result, (symbol, offset + moved)


def parameter_values(program: Program) -> dict[str, tuple[str, int]]:
    """Returns, by register, the parameter and the byte offset in it from which its value was loaded."""
    places: dict[str, tuple[str, int]] = {}
    found: dict[str, tuple[str, int]] = {}
    for step in program.steps:
        places.update(parameter_locations(step, places))
        found.update(parameter_loads(step, places))
        for result, sources in _copies(step):
            known = [found[source] for source in sources if source in found]
            if len(sources) == 1 and known:
                found.setdefault(result, known[0])
    return found


def parameter_loads(step: Step, places: Mapping[str, tuple[str, int]]) -> Iterator[tuple[str, tuple[str, int]]]:
    """Yields (register, location) of loads from the parameter space."""
    for effect in step.effects:
        if isinstance(effect, Access) and effect.space.startswith("param") and effect.kind == "read":
            source = step.operand(effect.address)
            target = step.instruction.operands[0]
            targets = target.elements if isinstance(target, Vector) else (target,)
            total = (
                effect.size.value if isinstance(effect.size, ConstantExpr) and isinstance(effect.size.value, int) else 0
            )
            if isinstance(source, Address) and isinstance(source.base, Name):
                place = location_of(step, source.base.text, places)
                if place is None:
                    continue  # a result or an argument of a call
                for position, element in enumerate(targets):
                    if isinstance(element, Name):
                        offset = place[1] + source.offset + position * (total // len(targets))
                        yield step.scope.register_name(element.text), (place[0], offset)


def location_of(step: Step, name: str, known: Mapping[str, tuple[str, int]]) -> tuple[str, int] | None:
    """Returns the parameter that a name denotes, or the location whose address a register holds."""
    return (name, 0) if step.scope.parameter(name) is not None else known.get(step.scope.register_name(name))


def _register(step: Step, role: str) -> str | None:
    operand = step.operand(role)
    return step.scope.register_name(operand.text) if isinstance(operand, Name) else None
