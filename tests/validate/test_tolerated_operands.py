"""Operands that assemblers accept for the fragments of matrices are warnings; those that they reject are errors."""

from __future__ import annotations

import pytest

from tests.isa.pairs import agree, is_taken, is_tolerated

D = "{%f32_0, %f32_1, %f32_2, %f32_3}"
A = "{%b32_0, %b32_1, %b32_2, %b32_3}"
B = "{%b32_4, %b32_5}"
S = "{%s32_0, %s32_1, %s32_2, %s32_3}"
HOPPER = ((9, 5), "sm_90a")
BLACKWELL = ((9, 5), "sm_120a")
TENSOR = ((9, 5), "sm_100a")

MMA = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
SPARSE = "mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32"
WGMMA = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16"
SCALED = "mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.f32.e4m3.e4m3.f32.ue8m0"
PLAIN = f"{MMA} {D}, {A}, {B}, {D};"


def test_registers_in_braces_are_the_notation_of_the_manual() -> None:
    is_taken(PLAIN, *HOPPER)


@pytest.mark.parametrize(
    "text",
    [
        f"{MMA} {D}, {A}, {B}, {{0f00000000, 0f00000000, 0f00000000, 0f00000000}};",
        f"{MMA} {D}, {A}, {B}, {{%f32_0, 0f3F800000, %f32_2, 1.5}};",
        f"{MMA} {D}, {{%b32_0, 0, %b32_2, %b32_3}}, {B}, {D};",
    ],
)
def test_constants_of_the_element_type_are_accepted_where_compilers_have_an_element(text: str) -> None:
    is_taken(text, *HOPPER)


@pytest.mark.parametrize(
    "text",
    [
        f"{MMA} {D}, {{%b32_0, 1, %b32_2, 1.5}}, {B}, {D};",
        f"{MMA} {{%f32_0, _, _, %f32_3}}, {A}, {B}, {D};",
        f"{MMA} {{%tid.x, %f32_1, %laneid, %f32_3}}, {A}, {B}, {D};",
        f"{MMA} %v4f32_1, %v4b32_1, %v2b32_1, %v4b32_2;",
        f"{SPARSE} {D}, {A}, {A}, {D}, %f32_9, 0;",
        f"{SPARSE} {D}, {A}, {A}, {D}, {{%b32_9}}, 0;",
        f"{SPARSE} {D}, {A}, {A}, {D}, %b32_9, 3;",
        f"mma.sp.sync.aligned.m16n8k64.row.col.s32.s8.s8.s32 {S}, %f32_9, {A}, {S}, %b32_9, 0;",
        "wmma.mma.sync.aligned.row.col.m8n8k4.f64.f64.f64.f64 {%f64_0, _}, {%f64_2}, {%f64_3}, {%f64_4, 1.5};",
        f"{WGMMA} {D}, {{%b32_0, 1, %b32_2, 0f3F800000}}, %b64_1, %pred_1, 1, 1, 0;",
        "movmatrix.sync.aligned.m8n8.trans.b16 %b32_0, %pred_1;",
        "wgmma.fence.sync;",
        "wgmma.wait_group.sync 7;",
        "wgmma.wait_group.sync.aligned 8;",
    ],
)
def test_other_operands_that_assemblers_accept_are_warnings(text: str) -> None:
    is_tolerated(text, *HOPPER)


@pytest.mark.parametrize(
    "text",
    [
        f"{MMA} {D}, {{%b32_0, _, %b32_2, %b32_3}}, {B}, {D};",
        f"{MMA} {D}, {{1, 1, 1, 1}}, {B}, {D};",
        f"{MMA} {D}, {A}, {B}, {{%f32_0, 1, %f32_2, %f32_3}};",
        f"{MMA} {{%f32_0, 1.5, %f32_2, %f32_3}}, {A}, {B}, {D};",
        f"{MMA} {D}, {A}, {{{{%b32_4, %b32_5}}}}, {D};",
        f"{MMA} {D}, %v4f32_1, {B}, {D};",
        f"{SPARSE} {D}, {A}, {A}, {D}, 1, 0;",
        f"{SPARSE} {D}, {A}, {A}, {D}, !%b32_9, 0;",
        f"{SPARSE} {D}, {A}, {A}, {D}, %b32_9, 4;",
        f"mma.sp.sync.aligned.m16n8k32.row.col.f16.f16.f16.f16 {B}, {A}, {A}, {B}, %b32_9, 3;",
        f"{WGMMA} {{%f32_0, _, %f32_2, %f32_3}}, {A}, %b64_1, %pred_1, 1, 1, 0;",
        f"{WGMMA} {D}, {A}, shared_+8, %pred_1, 1, 1, 0;",
        "wmma.load.f16.sync.aligned.col.m16n16k16.c {%b32_1, %b32_2, %b32_3, %b32_4}, [%b64_1];",
        "wmma.load.sync.c.aligned.col.m16n16k16.f16 {%b32_1, %b32_2, %b32_3, %b32_4}, [%b64_1];",
        "movmatrix.sync.aligned.m8n8.trans.b16 global_+4, %b32_1;",
        "wgmma.fence;",
        "wgmma.wait_group.sync.aligned -1;",
    ],
)
def test_operands_that_they_reject_are_errors(text: str) -> None:
    agree(text, *HOPPER, accepted=False)


def test_the_modifiers_of_a_load_are_in_any_order_after_the_matrix() -> None:
    is_tolerated("wmma.load.c.f16.aligned.col.sync.m16n16k16 {%b32_1, %b32_2, %b32_3, %b32_4}, [%b64_1];", *HOPPER)


def test_a_type_after_all_types_is_ignored_and_one_before_them_is_not() -> None:
    halves = f"{{%b32_0, %b32_1}}, {A}, {B}, {{%b32_2, %b32_3}};"
    is_tolerated(f"mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16.tf32 {halves}", *HOPPER)
    agree(f"mma.sync.aligned.m16n8k16.row.col.tf32.f16.f16.f16.f16 {halves}", *HOPPER, accepted=False)


def test_the_kind_of_narrow_floats_is_ignored_where_the_target_has_kinds() -> None:
    text = f"mma.sync.aligned.m16n8k32.row.col.kind::mxf4.f32.e5m2.e5m2.f32 {D}, {A}, {B}, {D};"
    is_tolerated(text, *BLACKWELL)
    agree(text, *HOPPER, accepted=False)


def test_constants_are_stored_to_tensor_memory_with_registers_or_as_single_elements() -> None:
    is_taken("tcgen05.st.sync.aligned.32x32b.x2.b32 [%b32_1], {1, %b32_2};", *TENSOR)
    is_tolerated("tcgen05.st.sync.aligned.32x32b.x1.b32 [%b32_1], {0f3F800000};", *TENSOR)
    agree("tcgen05.st.sync.aligned.32x32b.x1.b32 [%b32_1], {1};", *TENSOR, accepted=False)


def test_a_column_count_is_truncated_to_the_bits_it_needs() -> None:
    dealloc = "tcgen05.dealloc.exclusive.cta_group::1.sync.aligned.b32 %b32_1,"
    agree(f"{dealloc} 32;", (9, 4), "sm_107a", accepted=True)
    is_tolerated(f"{dealloc} -32;", (9, 4), "sm_107a")
    agree(f"{dealloc} 4294967296;", (9, 4), "sm_107a", accepted=False)


def test_a_location_in_tensor_memory_is_a_number() -> None:
    is_tolerated("tcgen05.shift.cta_group::1.down [%f16x2_1];", *TENSOR)
    agree("tcgen05.shift.cta_group::1.down [%u32_1];", *TENSOR, accepted=True)
    agree("tcgen05.shift.cta_group::1.down [%f32_1];", *TENSOR, accepted=False)


def test_integer_constants_only_are_not_a_vector_of_narrow_floats() -> None:
    agree("multimem.st.e4m3x4 [%b64_1], {4};", *TENSOR, accepted=False)
    agree("multimem.st.e4m3x4 [%b64_1], {%b32_1};", *TENSOR, accepted=True)


def test_a_function_name_is_accepted_as_the_coordinates_of_a_texture_and_not_of_a_surface() -> None:
    is_tolerated("tex.1d.v4.f32.s32 {%f32_0, %f32_1, %f32_2, %f32_3}, [texture_, callee];", *TENSOR)
    agree("suld.b.1d.b32.trap {%b32_1}, [surface_, callee];", *TENSOR, accepted=False)


def test_only_the_width_of_a_source_of_four_bit_floats_is_checked() -> None:
    is_tolerated("cvt.rn.satfinite.e2m1x2.bf16x2 %b8_1, 0f3F800000;", *TENSOR)
    agree("cvt.rn.satfinite.e2m1x2.bf16x2 %b8_1, callee;", *TENSOR, accepted=False)


def test_the_phase_of_a_wait_with_a_report_is_0_or_1_unless_a_value_precedes_the_barrier() -> None:
    wait = "mbarrier.test_wait.parity.phase_type::primary.b64 %pred_1|%pred_2,"
    agree(f"{wait} [%b64_1], 2;", *TENSOR, accepted=False)
    is_tolerated(f"{wait} %b8_1, [%b64_1], 2;", *TENSOR)


@pytest.mark.parametrize("scale", ["%b32_6", "{%b32_6}"])
def test_scales_may_be_in_braces_as_in_cutlass(scale: str) -> None:
    kind = "mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3"
    text = f"{kind} {D}, {A}, {B}, {D}, {scale}, {{%b16_0, %b16_1}}, {scale}, {{%b16_0, %b16_1}};"
    is_taken(text, *BLACKWELL)


def test_a_scale_in_braces_has_registers_of_one_width() -> None:
    for second, accepted in (("%f32_9", True), ("%clock64", False), ("%v2b32_1", False), ("global_", False)):
        text = f"{SCALED} {D}, {A}, {B}, {D}, {{%b32_8, {second}}}, {{0, 0}}, %b32_9, {{0, 0}};"
        agree(text, *BLACKWELL, accepted=accepted)


def test_the_byte_of_a_scale_is_an_integer_only_where_its_type_is_one() -> None:
    text = SCALED.replace("m16n8k32", "m16n8k64").replace("mxf8f6f4", "mxf4").replace("e4m3", "e2m1")
    for byte, accepted in (("2", True), ("1", False), ("1.5", True)):
        scales = f"%b32_8, {{{byte}, %b16_0}}, %b32_9, {{0, 0}}"
        agree(f"{text} {D}, {A}, {B}, {D}, {scales};", *BLACKWELL, accepted=accepted)
