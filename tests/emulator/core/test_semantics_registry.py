"""The table's `means` lines and the machine's functions name each other."""

from __future__ import annotations

import pytest

from ptxkit.emulator.core import semantics_registry
from ptxkit.isa import table
from tests.emulator.support import outcome


def meant_names() -> set[str]:
    """Returns the names of all functions and actions in `means` lines."""
    return {line.function for lines in table()._instructions.meanings.values() for line in lines}


def test_every_name_in_the_table_has_a_function() -> None:
    known = {*semantics_registry.value_semantics_table(), *semantics_registry.effect_semantics_table()}
    assert sorted(meant_names() - known) == []


def test_every_function_is_named_by_the_table() -> None:
    known = {*semantics_registry.value_semantics_table(), *semantics_registry.effect_semantics_table()}
    assert sorted(known - meant_names()) == []


def test_a_name_is_registered_once() -> None:
    name, maker = next(iter(semantics_registry.value_semantics_table().items()))

    def other(**_: object) -> semantics_registry.Function:
        return lambda a: a

    other.__name__ = name
    with pytest.raises(ValueError, match="registered twice"):
        semantics_registry.value_semantics(other)
    assert semantics_registry.value_semantics_table()[name] is maker


def test_a_rejected_argument_is_named_by_its_instruction() -> None:
    found = outcome("tex.2dms.v4.f32.s32 {%f0, %f1, %f2, %f3}, [%d0, {%r0, %r1, %r2, %r3}];", threads=1)
    assert found.unsupported_reason == "`tex.2dms.v4.f32.s32`: the machine has no textures of several samples"


def test_an_internal_error_is_not_attributed_to_the_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    def raise_error(**_: object) -> semantics_registry.Function:
        raise LookupError("no such word")

    monkeypatch.setitem(semantics_registry._VALUE_SEMANTICS, "has_property", raise_error)
    with pytest.raises(LookupError, match="no such word"):
        outcome("testp.finite.f32 %p0, %f0;", threads=1)


def test_an_address_of_32_bits_keeps_its_lower_bits() -> None:
    found = outcome("mov.u32 %r0, 16; cvta.shared.u32 %r1, %r0;", threads=1)
    assert not found.unsupported_reason
