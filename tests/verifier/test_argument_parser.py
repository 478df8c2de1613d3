"""Arguments as the command line passes them."""

from __future__ import annotations

from pathlib import Path

import numpy
import pytest

from ptxkit.emulator import Sampler, Surface, TensorMapArgument, Texture
from ptxkit.verifier import ArgumentSpecError, parse_argument
from ptxkit.verifier.argument_parser import TYPES

CHANCE = numpy.random.default_rng(1)


@pytest.mark.parametrize(
    ("text", "value"), [("n=37", 37), ("n=0x20", 32), ("n=-1", -1), ("a=0.5", 0.5), ("a=1e-3", 1e-3)]
)
def test_a_number_is_passed_unchanged(text: str, value: float) -> None:
    name, given = parse_argument(text)
    assert name == text.split("=", maxsplit=1)[0]
    assert given.make_value(CHANCE) == value


def test_an_array_has_the_requested_type_shape_and_contents() -> None:
    _, given = parse_argument("x=f32[4, 3]:iota")
    made = given.make_value(CHANCE)
    assert made.dtype == numpy.float32
    assert made.tolist() == [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10, 11]]


def test_an_array_is_zero_by_default() -> None:
    assert parse_argument("y=u16[5]")[1].make_value(CHANCE).tolist() == [0] * 5


@pytest.mark.parametrize("type_", TYPES)
def test_every_type_can_be_random_and_two_arrays_differ(type_: str) -> None:
    _, given = parse_argument(f"x={type_}[64]:random")
    first, second = given.make_value(CHANCE), given.make_value(CHANCE)
    assert first.dtype == numpy.dtype(TYPES[type_])
    assert (first != second).any()


def test_random_bfloat16_values_are_between_minus_one_and_one() -> None:
    bits = parse_argument("x=bf16[256]:random")[1].make_value(CHANCE)
    values = (bits.astype(numpy.uint32) << 16).view(numpy.float32)
    assert numpy.abs(values).max() <= 1
    assert (values < 0).any()
    assert (values > 0.25).any()


def test_a_file_of_numpy_is_read_and_not_changed(tmp_path: Path) -> None:
    path = tmp_path / "t.npy"
    numpy.save(path, numpy.arange(6, dtype=numpy.int64))
    _, given = parse_argument(f"t={path}")
    given.make_value(CHANCE)[:] = 0
    assert given.make_value(CHANCE).tolist() == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    ("text", "expected_message"),
    [
        ("n", "NAME=VALUE"),
        ("=3", "NAME=VALUE"),
        ("n=three", "is not a number"),
        ("x=f33[4]", "no type `f33`"),
        ("x=f32[4]:noise", "random, zeros, ones, iota"),
        ("x=missing.npy", "cannot be read"),
        ("x=f32[4,,4]", "`[4,,4\\]` is not a shape"),
        ("x=f32[99999999999999]", "would have 399,999,999,999,996 bytes; an argument has at most"),
        ("x=99999999999*u8[1]", "would have 99,999,999,999 bytes"),
        ("x=f16[9999999,9999999]:box=8x8", "would have"),
    ],
)
def test_an_error_shows_the_correct_syntax(text: str, expected_message: str) -> None:
    with pytest.raises(ArgumentSpecError, match=expected_message.replace("[", r"\[")):
        parse_argument(text)


def test_a_box_creates_a_tensor_map_of_an_array() -> None:
    made = parse_argument("m=f16[64, 128]:random:box=64x8:swizzle=128:oob=nan")[1].make_value(CHANCE)
    assert isinstance(made, TensorMapArgument)
    layout = made.fields
    assert (layout.extents, layout.box, layout.swizzle, layout.fill) == ((128, 64), (64, 8), 128, "nan")
    assert made.array.any()


def test_a_box_may_be_one_of_im2col() -> None:
    text = "m=f32[1,8,8,16]:lower=-1x-1:upper=-1x-1:channels=16:pixels=64"
    made = parse_argument(text)[1].make_value(CHANCE)
    assert (made.fields.mode, made.fields.pixels, made.fields.lower) == ("im2col", 64, (-1, -1))


def test_bfloat16_in_a_map_is_named_so() -> None:
    assert parse_argument("m=bf16[8,8]:box=8x8")[1].make_value(CHANCE).fields.element == "bf16"


def test_a_table_contains_several_arrays_or_maps() -> None:
    first, second = parse_argument("t=2*f32[8]:random")[1].make_value(CHANCE)
    assert first.shape == second.shape == (8,)
    assert (first != second).any()
    assert isinstance(parse_argument("t=1*f32[8]:box=8")[1].make_value(CHANCE)[0], TensorMapArgument)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("m=f32[8,8]:box=8", "box"),
        ("m=f32[8,8]:box=8x8:corner=1", "no field `corner`"),
        ("m=f32[8,8]:box=8xq", "takes integers"),
        ("m=f32[8,8]:swizzle=128", "box"),
        ("m=f32[8,3]:box=3x8", "multiples of 16"),
    ],
)
def test_an_impossible_map_is_rejected_with_a_reason(text: str, message: str) -> None:
    with pytest.raises(ArgumentSpecError, match=message):
        parse_argument(text)


def test_textures_surfaces_and_samplers_are_specified_by_their_fields() -> None:
    _, given = parse_argument(
        "t=texture:u8[6,5,4]:random:channels=4:scaled=1:filter=linear:address=wrapxborder:normalized=1"
    )
    made = given.make_value(CHANCE)
    assert isinstance(made, Texture)
    assert (made.extents, made.channels, made.scaled) == ((5, 6), 4, True)
    assert made.sampler == Sampler("linear", ("wrap", "border"), normalized=True)
    assert made.array.any()
    surface = parse_argument("s=surface:f32[2,3,4]:layered=1")[1].make_value(CHANCE)
    assert isinstance(surface, Surface)
    assert (surface.extents, surface.layers) == ((4, 3), 2)
    assert parse_argument("s=sampler:filter=linear")[1].make_value(CHANCE) == Sampler("linear")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("t=texture:f32[4]:depth=3", "no field `depth`"),
        ("t=texture:37", "an array"),
        ("t=texture:s32[4]:filter=linear", "filtered"),
        ("s=surface:f32[4]:filter=linear", "no field `filter`"),
        ("s=sampler:filter=cubic", "filters are"),
        ("t=texture:f32[4,4]:channels=many", "takes an integer"),
    ],
)
def test_impossible_images_are_rejected_with_a_reason(text: str, reason: str) -> None:
    with pytest.raises(ArgumentSpecError, match=reason):
        parse_argument(text)
