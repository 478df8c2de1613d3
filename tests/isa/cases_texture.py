"""Textures and surfaces: geometries, coordinates, samplers, queries."""

from __future__ import annotations

from tests.isa.pairs import Gated, Pair

PAIRS = [
    Pair(
        "a line has one coordinate",
        "tex.1d.v4.f32.f32 {%f32_1, %f32_2, %f32_3, %f32_4}, [texture_, {%f32_5}];",
        "tex.2d.v4.f32.f32 {%f32_1, %f32_2, %f32_3, %f32_4}, [texture_, {%f32_5}];",
    ),
    Pair(
        "there are no three",
        "tex.3d.v4.f32.s32 {%f32_1, %f32_2, %f32_3, %f32_4}, [texture_, {%s32_1, %s32_2, %s32_3, %s32_4}];",
        "tex.3d.v4.f32.s32 {%f32_1, %f32_2, %f32_3, %f32_4}, [texture_, {%s32_1, %s32_2, %s32_3}];",
    ),
    Pair(
        "coordinates are signed",
        "tex.1d.v4.f32.s32 {%f32_1, %f32_2, %f32_3, %f32_4}, [texture_, {%s32_5}];",
        "tex.1d.v4.f32.u32 {%f32_1, %f32_2, %f32_3, %f32_4}, [texture_, {%u32_5}];",
    ),
    Pair(
        "an array begins with its index",
        "tex.a1d.v4.f32.f32 {%f32_1, %f32_2, %f32_3, %f32_4}, [texture_, {%u32_5, %f32_6}];",
        "tex.a1d.v4.f32.f32 {%f32_1, %f32_2, %f32_3, %f32_4}, [texture_, {%f32_5, %f32_6}];",
    ),
    Pair(
        "a cube is read with floats",
        "tex.cube.v4.f32.f32 {%f32_1, %f32_2, %f32_3, %f32_4}, [texture_, {%f32_5, %f32_6, %f32_7, %f32_8}];",
        "tex.cube.v4.f32.s32 {%f32_1, %f32_2, %f32_3, %f32_4}, [texture_, {%s32_5, %s32_6, %s32_7, %s32_8}];",
    ),
    Pair(
        "four values are returned",
        "tex.1d.v4.u32.f32 {%u32_1, %u32_2, %u32_3, %u32_4}, [texture_, %f32_5];",
        "tex.1d.v2.u32.f32 {%u32_1, %u32_2}, [texture_, %f32_5];",
    ),
    Pair(
        "or two of packed halves",
        "tex.1d.v2.f16x2.f32 {%b32_1, %b32_2}, [texture_, %f32_5];",
        "tex.1d.v4.f16x2.f32 {%b32_1, %b32_2, %b32_3, %b32_4}, [texture_, %f32_5];",
    ),
    Pair(
        "offsets go by the geometry",
        "tex.2d.v4.f32.f32 {%f32_1, %f32_2, %f32_3, %f32_4}, [texture_, {%f32_5, %f32_6}], {%s32_1, %s32_2};",
        "tex.2d.v4.f32.f32 {%f32_1, %f32_2, %f32_3, %f32_4}, [texture_, {%f32_5, %f32_6}], {%s32_1};",
    ),
    Pair(
        "depth is compared but in three dimensions",
        "tex.2d.v4.f32.f32 {%f32_1, %f32_2, %f32_3, %f32_4}, [texture_, {%f32_5, %f32_6}], {%s32_1, %s32_2}, 1.0;",
        "tex.3d.v4.f32.f32 {%f32_1, %f32_2, %f32_3, %f32_4}, [texture_, %v4f32_5], %v4s32_1, 1.0;",
    ),
    Pair(
        "a level is a coordinate more",
        "tex.level.1d.v4.f32.f32 {%f32_1, %f32_2, %f32_3, %f32_4}, [texture_, %f32_5], %f32_6;",
        "tex.level.1d.v4.f32.f32 {%f32_1, %f32_2, %f32_3, %f32_4}, [texture_, %f32_5], %s32_6;",
    ),
    Pair(
        "slopes are in pairs",
        "tex.grad.1d.v4.f32.f32 {%f32_1, %f32_2, %f32_3, %f32_4}, [texture_, %f32_5], {%f32_6}, {%f32_7};",
        "tex.grad.1d.v4.f32.f32 {%f32_1, %f32_2, %f32_3, %f32_4}, [texture_, %f32_5], {%f32_6};",
    ),
    Pair(
        "samples have no levels",
        "tex.2dms.v4.f32.s32 {%f32_1, %f32_2, %f32_3, %f32_4}, [texture_, {%s32_1, %s32_2, %s32_3, %s32_4}];",
        "tex.level.2dms.v4.f32.s32 {%f32_1, %f32_2, %f32_3, %f32_4}, [texture_, {%s32_1, %s32_2, %s32_3, %s32_4}], 0;",
    ),
    Pair(
        "a texture is read by its handle",
        "tex.1d.v4.f32.f32 {%f32_1, %f32_2, %f32_3, %f32_4}, [%u64_1, %f32_5];",
        "tex.1d.v4.f32.f32 {%f32_1, %f32_2, %f32_3, %f32_4}, [%u32_1, %f32_5];",
    ),
    Pair(
        "a surface is no texture",
        "tex.1d.v4.f32.f32 {%f32_1, %f32_2, %f32_3, %f32_4}, [texture_, %f32_5];",
        "tex.1d.v4.f32.f32 {%f32_1, %f32_2, %f32_3, %f32_4}, [surface_, %f32_5];",
    ),
    Pair("nor has it an offset", "txq.width.b32 %b32_1, [%b64_2];", "txq.width.b32 %b32_1, [%b64_2+8];"),
    Pair(
        "where samplers are independent, one is named",
        "tex.1d.v4.f32.f32 {%f32_1, %f32_2, %f32_3, %f32_4}, [texture_, sampler_, %f32_5];",
        "tex.1d.v4.f32.f32 {%f32_1, %f32_2, %f32_3, %f32_4}, [sampler_, sampler_, %f32_5];",
    ),
    Pair(
        "a sampler requires a separate mode",
        "txq.filter_mode.b32 %b32_1, [sampler_];",
        "txq.width.b32 %b32_1, [sampler_];",
    ),
    Pair(
        "a gather is of floats",
        "tld4.r.2d.v4.f32.f32 {%f32_1, %f32_2, %f32_3, %f32_4}, [texture_, {%f32_5, %f32_6}];",
        "tld4.r.2d.v4.f32.s32 {%f32_1, %f32_2, %f32_3, %f32_4}, [texture_, {%s32_5, %s32_6}];",
    ),
    Pair(
        "of one component",
        "tld4.a.2d.v4.f32.f32 {%f32_1, %f32_2, %f32_3, %f32_4}, [texture_, {%f32_5, %f32_6}];",
        "tld4.2d.v4.f32.f32 {%f32_1, %f32_2, %f32_3, %f32_4}, [texture_, {%f32_5, %f32_6}];",
    ),
    Pair(
        "a level has a size",
        "txq.level.width.b32 %b32_1, [texture_], 1;",
        "txq.level.array_size.b32 %b32_1, [texture_], 1;",
    ),
    Pair("a kind is queried of a register", "istypep.texref %pred_1, %u64_2;", "istypep.texref %pred_1, texture_;"),
    Pair(
        "a surface's border is dealt with",
        "suld.b.1d.b32.trap %b32_1, [surface_, %s32_2];",
        "suld.b.1d.b32 %b32_1, [surface_, %s32_2];",
    ),
    Pair(
        "128 bits are loaded at most",
        "suld.b.1d.v2.b64.zero {%b64_1, %b64_2}, [surface_, %s32_3];",
        "suld.b.1d.v4.b64.zero {%b64_1, %b64_2, %b64_3, %b64_4}, [surface_, %s32_5];",
    ),
    Pair(
        "a store has its own cache operations",
        "sust.b.2d.wb.b32.clamp [surface_, {%s32_1, %s32_2}], %b32_3;",
        "sust.b.2d.ca.b32.clamp [surface_, {%s32_1, %s32_2}], %b32_3;",
    ),
    Pair(
        "formats hold words",
        "sust.p.1d.b32.trap [surface_, %s32_1], %b32_2;",
        "sust.p.1d.b16.trap [surface_, %s32_1], %b16_2;",
    ),
    Pair(
        "sums are of integers",
        "sured.b.add.1d.u32.trap [surface_, %s32_1], %u32_2;",
        "sured.b.add.1d.b32.trap [surface_, %s32_1], %b32_2;",
    ),
    Pair(
        "a surface has a layout",
        "suq.memory_layout.b32 %b32_1, [surface_];",
        "suq.normalized_coords.b32 %b32_1, [surface_];",
    ),
]

GATED = [
    Gated(
        "tex.1d.v4.f32.f32 {%f32_1, %f32_2, %f32_3, %f32_4}|%pred_1, [texture_, %f32_5];",
        (7, 1),
        "sm_75",
        ((7, 0), "sm_75"),
    ),
    Gated("sured.b.min.1d.u64.trap [surface_, %s32_1], %u64_2;", (8, 1), "sm_75", ((8, 0), "sm_75")),
]

TOLERATED = [
    "txq.memory_layout.b32 %b32_1, [texture_];",
    "sust.p.a1d.b32.trap [surface_, {%s32_1, %s32_2}], %b32_3;",
    "tld4.r.a2d.v4.f32.f32 {%f32_1, %f32_2, %f32_3, %f32_4}, [texture_, {%u32_1, %b32_2, %b32_3, %b32_4}];",
]
