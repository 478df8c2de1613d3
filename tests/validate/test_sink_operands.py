"""Assemblers ignore a sink in the first operand, where no second result is requested."""

from __future__ import annotations

from ptxkit.syntax.tree import Instruction, Name, Pair
from ptxkit.validate.sink_operands import without_sink


def test_only_the_sink_in_the_first_operand_is_removed() -> None:
    one, two = Name("%r1"), Name("%r2")
    assert without_sink(Instruction("not.b32", (Pair(one, Name("_")), two))) == Instruction("not.b32", (one, two))
    assert without_sink(Instruction("not.b32", (one, Pair(two, Name("_"))))) is None
    assert without_sink(Instruction("not.b32", (Pair(one, Name("%p")), two))) is None


def test_an_incomplete_name_keeps_its_sink() -> None:
    assert without_sink(Instruction("not.b32", (Pair(Name("_"), Name("_")), Name("%r")))) is None
    assert without_sink(Instruction("not.b32", (Pair(Name("%v.x"), Name("_")), Name("%r")))) is None
    assert without_sink(Instruction("ret")) is None
