"""Maps whose fields a program replaces: those of the host, and those that it constructs from zeros."""

from __future__ import annotations

import numpy
import pytest

from ptxkit.emulator import InvalidLaunchError, TensorMapArgument
from ptxkit.emulator.state.tensor_maps import decode_map, replace_map_field
from ptxkit.emulator.state.tensor_tiles import element_addresses
from ptxkit.tensormap_limits import MAP_BYTES

FIELDS = (
    *(("global_address", 0, 0x7000_0000_0100), ("rank", 0, 1), ("elemtype", 0, 6), ("swizzle_mode", 0, 3)),
    *(("box_dim", 0, 64), ("box_dim", 1, 128), ("global_dim", 0, 256), ("global_dim", 1, 512)),
    *(("global_stride", 0, 512), ("element_stride", 0, 1), ("element_stride", 1, 1)),
    *(("interleave_layout", 0, 0), ("fill_mode", 0, 0)),
)


def test_zeros_become_a_map_field_by_field() -> None:
    octets = bytes(MAP_BYTES)
    for field, ordinal, value in FIELDS:
        octets = replace_map_field(octets, field, ordinal, value)
    array = numpy.zeros((512, 256), numpy.float16)
    wanted = TensorMapArgument.tiled(array, box=(64, 128), swizzle=128).encode_at(0x7000_0000_0100)
    assert decode_map(octets) == decode_map(wanted)


def test_zeros_with_other_bytes_are_not_a_map() -> None:
    assert decode_map(bytes(MAP_BYTES)) is None
    assert decode_map(replace_map_field(b"\x7f" * MAP_BYTES, "rank", 0, 1)) is None


@pytest.mark.parametrize(("field", "value"), [("elemtype", 13), ("swizzle_mode", 5), ("fill_mode", 2), ("rank", 5)])
def test_a_field_rejects_a_missing_element(field: str, value: int) -> None:
    with pytest.raises(ValueError, match=r"cannot hold|a rank is"):
        replace_map_field(bytes(MAP_BYTES), field, 0, value)
    replace_map_field(bytes(MAP_BYTES), field, 0, value - 1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"box": (64,)}, "box is (64,); it must have as many dimensions as the array: 2"),
        ({"box": (64, 8), "swizzle": 64}, "swizzle is 64; it must be at least the bytes of a box's row"),
        ({"box": (8, 8), "interleave": 16}, "rank is 2; it must be 3 to 5 with an interleaved layout"),
        ({"box": (8, 8), "element_strides": (1, 9)}, "element_strides is (1, 9); it must be 1 to 8"),
    ],
)
def test_the_rules_of_the_encoder_hold_for_replaced_fields_too(options: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidLaunchError) as caught:
        TensorMapArgument.tiled(numpy.zeros((128, 64), numpy.float32), **options)  # type: ignore[arg-type]
    assert message in str(caught.value)
    TensorMapArgument.tiled(numpy.zeros((128, 64), numpy.float32), box=(32, 8), swizzle=128)


def test_a_replaced_address_may_have_the_highest_bit() -> None:
    octets = TensorMapArgument.tiled(numpy.zeros((512, 256), numpy.float16), box=(64, 128)).encode_at(0x7000_0000_0100)
    layout = decode_map(replace_map_field(octets, "global_address", 0, 0xBDB8_0000_0000_0100))
    assert layout is not None
    assert element_addresses(layout, "tile", (0, 0), ()).astype(numpy.uint64)[1] == 0xBDB8_0000_0000_0102
