"""Changed instructions: always another text, the same for the same seed, and mostly wrong."""

from __future__ import annotations

from collections import Counter
from random import Random

from ptxkit.isa import table
from ptxkit.isa.instance_generator import InstructionInstance, instances
from ptxkit.testing.differential.instruction_mutators import mutate_instruction, split_instruction


def some(name: str, count: int = 40) -> list[InstructionInstance]:
    known, random = table(), Random(5)
    return [each for form in known.forms(name) for each in instances(form, known.value_gates, random, count)]


def test_commas_inside_an_operand_separate_nothing() -> None:
    assert split_instruction("ld.v2.b32 {%a, %b}, [%c, {%d, (1)}];") == ("ld.v2.b32", ["{%a, %b}", "[%c, {%d, (1)}]"])
    assert split_instruction("ret;") == ("ret", [])


def test_a_mutation_is_another_instruction_and_describes_its_change() -> None:
    random = Random(1)
    for instance in some("cvt"):
        text, change = mutate_instruction(instance, ["f32", "sat"], random)
        assert text != instance.text
        assert text.endswith(";")
        assert change


def test_the_same_seed_generates_the_same_mutations() -> None:
    made = some("atom")
    one, other = Random(3), Random(3)
    assert [mutate_instruction(each, ["add"], one) for each in made] == [
        mutate_instruction(each, ["add"], other) for each in made
    ]


def test_every_kind_of_change_occurs() -> None:
    random = Random(2)
    words = sorted({value for form in table().forms("ld") for slot in form.modifiers for value in slot.values})
    kinds = Counter(mutate_instruction(each, words, random)[1] for each in some("ld", 200))
    assert {"modifier dropped", "modifiers swapped", "operand added", "register of another type"} <= kinds.keys()
    assert {"operand of another kind", "constant at or beyond an end", "number changed"} <= kinds.keys()


def test_an_instruction_without_any_changeable_part_gets_a_modifier() -> None:
    (plain,) = some("brkpt", 1)
    text, change = mutate_instruction(plain, [], Random(1))
    assert text != plain.text
    assert change
