"""Finds the parts of parameters that a kernel loads: the fields of structures that are passed by value."""

from __future__ import annotations

from ptxkit.analysis.dataflow.pointer_params import parameter_loads, parameter_locations
from ptxkit.analysis.ir.program import Program
from ptxkit.fast_dataclasses import dataclass
from ptxkit.isa.functions import bits

_BITS_PER_BYTE = 8


@dataclass(frozen=True, slots=True)
class ParameterField:
    """A part of a parameter that a kernel loads.

    offset: the byte of the parameter at which it begins. type: the type with which it is loaded, such as `u32`.
    """

    symbol: str
    offset: int
    type: str

    @property
    def size(self) -> int:
        """The number of its bytes."""
        return bits(self.type) // _BITS_PER_BYTE


def find_parameter_fields(program: Program) -> tuple[ParameterField, ...]:
    """Returns the fields that a function loads at known offsets, each once, in the order of the text.

    A field that is loaded with several types has the first of them.
    """
    places: dict[str, tuple[str, int]] = {}
    found: dict[tuple[str, int], ParameterField] = {}
    for step in program.steps:
        places.update(parameter_locations(step, places))
        loaded = step.match.modifiers.get("t") if step.match is not None else None
        for _, place in parameter_loads(step, places) if isinstance(loaded, str) else ():
            assert isinstance(loaded, str)
            found.setdefault(place, ParameterField(*place, loaded))
    return tuple(found.values())
