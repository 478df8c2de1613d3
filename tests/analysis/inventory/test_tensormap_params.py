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


@pytest.mark.parametrize(("conversion", "is_found"), [("cvt.u64.u32", True), ("cvt.u64.u16", False)])
def test_a_map_is_found_through_a_conversion_that_keeps_all_bits_of_its_address(
    conversion: str, is_found: bool
) -> None:
    source, moved = ("%r1", "") if is_found else ("%rs1", "cvt.u16.u32 %rs1, %r1;")
    module = parse(
        ".version 8.0\n.target sm_90\n.address_size 64\n"
        ".visible .entry k(.param .align 64 .b8 map[128])\n.reqntid 32\n{\n"
        ".shared .align 128 .b8 tile[4096]; .shared .align 8 .b64 full;\n"
        ".reg .b16 %rs<2>; .reg .b32 %r<4>; .reg .b64 %rd<3>;\n"
        f"mov.b32 %r1, map; {moved} {conversion} %rd1, {source}; cvta.param.u64 %rd2, %rd1; mov.b32 %r2, 0;\n"
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
        "[tile], [%rd2, {%r2, %r2}], [full];\n"
        "ret;\n}\n"
    )
    assert bool(tensor_map_locations(flatten(module, next(iter(module.functions()))))) is is_found
