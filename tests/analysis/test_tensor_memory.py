"""How much is looked at of what uses Tensor Memory."""

from __future__ import annotations

from typing import cast

from ptxkit.analysis.budget import Budget
from ptxkit.analysis.tensor_memory import Use, writes_before
from ptxkit.analysis.thread import Thread
from ptxkit.analysis.trace import Event


def test_operations_before_a_use_are_looked_for_within_the_budget() -> None:
    """Two thousand stores behind one another, each of which looks at all before it, took minutes."""
    use = Use(cast("Thread", None), 0, cast("Event", None))
    budget = Budget(lookups=3)
    assert writes_before(use, [use, use, use], budget) == []
    assert budget.is_over
