"""Arguments packed for the driver: the fast way gives what the careful way gives, and refuses what that refuses."""

from __future__ import annotations

import ctypes
import struct
from typing import Any

import numpy as np
import pytest

from ptxkit.device import ArgumentError, Signature, TensorMap
from ptxkit.device.marshal import Marshal
from ptxkit.device.signature import Argument
from ptxkit.device.tensormap import tensor_of
from tests.device.test_arguments import Fake

MANY = Signature(
    "k",
    (
        Argument("small", "s8"),
        Argument("data", "u64", "global", "f32", 16),
        Argument("x", "f32"),
        Argument("half", "f16"),
        Argument("bits", "b64"),
        Argument("block", None, size=12),
        Argument("n", "u32"),
    ),
)


class Kind:
    """A type of PyTorch's."""

    def __init__(self, name: str) -> None:
        self.is_floating_point = "float" in name
        self._name = name

    def __str__(self) -> str:
        return f"torch.{self._name}"


class Tensor(Fake):
    """A tensor as PyTorch shows it; its slow interface is not asked for."""

    is_cuda = True
    dtype = Kind("float32")

    def is_contiguous(self) -> bool:
        return True

    def data_ptr(self) -> int:
        return self.address

    def element_size(self) -> int:
        return 4


def words(signature: Signature, values: tuple[Any, ...], *formats: str) -> list[Any]:
    """The parameters as the driver reads them, each by the letter of `struct`."""
    marshal = Marshal(signature)
    buffer = marshal.pack(values)
    pointers = (ctypes.c_void_p * len(formats)).from_address(buffer.parameters)
    found = []
    for place, letter in zip(pointers, formats, strict=True):
        assert place is not None
        found.append(struct.unpack(f"={letter}", ctypes.string_at(place, struct.calcsize(f"={letter}")))[0])
    return found


def test_every_kind_of_parameter_is_packed() -> None:
    values = (-3, Fake(), 1.5, 0.25, 1 << 63, b"123456789abc", 7)
    assert words(MANY, values, "b", "Q", "f", "e", "Q", "12s", "I") == [-3, 0x1000, *values[2:]]


def test_a_tensor_of_the_right_type_goes_the_fast_way(monkeypatch: pytest.MonkeyPatch) -> None:
    pointer = Signature("k", (Argument("data", "u64", "global", "f32", 16),))
    monkeypatch.setattr("ptxkit.device.marshal.convert", lambda *_: pytest.fail("the careful way was taken"))
    assert words(pointer, (Tensor(address=0x2000),), "Q") == [0x2000]


def test_what_does_not_fit_is_refused_in_words() -> None:
    pointer = Signature("k", (Argument("data", "u64", "global", "f64", 16),))
    with pytest.raises(ArgumentError, match=r"points to \.f64"):
        Marshal(pointer).pack((Tensor(),))
    pointer = Signature("k", (Argument("data", "u64", "global", "f32", 16),))
    with pytest.raises(ArgumentError, match="must be aligned to 16 bytes; this array begins at 0x2004"):
        Marshal(pointer).pack((Tensor(address=0x2004),))
    number = Signature("k", (Argument("n", "u32"),))
    for value, message in ((-1, "does not fit"), (True, "not bool"), (1.5, "is no integer")):
        with pytest.raises(ArgumentError, match=message):
            Marshal(number).pack((value,))
    with pytest.raises(ArgumentError, match=r"takes 1 arguments \(n\), not 2"):
        Marshal(number).pack((1, 2))


def test_tensor_maps_are_aligned_and_looked_at_once() -> None:
    maps = Signature("k", (Argument("n", "u32"), Argument("map", None, size=128)))
    data = bytes(range(128))
    made = TensorMap(tensor_of(Fake(shape=(8, 64)), None), (32, 8), 128, "tiled", data, None)
    marshal = Marshal(maps)
    for _ in range(2):
        buffer = marshal.pack((5, made))
        (_, place) = (ctypes.c_void_p * 2).from_address(buffer.parameters)
        assert place is not None
        assert place % 64 == 0
        assert ctypes.string_at(place, 128) == data
        marshal.release(buffer)


def test_a_buffer_is_used_again_and_never_by_two_launches_at_once() -> None:
    marshal = Marshal(Signature("k", (Argument("n", "u32"),)))
    first, second = marshal.pack((1,)), marshal.pack((2,))
    assert first.parameters != second.parameters
    marshal.release(first)
    assert marshal.pack((3,)) is first


def test_half_precision_of_pytorch_is_known_by_its_name() -> None:
    pointer = Signature("k", (Argument("data", "u64", "global", "bf16", 2),))

    class Half(Tensor):
        dtype = Kind("bfloat16")

        def element_size(self) -> int:
            return 2

    Half.__name__ = "Tensor"
    assert words(pointer, (Half(),), "Q") == [0x1000]
    assert np.dtype("f2").itemsize == 2
