"""States how many bytes the boxes of tensor maps in parameters must have, given equations between copies and bytes.

Source: PTX ISA, "Tensor-map Objects", "Tracking asynchronous operations by the mbarrier object".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from functools import cached_property
from math import gcd

from ptxkit.analysis.contract.linear_parameters import LinearParameters
from ptxkit.analysis.contract.tensor_maps import find_map_uses
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.mbarrier.tx_count import BoxSystem
from ptxkit.analysis.sync.mbarrier_model import BoxEquation
from ptxkit.model.launch_contract import BoxBytes, ParameterPlace


class BoxSizes:
    """The tensor maps of the copies of one kernel."""

    def __init__(self, program: Program) -> None:
        self._program = program

    def conditions_of(self, equations: Iterable[BoxEquation]) -> tuple[BoxBytes, ...]:
        """Returns equations as conditions on maps in parameters.

        The result is empty if a map is elsewhere or unknown, or if no number of bytes satisfies an equation.
        """
        found: dict[BoxBytes, None] = {}
        for copies, size in equations:
            counts: Counter[ParameterPlace] = Counter()
            for step, count in copies:
                place = self._places.get(step)
                if place is None:
                    return ()
                counts[place] += count
            lots = gcd(*counts.values())
            if size <= 0 or size % lots:
                return ()
            boxes = sorted(counts.items(), key=lambda item: (item[0].index, item[0].offset))
            found[BoxBytes(tuple((place, count // lots) for place, count in boxes), size // lots)] = None
        return tuple(found)

    @cached_property
    def _places(self) -> dict[Step, ParameterPlace]:
        """The parameter of the map of each copy; a copy by one of several maps has none."""
        found: dict[Step, ParameterPlace | None] = {}
        for step, use in find_map_uses(self._program, LinearParameters(self._program)):
            found[step] = use.parameter if found.get(step, use.parameter) == use.parameter else None
        return {step: place for step, place in found.items() if place is not None}


def are_satisfiable(conditions: Iterable[BoxBytes]) -> bool:
    """Returns whether boxes exist, none of them empty, that satisfy all conditions."""
    known = BoxSystem[ParameterPlace]()
    for each in conditions:
        due = known.bytes_of(dict(each.boxes))
        if due not in (None, each.size) or (
            due is None and not known.add_equation(dict(each.boxes), Fraction(each.size))
        ):
            return False
    return True
