"""Tensor maps on the host: every rule of the encoder by name, and the requirements of a kernel's parameter."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ptxkit.build import Kernel, bf16, f32
from ptxkit.device import ArgumentError, DeviceError, Signature, TensorMap, TensorMapError, check_device
from ptxkit.device.signature import Argument, make_kernel_signature
from ptxkit.device.tensormap import MappedTensor, make_tensor
from tests.device.conftest import reason
from tests.device.test_arguments import Fake, kernel_arguments


def matrix(**options: Any) -> Fake:
    """128 rows of 64 floats."""
    return Fake(**{"shape": (128, 64), **options})


def make_one(tensor: MappedTensor, box: tuple[int, ...], *, swizzle: int = 0, mode: str = "tiled") -> TensorMap:
    """Returns a map as if it were encoded."""
    return TensorMap(tensor, box, swizzle, mode, b"", None)


def test_an_array_is_a_tensor_with_its_innermost_dimension_first() -> None:
    assert make_tensor(matrix(), None) == MappedTensor("f32", 0x1000, (64, 128), (256,))
    assert make_tensor(Fake(shape=(8,)), None) == MappedTensor("f32", 0x1000, (8,), ())
    assert make_tensor(matrix(strides=(512, 4)), None).strides == (512,)
    assert make_tensor(matrix(typestr="<V2"), None).element == "bf16"
    assert make_tensor(matrix(), "tf32").element == "tf32"


RULES = [
    ({}, {"box": (64,)}, "box is (64,); it must have as many dimensions as the array: 2"),
    ({}, {"box": (64, 257)}, "box is (64, 257); it must have 1 to 256 elements in each dimension"),
    ({}, {"box": (0, 8)}, "box is (0, 8); it must have 1 to 256 elements"),
    ({}, {"box": (2, 8)}, "box is (2, 8); it must have rows of a multiple of 16 bytes, not 8"),
    (
        {},
        {"box": (64, 8), "swizzle": 128},
        "swizzle is 128; it must be at least the bytes of a box's row",
    ),
    ({}, {"box": (8, 8), "swizzle": 96}, "swizzle is 96; it must be one of 0, 32, 64, 128"),
    ({}, {"box": (8, 8), "interleave": 8}, "interleave is 8; it must be one of 0, 16, 32"),
    ({}, {"box": (8, 8), "interleave": 16}, "rank is 2; it must be 3 to 5 with an interleaved layout"),
    ({}, {"box": (8, 8), "oob_fill": "ones"}, "oob_fill is ones; it must be one of zeros, nan"),
    (
        {"typestr": "<i4"},
        {"box": (8, 8), "oob_fill": "nan"},
        "oob_fill is nan; it must be zeros for elements",
    ),
    ({}, {"box": (8, 8), "l2_promotion": 32}, "l2_promotion is 32; it must be one of 0, 64, 128, 256"),
    ({}, {"box": (8, 8), "element_strides": (1, 9)}, "element_strides is (1, 9); it must be 1 to 8 in each of 2"),
    ({}, {"box": (8, 8), "element": "f16"}, "element is f16; has 2 bytes, and the array's elements have 4"),
    ({}, {"box": (8, 8), "element": "e4m3"}, "element is e4m3; it must be one of u8"),
    ({"address": 0x1004}, {"box": (8, 8)}, "address is 0x1004; it must be a multiple of 16 bytes"),
    ({"shape": (4, 6)}, {"box": (4, 4)}, "strides is (24,); it must be multiples of 16 bytes"),
    ({"shape": (1,) * 6}, {"box": (4,) * 6}, "rank is 6; it must be 1 to 5"),
    ({"shape": (0, 8)}, {"box": (8, 8)}, "extents is (8, 0); it must be 1 to 2**32 each"),
    (
        {"strides": (256, 8)},
        {"box": (8, 8)},
        "array is 8 bytes from element to element; it must be packed",
    ),
    ({"typestr": "<c8"}, {"box": (8, 8)}, "element is c8; it must be one of"),
]


@pytest.mark.parametrize(("array", "options", "message"), RULES)
def test_each_rule_of_the_encoder_is_checked_by_name(
    array: dict[str, Any], options: dict[str, Any], message: str
) -> None:
    with pytest.raises(TensorMapError) as caught:
        TensorMap.tiled(matrix(**array), **options)
    assert message in str(caught.value)


IMAGE_RULES = [
    ({"lower": (0,)}, "lower is (0,); it must be 2 offsets from -128 to 127"),
    ({"upper": (0, 128)}, "upper is (0, 128); it must be 2 offsets from -128 to 127"),
    ({"lower": (5, 0), "upper": (-5, 0)}, "upper is (-5, 0); it must leave a box that is not empty"),
    ({"channels": 257}, "channels is 257; it must be 1 to 256"),
    ({"pixels": 1025}, "pixels is 1025; it must be 1 to 1024"),
]


@pytest.mark.parametrize(("options", "message"), IMAGE_RULES)
def test_each_rule_of_an_image_is_checked_by_name(options: dict[str, Any], message: str) -> None:
    usual = {"lower": (0, 0), "upper": (0, 0), "channels": 8, "pixels": 16}
    with pytest.raises(TensorMapError) as caught:
        TensorMap.im2col(Fake(shape=(2, 10, 10, 8)), **{**usual, **options})
    assert message in str(caught.value)
    with pytest.raises(TensorMapError, match="rank is 2; it must be 3, 4 or 5"):
        TensorMap.im2col(matrix(), lower=(), upper=(), channels=8, pixels=16)


@pytest.mark.skipif(reason() is None, reason="this machine has a GPU")
def test_without_a_driver_nothing_is_encoded_and_the_error_is_one_sentence() -> None:
    with pytest.raises(DeviceError, match="compiled but not launched"):
        TensorMap.tiled(matrix(), box=(8, 8))


def test_a_map_in_host_memory_is_rejected() -> None:
    with pytest.raises(ArgumentError, match="a tensor map describes device memory; this array is in host memory"):
        TensorMap.tiled(np.zeros((8, 8), np.float32), box=(8, 8))


def signature() -> Signature:
    k = Kernel("k", threads=32)
    k.tensor_map("source", f32, box=(32, 8), swizzle=128)
    return make_kernel_signature(k)


def test_a_kernel_accepts_a_matching_map() -> None:
    tensor = make_tensor(matrix(), None)
    fitting = make_one(tensor, (32, 8), swizzle=128)
    assert kernel_arguments(signature(), (fitting,)) == [fitting]
    for wrong, message in (
        (make_one(tensor, (32, 4), swizzle=128), r"with box \(32, 8\), not \(32, 4\)"),
        (make_one(tensor, (32, 8)), "with swizzle 128, not 0"),
        (make_one(make_tensor(matrix(typestr="<V2"), None), (32, 8), swizzle=128), "with size of an element 4, not 2"),
        (make_one(tensor, (32, 8), swizzle=128, mode="im2col"), "with mode tiled, not im2col"),
    ):
        with pytest.raises(ArgumentError, match=message):
            kernel_arguments(signature(), (wrong,))
    with pytest.raises(ArgumentError, match="'source' is a tensor map, so it takes one, or an array, not int"):
        kernel_arguments(signature(), (5,))


def test_an_array_is_encoded_as_the_parameter_requires(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[dict[str, object]] = []
    monkeypatch.setattr(TensorMap, "tiled", staticmethod(lambda array, **options: asked.append(options)))
    kernel_arguments(signature(), (matrix(),))
    assert asked == [{"box": (32, 8), "element": "f32", "swizzle": 128}]


def test_a_structure_is_passed_as_its_bytes() -> None:
    block = Signature("k", (Argument("pair", None, size=8),))
    assert kernel_arguments(block, (b"12345678",)) == [b"12345678"]
    pair = np.array((1, 2), dtype=[("a", "u4"), ("b", "u4")])[()]
    assert kernel_arguments(block, (pair,)) == [b"\1\0\0\0\2\0\0\0"]
    with pytest.raises(ArgumentError, match="'pair' has 8 bytes, not 3"):
        kernel_arguments(block, (b"123",))
    with pytest.raises(ArgumentError, match="takes bytes or a NumPy structure, not int"):
        kernel_arguments(block, (1,))


@pytest.mark.device
def test_a_box_is_copied_through_shared_memory_and_back() -> None:
    """Every element of a matrix, through swizzled boxes; elements outside are zero and are not written."""
    from ptxkit.device import to_device

    check_device()
    k = Kernel("through", threads=32)
    source = k.tensor_map("source", f32, box=(32, 8), swizzle=128)
    target = k.tensor_map("target", f32, box=(32, 8), swizzle=128)
    box, full = k.shared(f32, 256, align=1024), k.mbarrier("full")
    with k.thread_is(0):
        full.init(1)
        place = (k.ctaid.x * 32, k.ctaid.y * 8)
        full.arrive_expect_tx(source.bytes)
        source.load(box, place, full)
        full.wait(0)
        target.store(place, box)
        k.tma_store_arrive()
        k.tma_store_wait()
    host = np.random.default_rng().standard_normal((61, 100), dtype=np.float32)
    given, got = to_device(host), to_device(np.zeros_like(host))
    k[(4, 8), None](given, got)
    assert np.array_equal(got.to_host(), host)


@pytest.mark.device
def test_an_array_of_one_dimension_is_encoded() -> None:
    from ptxkit.device import to_device

    check_device()
    array = to_device(np.arange(768, dtype=np.uint32))
    assert len(TensorMap.tiled(array, box=(64,)).data) == 128


def test_half_precision_types_without_numpy_support_are_specified_by_name() -> None:
    k = Kernel("k")
    k.tensor_map("source", bf16, box=(64, 8), swizzle=128)
    assert make_kernel_signature(k).arguments[0].tensor is not None
    assert make_tensor(matrix(typestr="<V2"), "bf16").size == 2
