"""A kept example, asked again."""

from __future__ import annotations

from ptxkit.testing import oracles
from ptxkit.testing.examples import Example, ExampleError


def ask(example: Example) -> None:
    """Asks the oracle; what it raises, it raises. ExampleError where there is no such oracle."""
    oracle = getattr(oracles, example.oracle, None) if example.oracle in oracles.__all__ else None
    if oracle is None:
        raise ExampleError(f"there is no oracle {example.oracle!r}")
    takes_launch = {} if example.launch is None else {"launch": example.launch}
    oracle(*example.texts, **takes_launch, **example.options)
