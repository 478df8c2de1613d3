"""Finds the kernel parameters that are tensor maps, how copies use them, and how many bytes mbarriers expect.

Only the text is analyzed: the address of a parameter that is moved or made generic, and constant counts.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.cfg.reaching_definitions import ReachingDefinitions
from ptxkit.analysis.dataflow.pointer_params import location_of, parameter_locations
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.ir.step_registers import read_operands
from ptxkit.fast_dataclasses import dataclass, replace
from ptxkit.isa.effects import Access, MbarrierArrive, MbarrierExpect, Value
from ptxkit.isa.expressions import CallExpr, ConstantExpr, Expression, OperandRole
from ptxkit.syntax.tree import Address, Integer, Name, operand_names


@dataclass(frozen=True, slots=True)
class TensorMapParameter:
    """The use of the map in a parameter by copies.

    rank: the number of dimensions. is_im2col: whether its mode is im2col. is_loaded: whether a copy loads with it.
    """

    rank: int
    is_im2col: bool
    is_loaded: bool

    def merged_with(self, earlier: TensorMapParameter | None) -> TensorMapParameter:
        """Returns the properties of an earlier use of the map, and whether any of the two uses loads with it."""
        return self if earlier is None else replace(earlier, is_loaded=earlier.is_loaded or self.is_loaded)


def tensor_map_locations(program: Program) -> dict[tuple[str, int], TensorMapParameter]:
    """Returns the tensor maps in parameters, by (parameter, byte in it), in the order of their first copies."""
    found: dict[tuple[str, int], TensorMapParameter] = {}
    for _, place, use in located_map_uses(program):
        found[place] = use.merged_with(found.get(place))
    return found


def located_map_uses(program: Program) -> Iterator[tuple[Step, tuple[str, int], TensorMapParameter]]:
    """Yields the tensor copies whose map is in a parameter, with the parameter and the byte in it."""
    locations = _AddressLocations(program)
    for step, base, offset, use in map_uses(program):
        start = locations.location_before(step, base)
        if start is not None:
            yield step, (start[0], start[1] + offset), use


class _AddressLocations:
    """The registers of one function that hold the address of a parameter plus a constant, on all paths."""

    def __init__(self, program: Program) -> None:
        self._definitions = program.analysis(ReachingDefinitions)
        self._known: dict[tuple[Step, str], tuple[str, int] | None] = {}

    def location_before(self, step: Step, name: str) -> tuple[str, int] | None:
        """Returns the parameter whose address a step reads from a register, or names, and the byte in it."""
        register = step.scope.register_name(name)
        reaching = self._definitions.definitions_reaching(step, register)
        found = {self._assigned_location(each, register) for each in reaching}
        return location_of(step, name, {register: place} if len(found) == 1 and (place := found.pop()) else {})

    def _assigned_location(self, step: Step, register: str) -> tuple[str, int] | None:
        key = step, register
        if key not in self._known:
            self._known[key] = None  # for a loop that moves the address
            names = [name for operand in read_operands(step) for name in operand_names(operand)]
            given = ((step.scope.register_name(name), self.location_before(step, name)) for name in names)
            places = {source: place for source, place in given if place is not None}
            self._known[key] = dict(parameter_locations(step, places)).get(register)
        return self._known[key]


def map_uses(program: Program) -> Iterator[tuple[Step, str, int, TensorMapParameter]]:
    """Yields the tensor copies with the parameter and the byte in it at which their map is."""
    for step in program.steps:
        for effect in step.effects:
            if not (isinstance(effect, Access) and effect.via == "tensormap") or step.match is None:
                continue
            operand = step.operand(effect.address)
            dimensions = step.match.modifiers.get("dim") or ""
            if isinstance(operand, Address) and isinstance(operand.base, Name) and dimensions:
                is_im2col = (step.match.modifiers.get("mode") or "").lstrip(".").startswith("im2col")
                use = TensorMapParameter(int(dimensions.strip(".d")), is_im2col, effect.kind == "read")
                yield step, operand.base.text, operand.offset, use


def expected_bytes(program: Program) -> tuple[int, ...]:
    """Returns the constant numbers of bytes that phases expect, each once, in the order of the text."""
    constants: dict[str, int] = {}
    found: dict[int, None] = {}
    for step in program.steps:
        for effect in step.effects:
            if isinstance(effect, Value) and isinstance(effect.value, CallExpr) and effect.value.function == "copy":
                result, source = _operand(step, effect.result), _operand(step, effect.value.arguments[-1])
                if isinstance(result, Name) and isinstance(source, Integer):
                    constants[step.scope.register_name(result.text)] = source.value
            elif isinstance(effect, MbarrierExpect | MbarrierArrive):
                size = effect.size if isinstance(effect, MbarrierExpect) else effect.expect
                found.update(dict.fromkeys(_constant_sizes(step, size, constants)))
    return tuple(each for each in found if each)


def _operand(step: Step, of: Expression | str) -> object:
    role = of.name if isinstance(of, OperandRole) else of
    return step.operand(role) if isinstance(role, str) else None


def _constant_sizes(step: Step, size: Expression | None, constants: dict[str, int]) -> Iterator[int]:
    if isinstance(size, ConstantExpr) and isinstance(size.value, int):
        yield size.value
    elif size is not None:
        match _operand(step, size):
            case Integer(value=value):
                yield value
            case Name(text=text) if step.scope.register_name(text) in constants:
                yield constants[step.scope.register_name(text)]
