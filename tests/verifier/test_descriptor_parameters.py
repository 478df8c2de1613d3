"""A parameter that is an instruction descriptor has a number that the multiplication accepts."""

from __future__ import annotations

import pytest

from ptxkit.analysis.ir.program import flatten
from ptxkit.emulator.tensor.instruction_descriptor import (
    MmaKind,
    decode_instruction_descriptor,
    usual_descriptors,
)
from ptxkit.syntax import parse
from ptxkit.verifier.descriptor_parameters import find_descriptor_parameters

KERNEL = """.version 8.7
.target sm_100a
.address_size 64
.visible .entry k(.param .u32 n, .param .align 4 .b8 s[8]) .reqntid 32
{
 .reg .pred %p; .reg .b32 %r<4>; .reg .b64 %d<3>;
 ld.param.u32 %r1, [s+4]; ld.param.u32 %r2, [n]; setp.ne.u32 %p, %r2, 0;
 tcgen05.mma.cta_group::1.kind::f16 [%r3], %d1, %d2, %r1, %p;
 ret;
}
"""


@pytest.mark.parametrize("name", ["f16", "tf32", "f8f6f4", "i8"])
@pytest.mark.parametrize("ctas", [1, 2])
@pytest.mark.parametrize("is_stationary", [False, True])
def test_the_usual_descriptors_are_valid(name: str, ctas: int, is_stationary: bool) -> None:
    if ctas == 2 and is_stationary:
        pytest.skip("no such multiplication exists")
    kind = MmaKind(name, ctas, is_weight_stationary=is_stationary)
    columns = [decode_instruction_descriptor(each, kind).n for each in usual_descriptors(kind)]
    assert columns == [256, 128, 64]


def test_sparse_matrices_and_scale_factors_have_no_usual_descriptor() -> None:
    assert usual_descriptors(MmaKind("f16", 1, sparse=True)) == ()
    assert usual_descriptors(MmaKind("mxf4", 1, scale_vector=32)) == ()


def test_the_field_that_is_a_descriptor_is_found_and_no_other() -> None:
    module = parse(KERNEL)
    found = find_descriptor_parameters(flatten(module, next(iter(module.functions()))))
    assert found == {("s", 4): usual_descriptors(MmaKind("f16", 1))}
