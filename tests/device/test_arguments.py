"""The arguments of a kernel: arrays for addresses, numbers for values, of the right type, device, order and
alignment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from ptxkit import parse
from ptxkit.build import BuildTypeError, Global, Kernel, f32, u32
from ptxkit.device import ArgumentError, Signature
from ptxkit.device.arguments import check_count, convert_argument
from ptxkit.device.signature import Argument, make_kernel_signature, make_module_signatures

VALUES = Signature("k", (Argument("n", "u32"), Argument("x", "f32"), Argument("bits", "b64")))
POINTER = Signature("k", (Argument("data", "u64", "global", "f32", 16),))


def kernel_arguments(signature: Signature, values: tuple[object, ...]) -> list[Any]:
    check_count(signature, len(values))
    return [convert_argument(argument, value) for argument, value in zip(signature.arguments, values, strict=True)]


@dataclass
class Fake:
    """The interface of an array in device memory."""

    address: int = 0x1000
    typestr: str = "<f4"
    shape: tuple[int, ...] = (8,)
    strides: tuple[int, ...] | None = None
    readonly: bool = False

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        data = {"shape": self.shape, "typestr": self.typestr, "data": (self.address, self.readonly), "version": 3}
        return data | {"strides": self.strides}


def test_numbers_get_the_width_of_the_parameter() -> None:
    n, x, bits = kernel_arguments(VALUES, (7, 2, -1 & (2**64 - 1)))
    assert (type(n), type(x), type(bits)) == (np.uint32, np.float32, np.uint64)
    assert kernel_arguments(VALUES, (np.uint32(7), 1.5, 3))[1] == np.float32(1.5)


def test_untyped_bits_accept_numbers_of_their_size() -> None:
    bits = Signature("k", (Argument("x", "b32"),))
    assert kernel_arguments(bits, (np.float32(1.0),)) == [0x3F800000]
    assert kernel_arguments(bits, (np.int32(-1),)) == [0xFFFFFFFF]
    for wrong in (np.float64(1.0), np.int64(1), 1.0):
        with pytest.raises(ArgumentError, match=r"parameter 'x' is \.b32"):
            kernel_arguments(bits, (wrong,))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ((1, 2), r"takes 3 arguments \(n, x, bits\), not 2"),
        ((-1, 1.0, 0), "-1 does not fit in parameter 'n'"),
        ((1 << 32, 1.0, 0), "does not fit in parameter 'n'"),
        ((1.5, 1.0, 0), "1.5 is not an integer"),
        ((True, 1.0, 0), "is a .u32 value, not bool"),
        ((np.int64(1), 1.0, 0), "is .u32, not int64"),
        (("1", 1.0, 0), "is a .u32 value, not str"),
        ((Fake(), 1.0, 0), "is a .u32 value, not an array"),
    ],
)
def test_wrong_numbers_name_the_parameter(values: tuple[object, ...], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        kernel_arguments(VALUES, values)


def test_an_array_becomes_its_address() -> None:
    (address,) = kernel_arguments(POINTER, (Fake(),))
    assert (type(address), address) == (np.uint64, 0x1000)
    assert kernel_arguments(POINTER, (Fake(shape=(2, 4), strides=(16, 4)),)) == [0x1000]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (np.zeros(8, np.float32), "this array is in host memory"),
        (Fake(typestr="<i4"), r"points to .f32, and the array holds NumPy's i4"),
        (Fake(address=0x1004), "must be aligned to 16 bytes; this array begins at 0x1004"),
        (Fake(shape=(4,), strides=(8,)), "takes packed elements"),
        (Fake(shape=(2, 2), strides=(4, 8)), "takes packed elements"),
        (4096, "is an address, so it takes an array, not int"),
        (Fake(typestr=">f4"), "this array holds NumPy's >f4, the highest byte first"),
    ],
)
def test_wrong_arrays_name_the_parameter(value: object, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        kernel_arguments(POINTER, (value,))


def test_untyped_elements_accept_any_of_their_size() -> None:
    bits = Signature("k", (Argument("data", "u64", "global", "b32"),))
    kernel_arguments(bits, (Fake(typestr="<f4"),))
    with pytest.raises(ArgumentError, match=r"points to \.b32"):
        kernel_arguments(bits, (Fake(typestr="<f8"),))


def test_unknown_elements_accept_any_array() -> None:
    kernel_arguments(Signature("k", (Argument("data", "u64"),)), (Fake(typestr="<f8"),))


class DlpackOnly:
    """An array that implements only DLPack."""

    def __init__(self, host: np.ndarray[Any, Any]) -> None:
        self._host = host

    def __dlpack__(self, **options: Any) -> object:
        return self._host.__dlpack__()

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._host.__dlpack_device__()


def test_arrays_that_implement_only_dlpack_are_checked_too() -> None:
    with pytest.raises(ArgumentError, match="this array is in host memory"):
        kernel_arguments(POINTER, (DlpackOnly(np.zeros(8, np.float32)),))


class Holder:
    """Declares on the object, not on its type, that it is an array."""

    def __init__(self, interface: dict[str, Any] | None) -> None:
        if interface is not None:
            self.__cuda_array_interface__ = interface


def test_an_object_may_declare_itself_to_be_an_array() -> None:
    assert kernel_arguments(POINTER, (Holder(Fake().__cuda_array_interface__),)) == [0x1000]
    with pytest.raises(ArgumentError, match="is an address, so it takes an array, not Holder"):
        kernel_arguments(POINTER, (Holder(None),))


def test_an_object_that_represents_an_array_is_one() -> None:
    class Proxy:
        def __getattr__(self, name: str) -> Any:
            return getattr(Fake(), name)

    assert kernel_arguments(POINTER, (Proxy(),)) == [0x1000]


def build_doubling() -> Kernel:
    k = Kernel("doubled", threads=32)
    data, count, factor = k.param(Global[f32], "data"), k.param(u32, "count"), k.param(f32, "factor")
    with k.if_(k.tid.x < count):
        data[k.tid.x].store(data[k.tid.x].load() * factor)
    return k


def as_on_a_device(array: np.ndarray[Any, Any]) -> Fake:
    """An array in device memory with the contents of this one."""
    return Fake(0x1000, array.dtype.str, array.shape, array.strides)


HOST = np.arange(32, dtype=np.float32)
MATRIX = np.arange(64, dtype=np.float32).reshape(8, 8)


@pytest.mark.parametrize(
    "values",
    [
        (HOST.astype(np.float64), 32, 2.0),
        (HOST.astype(np.int32), 32, 2.0),
        (HOST.astype(np.complex64), 32, 2.0),
        (HOST.astype(">f4"), 32, 2.0),
        (MATRIX[:, :4], 32, 2.0),
        (MATRIX.T, 32, 2.0),
        (HOST, -1, 2.0),
        (HOST, True, 2.0),
        (HOST, 1 << 32, 2.0),
        (HOST, 2.5, 2.0),
        (HOST, np.int64(32), 2.0),
        (HOST, HOST, 2.0),
        (HOST, 32, np.float64(2.0)),
        (HOST, 32, "2"),
        (4096, 32, 2.0),
        (HOST, 32),
    ],
)
def test_the_reference_machine_rejects_the_arguments_that_a_launch_rejects_with_the_same_message(
    values: tuple[Any, ...],
) -> None:
    kernel = build_doubling()
    on_device = [as_on_a_device(each) if isinstance(each, np.ndarray) else each for each in values]
    with pytest.raises(ArgumentError) as launched:
        kernel_arguments(make_kernel_signature(kernel), on_device)
    with pytest.raises(BuildTypeError) as emulated:
        kernel.emulate(1)(*values)
    assert emulated.value.message == str(launched.value)


def test_the_reference_machine_accepts_the_arguments_that_a_launch_accepts() -> None:
    for count in (32, np.uint32(32)):
        data = HOST.copy().reshape(4, 8)
        build_doubling().emulate(1)(data, count, 2)
        assert (data.ravel() == 2 * HOST).all()


def test_an_array_of_another_library_is_rejected_by_the_reference_machine() -> None:
    with pytest.raises(BuildTypeError, match="the reference machine takes arrays of NumPy, not Fake"):
        build_doubling().emulate(1)(Fake(), 32, 2.0)


def test_a_read_only_array_is_rejected_where_the_kernel_writes() -> None:
    k = Kernel("k", threads=32)
    source, target = k.param(Global[f32], "source"), k.param(Global[f32], "target")
    moved, total = k.param(Global[f32], "moved"), k.param(Global[u32], "total")
    target[k.tid.x].store(source[k.tid.x].load())
    with k.for_range(0, 4) as turn:
        moved[turn * 8][k.tid.x].store(1.0)
    k.red_add(total, 1)
    readonly = Fake(readonly=True)
    written = {"source": False, "target": True, "moved": True, "total": True}
    for signature in (make_kernel_signature(k), *make_module_signatures(parse(str(k)))):
        assert {each.name: each.is_written for each in signature.arguments} == written
        kernel_arguments(Signature("k", signature.arguments[:1]), (readonly,))
        for each in signature.arguments[1:3]:
            with pytest.raises(
                ArgumentError, match=f"parameter '{each.name}' is written by the kernel, and this array"
            ):
                kernel_arguments(Signature("k", (each,)), (readonly,))
