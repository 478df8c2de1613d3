"""Oracles: other implementations with which results and verdicts are compared.

Input: PTX and arguments. Output: assertions that hold or fail. It imports `testing.corpus` and `testing.generators`.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec

_ELSEWHERE = {"assert_stable_under_stress": "stress_assertion"}
"""The module that defines a public name, unless it is `assertions`."""


def __getattr__(name: str) -> object:
    """Returns an assertion, which is loaded on first use, because the pytest plugin imports this package in every
    run.
    """
    if name.startswith("__") or find_spec(f"{__name__}.{name}") is not None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_ELSEWHERE.get(name, 'assertions')}"), name)
