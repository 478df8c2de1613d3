"""A sink beside the first operand means nothing to assemblers, where no second result is asked for."""

from __future__ import annotations

from ptxkit.syntax.tree import Instruction, Name, Pair
from ptxkit.validate.sink_operands import without_sink


def test_only_the_sink_beside_the_first_operand_goes() -> None:
    one, two = Name("%r1"), Name("%r2")
    assert without_sink(Instruction("not.b32", (Pair(one, Name("_")), two))) == Instruction("not.b32", (one, two))
    assert without_sink(Instruction("not.b32", (one, Pair(two, Name("_"))))) is None
    assert without_sink(Instruction("not.b32", (Pair(one, Name("%p")), two))) is None


def test_what_is_no_whole_name_keeps_its_sink() -> None:
    assert without_sink(Instruction("not.b32", (Pair(Name("_"), Name("_")), Name("%r")))) is None
    assert without_sink(Instruction("not.b32", (Pair(Name("%v.x"), Name("_")), Name("%r")))) is None
    assert without_sink(Instruction("ret")) is None
