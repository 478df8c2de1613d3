"""Arguments packed for the driver: the fast path packs and rejects the same arguments as the checked path."""

from __future__ import annotations

import ctypes
import struct
from typing import Any

import pytest

from ptxkit.device import ArgumentError, Signature, TensorMap
from ptxkit.device.argument_marshaller import PACKED, ArgumentMarshaller
from ptxkit.device.driver_launch import LaunchFrame
from ptxkit.device.geometry import Geometry
from ptxkit.device.signature import Argument
from ptxkit.device.tensormap import make_tensor
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


class Place:
    """The device of a tensor in PyTorch's interface."""

    def __init__(self, kind: str) -> None:
        self.type = kind

    def __str__(self) -> str:
        return self.type


class Tensor(Fake):
    """A tensor in PyTorch's interface."""

    is_cuda = True
    dtype = "torch.float32"
    gpu = 0

    def is_contiguous(self) -> bool:
        return self.strides is None

    def data_ptr(self) -> int:
        return self.address

    def element_size(self) -> int:
        return 4

    def get_device(self) -> int:
        return self.gpu

    def stride(self) -> tuple[int, ...]:
        return self.strides or (1,)

    def __dlpack_device__(self) -> tuple[int, int]:
        return 2, self.gpu


Tensor.__module__ = "torch"
POINTER = Signature("k", (Argument("data", "u64", "global", "f32", 16),))


@pytest.fixture(autouse=True)
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    """One context, and PyTorch's stream."""
    monkeypatch.setattr("ptxkit.device.argument_marshaller.get_current_context", lambda: 1)
    monkeypatch.setattr(
        "ptxkit.device.argument_marshaller.get_torch_stream_function", lambda: lambda device: 70 + device
    )


class Packed:
    """Returns memory for the parameters, and the function that fills it."""

    def __init__(self, signature: Signature) -> None:
        marshal = ArgumentMarshaller(signature, 0, 1)
        self.frame = LaunchFrame(Geometry((1, 1, 1), (1, 1, 1)), marshal.size, marshal.offsets)
        fill = (f"write(frame.memory, frame.start, {PACKED})",)
        self.run = marshal.compile_function(fill, {"frame": self.frame, "write": marshal.write})

    def __call__(self, values: tuple[Any, ...]) -> Any:
        self.run(0, values)
        return (ctypes.c_void_p * len(values)).from_address(self.frame.parameters.value or 0)


def words(signature: Signature, values: tuple[Any, ...], *formats: str) -> list[Any]:
    """Returns the parameters as the driver reads them, each by the letter of `struct`."""
    found, packed = [], Packed(signature)
    for place, letter in zip(packed(values), formats, strict=True):
        assert place is not None
        found.append(struct.unpack(f"={letter}", ctypes.string_at(place, struct.calcsize(f"={letter}")))[0])
    return found


def test_every_kind_of_parameter_is_packed() -> None:
    values = (-3, Fake(), 1.5, 0.25, 1 << 63, b"123456789abc", 7)
    assert words(MANY, values, "b", "Q", "f", "e", "Q", "12s", "I") == [-3, 0x1000, *values[2:]]


def test_tensors_are_checked_once_for_each_type(monkeypatch: pytest.MonkeyPatch) -> None:
    packed = Packed(POINTER)
    packed((Tensor(),))
    monkeypatch.setattr(
        "ptxkit.device.argument_marshaller.convert_argument", lambda *_: pytest.fail("the careful way was taken")
    )
    (place,) = packed((Tensor(address=0x2000),))
    assert place is not None
    assert ctypes.c_uint64.from_address(place).value == 0x2000


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"address": 0x2004}, "must be aligned to 16 bytes; this array begins at 0x2004"),
        ({"strides": (2,)}, "takes packed elements"),
        ({"is_cuda": False, "gpu": -1, "device": Place("cpu")}, "this tensor is in host memory"),
        ({"is_cuda": False, "gpu": -1, "device": Place("meta")}, "this tensor is on the device 'meta'"),
        ({"dtype": "torch.int32"}, r"points to \.f32, and the array holds torch.int32"),
        ({"gpu": 1}, "the array is on GPU 1, and the kernel is launched on GPU 0, which cannot reach it"),
    ],
)
def test_every_tensor_is_checked_even_if_its_type_is_known(
    changes: dict[str, Any], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ptxkit.device.argument_marshaller.can_reach", lambda _: False)
    packed = Packed(POINTER)
    for _ in range(2):
        packed((Tensor(),))
        wrong = Tensor()
        for name, value in changes.items():
            setattr(wrong, name, value)
        with pytest.raises(ArgumentError, match=message):
            packed((wrong,))


def test_a_tensor_of_another_gpu_is_accepted_where_this_one_can_access_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ptxkit.device.argument_marshaller.can_reach", lambda _: True)
    other = Tensor(address=0x3000)
    other.gpu = 1
    packed = Packed(POINTER)
    (place,) = packed((other,))
    assert place is not None
    assert ctypes.c_uint64.from_address(place).value == 0x3000


def test_plain_integers_of_64_bits_accept_tensors_because_compilers_write_no_pointers() -> None:
    plain = Signature("k", (Argument("data", "u64"), Argument("n", "u64")))
    assert words(plain, (Tensor(address=0x2004), 3), "Q", "Q") == [0x2004, 3]
    narrow = Signature("k", (Argument("n", "u32"),))
    with pytest.raises(ArgumentError, match=r"is a \.u32 value, not an array"):
        words(narrow, (Tensor(),), "I")


def test_wrong_arguments_are_rejected_with_a_message() -> None:
    pointer = Signature("k", (Argument("data", "u64", "global", "f64", 16),))
    with pytest.raises(ArgumentError, match=r"points to \.f64"):
        Packed(pointer)((Tensor(),))
    number = Signature("k", (Argument("n", "u32"),))
    for value, message in ((-1, "does not fit"), (True, "not bool"), (1.5, "is not an integer")):
        with pytest.raises(ArgumentError, match=message):
            Packed(number)((value,))
    with pytest.raises(ArgumentError, match=r"takes 1 arguments \(n\), not 2"):
        Packed(number)((1, 2))


def test_tensor_maps_are_aligned_and_checked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    data = bytes(range(128))
    made = TensorMap(make_tensor(Fake(shape=(8, 64)), None), (32, 8), 128, "tiled", data, None)
    packed = Packed(Signature("k", (Argument("n", "u32"), Argument("map", None, size=128))))
    for _ in range(2):
        (_, place) = packed((5, made))
        assert place is not None
        assert place % 64 == 0
        assert ctypes.string_at(place, 128) == data
        monkeypatch.setattr(
            "ptxkit.device.argument_marshaller.convert_argument", lambda *_: pytest.fail("the careful way was taken")
        )


NARROW = [
    ("torch.bfloat16", 2, "bf16"),
    ("torch.bfloat16", 2, "bf16x2"),
    ("torch.float8_e4m3fn", 1, "u8"),
    ("torch.float8_e4m3fn", 1, "b8"),
    ("torch.float8_e5m2", 1, "u8"),
    ("torch.float8_e4m3fn", 1, "e4m3"),
    ("torch.float8_e5m2", 1, "e5m2"),
    ("torch.uint8", 1, "e5m2"),
    ("torch.uint16", 2, "bf16"),
    ("torch.float16", 2, "f16x2"),
]


def narrow(name: str, size: int) -> Tensor:
    found = Tensor()
    found.dtype = name
    found.element_size = lambda: size  # type: ignore[method-assign]
    return found


@pytest.mark.parametrize(("name", "size", "element"), NARROW)
def test_types_that_numpy_lacks_are_accepted_as_themselves(name: str, size: int, element: str) -> None:
    assert words(Signature("k", (Argument("data", "u64", "global", element),)), (narrow(name, size),), "Q") == [0x1000]


@pytest.mark.parametrize(
    ("name", "size", "element"),
    [
        ("torch.float8_e4m3fn", 1, "e5m2"),
        ("torch.float8_e5m2", 1, "e4m3"),
        ("torch.float8_e4m3fnuz", 1, "e4m3"),
        ("torch.float8_e4m3fn", 1, "s8"),
        ("torch.float8_e4m3fn", 1, "f16"),
        ("torch.float16", 2, "bf16"),
        ("torch.bfloat16", 2, "f16"),
        ("torch.bfloat16", 2, "u16"),
        ("torch.float32", 4, "bf16"),
        ("torch.float32", 4, "bf16x2"),
    ],
)
def test_types_that_numpy_lacks_are_not_confused(name: str, size: int, element: str) -> None:
    with pytest.raises(ArgumentError, match=rf"points to \.{element}, and the array holds {name}"):
        words(Signature("k", (Argument("data", "u64", "global", element),)), (narrow(name, size),), "Q")
