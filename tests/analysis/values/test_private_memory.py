"""Thread-private memory: stores and loads of other sizes, at other addresses, and at unknown ones."""

from __future__ import annotations

import pytest

from ptxkit.analysis.values.private_memory import PrivateMemory
from ptxkit.analysis.values.symbolic_values import GroupValue, SymbolicValue, SymbolicValueTable, group_value_of
from tests.analysis.support import module_of, walk

#: Offsets and bytes of stores, an offset and bytes of a load, and the result.
_STORES: list[tuple[list[tuple[int, int, int]], tuple[int, int], int | None]] = [
    ([(0, 4, 5), (4, 4, 6)], (0, 8), 6 << 32 | 5),
    ([(0, 8, 7 << 32 | 1)], (4, 4), 7),
    ([(0, 8, 7 << 32 | 1)], (0, 4), 1),
    ([(0, 8, 0), (4, 4, 5)], (0, 8), 5 << 32),
    ([(4, 4, 5), (0, 8, -1)], (4, 4), 0xFFFFFFFF),
    ([(0, 8, -1), (2, 2, 0)], (0, 8), 0xFFFF_FFFF_0000_FFFF),
    ([(0, 1, 511)], (0, 1), 255),
    ([(0, 4, 5)], (0, 8), None),
    ([(0, 4, 5)], (4, 4), None),
    ([(0, 16, 1 << 100)], (8, 8), 1 << 36),
]


def cells(terms: SymbolicValueTable, *stores: tuple[GroupValue, int, GroupValue]) -> PrivateMemory:
    made = PrivateMemory(terms)
    for place, size, value in stores:
        made.store("local", place, value, size)
    return made


@pytest.mark.parametrize(("stores", "load", "found"), _STORES)
def test_a_load_returns_the_stored_bytes(
    stores: list[tuple[int, int, int]], load: tuple[int, int], found: int | None
) -> None:
    assert cells(SymbolicValueTable(), *stores).load("local", *load) == found


def test_a_part_of_an_unknown_is_an_unknown_and_the_same_one_again() -> None:
    terms = SymbolicValueTable()
    whole = terms.intern("something")
    memory = cells(terms, (0, 8, whole))
    assert memory.load("local", 0, 8) == whole
    low, high = memory.load("local", 0, 4), memory.load("local", 4, 4)
    assert isinstance(low, SymbolicValue)
    assert isinstance(high, SymbolicValue)
    assert len({whole, low, high}) == 3
    assert memory.load("local", 0, 4) == low


def test_a_store_at_an_unknown_address_may_have_changed_every_cell() -> None:
    terms = SymbolicValueTable()
    somewhere = terms.intern("somewhere")
    memory = cells(terms, (0, 4, 1), (somewhere, 4, 2))
    assert memory.load("local", 0, 4) is None
    assert memory.load("local", somewhere, 4) == 2
    memory.store("local", 8, 3, 4)
    assert memory.load("local", somewhere, 4) is None
    assert memory.load("local", 8, 4) == 3


def test_a_store_at_an_address_of_each_thread_changes_the_cells_that_they_access_together() -> None:
    terms = SymbolicValueTable()
    places = group_value_of([16, 20, 24])
    memory = cells(terms, (0, 4, 1), (20, 4, 2), (28, 4, 3), (places, 4, 9))
    assert [memory.load("local", place, 4) for place in (0, 20, 28)] == [1, None, 3]
    assert memory.load("local", places, 4) == 9
    assert memory.subset([0]).load("local", 16, 4) == 9


def test_a_space_is_forgotten_and_only_a_parameter_is_passed_on() -> None:
    memory = cells(SymbolicValueTable(), (0, 4, 1))
    memory.store("p", 0, 2, 4)
    memory.copy("p", "formal")
    memory.clear("local")
    assert (memory.load("local", 0, 4), memory.load("p", 0, 4), memory.load("formal", 0, 4)) == (None, 2, 2)


_LOCAL = ".local .align 16 .b8 mine[32]; mov.b64 %rd1, mine; mov.b32 %r1, -1; st.local.b32 [%rd1], %r1;"


@pytest.mark.parametrize(("kind", "found"), [("u8", 255), ("u16", 65535), ("b32", 0xFFFFFFFF), ("s16", 0xFFFFFFFF)])
def test_a_load_of_a_narrower_type_returns_a_part_which_may_be_sign_extended(kind: str, found: int) -> None:
    assert walk(module_of(f"{_LOCAL} ld.local.{kind} %r9, [%rd1];"))["%r9"] == found


def test_a_store_through_a_loaded_address_may_be_to_local_memory_and_one_through_a_parameter_is_not() -> None:
    given = "ld.param.u64 %rd2, [in]; ld.global.u64 %rd3, [%rd2]; mov.b32 %r2, 7;"
    for address, known in (("%rd2", True), ("%rd3", False)):
        body = f"{given} {_LOCAL} cvta.local.u64 %rd4, %rd1; st.b32 [{address}], %r2; ld.local.u32 %r9, [%rd1];"
        value = walk(module_of(body, parameters=".param .u64 in"))["%r9"]
        assert isinstance(value, int) is known, address
