"""Parameters that are tensor maps, and the bytes that phases expect."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptxkit.analysis.inventory.tensormap_params import TensorMapParameter, expected_bytes, tensor_map_locations
from ptxkit.analysis.ir.program import Program, flatten
from ptxkit.syntax import parse

KERNELS = Path(__file__).resolve().parents[3] / "corpus" / "kernels"


def program(name: str, kernel: str) -> Program:
    module = parse((KERNELS / f"{name}.ptx").read_text("utf-8"), name)
    return flatten(module, next(each for each in module.functions() if each.name == kernel))


@pytest.mark.parametrize("rank", [1, 2, 3, 4, 5])
def test_a_map_has_the_rank_of_its_copies_and_possibly_fewer_boxes(rank: int) -> None:
    name = f"tensor_{rank}d"
    assert tensor_map_locations(program("tensor_copies.sm_90a", name)) == {
        (f"{name}_param_0", 0): TensorMapParameter(rank, is_im2col=False, is_loaded=True),
        (f"{name}_param_1", 0): TensorMapParameter(rank, is_im2col=False, is_loaded=False),
    }


def test_a_map_of_im2col_boxes_is_recognized_by_its_copies() -> None:
    uses = tensor_map_locations(program("im2col_copies.sm_90a", "im2col_4d"))
    assert uses["im2col_4d_param_0", 0] == TensorMapParameter(4, is_im2col=True, is_loaded=True)


def test_a_map_that_a_kernel_constructs_in_memory_is_not_a_parameter() -> None:
    assert tensor_map_locations(program("hand_tensor_maps.sm_90a", "hand_tensor_maps")) == {}


def test_a_constant_byte_count_is_found_directly_and_through_a_register() -> None:
    assert expected_bytes(program("hand_many_copies.sm_90", "hand_many_copies")) == (2048,)
    assert expected_bytes(program("ring_setmaxnreg.sm_90a", "ring_setmaxnreg")) == (8192,)
    assert expected_bytes(program("stmatrix_tma_store.sm_90a", "stmatrix_tma_store")) == ()
