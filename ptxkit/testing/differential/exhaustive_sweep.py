"""Enumerates all changes of an instruction, instead of random mutations.

Every unrelated operand replaces every operand and every element inside one; every class of register and every kind of
brackets is tried; operands and elements are removed, repeated, added and swapped; every modifier of the instruction's
name is put in every place. An instruction has some hundred to some thousand such texts: a random part of them finds
more than the same number of mutations of many instances, since no text is repeated.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ptxkit.isa.instance_generator import InstructionInstance
from ptxkit.isa.operand_spellings import DECLARABLE
from ptxkit.testing.differential.instruction_mutators import FOREIGN_OPERANDS, REGISTER, WRAPPINGS, split_instruction

_RARE_FOREIGN_OPERANDS = (
    *("const_", "local_", "parameter", "incoming", "outgoing", "texture_", "sampler_", "surface_", "global_+4"),
    *("callee+4", "target+4", "%u32_3+4", "%b64_3+4", "%f32_3+4", "%tid.x+4", "%v2b32_1.x", "%v2b32_1.b0"),
    *("%f16x2_1", "%u16_3", "%b16_3", "%b16_1+4", "1.0", "%globaltimer", "%pm0_64"),
    *("{_, _}", "{%b32_1, _}", "{%b16_1, %b16_2}", "{3, %b32_1}", "{%b32_1, 3}", "{3}", "{0f3F800000}", "{callee}"),
    *("{%f32_1, %f32_2}", "{%u32_1, %u32_2, %u32_3, %u32_4}", "{%f64_1}", "{%pred_1}", "{%b32_1, %b32_2, %b32_3}"),
    *("[%v2b32_1]", "[%u16_1]", "[%f64_1]", "[const_]", "[local_]", "[parameter]", "[texture_]", "[callee]"),
    *("[global_, {%b32_1}]", "[%b64_1, %b64_2]", "[_]", "[1.5]", "[%pred_1]"),
)
"""Operands in addition to those of mutations."""

_RARE_WRAPPINGS = (("", ".x"), ("", ".b0"), ("", "+4"), ("", "|%pred_1"), ("", "|_"))

TextChange = tuple[str, str]
"""A text, and a description of the change."""


def enumerate_changes(instance: InstructionInstance, vocabulary: Sequence[str]) -> Iterator[TextChange]:
    """Yields every change of an instruction, each text once. vocabulary: the modifier values to choose from."""
    opcode, operands = split_instruction(instance.text)
    seen = {instance.text}
    changes = (
        (_instruction_text(opcode, changed), change)
        for each in (
            _substitute_operands,
            _change_register_classes,
            _wrap_operands,
            _change_elements,
            _reorder_operands,
        )
        for changed, change in each(operands)
    )
    for text, change in (*changes, *_change_modifiers(opcode, operands, vocabulary)):
        if text not in seen:
            seen.add(text)
            yield text, change


def _instruction_text(opcode: str, operands: Sequence[str]) -> str:
    return f"{opcode} {', '.join(operands)}".rstrip() + ";"


_Operands = tuple[list[str], str]


def _substitute_operands(operands: list[str]) -> Iterator[_Operands]:
    for place in range(len(operands)):
        for stranger in (*FOREIGN_OPERANDS, *_RARE_FOREIGN_OPERANDS):
            yield [*operands[:place], stranger, *operands[place + 1 :]], f"operand {place + 1} exchanged"


def _change_register_classes(operands: list[str]) -> Iterator[_Operands]:
    for place, word in enumerate(operands):
        for found in REGISTER.finditer(word):
            for each in DECLARABLE:
                changed = f"{word[: found.start()]}%{each}_{word[found.end() :]}"
                yield [*operands[:place], changed, *operands[place + 1 :]], f"register of another type in {place + 1}"


def _wrap_operands(operands: list[str]) -> Iterator[_Operands]:
    for place, word in enumerate(operands):
        for before, after in (*WRAPPINGS, *_RARE_WRAPPINGS):
            yield [*operands[:place], f"{before}{word}{after}", *operands[place + 1 :]], f"operand {place + 1} wrapped"


def _change_elements(operands: list[str]) -> Iterator[_Operands]:
    """Yields operands in which elements in brackets and braces, at any depth, are removed, repeated and swapped."""
    for place, word in enumerate(operands):
        if word[0] in "[{(" and word[-1] in "]})":
            _, parts = split_instruction(f"_ {word[1:-1]}")
            for inside, change in _change_nested(parts):
                changed = f"{word[0]}{', '.join(inside)}{word[-1]}"
                yield [*operands[:place], changed, *operands[place + 1 :]], f"in operand {place + 1}: {change}"


def _change_nested(parts: list[str]) -> Iterator[_Operands]:
    yield from _substitute_operands(parts)
    yield from _change_elements(parts)
    for place in range(len(parts)):
        yield parts[:place] + parts[place + 1 :], f"{place + 1} dropped"
        yield parts[: place + 1] + parts[place:], f"{place + 1} doubled"


def _reorder_operands(operands: list[str]) -> Iterator[_Operands]:
    for place in range(len(operands)):
        yield operands[:place] + operands[place + 1 :], f"operand {place + 1} dropped"
        for other in range(place):
            swapped = list(operands)
            swapped[place], swapped[other] = swapped[other], swapped[place]
            yield swapped, f"operands {other + 1} and {place + 1} swapped"
    for place in range(len(operands) + 1):
        for stranger in (*FOREIGN_OPERANDS, *_RARE_FOREIGN_OPERANDS):
            yield [*operands[:place], stranger, *operands[place:]], f"operand {place + 1} added"


def _change_modifiers(opcode: str, operands: list[str], vocabulary: Sequence[str]) -> Iterator[TextChange]:
    for words, change in _change_opcode_words(opcode.split("."), vocabulary):
        yield _instruction_text(".".join(words), operands), change


def _change_opcode_words(words: list[str], vocabulary: Sequence[str]) -> Iterator[_Operands]:
    for place in range(1, len(words)):
        yield words[:place] + words[place + 1 :], "modifier dropped"
        yield words[: place + 1] + words[place:], "modifier doubled"
        yield [*words, words[place]], "modifier doubled"
        for other in range(1, place):
            swapped = list(words)
            swapped[place], swapped[other] = swapped[other], swapped[place]
            yield swapped, "modifiers swapped"
        for word in vocabulary:
            yield [*words[:place], word, *words[place + 1 :]], "modifier exchanged"
    for place in range(1, len(words) + 1):
        for word in vocabulary:
            yield [*words[:place], word, *words[place:]], "modifier added"
