"""The chapters of instructions without memory accesses: arithmetic, logic, comparison, conversion, matrices, textures
and video.

Compared with the opcodes that compilers write, with ptxas, and with known values.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random

import pytest

from ptxkit.analysis.ir.shared_window import SharedWindow
from ptxkit.analysis.values.symbolic_values import SymbolicValue, SymbolicValueTable, Value
from ptxkit.analysis.values.value_ops import SymbolicOps
from ptxkit.isa import effects, table
from ptxkit.isa.expressions import CallExpr, ConstantExpr, Expression, OperandRole
from ptxkit.isa.forms import Form, Match, OperandForm
from ptxkit.isa.harness_module import harness_module
from ptxkit.isa.instance_generator import InstructionInstance, instances, spell_instruction
from ptxkit.isa.targets import parse_target, unmet_gates
from ptxkit.syntax import parse
from ptxkit.syntax.tree import Body, Instruction, Integer, Name, Operand, Unary
from ptxkit.testing.differential.campaign import ptxkit_refusal
from ptxkit.testing.oracles.ptxas import installed_ptxas

OPCODES = Path(__file__).resolve().parents[2] / "corpus" / "compilers" / "opcodes.tsv"

CHAPTERS = {
    "alternate_floating_point.isa",
    "comparison.isa",
    "conversion.isa",
    "floating_point.isa",
    "half_precision.isa",
    "integer.isa",
    "logic.isa",
    "mixed_precision.isa",
    "texture.isa",
    "video.isa",
    "warp_matrix.isa",
}

TARGETS = [
    ((6, 4), "sm_75"),
    ((7, 0), "sm_80"),
    ((7, 8), "sm_89"),
    ((8, 0), "sm_90"),
    ((8, 6), "sm_100a"),
    ((8, 8), "sm_100f"),
    ((9, 4), "sm_90a"),
    ((9, 4), "sm_107a"),
    ((9, 4), "sm_110f"),
    ((9, 4), "sm_121a"),
]
NEWEST = ((9, 4), "sm_100a")
EACH = 8
"""Returns instances of each form."""


def refused_by_ptxas(texts: Sequence[str], version: tuple[int, int], target: str) -> dict[int, str]:
    """Returns index and message of each instruction that the newest ptxas rejects."""
    newest, *_ = installed_ptxas()
    return newest.refusals([harness_module([text], version, target) for text in texts], target)


def refused_by_ptxkit(texts: Sequence[str], version: tuple[int, int], target: str) -> dict[int, str]:
    """Returns index and message of each instruction that `validate` reports as an error."""
    answers = {index: ptxkit_refusal(harness_module([text], version, target)) for index, text in enumerate(texts)}
    return {index: why for index, why in answers.items() if why is not None}


def plain_forms() -> list[Form]:
    known = table()
    return [form for name in known.names for form in known.forms(name) if form.file in CHAPTERS]


def is_of_independent_mode(match: Match) -> bool:
    """Returns whether an instruction names a sampler, which requires a separate kind of module."""
    return any(each.texmode == "independent" for gate in match.gates for each in gate.alternatives)


def compilers_opcodes() -> list[str]:
    """Returns the opcodes of the chapters that occur in the compilers' output, ordered by frequency."""
    names = {form.name for form in plain_forms()}
    opcodes = [line.split("\t")[0] for line in OPCODES.read_text().splitlines()]
    return [opcode for opcode in opcodes if opcode.partition(".")[0] in names and opcode != "mov"]


@pytest.fixture(scope="module")
def legal() -> list[InstructionInstance]:
    gates, random = table().value_gates, Random(1994)
    return [found for form in plain_forms() for found in instances(form, gates, random, EACH)]


def only_instruction(text: str) -> Instruction:
    (function,) = parse(harness_module([text], *NEWEST)).functions()
    assert isinstance(function.body, Body)
    return next(each for each in function.body.statements if isinstance(each, Instruction))


def match_of(text: str) -> Match:
    found = table().match(only_instruction(text))
    assert isinstance(found, Match), found
    return found


# ------------------------------------------------------------------------------------------ compilers


def test_every_opcode_that_compilers_write_has_a_form() -> None:
    opcodes = compilers_opcodes()
    assert len(opcodes) > 1200
    assert [opcode for opcode in opcodes if not table().candidates(opcode)] == []


def test_an_opcode_with_a_foreign_modifier_has_no_form() -> None:
    opcodes = [opcode for opcode in compilers_opcodes() if opcode.startswith(("add.", "setp.", "cvt.", "selp."))]
    assert opcodes
    assert [opcode for opcode in opcodes if table().candidates(f"{opcode}.wide")] == []


def test_ptxas_accepts_each_of_these_opcodes_on_a_target_where_the_gates_open() -> None:
    random = Random(8)
    spelled = [
        InstructionInstance(text, match)
        for opcode in compilers_opcodes()
        for match in [each for each in table().candidates(opcode) if not is_of_independent_mode(each)][-1:]
        if (text := spell_instruction(match, random)) is not None
    ]
    assert len(spelled) > 1200
    waiting = dict(enumerate(spelled))
    for version, target in TARGETS:
        open_here = [
            i for i, each in waiting.items() if not unmet_gates(each.match.gates, version, parse_target(target))
        ]
        refused = refused_by_ptxas([spelled[index].text for index in open_here], version, target)
        assert {spelled[open_here[index]].text: message for index, message in refused.items()} == {}
        for index in open_here:
            del waiting[index]
    # Spellings of PTX before 6.3 and 6.5, which this ptxas has no target for.
    old = [
        each for each in waiting.values() if any(req.before for gate in each.match.gates for req in gate.alternatives)
    ]
    assert [each.text for each in waiting.values() if each not in old] == []


# ---------------------------------------------------------------------------------------------- ptxas


ACCEPTED = [
    "add.s8x4.sat %b32_1, %b32_2, %b32_3;",
    "fma.rz.bf16x2 %b32_1, %b32_2, %b32_3, %b32_4;",
    "setp.lt.and.s32 _|%pred_1, %s32_1, 5, !%pred_2;",
    "lop3.or.b32 _|%pred_1, %b32_1, %b32_2, 7, 0xE8, %pred_2;",
    "cvt.rn.f32.s8 %f32_1, %b32_1;",
    "cvt.rn.satfinite.scaled::n2::ue8m0.bf16x2.e4m3x2 %b32_1, %b16_1, %b16_2;",
    "tex.2d.v4.f32.f32 {%f32_1, %f32_2, _, %f32_4}, [%b64_1, {%f32_5, %f32_6}];",
    "tex.1d.v4.f32.f32 {%f32_1, %f32_2, %f32_3, %f32_4}, [%b64_1, {%f32_5}], {%s32_1}, %f32_7;",
    "tex.level.2d.v4.f32.f32 {%f32_1, %f32_2, %f32_3, %f32_4}, [%b64_1, {%f32_5, %f32_6}], %f32_7;",
    "tld4.g.2d.v4.f32.f32 {%f32_1, %f32_2, %f32_3, %f32_4}, [%b64_1, {%f32_5, %f32_6}];",
    "txq.width.b32 %b32_1, [%b64_1];",
    "suld.b.2d.v4.b32.trap {%b32_1, %b32_2, %b32_3, %b32_4}, [%b64_1, {%b32_5, %b32_6}];",
    "sust.b.1d.b32.trap [%b64_1, {%b32_5}], {%b32_1};",
    "suq.height.b32 %b32_1, [%b64_1];",
    "vadd.s32.u32.s32.sat %b32_1, %b32_2.b0, %b32_3.h0;",
    "vshr.u32.u32.u32.clamp.add %b32_1, %b32_2, %b32_3, %b32_4;",
    "vadd4.u32.u32.u32 %b32_1, %b32_2, %b32_3, %b32_4;",
]

REFUSED = [
    "add.s64.sat %s64_1, %s64_2, %s64_3;",
    "fma.rz.f16x2 %b32_1, %b32_2, %b32_3, %b32_4;",
    "setp.lo.s32 %pred_1, %s32_1, 5;",
    "lop3.or.b32 %b32_1, %b32_1, %b32_2, 7, 0xE8, %pred_2;",
    "cvt.rn.f32.f32 %f32_1, %f32_2;",
    "cvt.rn.satfinite.scaled::n2::ue8m0.bf16x2.e4m3x2 %b32_1, %b16_1;",
    "tex.2dms.v4.f32.f32 {%f32_1, %f32_2, %f32_3, %f32_4}, [%b64_1, {%b32_1, %b32_2, %b32_3, %b32_4}];",
    "tex.level.2d.v4.f32.f32 {%f32_1, %f32_2, %f32_3, %f32_4}, [%b64_1, {%f32_5, %f32_6}];",
    "tld4.x.2d.v4.f32.f32 {%f32_1, %f32_2, %f32_3, %f32_4}, [%b64_1, {%f32_5, %f32_6}];",
    "txq.level.height.b32 %b32_1, [%b64_1];",
    "suld.b.2d.v4.b64.trap {%b64_1, %b64_2, %b64_3, %b64_4}, [%b64_1, {%b32_5, %b32_6}];",
    "suq.color.b32 %b32_1, [%b64_1];",
    "vadd.s32.u32.s16.sat %b32_1, %b32_2, %b32_3;",
    "vshr.u32.u32.u32.add %b32_1, %b32_2, %b32_3, %b32_4;",
    "vadd4.u32.u32.u32.sat.add %b32_1, %b32_2, %b32_3, %b32_4;",
    "bfe.u32 %u32_1, %u32_2, 256, 1;",
    "mul.wide.u64 %b128_1, %u64_2, %u64_3;",
    "mma.sp.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%s32_1, %s32_2, %s32_3, %s32_4}, {%b32_1, %b32_2}, "
    "{%b32_3, %b32_4}, {%s32_1, %s32_2, %s32_3, %s32_4}, %b32_5, 2;",
]


def test_ptxkit_and_ptxas_accept_what_the_manual_allows() -> None:
    version, target = (9, 4), "sm_107a"
    assert refused_by_ptxkit(ACCEPTED, version, target) == {}
    assert refused_by_ptxas(ACCEPTED, version, target) == {}


def test_ptxkit_and_ptxas_reject_instances_that_break_a_rule() -> None:
    version, target = (9, 4), "sm_107a"
    everything = set(range(len(REFUSED)))
    assert everything - refused_by_ptxkit(REFUSED, version, target).keys() == set()
    assert everything - refused_by_ptxas(REFUSED, version, target).keys() == set()


# ------------------------------------------------------------------------------------- written registers


def written_roles(match: Match) -> Iterator[str]:
    """Returns the roles of the first operand, if that is registers: PTX writes its results first."""
    first: OperandForm = match.operands[0]
    if first.kind == "pair":
        yield from (element.role for element in first.elements)
    elif first.kind in ("register", "vector", "any"):
        yield first.role


def test_every_register_that_an_instance_writes_has_a_value(legal: list[InstructionInstance]) -> None:
    silent = []
    for each in legal:
        reported = {effect.result for effect in each.match.effects if isinstance(effect, effects.Value)}
        if not set(written_roles(each.match)) <= reported:
            silent.append(each.text)
    assert silent == []


VALUES = [
    ("add.s32 %s32_1, %s32_2, 7;", (0xFFFFFFFF,), 6),
    ("sub.u16 %u16_1, 3, %u16_2;", (5,), 0xFFFE),
    ("mul.lo.s32 %s32_1, %s32_2, %s32_3;", (0xFFFFFFFF, 3), 0xFFFFFFFD),
    ("mul.hi.u32 %u32_1, %u32_2, %u32_3;", (0x80000000, 6), 3),
    ("mul.hi.s64 %s64_1, %s64_2, %s64_3;", (1 << 63, 2), (1 << 64) - 1),
    ("mul.wide.s32 %s64_1, %s32_2, -8;", (3,), (1 << 64) - 24),
    ("mul.wide.u16 %u32_1, %u16_2, %u16_3;", (0xFFFF, 0xFFFF), 0xFFFE0001),
    ("mad.lo.s32 %s32_1, %s32_2, %s32_3, %s32_4;", (5, 6, 7), 37),
    ("mad.wide.u32 %u64_1, %u32_2, 4, %u64_3;", (0xC0000000, 16), 0x300000010),
    ("mad.hi.u32 %u32_1, %u32_2, %u32_3, 1;", (0x80000000, 4), 3),
    ("sad.s32 %s32_1, %s32_2, %s32_3, 10;", (0xFFFFFFFE, 3), 15),
    ("div.s32 %s32_1, %s32_2, 2;", (0xFFFFFFF9,), 0xFFFFFFFD),
    ("rem.s32 %s32_1, %s32_2, 2;", (0xFFFFFFF9,), 0xFFFFFFFF),
    ("div.u64 %u64_1, %u64_2, 3;", (1 << 63,), (1 << 63) // 3),
    ("abs.s16 %s16_1, %s16_2;", (0xFFFF,), 1),
    ("neg.s64 %s64_1, %s64_2;", (1,), (1 << 64) - 1),
    ("min.s32 %s32_1, %s32_2, 0;", (0x80000000,), 0x80000000),
    ("min.u32 %u32_1, %u32_2, 0;", (0x80000000,), 0),
    ("max.relu.s32 %s32_1, %s32_2, -7;", (0xFFFFFFFE,), 0),
    ("popc.b64 %u32_1, %b64_2;", (0xF0F,), 8),
    ("bfe.s32 %s32_1, %s32_2, 4, 4;", (0x8F0,), 0xFFFFFFFF),
    ("bfe.u64 %u64_1, %u64_2, 60, 8;", (0xA << 60,), 0xA),
    ("bfi.b32 %b32_1, %b32_2, %b32_3, 8, 8;", (0x1FF, 0x12345678), 0x1234FF78),
    ("add.cc.u32 %u32_1, %u32_2, 1;", (0xFFFFFFFF,), 0),
    ("mad.lo.cc.u32 %u32_1, %u32_2, 2, 1;", (0xFFFFFFFF,), 0xFFFFFFFF),
    ("and.b16 %b16_1, %b16_2, 0xF0;", (0x1FF,), 0xF0),
    ("or.b64 %b64_1, %b64_2, 1;", (1 << 63,), (1 << 63) | 1),
    ("xor.pred %pred_1, %pred_2, %pred_3;", (1, 1), 0),
    ("not.b32 %b32_1, %b32_2;", (0,), 0xFFFFFFFF),
    ("cnot.b32 %b32_1, %b32_2;", (0,), 1),
    ("lop3.b32 %b32_1, %b32_2, %b32_3, %b32_4, 0x96;", (0b1100, 0b1010, 0b1111), 0b1001),
    ("shl.b32 %b32_1, %b32_2, 33;", (1,), 0),
    ("shr.s32 %s32_1, %s32_2, 40;", (0x80000000,), 0xFFFFFFFF),
    ("shr.b64 %b64_1, %b64_2, 1;", (1 << 63,), 1 << 62),
    ("setp.lt.s32 %pred_1, %s32_2, 0;", (0xFFFFFFFF,), 1),
    ("setp.lo.u32 %pred_1, %u32_2, 1;", (0xFFFFFFFF,), 0),
    ("setp.eq.and.b32 %pred_1, %b32_2, 3, %pred_4;", (3, 0), 0),
    ("setp.ne.or.b32 %pred_1|%pred_2, %b32_2, 3, %pred_4;", (3, 0), 0),
    ("set.ge.u32.s32 %u32_1, %s32_2, 0;", (5,), 0xFFFFFFFF),
    ("selp.b32 %b32_1, 10, 20, %pred_1;", (0,), 20),
    ("slct.b32.s32 %b32_1, 10, 20, %s32_1;", (0xFFFFFFFF,), 20),
    ("cvt.s64.s32 %s64_1, %s32_2;", (0xFFFFFFFF,), (1 << 64) - 1),
    ("cvt.u64.u32 %u64_1, %u32_2;", (0xFFFFFFFF,), 0xFFFFFFFF),
    ("cvt.u16.u64 %u16_1, %u64_2;", (0x12345,), 0x2345),
    ("cvt.u32.s8 %u32_1, %b32_2;", (0x180,), 0xFFFFFF80),
    ("cvt.s8.s32 %b32_1, %s32_2;", (0x180,), 0x80),
]


@pytest.mark.parametrize(("text", "registers", "expected"), VALUES, ids=[text for text, _, _ in VALUES])
def test_the_value_of_a_result_is_that_of_the_manual(text: str, registers: tuple[int, ...], expected: int) -> None:
    assert evaluate_role(text, "first", registers) == expected


def test_the_second_predicate_of_a_comparison_is_its_negation_combined() -> None:
    text = "setp.eq.and.b32 %pred_1|%pred_2, %b32_2, 3, %pred_4;"
    assert [evaluate_role(text, "q", registers) for registers in ((3, 1), (4, 1), (4, 0))] == [0, 1, 0]
    assert evaluate_role("setp.lt.s32 %pred_1|%pred_2, %s32_2, 3;", "q", (3,)) == 1


@pytest.mark.parametrize(
    "text",
    [
        "add.sat.s32 %s32_1, %s32_2, 7;",
        "addc.u32 %u32_1, %u32_2, 7;",
        "cvt.sat.u8.s32 %b32_1, %s32_2;",
        "fma.rn.f32 %f32_1, %f32_2, %f32_3, %f32_4;",
        "max.relu.s16x2 %b32_1, %b32_2, %b32_3;",
    ],
)
def test_a_result_that_no_analysis_follows_is_unknown(text: str) -> None:
    assert value_of(text, "first") == CallExpr("unknown", ())


def value_of(text: str, role: str) -> Expression:
    match = match_of(text)
    wanted = next(written_roles(match)) if role == "first" else role
    return next(each.value for each in match.effects if isinstance(each, effects.Value) and each.result == wanted)


def evaluate_role(text: str, role: str, registers: tuple[int, ...]) -> Value:
    """Returns the value of a role where the source registers, in their order, contain these numbers."""
    match, instruction = match_of(text), only_instruction(text)
    operations = SymbolicOps(SymbolicValueTable(), SharedWindow())
    given = iter(registers)
    sources = {}
    for index, operand in enumerate(instruction.operands[1:], 1):
        name = next(name for name, place in match.roles.items() if place == index)
        sources[name] = next(given) if isinstance(operand, Name) else constant(operand)

    def compute(expression: Expression) -> Value:
        match expression:
            case ConstantExpr(value):
                return value  # type: ignore[return-value]
            case OperandRole(name):
                return sources[name]
            case CallExpr(name, arguments):
                return operations.find(name)(operations, *[compute(argument) for argument in arguments])
        raise AssertionError(expression)

    found = compute(value_of(text, role))
    assert not isinstance(found, SymbolicValue)
    return found


def constant(operand: Operand) -> int:
    if isinstance(operand, Unary):
        return -constant(operand.operand)
    assert isinstance(operand, Integer)
    return operand.value
