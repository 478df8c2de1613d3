"""Assemblers check the order of the operands of a texture or surface, not the places of the brackets."""

from __future__ import annotations

import pytest

from ptxkit.isa import table
from ptxkit.syntax.tree import Address, Instruction, Name, Vector
from ptxkit.validate.texture_brackets import regroup_brackets
from tests.isa.pairs import NEWEST, agree, is_tolerated

D = "{%f32_0, %f32_1, %f32_2, %f32_3}"
XY = "{%f32_4, %f32_5}"


@pytest.mark.parametrize(
    ("right", "elsewhere", "wrong"),
    [
        (
            f"tex.2d.v4.f32.f32 {D}, [texture_, sampler_, {XY}];",
            f"tex.2d.v4.f32.f32 {D}, [texture_, sampler_], {XY};",
            f"tex.2d.v4.f32.f32 {D}, [texture_, {XY}, sampler_];",
        ),
        (
            f"tex.a1d.v4.f32.s32 {D}, [texture_, {{%s32_0, %s32_1}}], {{%s32_2, %s32_3}};",
            f"tex.a1d.v4.f32.s32 {D}, [texture_, %s32_0, {{%s32_2, %s32_3}}];",
            f"tex.a1d.v4.f32.s32 {D}, [texture_, WARP_SZ, {{%s32_2, %s32_3}}];",
        ),
        (
            "sust.b.1d.b32.clamp [surface_, {%b32_0}], {%b32_1};",
            "sust.b.1d.b32.clamp surface_, [%b32_0, {%b32_1}];",
            "sust.b.1d.b32.clamp [surface_], {%b32_0}, {%b32_1};",
        ),
        (
            f"tex.2d.v4.f32.f32 {D}, [%b64_0, {XY}], {{%s32_0, %s32_1}};",
            f"tex.2d.v4.f32.f32 {D}, %b64_0, [%b64_1, {XY}];",
            f"tex.2d.v4.f32.f32 {D}, [%b64_0, {XY}], [%f32_6];",
        ),
        (
            f"tex.1d.v4.s32.f32 {D.replace('f32', 's32')}, [texture_, {{%f32_4}}], %f32_5;",
            f"tex.1d.v4.s32.f32 {D.replace('f32', 's32')}, [texture_, %b64_0], %f32_4, %f32_5;",
            f"tex.1d.v4.s32.f32 {D.replace('f32', 's32')}, [texture_, %b64_0, %f32_4, %f32_5];",
        ),
        (
            f"tex.2d.v4.f32.f32 {D}, [texture_, sampler_, {XY}], {{%s32_0, %s32_1}};",
            f"tex.2d.v4.f32.f32 {D}, [texture_, sampler_, {XY}, {{%s32_0, %s32_1}}];",
            f"tex.2d.v4.f32.f32 {D}, [texture_, {XY}, {{%s32_0, %s32_1}}];",
        ),
        (
            f"tex.2d.v4.f32.f32 {D}, [texture_, sampler_, {XY}];",
            f"tex.2d.v4.f32.f32 {D}, [texture_, sampler_], 1.5;",
            f"tex.2d.v4.f32.f32 {D}, [texture_, sampler_, 1.5];",
        ),
        (
            f"tex.2d.v4.f32.f32 {D}, [texture_, {XY}], %f32_6;",
            f"tex.2d.v4.f32.f32 {D}, [%b64_0, texture_], 1.5, %f32_6;",
            f"tex.2d.v4.f32.f32 {D}, [%b64_0, texture_], 1, %f32_6;",
        ),
        (
            f"tex.1d.v4.s32.f32 {D.replace('f32', 's32')}, [texture_, {{%f32_4}}], %f32_5;",
            f"tex.1d.v4.s32.f32 {D.replace('f32', 's32')}, [texture_, %f32_4, %f32_5];",
            f"tex.1d.v4.s32.f32 {D.replace('f32', 's32')}, [texture_, %f32_4, 0f3F800000];",
        ),
    ],
)
def test_brackets_elsewhere_are_a_warning_where_an_assembler_can_read_them(
    right: str, elsewhere: str, wrong: str
) -> None:
    agree(right, *NEWEST, accepted=True)
    assert is_tolerated(elsewhere)
    agree(wrong, *NEWEST, accepted=False)


def test_each_other_place_of_the_brackets_is_generated_once_and_their_own_is_not() -> None:
    opcode = "tex.1d.v4.f32.f32"
    result, texture, sampler, where = Vector((Name("%r"),) * 4), Name("t"), Name("s"), Vector((Name("%x"),))
    candidates = table().candidates(opcode)
    inside = Instruction(opcode, (result, Address(texture, 0, (sampler, where))))
    outside = Instruction(opcode, (result, Address(texture, 0, (sampler,)), where))
    flat = (result, Address(texture, 0), sampler, where)

    def layouts(instruction: Instruction) -> list[tuple[int, ...]]:
        """Returns the number of operands after the result in each form that is tried."""
        found = list(regroup_brackets(instruction, candidates))
        assert [other.operands for other, _ in found] == [flat] * len(found)
        forms = [match.form for _, matches in found for match in matches]
        return [tuple(1 + len(operand.elements) for operand in form.operands[1:2]) for form in forms]

    assert (3,) in layouts(outside)
    assert (3,) not in layouts(inside)


def test_other_instructions_keep_their_brackets() -> None:
    load = Instruction("ld.global.u32", (Address(Name("%rd")), Name("%r")))
    assert list(regroup_brackets(load, table().candidates(load.opcode))) == []
