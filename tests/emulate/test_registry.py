"""The table's `means` lines and the machine's functions name each other."""

from __future__ import annotations

import pytest

from ptxkit.emulate import registry
from ptxkit.isa import table


def test_every_name_that_the_table_means_has_a_function() -> None:
    known = {*registry.functions(), *registry.actions()}
    assert sorted(table().named_meanings - known) == []


def test_every_function_is_named_by_the_table() -> None:
    known = {*registry.functions(), *registry.actions()}
    assert sorted(known - table().named_meanings) == []


def test_a_name_is_registered_once() -> None:
    name, maker = next(iter(registry.functions().items()))

    def other(**_: object) -> registry.Function:
        return lambda a: a

    other.__name__ = name
    with pytest.raises(ValueError, match="registered twice"):
        registry.pure(other)
    assert registry.functions()[name] is maker
