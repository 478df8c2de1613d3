"""The number of operations on Tensor Memory that are compared."""

from __future__ import annotations

from typing import cast

from ptxkit.analysis.context.thread_view import ThreadView
from ptxkit.analysis.ir.budget import AnalysisBudget
from ptxkit.analysis.symexec.trace import TraceEvent
from ptxkit.analysis.tensor.tensor_memory import TmemUse, writes_before


def test_operations_before_a_use_are_found_within_the_budget() -> None:
    """Two thousand consecutive stores, each of which is compared with all before it, took minutes."""
    use = TmemUse(cast("ThreadView", None), 0, cast("TraceEvent", None))
    budget = AnalysisBudget(pair_checks=3)
    assert writes_before(use, [use, use, use], budget) == []
    assert budget.is_exhausted
