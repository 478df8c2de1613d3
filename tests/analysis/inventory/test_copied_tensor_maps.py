"""Tensor maps that a kernel copies from its parameters before it uses them."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptxkit.analysis.inventory.copied_tensor_maps import copied_map_locations
from ptxkit.analysis.inventory.tensormap_params import TensorMapParameter
from ptxkit.analysis.ir.program import Program, flatten
from ptxkit.syntax import parse

KERNELS = Path(__file__).resolve().parents[3] / "corpus" / "kernels"
TEXT = """.version 8.3
.target sm_90a
.address_size 64
.visible .entry k(.param .align ALIGN .b8 data[320], .param .u64 out)
{
	.reg .b32 %r<4>;
	.reg .b64 %rd<8>;
	.shared .align 128 .b8 tile[256];
	ld.param.u64 %rd1, [out];
	PARTS
	cp.async.bulk.tensor.3d.global.shared::cta.bulk_group [%rd1, {%r1, %r1, %r1}], [%r2];
	ret;
}
"""


def locate_maps(text: str) -> dict[tuple[str, int], TensorMapParameter]:
    module = parse(text, "k")
    return copied_map_locations(flatten(module, next(iter(module.functions()))))


def program(name: str) -> Program:
    module = parse((KERNELS / f"{name}.sm_90a.ptx").read_text("utf-8"), name)
    return flatten(module, next(iter(module.functions())))


def copy(first: int, count: int, to: str = "%rd1") -> str:
    """Copies of 8 bytes each from the structure."""
    return "".join(
        f"ld.param.u64 %rd2, [data+{first + 8 * number}]; st.global.u64 [{to}+{8 * number}], %rd2; "
        for number in range(count)
    )


def test_a_map_that_is_copied_through_shared_memory_is_found_and_a_constructed_one_is_not() -> None:
    copied = copied_map_locations(program("tensormap_replace"))
    assert copied == {("tensormap_replace_param_0", 0): TensorMapParameter(2, is_im2col=False, is_loaded=True)}
    assert copied_map_locations(program("hand_tensor_maps")) == {}
    assert copied_map_locations(program("tensor_reduce")) == {}  # the parameter itself is used


@pytest.mark.parametrize(
    ("parts", "places"),
    [
        (copy(64, 16), [64]),
        (copy(64, 16) + copy(192, 16), [64, 192]),
        (copy(128, 4), [128]),  # other fields are assigned
        (copy(256, 8), []),  # 64 bytes are not a map
        (copy(64, 16, "%rd3"), []),  # to another address
    ],
)
def test_a_map_in_a_structure_begins_where_its_first_bytes_are_copied_from(parts: str, places: list[int]) -> None:
    found = locate_maps(TEXT.replace("PARTS", parts).replace("ALIGN", "64"))
    assert found == {("data", place): TensorMapParameter(3, is_im2col=False, is_loaded=False) for place in places}


def test_a_parameter_with_less_alignment_than_maps_need_contains_none() -> None:
    assert locate_maps(TEXT.replace("PARTS", copy(64, 16)).replace("ALIGN", "8")) == {}
