"""The location of a descriptor's matrix, compared with the layouts by which the reference machine reads it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ptxkit.analysis.symexec.descriptor_addresses import far_unit, first_unit
from ptxkit.analysis.values.symbolic_values import SymbolicValueTable
from ptxkit.emulator.tensor.descriptors import decode_matrix_descriptor, element_addresses
from tests.analysis.support import explorer_of, module_of

_FIELD = st.integers(1, 0x1FF)


_DESCRIPTORS = st.builds(
    lambda start, leading, stride, base, swizzle: start * 8 | leading << 16 | stride << 32 | base << 49 | swizzle << 61,
    st.integers(0, 0x3FF),
    _FIELD,
    _FIELD,
    st.integers(0, 7),
    st.sampled_from([0, 2, 4, 6]),
)


@given(_DESCRIPTORS, st.sampled_from([8, 16, 64, 128, 256]), st.sampled_from([1, 2, 4]), st.booleans())
def test_both_units_are_parts_of_the_matrix(bits: int, rows: int, width: int, transposed: bool) -> None:
    rows = max(rows, 16 // width)
    elements = {
        int(each)
        for each in element_addresses(
            decode_matrix_descriptor(bits), rows, 32 // width, width, transposed=transposed
        ).flat
    }
    far = far_unit(bits, rows, width, int(transposed))
    assert far is not None
    assert {far + at for at in range(0, 16, width)} <= elements
    assert first_unit(bits) == (bits & 0x3FFF) * 16


def test_the_far_unit_of_a_matrix_without_swizzle_is_in_its_last_row() -> None:
    descriptor = 0x40 | 8 << 16 | 16 << 32
    assert far_unit(descriptor, 64, 2, 0) == 0x400 + 7 * 256 + 7 * 16


def test_an_unknown_descriptor_or_shape_gives_no_location() -> None:
    unknown = SymbolicValueTable().intern("descriptor")
    assert far_unit(unknown, 64, 2, 0) is None
    assert far_unit(0x40, unknown, 2, 0) is None
    assert far_unit(0x40, 64, 2, unknown) is None
    assert far_unit(0x40 | 1 << 61, 64, 2, 0) is None
    assert first_unit(unknown) is unknown


def test_each_warpgroup_of_a_group_has_its_own_descriptor() -> None:
    """Threads of two warpgroups are executed as one group; the second one multiplies with other rows."""
    body = """.shared .align 128 .b8 tile[8192]; .reg .b64 %d<3>; .reg .f32 %f<4>;
mov.u32 %r1, %tid.x; and.b32 %r1, %r1, 128;
shl.b32 %r1, %r1, 4; mov.u32 %r2, tile; add.u32 %r2, %r2, %r1; shr.u32 %r2, %r2, 4; cvt.u64.u32 %d1, %r2;
or.b64 %d1, %d1, 68719542272; mov.b64 %d2, 68719542272; wgmma.fence.sync.aligned;
wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %d1, %d2, 1, 1, 1, 0, 0;
wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;"""
    (group,) = explorer_of(module_of(body, bounds=".reqntid 256")).explorations[0].groups
    of_first, of_second = (
        [event.address for event in group.for_thread(tid).events if getattr(event.effect, "address", "") == "adesc"]
        for tid in (0, 128)
    )
    assert len(of_first) == 2
    assert [address - 2048 for address in of_second] == of_first
