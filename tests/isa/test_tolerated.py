"""Constructs that assemblers accept beyond the manual: every entry has its reason, and ptxas still accepts it."""

from __future__ import annotations

from random import Random

import pytest

from ptxkit.isa import table
from ptxkit.isa.errors import NotationError
from ptxkit.isa.forms import Form
from ptxkit.isa.harness_module import harness_module
from ptxkit.isa.instance_generator import instances
from ptxkit.isa.loader import load_texts
from ptxkit.isa.table import InstructionTable
from ptxkit.testing.differential.campaign import VERSION_TARGETS, ptxkit_refusal
from ptxkit.testing.oracles.ptxas import installed_ptxas
from tests.isa.pairs import NEWEST, agree, is_tolerated, will_be_asked

TOLERATED = [form for name in table().names for form in table().forms(name) if form.tolerated]


def is_taken(form: Form) -> bool:
    """Returns whether ptxas and ptxkit accept some instance of the form, on some version and target."""
    newest = installed_ptxas()[0]
    made = list(instances(form, table().value_gates, Random(form.syntax), 12))
    for version, target in reversed(VERSION_TARGETS):
        modules = [harness_module([each.text], version, target) for each in made]
        # One by one: texturing modes must be the same in all modules of one process.
        if any(ptxkit_refusal(module) is None and newest.refusal(module, target) is None for module in modules):
            return True
    return False


@pytest.mark.parametrize("form", TOLERATED, ids=lambda form: f"{form.file}:{form.line}")
def test_a_tolerated_form_has_a_reason_and_is_accepted(form: Form) -> None:
    assert len(form.tolerated) > 15
    assert is_taken(form), form.syntax


def test_the_forms_of_the_manual_precede_those_that_are_tolerated() -> None:
    for name in table().names:
        order = [form.tolerated != "" for form in table().forms(name)]
        assert order == sorted(order), name


NOTATION = """
chapter "Test"
tolerance odd_order "in an odd order"
tolerance ignored_modifier "not seen"
ignored .blind
ignored .mute .dumb once
ignored .numb twice
ignored .tf32 .bf16 alongside on "frob.f32*"
ignored .deaf on "frob.one*" except "*.two*"
ignored .b1 last on "frob.b8*"
ignored .b1 .b4 later on "frob.b16*"
section "Test: frob"
summary "Does nothing."
  tolerate "no manual has it"
form frob.<t>.<u> d:.u32
  t = .one
  u = .two .three
section "Test: frob"
summary "Does nothing."
form frob.<t>{.<z>} d:.u32
  t = .one .b8 .b16
  z = .b32
section "Test: frob"
summary "Does nothing."
form frob.f32.<t>.<t>.f32.<z> d:.u32
  t = .f16
  z = .ue8m0
"""


@pytest.mark.parametrize(
    ("opcode", "tolerated"),
    [
        ("frob.one", ""),
        ("frob.one.two", "no manual has it"),
        ("frob.one.blind", "not seen"),
        ("frob.one.deaf", "not seen"),
        ("frob.one.blind.blind", "not seen"),
        ("frob.one.dumb", "not seen"),
        ("frob.one.numb.numb", "not seen"),
        ("frob.b8.b1.b1", "not seen"),
        ("frob.b16.b1.b32.b4", "not seen"),
        ("frob.f32.f16.f16.f32.bf16.ue8m0", "not seen"),
        ("frob.f32.f16.f16.tf32.bf16.f32.ue8m0.bf16", "not seen"),
        ("frob.f32.f16.f16.blind.tf32.f32.ue8m0", "not seen"),
    ],
)
def test_a_match_states_why_it_is_tolerated(opcode: str, tolerated: str) -> None:
    (match,) = InstructionTable(load_texts({"test.isa": NOTATION})).candidates(opcode)
    assert match.tolerated == tolerated


def test_a_construct_that_is_not_tolerated_has_no_match() -> None:
    known = InstructionTable(load_texts({"test.isa": NOTATION}))
    assert known.candidates("frob.two") == ()
    assert known.candidates("frob.one.blond") == ()
    assert known.candidates("frob.one.two.deaf") == ()
    assert known.candidates("frob.one.mute.blind.dumb") == ()
    assert known.candidates("frob.one.numb.numb.numb") == ()
    assert known.candidates("frob.b8.b1.b32") == ()
    assert known.candidates("frob.f32.f16.f16.bf16.f32.ue8m0") == ()
    assert known.candidates("frob.tf32.f32.f16.f16.tf32.f32.ue8m0") == ()
    assert known.candidates("frob.f32.f16.f16.b4x16_p64.tf32.f32.ue8m0") == ()
    assert known.candidates("frob.b1.b16") == ()


PULL = (
    "fabric.try_pullred.async.multimem.shared::cta.mbarrier::complete_tx::bytes.mbarrier::report::fabric.relaxed.sys{}.sync"
    " [shared_], [%b32_1, %b64_1], 16, [shared_], 0xffffffff;"
)
F16_MMA = (
    "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {{%b32_1, %b32_2}}, {{%b32_1, %b32_2, %b32_3, %b32_4}}, "
    "{{%b32_1, %b32_2}}, {};"
)

TAKEN = [
    ("the modifier has no effect", "not.b32.b2 %b32_1, %b32_2;", "add.u32.b2 %u32_1, %u32_2, %u32_3;"),
    ("the modifier has no effect", "abs.f32.texref %f32_1, %f32_2;", "mov.f32.texref %f32_1, %f32_2;"),
    ("the modifier has no effect", "not.b32.rank.finite %b32_1, %b32_2;", "not.b32.rank.box_dim %b32_1, %b32_2;"),
    ("the modifier has no effect", "bar.arrive.any 0, 32;", "bar.arrive.any.any 0, 32;"),
    (
        "the modifier has no effect",
        "cp.reduce.async.bulk.relaxed.gpu.pred.global.shared::cta.bulk_group.add.u32 [%b64_1], [%b64_2], %u32_1;",
        "cp.reduce.async.bulk.relaxed.gpu.b2.global.shared::cta.bulk_group.add.u32 [%b64_1], [%b64_2], %u32_1;",
    ),
    (
        "the modifier has no effect",
        "tcgen05.commit.cta_group::1.mbarrier::arrive::one.sync_restrict::shared::cta.b64 [%b64_1];",
        "tcgen05.commit.cta_group::1.mbarrier::arrive::one.sync_restrict::shared::read::mma::a"
        ".sync_restrict::shared::cta.b64 [%b64_1];",
    ),
    (
        "the response must be in a register of 128 bits",
        "clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %b32_1, {3, 3};",
        "clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %b32_1, {3, 3, 3};",
    ),
    (
        "the modifier has no effect",
        "stmatrix.sync.aligned.m8n8.x1.row.col.shared.b16 [shared_], {%b32_1};",
        "stmatrix.sync.aligned.m8n8.x1.row.col.row.shared.b16 [shared_], {%b32_1};",
    ),
    ("the modifier has no effect", "fence.acq_rel.gpu.async;", "fence.acq_rel.gpu.global;"),
    (
        "the modifier has no effect",
        "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.tf32.f32 "
        "{%f32_1, %f32_2, %f32_3, %f32_4}, {%b32_1, %b32_2}, {%b32_3}, {%f32_1, %f32_2, %f32_3, %f32_4};",
        "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32.tf32.f16 "
        "{%f32_1, %f32_2, %f32_3, %f32_4}, {%b32_1, %b32_2}, {%b32_3}, {%f32_1, %f32_2, %f32_3, %f32_4};",
    ),
    (
        "the modifier has no effect",
        "mma.sync.aligned.m16n8k8.row.col.f16.bf16.bf16.f16.bf16.f16.f16 {%b32_1, %b32_2}, {%b32_1, %b32_2}, {%b32_3}, "
        "{%b32_1, %b32_2};",
        "mma.sync.aligned.m16n8k8.row.col.f16.tf32.f16.f16.f16 {%b32_1, %b32_2}, {%b32_1, %b32_2}, {%b32_3}, "
        "{%b32_1, %b32_2};",
    ),
    (
        "the modifier has no effect",
        "mma.sync.aligned.m16n8k16.row.col.f32.e4m3.e5m2.bf16x2.f32 "
        "{%f32_1, %f32_2, %f32_3, %f32_4}, {%b32_1, %b32_2}, {%b32_3}, {%f32_1, %f32_2, %f32_3, %f32_4};",
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16x2.e4m3.e5m2.f32 "
        "{%f32_1, %f32_2, %f32_3, %f32_4}, {%b32_1, %b32_2}, {%b32_3}, {%f32_1, %f32_2, %f32_3, %f32_4};",
    ),
    (
        "the modifier has no effect",
        "cp.async.bulk.tensor.1d.global.shared::cta.bulk_group.mbarrier::report::disabled "
        "[%b64_1, {%s32_1}], [%b64_2];",
        "cp.async.bulk.tensor.1d.global.shared::cta.bulk_group.mbarrier::report::fabric [%b64_1, {%s32_1}], [%b64_2];",
    ),
    (
        "for another operand",
        "cp.async.bulk.tensor.1d.shared::cta.global.mbarrier::complete_tx::bytes.override::global_address "
        "[%b64_1], [%b64_2, %b16_1, {%s32_1}], [%b64_3];",
        "cp.async.bulk.tensor.1d.shared::cta.global.mbarrier::complete_tx::bytes.override::global_address "
        "[%b64_1], [%b64_2, %b32_1, {%s32_1}], [%b64_3];",
    ),
    (
        "for another operand",
        "cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes.override::global_address "
        "[%b64_1], [%b64_2, %b16_1, {%s32_1}], [%b64_3];",
        "cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes.override::global_address "
        "[%b64_1], [texture_, %b16_1, {%s32_1}], [%b64_3];",
    ),
    (
        "the response must be in a register of 128 bits",
        "clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {%b32_0, %b32_1, %b32_2, %b32_3}, "
        "{%b128_0, %b128_1, %b128_2, %b128_3};",
        "clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {%b32_0, %b32_1, %b32_2, %b32_3}, "
        "{%b128_0, %b128_1};",
    ),
    ("the modifier has no effect", "bar.sync.all 1;", "bar.arrive.all 1, 64;"),
    ("the modifier has no effect", "bar.arrive.any 1, 64;", "bar.cta.arrive.any 1, 64;"),
    (
        "the modifier has no effect",
        "movmatrix.sync.aligned.m8n8.trans.b16.u4 %b32_1, %b32_2;",
        "movmatrix.sync.aligned.m8n8.trans.b16.e3m2 %b32_1, %b32_2;",
    ),
    (
        "an integer constant as 64 bits",
        "spcompress.b16.b2.sp::2:4.x1 {%b32_1}, {%b32_2}, {%b32_3, %b32_4}, 0f3F800000;",
        "spcompress.b16.b2.sp::2:4.x1 {%b32_1}, {%b32_2}, {%b32_3, %b32_4}, 3;",
    ),
    ("the modifier has no effect", "elect.acc::f16.sync %b32_1|%pred_1, -1;", "elect.f16.sync %b32_1|%pred_1, -1;"),
    (
        "as for a compare and swap",
        "atom.exch.b32 %b32_1, [%b64_1], %b32_2, %b32_3;",
        "atom.add.u32 %u32_1, [%b64_1], 1, 2;",
    ),
    (
        "as for a compare and swap",
        "atom.xor.b64 %b64_1, [global_], %b64_2, 0d3FF0000000000000;",
        "atom.xor.b64 %b64_1, [global_], %b64_2, 3;",
    ),
    (
        "as for a compare and swap",
        "atom.and.b32 %b32_1, [global_], %b32_2, %f32_1;",
        "atom.and.b32 %b32_1, [global_], %b32_2, %b64_1+4;",
    ),
    ("an address is unsigned", "mapa.s64 %s64_1, %s64_2, 0;", "mapa.b64 %b64_1, %b64_2, 0;"),
    (
        "an address is unsigned",
        "getctarank.shared::cluster.s32 %u32_1, shared_;",
        "getctarank.shared::cluster.b32 %u32_1, shared_;",
    ),
    (
        "must have one direction",
        "fence.proxy.shared::cluster.tensormap::generic.acq_rel.sync_restrict::shared::cluster.gpu;",
        "fence.proxy.shared::cluster.tensormap::generic.acq_rel.gpu [%b64_1], 128;",
    ),
    (
        "accumulated in half precision",
        PULL.format(".add.acc::f32.e4m3"),
        PULL.format(".min.acc::f32.e4m3"),
    ),
    (
        "only the order of its parts",
        "tex.a1d.v4.s32.s32 %v4s32_1, [texture_, %b64_1], {%s32_1};",
        "tex.a1d.v4.s32.s32 %v4s32_1, [texture_, %b64_1], %s32_1;",
    ),
    (
        "assemblers do not check one in a register",
        "tex.2d.v4.s32.f32 %v4s32_1, [texture_, %b64_1, %f32_1], {%s32_1}, %f32_2;",
        "tex.2d.v4.s32.f32 %v4s32_1, [texture_, %b64_1, %f32_1], {%s32_1};",
    ),
    (
        "assemblers do not check one in a register",
        "tex.level.2d.v4.s32.f32 %v4s32_1, [texture_, %b64_1, %f32_1], {%f32_1, %f32_2}, {%s32_1};",
        "tex.level.2d.v4.s32.f32 %v4s32_1, [texture_, %b64_1, %f32_1], {%f32_1}, {%s32_1};",
    ),
    (
        "assemblers do not check one in a register",
        "tex.level.cube.v4.s32.f32 %v4s32_1, [texture_, %b64_1, {%s32_1}], %f32_1, {%s32_1}, %f32_2;",
        "tex.level.cube.v4.s32.f32 %v4s32_1, [texture_, %b64_1, {%s32_1}], %f32_1, {%s32_1};",
    ),
    (
        "assemblers do not check one in a register",
        "tex.1d.v4.s32.s32 %v4s32_1, [texture_, %b64_1, %s32_1], %b32_1;",
        "tex.1d.v4.s32.s32 %v4s32_1, [texture_, %b64_1, %s32_1], %s32_2;",
    ),
    (
        "assemblers do not check one in a register",
        "tex.grad.a2d.v4.s32.f32 %v4s32_1, [texture_, %b64_1, {%f32_1, %f32_2}], {%f32_1, %f32_2}, {%f32_1, %f32_2};",
        "tex.grad.a2d.v4.s32.f32 %v4s32_1, [texture_, %b64_1, {%f32_1}], {%f32_1, %f32_2}, {%f32_1, %f32_2};",
    ),
    (
        "a special register in a vector, or as a second result, cannot be written",
        "tex.1d.v4.f32.f32 {%f32_0, %f32_1, %tid.x, %f32_3}|%pred_6, [texture_, {%f32_2}];",
        "tex.1d.v4.f32.f32 {%f32_0, %f32_1, %f32_2, %f32_3}|%tid.x, [texture_, {%f32_2}];",
    ),
    (
        "a cube has four gradients",
        "tex.grad.acube.v4.s32.f32 %v4s32_1, [texture_, %f32_2], {%f32_1}, {%f32_1}, %s32_1;",
        "tex.grad.acube.v4.s32.f32 %v4s32_1, [texture_, %f32_2], {%f32_1}, {%f32_1}, {%s32_1};",
    ),
    (
        "and 32 bits or more",
        "st.async.weak.shared.mbarrier::complete_tx::bytes.u8 [shared_+16], %u8_7;",
        "st.async.weak.shared.mbarrier::complete_tx::bytes.u8 [shared_+16], %f32_7;",
    ),
    (
        "assemblers do not check one in a register",
        "tld4.r.cube.v4.s32.f32 %v4s32_1, [texture_, %b64_1, %f32_1], %s32_1, %f32_1;",
        "tld4.r.cube.v4.s32.f32 %v4s32_1, [texture_, %b64_1, %f32_1], %s32_1;",
    ),
    (
        "assemblers do not check one in a register",
        "tex.level.a2d.v4.s32.f32 %v4s32_1, [texture_, %b64_1, {%s32_1, %s32_2}], %f32_1;",
        "tex.level.a2d.v4.s32.f32 %v4s32_1, [texture_, %b64_1, {%s32_1, %s32_2}], %s32_1;",
    ),
    ("check the kind, not the width", "istypep.texref %pred_1, %clock64+4;", "istypep.texref %pred_1, %clock+4;"),
    (
        "do not check the types of registers that hold or describe a matrix",
        F16_MMA.format("{%u32_1, 3}"),
        F16_MMA.format("{%u32_1, %u32_2}"),
    ),
    ("as an operand of any type", "mov.f32 %f32_1, callee;", "mov.f32 %f32_1, global_;"),
    ("as an operand of any type", "add.f32 %f32_1, target+4, %f32_2;", "add.f32 %f32_1, target, %f32_2;"),
    ("as an operand of any type", "mad.wide.u32 %u64_1, %u32_1, %u32_2, callee;", "bar.sync callee;"),
    ("as an operand of any type", "mapa.u64 %u64_1, callee, 0;", "cvta.global.u64 %u64_1, callee;"),
    ("as an operand of any type", "div.rn.f64 %f64_1, callee, %f64_2;", "div.rz.f64 %f64_1, callee, %f64_2;"),
    ("as a predicate", "bar.red.and.pred %f16x2_1, 0, %pred_1;", "bar.red.and.pred %pred_1, 0, %f16x2_1;"),
    ("assemblers ignore a sink after the first operand", "add.u32 %u32_1|_, 1, 2;", "add.u32 _|_, 1, 2;"),
    ("assemblers ignore a sink after the first operand", "bra target|_;", "call callee|_;"),
    ("assemblers ignore a sink after the first operand", "bfe.u32 %u32_1|_, 1, 2, 3;", "bfe.u32 %u32_1|_, 1, 257, 3;"),
    (
        "as an address of any state space",
        "atom.shared.add.u32 %u32_1, [texture_+4], 1;",
        "ld.shared.u32 %u32_1, [texture_+4];",
    ),
    (
        "as an address of any state space",
        "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%b32_1}, [surface_];",
        "ldmatrix.sync.aligned.m8n8.x1.b16 {%b32_1}, [surface_];",
    ),
    (
        "as an address of any state space",
        "tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [texture_], 14;",
        "tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [texture_], 16;",
    ),
    (
        "as an operand of any type",
        "vmad.u32.u32.u32 callee, %u32_1, %u32_2, %u32_3;",
        "vmad.u32.u32.u32 3, %u32_1, %u32_2, %u32_3;",
    ),
    (
        "check the kind, not the width",
        "vmad.u32.u32.u32 %b64_1+4, %u32_1, %u32_2, %u32_3;",
        "vmad.u32.u32.u32 global_, %u32_1, %u32_2, %u32_3;",
    ),
    (
        "check the kind, not the width",
        "vadd.u32.u32.u32 %u32_1, %b64_1+4, %u32_2;",
        "vadd2.u32.u32.u32 %u32_1, %b64_1+4, %u32_2, %u32_3;",
    ),
    ("check the kind, not the width", "add.bf16 %b16_1, %b32_2+4, %b16_3;", "add.bf16 %b16_1, %f32_2+4, %b16_3;"),
    ("check the kind, not the width", "istypep.texref %pred_1, %b64_1+4;", "stackrestore.u64 %b64_1+4;"),
    (
        "use the first element of a vector",
        "mbarrier.arrive.b64 _, [%b64_1], {3, %b64_2};",
        "mbarrier.arrive.b64 _, [%b64_1], {%b64_2};",
    ),
    (
        "as an operand of any type",
        "multimem.red.async.release.gpu.add.u32 [%b64_1], callee+4;",
        "multimem.st.async.release.gpu.u32 [%b64_1], callee+4;",
    ),
    (
        "one value must be in one register",
        "suld.b.1d.b64.zero {%b16_1, %b16_2, %b16_3, %b16_4}, [surface_, {%s32_1}];",
        "suld.b.1d.b64.zero {%b16_1, %b16_2}, [surface_, {%s32_1}];",
    ),
    ("and 32 bits or more", "st.async.shared::cta.b8 [%b64_1], %b8_1;", "st.async.shared::cluster.b8 [%b64_1], %b8_1;"),
    (
        "four gradients in each direction",
        "tex.grad.cube.v4.f32.f32 %v4f32_1, [texture_, {%f32_3, %f32_4, %f32_5, %f32_6}], {%f32_1}, {%f32_1, %f32_2};",
        "tex.grad.cube.v4.f32.f32 %v4f32_1, [texture_, {%f32_3, %f32_4, %f32_5, %f32_6}], %f32_1, {%f32_1, %f32_2};",
    ),
    (
        "compare only adjacent elements",
        "tex.grad.2d.v4.f32.f32 %v4f32_1, [texture_, {%f32_1, %f32_2}], {1.5, %f64_1}, {%f32_1, %f32_2};",
        "tex.grad.2d.v4.f32.f32 %v4f32_1, [texture_, {%f32_1, %f32_2}], {3, %b64_1}, {%f32_1, %f32_2};",
    ),
    (
        "compare only adjacent elements",
        "st.global.v4.b32 [%b64_1], {%f32_1, %b32_1, %s32_1, %s32_2};",
        "st.global.v4.b32 [%b64_1], {%f32_1, %s32_1, %b32_1, %s32_2};",
    ),
    (
        "do not check widths",
        "st.global.v2.f32 [%b64_1], {1.5, %f64_1};",
        "st.global.v2.f32 [%b64_1], {%f32_1, %f64_1};",
    ),
    ("must not be in braces", "mov.b64 %b64_1, {1};", "mov.u64 %u64_1, {1};"),
    ("not four of .b32", "mov.b128 %b128_1, {1, 2, 3, 4};", "mov.b64 %b64_1, {%b32_1, %b32_2, %b32_3, %b32_4};"),
    (
        "number of arrivals",
        "mbarrier.arrive.b64 _, [%b64_1], {%b32_1, %b32_2};",
        "mbarrier.init.b64 [%b64_1], {%b32_1, %b32_2};",
    ),
    (
        "do not check the address",
        "fence.proxy.tensormap::generic.acquire.cta [%f32_1], 128;",
        "fence.proxy.tensormap::generic.acquire.cta %b64_1, 128;",
    ),
    ("is not an address", "red.global.add.u32 _, %u32_1;", "st.global.u32 _, %u32_1;"),
    (
        "must be in brackets",
        "cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%b64_1, {%s32_1}], %b64_2;",
        "cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%b64_1, {%s32_1}], global_;",
    ),
    (
        "do not check the register",
        "cp.async.bulk.prefetch.tensor.1d.L2.global [%f32_1, {%s32_1}];",
        "cp.async.bulk.prefetch.tensor.1d.L2.global [%v2b64_1, {%s32_1}];",
    ),
    (
        "one value must be in one register",
        "suld.b.1d.b32.trap {%b32_1, _}, [surface_, {%s32_1}];",
        "suld.b.1d.b32.trap {1}, [surface_, {%s32_1}];",
    ),
    (
        "in two or four registers",
        "sust.b.1d.v2.b32.trap [surface_, {%s32_1}], 1;",
        "sust.b.1d.v2.b32.trap [surface_, {%s32_1}], {1};",
    ),
    (
        "cannot be written",
        "ld.global.v2.b32 {%b32_1, %tid.x}, [%b64_1];",
        "ld.global.v2.b64 {%b64_1, %tid.x}, [%b64_1];",
    ),
    (
        "an mbarrier there that tracks it",
        "st.async.mbarrier::complete_tx::bytes.u32 [%b64_1], %u32_1;",
        "st.async.mbarrier::complete_tx::bytes.v2.u32 [%b64_1], {%u32_1, %u32_2};",
    ),
    (
        "an mbarrier must track",
        "red.async.relaxed.cluster.mbarrier::complete_tx::bytes.inc.u32 [%b64_1], %u32_1;",
        "red.async.relaxed.cluster.mbarrier::complete_tx::bytes.inc.u32 [%b64_1], {%u32_1};",
    ),
    (
        "one value must be in one register",
        "st.async.mbarrier::complete_tx::bytes.b32 [%b64_1], {1, 2}, [%b64_2];",
        "st.async.mbarrier::complete_tx::bytes.b32 [%b64_1], {%b32_1, 2}, [%b64_2];",
    ),
    (
        "must be in brackets",
        "fabric.try_get.async.shared::cta.mbarrier::complete_tx::bytes.mbarrier::report::fabric.relaxed.sys.b128 "
        "%f64_3, [%b32_57, %b64_148], %b32_175, [%b64_117];",
        "fabric.try_get.async.shared::cta.mbarrier::complete_tx::bytes.mbarrier::report::fabric.relaxed.sys.b128 "
        "%f32_3, [%b32_57, %b64_148], %b32_175, [%b64_117];",
    ),
    (
        "must be in brackets",
        "cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%b64_1, {%s32_1}], 1.0;",
        "cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%b64_1, {%s32_1}], 16;",
    ),
    (
        "must be in brackets",
        "cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%b64_1, {%s32_1}], !%pred_1;",
        "cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%b64_1, {%s32_1}], !%b32_1;",
    ),
    ("ignore selectors in braces", "mov.b64 %b64_1, {%b32_1.b0, %b32_2};", "mov.b32 %b32_1, {%b16_1.b0, %b16_2};"),
    ("do not check the variable", "mov.b64 %b64_1, outgoing+4;", "mov.b64 %b64_1, outgoing;"),
    (
        "as a register",
        "mov.b64 %b64_1, {result_, %b32_1};",
        "mov.b64 %b64_1, {global_, %b32_1};",
    ),
    ("ignore selectors in braces", "mov.b64 %b64_1, {%pred_1.b0, %b32_1};", "and.pred %pred_1, %pred_2.b0, %pred_3;"),
    (
        "second matrix",
        "mma.sync.aligned.m8n8k16.row.col.s32.u8.u8.s32 {%s32_1,%s32_2}, {%b32_1}, {%f32_2}, {%s32_3,%s32_4};",
        "mma.sync.aligned.m8n8k16.row.col.s32.u8.u8.s32 {%s32_1,%s32_2}, {%f32_1}, {%b32_2}, {%s32_3,%s32_4};",
    ),
    (
        "do not check the types",
        "mma.sp.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%s32_1, %s32_2, %s32_3, %s32_4}, {%b32_1, %b32_2}, "
        "{%b32_3, %b32_4}, {%s32_1, %s32_2, %s32_3, %s32_4}, {%b32_1, 3}, 0;",
        "mma.sp.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%s32_1, %s32_2, %s32_3, %s32_4}, {%b32_1, %b32_2}, "
        "{%b32_3, %b32_4}, {%s32_1, %s32_2, %s32_3, %s32_4}, {%b32_1, _}, 0;",
    ),
    ("check their number", "mov.v4.b16 %v4b16_1, %tid;", "mov.v4.b16 %v4b16_1, %v4b32_1;"),
    (
        "no sampler is allowed",
        "tex.1d.v4.f32.f32 %v4f32_1, [texture_, %b64_1, {%f32_1}];",
        "tex.1d.v4.f32.f32 %v4f32_1, [texture_, %b32_1, {%f32_1}];",
    ),
    (
        "no sampler is allowed",
        "tld4.r.2d.v4.f32.f32 %v4f32_1, [texture_, %b64_1, {%f32_1, %f32_2}];",
        "tld4.r.2d.v4.f32.f32 %v4f32_1, [texture_, %f64_1, {%f32_1, %f32_2}];",
    ),
    (
        "do not check the types",
        "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%pred_1, %pred_2}, [shared_];",
        "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {1, %b32_1}, [shared_];",
    ),
    ("a handle must be in a register", "istypep.texref %pred_1, 0;", "istypep.texref %pred_1, 1.5;"),
    (
        "a cube has no offset",
        "tex.cube.v4.f32.f32 %v4f32_1, [texture_, {%f32_1, %f32_2, %f32_3, %f32_4}], 1;",
        "tex.cube.v4.f32.f32 %v4f32_1, [texture_, {%f32_1, %f32_2, %f32_3, %f32_4}], {1, 2};",
    ),
    (
        "must be in braces",
        "tex.a1d.v4.f32.s32 %v4f32_1, [texture_, {%u32_1, %s32_1, %s32_2, %s32_3}];",
        "tex.a1d.v4.f32.s32 %v4f32_1, [texture_, {%u32_1}];",
    ),
    (
        "for a special register with several elements, assemblers check their number",
        "st.v4.f32 [%b64_1], %tid+4;",
        "st.v2.f32 [%b64_1], %tid+4;",
    ),
    (
        "as a second result, cannot be written",
        "setp.eq.u32 %pred_1|%is_explicit_cluster, %u32_1, %u32_2;",
        "setp.eq.u32 %is_explicit_cluster|%pred_1, %u32_1, %u32_2;",
    ),
    (
        "a special register in a vector",
        "ld.b32 {%laneid}, [%b64_1];",
        "ld.b32 {%tid}, [%b64_1];",
    ),
    (
        "in a register",
        "tld4.r.2d.v4.s32.f32 {%s32_1, %s32_2, %s32_3, %s32_4}, [%b64_1, texture_], 0f7FC00000;",
        "tld4.r.2d.v4.s32.f32 {%s32_1, %s32_2, %s32_3, %s32_4}, [%b64_1, texture_, 0f7FC00000];",
    ),
    (
        "do not check the types",
        "mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f32_1, %f32_2, %f32_3, %f32_4}, {%b32_1, %b32_2}, "
        "{%b32_1, %b32_2}, {%f32_1, %f32_2, %f32_3, %f32_4}, {%b32_1, %b32_2, %b32_3, %b32_4, %b32_5, %b32_6, %b32_7, "
        "%b32_8}, 0;",
        "mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f32_1, %f32_2, %f32_3, %f32_4}, {%b32_1, %b32_2}, "
        "{%b32_1, %b32_2}, {%f32_1, %f32_2, %f32_3, %f32_4}, {%b32_1, %b32_2, %b32_3}, 0;",
    ),
    (
        "accept other accumulators",
        "wmma.load.c.sync.aligned.row.m8n8k128.f32 {%f32_1, %f32_2}, [%b64_1];",
        "wmma.load.c.sync.aligned.row.m8n8k4.f32 {%f32_1, %f32_2}, [%b64_1];",
    ),
    (
        "accept other accumulators",
        "wmma.store.d.sync.aligned.row.m8n8k32.f16 [%b64_1], {%b32_1};",
        "wmma.store.d.sync.aligned.row.m8n8k32.f16 [%b64_1], {%b32_1, %b32_2};",
    ),
    (
        "if a matrix has that number of registers",
        "wmma.load.c.sync.aligned.row.m16n16k16.v4.f16 {%b32_1, %b32_2, %b32_3, %b32_4}, [%b64_1];",
        "wmma.load.c.sync.aligned.row.m16n16k16.v2.f16 {%b32_1, %b32_2, %b32_3, %b32_4}, [%b64_1];",
    ),
    (
        "if a matrix has that number of registers",
        "wmma.store.d.sync.aligned.row.m8n8k4.v2.f64 [%b64_1], {%f64_1, %f64_2};",
        "wmma.store.d.sync.aligned.row.m8n8k4.v2.f64 [%b64_1], %v2f64_1;",
    ),
    (
        "ignore it on this instruction",
        "red.release.pred.sys.global.add.u64 [%b64_1], %u64_1;",
        "red.async.release.pred.sys.global.add.u64 [%b64_1], %u64_1;",
    ),
    (
        "ignore it on this instruction",
        "ld.global.L1::32B.L2::evict_first.v8.f32 "
        "{%f32_1, %f32_2, %f32_3, %f32_4, %f32_5, %f32_6, %f32_7, %f32_8}, [%b64_1];",
        "ld.global.L1::32B.L2::64B.v8.f32 {%f32_1, %f32_2, %f32_3, %f32_4, %f32_5, %f32_6, %f32_7, %f32_8}, [%b64_1];",
    ),
    (
        "ignore it on this instruction",
        "multimem.cp.reduce.async.bulk.pred.global.shared::cta.bulk_group.add.u32 [%b64_1], [%b64_2], %u32_1;",
        "multimem.cp.async.bulk.pred.global.shared::cta.bulk_group [%b64_1], [%b64_2], %u32_1;",
    ),
    (
        "do not check widths after a constant",
        "cp.async.bulk.prefetch.tensor.4d.L2.global.im2col [%b64_1, {%s32_1, %s32_2, %s32_3, %s32_4}], {3, %b32_1};",
        "cp.async.bulk.prefetch.tensor.4d.L2.global.im2col [%b64_1, {%s32_1, %s32_2, %s32_3, %s32_4}], {%b32_1, 3};",
    ),
]

will_be_asked((text, *NEWEST) for _, *texts in TAKEN for text in texts)


@pytest.mark.parametrize(("why", "right", "wrong"), TAKEN, ids=[right for _, right, _ in TAKEN])
def test_a_construct_that_ptxas_accepts_is_a_warning_and_its_neighbor_an_error(
    why: str, right: str, wrong: str
) -> None:
    assert why in is_tolerated(right)
    agree(wrong, *NEWEST, accepted=False)


@pytest.mark.parametrize(
    ("geometry", "slopes"), [("acube", "{%f32_1}, {%f32_2}"), ("a2d", "{%f32_1, 1.0}, {%f32_2, 1.0}, 0.5")]
)
def test_coordinates_with_slopes_are_checked_strictly_where_they_are_computed_with(geometry: str, slopes: str) -> None:
    text = f"tex.grad.{geometry}.v4.f32.f32 %v4f32_1, [texture_, {{-3, %b64_1, %f32_1, %f32_2}}], {slopes};"
    assert "check them less strictly" in is_tolerated(text, (7, 5), "sm_86")
    agree(text, *NEWEST, accepted=False)


def test_an_offset_with_slopes_and_a_reference_value_may_be_untyped_where_nothing_is_computed() -> None:
    text = "tex.grad.a1d.v4.f32.f32 %v4f32_1, [texture_, %b64_1, {%f32_1}], {%f32_2}, {%f32_3}, %b32_1, %f32_4;"
    assert "do not check one in a register" in is_tolerated(text, (7, 5), "sm_86")
    agree(text, *NEWEST, accepted=False)


def test_a_tolerance_without_a_line_is_reported_with_its_file() -> None:
    known = InstructionTable(load_texts({"test.isa": NOTATION.replace('tolerance odd_order "in an odd order"\n', "")}))
    with pytest.raises(NotationError, match=r"tolerated\.isa.*tolerance odd_order"):
        known.tolerance("odd_order")


REFUSED = [
    ("suld.b.1d.b32.trap {%b16_1, %b16_2}, [%b64_1, {%s32_1}];", "suld.b.1d.b32.trap %b16_1, [%b64_1, {%s32_1}];"),
    (
        "fabric.try_atom.async.shared::cta.mbarrier::complete_tx::16B.mbarrier::report::fabric.relaxed.sys.and.b32 "
        "[%b32_1, %b64_1], [shared_], [%b64_2], [%u8_1];",
        "fabric.try_atom.async.shared::cta.mbarrier::complete_tx::16B.mbarrier::report::fabric.relaxed.sys.and.b32 "
        "[%b32_1, %b64_1], [shared_], [%u8_1], [%b64_2];",
    ),
    (
        "fabric.try_put.async.shared::cta.mbarrier::complete_tx::16B.mbarrier::report::fabric.cp_mask.relaxed.sys.b128 "
        "[%b32_1, %b64_1], [%b64_2], %b32_2, [%b64_3], 16;",
        "fabric.try_put.async.shared::cta.mbarrier::complete_tx::16B.mbarrier::report::fabric.cp_mask.relaxed.sys.b128 "
        "[%b32_1, %b64_1], [%b64_2], %b32_2, [%b64_3], shared_+4;",
    ),
    (
        "tex.a1d.v4.f32.s32 %v4f32_1, [texture_, {3, 3}];",
        "tex.a1d.v4.f32.f32 %v4f32_1, [texture_, {3, 3}];",
    ),
    (
        "tex.grad.2d.v4.f32.f32 %v4f32_1, [texture_, {%f32_1, %f32_2}], %v2f32_1, {%f32_3, %f32_4};",
        "tex.grad.2d.v4.f32.f32 %v4f32_1, [texture_, {%f32_1, %f32_2}], %v2s32_1, {%f32_3, %f32_4};",
    ),
    (
        "applypriority.async.bulk.tensor.2d.bulk_group.L2::evict_normal [local_, {%s32_1, %s32_2}];",
        "applypriority.async.bulk.tensor.2d.global.bulk_group.L2::evict_normal [local_, {%s32_1, %s32_2}];",
    ),
    (
        "tensormap.replace.tile.box_dim.b1024.b32 [global_], 3, callee;",
        "tensormap.replace.tile.box_dim.b1024.b32 [global_], 3, %f32_1;",
    ),
    ("cp.async.ca.shared.global [texture_], [%b64_1], 4;", "cp.async.ca.shared.global [texture_], [16], 4;"),
    (
        "tex.2d.v4.f32.f32 {%b32_1, %b32_2, %b32_3, %laneid}, [texture_, {%f32_1, %f32_2}];",
        "tex.2d.v2.f16x2.f32 {%b32_1, %laneid}, [texture_, {%f32_1, %f32_2}];",
    ),
    (
        "tex.2d.v4.f32.f32 %v4f32_1, [texture_, {%f32_1, %f32_2}], {3, %u8_1};",
        "tex.2d.v4.f32.f32 %v4f32_1, [texture_, {%f32_1, %f32_2}], {3, %v2u32_1.x};",
    ),
    (
        "tex.grad.2d.v4.f32.f32 %v4f32_1, [texture_, {%f32_1, %f32_2}], {%u32_1, %s32_1}, {%f32_1, %f32_2};",
        "tex.grad.2d.v4.f32.f32 %v4f32_1, [texture_, {%f32_1, %f32_2}], {%u32_1, %u32_2}, {%f32_1, %f32_2};",
    ),
    ("st.v2.u32 [%b64_1], {%f32_1, 1.5};", "st.v2.u32 [%b64_1], {%f32_1, 0f3F800000};"),
    (
        "tex.a1d.v4.f32.s32 %v4f32_1, [texture_, {3, %b16_1}];",
        "tex.a1d.v4.f32.s32 %v4f32_1, [texture_, {%u32_1, %b16_1}];",
    ),
    ("prefetch.global.L1 [%globaltimer];", "prefetchu.L1 [%globaltimer];"),
    ("ld.param::entry.u32 %u32_1, [%clock64];", "ld.param::func.u32 %u32_1, [%clock64];"),
    ("call %b64_1, prototype_callee;", "call %v2b64_1.x, prototype_callee;"),
    ("suld.b.1d.b16.clamp {%b16_1}, [%b64_1, %b32_1];", "suld.b.1d.b16.clamp {%b16_1}, [%b64_1, %v2b32_1.x];"),
    ("multimem.st.bf16x2 [%b64_1], {%b32_1};", "multimem.st.bf16x2 [%b64_1], {%s32_1};"),
    (
        "tex.3d.v4.s32.f32 %v4s32_1, [texture_, %v4f32_1], {%b32_1, %b32_2, %b32_3, %b32_4};",
        "tex.3d.v4.s32.f32 %v4s32_1, [texture_, %v4f32_1], %b32_1;",
    ),
    (
        "tex.a2dms.v4.s32.s32 %v4s32_1, [texture_, {%pred_1, %s32_1, %s32_2, 0}];",
        "tex.a2dms.v4.s32.s32 %v4s32_1, [texture_, {%s32_1, %pred_1, %pred_2, %pred_3}];",
    ),
    ("cvt.ftz.f64.f32 %f64_1, %b64_1;", "cvt.ftz.f64.f32 %f64_1, %b128_1;"),
    ("cvt.rn.ftz.f32.f64 %b64_1, %f64_1;", "cvt.rz.ftz.f32.f64 %b64_1, %f64_1;"),
    ("cvt.rna.tf32.f32 %b32_1, 0f3F800000;", "cvt.rna.tf32.f32 %b32_1, 1.5;"),
    ("st.bulk [%b64_1], %b32_1, 0;", "st.bulk [%b64_1], %v2b32_1.x, 0;"),
    ("add.u32 %u32_1, %laneid+4, %u32_2;", "add.u32 %u32_1, %is_explicit_cluster+4, %u32_2;"),
    ("and.pred %pred_1, %is_explicit_cluster+4, %pred_2;", "and.pred %pred_1, %laneid+4, %pred_2;"),
    ("cvt.rni.ftz.s64.f32 %s64_1, %b64_1;", "cvt.rni.ftz.s64.f32 %s64_1, %b128_1;"),
    ("mov.pred %pred_1, !%is_explicit_cluster;", "mov.pred %pred_1, !%laneid;"),
    ("and.pred %pred_1, !%pred_3, %pred_2;", "and.pred %pred_1, !%is_explicit_cluster, %pred_2;"),
    ("ld.global.b32 %b32_1, [%laneid];", "ld.global.b32 %b32_1, [%is_explicit_cluster];"),
    (
        "createpolicy.range.L2::evict_first.b64 %b64_1, [%b64_2], 2, 2;",
        "createpolicy.range.L2::evict_first.b64 %b64_1, [%b64_2], 3, 2;",
    ),
    (
        "createpolicy.fractional.L2::evict_last.L2::evict_unchanged.b64 %b64_1;",
        "createpolicy.fractional.L2::evict_unchanged.L2::evict_last.b64 %b64_1;",
    ),
    ("ld.global.u32 %u32_1, [%b64_1];", "ld.global.u32 %u32_1, [%v2b64_1];"),
    ("@%pred_1 ld.param.b32 %b32_1, [parameter];", "@%pred_1 st.param.b32 [outgoing], %b32_1;"),
    ("@%pred_1 st.param.b32 [returned], %b32_1;", "@%pred_1 ld.param.b32 %b32_1, [outgoing];"),
    (
        "red.global.add.noftz.v2.bf16 [%b64_1], {%b16_1, 2.0};",
        "red.global.add.noftz.v2.bf16 [%b64_1], {2.0, %b16_1};",
    ),
    (
        "ld.global.L2::cache_hint.b32 %b32_1, [%b64_1], %b64_2+4;",
        "ld.global.L2::cache_hint.b32 %b32_1, [%b64_1], global_+4;",
    ),
    ("stackrestore.u32 %u32_1;", "stackrestore.u32 callee;"),
    ("cvt.rn.f16.f32 %f16_1, callee;", "cvt.rn.f16x2.e5m2x2 %f16x2_1, callee;"),
    ("st.v2.b32 [%b64_1], {%laneid, 1};", "st.v2.b32 [%b64_1], {%tid.x, 1};"),
    ("tex.2d.v4.u32.s32 %v4u32_1, [texture_, %f16x2_1];", "sust.b.2d.b32.trap [surface_, %f16x2_1], %b32_1;"),
    ("st.global.v2.b64 [%b64_1], {%clock64, 1};", "st.global.v2.b32 [%b64_1], {%tid.x, 1};"),
    (
        "tex.grad.a1d.v4.f32.f32 %v4f32_1, [texture_, {%u32_1, %f32_1}], {%f32_2}, {%f32_3}, %f32_4;",
        "tex.grad.a1d.v4.f32.f32 %v4f32_1, [texture_, {%u32_1, %f32_1}], {%f32_2}, {%f32_3}, 4, %f32_4;",
    ),
    (
        "cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%b64_1, {%s32_1}], %is_explicit_cluster+4;",
        "cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%b64_1, {%s32_1}], %tid+4;",
    ),
    (
        "multimem.ld_reduce.relaxed.sys.global.add.acc::f16.e5m2x4 {%pred_1}, [%b64_1];",
        "multimem.ld_reduce.relaxed.sys.global.add.f16x2 {%pred_1}, [%b64_1];",
    ),
    (
        "tex.level.2d.v4.f32.f32 %v4f32_1, [%b64_1, %b64_2, {%f32_1, %f32_2}], callee, %f32_3;",
        "tex.level.2d.v2.f16x2.f32 {%f16x2_1, %f16x2_2}, [%b64_1, %b64_2, {%f32_1, %f32_2}], callee, %f32_3;",
    ),
    (
        "tex.level.2d.v2.f16x2.s32 {%f16x2_1, %f16x2_2}, [%b64_1, %b64_2, {%s32_1, %s32_2}], %b32_1, %b32_2;",
        "tex.level.2d.v2.f16x2.s32 {%f16x2_1, %f16x2_2}, [%b64_1, %b64_2, {%s32_1, %s32_2}], %s32_3, %b32_2;",
    ),
    (
        "tex.2d.v2.f16x2.s32 {%f16x2_1, %f16x2_2}, [%b64_1, %b64_2, %b32_1], %b32_2;",
        "tex.2d.v2.f16x2.s32 {%f16x2_1, %f16x2_2}, [%b64_1, %b64_2, %s32_1], %b32_2;",
    ),
    (
        "wmma.mma.sync.aligned.row.row.m8n8k4.f64.f64.f64.f64 {%f64_1, %f64_2}, {-1.5}, {%f64_3}, {%f64_4, %f64_5};",
        "wmma.mma.sync.aligned.row.row.m8n8k4.f64.f64.f64.f64 {%f64_1, %f64_2}, {1e400}, {%f64_3}, {%f64_4, %f64_5};",
    ),
    (
        "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes.ignore_oob "
        "[%b64_1], [%b64_2], 16, %u32_1, 3, [%b64_3];",
        "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes.ignore_oob "
        "[%b64_1], [%b64_2], 16, %f16x2_1, 3, [%b64_3];",
    ),
    (
        "wmma.store.d.sync.aligned.row.m8n8k32.bf16.shared.f16 [%b64_1], {%b32_1};",
        "wmma.store.d.sync.aligned.row.m8n8k32.tf32.shared.f16 [%b64_1], {%b32_1};",
    ),
    (
        "wmma.load.c.sync.aligned.row.m8n8k128.tf32.s32 {%s32_1, %s32_2}, [%b64_1];",
        "wmma.load.c.sync.aligned.row.m8n8k128.bf16.s32 {%s32_1, %s32_2}, [%b64_1];",
    ),
    (
        "wmma.store.d.sync.aligned.row.m8n8k32.tf32.b1.s32.b2.bf16 [%b64_1], {%s32_1, %s32_2};",
        "wmma.store.d.sync.aligned.row.m8n8k32.b1.tf32.s32 [%b64_1], {%s32_1, %s32_2};",
    ),
    (
        "movmatrix.sync.aligned.m8n8.trans.b16.b1.u4 %b32_1, %b32_2;",
        "movmatrix.sync.aligned.m8n8.trans.b8.u4 %b32_1, %b32_2;",
    ),
    (
        "cp.async.ca.shared.global.L1::32B [%b64_1], [%b64_2], 16;",
        "cp.async.ca.shared.global.L1::32B.L2::64B [%b64_1], [%b64_2], 16;",
    ),
    ("ld.global.L1::32B.b32 %b32_1, [%b64_1];", "ld.mmio.relaxed.sys.global.L1::32B.b32 %b32_1, [%b64_1];"),
    (
        "st.async.weak.mbarrier::complete_tx::bytes.u8 [shared_+16], %u8_7;",
        "st.async.weak.mbarrier::complete_tx::bytes.u8 [shared_+16], %f32_7;",
    ),
    ("mov.v4.b32 %v4b32_1, {%u32_1, _, 3, _};", "mov.v4.u32 %v4u32_1, {%u32_1, _, 3, _};"),
    ("mov.b32 %b32_1, {3, _};", "mov.b32 %b32_1, {_, 3};"),
    (
        "tex.level.2d.v2.f16x2.s32 {%f16x2_1, %f16x2_2}, [%b64_1, %b64_2, {%s32_1}], %b32_1;",
        "tex.level.2d.v2.f16x2.s32 {%f16x2_1, %f16x2_2}, [%b64_1, %b64_2, {%s32_1}], %s32_2;",
    ),
    (
        "mma.sp.sync.aligned.m16n8k16.v2.row.col.f16.f16.f16.f16 "
        "%v2b32_1, {%b32_1, %b32_2}, {%b32_3, %b32_4}, %v2b32_2, %b32_5, 0;",
        "mma.sp.sync.aligned.m16n8k16.v4.row.col.f16.f16.f16.f16 "
        "%v2b32_1, {%b32_1, %b32_2}, {%b32_3, %b32_4}, %v2b32_2, %b32_5, 0;",
    ),
    (
        "mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::ti16.f32.e4m3.e5m2.f32 "
        "{%f32_1, %f32_2, %f32_3, %f32_4}, {%b32_0, %b32_1, %b32_2, %b32_3}, {%b32_1, %b32_2, %b32_3, %b32_4}, "
        "{%f32_1, %f32_2, %f32_3, %f32_4}, %b32_5, 0;",
        "mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::i8.f32.e4m3.e5m2.f32 "
        "{%f32_1, %f32_2, %f32_3, %f32_4}, {%b32_0, %b32_1, %b32_2, %b32_3}, {%b32_1, %b32_2, %b32_3, %b32_4}, "
        "{%f32_1, %f32_2, %f32_3, %f32_4}, %b32_5, 0;",
    ),
    (
        "st.v4.u32 [%b64_1], {0f3F800000, 1.5, %f32_1, %f32_2};",
        "st.v4.b32 [%b64_1], {0f3F800000, 1.5, %f32_1, %f32_2};",
    ),
    ("cvt.rp.pzo.f16.f32 %f16_1, %f32_1;", "cvt.rp.relu.pzo.f16.f32 %f16_1, %f32_1;"),
    ("cvt.rm.ftz.pzo.bf16.f32 %b16_1, %f32_1;", "cvt.rm.ftz.pzo.f16.f32 %f16_1, %f32_1;"),
    ("st.v2.u64 [%b64_1], {%f64_1, 0f3F800000};", "st.v2.u64 [%b64_1], {%f64_1, %f64_2};"),
    (
        "cvt.rn.satfinite.ue5m3x2.bf16x2 %b16_1, %b32_1, %v2b16_1;",
        "cvt.rn.satfinite.ue5m3x2.bf16x2 %b16_1, %b32_1, %tid+4;",
    ),
    (
        "wmma.load.a.sync.aligned.row.m8n8k32.u4 {%b32_1}, [%b64_1];",
        "wmma.load.a.sync.aligned.row.m8n8k32.u4.b2 {%b32_1}, [%b64_1];",
    ),
]

will_be_asked((text, *NEWEST) for texts in REFUSED for text in texts)


@pytest.mark.parametrize(("right", "wrong"), REFUSED, ids=[wrong for _, wrong in REFUSED])
def test_an_instruction_that_an_assembler_expands_has_the_limits_of_its_parts(right: str, wrong: str) -> None:
    agree(right, *NEWEST, accepted=True)
    agree(wrong, *NEWEST, accepted=False)


def test_a_sampler_in_a_register_hides_a_slope_without_braces_before_sm_90() -> None:
    read = "tex.grad.2d.v4.u32.f32 %v4u32_1, [texture_, %b64_1, {{%f32_2, %f32_3}}], {{%f32_2, %f32_3}}, %f32_1{};"
    agree(read.format(", %s32_1, %f32_4"), (7, 5), "sm_86", accepted=True)
    agree(read.format(", %s32_1"), (7, 5), "sm_86", accepted=False)
    agree(read.format(""), (9, 5), "sm_100a", accepted=False)


def test_registers_in_braces_for_a_scale_may_have_any_type_of_their_width() -> None:
    product = (
        "mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.f32.e5m2.e3m2.f32.ue8m0 "
        "%v4f32_1, %v4b32_1, %v2b32_1, %v4f32_2, %b32_1, {{%b16_1, %b16_2}}, {}, {{%b16_1, %b16_2}};"
    )
    agree(product.format("{%f32_1, %f32_2}"), (9, 5), "sm_121a", accepted=True)
    agree(product.format("{%pred_1, %pred_2, %pred_3, %pred_4}"), (9, 5), "sm_121a", accepted=True)
    agree(product.format("{%f64_1}"), (9, 5), "sm_121a", accepted=False)


def test_a_vector_size_is_ignored_where_all_fragments_have_it() -> None:
    product = (
        "wgmma.mma_async.sync.aligned.{}.m64n16k16.f16.f16.f16 "
        "{{%b32_1, %b32_2, %b32_3, %b32_4}}, %b64_1, %b64_2, 1, 1, 1, 0, 0;"
    )
    agree(product.format("v4"), (9, 4), "sm_90a", accepted=True)
    agree(product.format("v2"), (9, 4), "sm_90a", accepted=False)


def test_modifiers_of_an_ignored_type_are_in_any_order() -> None:
    product = (
        "mma.sync.aligned.m8n8k16.row.satfinite.col.s32.s8.s8.s32 "
        "{{%s32_1, %s32_2}}, {{%b32_1}}, {{{}}}, {{%s32_3, %s32_4}};"
    )
    agree(product.format("%f16x2_3"), (8, 8), "sm_120f", accepted=True)
    agree(product.format("%b64_3"), (8, 8), "sm_120f", accepted=False)


def test_one_constant_in_braces_is_not_a_vector_of_constants() -> None:
    copy = "cp.async.bulk.prefetch.tensor.{}.L2.global.override::global_address.override::global_dim{} "
    one = copy.format("1d", "") + "[%b64_1, %b64_2, {}, {{0}}];"
    agree(one.format("{0}"), (9, 4), "sm_107a", accepted=True)
    agree(one.format("{%f32_1}"), (9, 4), "sm_107a", accepted=False)


def test_before_narrow_sizes_existed_a_location_after_a_variable_was_not_a_size() -> None:
    agree("st.bulk [%b64_1], shared_+8, 0;", (9, 0), "sm_120a", accepted=True)
    agree("st.bulk [%b64_1], shared_+8, 0;", (8, 7), "sm_120a", accepted=False)


def test_older_targets_do_not_compute_with_the_coordinates_of_arrays_with_slopes() -> None:
    text = "tex.grad.a1d.v4.f32.f32 %v4f32_1, [texture_, {}], {{%f32_2}}, {{%f32_3}}, %f32_4;"
    for coordinates in ("{%u32_1, %u32_2}", "%v2s32_1", "{%b32_1, 3}"):
        agree(text.format(coordinates), (9, 5), "sm_75", accepted=True)
        agree(text.format(coordinates), (9, 5), "sm_100a", accepted=False)
    agree(text.format("{3, 3}"), (9, 5), "sm_75", accepted=False)


def test_an_ignored_type_needs_a_target_that_has_it() -> None:
    store = "wmma.store.d.sync.aligned.row.m8n8k32.f16.bf16 [%b64_1], {%b32_1};"
    agree(store, (9, 5), "sm_100a", accepted=True)
    agree(store, (9, 5), "sm_75", accepted=False)
    agree(store.replace("bf16", "u2"), (7, 1), "sm_80", accepted=True)
    agree(store.replace("bf16", "u2"), (6, 4), "sm_75", accepted=False)


def test_before_sm_90_a_cube_with_slopes_may_have_a_sampler_in_a_register() -> None:
    read = "tex.grad.cube.v4.f32.f32 %v4f32_1, [%b64_1, texture_], {{%f32_1}}, {}, %f32_3;"
    agree(read.format("{%f32_2}"), (9, 5), "sm_75", accepted=True)
    agree(read.format("{%s32_2}"), (9, 5), "sm_75", accepted=False)
    agree(read.format("{%f32_2}"), (9, 5), "sm_100a", accepted=False)


def test_a_map_with_a_narrow_address_is_an_integer() -> None:
    copy = (
        "cp.async.bulk.tensor.1d.shared::cta.global.mbarrier::complete_tx::bytes.override::global_address "
        "[%b64_1], [{}, %b8_1, {{%s32_1}}], [%b64_2];"
    )
    agree(copy.format("%u64_1"), (9, 4), "sm_107a", accepted=True)
    agree(copy.format("%f64_1"), (9, 4), "sm_107a", accepted=False)


def test_an_operand_with_a_separate_type_may_be_a_sum_of_that_width() -> None:
    for place in ("%b16_1+4", "%tid+4"):
        agree(f"add.e5m2x4.e2m1x4 {{%b32_1}}, {place}, {{%b32_2}};", (9, 5), "sm_100a", accepted=place != "%tid+4")
        agree(f"add.e5m2x4.e2m1p4x4 %b32_1, {place}, %b32_2;", (9, 5), "sm_100a", accepted=place == "%tid+4")
