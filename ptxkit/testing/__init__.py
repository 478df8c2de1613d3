"""Compares ptxkit's verdicts with those of other implementations: ptxas as the oracle, and campaigns with both.

from hypothesis import given
from ptxkit.testing import assert_verdicts_agree, strategies

@given(strategies.pipelines())
def test_verdicts_of_correct_pipelines(pipeline):
    assert_verdicts_agree(pipeline)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ptxkit.testing.generators.litmus import Litmus, assert_litmus
    from ptxkit.testing.oracles.assertions import (
        DeviceLaunch,
        assert_lints,
        assert_machine_matches_device,
        assert_optimisation_invariant,
        assert_ptxas_agrees,
        assert_round_trips,
        assert_same_kernel,
    )
    from ptxkit.testing.oracles.rules_vs_emulator import assert_verdicts_agree
    from ptxkit.testing.oracles.stress_assertion import assert_stable_under_stress
    from ptxkit.testing.pipelines.pipeline import GeneratedPipeline

__all__ = [
    "DeviceLaunch",
    "Litmus",
    "GeneratedPipeline",
    "assert_lints",
    "assert_litmus",
    "assert_machine_matches_device",
    "assert_optimisation_invariant",
    "assert_ptxas_agrees",
    "assert_round_trips",
    "assert_same_kernel",
    "assert_stable_under_stress",
    "assert_verdicts_agree",
]

_ELSEWHERE = {
    "Litmus": "generators.litmus",
    "GeneratedPipeline": "pipelines.pipeline",
    "assert_litmus": "generators.litmus",
    "assert_stable_under_stress": "oracles.stress_assertion",
    "assert_verdicts_agree": "oracles.rules_vs_emulator",
}
"""The module that defines each public name, unless it is `oracles`."""


def __getattr__(name: str) -> object:
    from importlib import import_module

    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_ELSEWHERE.get(name, 'oracles.assertions')}"), name)
