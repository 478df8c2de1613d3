"""Textures and surfaces in kernels, compared with values computed manually from the CUDA programming guide and the
manual."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ptxkit.emulator import InvalidLaunchError, Sampler, Surface, Texture, run

KERNEL = """.version 8.3
.target sm_80{mode}
.address_size 64
.visible .entry k({parameters}, .param .u64 x, .param .u64 out) {{
 .reg .b64 %d<10>; .reg .b32 %r<24>; .reg .f32 %f<16>; .reg .b16 %h<8>; .reg .pred %p<4>;
 ld.param.u64 %d1, [x]; ld.param.u64 %d2, [out];
 mov.u32 %r0, %tid.x; mul.wide.u32 %d3, %r0, 16; add.u64 %d1, %d1, %d3; add.u64 %d2, %d2, %d3;
 ld.global.v4.f32 {{%f0, %f1, %f2, %f3}}, [%d1];
 mov.b32 %r4, %f0; mov.b32 %r5, %f1; mov.b32 %r6, %f2; mov.b32 %r7, %f3;
 mov.b32 %r8, 0; mov.b32 %r9, 0; mov.b32 %r10, 0; mov.b32 %r11, 0;
 {body}
 st.global.v4.b32 [%d2], {{%r8, %r9, %r10, %r11}};
 ret;
}}
"""
HANDLE = "ld.param.u64 %d0, [t];"


def outcome(body: str, image: Any, coordinates: Any, *more: Any, mode: str = "", parameters: str = "") -> Any:
    """coordinates: (threads, up to 4), f32 or s32."""
    given = np.zeros((len(coordinates), 4), np.uint32)
    given[:, : coordinates.shape[1]] = np.ascontiguousarray(coordinates).view(np.uint32)
    text = KERNEL.format(body=body, mode=mode, parameters=parameters or ".param .u64 t")
    arguments = [image, *more, given, np.zeros_like(given)]
    return run(text, "k", block=len(given), arguments=arguments)


def result(body: str, image: Any, coordinates: Any, *more: Any, **words: str) -> Any:
    found = outcome(HANDLE + body, image, coordinates, *more, **words)
    assert not found.unsupported_reason, found.unsupported_reason
    assert not found.findings, found.findings
    return found.outputs[len(more) + 2]


def sample_image(image: Texture, coordinates: Any, geometry: str = "1d", more: str = "") -> Any:
    names = {1: "{%f0}", 2: "{%f0, %f1}"}.get(int(geometry[0]) if geometry[0].isdigit() else 0, "{%f0, %f1, %f2, %f3}")
    body = f"tex.{geometry}.v4.f32.f32 {{%r8, %r9, %r10, %r11}}, [%d0, {names}]{more};"
    return result(body, image, np.asarray(coordinates, np.float32)).view(np.float32)


ROW = np.array([10, 20, 30, 40], np.float32)


def column(*values: float) -> Any:
    return np.array(values, np.float32)[:, None]


def test_a_point_sample_is_the_element_at_the_coordinate() -> None:
    found = sample_image(Texture(ROW), column(0.0, 0.99, 1.0, 3.5, -1.0, 7.0))
    assert found[:, 0].tolist() == [10, 10, 20, 40, 10, 40]
    assert found[:, 1:].tolist() == [[0, 0, 1]] * 6


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("wrap", [10, 30, 10, 40, 20]),  # 0, 0.5, 1.0, -0.25, 5.25
        ("mirror", [10, 30, 40, 20, 40]),  # 1.0 remains, -0.25 becomes 0.25, and 5.25 one less a quarter
        ("clamp", [10, 30, 40, 10, 40]),
        ("border", [10, 30, 0, 0, 0]),
    ],
)
def test_coordinates_outside_wrap_are_mirrored_are_clamped_or_return_the_border(mode: str, expected: list[int]) -> None:
    sampler = Sampler(address=(mode,), normalized=True)
    points = column(0.0, 0.5, 1.0, -0.25, 5.25)
    found = sample_image(Texture(ROW, sampler=sampler), points)[:, 0].tolist()
    assert found == expected


def test_without_normalized_coordinates_nothing_wraps() -> None:
    found = sample_image(Texture(ROW, sampler=Sampler(address=("wrap",))), column(-1.0, 5.0))
    assert found[:, 0].tolist() == [10, 40]


def test_the_linear_filter_weighs_two_neighbors_with_eight_bits() -> None:
    linear = Texture(ROW, sampler=Sampler("linear"))
    found = sample_image(linear, column(0.5, 1.0, 1.25, 2.0 + 1 / 1024, 0.0, 4.0))
    # x - 0.5 = 1.5 + 1/1024: the weight 0.5 + 0.25/256 is 0.5 with eight bits
    assert found[:, 0].tolist() == [10, 15, 17.5, 25, 10, 40]


def test_the_linear_filter_wraps_to_the_other_end_and_includes_the_border() -> None:
    wrapped = Texture(ROW, sampler=Sampler("linear", ("wrap",), normalized=True))
    assert sample_image(wrapped, column(0.0, 1.0))[:, 0].tolist() == [25, 25]
    bordered = Texture(ROW, sampler=Sampler("linear", ("border",)))
    assert sample_image(bordered, column(0.0, 4.0, 4.5))[:, 0].tolist() == [5, 20, 0]


def test_a_border_above_the_single_row_of_one_dimension_takes_half() -> None:
    # ptxas reads `tex.1d` as a plane of one row, at 0: between the row and the texels before it
    alone, both = (Texture(ROW, sampler=Sampler("linear", modes)) for modes in (("border",), ("border", "border")))
    points = column(0.0, 1.0, 2.25, 4.5)
    assert sample_image(alone, points)[:, 0].tolist() == [5, 15, 27.5, 0]
    assert sample_image(both, points)[:, 0].tolist() == [2.5, 7.5, 13.75, 0]
    nearest = Texture(ROW, sampler=Sampler("point", ("border", "border")))
    assert sample_image(nearest, points)[:, 0].tolist() == [10, 20, 30, 0]
    layers = Texture(np.stack([ROW, ROW]), layered=True, sampler=Sampler("linear", ("border", "border")))
    body = "tex.a1d.v4.f32.f32 {%r8, %r9, %r10, %r11}, [%d0, {%r5, %f0}];"
    assert result(body, layers, points).view(np.float32)[:, 0].tolist() == [5, 15, 27.5, 0]


def test_two_and_three_dimensions_are_filtered_along_each() -> None:
    cube = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    found = sample_image(Texture(cube[0].copy(), sampler=Sampler("linear")), [[1.0, 1.0], [2.25, 1.5]], "2d")
    assert found[:, 0].tolist() == [2.5, 5.75]
    found = sample_image(Texture(cube, sampler=Sampler("linear")), [[1.0, 1.0, 1.0, 0], [1.5, 1.5, 0.5, 9]], "3d")
    assert found[:, 0].tolist() == [8.5, 5.0]


def test_channels_are_scaled_to_integers() -> None:
    pixels = np.array([[[0, 255, 51, 102]], [[1, 2, 3, 4]]], np.uint8)
    found = sample_image(Texture(pixels, channels=4, scaled=True), [[0.0, 0.0]], "2d")
    np.testing.assert_array_equal(found[0], np.array([0, 1, 0.2, 0.4], np.float32))
    signed = np.array([-128, -127, 127], np.int8)
    assert sample_image(Texture(signed, scaled=True), column(0.0, 1.0, 2.0))[:, 0].tolist() == [-1, -1, 1]


def test_integers_are_unchanged_and_count_elements() -> None:
    words = np.array([-5, 7, 9], np.int16)
    body = "tex.1d.v4.s32.s32 {%r8, %r9, %r10, %r11}, [%d0, {%r4}];"
    found = result(body, Texture(words), np.array([[0], [2], [8], [-3]], np.int32)).view(np.int32)
    assert found[:, 0].tolist() == [-5, 9, 9, -5]
    assert found[0].tolist() == [-5, 0, 0, 1]


def test_halves_are_returned_one_by_one_or_in_pairs() -> None:
    numbers = np.array([[1.5, -2, 3, 0.25]], np.float16)
    body = "tex.1d.v4.f16.f32 {%h0, %h1, %h2, %h3}, [%d0, {%f0}]; mov.b32 %r8, {%h0, %h1}; mov.b32 %r9, {%h2, %h3};"
    one = result(body, Texture(numbers, channels=4), column(0.0))
    pairs = result("tex.1d.v2.f16x2.f32 {%r8, %r9}, [%d0, {%f0}];", Texture(numbers, channels=4), column(0.0))
    assert one[0, :2].view(np.float16).tolist() == numbers[0].tolist()
    assert (one == pairs).all()


def test_offsets_count_elements_and_the_predicate_holds() -> None:
    body = "tex.1d.v4.f32.f32 {%r8, %r9, %r10, %r11}|%p0, [%d0, {%f0}], {-1}; selp.b32 %r9, 1, 0, %p0;"
    found = result(body, Texture(ROW), column(2.0, 0.0))
    assert found[:, 0].view(np.float32).tolist() == [20, 10]
    assert found[:, 1].tolist() == [1, 1]


def test_a_layer_is_selected_first() -> None:
    layers = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    points = np.array([[0, 1.0, 2.0, 0], [0, 3.0, 0.0, 0], [0, 0, 0, 0]], np.float32)
    points.view(np.uint32)[:, 0] = [1, 0, 9]
    body = "tex.a2d.v4.f32.f32 {%r8, %r9, %r10, %r11}, [%d0, {%r4, %f1, %f2, %f3}];"
    found = result(body, Texture(layers, layered=True), points).view(np.float32)
    assert found[:, 0].tolist() == [21, 3, 12]


@pytest.mark.parametrize("axis", range(3))
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_direction_selects_a_face_of_a_cube(axis: int, sign: float) -> None:
    faces = (np.arange(6)[:, None, None] * 100 + np.arange(4).reshape(1, 2, 2)).astype(np.float32)
    direction = np.full((1, 4), 0.5, np.float32)
    direction[0, axis] = sign
    found = sample_image(Texture(faces, layered=True, cube=True), direction, "cube")[0, 0]
    # Of the two other coordinates, with the signs of the guide's table, a positive one is the upper half.
    across, down = {
        (0, 1.0): (-1, -1),
        (0, -1.0): (1, -1),
        (1, 1.0): (1, 1),
        (1, -1.0): (1, -1),
        (2, 1.0): (1, -1),
        (2, -1.0): (-1, -1),
    }[axis, sign]
    assert found == (2 * axis + (sign < 0)) * 100 + (down > 0) * 2 + (across > 0)


def test_the_four_elements_of_a_filter_are_in_counterclockwise_order_from_the_lower_left() -> None:
    image = np.arange(12, dtype=np.float32).reshape(3, 4)
    body = "tld4.r.2d.v4.f32.f32 {%r8, %r9, %r10, %r11}, [%d0, {%f0, %f1}];"
    found = result(body, Texture(image), np.array([[2.0, 1.0]], np.float32)).view(np.float32)
    assert found[0].tolist() == [5, 6, 2, 1]


def test_a_separate_sampler_and_a_texture_parameter_are_supported() -> None:
    texture = Texture(ROW, sampler=Sampler(normalized=True))
    body = "tex.1d.v4.f32.f32 {%r8, %r9, %r10, %r11}, [t, s, {%f0}];"
    words = {"mode": ", texmode_independent", "parameters": ".param .texref t, .param .samplerref s"}
    found = outcome(body, texture, column(1.0, 1.5), Sampler("linear"), **words)
    assert not found.unsupported_reason, found.unsupported_reason
    assert not found.findings
    assert found.outputs[3][:, 0].view(np.float32).tolist() == [15, 20]


def test_textures_are_queried() -> None:
    sampler = Sampler("linear", ("wrap", "border", "mirror"), normalized=True)
    image = Texture(np.zeros((5, 6, 7, 4), np.float16), channels=4, sampler=sampler)
    asked = {
        "width": 7,
        "height": 6,
        "depth": 5,
        "normalized_coords": 1,
        "filter_mode": 1,
        "addr_mode_0": 0,
        "addr_mode_1": 4,
        "addr_mode_2": 1,
        "channel_data_type": 0x10DD,
        "channel_order": 0x10B5,
        "array_size": 0,
        "num_mipmap_levels": 0,
    }
    for query, expected in asked.items():
        assert result(f"txq.{query}.b32 %r8, [%d0];", image, column(0.0))[0, 0] == expected, query
    layers = Texture(np.zeros((12, 4, 4), np.uint8), layered=True, cube=True, scaled=True)
    assert result("txq.array_size.b32 %r8, [%d0];", layers, column(0.0))[0, 0] == 2
    assert result("txq.channel_data_type.b32 %r8, [%d0];", layers, column(0.0))[0, 0] == 0x10D2


def test_a_handle_is_checked_for_its_kind() -> None:
    body = "istypep.texref %p0, %d0; istypep.surfref %p1, %d0; istypep.samplerref %p2, %d1; selp.b32 %r8, 1, 0, %p0; "
    body += "selp.b32 %r9, 1, 0, %p1; selp.b32 %r10, 1, 0, %p2;"
    assert result(body, Texture(ROW), column(0.0))[0, :3].tolist() == [1, 0, 0]
    assert result(body, Surface(ROW), column(0.0))[0, :3].tolist() == [0, 1, 0]


def test_an_invalid_handle_is_found() -> None:
    wrong = outcome("tex.1d.v4.f32.f32 {%r8, %r9, %r10, %r11}, [%d2, {%f0}];", Texture(ROW), column(0.0))
    assert [each.code for each in wrong.findings] == ["PTX206"]
    flat = outcome(HANDLE + "tex.2d.v4.f32.f32 {%r8, %r9, %r10, %r11}, [%d0, {%f0, %f1}];", Texture(ROW), column(0.0))
    assert [each.code for each in flat.findings] == ["PTX206"]


@pytest.mark.parametrize(
    "image",
    [
        Texture(np.zeros(4)),
        Texture(np.zeros((4, 3), np.float32), channels=3),
        Texture(np.zeros(4, np.int32), sampler=Sampler("linear")),
        Texture(np.zeros(4, np.float32), scaled=True),
        Texture(np.zeros((5, 4, 4), np.float32), layered=True, cube=True),
        Texture(np.zeros(4, np.float32), sampler=Sampler("cubic")),
    ],
)
def test_impossible_images_are_rejected_with_a_reason(image: Texture) -> None:
    with pytest.raises(InvalidLaunchError, match="t: "):
        outcome("", image, column(0.0))


# ----------------------------------------------------------------------------------------------------- surfaces


def points(*rows: tuple[int, ...]) -> Any:
    return np.array(rows, np.int32)


def test_a_surface_is_read_and_written_by_bytes_along_a_row() -> None:
    image = np.arange(12, dtype=np.uint32).reshape(3, 4)
    read = result("suld.b.2d.v2.b32.trap {%r8, %r9}, [%d0, {%r4, %r5}];", Surface(image), points((0, 1), (8, 2)))
    assert read[:, :2].tolist() == [[4, 5], [10, 11]]
    body = HANDLE + "sust.b.2d.b32.trap [%d0, {%r4, %r5}], %r6;"
    written = outcome(body, Surface(image), points((4, 0, 77), (12, 2, 88))).outputs[0]
    image[0, 1], image[2, 3] = 77, 88
    assert (written == image).all()


def test_an_access_outside_of_a_surface_traps_or_clamps_or_does_nothing() -> None:
    image = np.arange(8, dtype=np.uint16)
    trapped = outcome(HANDLE + "suld.b.1d.b16.trap %h0, [%d0, {%r4}];", Surface(image), points((16,)))
    assert [each.code for each in trapped.findings] == ["PTX207"]
    for clamp, expected in (("clamp", [7, 0, 3]), ("zero", [0, 0, 3])):
        body = f"suld.b.1d.b16.{clamp} %h0, [%d0, {{%r4}}]; cvt.u32.u16 %r8, %h0;"
        assert result(body, Surface(image), points((16,), (-2,), (6,)))[:, 0].tolist() == expected
    body = HANDLE + "sust.b.1d.b16.zero [%d0, {%r4}], %h0;"
    assert (outcome(body, Surface(image), points((16,), (-2,))).outputs[0] == image).all()


def test_formatted_stores_convert_to_the_channels() -> None:
    image = np.zeros((2, 4, 2), np.int8)
    body = HANDLE + "sust.p.2d.v4.b32.trap [%d0, {%r4, %r5}], {%r6, %r7, %r8, %r8};"
    found = outcome(body, Surface(image, channels=2), points((1, 0, 300, -5), (3, 1, -300, 127)))
    assert not found.findings
    image[0, 1], image[1, 3] = (127, -5), (-128, 127)
    assert (found.outputs[0] == image).all()
    halves = np.zeros(2, np.float16)
    given = np.array([[1, 0, 0.3]], np.float32)
    given.view(np.int32)[0, :2] = 1, 0
    found = outcome(HANDLE + "sust.p.1d.b32.trap [%d0, {%r4}], %r6;", Surface(halves), given)
    nearest, cut_off = 0x34CD, 0x34CC
    assert np.float16(0.3).view(np.uint16) == nearest
    assert found.outputs[0].view(np.uint16).tolist() == [0, cut_off]


def test_reductions_update_elements_atomically() -> None:
    image = np.array([5, 50, 500], np.uint32)
    body = HANDLE + "sured.b.add.1d.u32.trap [%d0, {%r4}], %r5;"
    found = outcome(body, Surface(image), points((4, 1), (4, 2), (4, 3), (8, 9)))
    assert not found.findings
    assert found.outputs[0].tolist() == [5, 56, 509]
    body = HANDLE + "sured.p.min.1d.b32.trap [%d0, {%r4}], %r5;"
    found = outcome(body, Surface(image.view(np.int32)), points((2, -1), (0, 9)))
    assert found.outputs[0].tolist() == [5, 50, -1]


def test_layers_of_surfaces_and_queries_are_supported() -> None:
    image = np.arange(24, dtype=np.uint8).reshape(2, 3, 4)
    body = "suld.b.a2d.b8.trap %h0, [%d0, {%r4, %r5, %r6, %r7}]; cvt.u32.u16 %r8, %h0;"
    assert result(body, Surface(image, layered=True), points((1, 2, 1, 0), (0, 3, 2, 0)))[:, 0].tolist() == [18, 11]
    for query, expected in (("width", 4), ("height", 3), ("array_size", 2), ("memory_layout", 0)):
        found = result(f"suq.{query}.b32 %r8, [%d0];", Surface(image, layered=True), points((0,)))
        assert found[0, 0] == expected, query


def test_two_threads_that_write_one_element_race() -> None:
    body = HANDLE + "sust.b.1d.b32.trap [%d0, {%r4}], %r5;"
    found = outcome(body, Surface(np.zeros(4, np.uint32)), points((4, 1), (4, 2)))
    assert [each.code for each in found.findings] == ["PTX621"]
