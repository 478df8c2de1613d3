"""The range of a term contains every number that its operation may give."""

from __future__ import annotations

import random

import pytest

from ptxkit.analysis.context.term_ranges import TermRanges
from ptxkit.analysis.ir.shared_window import SharedWindow
from ptxkit.analysis.values.symbolic_values import SymbolicValue, SymbolicValueTable
from ptxkit.analysis.values.value_ops import SymbolicOps
from ptxkit.semantics.value_ops import INTEGER_OPERATIONS

#: Operations on an unknown x: name, arguments before and after x, and the largest result.
BOUNDED = (
    ("and", (32,), (127,), 127),
    ("rem", (32, False), (100,), 99),
    ("shr", (32, False), (25,), 127),
    ("div", (32, False), (1 << 25,), 127),
    ("min", (32, False), (127,), 127),
    ("bfe", (32, False), (3, 7), 127),
    ("popc", (32,), (), 32),
    ("convert", ("u32", "u8"), (), 255),
    ("convert", ("u32", "s8"), (), 255),
)
UNBOUNDED = (
    ("add", (32,), (4,)),
    ("rem", (32, True), (100,)),
    ("shr", (32, True), (25,)),
    ("div", (32, True), (1 << 25,)),
    ("min", (32, True), (127,)),
    ("bfe", (32, True), (3, 7)),
    ("shl", (32,), (2,)),
    ("mul", (32,), (4,)),
)


@pytest.fixture
def terms() -> SymbolicValueTable:
    return SymbolicValueTable()


@pytest.mark.parametrize(("name", "before", "after", "highest"), BOUNDED, ids=str)
def test_a_bounded_operation_has_the_range_of_its_results(
    terms: SymbolicValueTable, name: str, before: tuple[object, ...], after: tuple[int, ...], highest: int
) -> None:
    operations, ranges = SymbolicOps(terms, SharedWindow()), TermRanges(terms)
    result = operations.compute(name, *before, terms.intern("x"), *after)  # type: ignore[arg-type]
    assert ranges.range_of(result) == (0, highest)
    numbers = random.Random(1)
    for _ in range(200):
        x = numbers.getrandbits(32)
        assert 0 <= INTEGER_OPERATIONS[name].compute(*before, x, *after) <= highest


@pytest.mark.parametrize(("name", "before", "after"), UNBOUNDED, ids=str)
def test_an_operation_that_may_wrap_has_no_range(
    terms: SymbolicValueTable, name: str, before: tuple[object, ...], after: tuple[int, ...]
) -> None:
    operations, ranges = SymbolicOps(terms, SharedWindow()), TermRanges(terms)
    result = operations.compute(name, *before, terms.intern("x"), *after)  # type: ignore[arg-type]
    assert ranges.range_of(result) is None


def test_ranges_pass_through_scaling_sums_and_selections(terms: SymbolicValueTable) -> None:
    operations, ranges = SymbolicOps(terms, SharedWindow()), TermRanges(terms)
    index = operations.compute("and", 32, terms.intern("x"), 127)
    scaled = operations.compute("add", 32, operations.compute("shl", 32, index, 2), 1024)
    assert ranges.range_of(scaled) == (1024, 1024 + 508)
    assert isinstance(scaled, SymbolicValue)
    other = operations.compute("add", 32, scaled, operations.compute("and", 32, terms.intern("y"), 15))
    assert ranges.range_of(other) == (1024, 1024 + 523)
    either = operations.compute("select", 32, scaled, 8, terms.intern("p"))
    assert ranges.range_of(either) == (8, 1024 + 508)
    assert ranges.range_of(operations.compute("add", 32, scaled, -2000)) is None
