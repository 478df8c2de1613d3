"""Finds the waits, commits and barriers of a kernel that nothing depends on.

Source: PTX ISA, "Memory Consistency Model", "Completion Mechanisms for Asynchronous Copy Operations".
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.redundancy.needless_barriers import find_needless_barriers
from ptxkit.analysis.redundancy.needless_groups import find_needless_groups
from ptxkit.analysis.redundancy.order_without import NeedlessSync, OrderWithout


def find_needless_sync(program: Program, known: Collection[Step]) -> Iterator[NeedlessSync]:
    """Yields the instructions that nothing depends on as long as all others stay, apart from those that are known."""
    order = OrderWithout(program)
    yield from (each for each in find_needless_groups(program, order) if each.step not in known)
    yield from find_needless_barriers(program, known, order)
