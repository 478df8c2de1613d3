"""The remainder of a parameter that follows from a sum is exactly that of the values with which the sum is aligned."""

from __future__ import annotations

import itertools

from ptxkit.analysis.contract.linear_parameters import LinearParameter
from ptxkit.model.launch_contract import ParameterPlace


def test_a_solution_holds_for_exactly_the_values_that_some_unknown_number_completes() -> None:
    place = ParameterPlace("n", "n", 0)
    solved = 0
    for factor, constant, unknown in itertools.product((1, 2, 3, 4, 12, -4), (0, 1, 4, 8, 24), (0, 1, 2, 4, 48)):
        solution = LinearParameter(place, factor, constant, unknown).solve(16)
        suitable = {
            value for value in range(64) if any((factor * value + constant + unknown * k) % 16 == 0 for k in range(16))
        }
        if solution is None:
            assert len(suitable) in (0, 64)
            continue
        divisor, remainder = solution
        assert suitable == {value for value in range(64) if value % divisor == remainder}
        solved += 1
    assert solved > 50
