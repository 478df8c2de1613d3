"""The numbers that a choice of data has for the words in memory."""

from __future__ import annotations

from ptxkit.analysis.ir.shared_window import SharedWindow
from ptxkit.analysis.values.input_data import InputData
from ptxkit.analysis.values.symbolic_values import SymbolicValue, SymbolicValueTable
from ptxkit.analysis.values.value_ops import SymbolicOps
from tests.analysis.support import module_of, program_of

TERMS = SymbolicValueTable()
STEP = program_of(module_of("")).steps[0]
OPS = SymbolicOps(TERMS, SharedWindow(0))
BUFFER, OTHER = (TERMS.intern(("parameter", name, 0), pointer=True) for name in ("buffer", "other"))


def word(address: SymbolicValue, width: int = 32) -> SymbolicValue:
    return TERMS.intern(("input", "global", address, width))


def holds(data: InputData, operator: str, left: object, right: object, wanted: bool | None = None) -> bool | None:
    condition = OPS.compute("compare", operator, "u32", left, right)  # type: ignore[arg-type]
    assert isinstance(condition, SymbolicValue)
    decided = data.side_of(condition, STEP, None if wanted is None else not wanted)
    return None if decided is None else decided[0]


def test_the_words_of_a_buffer_increase() -> None:
    data = InputData(TERMS, frozenset(), 8)
    assert holds(data, "eq", word(BUFFER), 8)
    assert holds(data, "eq", OPS.compute("sub", 32, word(BUFFER.plus(4)), word(BUFFER)), 8)


def test_a_word_keeps_the_number_with_which_it_has_the_wanted_side() -> None:
    data = InputData(TERMS, frozenset(), 8)
    assert holds(data, "eq", word(BUFFER), 0, wanted=True)
    assert not holds(data, "ne", word(BUFFER), 0, wanted=True)
    assert holds(data, "gt", OPS.compute("shr", 32, False, word(OTHER), 4), 5, wanted=True) is False
    assert holds(data, "eq", OPS.compute("and", 32, word(OTHER.plus(4)), 7), 7, wanted=True)


def test_an_index_that_is_loaded_leads_to_the_same_word() -> None:
    data = InputData(TERMS, frozenset(), 2)
    index = OPS.compute("mul_wide", 32, False, word(BUFFER), 4)
    assert holds(data, "eq", word(OPS.compute("add", 64, OTHER, index)), 5, wanted=True)  # type: ignore[arg-type]
    assert holds(data, "eq", word(OTHER.plus(8)), 5)


def test_a_pointer_that_is_loaded_points_to_another_buffer() -> None:
    data = InputData(TERMS, frozenset(), 8)
    first, second = (word(BUFFER.plus(offset), 64) for offset in (0, 8))
    assert holds(data, "eq", word(first.plus(8)), 1, wanted=True)
    assert not holds(data, "eq", word(second), 1)


def test_other_unknowns_and_words_that_overlap_decide_nothing() -> None:
    data = InputData(TERMS, frozenset(), 8)
    unknown = TERMS.intern(("value", 0))
    assert holds(data, "eq", unknown, 0) is None
    assert holds(data, "lt", OPS.compute("add", 32, word(BUFFER), unknown), 0) is None
    assert holds(data, "eq", word(BUFFER), 8)
    assert holds(data, "eq", word(BUFFER, 64), 8) is None


def test_a_number_that_wraps_around_decides_nothing() -> None:
    data = InputData(TERMS, frozenset(), 8)
    assert holds(data, "gt", OPS.compute("sub", 32, word(BUFFER), word(BUFFER.plus(4))), 0) is None
