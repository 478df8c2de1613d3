"""Arguments as the command line gives them."""

from __future__ import annotations

from pathlib import Path

import numpy
import pytest

from ptxkit.verifier import GivenError, given_argument
from ptxkit.verifier.given import TYPES

CHANCE = numpy.random.default_rng(1)


@pytest.mark.parametrize(
    ("text", "value"), [("n=37", 37), ("n=0x20", 32), ("n=-1", -1), ("a=0.5", 0.5), ("a=1e-3", 1e-3)]
)
def test_a_number_is_passed_as_it_is(text: str, value: float) -> None:
    name, given = given_argument(text)
    assert name == text.split("=", maxsplit=1)[0]
    assert given.made(CHANCE) == value


def test_an_array_has_the_type_the_shape_and_the_contents_that_are_asked_for() -> None:
    _, given = given_argument("x=f32[4, 3]:iota")
    made = given.made(CHANCE)
    assert made.dtype == numpy.float32
    assert made.tolist() == [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10, 11]]


def test_an_array_is_zero_unless_it_says_otherwise() -> None:
    assert given_argument("y=u16[5]")[1].made(CHANCE).tolist() == [0] * 5


@pytest.mark.parametrize("type_", TYPES)
def test_every_type_can_be_random_and_two_are_not_alike(type_: str) -> None:
    _, given = given_argument(f"x={type_}[64]:random")
    first, second = given.made(CHANCE), given.made(CHANCE)
    assert first.dtype == numpy.dtype(TYPES[type_])
    assert (first != second).any()


def test_random_bfloat16_are_numbers_between_minus_one_and_one() -> None:
    bits = given_argument("x=bf16[256]:random")[1].made(CHANCE)
    values = (bits.astype(numpy.uint32) << 16).view(numpy.float32)
    assert numpy.abs(values).max() <= 1
    assert (values < 0).any()
    assert (values > 0.25).any()


def test_a_file_of_numpy_is_read_and_stays_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "t.npy"
    numpy.save(path, numpy.arange(6, dtype=numpy.int64))
    _, given = given_argument(f"t={path}")
    given.made(CHANCE)[:] = 0
    assert given.made(CHANCE).tolist() == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("n", "NAME=VALUE"),
        ("=3", "NAME=VALUE"),
        ("n=three", "no number"),
        ("x=f33[4]", "no type 'f33'"),
        ("x=f32[4]:noise", "random, zeros, ones, iota"),
        ("x=missing.npy", "cannot be read"),
    ],
)
def test_what_cannot_be_read_says_what_would_be_right(text: str, says: str) -> None:
    with pytest.raises(GivenError, match=says.replace("[", r"\[")):
        given_argument(text)
