"""Finds the kernel parameters that are tensor maps, how copies use them, and how many bytes mbarriers expect.

Only the text is analyzed: the address of a parameter that is moved or made generic, and constant counts.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.dataflow.pointer_params import location_of, parameter_locations
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.fast_dataclasses import dataclass, replace
from ptxkit.isa.effects import Access, MbarrierArrive, MbarrierExpect, Value
from ptxkit.isa.expressions import CallExpr, ConstantExpr, Expression, OperandRole
from ptxkit.syntax.tree import Address, Integer, Name


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
    places: dict[str, tuple[str, int]] = {}
    for step in program.steps:
        places.update(parameter_locations(step, places))
    for step, base, offset, use in map_uses(program):
        start = location_of(step, base, places)
        if start is not None:
            yield step, (start[0], start[1] + offset), use


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
